"""Losses that compare scores of classes with a margin, as users call them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....backends import on_host
from ....dtype import get_default_dtype, scalar_type
from ....errors import raise_if
from ....tensor import Tensor
from ...constant_arguments import constant
from ...explain import broadcast_error, negated_bools, shape_error
from ...kernel_names import not_written
from ..declare import OPS, public
from .reduction import expanded, finish, in_dtype_of, reduction_of, same_dtype


@public("nn.functional")
def multi_margin_loss(
    input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Tensor | None = None,
    size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Mean over the other classes of ``max(0, margin - input[target] + input) ** p``: input (N, C) or (C,), target (N,)."""
    reduction = reduction_of(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    constant("multi_margin_loss", weight=weight)
    _not_empty(input)
    x, y = (input if input.ndim > 1 else input.view(1, -1)), target.view(-1)
    if x.ndim != 2 or y.shape[0] != x.shape[0] or target.ndim > 1:
        raise shape_error(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). "
            f"Expected target size [{x.shape[0]}], but got {list(target.shape)}. Input has shape {list(input.shape)}."
        )
    if weight is not None and weight.ndim != 1:
        raise shape_error("weight must be one-dimensional", ValueError)
    if weight is not None and weight.numel() != x.shape[1]:
        raise shape_error(f"inconsistent weight size, expected {x.shape[1]} but got {list(weight.shape)}")
    _of_longs(target)
    if on_host(y._a) and y.numel() and not (int(y._a.min()) >= 0 and int(y._a.max()) < x.shape[1]):
        raise RuntimeError("target out of range")
    if target.ndim == 0 and reduction == "none":
        reduction = "sum"
    return OPS["multi_margin_loss"](x, y, p, margin, weight, reduction)


def _not_empty(x: Tensor) -> None:
    if x.ndim > 2 or (x.ndim and not x.shape[-1]):
        raise shape_error(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(x.shape)}"
        )


def _of_longs(target: Tensor) -> None:
    if target.dtype != np.int64:
        raise RuntimeError(f"expected scalar type Long but found {scalar_type(target.dtype)}")


@public("nn.functional")
def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """Hinge loss of several classes at once: ``target`` has the classes of a row, then -1; both (N, C) or (C,)."""
    reduction = reduction_of(size_average, reduce, reduction)
    _not_empty(input)
    if input.shape != target.shape or input.ndim > 2:
        raise shape_error(f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}")
    classes = input.shape[-1] if input.ndim else 1
    if on_host(target._a) and target.numel() and not (target._a.min() >= -1 and target._a.max() < classes):
        raise RuntimeError("argument #2 'target' is out of range")
    _of_longs(target)
    if input.ndim < 2 and reduction == "none":
        reduction = "sum"
    return OPS["multilabel_margin_loss"](input.view(-1, classes), target.view(-1, classes), reduction)


@public("nn.functional")
def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Mean over the classes (last dimension) of the binary cross entropy of each."""
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    log_sigmoid: Any = OPS["log_sigmoid"]
    loss = -(target * log_sigmoid(input) + (1 - target) * log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight
    dim = input.ndim - 1
    loss = loss.sum(dim=dim) / input.size(dim)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    return finish(loss, reduction)


@public("nn.functional")
def soft_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """log(1 + exp(-target * input)) for targets 1 and -1."""
    reduction = reduction_of(size_average, reduce, reduction)
    constant("soft_margin_loss", target=target)
    if input.shape != target.shape:
        raise_if(broadcast_error([tuple(input.shape), tuple(target.shape)]))
        shape = np.broadcast_shapes(tuple(input.shape), tuple(target.shape))
        if input.shape != shape:
            raise shape_error(f"output with shape {list(input.shape)} doesn't match the broadcast shape {list(shape)}")
        input, target = expanded(input, shape), expanded(target, shape)
    if input.dtype.kind == "b":
        raise negated_bools()
    if input.dtype.kind in "iu":
        raise not_written(get_default_dtype(), input.dtype)
    loss = OPS["soft_margin_loss"](*same_dtype(input, target), reduction)
    return in_dtype_of(input, loss)

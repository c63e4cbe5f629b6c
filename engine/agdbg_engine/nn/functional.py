"""Layers and losses as functions (``torch.nn.functional``)."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np

from ..ops import _generated as g
from ..ops import functions
from ..ops.explain import not_a_tensor
from ..ops.matrix import check_dtypes, matmul
from ..overrides import overridable
from ..random import generator
from ..tensor import Tensor, wrap

__all__ = [
    "cross_entropy", "dropout", "embedding", "linear", "mse_loss", "nll_loss", "sigmoid", "softplus", "tanh",
]  # fmt: skip

_python = functools.partial(overridable, public="torch.nn.functional", in_python=True)
"""Of the functions that PyTorch has written in Python, which say so when nobody overrides them."""

tanh, sigmoid, softplus = g.tanh, g.sigmoid, g.softplus


@functools.partial(overridable, public="torch.nn")
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``: input (..., in), weight (out, in), bias (out,)."""
    transposed = g.t(weight)
    if bias is None:
        return matmul(input, transposed)
    if not (input._a.dtype is weight._a.dtype is bias._a.dtype):
        check_dtypes(bias, input, weight)
    if input.ndim == 2:
        return g.addmm(bias, input, transposed)
    return matmul(input, transposed) + bias


@_python
def embedding(input: Tensor, weight: Tensor) -> Tensor:
    """Rows of ``weight`` (n, d) by integer ``input``."""
    return g.index(weight, (input._a,))


@_python
def dropout(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Elements zeroed with probability ``p``, the others scaled by 1 / (1 - p)."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    if p == 1:
        return input * 0.0
    keep = generator().random(input.shape) >= p
    return input * wrap(keep.astype(input.dtype) / input.dtype.type(1 - p))


def _reduction(reduction: str) -> str:
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


@_python
def nll_loss(input: Tensor, target: Tensor, reduction: str = "mean", *, ignore_index: int = -100) -> Tensor:
    """Negative log likelihood: input (N, C) log-probabilities, target (N,) class indices.

    Rows whose target is ``ignore_index`` count for nothing, in the mean neither.
    """
    if not isinstance(target, Tensor):
        raise not_a_tensor("nll_loss_nd", "target", target, 2)
    _reduction(reduction)
    counted = target._a != ignore_index
    if target.ndim != 1 or input.ndim != 2 or input.shape[0] != target.shape[0] or counted.all():
        _check_classes(input, target)
        return g.nll_loss_raw(input, target, reduction)
    if reduction != "none":
        return nll_loss(input[counted], wrap(target._a[counted]), reduction)
    each = nll_loss(input, wrap(np.where(counted, target._a, 0)), "none")
    return each * wrap(counted.astype(input.dtype))


def _check_classes(input: Tensor, target: Tensor) -> None:
    if input.ndim != 2 or target.ndim != 1:
        raise RuntimeError(
            f"class losses take input (N, C) and target (N,) here: got {list(input.shape)} and {list(target.shape)}; reshape them"
        )
    if input.shape[0] != target.shape[0]:
        raise ValueError(
            f"Expected input batch_size ({input.shape[0]}) to match target batch_size ({target.shape[0]})."
        )
    if target.dtype.kind not in "iu":
        raise RuntimeError(f"expected scalar type Long but found {target.dtype}: targets are class indices")
    classes = target._a
    if classes.size and not (int(classes.min()) >= 0 and int(classes.max()) < input.shape[1]):
        bad = classes[(classes < 0) | (classes >= input.shape[1])][0]
        raise IndexError(f"Target {bad} is out of bounds.")


@_python
def cross_entropy(input: Tensor, target: Tensor, reduction: str = "mean", *, ignore_index: int = -100) -> Tensor:
    """``nll_loss(log_softmax(input))``: input (N, C) scores, target (N,) class indices."""
    if not isinstance(target, Tensor):
        raise not_a_tensor("cross_entropy_loss", "target", target, 2)
    return nll_loss(g.log_softmax_dim(input, -1), target, reduction, ignore_index=ignore_index)


@_python
def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Squared error; shapes must be equal or broadcast."""
    if input.shape != target.shape:
        warnings.warn(
            f"Using a target size (torch.Size({list(target.shape)})) that is different to the input size "
            f"(torch.Size({list(input.shape)})). This will likely lead to incorrect results due to broadcasting. Please "
            "ensure they have the same size.",
            UserWarning,
            stacklevel=2,
        )
        shape = (input.detach() - target.detach()).shape  # raises where they do not broadcast
        input, target = input.expand(shape), target.expand(shape)
    return g.mse_loss_raw(input, target, _reduction(reduction))


_declared = functions("nn.functional")


def __getattr__(name: str) -> Any:
    if name not in _declared:
        raise AttributeError(f"agdbg_engine.nn.functional has no '{name}' yet; it has {', '.join(__dir__())}")
    return _declared[name]


def __dir__() -> list[str]:
    return sorted({*__all__, *_declared})

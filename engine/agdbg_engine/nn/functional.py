"""Layers and losses as functions (``torch.nn.functional``)."""

from __future__ import annotations

import functools
from typing import Any

from ..missing import missing
from ..ops import _generated as g
from ..ops import functions
from ..ops.explain import shape_error
from ..ops.matrix import check_dtypes, matmul
from ..ops.out import into
from ..overrides import overridable
from ..tensor import Tensor

__all__ = ["linear", "sigmoid", "softplus", "tanh"]

tanh, sigmoid = g.tanh, g.sigmoid
softplus = overridable(g.softplus, public="torch.nn", into=into, form="nn.functional.softplus")


@functools.partial(overridable, public="torch.nn", into=into, form="nn.functional.linear")
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``: input (..., in), weight (out, in), bias (out,)."""
    if weight.ndim != 2 or not input.ndim:
        _check_shapes(input, weight, bias)
    if bias is None:
        return matmul(input, g.t(weight))
    if not (input._a.dtype is weight._a.dtype is bias._a.dtype):
        check_dtypes(bias, input, weight)
    if input.ndim == 2:
        return g.addmm(bias, input, g.t(weight))
    if bias.ndim == 1 and input._a.size and input.is_contiguous():  # one product of matrices
        flat = g.addmm(bias, g.view(input, (input._a.size // input.shape[-1], input.shape[-1])), g.t(weight))
        return g.view(flat, (*input.shape[:-1], flat.shape[1]))
    out = matmul(input, g.t(weight))
    total = out + bias
    if total.shape != out.shape:  # PyTorch adds it in place
        raise shape_error(f"output with shape {list(out.shape)} doesn't match the broadcast shape {list(total.shape)}")
    return total


def _check_shapes(input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    """Refuse what has too few dimensions or too many, where the weight is no matrix or the input has none."""
    if not input.ndim or not weight.ndim:
        raise shape_error(
            f"both arguments to linear need to be at least 1D, but they are {input.ndim}D and {weight.ndim}D"
        )
    if weight.ndim > 2:
        raise shape_error(f"t() expects a tensor with <= 2 dimensions, but self is {weight.ndim}D")
    if bias is not None and (input.ndim == 2 or (bias.ndim == 1 and input.is_contiguous())):
        raise shape_error("mat2 must be a matrix, got 1-D tensor")


_declared = functions("nn.functional")


def __getattr__(name: str) -> Any:
    if name not in _declared:
        raise missing(__name__, name, __dir__())
    found = globals()[name] = _declared[name]  # so that it is asked for once
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *_declared})

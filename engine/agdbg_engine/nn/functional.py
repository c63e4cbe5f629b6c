"""Layers and losses as functions (``torch.nn.functional``)."""

from __future__ import annotations

import functools
from typing import Any

from ..missing import missing
from ..ops import _generated as g
from ..ops import functions
from ..ops.matrix import check_dtypes, matmul
from ..ops.out import into
from ..overrides import overridable
from ..tensor import Tensor

__all__ = ["linear", "sigmoid", "softplus", "tanh"]

tanh, sigmoid, softplus = g.tanh, g.sigmoid, g.softplus


@functools.partial(overridable, public="torch.nn", into=into, form="nn.functional.linear")
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``: input (..., in), weight (out, in), bias (out,)."""
    if bias is None:
        return matmul(input, g.t(weight))
    if not (input._a.dtype is weight._a.dtype is bias._a.dtype):
        check_dtypes(bias, input, weight)
    if input.ndim == 2:
        return g.addmm(bias, input, g.t(weight))
    if input.ndim and bias.ndim and input._a.size and input.is_contiguous():  # one product of matrices
        flat = g.addmm(bias, g.view(input, (input._a.size // input.shape[-1], input.shape[-1])), g.t(weight))
        return g.view(flat, (*input.shape[:-1], flat.shape[1]))
    return matmul(input, g.t(weight)) + bias


_declared = functions("nn.functional")


def __getattr__(name: str) -> Any:
    if name not in _declared:
        raise missing(__name__, name, __dir__())
    found = globals()[name] = _declared[name]  # so that it is asked for once
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *_declared})

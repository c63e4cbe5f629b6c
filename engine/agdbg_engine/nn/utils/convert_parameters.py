"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ... import ops
from ...tensor import Tensor
from ..module import typename


def parameters_to_vector(parameters: Iterable[Any]) -> Tensor:
    """All elements in one vector, recorded as any op."""
    return ops.FUNCTIONS["cat"]([p.view(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Any]) -> None:
    """Let the parameters be the parts of ``vec``, on its memory."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    whole: Any = vec
    start = 0
    for p in parameters:
        p.data = whole[start : start + p.numel()].view_as(p).data
        start += p.numel()

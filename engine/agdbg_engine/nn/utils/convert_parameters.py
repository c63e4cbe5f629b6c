"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ... import ops
from ...foreign import hint
from ...tensor import Tensor
from ..module import typename


def parameters_to_vector(parameters: Iterable[Any]) -> Tensor:
    """All elements in one vector, recorded as any op."""
    return ops.FUNCTIONS["cat"]([p.view(-1) for p in _on_one_device(parameters)])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Any]) -> None:
    """Let the parameters be the parts of ``vec``, on its memory."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}{hint(vec)}")
    whole: Any = vec
    start = 0
    for p in _on_one_device(parameters):
        p.data = whole[start : start + p.numel()].view_as(p).data
        start += p.numel()


def _on_one_device(parameters: Iterable[Any]) -> Iterator[Any]:
    first = None
    for p in parameters:
        first = p.device if first is None else first
        if p.device != first:
            raise TypeError("Found two parameters on different devices, this is currently not supported.")
        yield p

"""Out of the engine: a tensor as Python numbers, lists and text."""

from __future__ import annotations

import cmath
from typing import Any

from . import events
from .sites import caller


class Conversions:
    """The part of :class:`~agdbg_engine.tensor.Tensor` that leaves the engine."""

    __slots__ = ()
    _a: Any

    def item(self: Any) -> Any:
        """The only element as a Python number."""
        if self._a.size != 1:
            raise RuntimeError(f"a Tensor with {self._a.size} elements cannot be converted to Scalar")
        if events.sink is not None and self._rg and self.requires_grad:
            events.sink.graph_cut(self, "item", *caller())
        return self._a.item()

    def tolist(self) -> Any:
        """Nested lists of Python numbers."""
        return self._a.tolist()

    def __float__(self) -> float:
        return float(_real(self.item(), "double"))

    def __int__(self) -> int:
        return int(_real(self.item(), "int64_t"))

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if self._a.dtype.kind not in "iub" or self._a.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._a.item())

    def __bool__(self) -> bool:
        if self._a.size != 1:
            raise RuntimeError(
                "Boolean value of Tensor with no values is ambiguous"
                if self._a.size == 0
                else "Boolean value of Tensor with more than one value is ambiguous"
            )
        return bool(self._a.item())

    def __len__(self) -> int:
        if self._a.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self._a)

    def __contains__(self, element: Any) -> bool:
        return bool((self._a == (element._a if isinstance(element, Conversions) else element)).any())

    def __repr__(self: Any) -> str:
        from .printing import tensor_repr

        return tensor_repr(self)

    def __format__(self, spec: str) -> str:
        return format(self._a.item(), spec) if spec and self._a.ndim == 0 else format(repr(self), spec)


def _real(value: Any, kind: str) -> Any:
    """A number without its imaginary part, which must be 0."""
    if not isinstance(value, complex):
        return value
    if value.imag or cmath.isnan(value):
        raise RuntimeError(f"value cannot be converted to type {kind} without overflow")
    return value.real

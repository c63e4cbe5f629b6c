"""Changing dtype: differentiable copies, and the shorthand methods."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .. import events, foreign, overrides
from ..backward import QUIET
from ..device import device as Device
from ..device import device_of, resolved
from ..dtype import is_differentiable
from ..memory_format import contiguous_format
from ..several import at_home
from ..signatures import Guard
from ..sites import caller
from ..tensor import Tensor, wrap
from . import _generated as g
from . import graph
from . import kernels as k
from .shape import contiguous


def to(
    self: Tensor,
    *args: Any,
    dtype: Any = None,
    device: Any = None,
    non_blocking: Any = False,
    copy: Any = False,
    memory_format: Any = None,
) -> Tensor:
    """This tensor in another dtype (or on another device); itself when nothing changes and ``copy`` is false."""
    if args:
        first = args[0]
        rest = args[1:]
        if foreign.is_pytorchs(type(first)):  # whose dtype and device are others too
            raise foreign.refused(to, "torch.Tensor.to", (self, *args), {})
        if isinstance(first, Tensor):
            asked = overrides.asked_by(self, args) if overrides.seen else ()
            if asked:
                return overrides.dispatch(to, asked, (self, *args), {})
            dtype, device = first.dtype, first.device
        elif isinstance(first, np.dtype | type):
            dtype = first
        elif isinstance(first, bool | float | complex) or (type(first) is int and rest and isinstance(rest[0], bool)):
            dtype = type(first)  # a number for a tensor
        else:
            device = device if first is None else Device(first)
            dtype = rest[0] if rest and rest[0] is not None else dtype
            rest = rest[1:]
        non_blocking, copy = (*rest, *(non_blocking, copy)[len(rest) :])
    target = self.dtype if dtype is None else np.dtype(dtype)
    if device is not None:
        source, place = device_of(self._a), resolved(device)
        if source != place:
            if target != self.dtype and (target.kind != "f" or self.dtype.kind != "f"):
                self = to(self, dtype=target)
            if memory_format is contiguous_format:
                self = contiguous(self)
            moved: Tensor = graph.to_device(self, place, target, source, self.dtype, not non_blocking)  # type: ignore[attr-defined]  # a row
            return moved
    if target == self.dtype:
        return _copied(self, target, memory_format) if copy else self
    if not is_differentiable(target):
        if events.sink is not None and self._rg and self.requires_grad:
            events.sink.graph_cut(self, "integer", *caller())
        with np.errstate(**QUIET):  # NaN as an integer
            return _cut_off(self, target)
    if target.kind == "c":
        events.keep_on(events.COMPLEX)  # complex gradients take the general way, which conjugates
    elif self._a.dtype.kind == "c":
        warnings.warn("Casting complex values to real discards the imaginary part", UserWarning, stacklevel=2)
    return _copied(self, target, memory_format)


@at_home
def _cut_off(x: Tensor, dtype: Any) -> Tensor:
    return wrap(k.to_copy(x._a, dtype) if dtype.kind != "b" else x._a.astype(dtype))


def _copied(x: Tensor, dtype: Any, memory_format: Any) -> Tensor:
    return g.to_copy(contiguous(x) if memory_format is contiguous_format else x, dtype)


def _method(name: str, dtype: Any) -> Any:
    guard = Guard(f"Tensor.{name}")

    def cast(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if args or kwargs:
            guard.examine(args, kwargs)
        return to(self, dtype, **kwargs)

    cast.__name__ = cast.__qualname__ = name
    cast.__doc__ = f"This tensor as {dtype}."
    return cast


CASTS = {
    name: _method(name, np.dtype(dtype))
    for name, dtype in (
        ("half", "float16"), ("float", "float32"), ("double", "float64"), ("long", "int64"), ("int", "int32"), ("short", "int16"),
        ("char", "int8"), ("byte", "uint8"), ("bool", "bool"), ("cfloat", "complex64"), ("cdouble", "complex128"),
    )
}  # fmt: skip


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """This tensor in the dtype and on the device of ``other``."""
    return to(self, dtype=other.dtype, device=other.device)

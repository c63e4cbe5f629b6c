"""Changing dtype: differentiable copies, and the shorthand methods."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .. import events
from ..backward import QUIET
from ..device import device as Device
from ..device import device_of, resolved
from ..dtype import is_differentiable
from ..memory_format import contiguous_format
from ..several import at_home
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
        check_target(args, {"dtype": dtype, "device": device})
        first = args[0]
        rest = args[1:]
        if isinstance(first, Tensor):
            dtype, device = first.dtype, first.device
        elif isinstance(first, np.dtype | type):
            dtype = first
        else:
            device = device if first is None else Device(first)
            dtype = rest[0] if rest and rest[0] is not None else dtype
            rest = rest[1:]
        non_blocking, copy = (*rest, *(non_blocking, copy)[len(rest) :])
    for name, flag in (("non_blocking", non_blocking), ("copy", copy)):
        if not isinstance(flag, bool | np.bool_):
            raise misused(args, {name: flag})
    target = self.dtype if dtype is None else np.dtype(dtype)
    if device is not None:
        source, place = device_of(self._a), resolved(device)
        if source != place:
            if target != self.dtype and (target.kind != "f" or self.dtype.kind != "f"):
                self = to(self, dtype=target)
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


def check_target(args: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Refuse what is neither ``(device, dtype)`` nor a dtype nor a tensor, with at most two truth values behind it.

    ``named`` are a dtype and a device given by name: what is there by place must not be named as well.
    """
    first, rest = args[0], args[1:]
    clash = ("dtype", "device")
    if not isinstance(first, Tensor | np.dtype | type):
        fits = first is None or (isinstance(first, Device | str | int) and not isinstance(first, bool))
        fits = fits and (not rest or rest[0] is None or isinstance(rest[0], np.dtype | type))
        if not fits:
            raise misused(args, {})
        clash, rest = clash if rest else ("device",), rest[1:]  # type: ignore[assignment]  # one name or two
    twice = {n: v for n, v in named.items() if n in clash and v is not None}
    if twice or len(rest) > 2 or not all(isinstance(flag, bool | np.bool_) for flag in rest):
        raise misused(args, twice)


def misused(args: tuple[Any, ...], named: dict[str, Any]) -> TypeError:
    """PyTorch's error for arguments of ``to`` that fit no way of calling it."""
    kinds = ", ".join([*map(_kind, args), *(f"{name}={_kind(value)}" for name, value in named.items())])
    tail = "" if args or len(named) != 1 else ", "
    return TypeError(f"to() received an invalid combination of arguments - got ({kinds}{tail}), but expected one of:")


def _kind(x: Any) -> str:
    if isinstance(x, np.dtype | Device):
        return f"torch.{'dtype' if isinstance(x, np.dtype) else 'device'}"
    return type(x).__name__


@at_home
def _cut_off(x: Tensor, dtype: Any) -> Tensor:
    return wrap(k.to_copy(x._a, dtype) if dtype.kind != "b" else x._a.astype(dtype))


def _copied(x: Tensor, dtype: Any, memory_format: Any) -> Tensor:
    return g.to_copy(contiguous(x) if memory_format is contiguous_format else x, dtype)


def _method(name: str, dtype: Any) -> Any:
    def cast(self: Tensor, memory_format: Any = None) -> Tensor:
        return to(self, dtype, memory_format=memory_format)

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

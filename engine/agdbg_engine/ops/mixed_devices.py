"""Operands on several devices: numbers on the CPU may stand beside tensors on another device, as in PyTorch; else an error."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ..backends import on_host
from ..device import device_of, same_place
from ..errors import raise_if
from ..tensor import Tensor
from .checked_devices import differing, is_checked, of_product


def beside_numbers(op: str, tensors: dict[str, Any]) -> dict[str, Any] | None:
    """``tensors`` of an elementwise ``op`` with the 0-d ones of the CPU moved to the device of the others.

    ``None`` where that changes nothing. The move is a recorded op, so that their gradients come back to the CPU.
    """
    return numbers_moved(tensors) if op in _elementwise() else None


def numbers_moved(tensors: dict[str, Any]) -> dict[str, Any] | None:
    """As :func:`beside_numbers`, of an op that is elementwise."""
    given = {n: t for n, t in tensors.items() if isinstance(t, Tensor)}
    place = next((device_of(t._a) for t in given.values() if not on_host(t._a)), None)
    numbers = [n for n, t in given.items() if _is_number(t)]
    if place is None or not numbers:
        return None
    return {n: t.to(place) if n in numbers else t for n, t in tensors.items()}


def _is_number(t: Tensor) -> bool:
    """Whether it may stand beside tensors of another device."""
    return on_host(t._a) and not t.ndim


@functools.cache
def _elementwise() -> frozenset[str]:
    from . import ROWS
    from .table import TABLE
    from .wide import OPS

    rows = [*TABLE, *(op.row for op in OPS.values())]
    return frozenset(r.name for r in rows if r.elementwise and r.name in ROWS and not is_checked(r.name))


def same_device(t: Tensor, result: Tensor) -> None:
    """Refuse to write a ``result`` of another device into ``t``."""
    if not same_place(result._a, t._a):
        raise mixed(device_of(t._a), device_of(result._a))


def mixed(*devices: Any) -> Exception:
    """Tensors on two devices in one op; the CPU is named last, as PyTorch does."""
    first, second = sorted(map(str, devices), key=lambda name: name.partition(":")[0] == "cpu")[:2]
    return RuntimeError(
        f"Expected all tensors to be on the same device, but found at least two devices, {first} and {second}!"
    )


def is_number_beside(g: Any, grad: Any) -> bool:
    """Whether the buffer ``g``, to be added to ``grad``, is a number of the CPU beside it; ``False`` if both are on one device.

    PyTorch's error for what else is on another device.
    """
    ours, theirs = device_of(grad), device_of(g)
    if ours == theirs:
        return False
    if g.ndim == 0 and theirs.type == "cpu":
        return True
    raise RuntimeError(
        f"{mixed(ours, theirs)}\n  AccumulateGrad: the gradient that is added to is on {ours}, where the parameter was before it "
        f"was moved, and what is added on {theirs}. Set the gradient to None, as zero_grad() does, when a parameter is moved"
    )


def together(t: Tensor, other: Any, text: str | None = None) -> None:
    """Raise where ``other`` is a tensor on another device than ``t``: in PyTorch's words for one function, which name both devices
    as ``{0}`` and ``{1}``, or in general.
    """
    if isinstance(other, Tensor) and not same_place(other._a, t._a):
        places = device_of(t._a), device_of(other._a)
        raise mixed(*places) if text is None else RuntimeError(text.format(*places))


def wrong_devices(op: str, tensors: Mapping[str, Any]) -> Exception | None:
    """What PyTorch says of the tensors among ``tensors``, the arguments of ``op``, that are on two devices; ``None`` if on one."""
    given = {n: t for n, t in tensors.items() if isinstance(t, Tensor)}
    places = {n: device_of(t._a) for n, t in given.items()}
    if len(set(places.values())) < 2:
        return None
    own = _OWN[op](given, places) if op in _OWN else None
    if own is not None:
        return RuntimeError(own)
    by_one = of_product if op == "mm" else functools.partial(differing, op)  # the operator begins with that op
    if is_checked(op):
        return by_one(given) or mixed(*dict.fromkeys(places.values()))
    beside = op in _elementwise() and len({p for n, p in places.items() if not _is_number(given[n])}) == 1
    return None if beside else mixed(*dict.fromkeys(places.values()))


def in_words_of(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Exception | None:
    """What PyTorch says of arguments of ``function``, made of ops, that are on two devices; ``None`` where nothing of its own."""
    if not is_checked(function.__name__):
        return None
    try:
        given = inspect.signature(function).bind(*args, **kwargs).arguments
    except TypeError:  # arguments that it does not take: that is said first
        return None
    return differing(function.__name__, given)


def refuse_apart(function: str, **given: Any) -> None:
    """Raise what PyTorch says where arguments of a ``function`` of the table are on two devices."""
    raise_if(differing(function, given))


def refuse_mixed(function: str, **given: Tensor) -> None:
    """As :func:`refuse_apart`, for some on the CPU and some not: NumPy would take an array of a device as an index."""
    if len({type(t._a) for t in given.values()}) > 1:
        refuse_apart(function, **given)


def with_numbers_beside(*tensors: Tensor) -> tuple[Tensor, ...]:
    """``tensors`` of an elementwise function with the 0-d ones of the CPU moved to the device of the others."""
    moved = numbers_moved({str(i): t for i, t in enumerate(tensors)})
    return tensors if moved is None else tuple(moved.values())


def told_at_once(op: str) -> bool:
    """Whether PyTorch has words of its own for tensors of ``op`` that are on two devices."""
    return op in _OWN or is_checked(op)


def _of_convolution(given: Mapping[str, Tensor], places: Mapping[str, Any]) -> str | None:
    from ..tensor_types import type_name

    x = given["input"]
    for name in ("weight", "bias"):
        if name in given and places[name].type != places["input"].type:
            dense = f" or input should be a MKLDNN tensor and {name} is a dense tensor"
            tail = dense if on_host(x._a) and x._a.dtype.char == "f" else ""  # its library computes in float32 alone
            return f"Input type ({type_name(x)}) and {name} type ({type_name(given[name])}) should be the same{tail}"
    return None


def _of_cdist(given: Mapping[str, Tensor], places: Mapping[str, Any]) -> str:
    a, b = places["x1"], places["x2"]
    if a.type != b.type:
        return f"X1 and X2 must have the same device type. X1: {a.type} X2: {b.type}"
    return f"device of X1 ({a.index}) must match device of X2 ({b.index})"


_OWN: dict[str, Callable[[Mapping[str, Tensor], Mapping[str, Any]], str | None]] = {
    "convolution": _of_convolution,
    "grid_sampler_2d": lambda given, places: _SAMPLER.format(**places),
    "grid_sampler_3d": lambda given, places: _SAMPLER.format(**places),
    "masked_fill": lambda given, places: _MASK.format(**places) if places["mask"] != places["self"] else None,
    "solve_raw": lambda given, places: _SOLVE.format(**places),
    "cdist_raw": _of_cdist,
}
"""Ops of which PyTorch says it in words of their own."""

_SAMPLER = "grid_sampler(): expected input and grid to be on same device, but input is on {input} and grid is on {grid}"
_MASK = "expected self and mask to be on the same device, but got mask on {mask} and self on {self}"
_SOLVE = "Expected b and A to be on the same device, but found b on {B} and A on {A} instead."

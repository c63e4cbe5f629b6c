"""Operands on several devices: numbers on the CPU may stand beside tensors on another device, as in PyTorch; else an error."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from typing import Any

from ..backends import on_host
from ..device import device_of, same_place
from ..tensor import Tensor


def beside_numbers(op: str, tensors: dict[str, Any]) -> dict[str, Any] | None:
    """``tensors`` of an elementwise ``op`` with the 0-d ones of the CPU moved to the device of the others.

    ``None`` where that changes nothing. The move is a recorded op, so that their gradients come back to the CPU.
    """
    return numbers_moved(tensors) if op in _elementwise() else None


def numbers_moved(tensors: dict[str, Any]) -> dict[str, Any] | None:
    """As :func:`beside_numbers`, of an op that is elementwise."""
    given = {n: t for n, t in tensors.items() if isinstance(t, Tensor)}
    place = next((device_of(t._a) for t in given.values() if not on_host(t._a)), None)
    numbers = [n for n, t in given.items() if on_host(t._a) and not t.ndim]
    if place is None or not numbers:
        return None
    return {n: t.to(place) if n in numbers else t for n, t in tensors.items()}


@functools.cache
def _elementwise() -> frozenset[str]:
    from . import ROWS
    from .table import TABLE
    from .wide import OPS

    rows = [*TABLE, *(op.row for op in OPS.values())]
    return frozenset(r.name for r in rows if r.elementwise and r.name in ROWS)


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
    if op == "mm" and {t.ndim for t in given.values()} != {2}:  # the operator, which begins with that op
        if {t.ndim for t in given.values()} != {1}:
            return mixed(*dict.fromkeys(places.values()))
        return differing("dot", [("self", places["self"]), ("tensor", places["mat2"])])
    return differing(op, places.items()) if op in CHECKED else mixed(*dict.fromkeys(places.values()))


def differing(op: str, places: Collection[tuple[str, Any]]) -> Exception:
    """PyTorch's words about the first of the arguments of ``op``, given with their ``places``, that is elsewhere than others."""
    method, names = CHECKED[op]
    common = next(iter(places))[1]
    name, place = next((n, p) for n, p in places if p != common)
    kind = next(p.type for _, p in places if p.type != "cpu").upper()
    return RuntimeError(
        f"Expected all tensors to be on the same device, but got {names.get(name, name)} is on {place}, different from other "
        f"tensors on {common} (when checking argument in method wrapper_{kind}_{method})"
    )


CHECKED: dict[str, tuple[str, dict[str, str]]] = {
    "mm": ("mm", {}), "addmm": ("addmm", {}), "bmm": ("bmm", {}), "baddbmm_raw": ("baddbmm", {}), "dot": ("_dot", {}),
    "cat": ("cat", {}), "index_select": ("_index_select", {}), "embedding_raw": ("_index_select", {"indices": "index"}),
    "gather": ("gather", {}), "nll_loss_raw": ("nll_loss_forward", {}), "nll_loss_forward": ("nll_loss_forward", {}),
    "binary_cross_entropy": ("_binary_cross_entropy", {}), "native_layer_norm": ("_native_layer_norm", {}),
    "native_group_norm": ("_native_group_norm", {}), "convolution": ("_cudnn_convolution", {}),
}  # fmt: skip
"""Ops whose arguments PyTorch checks one by one: the name of its kernel, and those of arguments that it calls otherwise.

All others find in their loop over elements that devices differ, or are not called in one kernel there.
"""


def _of_convolution(given: Mapping[str, Tensor], places: Mapping[str, Any]) -> str | None:
    from ..tensor_types import type_name

    x = given["input"]
    for name in ("weight", "bias"):
        if name in given and places[name].type != places["input"].type:
            dense = f" or input should be a MKLDNN tensor and {name} is a dense tensor"
            tail = dense if on_host(x._a) and x._a.dtype.char == "f" else ""  # its library computes in float32 alone
            return f"Input type ({type_name(x)}) and {name} type ({type_name(given[name])}) should be the same{tail}"
    return None


def _by_kind(text: str) -> Callable[[Mapping[str, Tensor], Mapping[str, Any]], str | None]:
    """``text`` with the kinds of devices of the arguments, where these differ."""
    return lambda given, places: text.format(**{n: p.type for n, p in places.items()})


_OWN: dict[str, Callable[[Mapping[str, Tensor], Mapping[str, Any]], str | None]] = {
    "convolution": _of_convolution,
    "grid_sampler_2d": lambda given, places: _SAMPLER.format(**places),
    "grid_sampler_3d": lambda given, places: _SAMPLER.format(**places),
    "masked_fill": lambda given, places: _MASK.format(**places) if places["mask"] != places["self"] else None,
    "solve_raw": lambda given, places: _SOLVE.format(**places),
    "cdist_raw": _by_kind("X1 and X2 must have the same device type. X1: {x1} X2: {x2}"),
}
"""Ops of which PyTorch says it in words of their own."""

_SAMPLER = "grid_sampler(): expected input and grid to be on same device, but input is on {input} and grid is on {grid}"
_MASK = "expected self and mask to be on the same device, but got mask on {mask} and self on {self}"
_SOLVE = "Expected b and A to be on the same device, but found b on {B} and A on {A} instead."

"""Operands on several devices: numbers on the CPU may stand beside tensors on another device, as in PyTorch; else an error."""

from __future__ import annotations

import functools
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
    """Tensors on two devices in one op."""
    first, second = map(str, devices[:2])
    return RuntimeError(
        f"Expected all tensors to be on the same device, but found at least two devices, {first} and {second}!"
    )

"""What graphs hold in memory: the saved tensors of all nodes that are alive, and who saved them.

Looked up by way of Python's list of objects when somebody asks (a report, memory that ran out): nothing is counted before.
"""

from __future__ import annotations

import gc
from typing import Any, NamedTuple

from .device import address, device, device_of, owner
from .node import Node, Nowhere
from .saved import Packed, saved_slots
from .sites import where

SHOWN = 10
"""Lines in a report."""


class Held(NamedTuple):
    """A saved tensor that is alive."""

    node: Node
    slot: str
    nbytes: int
    """Bytes of the whole memory that it is a part of: that is what it keeps."""
    first: bool
    """Whether no node before holds the same memory: sum these."""
    packed: bool
    """Whether it is what hooks made of the saved tensor, or keep for it, as the arguments of a checkpoint."""

    def __str__(self) -> str:
        place = where(self.node.code, self.node.lasti)
        how = ", packed by hooks" if self.packed else ""
        return f"{size_text(self.nbytes)}: {self.node.name()} saved {self.slot!r}{how}, {place}"


def saved_tensors(on: Any = None) -> list[Held]:
    """Every saved tensor of every node that is alive, the largest first; only those on the device ``on``, if that is given.

    Of what hooks packed, the tensors and arrays that can be seen: in containers, and in attributes of objects.
    """
    wanted = None if on is None else device(on)
    # isinstance() would wake objects that say themselves what they are
    alive = (x for x in gc.get_objects() if issubclass(type(x), Node))
    nodes = sorted((n for n in alive if type(n) is not Nowhere), key=lambda n: n.seq)
    memories: set[tuple[str, int]] = set()
    found = []
    for node in nodes:
        for slot in saved_slots(node):
            packed = isinstance(slot.value, Packed)
            for array in slot.value.arrays() if packed else [getattr(slot.value, "_a", slot.value)]:
                if not hasattr(array, "strides") or not _is_on(array, wanted):
                    continue
                whole = owner(array)
                key = (str(device_of(whole)), address(whole))
                found.append(Held(node, slot.slot, int(whole.nbytes), key not in memories, packed))
                memories.add(key)
    return sorted(found, key=lambda held: -held.nbytes)


def _is_on(array: Any, wanted: device | None) -> bool:
    if wanted is None:
        return True
    found = device_of(array)
    return found.type == wanted.type and wanted.index in (None, found.index)


def saved_bytes(on: Any = None) -> int:
    """Bytes that saved tensors keep alive, each memory counted once."""
    return sum(held.nbytes for held in saved_tensors(on) if held.first)


def report(on: Any = None) -> list[str]:
    """Lines of text: how much saved tensors hold, and the largest of them with who saved them."""
    found = [held for held in saved_tensors(on) if held.first]
    if not found:
        return ["no graph holds a saved tensor there"]
    total = size_text(sum(held.nbytes for held in found))
    more = [] if len(found) <= SHOWN else [f"and {len(found) - SHOWN} more"]
    return [f"graphs hold {total} of saved tensors; the largest:", *map(str, found[:SHOWN]), *more]


def size_text(nbytes: float) -> str:
    """A number of bytes as PyTorch writes it: ``20.00 MiB``."""
    for unit in ("bytes", "KiB", "MiB"):
        if nbytes < 1024:
            return f"{nbytes:.0f} bytes" if unit == "bytes" else f"{nbytes:.2f} {unit}"
        nbytes /= 1024
    return f"{nbytes:.2f} GiB"

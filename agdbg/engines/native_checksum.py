"""Checksums of what nodes have saved: they tell of a write that nobody counted, by ``.data`` or through NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from zlib import crc32

import numpy as np

from agdbg.engines.native_summary import without_repeats
from agdbg_engine.node import Node
from agdbg_engine.saved import saved_slots
from agdbg_engine.storage import InferenceStorage
from agdbg_engine.tensor import Tensor
from agdbg_engine.view import CopySlices


def checksum(array: Any) -> int:
    """A number of 32 bits for the elements of a buffer, wherever they lie and in whatever order."""
    if not isinstance(array, np.ndarray):
        array = array.get() if hasattr(array, "get") else np.asarray(array)
    held = without_repeats(array)
    contiguous = held if held.flags.c_contiguous else np.ascontiguousarray(held)
    return crc32(contiguous.reshape(-1).view(np.uint8).data) if held.size else 0


def saved_arrays(node: Node) -> Iterator[tuple[int, Any, int]]:
    """The slots of ``node`` that hold something now, with the buffer and the version that its memory has by now.

    What hooks of the program keep in their way is not among them.
    """
    for slot, saved in enumerate(saved_slots(node)):
        value = None if _is_unread(node, saved.slot) else saved.value
        array = value._a if isinstance(value, Tensor) else value
        if isinstance(getattr(array, "dtype", None), np.dtype) and hasattr(array, "strides"):
            storage = saved.storage
            counted = storage is not None and not isinstance(storage, InferenceStorage)
            yield slot, array, storage.version if counted and storage is not None else saved.version


def _is_unread(node: Node, slot: str) -> bool:
    """Batch norm saves its running statistics, which it writes itself when it trains and then never reads."""
    return node.op_name == "NativeBatchNormBackward0" and slot.startswith("running_") and bool(node.c_training)


def with_inner(nodes: list[Node]) -> Iterator[Node]:
    """The nodes, and those that wrote through views inside of them."""
    for node in nodes:
        yield node
        while isinstance(node, CopySlices):
            node = node.inner
            yield node


class Checksums:
    """Checksums of many arrays, each piece of memory read once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], int] = {}

    def of(self, array: Any) -> int:
        """The checksum of ``array``, which must not change while this object is in use."""
        if not isinstance(array, np.ndarray):
            return checksum(array)
        key = array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.char
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = checksum(array)
        return found

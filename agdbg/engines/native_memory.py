"""A piece of watched memory: what was in it when it was last looked at, and what has happened to it since.

Of memory of a moderate size a copy is kept, with which it is compared byte by byte: that is quicker than any checksum, and
sure. Of more, and of memory on a device, a checksum is kept.
"""

from __future__ import annotations

import weakref
import zlib
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from agdbg_engine.device import owner
from agdbg_engine.storage import Storage
from agdbg_engine.tensor import Tensor

MOST_COPIED = 16 * 2**20
"""Bytes of the biggest memory of which a copy is kept."""
_PLAIN = frozenset("?bBhHiIlLqQefdFD")
"""Types of elements whose arrays are compared as bytes."""


class Seen(NamedTuple):
    """What was seen.

    Attributes:
        array: the buffer of the tensor.
        memory: the buffer that owns the memory.
        version: the version.
        content: a copy, or a checksum.
    """

    array: weakref.ref[Any]
    memory: weakref.ref[Any]
    version: int
    content: bytearray | int


@dataclass
class Memory:
    """Some memory as it was when it was last looked at.

    Attributes:
        label: what people call it.
        of: the tensor or buffer, weakly.
        storage: its storage, where it has one by itself: a buffer does not know it.
        anchor: the buffer of a tensor.
        ids: the watches on it.
        seen: what was seen; ``None`` for nothing yet.
        written: where a write was told last, in words, and the look before it.
    """

    label: str
    of: weakref.ref[Any]
    storage: weakref.ref[Storage] | None = None
    anchor: weakref.ref[Any] | None = None
    ids: list[int] = field(default_factory=list)
    seen: Seen | None = None
    written: tuple[object, str] = None, ""

    def written_since(self, look: object) -> str:
        """Where a write was told after ``look``; empty for nowhere."""
        return self.written[1] if self.written[0] is look else ""

    def value(self) -> Any:
        """The tensor or buffer; of a tensor that is gone, as one that an expression has made, the buffer."""
        found = self.of()
        return found if found is not None or self.anchor is None else self.anchor()

    def version(self, value: Any) -> int:
        """The version of ``value``, which is the tensor or buffer."""
        storage = value._storage if isinstance(value, Tensor) else self.storage() if self.storage is not None else None
        return 0 if storage is None else _version(storage)

    def is_as_seen(self) -> bool:
        """Whether nothing at all has happened to it."""
        value, seen = self.value(), self.seen
        if seen is None or value is None:
            return seen is None and value is None
        array = value._a if isinstance(value, Tensor) else value
        if array is not seen.array() or self.version(value) != seen.version:
            return False
        content, memory = seen.content, seen.memory()
        return bool(content == memory) if type(content) is bytearray else content == checksum(memory)

    def follow(self) -> bool:
        """After a write that is told, what it has made of the memory is no secret; False: it was written to something else."""
        value = self.value()
        if value is None or self.seen is None or self.seen.version == self.version(value):
            return False
        self.seen = self._now()
        return True

    def changed(self) -> str:
        """What has happened to it behind the back of its version since this was last asked; empty for nothing."""
        if self.is_as_seen():
            return ""
        before, now = self.seen, self._now()
        self.seen = now
        if before is None or now is None:
            return ""
        if before.memory() is not now.memory():
            return f"{self.label} was given other memory, without a version bump"
        if before.version != now.version or before.content == now.content:
            return ""  # a new version was told where it was made
        return f"{self.label} changed without a version bump (version {now.version} stays)"

    def _now(self) -> Seen | None:
        """What is to be seen; ``None`` when it is gone."""
        value = self.value()
        if value is None:
            return None
        array = value._a if isinstance(value, Tensor) else value
        memory = owner(array)
        return Seen(weakref.ref(array), weakref.ref(memory), self.version(value), _content(memory))


def _content(memory: Any) -> bytearray | int:
    is_plain = type(memory) is np.ndarray and memory.dtype.char in _PLAIN and memory.flags.c_contiguous
    return bytearray(memory.data) if is_plain and memory.nbytes <= MOST_COPIED else checksum(memory)


def checksum(memory: Any) -> int:
    """A number that changes with the content of a buffer."""
    array = memory.get() if hasattr(memory, "get") else np.asarray(memory)
    flat = np.ascontiguousarray(array).reshape(-1)
    return zlib.crc32(flat.view(np.uint8).data) if flat.size else 0


def _version(storage: Storage) -> int:
    try:
        return storage.version
    except RuntimeError:  # inference mode: writes are not counted
        return 0

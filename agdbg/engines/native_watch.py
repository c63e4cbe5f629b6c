"""Watched memory: a write that raises the version is told where it is made, any other is found by a checksum."""

import weakref
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from agdbg.agent.control import WatchStop
from agdbg.breakpoints import matches
from agdbg.engines.native_names import Names, models, tensors_of
from agdbg_engine.device import owner
from agdbg_engine.node import Node
from agdbg_engine.saved import Freed, Packed, saved_slots
from agdbg_engine.storage import Storage
from agdbg_engine.tensor import Tensor

if TYPE_CHECKING:
    from agdbg.engines.native import NativeSink


@dataclass
class _Memory:
    """Some memory as it was when it was last looked at.

    Attributes:
        label: what people call it.
        of: the tensor or buffer, weakly.
        storage: its storage, where it has one by itself: a buffer does not know it.
        anchor: the buffer of a tensor.
    """

    label: str
    of: "weakref.ref[Any]"
    storage: "weakref.ref[Storage] | None" = None
    anchor: "weakref.ref[Any] | None" = None
    ids: list[int] = field(default_factory=list)
    seen: tuple[int, int, int] | None = None

    def value(self) -> Any:
        """The tensor or buffer; of a tensor that is gone, as one that an expression has made, the buffer."""
        found = self.of()
        return found if found is not None or self.anchor is None else self.anchor()

    def now(self) -> tuple[int, int, int] | None:
        """Which memory it is, its version and its checksum; ``None`` when it is gone."""
        value = self.value()
        if value is None:
            return None
        memory = owner(value._a if isinstance(value, Tensor) else value)
        return id(memory), self.version(value), checksum(memory)

    def version(self, value: Any) -> int:
        """The version of ``value``, which is the tensor or buffer."""
        storage = value._storage if isinstance(value, Tensor) else self.storage() if self.storage is not None else None
        return 0 if storage is None else _version(storage)

    def follow(self) -> None:
        """After a write that is told: what it has made of the memory is no secret."""
        value = self.value()
        if value is not None and self.seen is not None and self.seen[1] != self.version(value):
            self.seen = self.now()


class Watches:
    """The watched memory of some settings, and the memory that somebody has asked about and may watch."""

    def __init__(self, sink: "NativeSink", names: Names) -> None:
        self._sink, self._names = sink, names
        self._asked: dict[int, _Memory] = {}
        self._stops: list[WatchStop] = []
        self._named: dict[int, _Memory] = {}
        self._names_known = -1
        self._since = "the watch was set"

    def __bool__(self) -> bool:
        return bool(self._stops)

    def take(self, stops: list[WatchStop]) -> None:
        """Watch these from now on."""
        if stops == self._stops:
            return
        self._stops, self._named, self._names_known = stops, {}, -1
        for memory in self._asked.values():
            memory.seen = None
        self._since = "the watch was set"
        self.look("")

    # ----- what can be watched -----

    def of_value(self, value: Any, label: str) -> dict[str, Any] | None:
        """The storage of a tensor, by number and in words; ``None`` for what has none."""
        if not isinstance(value, Tensor):
            return None
        number = self._sink.storage_of(value)
        self._names.give(number, label)
        storage, buffer = value._storage, owner(value._a)
        known = None if storage is None else weakref.ref(storage)
        self._asked[number] = _Memory(self._names.called(number), weakref.ref(value), known, weakref.ref(buffer))
        return self._told(number)

    def is_there(self, number: int) -> bool:
        """Whether somebody holds a storage that was asked about."""
        asked = self._asked.get(number)
        return asked is not None and asked.value() is not None

    def of_slot(self, node: Node, slot: str) -> dict[str, Any] | None:
        """The storage of what a node saved; ``None`` when it is not there."""
        saved = {s.slot: s for s in saved_slots(node)}.get(slot)
        if saved is None or saved.value is None or isinstance(saved.value, Freed | Packed):
            return None
        label = f"{slot} of {node.op_name} #{self._sink.number(node)}"
        if isinstance(saved.value, Tensor):
            return self.of_value(saved.value, label)
        number = self._names.storage_of_slot(node, slot)
        self._names.give(number, label)
        storage = saved.storage
        memory = _Memory(
            self._names.called(number), weakref.ref(saved.value), None if storage is None else weakref.ref(storage)
        )
        self._asked[number] = memory
        return self._told(number)

    def _told(self, number: int) -> dict[str, Any]:
        name = self._names.called(number)
        return {"storage": number, "name": name, "text": f"storage {number}" + (f" of {name}" if name else "")}

    # ----- writes -----

    def written(self, number: int) -> list[int]:
        """The watches on a storage that was just written to."""
        names = self._names.of_storage(number)
        return [stop.id for stop in self._stops if stop.storage == number or (stop.name and matches(stop.name, names))]

    def follow(self) -> None:
        """Something was written to, which was told: compare with what is there now from here on."""
        for memory in self._memories():
            memory.follow()

    def look(self, here: str) -> list[tuple[list[int], str]]:
        """Watches whose memory has changed although no version has, and what is to be said; ``here`` is a node event."""
        since, self._since = self._since, here or self._since
        found = [(memory.ids, text) for memory in self._memories() if (text := _changed(memory))]
        return [(ids, f"{text}, after {since} and before {here}") for ids, text in found]

    def _memories(self) -> Iterable[_Memory]:
        for stop in self._stops:
            asked = self._asked.get(stop.storage)
            if stop.storage and asked is not None:
                asked.ids = [stop.id]
                asked.label = asked.label or f"storage {stop.storage}"
                yield asked
        if any(stop.name for stop in self._stops):
            yield from self._by_name()

    def _by_name(self) -> Iterable[_Memory]:
        """Those of the parameters and buffers with a watched name, looked up again when there are more names."""
        if self._names_known != self._names.count():
            self._names_known = self._names.count()
            before, self._named = self._named, {}
            for model in models():
                for name, t in tensors_of(model):
                    ids = [stop.id for stop in self._stops if stop.name and matches(stop.name, [name])]
                    if ids:
                        memory = before.get(id(t)) or _Memory(name, weakref.ref(t))
                        memory.ids = ids
                        self._named[id(t)] = memory
        return self._named.values()


def _changed(memory: _Memory) -> str:
    """What has happened to some memory behind the back of its version; empty for nothing."""
    before, memory.seen = memory.seen, memory.now()
    now = memory.seen
    if before is None or now is None or before == now:
        return ""
    if before[0] != now[0]:
        return f"{memory.label} was given other memory, without a version bump"
    if before[1] != now[1]:
        return ""  # that was told where it was made
    return f"{memory.label} changed without a version bump (version {now[1]} stays)"


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

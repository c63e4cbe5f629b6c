"""Watched memory: a write that raises the version is told where it is made, any other is found by a look at the memory.

Such a look is at every node that is built or runs, so it is as short as can be where nothing has changed
(:meth:`Watches.is_quiet`); what there is to say is found out where something has.
"""

import weakref
from collections.abc import Iterable
from types import CodeType
from typing import TYPE_CHECKING, Any

from agdbg.agent.control import WatchStop
from agdbg.breakpoints import matches
from agdbg.engines.native_memory import Memory
from agdbg.engines.native_names import Names, models, tensors_of
from agdbg_engine.device import owner
from agdbg_engine.node import Node
from agdbg_engine.saved import Freed, Packed, saved_slots
from agdbg_engine.sites import where
from agdbg_engine.tensor import Tensor

if TYPE_CHECKING:
    from agdbg.engines.native import NativeSink

Place = str | tuple[bool, str, CodeType, int]
"""Where a look was: whether a node was to run or built, its op and its site; or that in words."""


class Watches:
    """The watched memory of some settings, and the memory that somebody has asked about and may watch."""

    def __init__(self, sink: "NativeSink", names: Names) -> None:
        self._sink, self._names = sink, names
        self._asked: dict[int, Memory] = {}
        self._stops: list[WatchStop] = []
        self._by_names = False
        self._named: dict[int, Memory] = {}
        self._names_known = -1
        self._looked_at: list[Memory] | None = None
        """The memory of the last look; ``None`` when it may be other memory by now."""
        self._since: Place = "the watch was set"
        self._not_called: dict[str, tuple[int, int]] = {}

    def __bool__(self) -> bool:
        return bool(self._stops)

    def take(self, stops: list[WatchStop]) -> None:
        """Watch these from now on."""
        if stops == self._stops:
            return
        for stop in stops:
            if stop.storage and stop.label:
                self._names.give(stop.storage, stop.label)
        self._by_names = any(stop.name for stop in stops)
        self._stops, self._named, self._names_known = stops, {}, -1
        for memory in self._asked.values():
            memory.seen = None
        self.look("the watch was set")

    # ----- what can be watched -----

    def of_value(self, value: Any, label: str) -> dict[str, Any] | None:
        """The storage of a tensor, by number and in words; ``None`` for what has none."""
        if not isinstance(value, Tensor):
            return None
        number = self._sink.storage_of(value)
        self._names.give(number, label)
        storage, buffer = value._storage, owner(value._a)
        known = None if storage is None else weakref.ref(storage)
        self._asked[number] = Memory(self._names.called(number), weakref.ref(value), known, weakref.ref(buffer))
        self._looked_at = None
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
        memory = Memory(
            self._names.called(number), weakref.ref(saved.value), None if storage is None else weakref.ref(storage)
        )
        self._asked[number] = memory
        self._looked_at = None
        return self._told(number)

    def _told(self, number: int) -> dict[str, Any]:
        name = self._names.called(number)
        return {"storage": number, "name": name, "text": f"storage {number}" + (f" of {name}" if name else "")}

    def is_called(self, name: str) -> bool:
        """Whether a parameter or a buffer of a model is called so; asked again, it looks when there are more of them."""
        there = self._names.count(), len(models())
        if self._not_called.get(name) == there:
            return False
        called = [each for model in models() for each, _ in tensors_of(model)]
        called += [each for some in list(self._sink._texts.values()) for each in some]
        found = matches(name, called)
        if not found:
            self._not_called[name] = there
        return found

    # ----- writes -----

    def written(self, number: int) -> list[int]:
        """The watches on a storage that was just written to."""
        names = self._names.of_storage(number)
        return [stop.id for stop in self._stops if stop.storage == number or (stop.name and matches(stop.name, names))]

    def follow(self, place: str) -> None:
        """Something was written to at ``place``, which was told: compare with what is there now from here on."""
        for memory in self._memories():
            if memory.follow():
                memory.written = self._since, place

    def is_as_seen(self) -> bool:
        """Whether nothing has happened to any of the memory since the last look."""
        looked_at = self._looked_at
        is_known = looked_at is not None and not (self._by_names and self._names_known != self._names.count())
        return is_known and all(memory.is_as_seen() for memory in looked_at or ())

    def is_quiet(self, node: Node, runs: bool) -> bool:
        """Whether a look, where ``node`` was built or ``runs`` next, would find nothing; it counts as one if so."""
        looked_at = self._looked_at
        if looked_at is None or (self._by_names and self._names_known != self._names.count()):
            return False
        for memory in looked_at:
            if not memory.is_as_seen():
                return False
        self._since = runs, node.op_name, node.code, node.lasti
        return True

    def look(self, place: str) -> list[tuple[list[int], str]]:
        """Watches whose memory has changed although no version has, and what is to be said; ``place`` is where the thread is."""
        since, self._since = self._since, place
        looked_at = self._looked_at = self._memories()
        found = [(memory, text) for memory in looked_at if (text := memory.changed())]
        return [
            (memory.ids, f"{text}, after {memory.written_since(since) or _in_words(since)} and before {place}")
            for memory, text in found
        ]

    def _memories(self) -> list[Memory]:
        found = list(self._by_name()) if self._by_names else []
        for memory in self._asked.values():
            memory.ids = []
        for stop in self._stops:
            asked = self._asked.get(stop.storage) if stop.storage else None
            if asked is not None:
                asked.label = asked.label or f"storage {stop.storage}"
                if not asked.ids:
                    found.append(asked)
                asked.ids.append(stop.id)
        return found

    def _by_name(self) -> Iterable[Memory]:
        """Those of the parameters and buffers with a watched name, looked up again when there are more names."""
        if self._names_known != self._names.count():
            self._names_known = self._names.count()
            before, self._named = self._named, {}
            for model in models():
                for name, t in tensors_of(model):
                    ids = [stop.id for stop in self._stops if stop.name and matches(stop.name, [name])]
                    if ids:
                        memory = before.get(id(t)) or Memory(name, weakref.ref(t))
                        memory.ids = ids
                        self._named[id(t)] = memory
        return self._named.values()


def _in_words(place: Place) -> str:
    """A place as people call it."""
    if isinstance(place, str):
        return place
    runs, op, code, lasti = place
    return f"{'the run of ' if runs else ''}{op} of line {where(code, lasti).line}"

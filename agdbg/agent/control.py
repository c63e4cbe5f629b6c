"""The control block: what the hub wants of the program, in memory that both share.

The program looks at one word of it at every node, which costs some 40 ns and no system call. When the word has
changed it reads the settings. The hub writes them into the slot that nobody reads and then changes the word, so the
program never waits for the hub, and a hub that dies leaves settings that are whole.
"""

import json
import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path

from agdbg.agent.now import SIZE as NOW_SIZE
from agdbg.agent.now import START as NOW
from agdbg.agent.now import Now

#: How a thread is told to go on that has stopped while no client has joined.
ALONE = "alone"
_HEADER = 16  # the generation, and the process number of the hub: two words
_SLOT = 1 << 16
_SIZE = _HEADER + 2 * _SLOT
_LENGTH = 4


class TooBig(ValueError):
    """The settings do not fit into a slot."""


@dataclass(frozen=True)
class Rule:
    """When somebody comes by a breakpoint: what counts as a hit, and what a hit does.

    Attributes:
        id: of the breakpoint.
        condition: a Python expression that must be true; empty for none.
        hits: which hits count, as :func:`agdbg.breakpoints.hit_test` has it; empty for all.
        ignore: the first so many hits are passed over.
        log: a message to print in place of stopping; empty to stop.
        temporary: the first stop is the last.
    """

    id: int
    condition: str = field(default="", kw_only=True)
    hits: str = field(default="", kw_only=True)
    ignore: int = field(default=0, kw_only=True)
    log: str = field(default="", kw_only=True)
    temporary: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class FunctionStop(Rule):
    """Stop where a node is built (``forward``), runs (``backward``) or at ``both`` that ``name`` means: its op, number, parameter
    or module, a pattern as in ``fnmatch``.
    """

    name: str
    when: str = "both"


@dataclass(frozen=True)
class SourceStop(Rule):
    """Stop when a forward line builds a node (``forward``), when its nodes run (``backward``), or at ``both``."""

    file: str
    line: int
    when: str = "both"


@dataclass(frozen=True)
class EventStop(Rule):
    """Stop where an event of ``kind`` happens, one of :data:`agdbg.breakpoints.EVENTS`."""

    kind: str


@dataclass(frozen=True)
class WatchStop(Rule):
    """Stop where memory is written to: that of the tensors called ``name``, a pattern, or else that of number ``storage``.

    ``label`` is what a person called that memory, be it in an earlier run.
    """

    name: str = ""
    storage: int = 0
    label: str = ""


@dataclass(frozen=True)
class FilterStop(Rule):
    """Conditions and the like of the filter of errors called ``name``, which must be among those that are on."""

    name: str


@dataclass(frozen=True)
class Settings:
    """Where to stop.

    Attributes:
        pause: how many pauses were asked for so far; one more than before means: stop at the next node.
        entry: stop before the first node of the first backward pass.
        functions, sources, events, watches: breakpoints.
        exceptions: filters of errors, as ``backward-twice``, ``nan`` or ``any``.
        filters: those of them that have more than a name.
    """

    pause: int = 0
    entry: bool = False
    functions: list[FunctionStop] = field(default_factory=list)
    sources: list[SourceStop] = field(default_factory=list)
    events: list[EventStop] = field(default_factory=list)
    watches: list[WatchStop] = field(default_factory=list)
    exceptions: list[str] = field(default_factory=list)
    filters: list[FilterStop] = field(default_factory=list)

    @property
    def rules(self) -> Iterator[Rule]:
        """All breakpoints and the like."""
        yield from self.functions
        yield from self.sources
        yield from self.events
        yield from self.watches
        yield from self.filters

    def to_json(self) -> str:
        """The settings as one JSON object; a breakpoint is told without what it has not."""
        told = {**vars(self), **{name: [_told(stop) for stop in vars(self)[name]] for name in _LISTS}}
        return json.dumps(told, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> "Settings":
        """Read what :meth:`to_json` wrote."""
        found = json.loads(text)
        return cls(**{**found, **{name: [stop(**each) for each in found[name]] for name, stop in _LISTS.items()}})


_LISTS: dict[str, type[Rule]] = {
    "functions": FunctionStop,
    "sources": SourceStop,
    "events": EventStop,
    "watches": WatchStop,
    "filters": FilterStop,
}


def _told(stop: Rule) -> dict[str, object]:
    return {each.name: value for each in fields(stop) if (value := getattr(stop, each.name)) != each.default}


class ControlWriter:
    """The hub's side: makes the file, for this user's eyes only.

    Attributes:
        now: what the program runs just now.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.posix_fallocate(fd, 0, NOW + NOW_SIZE)  # a page for which there is no room would end us by SIGBUS later
            self._map = mmap.mmap(fd, NOW + NOW_SIZE)
        finally:
            os.close(fd)
        self._words = memoryview(self._map).cast("Q")
        self._words[1] = os.getpid()
        self.now = Now(self._map, NOW)
        self.publish(Settings())

    def publish(self, settings: Settings) -> None:
        """Make ``settings`` the ones that hold.

        Raises:
            TooBig: there are too many breakpoints.
        """
        data = settings.to_json().encode()
        if len(data) > _SLOT - _LENGTH:
            raise TooBig(
                f"the breakpoints take {len(data):,} bytes, there is room for {_SLOT - _LENGTH:,}: remove some"
            )
        generation = self._words[0] + 1
        start = _HEADER + (generation & 1) * _SLOT
        self._map[start : start + _LENGTH] = len(data).to_bytes(_LENGTH, "little")
        self._map[start + _LENGTH : start + _LENGTH + len(data)] = data
        self._words[0] = generation

    def close(self) -> None:
        """Let go of the memory."""
        self._words.release()
        self._map.close()


class ControlReader:
    """The program's side.

    Attributes:
        words: ``words[0]`` differs from :attr:`seen` when there is something new.
        seen: the generation that was read last.
        now: where it tells what it runs.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        with Path(path).open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _SIZE, prot=mmap.PROT_READ)
            self.now = Now(mmap.mmap(file.fileno(), NOW_SIZE, offset=NOW))
        self.words = memoryview(self._map).cast("Q")
        self.seen = 0

    def changed(self) -> bool:
        """True when :meth:`read` would give something new."""
        return self.words[0] != self.seen

    def read(self) -> Settings:
        """The settings that hold now."""
        while True:
            generation = self.words[0]
            start = _HEADER + (generation & 1) * _SLOT
            length = int.from_bytes(self._map[start : start + _LENGTH], "little")
            data = self._map[start + _LENGTH : start + _LENGTH + length]
            if self.words[0] <= generation + 1 and self.words[0] == generation:
                self.seen = generation
                return Settings.from_json(data.decode())

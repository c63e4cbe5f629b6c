"""The control block: what the hub wants of the program, in memory that both share.

The program looks at one word of it at every node, which costs some 40 ns and no system call. When the word has
changed it reads the settings. The hub writes them into the slot that nobody reads and then changes the word, so the
program never waits for the hub, and a hub that dies leaves settings that are whole.
"""

import json
import mmap
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

_HEADER = 16  # the generation, and the process number of the hub: two words
_SLOT = 1 << 16
_SIZE = _HEADER + 2 * _SLOT
_LENGTH = 4


class TooBig(ValueError):
    """The settings do not fit into a slot."""


@dataclass(frozen=True)
class FunctionStop:
    """Stop before a node whose op or parameter matches ``name``, a pattern as in ``fnmatch``."""

    id: int
    name: str


@dataclass(frozen=True)
class SourceStop:
    """Stop when a forward line builds a node, and when its nodes run in backward."""

    id: int
    file: str
    line: int


@dataclass(frozen=True)
class Settings:
    """Where to stop.

    Attributes:
        pause: how many pauses were asked for so far; one more than before means: stop at the next node.
        entry: stop before the first node of the first backward pass.
        functions, sources: breakpoints.
        exceptions: filters of errors: ``backward-twice``, ``inplace-modified``, ``leaf-inplace``, ``any``.
    """

    pause: int = 0
    entry: bool = False
    functions: list[FunctionStop] = field(default_factory=list)
    sources: list[SourceStop] = field(default_factory=list)
    exceptions: list[str] = field(default_factory=list)

    def to_json(self) -> str:
        """The settings as one JSON object."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Settings":
        """Read what :meth:`to_json` wrote."""
        found = json.loads(text)
        functions = [FunctionStop(**each) for each in found.pop("functions")]
        sources = [SourceStop(**each) for each in found.pop("sources")]
        return cls(functions=functions, sources=sources, **found)


class ControlWriter:
    """The hub's side: makes the file, for this user's eyes only."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.ftruncate(fd, _SIZE)
            self._map = mmap.mmap(fd, _SIZE)
        finally:
            os.close(fd)
        self._words = memoryview(self._map).cast("Q")
        self._words[1] = os.getpid()
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
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        with Path(path).open("rb") as file:
            self._map = mmap.mmap(file.fileno(), _SIZE, prot=mmap.PROT_READ)
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

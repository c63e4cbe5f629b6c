"""What the program runs just now, where that may take long: a line of text in memory that it shares with the hub.

The hub reads it when somebody asks how the program is. The program only writes it around nodes that call functions of its own.
"""

import mmap
from collections.abc import Iterator
from contextlib import contextmanager

#: Where it stands in the file of the control block, on a page of its own, and its size.
START, SIZE = 1 << 18, mmap.PAGESIZE
_LENGTH = 4


class Now:
    """The line; empty while nothing is told.

    Args:
        shared: at least :data:`SIZE` bytes.
        start: where in them it begins.
    """

    def __init__(self, shared: mmap.mmap, start: int = 0) -> None:
        self._shared, self._start = shared, start
        self._said = ""

    @contextmanager
    def saying(self, text: str) -> Iterator[None]:
        """Tell of this meanwhile, and then what was told before: a node may start a pass with nodes like it."""
        before = self._said
        self._say(text)
        try:
            yield
        finally:
            self._say(before)

    def _say(self, text: str) -> None:
        """The length comes last, so that no reader takes half a line."""
        self._said = text
        data = text.encode(errors="replace")[: SIZE - _LENGTH]
        at = self._start
        self._shared[at : at + _LENGTH] = bytes(_LENGTH)
        self._shared[at + _LENGTH : at + _LENGTH + len(data)] = data
        self._shared[at : at + _LENGTH] = len(data).to_bytes(_LENGTH, "little")

    def read(self) -> str:
        """What the other side says."""
        at = self._start
        length = min(int.from_bytes(self._shared[at : at + _LENGTH], "little"), SIZE - _LENGTH)
        return self._shared[at + _LENGTH : at + _LENGTH + length].decode(errors="replace")

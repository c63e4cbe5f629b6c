"""The program's output as the keeper has written it: a file of bytes that grows, read as text."""

import codecs
import os
from pathlib import Path

from agdbg.launch.place import OUTPUT_FILE

__all__ = ["OUTPUT_FILE", "OutputLog", "OutputReader"]

_CONTINUATION = range(0x80, 0xC0)
_LONGEST = 4  # bytes of a character in UTF-8


class OutputLog:
    """Reads the file by offset; one that is not there (yet) is empty.

    It stays open, so what is read does not change when the program removes its trace.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd = self._spare = -1

    @property
    def size(self) -> int:
        """Its length in bytes."""
        written = os.fstat(self._fd).st_size if self._is_open() else 0
        return written if self._spare < 0 else max(written, os.fstat(self._spare).st_size)

    def read(self, start: int, length: int) -> bytes:
        """At most ``length`` bytes from ``start`` on; fewer at the end of what is there."""
        if not self._is_open():
            return b""
        start, length = max(0, start), max(0, length)
        data = os.pread(self._fd, length, start)
        return data + self._only_in_memory(start + len(data), length - len(data))

    def have_spare(self, fd: int) -> None:
        """The file is there. What it has not taken is in this one, at the same offsets; -1: there is none."""
        self._is_open()
        if fd >= 0 > self._spare:
            self._spare = os.dup(fd)

    def _only_in_memory(self, start: int, length: int) -> bytes:
        """What follows the end of the file; nothing when that has grown meanwhile: what is in memory there may be none of it."""
        if self._spare < 0 or not length or os.fstat(self._spare).st_size <= start:
            return b""
        data = os.pread(self._spare, length, start)
        return data if os.fstat(self._fd).st_size <= start else b""

    def text(self, start: int, length: int) -> tuple[int, str, int]:
        """The whole characters between ``start`` and ``start + length``, and where they begin and end in bytes.

        The end is the ``start`` of the next page; it stands before a character whose rest is not there yet. What is
        no UTF-8 becomes U+FFFD.
        """
        reader = OutputReader(self, min(max(0, start), self.size))
        text = reader.read(max(_LONGEST, length))
        return reader.begun, text, reader.position

    @property
    def whole_end(self) -> int:
        """The offset behind the last whole character."""
        return self.text(self.size - 2 * _LONGEST, 2 * _LONGEST)[2]

    def close(self) -> None:
        """Close the file."""
        for fd in (self._fd, self._spare):
            if fd >= 0:
                os.close(fd)
        self._fd = self._spare = -1

    def _is_open(self) -> bool:
        if self._fd < 0:
            try:
                self._fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                return False
        return True


class OutputReader:
    """Reads a log on and on as text; a character that is split between two reads comes with the second one.

    Args:
        log: the log.
        start: an offset in bytes; inside of a character it means the next one.

    Attributes:
        begun: the offset where the first character began.
    """

    def __init__(self, log: OutputLog, start: int = 0) -> None:
        self._log = log
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._next = start
        self._may_be_inside = start > 0
        self.begun = start

    @property
    def position(self) -> int:
        """The offset of the first byte that was not given out as text."""
        return self._next - len(self._decoder.getstate()[0])

    def read(self, limit: int) -> str:
        """What comes next, of at most ``limit`` bytes; empty when there is no whole character more."""
        data = self._log.read(self._next, limit)
        self._next += len(data)
        if data and self._may_be_inside:
            data = self._aligned(data)
        return self._decoder.decode(data)

    def _aligned(self, data: bytes) -> bytes:
        """``data`` without the rest of a character that begins before it. Stray bytes stay: they are not text."""
        self._may_be_inside = False
        rest = 0
        while rest < min(len(data), _LONGEST - 1) and data[rest] in _CONTINUATION:
            rest += 1
        before = self._log.read(max(0, self.begun - _LONGEST), min(self.begun, _LONGEST))
        if not rest or not _is_begun(before):
            return data
        self.begun += rest
        return data[rest:]


def _is_begun(before: bytes) -> bool:
    """True when ``before`` ends with the beginning of a character."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(before)
    return bool(decoder.getstate()[0])

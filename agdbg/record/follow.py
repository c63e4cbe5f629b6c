"""Reading a trace while it is written: each look takes what has come since the last one."""

import mmap
import os
from pathlib import Path
from typing import Any

import numpy as np

from agdbg.descriptors import identity
from agdbg.record.errors import TraceError
from agdbg.record.format import META_FILE, RECORD_SIZE, RECORDS_FILE, STRINGS_FILE, WORDS, check_header
from agdbg.record.impossible import impossible, without
from agdbg.record.lookup import Strings
from agdbg.record.metafile import read_meta
from agdbg.record.reader import Records, Trace

_NOTHING = (-1, -1, -1)


class Follower:
    """The trace in the directory ``path``, which need not be there yet.

    A file that is removed, or replaced by another, is followed no further; what was read of it stays.

    Attributes:
        records: the records read so far, in a read-only memory map; in a copy where some are impossible.
        strings: the string table read so far.
        meta: what ``meta.json`` holds; empty before it is there.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._records_file, self._strings_file, self._meta_file = (
            os.path.join(path, name) for name in (RECORDS_FILE, STRINGS_FILE, META_FILE)
        )
        self.records: Records = np.empty((0, WORDS), np.uint64)
        self.strings = Strings()
        self.meta: dict[str, Any] = {}
        self._lost: list[str] = []
        self._left_out = np.empty(0, np.int64)
        self._file: tuple[int, int] | None = None
        self._strings_read = 0
        self._cut_line = b""
        self._meta_seen = _NOTHING

    def poll(self) -> Records:
        """The records that came since the last call, none if none did; it costs three calls of the system then.

        Raises:
            TraceError: it is no trace, or one of a version that is not known.
        """
        before = len(self.records)
        self.poll_few()
        return self.records[before:]

    def poll_few(self, most: int | None = None) -> bool:
        """Read what has come, unless that is more than ``most`` records, where there is a limit: false then.

        Raises:
            TraceError: as :meth:`poll` does.
        """
        self._read_meta()
        before, count = len(self.records), self._whole_records()
        if most is not None and count - before > most:
            return False
        if count > before:
            self._map(count)
            self._read_strings()
        return True

    def trace(self) -> Trace:
        """What was read so far, as a trace; what comes later does not change its records."""
        return Trace.of(self.path, self.records, self.meta, self.strings, self._lost)

    # ----- records.bin -----

    def _whole_records(self) -> int:
        """How many records are whole in the file that was there first; fewer than before are no news."""
        try:
            status = os.stat(self._records_file)
        except OSError:
            return 0
        file = status.st_dev, status.st_ino
        if self._file not in (None, file):
            return 0
        if self._file is None and not self._begins_well(status.st_size):
            return 0
        self._file = file
        return (status.st_size - RECORD_SIZE) // RECORD_SIZE

    def _begins_well(self, size: int) -> bool:
        """Whether the whole header is there."""
        try:
            with open(self._records_file, "rb") as stream:
                return check_header(stream.read(RECORD_SIZE), self.path / RECORDS_FILE) and size >= RECORD_SIZE
        except OSError as error:
            raise TraceError(f"cannot read {self.path / RECORDS_FILE}: {error.strerror or error}") from error

    def _map(self, count: int) -> None:
        """Map so many records; a file that vanished in between leaves what there was."""
        try:
            fd = os.open(self._records_file, os.O_RDONLY)  # a file of Python's takes three times as long to make
            try:
                if identity(fd) != self._file:
                    return
                mapped = mmap.mmap(fd, (1 + count) * RECORD_SIZE, access=mmap.ACCESS_READ)
            finally:
                os.close(fd)
        except (OSError, ValueError):
            return
        found = np.frombuffer(mapped, "<u8", offset=RECORD_SIZE).reshape(count, WORDS)
        if not len(self.records):  # what comes later is read as it is written: no disk has had it for long
            self._left_out = impossible(found)
        self.records = without(found, self._left_out)

    # ----- the other files -----

    def _read_strings(self) -> None:
        """Read what was added; a last line without its end waits for the rest."""
        try:
            if os.stat(self._strings_file).st_size <= self._strings_read:
                return
            with open(self._strings_file, "rb") as stream:
                stream.seek(self._strings_read)
                content = stream.read()
        except OSError:
            return
        self._strings_read += len(content)
        lines, end, rest = (self._cut_line + content).rpartition(b"\n")
        self._cut_line = rest
        self.strings.add(lines + end)

    def _read_meta(self) -> None:
        """Read ``meta.json`` if it was replaced since."""
        try:
            status = os.stat(self._meta_file)
        except OSError:
            return
        seen = status.st_ino, status.st_mtime_ns, status.st_size
        if seen != self._meta_seen:
            self._meta_seen = seen
            self.meta, self._lost = read_meta(self.path)

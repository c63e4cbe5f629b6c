"""Opening a trace: what is whole is read, what is lost is told in ``problems``, what is none is refused."""

import os
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agdbg.events import Kind
from agdbg.record.damage import changed
from agdbg.record.format import RECORD_SIZE, RECORDS_FILE, STRINGS_FILE, WORDS
from agdbg.record.impossible import impossible, without
from agdbg.record.lookup import Op, Site, Strings
from agdbg.record.metafile import read_meta
from agdbg.record.there import records_file, unreadable, whole_records

Records = npt.NDArray[np.uint64]

_LOW = np.uint64((1 << 32) - 1)
_NO_RECORDS: Records = np.empty((0, WORDS), np.uint64)

#: Where string ids stand: the words of a kind that hold one in each half, 0 for none.
STRING_WORDS: dict[Kind, tuple[int, ...]] = {
    Kind.BORN: (3,),
    Kind.PASS_STARTED: (2,),
    Kind.TENSOR: (4,),
    Kind.BUMP: (4,),
    Kind.VIEW: (4, 6),
    Kind.REBASED: (4,),
    Kind.CUT: (2,),
    Kind.GRAD_MODE: (2,),
    Kind.ERROR: (3, 6),
    Kind.HOOK: (3, 6),
    Kind.PACKED: (3,),
    Kind.CLONED: (3,),
    Kind.DUAL_LEVEL: (2,),
    Kind.FUNCTION: (3, 4),
    Kind.UNMARKED: (3, 4),
    Kind.KEPT: (3, 4),
    Kind.RECOMPUTED: (3, 4),
    Kind.MODULE: (2,),
    Kind.SHAPE: (2,),
    Kind.OPTIMIZER: (2,),
    Kind.GRAD_READ: (3,),
    Kind.CAST: (3, 4, 5),
}
#: Of these words only the low half is a string id.
LOW_HALVES: frozenset[tuple[Kind, int]] = frozenset({(Kind.HOOK, 6)})


class Trace:
    """A trace directory, opened for reading; of one that still grows, what it held when it was opened.

    Attributes:
        path: the directory.
        records: the records after the header, one row of eight words each (a read-only memory map, or a copy without those that
            are impossible: see :mod:`agdbg.record.impossible`).
        meta: the content of ``meta.json``, empty when that is lost.
    """

    def __init__(self, path: Path, records: Records, meta: dict[str, Any], problems: list[str]) -> None:
        self.path = path
        self.records = self._on_disk = records
        self._left_out = 0
        self.meta = meta
        self._found = problems

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "Trace":
        """Open the trace in directory ``path``.

        Raises:
            TraceError: there is nothing, it is no trace, or a version that this reader does not know.
        """
        directory = Path(path)
        records, problems = _map_records(records_file(directory))
        meta, lost = read_meta(directory)
        trace = cls(directory, records, meta, problems + lost)
        rows = impossible(records)
        trace.records, trace._left_out = without(records, rows), len(rows)
        return trace

    @classmethod
    def of(cls, path: Path, records: Records, meta: dict[str, Any], strings: Strings, problems: list[str]) -> "Trace":
        """A trace from parts that are read already."""
        trace = cls(path, records, meta, list(problems))
        trace.strings = strings
        return trace

    @cached_property
    def kinds(self) -> npt.NDArray[np.uint8]:
        """The kind of every record; the numbers may include some that :class:`Kind` does not know."""
        return self.records[:, 0].astype(np.uint8)

    @cached_property
    def strings(self) -> Strings:
        """The string table."""
        return Strings.of(self.path / STRINGS_FILE)

    def text(self, number: int) -> str:
        """The string with this id; ``?12`` when it is lost, empty for id 0."""
        return self.strings.text(number)

    def op(self, number: int) -> Op:
        """The op with this string id."""
        return self.strings.op(number)

    def site(self, number: int) -> Site:
        """The source site with this string id."""
        return self.strings.site(number)

    @property
    def closed(self) -> bool:
        """True when the recorder closed the trace; else the program was killed, or it is still running."""
        return bool(self.meta.get("closed"))

    @cached_property
    def problems(self) -> list[str]:
        """What is lost, damaged or unknown in this trace, one sentence each; empty when all is well."""
        kinds = self._on_disk[:, 0].astype(np.uint8)
        return [
            *self._found,
            *self.strings.problems,
            *_missing_counts(self),
            *changed(self.path, self._on_disk, kinds, self.meta, len(self.strings), self._left_out),
            *_missing_strings(self),
            *_unknown_kinds(kinds),
        ]


def _map_records(file: Path) -> tuple[Records, list[str]]:
    """Map the whole records of a file and tell what follows them."""
    try:
        with open(file, "rb") as stream:
            count, problems = whole_records(stream, file)
            if not count:
                return _NO_RECORDS, problems
            mapped = np.memmap(stream, dtype="<u8", mode="r", offset=RECORD_SIZE, shape=(count, WORDS))
            return mapped.view(np.ndarray), problems
    except OSError as error:
        raise unreadable(file, error) from error


def _missing_counts(trace: Trace) -> list[str]:
    counts = trace.meta.get("counts")
    if not isinstance(counts, dict):
        return []
    held = {"records": (len(trace.records), RECORDS_FILE), "strings": (len(trace.strings), STRINGS_FILE)}
    return [
        f"{file} holds {have} of the {counts[what]} {what} that were written"
        for what, (have, file) in held.items()
        if isinstance(counts.get(what), int) and have < counts[what]
    ]


def _missing_strings(trace: Trace) -> list[str]:
    """Ids are given without gaps, so the highest one in use tells whether the end of the table is lost."""
    used = max((_highest_string(trace, kind) for kind in STRING_WORDS), default=0)
    if used <= trace.strings.highest:
        return []
    return [f"{STRINGS_FILE} ends at string {trace.strings.highest}; the records use {used}"]


def _highest_string(trace: Trace, kind: Kind) -> int:
    rows = np.flatnonzero(trace.kinds == kind)
    words = trace.records[rows]
    for whole, word in LOW_HALVES:
        if whole is kind:
            words[:, word] &= _LOW
    words = np.ascontiguousarray(words[:, STRING_WORDS[kind]])
    return int(words.view(np.uint32).max(initial=0))


def _unknown_kinds(kinds: npt.NDArray[np.uint8]) -> list[str]:
    counts = np.bincount(kinds, minlength=256)
    return [
        f"{RECORDS_FILE}: kind {number} is not known, records skipped: {counts[number]}"
        for number in np.flatnonzero(counts).tolist()
        if number not in Kind.__members__.values()
    ]

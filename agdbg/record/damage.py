"""Whether the files of a trace hold what was written: by the checksum at the head of each batch, and by that of the strings."""

from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from agdbg.events import Kind
from agdbg.record.batch import head_is_whole, is_whole
from agdbg.record.format import RECORDS_FILE, STRINGS_FILE

_WRONG = "not as written, so what is told of the trace may be wrong"
_LOW = (1 << 32) - 1


def changed(
    directory: Path,
    records: npt.NDArray[np.uint64],
    kinds: npt.NDArray[np.uint8],
    meta: dict[str, Any],
    strings: int,
    left_out: int = 0,
) -> list[str]:
    """What holds something else than was written, one sentence for each file; a trace without checksums is not looked at.

    Args:
        directory: of the trace.
        records, kinds: the records, and the kind of each.
        meta: the content of ``meta.json``.
        strings: how many strings there are.
        left_out: how many records are not read.
    """
    counts, sums = meta.get("counts"), meta.get("crc32")
    counts, sums = counts if isinstance(counts, dict) else {}, sums if isinstance(sums, dict) else {}
    clocks = np.flatnonzero(kinds == Kind.CLOCK).tolist()
    found = _changed_records(records, clocks, left_out)
    if not found and counts.get("records") == len(records) and counts.get("batches", len(clocks)) != len(clocks):
        found.append(f"{RECORDS_FILE} is {_WRONG}: it has {len(clocks)} of {counts['batches']} batches")
    if not _strings_are_as_written(directory / STRINGS_FILE, records, clocks, counts.get("strings") == strings, sums):
        found.append(f"{STRINGS_FILE} is {_WRONG}")
    return found


def _strings_are_as_written(
    file: Path, records: npt.NDArray[np.uint64], clocks: list[int], are_all: bool, sums: dict[str, Any]
) -> bool:
    """Whether the strings are those that were written, as far as is told: by the header of a trace that was closed, if they
    ``are_all``, and else by the last batch. That some are missing is told elsewhere.
    """
    told, content = sums.get(STRINGS_FILE), _whole_lines(file)
    if are_all and isinstance(told, int):
        return crc32(content) == told
    heads = (records[row].tolist() for row in reversed(clocks))
    last = next((head for head in heads if head[5] >> 32 and head_is_whole(head)), None)
    return last is None or len(content) < last[4] or crc32(content[: last[4]]) == last[5] & _LOW


def wrong_batches(records: npt.NDArray[np.uint64], clocks: list[int]) -> list[tuple[int, int]]:
    """Where records are not as written: their first row, and the one behind them. The last batch may have been cut.

    Args:
        records: all of a trace.
        clocks: the rows of those that begin a batch.
    """
    if not any(int(records[row, 3]) for row in clocks):
        return []  # whoever wrote it gives no checksums
    ends = [*clocks[1:], len(records)]
    wrong = [
        (start, end)
        for start, end in zip(clocks, ends, strict=True)
        if not _is_as_written(records[start:end], is_last=end == len(records))
    ]
    if clocks[0]:
        wrong.insert(0, (0, clocks[0]))
    return wrong


def _changed_records(records: npt.NDArray[np.uint64], clocks: list[int], left_out: int) -> list[str]:
    """Which records, if any, and how many of them are not read."""
    wrong = wrong_batches(records, clocks)
    if not wrong:
        return []
    count, (start, end) = sum(end - start for start, end in wrong), wrong[0]
    more = f", and {count - (end - start):,} others" if len(wrong) > 1 else ""
    told = f"; {left_out:,} of them cannot have been written by any program and {'is' if left_out == 1 else 'are'} left out"
    return [
        f"{RECORDS_FILE}: of {len(records):,} records those from {start + 1:,} to {end:,}{more} are {_WRONG}"
        + (told if left_out else "")
    ]


def _is_as_written(batch: npt.NDArray[np.uint64], *, is_last: bool) -> bool:
    length = int(batch[0, 3]) & _LOW
    if not head_is_whole(batch[0].tolist()):
        return False
    if is_last and len(batch) < length:
        return True  # cut: that is no other content
    return len(batch) == length and is_whole(batch.tobytes())


def _whole_lines(file: Path) -> bytes:
    """The content of a file, with the end of its last line, which may be lost without loss."""
    try:
        content = file.read_bytes()
    except OSError:  # which is told elsewhere
        return b""
    return content if content.endswith(b"\n") or not content else content + b"\n"

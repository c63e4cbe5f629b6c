"""Records that cannot have been written as they are: of batches that are not as written, those that no program can have come to.

A number that a flipped bit has made a thousand times as large would be shown as a node that ran. Numbers are given one after the
other, so what is far beyond all others is none, and nothing happened after the batch was written that tells of it. Where the bounds
are is taken from all records of the trace, which may begin at any number and leave some out.
"""

import numpy as np
import numpy.typing as npt

from agdbg.events import Kind
from agdbg.record.batch import head_is_whole
from agdbg.record.damage import wrong_batches
from agdbg.record.layout import LAYOUT, Holds

Records = npt.NDArray[np.uint64]
_Rows = npt.NDArray[np.int64]

#: What is numbered, the words that hold such a number, and in which of their bits.
_NUMBERED: tuple[dict[Holds, int], ...] = (
    {Holds.NODE: 48, Holds.EDGE: 48},
    {Holds.STORAGE: 35, Holds.SAVE: 35},  # an engine may use the highest bit for another row of numbers
    {Holds.PASS: 64},
    {Holds.TENSOR: 64},
)
#: Words with nanoseconds since the trace began, or that something took.
_TIMES = ((Kind.RAN, 4), (Kind.RAN, 5), (Kind.PASS_STARTED, 5), (Kind.PASS_FINISHED, 4), (Kind.PASS_FINISHED, 5))
#: Of the numbers of a trace this part at each end is not looked at to find the bound.
_TAIL = 0.1


def impossible(records: Records) -> _Rows:
    """The rows of records that are not to be read, ascending; none in a trace that is as it was written."""
    kinds = records[:, 0].astype(np.uint8)
    wrong = wrong_batches(records, np.flatnonzero(kinds == Kind.CLOCK).tolist())
    if not wrong:
        return np.empty(0, np.int64)
    suspect = np.zeros(len(records), bool)
    for start, end in wrong:
        suspect[start:end] = True
    found = [_beyond_the_others(records, kinds, bits) for bits in _NUMBERED]
    found += [_later_than_written(records, kinds, start, end) for start, end in wrong]
    rows = np.unique(np.concatenate(found))
    return rows[suspect[rows]]


def without(records: Records, rows: _Rows) -> Records:
    """The records, of which those in ``rows`` are of no kind, which everybody skips."""
    if not len(rows):
        return records
    copy = records.copy()
    copy[rows] = 0
    copy.flags.writeable = False
    return copy


def _beyond_the_others(records: Records, kinds: npt.NDArray[np.uint8], bits: dict[Holds, int]) -> _Rows:
    """The rows with a number that is larger than any that is given one after the other with the others."""
    rows, numbers = [np.empty(0, np.int64)], [np.empty(0, np.uint64)]
    for kind, fields in LAYOUT.items():
        at = np.flatnonzero(kinds == kind)
        for field in fields if len(at) else ():
            if field.holds in bits:
                rows.append(at)
                numbers.append(records[at, field.word] & np.uint64((1 << bits[field.holds]) - 1))
    where, given = np.concatenate(rows), np.concatenate(numbers)
    used = np.sort(given[given > 0])
    if not len(used):
        return np.empty(0, np.int64)
    low, high = (int(used[int(part * (len(used) - 1))]) for part in (_TAIL, 1 - _TAIL))
    bound = min(high + 2 * (high - low) + len(records), 2**64 - 1)
    return where[given > np.uint64(bound)]


def _later_than_written(records: Records, kinds: npt.NDArray[np.uint8], start: int, end: int) -> _Rows:
    """The rows of a batch that tell of times after it was written; none where its head is damaged."""
    if kinds[start] != Kind.CLOCK or not head_is_whole(records[start].tolist()):
        return np.empty(0, np.int64)
    written, found = records[start, 2], [np.empty(0, np.int64)]
    for kind, word in _TIMES:
        found.append(start + np.flatnonzero((kinds[start:end] == kind) & (records[start:end, word] > written)))
    return np.concatenate(found)

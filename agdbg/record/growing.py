"""Indexes over records that keep coming: what is new is sorted by itself, and merged only once it has some size.

A :class:`GrowingIndex` is a few sorted runs, each more than twice as long as the next, so that adding ``n`` entries one
by one moves each of them about ``log2(n)`` times, and looking one up searches as many runs. Runs of more than
:data:`LONG` entries are left alone: to merge them takes longer than somebody who looks on wants to wait.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agdbg.events import Kind
from agdbg.record.index import Rows
from agdbg.record.module_stacks import ModuleStacks, module_records
from agdbg.record.reader import Records

Words = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_NODE = np.uint64((1 << 48) - 1)
_STORAGE = np.uint64((1 << 36) - 1)
_KIND = 0xFF
_KINDS = _KIND + 1

#: So many new records, as come with a step, are noted one by one: for NumPy they are too few.
FEW = 16
#: Entries of a run that is not merged any more; merging two that are shorter takes some 20 ms.
LONG = 1 << 19


class Grown:
    """A column of numbers that grows at its end; its room doubles."""

    def __init__(self, dtype: type[np.generic] = np.int64) -> None:
        self._room: npt.NDArray[Any] = np.empty(16, dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def now(self) -> npt.NDArray[Any]:
        """All of it: a view that may be written to, until something is added."""
        return self._room[: self._size]

    def add(self, numbers: npt.NDArray[Any]) -> None:
        """Put ``numbers`` at the end."""
        needed = self._size + len(numbers)
        if needed > len(self._room):
            self._make_room(needed)
        self._room[self._size : needed] = numbers
        self._size = needed

    def append(self, number: int) -> None:
        """Put one number at the end."""
        if self._size == len(self._room):
            self._make_room(self._size + 1)
        self._room[self._size] = number
        self._size += 1

    def _make_room(self, needed: int) -> None:
        room = np.empty(max(needed, 2 * len(self._room)), self._room.dtype)
        room[: self._size] = self.now
        self._room = room


class _Run(NamedTuple):
    """Ids, ascending, and their values; `is_dense`: each id is by one more than the one before, so that nothing is searched."""

    ids: Words
    values: Numbers
    is_dense: bool

    @classmethod
    def of(cls, ids: Words, values: Numbers) -> "_Run":
        """A run; ids that do not ascend are sorted, equal ones stay in their order."""
        if len(ids) == 1:
            return cls(ids, values, True)
        if not bool((ids[1:] >= ids[:-1]).all()):
            order = np.argsort(ids, kind="stable")
            ids, values = ids[order], values[order]
        is_dense = int(ids[-1]) - int(ids[0]) == len(ids) - 1 and bool((ids[1:] > ids[:-1]).all())
        return cls(ids, values, is_dense)

    def then(self, after: "_Run") -> "_Run":
        """Both in one, where no id of the other is smaller than those of this."""
        is_dense = self.is_dense and after.is_dense and int(self.ids[-1]) + 1 == int(after.ids[0])
        return _Run(np.concatenate([self.ids, after.ids]), np.concatenate([self.values, after.values]), is_dense)

    def find(self, ids: Words, found: Numbers) -> None:
        """Put into `found` the value that was added last for each of those of `ids` that are here."""
        at = ids - self.ids[0] if self.is_dense else np.searchsorted(self.ids, ids, "right") - 1
        hit = at < len(self.ids) if self.is_dense else (at >= 0) & (self.ids[at] == ids)  # a smaller id is far ahead
        found[hit] = self.values[at[hit]]


class GrowingIndex:
    """Values by id, as sparse as ids may be; what is added last stands last."""

    def __init__(self) -> None:
        self._runs: list[_Run] = []
        self._ids: Words | None = None
        self._size = 0

    def __len__(self) -> int:
        """How many values there are."""
        return self._size

    def add(self, ids: Words, values: Numbers) -> None:
        """Add a value for each id."""
        if not len(ids):
            return
        self._ids, self._size = None, self._size + len(ids)
        self._runs.append(_Run.of(ids, values))
        while len(self._runs) > 1 and len(self._runs[-2].ids) <= min(2 * len(self._runs[-1].ids), LONG):
            newer, older = self._runs.pop(), self._runs.pop()
            self._runs.append(_merged(older, newer))

    @property
    def ids(self) -> Words:
        """All ids, each once, ascending."""
        if self._ids is None:
            runs = [run.ids for run in self._runs]
            self._ids = np.unique(np.concatenate(runs)) if runs else np.empty(0, np.uint64)
        return self._ids

    def rows(self, number: int) -> list[int]:
        """The values of an id, in the order in which they were added."""
        if not 0 <= number < 1 << 64:
            return []
        wanted, found = np.uint64(number), []
        for keys, values, _ in self._runs:
            first = keys.searchsorted(wanted)
            if first < len(keys) and keys[first] == wanted:
                found += values[first : keys.searchsorted(wanted, "right")].tolist()
        return found

    def last(self, number: int) -> int:
        """The value that was added last for an id, or -1."""
        if not 0 <= number < 1 << 64:
            return -1
        wanted = np.uint64(number)
        for keys, values, _ in reversed(self._runs):
            end = keys.searchsorted(wanted, "right")
            if end and keys[end - 1] == wanted:
                return int(values[end - 1])
        return -1

    def find(self, ids: Words) -> Numbers:
        """For each id the value that was added last, -1 where there is none."""
        found = np.full(len(ids), -1, np.int64)
        for run in self._runs:
            run.find(ids, found)
        return found

    def all(self, ids: Words) -> tuple[Numbers, Numbers]:
        """All values of these ids: the place in ``ids`` that each belongs to, ascending, and the value."""
        owners, values = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for keys, held, _ in self._runs:
            starts = np.searchsorted(keys, ids, "left")
            counts = np.searchsorted(keys, ids, "right") - starts
            owners.append(np.repeat(np.arange(len(ids)), counts))
            values.append(held[np.repeat(starts, counts) + _within(counts)])
        owner, value = np.concatenate(owners), np.concatenate(values)
        order = np.argsort(owner, kind="stable")
        return owner[order], value[order]


def _merged(older: _Run, newer: _Run) -> _Run:
    """Both in one, of equal ids the older first. As a rule ids ascend as they come, or descend: then nothing is searched."""
    if older.ids[-1] <= newer.ids[0]:
        return older.then(newer)
    if newer.ids[-1] < older.ids[0]:
        return newer.then(older)
    at = np.searchsorted(older.ids, newer.ids, "right")
    return _Run.of(np.insert(older.ids, at, newer.ids), np.insert(older.values, at, newer.values))


def distinct(words: Words) -> Words:
    """Each of these once, ascending: for many that are equal this is several times as fast as ``np.unique``."""
    if not len(words):
        return words
    ordered = np.sort(words)
    found: Words = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])]
    return found


def _within(counts: Numbers) -> Numbers:
    """0, 1, ... for each count, one after the other."""
    return np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)


def _whole(words: Words) -> Words:
    return words


def _node_of(words: Words) -> Words:
    return words & _NODE


def _storage_of(words: Words) -> Words:
    return words & _STORAGE


#: Columns other than the id by which records are found, and what of the word counts: the node of an edge, the storage of a save.
COLUMNS: dict[tuple[Kind, int], Callable[[Words], Words]] = {
    (Kind.TENSOR, 3): _node_of,
    (Kind.BORN, 4): _node_of,
    (Kind.BORN, 5): _node_of,
    (Kind.EDGE, 3): _node_of,
    (Kind.BORN, 6): _storage_of,
    (Kind.BORN, 7): _storage_of,
}


class Growing:
    """The rows of each kind and indexes over them, for records that keep coming.

    Attributes:
        records: all records so far.
    """

    def __init__(self) -> None:
        self.records: Records = np.empty((0, 8), np.uint64)
        self._rows = [Grown() for _ in range(_KINDS)]
        self._indexes: dict[tuple[Kind, int], GrowingIndex] = {}
        self._stacks, self._stacked = ModuleStacks(), 0

    def grow(self, records: Records) -> None:
        """``records`` are those that there were, and more after them."""
        start = len(self.records)
        self.records = records
        if len(records) - start <= FEW:
            for row, head in enumerate(records[start:, 0].tolist(), start):
                self._rows[head & _KIND].append(row)
            return
        kinds = records[start:, 0].astype(np.uint8)
        for kind in np.bincount(kinds).nonzero()[0].tolist():
            self._rows[kind].add((kinds == kind).nonzero()[0] + start)

    def rows(self, kind: int) -> Rows:
        """The rows of a kind, ascending."""
        return self._rows[kind].now

    def index(self, kind: Kind, column: int = 1) -> GrowingIndex:
        """The rows of a kind by what stands in a column; without one by the id of their main entity."""
        key = kind, column
        index = self._indexes.get(key)
        if index is None:
            index = self._indexes[key] = GrowingIndex()
        if len(index) < len(self._rows[kind]):
            rows = self.rows(kind)[len(index) :]
            index.add(COLUMNS.get(key, _whole)(self.records[rows, column]), rows.copy())
        return index

    def about(self, kind: Kind, number: int) -> list[int]:
        """The rows of a kind whose main entity is ``number``, ascending. Most kinds are rare, and cost nothing then."""
        return self.index(kind).rows(number) if len(self._rows[kind]) else []

    def stacks(self) -> ModuleStacks:
        """Which modules each thread was in, so far."""
        rows = self.rows(Kind.MODULE)[self._stacked :]
        self._stacked += len(rows)
        self._stacks.add(module_records(self.records, rows))
        return self._stacks

"""Which memory saved tensors hold, from when to when: arrays over a whole trace, so that a million nodes take seconds."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from agdbg.events import ACCUMULATE_SEQUENCE, RETAIN_GRAPH, Kind, Outcome
from agdbg.record import Facts
from agdbg.record.index import Rows
from agdbg.report.left_held import Births, held_until

Words = npt.NDArray[np.uint64]
Sizes = npt.NDArray[np.int64]
_STORAGE, _SLOT = np.uint64((1 << 36) - 1), np.uint64(56)
_FLAGS, _LEAF = np.uint64(8), np.uint64(ACCUMULATE_SEQUENCE)
UNKNOWN = -1


class SavedBytes:
    """Every storage that some node saved, each once.

    Attributes:
        storages: their ids, ascending.
        saver: the node that saved each first, and ``row`` its birth.
        nbytes: the size of each, :data:`UNKNOWN` where that was not recorded.
        permanent: which of them belong to leaves, as parameters do: they are there anyway.
        freed: the row at which the last node that held it let it go: a pass freed it, or what one had left held was there no more;
            of what no pass came to the row at which it was saved.
        run: which of them some pass came to; of others it is not known when they were dropped.
    """

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._records = facts.trace.records
        node, storage = self._saves()
        self.storages, first, group = np.unique(storage, return_index=True, return_inverse=True)
        self.saver: Words = node[first]
        born = self._births.rows[self._births.find(node)]
        self.row: Rows = np.full(len(self.storages), len(self._records), np.int64)
        np.minimum.at(self.row, group, born)
        self.nbytes = self._sizes()
        self.permanent = np.isin(self.storages, self._leaves())
        end, used = self._ends(node)
        self.freed: Rows = np.full(len(self.storages), -1, np.int64)
        np.maximum.at(self.freed, group, end)
        self.run = np.zeros(len(self.storages), bool)
        np.logical_or.at(self.run, group, used)

    @cached_property
    def _births(self) -> Births:
        """The nodes, and the row of each birth."""
        rows = self.facts.rows(Kind.BORN)
        nodes = self._records[rows, 1]
        if bool((nodes[1:] > nodes[:-1]).all()):  # as they nearly always come
            return Births(nodes, rows)
        ids, first = np.unique(nodes, return_index=True)
        return Births(ids, rows[first])

    def _saves(self) -> tuple[Words, Words]:
        """Pairs of a node and a storage that it saved; what pack hooks took instead is not held."""
        born, told = self.facts.rows(Kind.BORN), self._records[self.facts.rows(Kind.SAVED)]
        nodes, words = [told[:, 1]], [told[:, 3] | told[:, 2] << _SLOT]
        for column in (6, 7):
            found = self._records[born, column]
            there = found > 0
            nodes.append(self._records[born[there], 1])
            words.append(found[there])
        node, word = np.concatenate(nodes), np.concatenate(words)
        good = ((word & _STORAGE) > 0) & (self._births.find(node) >= 0)
        packed = self._records[self.facts.rows(Kind.PACKED)]
        if len(packed):
            keys = node * np.uint64(256) + (word >> _SLOT)
            good &= ~np.isin(keys, packed[:, 1] * np.uint64(256) + packed[:, 2])
        return node[good], (word & _STORAGE)[good]

    def _sizes(self) -> Sizes:
        told = self._records[self.facts.rows(Kind.SHAPE)]
        ids, last = np.unique(told[::-1, 4], return_index=True)
        sizes = told[::-1][last, 5].astype(np.int64)
        return _looked_up(self.storages, ids, sizes, UNKNOWN)

    def _leaves(self) -> Words:
        """The storages of leaves: those that have names, and those of AccumulateGrad nodes."""
        born = self._records[self.facts.rows(Kind.BORN)]
        leaves = born[born[:, 2] == _LEAF, 1]
        told = self._records[self.facts.rows(Kind.SHAPE)]
        named = [each.storage for each in self.facts.tensors if each.kind in ("parameter", "buffer")]
        return np.concatenate([told[np.isin(told[:, 1], leaves), 4], np.array(named, np.uint64)])

    def _ends(self, node: Words) -> tuple[Rows, npt.NDArray[np.bool_]]:
        """For each of these nodes the row from which on it held nothing, else that of its birth; and whether a pass came to it."""
        if not len(node):
            return np.zeros(0, np.int64), np.zeros(0, bool)
        rows = self.facts.run_rows
        ran = self._records[rows]
        well = ran[:, 6] == Outcome.OK
        started = self._records[self.facts.rows(Kind.PASS_STARTED)]
        kept = started[(started[:, 0] >> _FLAGS & np.uint64(RETAIN_GRAPH)) > 0, 1]
        freeing = well & ~np.isin(ran[:, 2], kept) & ~self._is_retained(rows, ran[:, 2])
        freed = _looked_up(node, *_first(ran[freeing, 1], rows[freeing]), -1)
        unfreed = np.unique(node[freed < 0])
        until = _looked_up(node, unfreed, held_until(self.facts, self._births, unfreed), -1)
        end = np.where(freed >= 0, freed, until)
        return np.where(end >= 0, end, self._births.rows[self._births.find(node)]), end >= 0

    def _is_retained(self, rows: Rows, passes: Words) -> npt.NDArray[np.bool_]:
        """Which of these runs came after somebody had let their pass keep the graph at a stop."""
        told = self.facts.rows(Kind.RETAINED)
        ids, first = _first(self._records[told, 1], told)
        return rows > _looked_up(passes, ids, first, len(self._records))

    # ----- over time -----

    @cached_property
    def _counted(self) -> npt.NDArray[np.bool_]:
        """Which storages count: not those of leaves; and where anything ran those that some pass used."""
        return ~self.permanent & (self.run if self.run.any() else True)

    @cached_property
    def _sizes_counted(self) -> Sizes:
        return np.where(self._counted & (self.nbytes > 0), self.nbytes, 0)

    def held_between(self, first: int, last: int) -> npt.NDArray[np.bool_]:
        """Which storages were held at some row from ``first`` on and before ``last``."""
        return self._counted & (self.row < last) & (self.freed >= first)

    def held_at(self, rows: Rows) -> Sizes:
        """The bytes that were held at each of these rows, as far as sizes were recorded."""
        sizes = self._sizes_counted
        return _sum_before(self.row, sizes, rows) - _sum_before(self.freed, sizes, rows)

    def peak(self) -> tuple[int, npt.NDArray[np.bool_]]:
        """The row at which most bytes were held, and which storages were; those of leaves are left out."""
        counted, sizes = self._counted, self._sizes_counted
        if not len(sizes) or not counted.any():
            return 0, np.zeros(len(self.storages), bool)
        rows = np.concatenate([self.row, self.freed + 1])
        change = np.concatenate([sizes, -sizes])
        # with no sizes the number of storages stands for them
        if not sizes.any():
            change = np.concatenate([counted.astype(np.int64), -counted.astype(np.int64)])
        order = np.lexsort((change, rows))
        held = np.cumsum(change[order])
        at = int(rows[order][int(held.argmax())])
        return at, counted & (self.row <= at) & (self.freed >= at)


def _looked_up(keys: Words, ids: Words, values: npt.NDArray[np.int64], default: int) -> npt.NDArray[np.int64]:
    """The value of each key; ``ids`` are ascending."""
    if not len(ids):
        return np.full(len(keys), default, np.int64)
    at = np.minimum(ids.searchsorted(keys), len(ids) - 1)
    found: npt.NDArray[np.int64] = np.where(ids[at] == keys, values[at], default)
    return found


def _sum_before(when: Rows, sizes: Sizes, rows: Rows) -> Sizes:
    """For each row the sum of the sizes whose time is before it."""
    order = np.argsort(when, kind="stable")
    sums: Sizes = np.append(0, np.cumsum(sizes[order]))
    return sums[np.searchsorted(when[order], rows, "left")]


def _first(ids: Words, rows: Rows) -> tuple[Words, Rows]:
    found, at = np.unique(ids, return_index=True)
    return found, rows[at]

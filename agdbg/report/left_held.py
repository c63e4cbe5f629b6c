"""What passes have left held: the nodes that one came to and did not free, and until when their graph was there.

A pass leaves what it ran with ``retain_graph``, and what it has reached and not run: as it failed, has not ended, or was asked for
some gradients only. That lives until a later pass frees it, or until nobody has the graph any more. The latter is seen where the
next pass starts: HELD tells how many graphs of passes that were over are there then, and which is the oldest; of the others it is
taken that the youngest are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from agdbg.events import ACCUMULATE_SEQUENCE, Held, Kind, Outcome
from agdbg.record import Facts
from agdbg.record.index import Rows

Words = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_NODE, _LEAF = np.uint64((1 << 48) - 1), np.uint64(ACCUMULATE_SEQUENCE)
_A, _BYTE = np.uint64(16), np.uint64(255)


class Births(NamedTuple):
    """The nodes, ascending, and the row of each birth; ``find`` has the places of some, -1 for those that are none of them."""

    ids: Words
    rows: Rows

    def find(self, nodes: Words) -> Numbers:
        """Where these nodes are."""
        if not len(self.ids):
            return np.full(len(nodes), -1, np.int64)
        first, last = int(self.ids[0]), int(self.ids[-1])
        if last - first == len(self.ids) - 1:
            near = (nodes >= first) & (nodes <= last)
            return np.where(near, nodes.astype(np.int64) - first, -1)
        at = np.minimum(self.ids.searchsorted(nodes), len(self.ids) - 1)
        return np.where(self.ids[at] == nodes, at, -1)


def held_until(facts: Facts, births: Births, unfreed: Words) -> Rows:
    """For each of some nodes that no pass has freed the last row until which a pass has left it held; -1: none has."""
    until = np.full(len(births.ids), -1, np.int64)
    passes = _Passes(facts, births)
    if len(passes.ids) and len(unfreed):
        wanted = np.zeros(len(births.ids), bool)
        wanted[births.find(unfreed)] = True
        number, node = passes.left(wanted)
        np.maximum.at(until, node, passes.gone(np.unique(number))[number])
    found: Rows = until[births.find(unfreed)]
    return found


class _Passes:
    """All passes of a trace, by number from 0 on in the order of their ids, and nodes by their place among the births."""

    def __init__(self, facts: Facts, births: Births) -> None:
        self._facts, self._births, self._records = facts, births, facts.trace.records
        started, finished = facts.rows(Kind.PASS_STARTED), facts.rows(Kind.PASS_FINISHED)
        self.ids, first = np.unique(self._records[started, 1], return_index=True)
        self.rows: Rows = started[first]
        self._ends: Rows = np.full(len(self.ids), len(self._records), np.int64)
        number = self._number(self._records[finished, 1])
        self._ends[number[number >= 0]] = finished[number >= 0]
        rows = facts.run_rows
        pass_, node = self._number(self._records[rows, 2]), births.find(self._records[rows, 1])
        good = (pass_ >= 0) & (node >= 0)
        self._ran_in, self._ran, self._run_rows = pass_[good], node[good], rows[good]
        self._deepest: dict[int, int] = {}

    def _number(self, ids: Words) -> Numbers:
        if not len(self.ids):
            return np.full(len(ids), -1, np.int64)
        at = np.minimum(self.ids.searchsorted(ids), len(self.ids) - 1)
        return np.where(self.ids[at] == ids, at, -1)

    def _roots(self) -> tuple[Numbers, Numbers]:
        """Pairs of a pass and a root."""
        more = self._facts.rows(Kind.ROOT)
        number = np.concatenate([np.arange(len(self.ids)), self._number(self._records[more, 1])])
        node = self._births.find(np.concatenate([self._records[self.rows, 3], self._records[more, 3]]) & _NODE)
        good = (number >= 0) & (node >= 0)
        return number[good], node[good]

    def _edges(self) -> tuple[Numbers, Numbers]:
        """The nodes to which edges lead, by the node that they begin at: those of the n-th from ``ends[n]`` to ``ends[n + 1]``."""
        born, late = self._births.rows, self._facts.rows(Kind.EDGE)
        places = np.arange(len(born))
        sources = np.concatenate([places, places, self._births.find(self._records[late, 1])])
        words = np.concatenate([self._records[born, 4], self._records[born, 5], self._records[late, 3]]) & _NODE
        targets = self._births.find(words)
        good = (sources >= 0) & (targets >= 0)
        sources, targets = sources[good], targets[good]
        counts = np.bincount(sources, minlength=len(born))
        return targets[np.argsort(sources, kind="stable")], np.append(0, np.cumsum(counts))

    def left(self, wanted: Mask) -> tuple[Numbers, Numbers]:
        """Pairs of a pass and a node among those that are wanted: one that it ran, or has reached and not run."""
        size = len(self._births.ids)
        targets, ends = self._edges()
        counts = ends[self._ran + 1] - ends[self._ran]
        starts = np.repeat(ends[self._ran] - np.cumsum(counts) + counts, counts)
        met = np.repeat(self._ran_in, counts) * size + targets[starts + np.arange(len(starts))]
        number, node = self._roots()
        ahead = np.concatenate([number * size + node, met])
        ahead = np.unique(ahead[~np.isin(ahead, self._ran_in * size + self._ran)])
        own = wanted[self._ran]
        found = [(self._ran_in[own], self._ran[own])]
        if len(ahead):
            found += self._walked(ahead // size, ahead % size, targets, ends, wanted)
        return np.concatenate([each for each, _ in found]), np.concatenate([each for _, each in found])

    def _walked(
        self, passes: Numbers, starts: Numbers, targets: Numbers, ends: Numbers, wanted: Mask
    ) -> list[tuple[Numbers, Numbers]]:
        """For each of these passes the wanted nodes that can be reached from its starts through what it has not run."""
        order = np.argsort(self._ran_in, kind="stable")
        bounds = np.searchsorted(self._ran_in[order], np.arange(len(self.ids) + 1))
        seen = np.full(len(ends), -1, np.int32)
        # They are buffers, which NumPy declares for Python 3.12 on.
        marks, to, first = memoryview(seen), memoryview(targets), memoryview(ends)  # type: ignore[arg-type]
        found = []
        for number in np.unique(passes).tolist():
            ran = self._ran[order[bounds[number] : bounds[number + 1]]]
            seen[ran] = number
            todo, reached = starts[passes == number].tolist(), []
            while todo:
                node = todo.pop()
                if marks[node] != number:
                    marks[node] = number
                    reached.append(node)
                    todo += to[first[node] : first[node + 1]]
            nodes = np.array(reached, np.int64)
            if self._ends[number] < len(self._records) and not self._is_well(number):
                self._deepest[number] = self._lowest(np.concatenate([ran, nodes]))
            nodes = nodes[wanted[nodes]]
            found.append((np.full(len(nodes), number), nodes))
        return found

    def _is_well(self, number: int) -> bool:
        return int(self._records[self._ends[number], 2]) == Outcome.OK

    def _lowest(self, nodes: Numbers) -> int:
        """Of some nodes the one that a pass comes to last, leaves left out; -1: there is none."""
        order = self._records[self._births.rows[nodes], 2]
        inner = order != _LEAF
        return int(nodes[inner][order[inner].argmin()]) if inner.any() else -1

    # ----- how long their graphs were there -----

    def gone(self, left: Numbers) -> Rows:
        """The last row at which the graph of each pass in ``left`` may have been there: then it was seen not to be."""
        gone = np.full(len(self.ids), len(self._records), np.int64)
        roots, deepest = _Watched(*self._inner(*self._roots()), self._ends), _Watched(*self._lasts(), self._ends)
        told = self._told()
        for row, pass_id in self._moments():
            over = left[self._ends[left] < row]
            if not len(over):
                continue
            count, oldest = told.get(pass_id, (0, -1))
            watched = roots if count == 0 or oldest in roots.place else deepest
            there = watched.alive(row, count, oldest, len(self.ids))
            dead = over[~there[over]]
            gone[dead] = row - 1
            left = left[~np.isin(left, dead)]
        return gone

    def _inner(self, number: Numbers, node: Numbers) -> tuple[Numbers, Numbers]:
        """Those pairs whose node is no leaf."""
        good = self._records[self._births.rows[node], 2] != _LEAF
        return number[good], node[good]

    def _lasts(self) -> tuple[Numbers, Numbers]:
        """Pairs of a pass and the node that it came to last, or would have."""
        number, node = self._inner(self._ran_in, self._ran)
        numbers, last = np.unique(number[::-1], return_index=True)
        found = dict(zip(numbers.tolist(), node[::-1][last].tolist(), strict=True)) | self._deepest
        pairs = [(number, node) for number, node in sorted(found.items()) if node >= 0]
        return np.array([each for each, _ in pairs], np.int64), np.array([each for _, each in pairs], np.int64)

    def _told(self) -> dict[int, tuple[int, int]]:
        """By the pass that starts, 0 for the end of the recording, how many graphs are there and the node of the oldest."""
        words = self._records[self._facts.rows(Kind.HELD)]
        words = words[(words[:, 0] >> _A & _BYTE) == Held.SOMEBODY]
        nodes = self._births.find(words[:, 3] & _NODE)
        return dict(zip(words[:, 1].tolist(), zip(words[:, 2].tolist(), nodes.tolist(), strict=True), strict=True))

    def _moments(self) -> list[tuple[int, int]]:
        """When it was looked which graphs are there, in order: the row and the pass that starts.

        Where a trace that is being written ends with the start of a pass, what is to be told there may not have come yet.
        """
        words = self._records[self.rows]
        last = self.rows + np.maximum(words[:, 0] >> _A & _BYTE, 1).astype(np.int64) - 1
        good = last < len(self._records) - 1
        return sorted(zip(self.rows[good].tolist(), self.ids[good].tolist(), strict=True))


class _Watched:
    """Nodes of passes that are over, in the order in which they ended: of each pass the roots, or the one that it came to last.

    Attributes:
        place: that of each node.
    """

    def __init__(self, passes: Numbers, nodes: Numbers, ends: Rows) -> None:
        order = np.argsort(ends[passes], kind="stable")
        self._passes, nodes = passes[order], nodes[order]
        known, first, group = np.unique(nodes, return_index=True, return_inverse=True)
        came = np.argsort(np.argsort(first, kind="stable"), kind="stable")
        self._places: Numbers = came[group]
        self._ends: Rows = np.sort(ends[self._passes[first]])
        self.place: dict[int, int] = dict(zip(known.tolist(), came.tolist(), strict=True))

    def alive(self, row: int, count: int, oldest: int, size: int) -> Mask:
        """Which of ``size`` passes have a node that is there when ``count`` of those that came before a row are."""
        there = np.zeros(size, bool)
        if count:
            end, first = int(self._ends.searchsorted(row)), self.place.get(oldest, -1)
            there[self._passes[(self._places == first) | (self._places >= max(first, end - count + 1))]] = True
        return there

"""The graph of a trace in arrays: what is reachable from where, for a million nodes in about a second.

:class:`~agdbg.record.Facts` answers for one node at a time, and a diagnosis asks for sets of nodes: those below
the roots of a pass, those above a node. Here nodes are numbered by *place*, 0 to n - 1 in the order of their
ids, and sets are arrays of bool.
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from agdbg.events import ACCUMULATE_SEQUENCE, PROVENANCE_MASK, Kind
from agdbg.record import Facts
from agdbg.record.nodes import EDGE_LIMIT
from agdbg.record.tellings import strongest

Mask = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]
Words = npt.NDArray[np.uint64]

_NODE = np.uint64((1 << 48) - 1)
_LOW, _HIGH, _BYTE, _FLAGS = np.uint64((1 << 32) - 1), np.uint64(32), np.uint64(255), np.uint64(8)
_SAVES = np.uint64(24)
_THREAD, _THREADS = np.uint64(32), np.uint64((1 << 32) - 1)


@dataclass(frozen=True)
class Edges:
    """All edges, one row each: from input ``index`` of place ``source`` to place ``target``."""

    source: Places
    index: npt.NDArray[np.int64]
    target: Places
    provenance: npt.NDArray[np.int64]


class Walk:
    """Reachability in one trace. Edges are those that ``Facts.node`` would tell.

    Attributes:
        ids: the node ids by place, ascending; nodes that are only mentioned have a place too.
        born: the row of the birth by place, -1 for a node whose birth was not recorded.
        made_at: the SITE_OP word of the birth by place, 0: not known; equal words mean one line and one op.
        leaves: which places are ``AccumulateGrad`` nodes.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._records: npt.NDArray[Any] = facts.trace.records
        births = _last_births(self._records, facts.rows(Kind.BORN))
        told = self._told(births)
        starts = self._records[facts.rows(Kind.PASS_STARTED), 3] & _NODE
        self.ids = np.unique(np.concatenate([self._records[births, 1], told[0], told[2], starts]))
        self._born_places = self._places(self._records[births, 1])
        self.born = np.full(len(self.ids), -1, np.int64)
        self.born[self._born_places] = births
        self.made_at = np.zeros(len(self.ids), np.uint64)
        self.made_at[self._born_places] = self._records[births, 3]
        self.leaves = self._find_leaves(births)
        source, index, target, provenance = told
        self.edges = Edges(self._places(source), index, self._places(target), provenance)

    def _told(self, births: npt.NDArray[np.int64]) -> tuple[Words, Any, Words, Any]:
        """Every edge as (source id, input, target id, provenance), the best witness of each, as in "
        "``Facts``."""
        rows = self._facts.rows(Kind.EDGE)
        late, born = self._records[rows], self._records[births]
        source = np.concatenate([born[:, 1], born[:, 1], late[:, 1]])
        index = np.concatenate([born[:, 0] * 0, born[:, 0] * 0 + 1, late[:, 2]])
        target = np.concatenate([born[:, 4], born[:, 5], late[:, 3]]) & _NODE
        heads = np.concatenate([born[:, 0], born[:, 0], late[:, 0]])
        provenance = (heads >> _FLAGS & np.uint64(PROVENANCE_MASK)).astype(np.int64)
        age = np.concatenate([np.full(2 * len(births), -1), rows])
        good = index < EDGE_LIMIT
        good[: 2 * len(births)] &= target[: 2 * len(births)] != 0
        if len(rows):
            told = np.flatnonzero(good)
            good[told] = strongest(source[told], index[told], provenance[told], age[told])
        good &= target != 0
        return source[good], index[good].astype(np.int64), target[good], provenance[good]

    def _find_leaves(self, births: npt.NDArray[np.int64]) -> Mask:
        ops = self._records[births, 3] >> _HIGH
        names = [op for op in np.unique(ops).tolist() if self._facts.trace.op(op).name.endswith("AccumulateGrad")]
        leaves = np.zeros(len(self.ids), bool)
        is_leaf = self._records[births, 2] == np.uint64(ACCUMULATE_SEQUENCE)
        leaves[self._born_places] = is_leaf | np.isin(ops, np.array(names, np.uint64))
        return leaves

    # ----- places -----

    def place(self, node: int) -> int:
        """The place of a node, -1 when the trace does not mention it."""
        if not 0 < node < 1 << 64:
            return -1
        place = int(self.ids.searchsorted(np.uint64(node)))
        return place if place < len(self.ids) and self.ids[place] == node else -1

    def _places(self, ids: Words) -> Places:
        return self.ids.searchsorted(ids)

    def mask(self, nodes: Iterable[int] | Words) -> Mask:
        """The set of these nodes, those that the trace does not mention left out."""
        ids = nodes if isinstance(nodes, np.ndarray) else np.array(list(nodes), np.uint64)
        return np.isin(self.ids, ids)

    @cached_property
    def saving(self) -> Mask:
        """Which places saved something, as far as was told."""
        mask = np.zeros(len(self.ids), bool)
        births = self.born[self._born_places]
        mask[self._born_places] = (self._records[births, 0] >> _SAVES & _BYTE) > 0
        told = self._records[self._facts.rows(Kind.SAVED), 1]
        mask[self._places(told[np.isin(told, self.ids)])] = True
        return mask

    @cached_property
    def in_pass(self) -> Mask:
        """Which places were born while a pass ran in their thread: recomputed, or part of a gradient's graph."""
        mask = np.zeros(len(self.ids), bool)
        threads = self._records[self.born, 0] >> _THREAD & _THREADS
        for thread in {each.thread for each in self._facts.passes}:
            passes = sorted((each.row, each.end_row) for each in self._facts.passes if each.thread == thread)
            starts, ends = np.array(passes, np.int64).T
            last = np.maximum.accumulate(ends)  # a pass inside of another one ends before it
            index = starts.searchsorted(self.born) - 1
            mask |= (threads == thread) & (index >= 0) & (self.born < last[index])
        return mask & (self.born >= 0)

    def born_again(self, place: int, after: int, before: int) -> Places:
        """The nodes that the same op on the same line made between two rows, in the order of their ids.

        Of what the program made only what the program made again: a checkpoint that a pass computes again runs its
        lines once more, and nothing was repeated.
        """
        word = self.made_at[place]
        if not word & _LOW:
            return np.zeros(0, np.intp)
        same = (self.made_at == word) & (self.in_pass == self.in_pass[place])
        return np.flatnonzero(same & (self.born > after) & (self.born < before))

    # ----- walking -----

    def below(self, start: Mask, within: Mask | None = None) -> Mask:
        """What can be reached from ``start`` along the edges, itself included: the way gradients flow.

        With ``within`` only on nodes of that set.
        """
        if within is None:
            return _flood(start, self._down, np.ones(len(self.ids), bool))
        return _flood(start & within, self._down, within)

    def above(self, start: Mask, within: Mask) -> Mask:
        """The nodes of ``within`` from which ``start`` can be reached on nodes of ``within``."""
        return _flood(start & within, self._up, within)

    def users(self, place: int) -> list[int]:
        """The places of the nodes whose gradients go to a node."""
        starts, sources = self._up
        return sources[starts[place] : starts[place + 1]]

    def nearest_above(self, place: int, within: Mask, wanted: Callable[[int], bool], limit: int) -> int:
        """The place of the wanted node that the fewest edges lead from to ``place``, inside a set; -1 for none.

        At most ``limit`` nodes are looked at.
        """
        starts, sources = self._up
        seen, todo = {place}, deque([place])
        while todo and len(seen) <= limit:
            here = todo.popleft()
            for above in sources[starts[here] : starts[here + 1]]:
                if above in seen or not within[above]:
                    continue
                if wanted(above):
                    return above
                seen.add(above)
                todo.append(above)
        return -1

    @cached_property
    def _down(self) -> tuple[list[int], list[int]]:
        return _adjacency(self.edges.source, self.edges.target, len(self.ids))

    @cached_property
    def _up(self) -> tuple[list[int], list[int]]:
        return _adjacency(self.edges.target, self.edges.source, len(self.ids))


def _last_births(records: npt.NDArray[Any], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Of each node the last birth record, in the order of the ids."""
    backwards = rows[::-1]
    _, first = np.unique(records[backwards, 1], return_index=True)
    return backwards[first]


def _adjacency(source: Places, target: Places, count: int) -> tuple[list[int], list[int]]:
    """Compressed rows: the targets of place p are ``targets[starts[p]:starts[p + 1]]``."""
    order = np.argsort(source, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=count))])
    return starts.tolist(), target[order].tolist()


def _flood(start: Mask, adjacency: tuple[list[int], list[int]], within: Mask) -> Mask:
    """What can be reached from ``start``, a part of ``within``, inside it; each edge is looked at once."""
    starts, targets = adjacency
    closed = bytearray((~within | start).tobytes())
    todo: list[int] = np.flatnonzero(start).tolist()
    while todo:
        place = todo.pop()
        for target in targets[starts[place] : starts[place + 1]]:
            if not closed[target]:
                closed[target] = 1
                todo.append(target)
    return np.frombuffer(closed, bool) & within

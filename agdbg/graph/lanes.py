"""Lanes: one row a node, oldest first, and edges as lines beside the rows, as `git log --graph` draws them.

A node takes over the lane of a producer that it is the last to use, or else the first free lane; its lane
stays open until its last consumer. Lanes beyond a limit are not drawn, and a row then names those producers; so it
does for a producer that is too many rows away.

Rows come in blocks, and any block can be drawn by itself, which is what lets a million rows be scrolled and
grow. Lanes that cross from one block into the next get their places first, in one sweep over those alone; they
are the state at the blocks' borders. The others then fit in between them, block by block.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from agdbg.graph.lane_cells import NODE, draw
from agdbg.graph.topology import Topology

__all__ = ["EXTENT", "NODE", "Extent", "Lanes", "Row", "lane_rows"]

Numbers = npt.NDArray[np.int64]


class Extent(NamedTuple):
    """How many rows a block has, and how many rows down from its producer a node may be to be drawn joined with it."""

    block: int = 1024
    span: int = 4096


EXTENT = Extent()


class Row(NamedTuple):
    """A node's row: its position, drawn lanes (two columns each), and producers that none of them shows."""

    node: int
    cells: str
    undrawn: list[int]


class _Taken:
    """Until which row each lane is taken, and until which it is drawn (-1: a lane of a node without consumers)."""

    def __init__(self, most: int) -> None:
        self.until = [-1] * most
        self.drawn = [-1] * most

    def take(self, lane: int, end: int, rests: bool) -> None:
        """The last consumer of a lane may take it over in its own row; the row below one without consumers may not:
        marks in a column look joined.
        """
        if lane < len(self.until):
            self.until[lane] = end if rests else end - 1
            self.drawn[lane] = -1 if rests else end

    def candidates(self, row: int) -> list[int]:
        """The lanes that a node in `row` may take, the best first: those that end in it, then those that are free."""
        ended = [lane for lane, end in enumerate(self.drawn) if end == row]
        return ended + [lane for lane, until in enumerate(self.until) if until < row and self.drawn[lane] != row]


class Lanes:
    """Places for the lanes of nodes that keep coming; `most` lanes are drawn.

    Attributes:
        swept: lanes across borders that were given a place, those again that were given it again.
    """

    def __init__(self, most: int = 8, extent: Extent = EXTENT) -> None:
        self._most = most
        self._extent = extent
        self._ends: Numbers = np.empty(0, np.int64)
        self._across: Numbers = np.empty(0, np.int64)
        self._lanes: Numbers = np.empty(0, np.int64)
        self.swept = 0

    def update(self, ends: Numbers, since: int) -> None:
        """Take the last consumer of each row within the span (-1: none); those of the rows before `since` are as before."""
        self._ends = ends
        rows = np.arange(since, len(ends))
        across = rows[self._end(rows) // self._extent.block != rows // self._extent.block]
        kept = int(np.searchsorted(self._across, since))
        taken = self._taken_at(since, kept)
        self._across = np.concatenate([self._across[:kept], across])
        self._lanes = np.concatenate([self._lanes[:kept], self._sweep(across, taken)])

    def _end(self, rows: Numbers) -> Numbers:
        """The row up to which the lane of each row is taken."""
        ends = self._ends[rows]
        return np.where(ends < 0, rows + 1, ends)

    def _taken_at(self, row: int, before: int) -> _Taken:
        """The lanes that come into `row` from above across a border, of the first `before` such lanes."""
        taken = _Taken(self._most)
        start = int(np.searchsorted(self._across[:before], row - self._extent.span))
        for birth, lane in zip(self._across[start:before].tolist(), self._lanes[start:before].tolist(), strict=True):
            end = int(self._ends[birth])
            taken.take(lane, end if end >= 0 else birth + 1, end < 0)
        return taken

    def _sweep(self, across: Numbers, taken: _Taken) -> Numbers:
        self.swept += len(across)
        lanes = []
        for row, end in zip(across.tolist(), self._ends[across].tolist(), strict=True):
            lane = next(iter(taken.candidates(row)), self._most)
            taken.take(lane, end if end >= 0 else row + 1, end < 0)
            lanes.append(lane)
        return np.array(lanes, np.int64)

    def block(self, number: int, producers: Sequence[Sequence[int]]) -> list[Row]:
        """The rows of a block, whose rows use these producers, each once and in the order of its inputs."""
        start = number * self._extent.block
        first, last = np.searchsorted(self._across, [start, start + len(producers)]).tolist()
        reaching = int(np.searchsorted(self._across, start - self._extent.span))
        fixed = dict(zip(self._across[reaching:last].tolist(), self._lanes[reaching:last].tolist(), strict=True))
        ends = self._ends[start : start + len(producers)].tolist()
        drawing = _Block(start, ends, fixed, self._taken_at(start, first), self._most, self._extent.span)
        return [drawing.row(start + at, found) for at, found in enumerate(producers)]


class _Block:
    """Draws the rows of one block in turn. `lane_of` holds the lanes across borders, and gets the others."""

    def __init__(
        self, start: int, ends: list[int], lane_of: dict[int, int], taken: _Taken, most: int, span: int
    ) -> None:
        self._start = start
        self._span = span
        self._ends = ends
        self._lane_of = lane_of
        self._taken = taken
        self._most = most
        self._reserved: list[list[int]] = [[] for _ in range(most)]
        for row in sorted((row for row in lane_of if row >= start), reverse=True):
            if lane_of[row] < most:
                self._reserved[lane_of[row]].append(row)

    def row(self, row: int, producers: Sequence[int]) -> Row:
        taken, most = self._taken, self._most
        lanes = {each: self._lane_of.get(each, most) for each in producers if row - self._span <= each < row}
        joined = {lane for lane in lanes.values() if lane < most}
        ended = {lane for lane in joined if taken.drawn[lane] == row}
        lane = self._lane(row)
        cells = draw([end > row for end in taken.drawn], lane, joined, ended)
        end = self._ends[row - self._start]
        taken.take(lane, end if end >= 0 else row + 1, end < 0)
        return Row(row, cells, [each for each in producers if lanes.get(each, most) >= most])

    def _lane(self, row: int) -> int:
        """The lane of a row: the one reserved for it, else one that is in nobody's way as long as it is needed."""
        fixed = self._lane_of.get(row)
        if fixed is None:
            fitting = (lane for lane in self._taken.candidates(row) if self._is_free(lane, row))
            fixed = self._lane_of[row] = next(fitting, self._most)
        elif fixed < self._most:
            self._reserved[fixed].pop()
        return fixed

    def _is_free(self, lane: int, row: int) -> bool:
        if not self._reserved[lane]:
            return True
        end, coming = self._ends[row - self._start], self._reserved[lane][-1]
        return coming >= end if end >= 0 else coming > row + 1


def lane_rows(topology: Topology, most: int = 8, extent: Extent = EXTENT) -> Iterator[Row]:
    """Yield one row a node in creation order, with at most `most` lanes drawn, at a cost of O(most) a row."""
    used: list[dict[int, None]] = [{} for _ in range(topology.size)]
    ends = np.full(topology.size, -1, np.int64)
    for consumer, producer in zip(topology.consumers, topology.producers, strict=True):
        used[consumer][producer] = None
        if 0 < consumer - producer <= extent.span:
            ends[producer] = max(ends[producer], consumer)
    producers = [list(each) for each in used]
    lanes = Lanes(most, extent)
    lanes.update(ends, 0)
    for number, start in enumerate(range(0, topology.size, extent.block)):
        yield from lanes.block(number, producers[start : start + extent.block])

"""Where the vertices of ordered rows stand from left to right."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import add

from agdbg.graph.crossings import Rows

ROUNDS = 2
"""Down-and-up sweeps of placement; each passes what it knows through the whole drawing."""

LAST_ROUNDS = 2
"""Sweeps that look both ways at the end, so that neither side wins."""

UNMOVED = 1e-6
"""Weight of staying where one is, for a vertex with no neighbour on the side looked at."""


@dataclass(slots=True)
class Lines:
    """The neighbours of each vertex on both sides, each with the weight of the line between."""

    above: list[list[int]]
    below: list[list[int]]
    pull_above: list[list[float]]
    pull_below: list[list[float]]

    @classmethod
    def for_(cls, size: int) -> "Lines":
        """No lines yet between `size` vertices."""
        lines = cls([], [], [], [])
        for _ in range(size):
            lines.add_vertex()
        return lines

    def add_vertex(self) -> None:
        """Make room for one more vertex."""
        self.above.append([])
        self.below.append([])
        self.pull_above.append([])
        self.pull_below.append([])

    def link(self, upper: int, lower: int, pull: float) -> None:
        """Draw a line between vertices in neighbouring rows."""
        self.above[lower].append(upper)
        self.pull_above[lower].append(pull)
        self.below[upper].append(lower)
        self.pull_below[upper].append(pull)


def place_rows(rows: Rows, lines: Lines, width: Sequence[float], gap: Sequence[float]) -> list[float]:
    """Return the centre of every vertex so that neighbours in a row keep clear of each other.

    A vertex takes `width[v]` and wants `gap[v]` around it; between two the mean of their gaps counts. Each
    sweep moves a row as near as it can to its neighbours in the row before: least squares, the order kept.
    """
    centre = [0.0] * len(width)
    offsets = [_offsets(row, width, gap) for row in rows]
    for row, offset in zip(rows, offsets, strict=True):
        for vertex, at in zip(row, offset, strict=True):
            centre[vertex] = at - offset[-1] / 2
    down = list(zip(rows, offsets, strict=True))
    up = down[::-1]
    for _ in range(ROUNDS):
        for row, offset in down:
            _settle(row, offset, lines.above, lines.pull_above, centre)
        for row, offset in up:
            _settle(row, offset, lines.below, lines.pull_below, centre)
    near = list(map(add, lines.above, lines.below))
    pull = list(map(add, lines.pull_above, lines.pull_below))
    for row, offset in down * LAST_ROUNDS:
        _settle(row, offset, near, pull, centre)
    return centre


def _offsets(row: list[int], width: Sequence[float], gap: Sequence[float]) -> list[float]:
    """Distance of each centre from the first one when the row is packed."""
    offset, at = [0.0], 0.0
    for left, right in pairwise(row):
        at += (width[left] + width[right] + gap[left] + gap[right]) / 2
        offset.append(at)
    return offset


def _settle(
    row: list[int], offset: list[float], links: list[list[int]], pulls: list[list[float]], centre: list[float]
) -> None:
    """Move one row: pool neighbours that would collide until all of them stand apart."""
    if len(row) == 1:
        centre[row[0]] = _wish(row[0], links[row[0]], pulls[row[0]], centre)[0]
        return
    means: list[float] = []
    weights: list[float] = []
    sizes: list[int] = []
    for vertex, shift in zip(row, offset, strict=True):
        mean, weight = _wish(vertex, links[vertex], pulls[vertex], centre)
        mean -= shift
        size = 1
        while means and means[-1] >= mean:
            other = weights.pop()
            mean = (means.pop() * other + mean * weight) / (other + weight)
            weight += other
            size += sizes.pop()
        means.append(mean)
        weights.append(weight)
        sizes.append(size)
    at = 0
    for mean, size in zip(means, sizes, strict=True):
        for index in range(at, at + size):
            centre[row[index]] = mean + offset[index]
        at += size


def _wish(vertex: int, near: list[int], pull: list[float], centre: list[float]) -> tuple[float, float]:
    """Where a vertex would stand if it were alone, and how much that matters."""
    if not near:
        return centre[vertex], UNMOVED
    if len(near) == 1:
        return centre[near[0]], pull[0]
    weight = sum(pull)
    return sum([centre[each] * force for each, force in zip(near, pull, strict=True)]) / weight, weight

"""The last touch of placement: use the free room in rows to make lines straight, without pushing anything."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from agdbg.graph.crossings import Rows
from agdbg.graph.placement import Lines

FAR = float("inf")


class Straightener:
    """Moves vertices in the room that their neighbours in the row leave them, changing `centre` in place."""

    def __init__(self, rows: Rows, width: Sequence[float], gap: Sequence[float], centre: list[float]) -> None:
        self._rows = rows
        self._reach = [(wide + around) / 2 for wide, around in zip(width, gap, strict=True)]
        self._centre = centre
        self._left = [-1] * len(width)
        self._right = [-1] * len(width)
        for row in rows:
            for left, right in pairwise(row):
                self._right[left], self._left[right] = right, left

    def align_boxes(self, boxes: int, lines: Lines) -> None:
        """Put boxes (the vertices below `boxes`) in line with those that they are tied to most."""
        for row in self._rows:
            for vertex in row:
                if vertex < boxes and lines.above[vertex]:
                    self._move(vertex, self._goal(lines.above[vertex], lines.pull_above[vertex]))
        for row in reversed(self._rows):
            for vertex in row:
                if vertex < boxes and lines.below[vertex]:
                    near = lines.above[vertex] + lines.below[vertex]
                    pull = lines.pull_above[vertex] + lines.pull_below[vertex]
                    self._move(vertex, self._goal(near, pull))

    def straighten(self, chain: Sequence[int]) -> None:
        """Bring the bends of a line into as few straight runs as can be, from its producer (last) down."""
        goal = self._centre[chain[-1]]
        run: list[int] = []
        low, high = -FAR, FAR
        for vertex in chain[-2:0:-1]:
            least, most = self._room(vertex)
            if max(low, least) > min(high, most):
                goal = self._settle(run, goal, low, high)
                run, low, high = [], -FAR, FAR
            run.append(vertex)
            low, high = max(low, least), min(high, most)
        self._settle(run, goal, low, high)

    def _settle(self, run: Iterable[int], goal: float, low: float, high: float) -> float:
        at = min(max(goal, low), high)
        for vertex in run:
            self._centre[vertex] = at
        return at

    def _move(self, vertex: int, goal: float) -> None:
        low, high = self._room(vertex)
        self._centre[vertex] = min(max(goal, low), max(low, high))

    def _goal(self, near: list[int], pull: list[float]) -> float:
        if len(near) == 1:
            return self._centre[near[0]]
        most = max(pull)
        wanted = [self._centre[each] for each, force in zip(near, pull, strict=True) if force == most]
        return sum(wanted) / len(wanted)

    def _room(self, vertex: int) -> tuple[float, float]:
        left, right, reach = self._left[vertex], self._right[vertex], self._reach
        low = self._centre[left] + reach[left] + reach[vertex] if left >= 0 else -FAR
        high = self._centre[right] - reach[right] - reach[vertex] if right >= 0 else FAR
        return low, high

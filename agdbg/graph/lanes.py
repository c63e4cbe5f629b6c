"""Lanes: one row a node, oldest first, and edges as lines beside the rows, as `git log --graph` draws them.

A node takes over the lane of a producer that it is the last to use, or else the first free lane; its lane
stays open until its last consumer. Lanes beyond a limit are not drawn, and a row then names those producers.
"""

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import NamedTuple

from agdbg.graph.topology import Topology

NODE = "\N{BLACK CIRCLE}"
"""Stands in `Row.cells` for the node itself."""

PASSES, ROW = "\N{BOX DRAWINGS LIGHT VERTICAL}", "\N{BOX DRAWINGS LIGHT HORIZONTAL}"
FIRST = ("\N{BOX DRAWINGS LIGHT ARC UP AND RIGHT}", "\N{BOX DRAWINGS LIGHT VERTICAL AND RIGHT}")
INSIDE = ("\N{BOX DRAWINGS LIGHT UP AND HORIZONTAL}", "\N{BOX DRAWINGS LIGHT VERTICAL AND HORIZONTAL}")
LAST = ("\N{BOX DRAWINGS LIGHT ARC UP AND LEFT}", "\N{BOX DRAWINGS LIGHT VERTICAL AND LEFT}")
"""Joints of a lane with a row's line, by where they are: for a lane that ends, for one that goes on. A lane
that only passes keeps its bar, so that a cross always joins."""


class Row(NamedTuple):
    """A node's row: its position, drawn lanes (two columns each), and producers that none of them shows."""

    node: int
    cells: str
    undrawn: list[int]


class _Lanes:
    """Which lanes are open. Only the first `most` are drawn, one more column holds the nodes beyond."""

    def __init__(self, most: int) -> None:
        self.open = [False] * most
        self._free: list[int] = []
        self._resting = -1
        self._next = 0

    def take(self) -> int:
        if self._free:
            return heappop(self._free)
        self._next += 1
        return self._next - 1

    def rest(self, lane: int = -1) -> None:
        """Leave the lane of a node without consumers empty for a row: marks in a column look joined."""
        if self._resting >= 0:
            self.release(self._resting)
        self._resting = lane

    def set_open(self, lane: int, is_open: bool) -> None:
        if lane < len(self.open):
            self.open[lane] = is_open

    def release(self, lane: int) -> None:
        self.set_open(lane, False)
        heappush(self._free, lane)


def lane_rows(topology: Topology, most: int = 8) -> Iterator[Row]:
    """Yield one row a node in creation order, with at most `most` lanes drawn, at a cost of O(most) a row."""
    producers_of: list[dict[int, None]] = [{} for _ in range(topology.size)]
    for consumer, producer in zip(topology.consumers, topology.producers, strict=True):
        producers_of[consumer][producer] = None
    uses = [0] * topology.size
    for consumer, producers in enumerate(producers_of):
        for producer in producers:
            uses[producer] += consumer > producer
    lanes = _Lanes(most)
    lane_of: dict[int, int] = {}
    for node, producers in enumerate(producers_of):
        above = [producer for producer in producers if producer in lane_of]
        for producer in above:
            uses[producer] -= 1
        ended = sorted(lane_of[producer] for producer in above if not uses[producer])
        lane = ended[0] if ended else lanes.take()
        cells = _draw(lanes, lane, {lane_of[producer] for producer in above}, set(ended))
        undrawn = [producer for producer in producers if lane_of.get(producer, most) >= most]
        yield Row(node, cells, undrawn)
        for other in ended[1:]:
            lanes.release(other)
        for producer in above:
            if not uses[producer]:
                del lane_of[producer]
        lanes.rest(-1 if uses[node] else lane)
        if uses[node]:
            lane_of[node] = lane
        lanes.set_open(lane, bool(uses[node]))


def _draw(lanes: _Lanes, lane: int, joined: set[int], ended: set[int]) -> str:
    most = len(lanes.open)
    here = min(lane, most)
    shown = {each for each in joined if each < most} | {here}
    first, last = min(shown), max(shown)
    cells = []
    for at in range(most + 1):
        inside = first < at < last
        if at == here:
            cell = NODE
        elif at in shown:
            cell = _joint(at == first, inside, at in ended)
        elif at < most and lanes.open[at]:
            cell = PASSES
        else:
            cell = ROW if inside else " "
        cells.append(cell + (ROW if first <= at < last else " "))
    return "".join(cells).rstrip()


def _joint(is_first: bool, inside: bool, ends: bool) -> str:
    """Where the line of a producer from above meets the row's own line."""
    last, on = INSIDE if inside else FIRST if is_first else LAST
    return last if ends else on

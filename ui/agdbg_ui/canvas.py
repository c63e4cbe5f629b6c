"""Boxes and lines as characters: what the view of boxes draws, made once for each neighbourhood."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
#: By the ways that lead out of a cell.
_LINES = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"
#: By the step from a cell to the next: the way out of the one and into the other.
_WAYS = {(0, -1): (UP, DOWN), (0, 1): (DOWN, UP), (-1, 0): (LEFT, RIGHT), (1, 0): (RIGHT, LEFT)}
_BOX_ROWS = 4

Body = Mapping[str, Any]


class Canvas:
    """Where boxes and lines stand, in cells.

    Args:
        body: that of ``agdbg/neighbourhood``.

    Attributes:
        width, height: of the whole drawing.
        top: by layer, the row of its boxes.
        edges: by cell of a line, the consumer and the producer of one of the edges there.
    """

    def __init__(self, body: Body) -> None:
        self.body = body
        self.boxes: dict[int, Body] = {box["node"]: box for box in body["boxes"]}
        self._ways: dict[tuple[int, int], int] = {}
        self._arrows: set[tuple[int, int]] = set()
        self.edges: dict[tuple[int, int], tuple[int, int]] = {}
        gaps = self._gaps()
        tracks = {gap: _tracks(segments) for gap, segments in gaps.items()}
        self.top: list[int] = []
        row = 0
        for layer in range(body["layers"]):
            self.top.append(row)
            row += _BOX_ROWS + 1 + (max(tracks[layer].values(), default=-1) + 1 if layer in tracks else 0)
        self.height = max(row - 1, 0)
        self.width = max([body["width"], *(x + 1 for line in body["lines"] for x in line["xs"])], default=0)
        for line in body["lines"]:
            self._draw(line, tracks)
        self._rows: dict[int, list[int]] = {}
        for x, y in self._ways:
            self._rows.setdefault(y, []).append(x)
        for xs in self._rows.values():
            xs.sort()
        self._by_layer: dict[int, list[Body]] = {}
        for box in sorted(body["boxes"], key=lambda box: int(box["x"])):
            self._by_layer.setdefault(box["layer"], []).append(box)

    # ----- reading -----

    def lines_in(self, y: int) -> list[tuple[int, str, tuple[int, int]]]:
        """The cells of lines in a row: column, character, and the ends of an edge that goes there."""
        return [(x, self._char(x, y), self.edges[x, y]) for x in self._rows.get(y, ())]

    def boxes_in(self, y: int) -> list[tuple[Body, int]]:
        """The boxes that a row goes through, from the left, and which of their rows that is."""
        return [
            (box, y - self.top[layer])
            for layer, boxes in self._by_layer.items()
            if self.top[layer] <= y < self.top[layer] + _BOX_ROWS
            for box in boxes
        ]

    def area(self, node: int) -> tuple[int, int, int, int]:
        """Column, row, width and height of a box."""
        box = self.boxes[node]
        return box["x"], self.top[box["layer"]], box["width"], _BOX_ROWS

    def at(self, x: int, y: int) -> int:
        """The node whose box is there, or 0."""
        found = (box for box, _ in self.boxes_in(y) if box["x"] <= x < box["x"] + box["width"])
        return int(next((box["node"] for box in found), 0))

    def beside(self, node: int, by: int) -> int:
        """The next box of the layer to the right, or to the left; the same at the end."""
        row = self._by_layer[self.boxes[node]["layer"]]
        at = next(at for at, box in enumerate(row) if box["node"] == node)
        return int(row[max(0, min(at + by, len(row) - 1))]["node"])

    def linked(self, node: int, by: int) -> int:
        """The producer (by -1) or the consumer (1) that stands nearest, or else the nearest box of that layer."""
        ends = ("consumer", "producer") if by < 0 else ("producer", "consumer")
        every = [*self.body["lines"], *self.body["ports"]]
        others = [line[ends[1]] for line in every if line[ends[0]] == node]
        layer = self.boxes[node]["layer"] + by
        others = others or [box["node"] for box in self._by_layer.get(layer, ())]
        middle = self._middle(node)
        return int(min(others, key=lambda each: abs(self._middle(each) - middle), default=node))

    def _middle(self, node: int) -> float:
        box = self.boxes[node]
        return float(box["x"] + box["width"] / 2)

    # ----- drawing -----

    def _gaps(self) -> dict[int, list[tuple[int, int]]]:
        """By the layer above a gap: the pieces of lines in it, from where below to where above."""
        gaps: dict[int, list[tuple[int, int]]] = {}
        for line in self.body["lines"]:
            layer = self.boxes[line["consumer"]]["layer"]
            for at, (low, high) in enumerate(_steps(line["xs"])):
                if low != high:
                    gaps.setdefault(layer - at - 1, []).append((low, high))
        return gaps

    def _draw(self, line: Body, tracks: Mapping[int, Mapping[tuple[int, int], int]]) -> None:
        """From the top of the consumer up to the bottom of the producer, with a turn in each gap where it goes aside."""
        ends, xs = (line["consumer"], line["producer"]), line["xs"]
        layer = self.boxes[line["consumer"]]["layer"]
        path = [(xs[0], self.top[layer] - 1)]
        for at, (low, high) in enumerate(_steps(xs)):
            upper = layer - at - 1
            if low != high:
                turn = self.top[upper] + _BOX_ROWS + 1 + tracks[upper][low, high]
                path += [(low, turn), (high, turn)]
        head = xs[-1], self.top[layer - len(xs) + 1] + _BOX_ROWS
        cells = _cells([*path, head])
        self._way(cells[0], DOWN, ends)
        self._way(head, UP, ends)
        for here, there in pairwise(cells):
            away, back = _WAYS[there[0] - here[0], there[1] - here[1]]
            self._way(here, away, ends)
            self._way(there, back, ends)
        self._arrows.add(head)

    def _way(self, cell: tuple[int, int], way: int, ends: tuple[int, int]) -> None:
        self._ways[cell] = self._ways.get(cell, 0) | way
        self.edges.setdefault(cell, ends)

    def _char(self, x: int, y: int) -> str:
        return "▲" if (x, y) in self._arrows else _LINES[self._ways[x, y]]


def _steps(xs: Sequence[int]) -> list[tuple[int, int]]:
    return list(pairwise(xs))


def _cells(path: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """All cells of a path of straight pieces."""
    found = [path[0]]
    for x, y in path[1:]:
        while found[-1] != (x, y):
            at, row = found[-1]
            found.append((at + (x > at) - (x < at), row) if x != at else (at, row + (y > row) - (y < row)))
    return found


def _tracks(segments: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """A row for each piece that runs to the side, so that none lies on another."""
    found: dict[tuple[int, int], int] = {}
    ends: list[int] = []
    for low, high in sorted(set(segments), key=lambda each: (min(each), max(each))):
        left, right = min(low, high), max(low, high)
        at = next((at for at, end in enumerate(ends) if end < left), len(ends))
        ends[at : at + 1] = [right]
        found[low, high] = at
    return found

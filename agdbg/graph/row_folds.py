"""Rows of the lane view as they are folded: one row for what a call of a module has built, and one for what repeats itself.

A folded view is a list of *items*, each a stretch of rows. Which stretches there are follows from a depth, and from what
somebody has opened or closed beside that; it costs a sweep over arrays, and a page of it costs a page.
"""

from typing import NamedTuple

import numpy as np

from agdbg.graph.repeats import find_repeats, likely_periods
from agdbg.graph.row_calls import RowCalls
from agdbg.graph.row_nodes import RowNodes
from agdbg.record.growing import Mask, Numbers, Words

#: Views that are kept.
_KEPT = 8
_MIX, _STEP = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x9E3779B97F4A7C15)


class Folding(NamedTuple):
    """What is folded.

    Attributes:
        depth: what a call of a module has built that is in so many calls, itself one, is one item; 0: nothing is folded.
        opened: the first rows of items that are open all the same, one that is open several layers deep as often.
        closed: stretches that are folded beside that: the first row, and the depth of the call.
    """

    depth: int = 0
    opened: tuple[int, ...] = ()
    closed: tuple[tuple[int, int], ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether nothing is folded."""
        return not self.depth and not self.closed


NOTHING_FOLDED = Folding()


class Item(NamedTuple):
    """The rows from ``start`` to ``end``: ``times`` equal stretches, or (0) what a call at ``depth`` has built, or one row."""

    start: int
    end: int
    times: int
    depth: int
    nested: int

    @property
    def is_fold(self) -> bool:
        """Whether it stands for more than one row."""
        return self.end - self.start > 1


class Open(NamedTuple):
    """An item that is open: its rows, and the how many-th of those that begin there it is."""

    start: int
    end: int
    layer: int


class View:
    """A folded view of ``total`` rows: the first row, the repeats, the depth and how many open items are around, by item."""

    def __init__(self, starts: Numbers, times: Numbers, depths: Numbers, nested: Numbers, total: int) -> None:
        self.starts, self.times, self.depths, self.nested, self.total = starts, times, depths, nested, total
        self.open: list[Open] = []

    def __len__(self) -> int:
        return len(self.starts)

    def at(self, row: int) -> int:
        """The item that a row is in."""
        return int(self.starts.searchsorted(row, "right")) - 1

    def item(self, index: int) -> Item:
        """An item."""
        end = int(self.starts[index + 1]) if index + 1 < len(self.starts) else self.total
        return Item(
            int(self.starts[index]), end, int(self.times[index]), int(self.depths[index]), int(self.nested[index])
        )

    def replace(self, first: int, last: int, by: "View") -> None:
        """Put others in the place of the items from ``first`` to before ``last``."""
        for name in ("starts", "times", "depths", "nested"):
            old, new = getattr(self, name), getattr(by, name)
            setattr(self, name, np.concatenate([old[:first], new, old[last:]]))


class RowFolds:
    """The folded views of rows that keep coming."""

    def __init__(self, nodes: RowNodes, calls: RowCalls) -> None:
        self._nodes, self.calls = nodes, calls
        self._views: dict[Folding, View] = {}
        self._bases: dict[int, tuple[Numbers, Numbers]] = {}
        self._cuts: dict[int, Mask] = {}
        self._read = 0

    def view(self, folding: Folding) -> View:
        """The view; the same object until there are more rows."""
        self._look()
        view = self._views.pop(folding, None) or self._made(folding)
        self._views[folding] = view
        if len(self._views) > _KEPT:
            del self._views[next(iter(self._views))]
        return view

    def _look(self) -> None:
        """Forget what was found of fewer rows."""
        if self._read != len(self._nodes):
            self._views.clear()
            self._bases.clear()
            self._cuts.clear()
            self._read = len(self._nodes)

    def _made(self, folding: Folding) -> View:
        starts, times = self._base(folding.depth)
        count = len(starts)
        view = View(starts, times, np.full(count, folding.depth), np.zeros(count, np.int64), self._read)
        for row, depth in folding.closed:
            self._close(view, row, depth)
        for row in sorted(folding.opened):
            self._open(view, row)
        return view

    def level(self, depth: int) -> View:
        """What the rows are at a depth, with nothing opened or closed and no repeats."""
        self._look()
        return self._items(0, self._read, depth, repeats=False)

    def _base(self, depth: int) -> tuple[Numbers, Numbers]:
        if depth not in self._bases:
            whole = self._items(0, self._read, depth, repeats=depth > 0)
            self._bases[depth] = whole.starts, whole.times
        return self._bases[depth]

    # ----- stretches -----

    def _items(self, start: int, end: int, depth: int, repeats: bool, nested: int = 0) -> View:
        """What the rows from ``start`` to before ``end`` are at a depth."""
        starts = np.flatnonzero(self._borders(depth)[start:end]) + start
        if len(starts) and starts[0] != start:  # an item is not cut, but what stands around it may be gone
            starts = np.concatenate([[start], starts])
        elif not len(starts) and end > start:
            starts = np.array([start])
        times = np.zeros(len(starts), np.int64)
        if repeats and len(starts):
            starts, times = self._repeated(starts, end)
        count = len(starts)
        return View(starts, times, np.full(count, depth), np.full(count, nested), end)

    def _borders(self, depth: int) -> Mask:
        """Where another item begins, by row."""
        if depth not in self._cuts:
            self._cuts[depth] = self._cut(depth)
        return self._cuts[depth]

    def _cut(self, depth: int) -> Mask:
        if not depth:
            return np.ones(self._read, bool)
        calls = self.calls.at_depth(depth)
        borders: Mask = np.ones(self._read, bool)
        borders[1:] = (calls[1:] != calls[:-1]) | (calls[1:] < 0)
        return borders

    def _repeated(self, starts: Numbers, end: int) -> tuple[Numbers, Numbers]:
        """Equal stretches, one behind the other, in one."""
        kept, times = np.ones(len(starts), bool), np.zeros(len(starts), np.int64)
        alike = self._alike(starts, end)
        for found in find_repeats(alike, tried=likely_periods(alike)):
            kept[found.start + 1 : found.start + found.period * found.times] = False
            times[found.start] = found.times
        return starts[kept], times[kept]

    def _alike(self, starts: Numbers, end: int) -> Numbers:
        """A number for each item, the same for two that have the same ops of the same lines in the same order."""
        first = int(starts[0])
        rows = np.arange(first, end)
        lengths = np.diff(starts, append=end)
        inside = (rows - np.repeat(starts, lengths)).astype(np.uint64)
        mixed: Words = self._nodes.wheres(first, end) * _MIX + (inside + np.uint64(1)) * _STEP
        mixed = (mixed ^ (mixed >> np.uint64(29))) * _MIX
        mixed ^= mixed >> np.uint64(32)
        alike: Numbers = np.add.reduceat(mixed, starts - first).view(np.int64)
        return alike

    # ----- what is open and what is closed -----

    def _open(self, view: View, row: int) -> None:
        index = view.at(row)
        item = view.item(index)
        if item.start != row or not item.is_fold:
            return
        layer = sum(each.start == row for each in view.open)
        view.open.append(Open(item.start, item.end, layer))
        view.replace(index, index + 1, self._inside(item))

    def _inside(self, item: Item) -> View:
        nested = item.nested + 1
        if item.times:
            return self._items(item.start, item.end, item.depth, repeats=False, nested=nested)
        depth = item.depth + 1
        while True:
            inside = self._items(item.start, item.end, depth, repeats=True, nested=nested)
            if len(inside) > 1 or inside.times[0]:
                return inside
            depth += 1

    def _close(self, view: View, row: int, depth: int) -> None:
        end = self._end_of(row, depth)
        first = view.at(row)
        last = view.at(end - 1) + 1
        if view.item(first).start == row and view.item(last - 1).end == end and end - row > 1:
            one = View(np.array([row]), np.zeros(1, np.int64), np.array([depth]), np.zeros(1, np.int64), end)
            view.replace(first, last, one)

    def _end_of(self, row: int, depth: int) -> int:
        return _end(self._borders(depth), row)

    # ----- moves -----

    def unfolded(self, folding: Folding, row: int) -> Folding:
        """Open the item in which a row is; the same folding where that is one row."""
        item = self._item_of(folding, row)
        if not item.is_fold:
            return folding
        if not item.times and (item.start, item.depth) in folding.closed:
            return folding._replace(closed=tuple(each for each in folding.closed if each != (item.start, item.depth)))
        return folding._replace(opened=tuple(sorted((*folding.opened, item.start))))

    def shown(self, folding: Folding, row: int) -> Folding:
        """Open what a row is in until it is seen by itself."""
        while self._item_of(folding, row).is_fold:
            folding = self.unfolded(folding, row)
        return folding

    def folded(self, folding: Folding, row: int) -> Folding:
        """Close the innermost open item around a row, or else what the innermost call has built that has built more than what
        is one item already; the same folding where there is none.
        """
        view = self.view(folding)
        around = [each for each in view.open if each.start <= row < each.end]
        if around:
            # those that begin at one row lie in one another, and the last that was opened is the innermost
            inner = min(reversed(around), key=lambda each: each.end - each.start)
            others = [each for each in folding.opened if each != inner.start]
            return folding._replace(opened=tuple(sorted(others + [inner.start] * inner.layer)))
        item = view.item(view.at(row))
        for depth in range(self.calls.deepest, 0, -1):
            calls = self.calls.at_depth(depth)
            if calls[row] < 0:
                continue
            borders = self._borders(depth)
            start = row - int(np.argmax(borders[row::-1]))
            closed = folding._replace(closed=(*folding.closed, (start, depth)))
            wider = self._item_of(closed, row)
            if (wider.start, wider.end) != (item.start, item.end):
                return closed
        return folding

    def _item_of(self, folding: Folding, row: int) -> Item:
        view = self.view(folding)
        return view.item(view.at(row))


def _end(borders: Mask, row: int) -> int:
    following = borders[row + 1 :]
    return row + 1 + int(np.argmax(following)) if following.any() else len(borders)

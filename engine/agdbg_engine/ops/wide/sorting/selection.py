"""Which of equal elements a selection names: that at which PyTorch's algorithms for the CPU end, for all rows at once.

PyTorch selects with partitions in the manner of Hoare, and where equal elements land, and with them the gradient, follows from
the swaps. A partition stops on the left at what is not below its pivot, on the right at what is not above it, and swaps the first
stops, the second ones, and so on until they cross. So the stops of a whole row can be found without going through it step by step.
Where pivots are so bad that the C++ library turns to a heap, which nearly never happens, the place may be another one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

INSERTED = 16
"""As many elements ``std::sort`` of libstdc++ sorts by insertion, which leaves equal ones as they were."""
SORTED = 4096
"""Up to so many elements ``topk`` names as ``std::sort`` orders them: more would take seconds."""


def ranks(x: Any) -> Any:
    """The rank of every element of the rows of ``x`` (m, n), the same for equal ones; all NaN are equal and above the rest."""
    order = np.argsort(x, -1, kind="stable")
    s = np.take_along_axis(x, order, -1)
    steps = np.zeros(s.shape, np.int64)
    steps[:, 1:] = (s[:, 1:] != s[:, :-1]) & ~((s[:, 1:] != s[:, 1:]) & (s[:, :-1] != s[:, :-1]))
    found = np.empty_like(steps)
    np.put_along_axis(found, order, np.cumsum(steps, -1), -1)
    return found


class _Rows:
    """Rows of ranks in the order that a selection has brought them to, and where each was at first."""

    def __init__(self, keys: Any) -> None:
        self.keys = keys.copy()
        self.places = np.tile(np.arange(keys.shape[1]), (len(keys), 1))

    def above(self, rows: Any, a: Any, b: Any) -> Any:
        """Whether what is at ``a`` comes after what is at ``b``."""
        return self.keys[rows, a] > self.keys[rows, b]

    def swap(self, rows: Any, a: Any, b: Any, where: Any = True) -> None:
        """Exchange what is at ``a`` and ``b`` in those of the ``rows`` for which ``where`` holds."""
        rows, a, b = (np.broadcast_to(v, rows.shape)[np.broadcast_to(where, rows.shape)] for v in (rows, a, b))
        for array in (self.keys, self.places):
            array[rows, a], array[rows, b] = array[rows, b], array[rows, a]

    def partition(self, rows: Any, pivot: Any, left: Any, right: Any, meet: int) -> tuple[Any, Any]:
        """Partition between ``left`` and ``right`` (both of them, by row) and give the last stops of both sides.

        The left side stops only from ``left`` on, the right one down to ``left - 1``. With ``meet`` 1
        both may stop at one place and go on.
        """
        start = np.maximum(left - 1, 0)
        n = int((right - start).max(initial=0)) + 2
        at = start[:, None] + np.arange(n)
        inside, value = np.minimum(at, self.keys.shape[1] - 1), self.keys[rows, pivot][:, None]
        keys, end = self.keys[rows[:, None], inside], self.keys.shape[1]
        low = (at >= left[:, None]) & (at <= right[:, None] + meet) & (keys >= value)
        high = (at >= left[:, None] - meet) & (at <= right[:, None]) & (keys <= value)
        lefts, rights = np.sort(np.where(low, at, end), -1), -np.sort(np.where(high, -at, 1), -1)
        row, nth = np.nonzero(lefts < rights)
        self.swap(rows[row], lefts[row, nth], rights[row, nth])
        of_row, swaps = np.arange(len(rows)), (lefts < rights).sum(-1)
        after = np.minimum((lefts < rights + meet).sum(-1), n - 1)
        before = np.maximum(swaps - 1, 0)  # what was swapped last stops the other side
        first, last = lefts[of_row, after], rights[of_row, after]
        first = np.where(swaps > 0, np.minimum(first, rights[of_row, before]), first)
        last = np.where(swaps > 0, np.maximum(last, lefts[of_row, before]), last)
        return first, last


def kth_place(x: Any, k: int) -> Any:
    """Where ``kthvalue`` finds the element at rank ``k`` of every row of ``x`` (m, n): (m,)."""
    state, (m, n) = _Rows(ranks(x)), x.shape
    left, right, rows = np.zeros(m, np.int64), np.full(m, n - 1), np.arange(m)
    while len(rows):
        a, b = left[rows], right[rows]
        state.swap(rows, a, b, (b == a + 1) & state.above(rows, a, b))
        rows = rows[b > a + 1]
        a, b = left[rows], right[rows]
        second = a + (b > a)  # only to be in the row where there are no rows
        state.swap(rows, (a + b) >> 1, second)
        for p, q in ((second, b), (a, b), (second, a)):  # the middle one of three becomes the pivot
            state.swap(rows, p, q, state.above(rows, p, q))
        first, last = state.partition(rows, a, a + 2, b - 1, 1)
        state.swap(rows, a, last)
        left[rows] = np.where(last <= k, first, a)
        right[rows] = np.where(last >= k, last - 1, b)
        rows = rows[left[rows] < right[rows]]
    return state.places[:, k]


def top_places(x: Any, k: int, largest: bool) -> Any:
    """Where ``topk`` finds the first ``k`` elements of every row of ``x`` (m, n), in order: (m, k).

    This is ``std::nth_element`` and, of what comes before it, ``std::sort``.
    """
    keys = ranks(x)
    state, (m, n) = _Rows(-keys if largest else keys), x.shape
    first, end, rows = np.zeros(m, np.int64), np.full(m, n), np.arange(m)
    while True:
        rows = rows[end[rows] - first[rows] > 3]
        if not len(rows):
            break
        a, b = first[rows], end[rows]
        _median_to_first(state, rows, a, a + 1, a + (b - a) // 2, b - 1)
        cut, _ = state.partition(rows, a, a + 1, b - 1, 0)
        first[rows], end[rows] = np.where(cut <= k - 1, cut, a), np.where(cut <= k - 1, b, cut)
    rows = np.arange(m)
    for i in (0, 1, 0):
        a = np.minimum(first + i, n - 2)
        state.swap(rows, a, a + 1, (first + i + 1 < end) & state.above(rows, a, a + 1))
    _sort(state, k - 1)
    return state.places[:, :k]


def place_in_sorted(x: Any, at: Any) -> Any:
    """Where the element is that ``std::sort`` brings to the position ``at`` (m,) of every row of ``x`` (m, n): (m,).

    Parts are sorted on their own, so that only those with the position in them are followed.
    """
    state, (m, n) = _Rows(ranks(x) if (x != x).any() else x), x.shape
    first, end, rows = np.zeros(m, np.int64), np.full(m, n), np.arange(m)
    while True:
        rows = rows[end[rows] - first[rows] > INSERTED]
        if not len(rows):
            break
        a, b = first[rows], end[rows]
        _median_to_first(state, rows, a, a + 1, a + (b - a) // 2, b - 1)
        cut, _ = state.partition(rows, a, a + 1, b - 1, 0)
        before = at[rows] < cut
        first[rows], end[rows] = np.where(before, a, cut), np.where(before, cut, b)
    rows, inside = np.arange(m)[:, None], first[:, None] + np.arange(INSERTED)
    beyond, inside = inside >= end[:, None], np.minimum(inside, n - 1)
    order = np.lexsort((state.keys[rows, inside], beyond))  # which keeps the order of equal ones
    return state.places[rows[:, 0], first + order[rows[:, 0], at - first]]


def _sort(state: _Rows, n: int) -> None:
    """Sort the first ``n`` of every row: parts between pivots until they are short, and these by insertion."""
    rows = np.arange(len(state.keys))
    a, b = np.zeros_like(rows), np.full_like(rows, n)
    while True:
        long = b - a > INSERTED
        rows, a, b = rows[long], a[long], b[long]
        if not len(rows):
            break
        _median_to_first(state, rows, a, a + 1, a + (b - a) // 2, b - 1)
        cut, _ = state.partition(rows, a, a + 1, b - 1, 0)
        rows, a, b = np.concatenate((rows, rows)), np.concatenate((a, cut)), np.concatenate((cut, b))
    order = np.argsort(state.keys[:, :n], -1, kind="stable")
    for array in (state.keys, state.places):
        array[:, :n] = np.take_along_axis(array[:, :n], order, -1)


def _median_to_first(state: _Rows, rows: Any, to: Any, a: Any, b: Any, c: Any) -> None:
    """Exchange what is at ``to`` with the middle one of three, of equal ones that which libstdc++ takes."""
    ab, bc, ac = state.above(rows, b, a), state.above(rows, c, b), state.above(rows, c, a)
    rising = np.where(bc, b, np.where(ac, c, a))
    falling = np.where(ac, a, np.where(bc, c, b))
    state.swap(rows, to, np.where(ab, rising, falling))

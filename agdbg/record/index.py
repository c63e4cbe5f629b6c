"""Derived indexes over the records of a trace: made with NumPy when first asked for, never stored."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.int64]


class RowIndex:
    """The rows that belong to an id, in trace order. Ids may be as sparse as they like.

    Args:
        ids: one id a row.
        rows: the row numbers, ascending.
    """

    def __init__(self, ids: npt.NDArray[np.uint64], rows: Rows) -> None:
        order = np.argsort(ids, kind="stable")
        self._rows = rows[order]
        self.ids, starts = np.unique(ids[order], return_index=True)
        self._ends = np.append(starts[1:], len(ids))
        self._starts = starts

    def rows(self, number: int) -> list[int]:
        """The rows of an id, ascending."""
        place = self._place(number)
        if place < 0:
            return []
        found: list[int] = self._rows[self._starts[place] : self._ends[place]].tolist()
        return found

    def last(self, number: int) -> int:
        """The last row of an id, or -1."""
        place = self._place(number)
        return -1 if place < 0 else int(self._rows[self._ends[place] - 1])

    def _place(self, number: int) -> int:
        if not 0 <= number < 2**64:
            return -1
        place = int(self.ids.searchsorted(np.uint64(number)))
        return place if place < len(self.ids) and self.ids[place] == number else -1


class KindIndex:
    """The rows of every kind, from one stable sort of the kind column."""

    def __init__(self, kinds: npt.NDArray[np.uint8]) -> None:
        self._order: npt.NDArray[Any] = np.argsort(kinds, kind="stable")
        counts = np.bincount(kinds, minlength=256)
        self._ends = np.cumsum(counts)
        self._starts = self._ends - counts

    def rows(self, kind: int) -> Rows:
        """The rows of a kind, ascending."""
        rows: Rows = self._order[self._starts[kind] : self._ends[kind]]
        return rows


def without(rows: Rows, void: Iterable[int]) -> Rows:
    """Ascending ``rows`` but for those in ``void``."""
    gone: Rows = np.fromiter(void, np.int64)
    at = np.searchsorted(rows, gone)
    there = at < len(rows)
    at, gone = at[there], gone[there]
    left: Rows = np.delete(rows, at[rows[at] == gone])
    return left

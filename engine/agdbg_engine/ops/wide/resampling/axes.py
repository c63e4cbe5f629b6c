"""Linear maps along single axes: each result is a weighted sum of a few elements. Padding and resampling are such maps.

A map is a table: by term the indices of the elements that the results take, and their weights. Its transpose adds what
goes to the same element by slices or ``add.reduceat``, so neither direction loops over elements, and no zero is multiplied with an
infinity that the result does not touch.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ....device import array_module
from ....repeated_index import add_at

Pieces = list[tuple[slice, slice]]


class Back(NamedTuple):
    """How the transpose of a term adds what goes to the same element."""

    pieces: Pieces | None
    """Pairs of slices (of results, of elements) if there are few."""
    order: Any
    """Results in the order of their elements,"""
    starts: Any
    """where each element begins among them,"""
    to: Any
    """and the elements."""


@dataclass(frozen=True, eq=False)
class Table:
    """One axis of a map."""

    axis: int
    """Counted from the end, negative."""
    size: int
    """Elements on the side of the input."""
    places: list[Any]
    """By term, the element that each result takes."""
    weights: list[Any] | None
    """By term, the weight in each result; ``None`` for 1."""

    @cached_property
    def pieces(self) -> list[Pieces | None]:
        """By term, pairs of slices (of results, of elements) if there are few."""
        return [_pieces(np.arange(len(index)), index) for index in self.places]

    @cached_property
    def back(self) -> list[Back]:
        """By term, the way back."""
        return [_back(index) for index in self.places]

    def factors(self, i: int, like: Any) -> Any:
        """The weights of term ``i`` in the dtype and library of ``like``, to be broadcast along the axis."""
        assert self.weights is not None
        return (
            array_module(like)
            .asarray(self.weights[i].astype(like.dtype, copy=False))
            .reshape(-1, *(1,) * (-self.axis - 1))
        )


def gathered(x: Any, tables: list[Table]) -> Any:
    """The map of ``x``."""
    dtype = x.dtype
    if dtype == np.float16 and any(t.weights for t in tables):
        x = x.astype(np.float32)
    for table in tables:
        terms = (_taken(x, table, i) for i in range(len(table.places)))
        x = _sum(terms)
    return x if x.dtype == dtype else x.astype(dtype)


def scattered(g: Any, tables: list[Table]) -> Any:
    """The transpose of the map, of ``g``."""
    dtype = g.dtype
    if dtype == np.float16:
        g = g.astype(np.float32)
    for table in reversed(tables):
        terms = (_put(_weighted(g, table, i), table, i) for i in range(len(table.places)))
        g = _sum(terms)
    return g if g.dtype == dtype else g.astype(dtype)


def _sum(terms: Any) -> Any:
    total = next(terms)
    for term in terms:
        total += term
    return total


def _taken(x: Any, table: Table, i: int) -> Any:
    index, pieces = table.places[i], table.pieces[i]
    axis = x.ndim + table.axis
    if pieces is None:
        return _weighted(x.take(array_module(x).asarray(index), axis), table, i)
    out = array_module(x).empty((*x.shape[:axis], len(index), *x.shape[axis + 1 :]), x.dtype)
    before = (slice(None),) * axis
    for to, at in pieces:
        out[(*before, to)] = x[(*before, at)]
    return _weighted(out, table, i)


def _weighted(x: Any, table: Table, i: int) -> Any:
    if table.weights is None:
        return x
    return x * table.factors(i, x)


def _back(index: Any) -> Back:
    order = np.argsort(index, kind="stable")
    at = index[order]
    starts = np.flatnonzero(np.diff(at, prepend=-1))
    turn = np.arange(len(at)) - np.repeat(starts, np.diff(starts, append=len(at)))
    pieces = [_pieces(order[turn == t], at[turn == t]) for t in range(min(int(turn.max(initial=-1)) + 1, _MOST))]
    few: Pieces | None = [] if len(pieces) < _MOST else None
    for found in pieces:
        few = None if found is None or few is None else few + found
    return Back(few, order, starts, at[starts])


def _put(g: Any, table: Table, i: int) -> Any:
    """``g`` added at the elements of term ``i`` along the axis."""
    axis = g.ndim + table.axis
    xp, before = array_module(g), (slice(None),) * axis
    out = xp.zeros((*g.shape[:axis], table.size, *g.shape[axis + 1 :]), g.dtype)
    back = table.back[i]
    if back.pieces is not None:
        for taken, to in back.pieces:
            out[(*before, to)] += g[(*before, taken)]
    elif not isinstance(g, np.ndarray):
        add_at(out, (*before, xp.asarray(table.places[i])), g)
    elif g.size:
        out[(*before, back.to)] = np.add.reduceat(g.take(back.order, axis), back.starts, axis)
    return out


_MOST = 9
"""Fewer slices than these are cheaper than an index."""


def _pieces(first: Any, second: Any) -> list[tuple[slice, slice]] | None:
    """Two lists of positions as few pairs of slices; ``None`` if that takes many."""
    found: list[tuple[slice, slice]] = []
    steps = np.stack([np.diff(first), np.diff(second)])
    turns = np.flatnonzero((steps[:, 1:] != steps[:, :-1]).any(0)) + 1
    i, n = 0, len(first)
    while i < n:
        if len(found) == _MOST - 1:
            return None
        if i < n - 1 and steps[:, i].all():
            k = np.searchsorted(turns, i, side="right")
            end = int(turns[k]) if k < len(turns) else n - 1
        else:
            end = i
        found.append((_slice(first, i, end), _slice(second, i, end)))
        i = end + 1
    return found


def _slice(positions: Any, i: int, end: int) -> slice:
    """The evenly spaced ``positions[i : end + 1]``."""
    start = int(positions[i])
    if i == end:
        return slice(start, start + 1)
    step = int(positions[i + 1]) - start
    stop: int | None = int(positions[end]) + (1 if step > 0 else -1)
    return slice(start, stop if step > 0 or stop != -1 else None, step)

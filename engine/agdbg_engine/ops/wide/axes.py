"""Linear maps along single axes: each result is a weighted sum of a few elements. Padding and resampling are such maps.

A map is a table: by term the indices of the elements that the results take, and their weights. Its transpose adds what
goes to the same element by ``add.reduceat``, so neither direction loops over elements, and no zero is multiplied with an
infinity that the result does not touch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...device import array_module


class Table(NamedTuple):
    """One axis of a map."""

    axis: int
    """Counted from the end, negative."""
    size: int
    """Elements on the side of the input."""
    index: list[Any]
    """By term, the element that each result takes."""
    weight: list[Any] | None
    """By term, the weight in each result; ``None`` for 1."""


def gathered(x: Any, tables: list[Table]) -> Any:
    """The map of ``x``."""
    dtype = x.dtype
    if dtype == np.float16 and any(t.weight for t in tables):
        x = x.astype(np.float32)
    for table in tables:
        terms = (_taken(x, table, i) for i in range(len(table.index)))
        x = _sum(terms)
    return x if x.dtype == dtype else x.astype(dtype)


def scattered(g: Any, tables: list[Table]) -> Any:
    """The transpose of the map, of ``g``."""
    dtype = g.dtype
    if dtype == np.float16:
        g = g.astype(np.float32)
    for table in reversed(tables):
        terms = (_put(_weighted(g, table, i), table, table.index[i]) for i in range(len(table.index)))
        g = _sum(terms)
    return g if g.dtype == dtype else g.astype(dtype)


def _sum(terms: Any) -> Any:
    total = next(terms)
    for term in terms:
        total += term
    return total


def _taken(x: Any, table: Table, i: int) -> Any:
    return _weighted(x.take(array_module(x).asarray(table.index[i]), table.axis), table, i)


def _weighted(x: Any, table: Table, i: int) -> Any:
    if table.weight is None:
        return x
    return x * array_module(x).asarray(table.weight[i].astype(x.dtype)).reshape(-1, *(1,) * (-table.axis - 1))


def _put(g: Any, table: Table, index: Any) -> Any:
    """``g`` added at ``index`` along the axis."""
    axis = g.ndim + table.axis
    out = array_module(g).zeros((*g.shape[:axis], table.size, *g.shape[axis + 1 :]), g.dtype)
    if not g.size:
        return out
    if np.any(np.diff(index) < 0):
        order = np.argsort(index, kind="stable")
        index, g = index[order], g.take(array_module(g).asarray(order), axis)
    starts = np.flatnonzero(np.diff(index, prepend=-1))
    if len(starts) < len(index):
        g = np.add.reduceat(g, array_module(g).asarray(starts), axis)
    out[(slice(None),) * axis + (array_module(g).asarray(index[starts]),)] = g
    return out

"""An array as a page of a screen: a bounded sample of a matrix in it, and what all of its elements are like."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from agdbg.agent.values import norm_of_finite

#: Bars of a histogram.
BINS = 24


class Measured(NamedTuple):
    """What the finite elements of an array are like, in double precision; a complex one counts with its absolute value."""

    low: float
    high: float
    mean: float
    std: float
    norm: float
    zeros: int
    nans: int
    infs: int
    first_bad: int
    """Flat index of the first element that is not finite; -1 when all are."""
    histogram: list[int]
    """How many lie in each of :data:`BINS` parts of what is between ``low`` and ``high``; one number where they are the same."""


def picked(array: Any, positions: Any) -> Any:
    """The elements of an array of NumPy at flat ``positions`` in row-major order."""
    return np.asarray(array).flat[positions]


def elements(array: Any, start: int, count: int, pick: Callable[[Any, Any], Any] = picked) -> list[str]:
    """Elements ``start`` to ``start + count`` in row-major order, as text."""
    positions = np.arange(start, min(start + count, array.size))
    return [str(each) for each in pick(array, positions).tolist()]


def measured(array: Any) -> Measured:
    """Go through a numeric array of NumPy that has elements."""
    numbers = np.abs(array) if array.dtype.kind == "c" else array.astype(np.float64, copy=False)
    numbers = numbers.reshape(-1)
    finite = np.isfinite(numbers)
    bad = np.flatnonzero(~finite)
    kept = numbers[finite] if len(bad) else numbers
    nans = int(np.isnan(numbers).sum())
    others = {"nans": nans, "infs": len(bad) - nans, "first_bad": int(bad[0]) if len(bad) else -1}
    if not kept.size:
        return Measured(np.nan, np.nan, np.nan, np.nan, 0.0, 0, histogram=[], **others)
    low, high = float(kept.min()), float(kept.max())
    counts = np.histogram(kept, BINS, (low, high))[0].tolist() if is_wide(low, high) else [int(kept.size)]
    with np.errstate(all="ignore"):
        mean, std = float(kept.mean()), float(kept.std())
    return Measured(low, high, mean, std, norm_of_finite(kept), int((kept == 0).sum()), histogram=counts, **others)


def is_wide(low: float, high: float) -> bool:
    """Whether what is between two numbers can be divided into parts."""
    with np.errstate(over="ignore"):
        return bool(np.isfinite(np.float64(high) - low) and high > low)


def page(
    array: Any,
    index: list[int],
    row: int,
    column: int,
    rows: int,
    columns: int,
    step: int,
    *,
    pick: Callable[[Any, Any], Any] = picked,
    measure: Callable[[Any], Measured] = measured,
) -> dict[str, Any]:
    """A page of an array.

    Args:
        array: of any shape, wherever ``pick`` and ``measure`` can read it.
        index: places along all but the last two dimensions; missing ones are 0, and what is too big is the last.
        row, column: where the page begins in the matrix that is left.
        rows, columns: how much of it is told at most.
        step: each so many-th element; 0: as many as fit, spread evenly over all of the matrix.
        pick: what gives elements at flat positions as an array of NumPy.
        measure: what goes through all elements.
    """
    where = [min(max(at, 0), size - 1) for at, size in zip(_filled(index, array.ndim - 2), array.shape, strict=False)]
    height, width = array.shape[-2:] if array.ndim >= 2 and array.size else _lines(array.size, columns)
    down: Sequence[int]
    across: Sequence[int]
    if step:
        row, column = min(row, max(height - 1, 0)), min(column, max(width - 1, 0))
        down, across = range(height)[row::step][:rows], range(width)[column::step][:columns]
    else:
        row = column = 0
        down, across = _spread(height, rows), _spread(width, columns)
    return {
        "dtype": str(array.dtype),
        "shape": list(array.shape),
        "index": where,
        "height": height,
        "width": width,
        "row": row,
        "column": column,
        "rowStep": step or _distance(height, len(down)),
        "columnStep": step or _distance(width, len(across)),
        "values": _values(array, _first(where, array.shape), np.add.outer(np.multiply(down, width), across), pick),
        **_statistics(array, measure),
    }


def _spread(size: int, most: int) -> Sequence[int]:
    """At most `most` places along a side, spread evenly."""
    count = min(size, most)
    return [at * size // count for at in range(count)]


def _distance(size: int, count: int) -> float:
    """How far apart so many places along a side are, on the average; a whole number where they all are."""
    if not count:
        return 1
    return size // count if size % count == 0 else size / count


def _first(where: list[int], shape: tuple[int, ...]) -> int:
    """The flat position of the first element of the matrix that ``where`` chooses."""
    return sum(at * math.prod(shape[axis + 1 :]) for axis, at in enumerate(where))


def _lines(size: int, columns: int) -> tuple[int, int]:
    """Height and width of a vector as a matrix: it goes on in the next line."""
    width = max(min(columns, size), 1)
    return -(-size // width), width


def _values(array: Any, first: int, places: Any, pick: Callable[[Any, Any], Any]) -> list[list[str]]:
    """Texts of the elements at ``places`` from the flat position ``first`` on; "" behind the last."""
    places = places.astype(np.int64) + first
    is_there = places < array.size
    texts = iter([_text(each) for each in pick(array, places[is_there]).tolist()])
    return [[next(texts) if there else "" for there in line] for line in is_there.tolist()]


def _filled(index: list[int], length: int) -> list[int]:
    return [*index[: max(length, 0)], *[0] * max(length - len(index), 0)]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return f"{value:.5g}" if isinstance(value, float | complex) else str(value)


def _statistics(array: Any, measure: Callable[[Any], Measured]) -> dict[str, Any]:
    if array.dtype.kind not in "fiubc" or not array.size:
        return {"stats": [], "nans": 0, "infs": 0, "firstBad": None, "histogram": [], "low": "", "high": ""}
    found = measure(array)
    first = None if found.first_bad < 0 else [int(at) for at in np.unravel_index(found.first_bad, array.shape)]
    told: dict[str, Any] = {"nans": found.nans, "infs": found.infs, "firstBad": first, "histogram": found.histogram}
    if found.nans + found.infs == array.size:
        return {**told, "stats": [], "low": "", "high": ""}
    named = {
        "min": found.low, "max": found.high, "mean": found.mean, "std": found.std, "norm": found.norm, "zeros": found.zeros,
    }  # fmt: skip
    stats = [{"name": name, "value": f"{float(value):.5g}"} for name, value in named.items()]
    return {**told, "stats": stats, "low": f"{found.low:.5g}", "high": f"{found.high:.5g}"}

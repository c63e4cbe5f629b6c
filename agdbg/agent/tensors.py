"""An array as a page of a screen: a bounded sample of a matrix in it, and what all of its elements are like."""

from typing import Any

import numpy as np

#: Bars of a histogram.
BINS = 24


def page(array: Any, index: list[int], row: int, column: int, rows: int, columns: int, step: int) -> dict[str, Any]:
    """A page of an array.

    Args:
        array: of any shape.
        index: places along all but the last two dimensions; missing ones are 0, and what is too big is the last.
        row, column: where the page begins in the matrix that is left.
        rows, columns: how much of it is told at most.
        step: each so many-th element; 0: as few as are left out so that all of the matrix fits.
    """
    array = np.asarray(array)
    where = [min(max(at, 0), size - 1) for at, size in zip(_filled(index, array.ndim - 2), array.shape, strict=False)]
    matrix = _matrix(array[tuple(where)] if array.size else array.reshape(0), columns)
    height, width = matrix.shape
    steps = [step, step] if step else [-(-height // rows) or 1, -(-width // columns) or 1]
    row, column = (0, 0) if not step else (min(row, max(height - 1, 0)), min(column, max(width - 1, 0)))
    shown = matrix[row :: steps[0], column :: steps[1]][:rows, :columns]
    return {
        "dtype": str(array.dtype),
        "shape": list(array.shape),
        "index": where,
        "height": height,
        "width": width,
        "row": row,
        "column": column,
        "rowStep": steps[0],
        "columnStep": steps[1],
        "values": [[_text(each) for each in line] for line in shown.tolist()],
        **_statistics(array),
    }


def _filled(index: list[int], length: int) -> list[int]:
    return [*index[: max(length, 0)], *[0] * max(length - len(index), 0)]


def _matrix(array: Any, columns: int) -> Any:
    """What is left as a matrix: a vector goes on in the next line."""
    if array.ndim == 2:
        return array
    flat = array.reshape(-1)
    width = max(min(columns, flat.size), 1)
    missing = -flat.size % width
    if not missing:
        return flat.reshape(-1, width)
    padded = np.full(flat.size + missing, None, object)
    padded[: flat.size] = flat
    return padded.reshape(-1, width)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "1" if value else "0"
    return f"{value:.5g}" if isinstance(value, float | complex) else str(value)


def _statistics(array: Any) -> dict[str, Any]:
    """Of all elements: a complex one counts with its absolute value."""
    kind = array.dtype.kind
    if kind not in "fiubc" or not array.size:
        return {"stats": [], "nans": 0, "infs": 0, "firstBad": None, "histogram": [], "low": "", "high": ""}
    numbers = np.abs(array) if kind == "c" else array.astype(np.float64, copy=False)
    numbers = numbers.reshape(-1)
    finite = np.isfinite(numbers)
    bad = np.flatnonzero(~finite)
    kept = numbers[finite] if len(bad) else numbers
    nans = int(np.isnan(numbers).sum())
    first = [int(at) for at in np.unravel_index(int(bad[0]), array.shape)] if len(bad) else None
    told: dict[str, Any] = {"stats": [], "nans": nans, "infs": len(bad) - nans, "firstBad": first}
    if not kept.size:
        return {**told, "histogram": [], "low": "", "high": ""}
    low, high = float(kept.min()), float(kept.max())
    with np.errstate(all="ignore"):
        named = {
            "min": low, "max": high, "mean": float(kept.mean()), "std": float(kept.std()),
            "norm": float(np.sqrt((kept * kept).sum())), "zeros": float((kept == 0).sum()),
        }  # fmt: skip
    told["stats"] = [{"name": name, "value": f"{value:.5g}"} for name, value in named.items()]
    is_wide = np.isfinite(high - low) and high > low
    counts = np.histogram(kept, BINS, (low, high))[0].tolist() if is_wide else [int(kept.size)]
    return {**told, "histogram": counts, "low": f"{low:.5g}", "high": f"{high:.5g}"}

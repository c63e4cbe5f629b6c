"""Arrays in a few words: never a big one whole."""

import math
import sys
from functools import cache
from typing import Any, TypedDict

import numpy as np

from agdbg.norm import Norm, told

PREVIEW = 100
"""Characters of a preview at most."""
_sum, _lowest, _highest = np.add.reduce, np.minimum.reduce, np.maximum.reduce
"""What the methods of arrays call, in Python."""
_LEAST = 1e-140
"""Squares of smaller numbers lose digits."""


class Value(TypedDict):
    """An array as a client shows it."""

    summary: str
    shape: list[int]
    dtype: str
    size: int
    finite: bool
    norm: Norm | None


def value_of(array: Any) -> Value:
    """Describe an array: type, shape, range, mean and norm; of one element that."""
    array = np.asarray(array)
    summary, norm, is_finite = _measured(array)
    return {
        "summary": summary,
        "shape": list(array.shape),
        "dtype": name_of(array.dtype),
        "size": int(array.size),
        "finite": is_finite,
        "norm": norm,
    }


@cache
def name_of(dtype: Any) -> str:
    """What a type is called; NumPy takes longer to say so than to add up a small array."""
    return str(dtype)


def told_norm(norm: float) -> Norm:
    """A norm in the digits that are shown."""
    rounded = float(f"{norm:.4g}")
    return told(min(rounded, sys.float_info.max) if math.isfinite(norm) else norm)


def norm_of_finite(numbers: Any) -> float:
    """The norm of finite numbers, also where their squares are too big or too small for a float; never infinite."""
    with np.errstate(over="ignore", under="ignore"):
        norm = float(np.sqrt((numbers * numbers).sum()))
        if _LEAST < norm < math.inf:
            return norm
        largest = float(np.abs(numbers).max(initial=0.0))
        norm = largest * float(np.sqrt(((numbers / largest) ** 2).sum())) if largest else 0.0
    return min(norm, sys.float_info.max)


def _measured(array: "np.ndarray[Any, Any]") -> tuple[str, Norm | None, bool]:
    """The line about an array, its norm where it has one, and whether all of it is finite."""
    if array.size <= 1 or array.dtype.kind not in "fiub":
        alone = abs(float(array.item())) if array.size and array.dtype.kind in "fiub" else None
        is_finite = array.dtype.kind not in "fc" or bool(np.isfinite(array).all())
        text = f"{name_of(array.dtype)} {list(array.shape)}  {preview(array)}"
        return text, None if alone is None else told_norm(alone), is_finite
    with np.errstate(all="ignore"):
        wide = array.astype(np.float64, copy=False)
        mean = float(_sum(wide, None)) / wide.size
        norm, bad = math.sqrt(_sum(wide * wide, None)), 0
        if not _LEAST < norm < math.inf:
            bad = 0 if array.dtype.kind != "f" else int(array.size - np.isfinite(array).sum())
            norm = float(np.abs(wide).max()) if bad else norm_of_finite(wide)  # NaN where there is one, else infinite
    text = summary_text(array, _lowest(array, None).item(), _highest(array, None).item(), mean, norm, bad)
    return text, told_norm(norm), not bad


def summary_text(array: Any, low: Any, high: Any, mean: Any, norm: float, bad: int) -> str:
    """The line about an array with these statistics, ``bad`` elements of which are not finite."""
    ranges = f"{name_of(array.dtype)} {list(array.shape)}  min {low:.4g}  max {high:.4g}  mean {mean:.4g}"
    return f"{ranges}  norm {norm:.4g}" + (f"  {bad:,} not finite" if bad else "")


def preview(array: Any, threshold: int = 8) -> str:
    """The array on one line of at most :data:`PREVIEW` characters; of more elements than ``threshold`` the middle is left out."""
    text = np.array2string(
        np.asarray(array), precision=4, threshold=threshold, edgeitems=2, max_line_width=10_000, separator=", "
    )
    line = " ".join(text.split())
    return line if len(line) <= PREVIEW else line[: PREVIEW - 1] + "\N{HORIZONTAL ELLIPSIS}"

"""Tensors as clients show them, wherever they are: of one on a device only what the device found and a few elements are fetched."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from agdbg.agent.values import Value, preview, summary_text, told_norm, value_of
from agdbg.engines.native_summary import device_of
from agdbg_engine.device import array_module
from agdbg_engine.several import at_home
from agdbg_engine.summaries import Found

_EDGE, _WHOLE = 2, 8
"""So many elements at both ends of a dimension are shown of an array of more than so many: see :func:`preview`."""


@at_home
def described(array: Any) -> Value:
    """As :func:`value_of`, of a buffer on any device."""
    backend = device_of(array)
    if backend is None or array.size <= 1 or array.dtype.kind not in "fiu" or (found := backend.summary(array)) is None:
        return value_of(on_host(array))
    bad = 0 if array.dtype.kind != "f" else found.nans + found.infs
    low, high, mean, norm = _statistics(found, array.size, array.dtype)
    return {
        "summary": summary_text(array, low, high, mean, norm, bad),
        "preview": shown(array),
        "shape": list(array.shape),
        "dtype": str(array.dtype),
        "size": int(array.size),
        "finite": not bad,
        "norm": told_norm(norm),
    }


def _statistics(found: Found, size: int, dtype: Any) -> tuple[Any, Any, float, float]:
    """Smallest, largest, mean and norm as NumPy has them: not numbers where there is one that is none."""
    if found.nans:
        return math.nan, math.nan, math.nan, math.nan
    low, high = (each if dtype.kind == "f" else int(each) for each in (found.low, found.high))
    return low, high, found.total / size, math.inf if found.infs else found.norm


def on_host(array: Any) -> Any:
    """``array``, or a copy of what is on a device."""
    backend = device_of(array)
    return np.asarray(array) if backend is None else backend.to_host(array)


@at_home
def shown(array: Any) -> str:
    """As :func:`preview`: of an array on a device those elements are fetched that are shown, in one copy."""
    if device_of(array) is None:
        return preview(array)
    many = array.size > _WHOLE
    for axis, length in enumerate(array.shape if many else ()):
        if length > 2 * _EDGE + 1:
            ends = [*range(_EDGE + 1), *range(length - _EDGE, length)]  # one more stands for what is left out
            array = array.take(array_module(array).asarray(ends), axis)
    return preview(on_host(array), 0 if many else _WHOLE)

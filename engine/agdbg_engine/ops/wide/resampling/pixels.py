"""Resampling of images of bytes, in whole numbers as PyTorch does it: axis by axis, each rounded to bytes again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .axes import Table, gathered

_BITS = 22
"""Weights have fewer bits than these behind the point,"""
_LARGEST = 1 << 15
"""and are smaller than this, so that they fit into 16 bits."""


def resampled(x: Any, tables: list[Table]) -> Any:
    """The map of bytes, the last axis first; weights are rounded to as many bits as the largest of an axis leaves."""
    for table in reversed(tables):
        if table.weights is None or table.size == len(table.places[0]):
            continue  # an axis that keeps its size is left alone, whatever the scale is
        weights = _merged(table.places, [np.asarray(w, np.float64) for w in table.weights])
        bits = _precision(max(float(w.max(initial=0.0)) for w in weights))
        whole = [np.trunc(w * (1 << bits) + np.copysign(0.5, w)).astype(np.int32) for w in weights]
        total = gathered(x.astype(np.int32), [replace(table, weights=whole)])
        x = ((total + (1 << (bits - 1))) >> bits).clip(0, 255).astype(np.uint8)
    return x


def _merged(places: list[Any], weights: list[Any]) -> list[Any]:
    """The weights, of which those at the border that mean the same element are added up before they are rounded."""
    for i in range(1, len(places)):
        for j in range(i):
            same = (places[i] == places[j]) & (weights[i] != 0)
            weights[j] = weights[j] + np.where(same, weights[i], 0)
            weights[i] = np.where(same, 0, weights[i])
    return weights


def _precision(largest: float) -> int:
    """Bits behind the point."""
    return next((bits for bits in range(_BITS) if int(0.5 + largest * (1 << (bits + 1))) >= _LARGEST), _BITS)

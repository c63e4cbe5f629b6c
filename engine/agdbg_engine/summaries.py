"""What a device tells of an array in eight words: asked for now, fetched when somebody looks, many in one copy."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

START = np.array([0, 0, 0, 0, 2**64 - 1, 2**64 - 1, 0, 0], np.uint64)
"""The words before any element was seen."""
WORDS = len(START)
_SIGN = 1 << 63


class Found(NamedTuple):
    """What was found of the finite elements, and of the others; ``first_bad`` is a flat index, -1 when all are finite."""

    norm: float
    largest: float
    nans: int
    infs: int
    first_bad: int
    low: float
    """Smallest, largest and sum of all elements but NaN: infinities count."""
    high: float
    total: float


class Spread(NamedTuple):
    """How the finite elements of an array lie about: see ``Backend.spread``."""

    squares: float
    """Of their distances from a mean, added up."""
    zeros: int
    counts: list[int]
    """How many lie between two edges and the next."""


def read(words: Any) -> Found:
    """The meaning of eight words, on the host: squares, largest, NaNs, infinities, place of the first, low, high, sum."""
    squares, largest, total = words[[0, 1, 7]].view(np.float64).tolist()
    nans, infs, first, low, high = (int(w) for w in words[2:7])
    bad = first if nans or infs else -1
    if low > high:  # no element, or all are NaN
        return Found(math.sqrt(squares), largest, nans, infs, bad, math.nan, math.nan, total)
    return Found(math.sqrt(squares), largest, nans, infs, bad, unordered(low), unordered(high), total)


def read_spread(words: Any) -> Spread:
    """The meaning of the words of a spread, on the host: squares, zeros, and as many counts as there are."""
    return Spread(words[:1].view(np.float64).item(), int(words[1]), [int(each) for each in words[2:]])


def ordered(value: float) -> int:
    """A double as an integer without sign, in the order of the doubles: what the kernel compares."""
    bits = int(np.float64(value).view(np.uint64))
    return bits ^ (2 * _SIGN - 1) if bits & _SIGN else bits | _SIGN


def unordered(word: int) -> float:
    """The double of an integer of :func:`ordered`."""
    bits = word ^ _SIGN if word & _SIGN else word ^ (2 * _SIGN - 1)
    return float(np.uint64(bits).view(np.float64))

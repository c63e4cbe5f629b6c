"""Where a sequence repeats itself: stretches such as ABCABCABCABC, found for all short periods at once."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

LEAST_REPEATS = 4
"""Fewer repeats are not worth folding: the first and the last stay drawn."""

MAX_PERIOD = 256
"""Longest block that is looked for. Cost is this times the length, in NumPy."""


class Repeat(NamedTuple):
    """From `start`, `times` equal blocks of `period` items follow each other."""

    start: int
    period: int
    times: int


def find_repeats(keys: Sequence[int], max_period: int = MAX_PERIOD) -> list[Repeat]:
    """Return repeats that do not overlap, from left to right; of several at one place the widest."""
    sequence = np.asarray(keys, dtype=np.int64)
    cover = np.zeros(len(sequence), dtype=np.int64)
    periods = np.zeros(len(sequence), dtype=np.int64)
    for period in range(1, min(max_period, len(sequence) // LEAST_REPEATS) + 1):
        times = _matches(sequence, period) // period + 1
        covered = np.where(times >= LEAST_REPEATS, times * period, 0)
        better = np.flatnonzero(covered > cover[: len(covered)])
        cover[better] = covered[better]
        periods[better] = period
    found: list[Repeat] = []
    end = 0
    for start in np.flatnonzero(cover).tolist():
        if start >= end:
            period = int(periods[start])
            found.append(Repeat(start, period, int(cover[start]) // period))
            end = start + int(cover[start])
    return found


def _matches(sequence: npt.NDArray[np.int64], period: int) -> npt.NDArray[np.int64]:
    """For each place: how many items from there on equal the item one period later, without a break."""
    places = np.arange(len(sequence) - period)
    breaks = np.where(sequence[period:] == sequence[:-period], len(places), places)
    next_break = np.minimum.accumulate(breaks[::-1])[::-1]
    return next_break - places

"""Where a sequence repeats itself: stretches such as ABCABCABCABC, found for all short periods at once."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

LEAST_REPEATS = 4
"""Fewer repeats are not worth folding: the first and the last stay drawn."""

MAX_PERIOD = 256
"""Longest block that is looked for. Cost is this times the length, in NumPy."""

_SHORT = 1 << 12
"""Of sequences up to this length :func:`likely_periods` are all."""

_LIKELY, _LONGEST = 12, 1 << 14
"""How many they are of a longer one, and the longest of them."""

Keys = npt.NDArray[np.int64]


class Repeat(NamedTuple):
    """From `start`, `times` equal blocks of `period` items follow each other."""

    start: int
    period: int
    times: int


def find_repeats(
    keys: Sequence[int] | Keys, max_period: int = MAX_PERIOD, tried: Iterable[int] | None = None
) -> list[Repeat]:
    """Return repeats that do not overlap, from left to right; of several at one place the widest.

    Of several periods that cover the same the first counts; ``tried`` are those to try, None: all up to ``max_period``.
    """
    sequence = np.asarray(keys, dtype=np.int64)
    cover = np.zeros(len(sequence), dtype=np.int64)
    periods = np.zeros(len(sequence), dtype=np.int64)
    if tried is None:
        tried = range(1, min(max_period, len(sequence) // LEAST_REPEATS) + 1)
    for period in tried:
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


def likely_periods(keys: Keys) -> list[int]:
    """Periods to try, ascending, at a cost that does not depend on how long they are.

    Of a short sequence all up to :data:`MAX_PERIOD`, of others those, however long, after which most items come again.
    """
    longest = len(keys) // LEAST_REPEATS
    if len(keys) <= _SHORT:
        return list(range(1, min(MAX_PERIOD, longest) + 1))
    order = np.argsort(keys, kind="stable")
    same = keys[order][1:] == keys[order][:-1]
    away = (order[1:] - order[:-1])[same]
    often = np.bincount(away[away <= min(_LONGEST, longest)], minlength=1)
    likely = np.argsort(often, kind="stable")[::-1][:_LIKELY]
    periods: list[int] = np.sort(likely[often[likely] > 0]).tolist()
    return periods


def _matches(sequence: Keys, period: int) -> Keys:
    """For each place: how many items from there on equal the item one period later, without a break."""
    places = np.arange(len(sequence) - period)
    breaks = np.where(sequence[period:] == sequence[:-period], len(places), places)
    next_break = np.minimum.accumulate(breaks[::-1])[::-1]
    return next_break - places

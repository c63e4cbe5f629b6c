"""Where ``grid_sample`` reads: by axis a few elements and their weights, with derivatives of the weights in the grid.

Coordinates run from -1 to 1. Sampling is a product of the axes, so values, gradients and second derivatives are the same sum
with weights derived once or twice along an axis.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....device import array_module
from .upsample import cubic_weights

BILINEAR, NEAREST, BICUBIC = 0, 1, 2
ZEROS, BORDER, REFLECTION = 0, 1, 2


class Tap(NamedTuple):
    """One element along an axis, for every point of the grid."""

    index: Any
    """Its position, brought inside."""
    inside: Any
    """Whether it exists; ``None`` where all do."""
    weight: tuple[Any, Any, Any]
    """Its weight and the first two derivatives; ``None`` for 0."""


def taps(at: Any, n: int, skips: bool, mode: int, padding: int, align_corners: bool) -> list[Tap]:
    """The elements read at coordinates ``at`` along an axis of size ``n``.

    A coordinate that is no number gives the NaN that its weight is; where there is none (``NEAREST``) or with ``skips`` (of
    volumes) it reads nothing, or, where ``padding`` brings all inside, the end that PyTorch's comparisons on the CPU leave it
    at: the first of an image, the last of a volume.
    """
    half = at.dtype.type((n - 1) / 2 if align_corners else n / 2)
    place = (at + 1) * half if align_corners else ((at + 1) * at.dtype.type(n) - 1) / 2
    if mode == BICUBIC:
        return _cubic(place, half, n, padding, align_corners)
    place, slope = _inside(place, n, padding, align_corners)
    if padding != ZEROS and (skips or mode == NEAREST):
        place = _ordered(place, n - 1 if skips else 0)
    if skips:
        place = _finite(place)
    if mode == NEAREST:
        return [_tap(np.rint(place), n, (1, None, None))]
    first = np.floor(place)
    part = place - first
    slope = slope * half
    return [_tap(first, n, (1 - part, -slope, None)), _tap(first + 1, n, (part, slope, None))]


def _ordered(place: Any, end: int) -> Any:
    """``place`` with ``end`` where it is no number."""
    return np.where(np.isnan(place), place.dtype.type(end), place)


def _finite(place: Any) -> Any:
    """Places that are no number, or no integer of 32 bits, somewhere outside."""
    return np.where(np.abs(place) < 2**31 - 2, place, place.dtype.type(-100))


def _tap(place: Any, n: int, weight: tuple[Any, Any, Any]) -> Tap:
    index = _finite(place).astype(np.int64)
    inside = (index >= 0) & (index < n)
    here = isinstance(inside, np.ndarray) and inside.all()  # on a device it costs less than asking
    return Tap(index.clip(0, n - 1), None if here else inside, weight)


def _inside(place: Any, n: int, padding: int, align_corners: bool) -> tuple[Any, Any]:
    """Places brought inside as ``padding`` says, and the slope of that."""
    one = array_module(place).ones(place.shape, place.dtype)
    if padding == ZEROS:
        return place, one
    slope = one
    if padding == REFLECTION:
        place, slope = _reflected(place, (0, n - 1) if align_corners else (-0.5, n - 0.5), one)
    slope = np.where((place > 0) & (place < n - 1), slope, 0)
    return place.clip(0, n - 1), slope


def _reflected(place: Any, bounds: tuple[float, float], one: Any) -> tuple[Any, Any]:
    """Places reflected at two bounds until they lie between them."""
    low, high = bounds
    span = high - low
    if span == 0:
        return place * 0, one * 0
    away = place - place.dtype.type(low)
    slope = np.where(away < 0, -one, one)
    away = np.abs(away)
    rest, flips = np.fmod(away, place.dtype.type(span)), np.floor(away / place.dtype.type(span))
    even = np.fmod(flips, 2) == 0
    back = np.where(even, rest + place.dtype.type(low), place.dtype.type(span) - rest + place.dtype.type(low))
    return back, np.where(even, slope, -slope)


# ----- cubic -----


def _cubic(place: Any, half: Any, n: int, padding: int, align_corners: bool) -> list[Tap]:
    first = np.floor(place)
    part = place - first
    found = []
    values, slopes, bends = cubic_weights(part), _slopes(part), _bends(part)
    for k in range(4):
        where = _inside(first + (k - 1), n, padding, align_corners)[0]
        if padding != ZEROS:
            where = _ordered(where, 0)
        found.append(_tap(np.trunc(where), n, (values[k], slopes[k] * half, bends[k] * half * half)))
    return found


_A = -0.75


def _slopes(t: Any) -> list[Any]:
    """Derivatives of the four cubic weights."""

    def near(x: Any) -> Any:
        return (3 * (_A + 2) * x - 2 * (_A + 3)) * x

    def far(x: Any) -> Any:
        return (3 * _A * x - 10 * _A) * x + 8 * _A

    return [far(t + 1), near(t), -near(1 - t), -far(2 - t)]


def _bends(t: Any) -> list[Any]:
    """Second derivatives of the four cubic weights."""

    def near(x: Any) -> Any:
        return 6 * (_A + 2) * x - 2 * (_A + 3)

    def far(x: Any) -> Any:
        return 6 * _A * x - 10 * _A

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]

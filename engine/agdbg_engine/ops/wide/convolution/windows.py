"""Sliding windows over the last dimensions of an array: what convolutions, pooling and ``unfold`` read, without a copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....device import array_module

Ints = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]


def padded(x: Any, pairs: Pairs, value: Any = 0) -> Any:
    """``x`` with (before, after) elements of ``value`` more in its last dimensions; negative ones crop. A copy if any."""
    if not any(a or b for a, b in pairs):
        return x
    lead = x.ndim - len(pairs)
    shape = x.shape[:lead] + tuple(n + a + b for n, (a, b) in zip(x.shape[lead:], pairs, strict=True))
    full = array_module(x).zeros(shape, x.dtype) if type(value) is int and value == 0 else _filled(x, shape, value)
    inside = tuple(slice(max(a, 0), n + a + min(b, 0)) for n, (a, b) in zip(x.shape[lead:], pairs, strict=True))
    kept = tuple(slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(x.shape[lead:], pairs, strict=True))
    full[(..., *inside)] = x[(..., *kept)]
    return full


def _filled(x: Any, shape: Ints, value: Any) -> Any:
    return array_module(x).full(shape, value, x.dtype)


def around(padding: Ints) -> Pairs:
    """The same number of elements before and after."""
    return tuple((p, p) for p in padding)


def steps(n: int, kernel: int, stride: int, dilation: int) -> int:
    """How many windows fit into ``n`` elements."""
    return (n - dilation * (kernel - 1) - 1) // stride + 1


def windows(x: Any, kernel: Ints, stride: Ints, dilation: Ints, places: Ints = ()) -> Any:
    """The windows over the last dimensions of ``x``, all or the first ``places``: (..., *places, *kernel), a view."""
    k = len(kernel)
    places = places or tuple(map(steps, x.shape[-k:], kernel, stride, dilation))
    apart = x.strides[-k:]
    strides = (
        *x.strides[:-k],
        *(a * s for a, s in zip(apart, stride, strict=True)),
        *(a * d for a, d in zip(apart, dilation, strict=True)),
    )
    shape = (*x.shape[:-k], *places, *kernel)
    return array_module(x).lib.stride_tricks.as_strided(x, shape, strides)


def at(offset: Ints, places: Ints, stride: Ints, dilation: Ints) -> Any:
    """The index of the elements that all windows have at ``offset``."""
    starts = [o * d for o, d in zip(offset, dilation, strict=True)]
    return (
        ...,
        *(slice(b, b + s * (n - 1) + 1 if n else b, s) for b, n, s in zip(starts, places, stride, strict=True)),
    )


def overlapped(parts: Any, size: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Any:
    """The transpose of :func:`padded` and :func:`windows`: ``parts`` (..., *kernel, *places) added where they were read.

    The result is (..., *size); a loop over the places of the kernel, not over the windows.
    """
    k = len(size)
    kernel, places = parts.shape[-2 * k : -k], parts.shape[-k:]
    lead = parts.shape[: -2 * k]
    whole = array_module(parts).zeros((*lead, *(n + 2 * p for n, p in zip(size, padding, strict=True))), parts.dtype)
    for offset in np.ndindex(*kernel):
        whole[at(offset, places, stride, dilation)] += parts[(..., *offset, *(slice(None),) * k)]
    return whole[(..., *(slice(p, p + n) for n, p in zip(size, padding, strict=True)))]

"""Mean and sum of squared distances from it of single precision, in double: by blocks that stay in the cache.

PyTorch adds these up in double on the CPU. A copy of a large operand in double, and its squares, would cost several times what
the arithmetic does; blocks of it are centred and squared in place, and what they give is put together as Chan, Golub and
LeVeque do (Updating formulae and a pairwise algorithm for computing sample variances, 1979): with no loss where the mean is
far larger than the spread.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

BLOCK = 1 << 15
"""Elements of a block: 256 KiB in double."""

_Moments = tuple[int, Any, Any]
"""Number of elements along the dimensions; their mean, and the sum of squared distances from it, of the kept dimensions."""


def mean_and_squares(x: Any, dims: tuple[int, ...]) -> tuple[Any, Any]:
    """Mean, and sum of squared distances from it, in double, of the float32 array ``x`` along ``dims``, which are kept as 1."""
    _, mean, squares = _moments(x, dims)
    return mean, squares


def _moments(x: Any, dims: tuple[int, ...]) -> _Moments:
    axis = _first_long(x)
    if x.size <= BLOCK or axis is None:
        return _of_block(x, dims)
    parts = min(x.shape[axis], -(-x.size // BLOCK))
    each = -(-x.shape[axis] // parts)
    front = (slice(None),) * axis
    found = [_moments(x[(*front, slice(at, at + each))], dims) for at in range(0, x.shape[axis], each)]
    if axis in dims:
        return _merged(found, axis)
    mean, squares = (np.concatenate([part[i] for part in found], axis) for i in (1, 2))
    return found[0][0], mean, squares


def _first_long(x: Any) -> int | None:
    """The longest way in memory: of dimensions with more than one element that with the largest step."""
    steps = [(abs(step), -d) for d, (size, step) in enumerate(zip(x.shape, x.strides, strict=True)) if size > 1]
    return -max(steps)[1] if steps else None


def _of_block(x: Any, dims: tuple[int, ...]) -> _Moments:
    n = math.prod(x.shape[d] for d in dims)
    centred = x.astype(np.float64)
    mean = np.add.reduce(centred, dims, keepdims=True) / np.float64(n)
    centred -= mean
    axes = list(range(x.ndim))
    kept = [d for d in axes if d not in dims]
    squares = np.einsum(centred, axes, centred, axes, kept)
    return n, mean, squares.reshape(mean.shape)


def _merged(parts: list[_Moments], axis: int) -> _Moments:
    """The moments of all ``parts``, which lie after each other along the reduced ``axis``."""
    counts = np.array([part[0] for part in parts], np.float64)
    n = sum(part[0] for part in parts)
    means = np.concatenate([part[1] for part in parts], axis)
    shares = counts.reshape([-1 if d == axis else 1 for d in range(means.ndim)])
    mean = np.add.reduce(means * shares, axis, keepdims=True) / np.float64(n)
    means -= mean
    means *= means
    means *= shares
    squares = np.add.reduce(np.concatenate([part[2] for part in parts], axis), axis, keepdims=True)
    return n, mean, squares + np.add.reduce(means, axis, keepdims=True)

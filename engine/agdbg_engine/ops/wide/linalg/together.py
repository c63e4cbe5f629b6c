"""LU factors and exponentials of many small matrices at once: loops over columns and powers, never over the batch.

A call of LAPACK for each matrix costs more than the arithmetic of a small one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....device import array_module

MOST_ROWS = 16
"""Size of matrices above which LAPACK factors them faster one by one, however many they are."""


def many(batch: tuple[int, ...], m: int, n: int) -> bool:
    """Whether matrices (m, n) are so many and so small that :func:`factored` is faster than LAPACK one by one."""
    size = max(m, n)
    return min(m, n) > 0 and size <= MOST_ROWS and 2 * math.prod(batch) > size * size


def factored(a: Any) -> tuple[Any, Any, Any]:
    """LU factors with partial pivoting packed as by LAPACK's ``getrf``, pivots from 1, and ``info``.

    The batch is the last dimension in memory, so that each step is one operation on whole rows of numbers.
    """
    batch, (m, n) = a.shape[:-2], a.shape[-2:]
    xp, k = array_module(a), min(m, n)
    x = a.reshape(-1, m, n).transpose(1, 2, 0).copy()
    count = x.shape[-1]
    flat, row = x.reshape(-1), xp.arange(n * count).reshape(n, count)
    pivots = xp.empty((k, count), np.int32)
    with np.errstate(all="ignore"):
        for j in range(k):
            best = _size(x[j:, j]).argmax(0) + j
            pivots[j] = best + 1
            places = best * (n * count) + row  # of the row that comes to the top
            top = flat.take(places)
            flat[places] = x[j]
            x[j] = top
            if j + 1 < m:
                x[j + 1 :, j] /= np.where(top[j] == 0, x.dtype.type(1), top[j])
                x[j + 1 :, j + 1 :] -= x[j + 1 :, j, None] * top[j + 1 :]
    zero = x[np.arange(k), np.arange(k)] == 0
    info = np.where(zero.any(0), zero.argmax(0) + 1, 0).astype(np.int32)
    lu = np.moveaxis(x, -1, 0).reshape(a.shape).copy()
    return lu, pivots.T.reshape(*batch, k).copy(), info.reshape(batch)


def _size(x: Any) -> Any:
    """By what LAPACK chooses pivots."""
    return np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x)


# ----- exponentials -----

_PADE: dict[str, tuple[float, tuple[float, ...]]] = {
    "f": (3.925724783138660, (17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0)),
    "d": (
        5.371920351148152,
        (
            64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
            10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
        ),
    ),
}  # fmt: skip
"""Up to which 1-norm the Padé approximant of the exponential with these coefficients is exact in a precision (Higham 2005)."""


def exponentials(a: Any) -> Any:
    """Exponentials of matrices (B, n, n): a Padé approximant of ``a / 2**s``, squared ``s`` times; ``s`` of each matrix's own."""
    limit, coefficients = _PADE[a.real.dtype.char]
    with np.errstate(all="ignore"):
        norms = np.abs(a).sum(-2).max(-1)
        times = np.ceil(np.log2(norms / limit))
        times = np.where(np.isfinite(norms), np.maximum(times, 0), 0).astype(np.int64)
        odd, even = _pade(a * np.exp2(-times).astype(a.real.dtype)[:, None, None], coefficients)
        x = np.linalg.solve(even - odd, even + odd)
        for step in range(int(times.max(initial=0))):
            more = times > step
            if more.all():
                x = x @ x
            else:
                x[more] = x[more] @ x[more]
    return x


def _pade(a: Any, b: tuple[float, ...]) -> tuple[Any, Any]:
    """The odd and the even part of the numerator; the denominator is their difference."""
    eye = array_module(a).eye(a.shape[-1], dtype=a.dtype)
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2
    odd = b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * eye
    even = b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * eye
    if len(b) > 8:
        odd += a6 @ (b[13] * a6 + b[11] * a4 + b[9] * a2)
        even += a6 @ (b[12] * a6 + b[10] * a4 + b[8] * a2)
    return a @ odd, even

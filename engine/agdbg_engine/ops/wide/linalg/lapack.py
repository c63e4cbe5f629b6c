"""LAPACK routines for batches: one call a matrix, where neither NumPy nor SciPy has a batched routine.

Many small matrices do not come here one by one: see :mod:`.together`, and the loops over rows below.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ....backends import backend_of, on_host, scipy_for
from ....device import array_module
from . import together


def routines(names: tuple[str, ...], *arrays: Any) -> Any:
    """LAPACK's functions ``names`` for the dtype of ``arrays``."""
    from scipy.linalg import get_lapack_funcs

    return get_lapack_funcs(names, [np.empty((1, 1), a.dtype) for a in arrays])


def each(function: Callable[..., Any], *arrays: Any, batch: tuple[int, ...] | None = None, core: int = 2) -> list[Any]:
    """``function(*matrices)`` for every element of the batch, its results stacked; ``core`` dimensions are those of one."""
    if batch is None:
        batch = np.broadcast_shapes(*(a.shape[: a.ndim - core] for a in arrays))
    n, cores = math.prod(batch), [a.shape[a.ndim - core :] for a in arrays]
    flat = [np.broadcast_to(a, (*batch, *c)).reshape(n, *c) for a, c in zip(arrays, cores, strict=True)]
    rows = [function(*(a[i] for a in flat)) for i in range(n)]
    if not rows:  # shapes of the results as for zeros
        one = function(*(array_module(a).zeros(a.shape[1:], a.dtype) for a in flat))
        return [array_module(r).empty((*batch, *np.shape(r)), r.dtype) for r in one]
    return [np.stack(column).reshape((*batch, *np.shape(column[0]))) for column in zip(*rows, strict=True)]


def attempted(function: Callable[..., Any], *arrays: Any, **options: Any) -> Any:
    """``function`` of NumPy's ``linalg``, which raises NumPy's ``LinAlgError`` where there is no result; a device is waited for."""
    if on_host(arrays[0]):
        return function(*arrays, **options)
    with backend_of(arrays[0]).linalg_errors():
        return function(*arrays, **options)


def factored(a: Any) -> tuple[Any, Any, Any]:
    """LU factors with partial pivoting as LAPACK packs them, pivots from 1, and ``info``."""
    if together.many(a.shape[:-2], *a.shape[-2:]):
        return together.factored(a)
    if not on_host(a):
        return _factored_on_device(a)
    (getrf,) = routines(("getrf",), a)

    def one(m: Any) -> tuple[Any, Any, Any]:
        if m.size == 0:
            return m.copy(), np.zeros(min(m.shape), np.int32), np.int32(0)
        lu, pivots, info = getrf(m)
        return lu, (pivots + 1).astype(np.int32), np.int32(info)

    lu, pivots, info = each(one, a)
    return lu, pivots, info


def _factored_on_device(a: Any) -> tuple[Any, Any, Any]:
    """As :func:`factored`; the first zero on the diagonal of U is what LAPACK says of it in ``info``."""
    if not a.size:
        xp, batch = array_module(a), a.shape[:-2]
        return a.copy(), xp.zeros((*batch, min(a.shape[-2:])), np.int32), xp.zeros(batch, np.int32)
    lu_factor = scipy_for(a, "linalg").lu_factor
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Diagonal number .* is exactly zero", RuntimeWarning)
        lu, pivots = each(lambda m: lu_factor(m, check_finite=False), a)
    zero = np.diagonal(lu, 0, -2, -1) == 0
    info = (zero.argmax(-1) + 1) * zero.any(-1) if zero.shape[-1] else zero.sum(-1)
    return lu, (pivots + 1).astype(np.int32), info.astype(np.int32)


def permutation(pivots: Any, m: int) -> Any:
    """Which row of the matrix is which row of ``L U``, from LAPACK's interchanges (one loop over these, for all matrices)."""
    batch, k = pivots.shape[:-1], pivots.shape[-1]
    xp, others = array_module(pivots), pivots.reshape(math.prod(batch), k).astype(np.int64) - 1
    rows = np.broadcast_to(xp.arange(m), (len(others), m)).copy()
    each = xp.arange(len(others))
    for i in range(k):
        here = rows[:, i].copy()
        rows[:, i] = rows[each, others[:, i]]
        rows[each, others[:, i]] = here
    return rows.reshape(*batch, m)


def solved(lu: Any, pivots: Any, b: Any, adjoint: bool) -> Any:
    """X of ``A X = B`` (or with the adjoint of A) by the factors of A; ``lu`` and ``b`` broadcast, pivots from 1.

    One LAPACK call a matrix, or for more matrices than these have rows two triangular systems of all of them.
    """
    n = lu.shape[-1]
    batch = np.broadcast_shapes(lu.shape[:-2], b.shape[:-2])
    if 0 in (*batch, *b.shape[-2:]):
        return array_module(b).zeros((*batch, *b.shape[-2:]), b.dtype)
    pivots = np.clip(pivots, 1, n)  # LAPACK believes them
    if math.prod(batch) > n:
        return _solved_together(lu, permutation(pivots, n)[..., None], b, adjoint)
    return each(lambda m, p, r: (_solved_by(m, p[0] - 1, r, adjoint),), lu, pivots[..., None, :], b)[0]


def _solved_together(lu: Any, rows: Any, b: Any, adjoint: bool) -> Any:
    if not adjoint:
        y = triangular(lu, np.take_along_axis(*_alike(b, rows), -2), False, True, True)
        return triangular(lu, y, True, True, False)
    turned = np.conj(np.swapaxes(lu, -1, -2))
    z = triangular(turned, triangular(turned, b, False, True, False), True, True, True)
    return np.take_along_axis(*_alike(z, np.argsort(rows, -2)), -2)


def _alike(x: Any, rows: Any) -> tuple[Any, Any]:
    """Both with the dimensions of the batch that either has."""
    batch = np.broadcast_shapes(x.shape[:-2], rows.shape[:-2])
    return np.broadcast_to(x, (*batch, *x.shape[-2:])), np.broadcast_to(rows, (*batch, *rows.shape[-2:]))


def _solved_by(lu: Any, pivots: Any, b: Any, adjoint: bool) -> Any:
    """X for one matrix; pivots from 0."""
    if not on_host(lu):
        found: Any = scipy_for(lu, "linalg").lu_solve((lu, pivots), b, trans=2 if adjoint else 0, check_finite=False)
        return found
    (getrs,) = routines(("getrs",), lu)
    return np.ascontiguousarray(getrs(lu, pivots, b, trans=2 if adjoint else 0)[0])


def triangular(a: Any, b: Any, upper: bool, left: bool, unit: bool) -> Any:
    """X of ``a X = b`` or ``X a = b`` for a triangular ``a``; infinite where it is singular.

    One BLAS call a matrix, or in batches of more matrices than these have rows, one row after the other of all of them.
    """
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    if math.prod(batch) > a.shape[-1] > 0 or not on_host(a):
        if left:
            return _by_rows(a, b, batch, upper, unit)
        turned = _by_rows(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2), batch, not upper, unit)
        return np.swapaxes(turned, -1, -2)
    return _by_matrices(a, b, upper, left, unit)


def _by_rows(a: Any, b: Any, batch: tuple[int, ...], upper: bool, unit: bool) -> Any:
    n = a.shape[-1]
    x = np.broadcast_to(b, (*batch, *b.shape[-2:])).copy()
    with np.errstate(all="ignore"):
        for i in range(n - 1, -1, -1) if upper else range(n):
            known = slice(i + 1, n) if upper else slice(0, i)
            row = x[..., i : i + 1, :]
            if known.start < known.stop:
                row -= np.matmul(a[..., i : i + 1, known], x[..., known, :])
            if not unit:
                row /= a[..., i : i + 1, i : i + 1]
    return x


def _by_matrices(a: Any, b: Any, upper: bool, left: bool, unit: bool) -> Any:
    from scipy.linalg import get_blas_funcs

    trsm = get_blas_funcs("trsm", dtype=a.dtype)

    def one(m: Any, r: Any) -> tuple[Any]:
        if m.size == 0 or r.size == 0:
            return (np.zeros_like(r),)
        return (np.ascontiguousarray(trsm(1, m, r, side=0 if left else 1, lower=not upper, diag=unit)),)

    return each(one, a, b)[0]

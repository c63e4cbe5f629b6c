"""The solutions of least squares: batches at once where NumPy can do what LAPACK's driver does, the other matrices one by one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .lapack import each, triangular

Found = tuple[Any, Any, Any]
"""Solutions (..., n, k), ranks, and singular values where the driver computes them."""


def best(a: Any, b: Any, rcond: float, driver: str) -> Found:
    """X (..., n, k) that makes ``a X - b`` smallest and among those is smallest itself, for ``a`` (..., m, n)."""
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    (m, n), k = a.shape[-2:], b.shape[-1]
    if 0 in (m, n, k) or math.prod(batch) < 2:
        return _one_by_one(a, b, rcond, driver)
    a, b = (np.broadcast_to(x, (*batch, *x.shape[-2:])).reshape(-1, *x.shape[-2:]) for x in (a, b))
    together = _by_singular_values if driver in ("gelsd", "gelss") else _by_triangles
    done, x, rank, s = together(a, b, rcond)
    if not done.all():
        for whole, part in zip((x, rank, s), _one_by_one(a[~done], b[~done], rcond, driver), strict=True):
            whole[~done] = part
    return x.reshape(*batch, n, k), rank.reshape(batch), s.reshape(*batch, s.shape[-1])


def _one_by_one(a: Any, b: Any, rcond: float, driver: str) -> Found:
    from scipy.linalg import lstsq

    (m, n), k = a.shape[-2:], b.shape[-1]
    name = "gelsy" if driver == "gels" else driver

    def one(x: Any, y: Any) -> Found:
        if 0 in (m, n, k):
            return np.zeros((n, k), x.dtype), np.int64(0), np.zeros(min(m, n), x.real.dtype)
        solution, _, rank, s = lstsq(x, y, cond=rcond, lapack_driver=name, check_finite=False)
        return solution.astype(x.dtype, copy=False), np.int64(rank), np.zeros(0) if s is None else s

    solution, rank, s = each(one, a, b)
    return solution, rank, s


def _by_triangles(a: Any, b: Any, rcond: float) -> tuple[Any, Any, Any, Any]:
    """QR factors, for matrices whose rank is certainly full: the norms bound the condition that ``gelsy`` estimates."""
    m, n = a.shape[-2:]
    size = min(m, n)
    wide = m < n
    q, r = np.linalg.qr(np.conj(np.swapaxes(a, -1, -2)) if wide else a)
    eye = np.broadcast_to(np.eye(size, dtype=r.dtype), r.shape)
    with np.errstate(all="ignore"):
        inverse = triangular(r, eye, True, True, False)
        full = _norm(r) * _norm(inverse) * rcond < 1
        if wide:
            x = np.matmul(q, np.matmul(np.conj(np.swapaxes(inverse, -1, -2)), b))
        else:
            x = triangular(r, np.matmul(np.conj(np.swapaxes(q, -1, -2)), b), True, True, False)
    return full, x, np.full(len(a), size, np.int64), np.zeros((len(a), 0), a.real.dtype)


def dependent(a: Any) -> Any:
    """Which diagonal element of the triangle of ``a`` (..., m, n) is zero to rounding, from 1; 0 where there is none.

    So LAPACK's ``gels`` tells, which solves for zeros without looking.
    """
    tall = a if a.shape[-2] >= a.shape[-1] else np.conj(np.swapaxes(a, -1, -2))
    if not tall.size:
        return np.zeros(a.shape[:-2], np.int32)
    triangle: Any = np.linalg.qr(tall, mode="r")
    rounding = float(np.finfo(triangle.dtype).eps) * max(a.shape[-2:])
    zero = np.abs(np.diagonal(triangle, 0, -2, -1)) <= rounding * np.linalg.norm(triangle, axis=-2)
    return np.where(zero.any(-1) & a.any((-2, -1)), zero.argmax(-1) + 1, 0).astype(np.int32)


def _norm(x: Any) -> Any:
    return np.linalg.norm(x, axis=(-2, -1))


def _by_singular_values(a: Any, b: Any, rcond: float) -> tuple[Any, Any, Any, Any]:
    """Singular values, of which those up to ``rcond`` times the largest (rounding, where that is negative) count as zero."""
    done = np.isfinite(a).all((-2, -1)) & np.isfinite(b).all((-2, -1))
    u, s, vh = np.linalg.svd(np.where(done[:, None, None], a, 0).astype(a.dtype, copy=False), full_matrices=False)
    kept = s > (rcond if rcond >= 0 else float(np.finfo(s.dtype).eps)) * s[:, :1]
    inverse = np.where(kept, 1 / np.where(kept, s, 1), 0).astype(s.dtype)
    with np.errstate(all="ignore"):
        x = np.matmul(np.conj(np.swapaxes(u, -1, -2)), b) * inverse[..., None]
        x = np.matmul(np.conj(np.swapaxes(vh, -1, -2)), x)
    return done, x, kept.sum(-1, dtype=np.int64), s

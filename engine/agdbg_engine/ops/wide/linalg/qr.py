"""QR factors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....device import array_module
from ....tensor import Tensor
from ..declare import formula, op, public
from .checks import floating_matrices
from .parts import plus


def _qr(a: Any, mode: str) -> tuple[Any, Any]:
    if mode == "r":
        return array_module(a).empty((0,), a.dtype), np.linalg.qr(a, "r")
    q, r = np.linalg.qr(a, "complete") if mode == "complete" else np.linalg.qr(a)
    return q, r


QR = op("qr_raw(A, mode)", "LinalgQrBackward0", outputs="Q R", A="qr_grad(g_Q, g_R, Q, R, mode)",
   jvp="qr_tangent(A_t, Q, R, mode)", holomorphic=False, value=_qr)  # fmt: skip

NEEDS_Q = (
    "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, mode='reduced') if "
    "you are going to differentiate through linalg.qr."
)
COMPLETE = "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."


def _check(mode: str, m: int, n: int) -> None:
    if mode == "r":
        raise RuntimeError(NEEDS_Q)
    if mode == "complete" and m > n:
        raise RuntimeError(COMPLETE)


def _triangle(F: Any, x: Any) -> Any:
    """The upper triangle of ``x + x^H`` with half of its diagonal."""
    whole = x + F.mH(x)
    return F.upper(whole, 0) - 0.5 * F.on_diagonal(F.diagonal_of(whole))


@formula
def qr_grad(F: Any, gq: Any, gr: Any, q: Any, r: Any, mode: str) -> Any:
    """Gradient of Q and R in the matrix. A wide one is seen as a square one beside columns that are ``Q`` times those of R."""
    m, n = q.shape[-2] if mode != "r" else 0, r.shape[-1]
    _check(mode, m, n)
    if gq is None and gr is None:
        return None
    if m >= n:
        return _tall(F, gq, gr, q, r)
    rest = None
    if gr is not None:
        rest = F.matmul(q, gr[..., m:])
        gq = plus(gq, F.matmul(q, F.matmul(r[..., m:], F.mH(gr[..., m:]))))
        gr = gr[..., :m]
    square = _tall(F, gq, gr, q, r[..., :m])
    return F.joined([square, F.zeros_of((*square.shape[:-1], n - m), square) if rest is None else rest], -1)


def _tall(F: Any, gq: Any, gr: Any, q: Any, r: Any) -> Any:
    inner = None if gr is None else F.matmul(gr, F.mH(r))
    if gq is not None:
        inner = plus(inner, -F.matmul(F.mH(q), gq))
    upper = F.upper(inner, 0)
    sides = upper + F.mH(upper)
    sides = sides - 0.5 * F.on_diagonal(F.diagonal_of(sides))
    return F.solve_triangular_raw(F.mH(r), plus(F.matmul(q, sides), gq), False, False, False)


@formula
def qr_tangent(F: Any, a_t: Any, q: Any, r: Any, mode: str) -> Any:
    """Tangents of Q and R."""
    m, n = a_t.shape[-2:]
    _check(mode, m, n)
    k = min(m, n)
    x = F.solve_triangular_raw(r[..., :k], a_t[..., :k], True, False, False)
    turn = _triangle(F, F.matmul(F.mH(q), x))
    q_t = x - F.matmul(q, turn)
    if m >= n:
        return q_t, F.matmul(turn, r)
    right = F.matmul(F.mH(q), a_t[..., m:]) - F.matmul(F.matmul(F.mH(q), q_t), r[..., m:])
    return q_t, F.joined([F.matmul(turn, r[..., :m]), right], -1)


@public("linalg.qr", out=True)
def linalg_qr(A: Tensor, mode: str = "reduced") -> Any:
    """``Q`` and ``R`` with ``A = Q R`` of matrices (..., m, n); ``mode``: reduced, complete, or r (no Q, and no gradient)."""
    floating_matrices("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    return QR(A, mode)


@public("torch Tensor", out=True)
def qr(self: Tensor, some: bool = True) -> Any:
    """The older form of :func:`linalg.qr`."""
    return linalg_qr(self, "reduced" if some else "complete")

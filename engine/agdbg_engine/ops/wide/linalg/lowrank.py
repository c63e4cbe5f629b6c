"""Singular values and vectors of matrices that are nearly of low rank, by random projections."""

from __future__ import annotations

import numpy as np

from ....tensor import Tensor
from ...complexes import matrix_adjoint
from ...kernel_names import takes
from ...matrix import matmul
from ...shape import expand
from ..declare import public
from .qr import linalg_qr
from .svd import linalg_svd


def _basis(a: Tensor, q: int, niter: int) -> Tensor:
    """Orthonormal columns that nearly span those of ``a``: of random combinations, sharpened ``niter`` times."""
    from ....random import randn

    kind = a._a.real.dtype if takes("fc", a._a.dtype) else np.dtype(np.float32)
    made = {"dtype": kind, "device": a.device}
    start = randn(a.shape[-1], q, **made)
    if a._a.dtype.kind == "c":
        from ...complexes import complex as complex_of

        start = complex_of(start, randn(a.shape[-1], q, **made))
    basis: Tensor = linalg_qr(matmul(a, start)).Q
    for _ in range(niter):
        basis = linalg_qr(matmul(matrix_adjoint(a), basis)).Q
        basis = linalg_qr(matmul(a, basis)).Q
    return basis


@public("torch")
def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None) -> tuple[Tensor, ...]:
    """Nearly the ``q`` largest singular values of ``A`` (of ``A - M``) with their vectors: U, S, V."""
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    if M is not None:
        A = A - expand(M, A.shape)
    wide = A.shape[-2] < A.shape[-1]
    if wide:
        A = matrix_adjoint(A)
    basis = _basis(A, q, niter)
    u, s, vh = linalg_svd(matmul(matrix_adjoint(basis), A), full_matrices=False)
    v, u = matrix_adjoint(vh), matmul(basis, u)
    return (v, s, u) if wide else (u, s, v)


@public("torch")
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Tensor, ...]:
    """Nearly the ``q`` principal components of the rows of ``A``: :func:`svd_lowrank`, of the columns minus their means."""
    m, n = A.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean((-2,), True) if center else A, q, niter)

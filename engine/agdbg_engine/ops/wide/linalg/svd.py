"""Singular values and vectors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .... import events
from ....device import array_module
from ....grad_mode import mode
from ....tensor import Tensor, wrap
from ...explain import shape_error
from ...formulas import imag_part, real_part
from ...returned import returned_as
from ...shape import matrix_transpose
from ..declare import formula, op, public
from .checks import LinAlgError, failures, floating_matrices
from .lapack import attempted
from .parts import differences, plus, skew, sym

ILL_DEFINED = (
    "{}: The {} vectors in the complex case are specified up to multiplication by e^{{i phi}}. The specified loss function "
    "depends on this {}, making it ill-defined."
)


NOT_FINITE = "The algorithm failed to converge because the input matrix contained non-finite values."
ILL_CONDITIONED = (
    "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
    "singular values."
)


def decomposed(a: Any, full_matrices: bool, compute_uv: bool) -> tuple[Any, Any, Any]:
    """U, S, V^H, or S alone; :class:`LinAlgError` where they are not found."""
    try:
        if compute_uv:
            u, s, vh = attempted(np.linalg.svd, a, full_matrices=full_matrices)
            return u, s, vh
        none = array_module(a).empty((0,), a.dtype)
        return none, attempted(np.linalg.svd, a, compute_uv=False), none.copy()
    except np.linalg.LinAlgError:
        failures("linalg.svd", ~np.isfinite(a).all((-2, -1)), NOT_FINITE)
        raise LinAlgError(f"linalg.svd: {ILL_CONDITIONED}") from None


SVD = op("svd_raw(A, full_matrices, compute_uv)", "LinalgSvdBackward0", outputs="U S Vh",
   A="svd_grad(g_U, g_S, g_Vh, U, S, Vh, full_matrices)", jvp="svd_tangent(U, S, Vh, A_t, full_matrices)",
   holomorphic=False, value=decomposed)  # fmt: skip


@formula
def svd_grad(F: Any, gu: Any, gs: Any, gvh: Any, u: Any, s: Any, vh: Any, full: bool) -> Any:
    """Gradient of U, S, V^H in the matrix; depends on vectors only as far as their phase does not matter."""
    k = s.shape[-1]
    if full:
        u, vh = u[..., :k], vh[..., :k, :]
        gu, gvh = None if gu is None else gu[..., :k], None if gvh is None else gvh[..., :k, :]
    m, n, dtype = u.shape[-2], vh.shape[-1], u.dtype
    if gs is None and gu is None and gvh is None:
        return None
    if gu is None and gvh is None:
        gs = F.cast(gs, dtype)
        return F.matmul(u * gs[..., None, :], vh) if m >= n else F.matmul(u, gs[..., :, None] * vh)
    around_u = None if gu is None else skew(F, F.matmul(F.mH(u), gu))
    around_v = None if gvh is None else skew(F, F.matmul(vh, F.mH(gvh)))
    if dtype.kind == "c":
        _check_phase(F, around_u, around_v)
    e = differences(F, s * s)
    inner = plus(
        None if around_u is None else around_u / e * s[..., None, :],
        None if around_v is None else s[..., :, None] * (around_v / e),
    )
    inner = inner - F.on_diagonal(F.diagonal_of(inner))
    if gs is not None:
        inner = inner + F.on_diagonal(F.cast(gs, dtype))
    if dtype.kind == "c" and gu is not None and gvh is not None:
        inner = inner + F.on_diagonal(F.diagonal_of(around_u) / (2 * s))
    if m > k and gu is not None:
        over = gu / s[..., None, :]
        left = F.matmul(u, inner) + over - F.matmul(u, F.matmul(F.mH(u), over))
        return F.matmul(left, vh)
    if n > k and gvh is not None:
        over = gvh / s[..., :, None]
        right = F.matmul(inner, vh) + over - F.matmul(F.matmul(over, F.mH(vh)), vh)
        return F.matmul(u, right)
    return F.matmul(u, F.matmul(inner, vh)) if m >= n else F.matmul(F.matmul(u, inner), vh)


def _check_phase(F: Any, u: Any, v: Any) -> None:
    """Raise where a complex gradient changes with the phase of the singular vectors."""
    diagonal = F.diagonal_of(plus(u, v))
    size = imag_part(F, diagonal)
    if not np.allclose(size._a if isinstance(size, Tensor) else size, 0, 1e-2, 1e-2):
        raise RuntimeError(ILL_DEFINED.format("svd_backward", "singular", "phase term"))


@formula
def svd_tangent(F: Any, u: Any, s: Any, vh: Any, a_t: Any, full: bool) -> Any:
    """Tangents of U, S and V^H."""
    (m, n), k = a_t.shape[-2:], s.shape[-1]
    if full:
        u, vh = u[..., :k], vh[..., :k, :]
    p = F.matmul(F.matmul(F.mH(u), a_t), F.mH(vh))
    ps = real_part(F, F.diagonal_of(p))
    x = p - F.on_diagonal(F.cast(ps, p.dtype))
    e = differences(F, s * s)
    turn_u, turn_v = sym(F, x * s[..., None, :]) / e, sym(F, s[..., :, None] * x) / e
    if p.dtype.kind == "c":
        spin = F.on_diagonal(F.diagonal_of(x) / (2 * s))
        turn_u, turn_v = turn_u + spin, turn_v - spin
    u_t, vh_t = F.matmul(u, turn_u), F.matmul(F.mH(turn_v), vh)
    if m > k:
        out = F.matmul(a_t, F.mH(vh)) / s[..., None, :]
        u_t = u_t + out - F.matmul(u, F.matmul(F.mH(u), out))
    if n > k:
        out = F.matmul(F.mH(u), a_t) / s[..., :, None]
        vh_t = vh_t + out - F.matmul(F.matmul(out, F.mH(vh)), vh)
    if full and m > k:  # the vectors that complete the basis are taken to stand still, as in PyTorch
        u_t = F.joined([u_t, F.zeros_of((*u_t.shape[:-1], m - k), u_t)], -1)
    if full and n > k:
        vh_t = F.joined([vh_t, F.zeros_of((*vh_t.shape[:-2], n - k, n), vh_t)], -2)
    return u_t, ps, vh_t


# ----- functions -----


@returned_as("svd")
class OldSvd(NamedTuple):
    """What :func:`svd` returns."""

    U: Tensor
    S: Tensor
    V: Tensor


@public("linalg.svd", out=True)
def linalg_svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    """``U``, ``S`` (descending) and ``Vh`` with ``A = U diag(S) Vh``, of matrices (..., m, n)."""
    floating_matrices("linalg.svd", A)
    _no_driver("linalg.svd", driver)
    return SVD(A, full_matrices, True)


def _no_driver(op_name: str, driver: str | None) -> None:
    if driver is not None:
        raise RuntimeError(
            f"torch.{op_name}: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        )


@public("linalg", out=True)
def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """Singular values, descending. Where a gradient is wanted, the vectors are computed too."""
    floating_matrices("linalg.svd", A)
    _no_driver("linalg.svd", driver)
    s: Tensor = SVD(A, False, _derived(A))[1]
    return s


def _derived(a: Tensor) -> bool:
    """Whether a gradient or tangent of what is computed from ``a`` may be wanted."""
    return bool((mode.grad and a._rg) or events.special & events.FORWARD)


@public("torch Tensor", out=True)
def svd(self: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """``U``, ``S`` and ``V`` (not its adjoint); ``U`` and ``V`` are zeros without ``compute_uv``."""
    if self.ndim < 2:
        raise shape_error(
            f"linalg.svd: input should have at least 2 dimensions, but has {self.ndim} dimensions instead"
        )
    floating_matrices("linalg.svd", self)
    if not compute_uv:
        m, n = self.shape[-2:]
        zeros = [wrap(array_module(self._a).zeros((*self.shape[:-2], k, k), self._a.dtype)) for k in (m, n)]
        return OldSvd(zeros[0], svdvals(self), zeros[1])
    u, s, vh = SVD(self, not some, True)
    return OldSvd(u, s, matrix_transpose(vh).conj())

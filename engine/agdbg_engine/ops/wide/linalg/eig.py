"""Eigenvalues and eigenvectors, of Hermitian matrices and of any."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import events
from ....backends import on_host
from ....device import array_module
from ....dtype import scalar_type
from ....several import at_home
from ....tensor import Tensor
from ...formulas import imag_part, real_part
from ..declare import formula, op, public
from ..indexing.reading import seen
from .checks import LinAlgError, floating, floating_square, is_tensor, square
from .lapack import attempted
from .parts import differences, skew
from .svd import ILL_DEFINED, _derived

FAILED = "{}: The algorithm failed to converge because the input matrix {}."
NOT_FINITE = "torch.linalg.eig: input tensor should not contain infs or NaNs."


def hermitian_decomposed(a: Any, uplo: str, compute_v: bool) -> tuple[Any, Any]:
    """Eigenvalues, and eigenvectors or nothing; :class:`LinAlgError` where they are not found."""
    try:
        if compute_v:
            values, vectors = attempted(np.linalg.eigh, a, UPLO=uplo)
            return values, vectors
        return attempted(np.linalg.eigvalsh, a, UPLO=uplo), array_module(a).empty((0,), a.dtype)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            FAILED.format("linalg.eigh", "is ill-conditioned or has too many repeated eigenvalues")
        ) from None


def _complex(dtype: Any) -> Any:
    return np.result_type(dtype, np.complex64)


def _eig(a: Any, compute_v: bool) -> tuple[Any, Any]:
    dtype = _complex(a.dtype)
    if not compute_v:
        return np.linalg.eigvals(a).astype(dtype), array_module(a).empty((0,), dtype)
    values, vectors = np.linalg.eig(a)
    return values.astype(dtype), vectors.astype(dtype)


EIGH = op("eigh_raw(A, UPLO, compute_v)", "LinalgEighBackward0", outputs="eigenvalues eigenvectors",
   A="eigh_grad(g_eigenvalues, g_eigenvectors, eigenvalues, eigenvectors)",
   jvp="eigh_tangent(A_t, eigenvalues, eigenvectors)", holomorphic=False, value=hermitian_decomposed)  # fmt: skip
EIG = op("eig_raw(self, compute_v)", "LinalgEigBackward0", outputs="eigenvalues eigenvectors",
   self="as_real(eig_grad(g_eigenvalues, g_eigenvectors, eigenvalues, eigenvectors), self_dtype)",
   jvp="eig_tangent(self_t, eigenvalues, eigenvectors)", holomorphic=False, value=_eig)  # fmt: skip


@formula
def eigh_grad(F: Any, gl: Any, gv: Any, values: Any, v: Any) -> Any:
    """Gradient of eigenvalues and eigenvectors in a Hermitian matrix."""
    if gl is None and gv is None:
        return None
    gl = None if gl is None else F.cast(gl, v.dtype)
    if gv is None:
        return F.matmul(v * gl[..., None, :], F.mH(v))
    inner = F.matmul(F.mH(v), gv)
    if v.dtype.kind == "c":
        _check_phase(F, "linalg_eigh_backward", inner)
    inner = _off_diagonal(F, 0.5 * skew(F, inner) / differences(F, values))  # so that the gradient is Hermitian
    if gl is not None:
        inner = inner + F.on_diagonal(gl)
    return F.matmul(F.matmul(v, inner), F.mH(v))


def _off_diagonal(F: Any, x: Any) -> Any:
    return x - F.on_diagonal(F.diagonal_of(x))


def _check_phase(F: Any, name: str, inner: Any) -> None:
    """Raise where a gradient changes with the phase of the eigenvectors."""
    size = imag_part(F, F.diagonal_of(inner))
    found = size._a if isinstance(size, Tensor) else size
    if on_host(found) and not np.allclose(found, 0, 1e-2, 1e-2):
        raise RuntimeError(ILL_DEFINED.format(name, "eigen", "quantity").replace("eigen vectors", "eigenvectors"))


@formula
def eigh_tangent(F: Any, a_t: Any, values: Any, v: Any) -> Any:
    """Tangents of eigenvalues and eigenvectors of a Hermitian matrix."""
    p = F.matmul(F.matmul(F.mH(v), a_t), v)
    return real_part(F, F.diagonal_of(p)), F.matmul(v, _off_diagonal(F, p / differences(F, values)))


@formula
def eig_grad(F: Any, gl: Any, gv: Any, values: Any, v: Any) -> Any:
    """Gradient of eigenvalues and eigenvectors (of norm 1) in any matrix: complex."""
    if gl is None and gv is None:
        return None
    if gv is None:
        return F.solve_only(F.mH(v), gl[..., :, None] * F.mH(v), True)
    inner = F.matmul(F.mH(v), gv)
    _check_phase(F, "linalg_eig_backward", inner)
    size = F.cast(real_part(F, F.diagonal_of(inner)), v.dtype)
    inner = inner - F.matmul(F.mH(v), v) * size[..., None, :]
    inner = _off_diagonal(F, inner / differences(F, F.conj_raw(values)))
    if gl is not None:
        inner = inner + F.on_diagonal(gl)
    return F.solve_only(F.mH(v), F.matmul(inner, F.mH(v)), True)


@formula
def eig_tangent(F: Any, a_t: Any, values: Any, v: Any) -> Any:
    """Tangents of eigenvalues and eigenvectors."""
    p = F.solve_only(v, F.matmul(F.cast(a_t, v.dtype), v), True)
    v_t = F.matmul(v, _off_diagonal(F, p / differences(F, values)))
    along = F.cast(real_part(F, F.diagonal_of(F.matmul(F.mH(v), v_t))), v.dtype)
    return F.diagonal_of(p), v_t - v * along[..., None, :]


# ----- functions -----


def _side(op_name: str, uplo: str) -> str:
    if uplo.upper() not in ("U", "L"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {uplo}")
    return uplo.upper()


@public("linalg", out=True)
def eigh(A: Tensor, UPLO: str = "L") -> Any:
    """Eigenvalues, ascending, and eigenvectors of Hermitian matrices, of which one triangle is read."""
    floating_square("linalg.eigh", A)
    return EIGH(A, _side("linalg.eigh", UPLO), True)


@public("linalg", out=True)
def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """Eigenvalues of Hermitian matrices, ascending. Where a gradient is wanted, the vectors are computed too."""
    floating_square("linalg.eigh", A)
    x: Tensor = EIGH(A, _side("linalg.eigh", UPLO), _derived(A))[0]
    return x


@at_home
def _finite(a: Tensor) -> None:
    if seen(~np.isfinite(a._a)):
        raise RuntimeError(NOT_FINITE)
    events.keep_on(events.COMPLEX)  # the result is complex even where the matrix is real


def _complex_of(op: str, A: Any) -> None:
    """Square matrices that PyTorch has complex results of."""
    is_tensor(op, "A", A)
    square(op, A)
    if A._a.dtype.kind in "biu":
        raise RuntimeError(f"Unknown Complex ScalarType for {scalar_type(A._a.dtype)}")
    floating(op, A)


@public("linalg", out=True)
def eig(A: Tensor) -> Any:
    """Eigenvalues and eigenvectors of square matrices, complex."""
    _complex_of("linalg.eig", A)
    _finite(A)
    return EIG(A, True)


@public("linalg", out=True)
def eigvals(A: Tensor) -> Tensor:
    """Eigenvalues of square matrices, complex. Where a gradient is wanted, the vectors are computed too."""
    _complex_of("linalg.eigvals", A)
    _finite(A)
    x: Tensor = EIG(A, _derived(A))[0]
    return x

"""Pseudo-inverses, ranks and least squares."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....backends import on_host
from ....device import array_module
from ....dtype import scalar_type
from ....tensor import Tensor
from ...constant_arguments import constant
from ...explain import shape_error
from ...host_only import check_place
from ...kernel_names import takes
from ...mixed_devices import together
from ...shape import expand
from ..declare import formula, op, public
from .checks import failures, floating, floating_matrices, is_tensor, matrices, one_batch, square
from .eig import hermitian_decomposed
from .least_squares import best, dependent
from .svd import decomposed

# ----- pseudo-inverse -----


def _cut(s: Any, atol: Any, rtol: Any, shape: tuple[int, int]) -> Any:
    """Up to where singular values (or sizes of eigenvalues) ``s`` count as zero."""
    if rtol is None:
        rtol = float(np.finfo(s.dtype).eps) * max(shape)
        if atol is not None:
            rtol = np.where(atol > 0, 0.0, rtol) if hasattr(atol, "shape") else 0.0 if atol > 0 else rtol
    atol = 0.0 if atol is None else atol
    largest = s.max(-1) if s.shape[-1] else array_module(s).zeros(s.shape[:-1], s.dtype)
    return np.maximum(atol, rtol * largest)


def _pinv(a: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    m, n = a.shape[-2:]
    if a.size == 0:
        return array_module(a).zeros((*a.shape[:-2], n, m), a.dtype)
    if hermitian:
        values, v = hermitian_decomposed(a, "L", True)
        size = np.abs(values)
        keep = size > _cut(size, atol, rtol, (m, n))[..., None]
        inverse = np.where(keep, 1 / np.where(keep, values, 1), 0)
        return (v * inverse[..., None, :]) @ np.conj(np.swapaxes(v, -1, -2))
    u, s, vh = decomposed(a, False, True)
    keep = s > _cut(s, atol, rtol, (m, n))[..., None]
    inverse = np.where(keep, 1 / np.where(keep, s, 1), 0)
    return (np.conj(np.swapaxes(vh, -1, -2)) * inverse[..., None, :]) @ np.conj(np.swapaxes(u, -1, -2))


def _rank(a: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    if a.size == 0:
        return array_module(a).zeros(a.shape[:-2], np.int64)
    s = np.abs(hermitian_decomposed(a, "L", False)[0]) if hermitian else decomposed(a, False, False)[1]
    return (s > _cut(s, atol, rtol, a.shape[-2:])[..., None]).sum(-1, dtype=np.int64)


RANK = op("matrix_rank_raw(self, atol, rtol, hermitian)", "NotDifferentiable", self=None, jvp="None", value=_rank)
PINV = op("pinv_raw(self, atol, rtol, hermitian)", "LinalgPinvBackward0", self="pinv_grad(g, result, self)",
   jvp="pinv_tangent(self_t, result, self)", holomorphic=False, value=_pinv)  # fmt: skip


@formula
def pinv_grad(F: Any, g: Any, inverse: Any, a: Any) -> Any:
    """Gradient of the pseudo-inverse of a matrix that keeps its rank."""
    turned, gh = F.mH(inverse), F.mH(g)
    first = F.matmul(F.matmul(turned, g), turned)
    right = F.matmul(F.matmul(gh, inverse), turned)
    left = F.matmul(turned, F.matmul(inverse, gh))
    right = right - F.matmul(a, F.matmul(inverse, right))
    left = left - F.matmul(F.matmul(left, inverse), a)
    return right + left - first


@formula
def pinv_tangent(F: Any, a_t: Any, inverse: Any, a: Any) -> Any:
    """Tangent of the pseudo-inverse."""
    ah, turned = F.mH(a_t), F.mH(inverse)
    first = F.matmul(F.matmul(inverse, a_t), inverse)
    right = F.matmul(F.matmul(inverse, turned), ah)
    left = F.matmul(F.matmul(ah, turned), inverse)
    right = right - F.matmul(F.matmul(right, a), inverse)
    left = left - F.matmul(inverse, F.matmul(a, left))
    return right + left - first


def _tolerances(op: str, atol: Any, rtol: Any) -> list[Any]:
    """Tolerances, as arrays where they are tensors."""
    for name, x in (("atol", atol), ("rtol", rtol)):
        if isinstance(x, Tensor) and x.dtype.kind == "c":
            raise RuntimeError(
                f"torch.linalg.{op}: {name} tensor of complex type is not supported. Got {scalar_type(x.dtype)}"
            )
    return [x._a if isinstance(x, Tensor) else x for x in (atol, rtol)]


@public("linalg", out=True)
def pinv(A: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Tensor:
    """Moore-Penrose inverses (..., n, m) of matrices (..., m, n); singular values up to ``max(atol, rtol * largest)`` are 0."""
    is_tensor("linalg.pinv", "A", A)
    if rcond is not None:
        rtol = rcond
    if A.ndim < 2 or A._a.dtype not in (np.float32, np.float64, np.complex64, np.complex128):
        raise RuntimeError(
            f"linalg.pinv({scalar_type(A._a.dtype)}{{{list(A.shape)}}}): expected a tensor with 2 or more dimensions of float, "
            "double, cfloat or cdouble types"
        )
    for tolerance in (atol, rtol):
        if not (
            isinstance(tolerance, Tensor) and on_host(tolerance._a) and not tolerance.ndim
        ):  # a number, which may mix
            together(A, tolerance)
    if hermitian:
        square("linalg.eigh", A)
    limits = [t if isinstance(t, Tensor) else None for t in (atol, rtol)]
    constant("linalg_pinv", atol=limits[0], rtol=limits[1])
    x: Tensor = PINV(A, *_tolerances("pinv", atol, rtol), hermitian)
    return x


@public("torch Tensor")
def pinverse(self: Tensor, rcond: float = 1e-15) -> Tensor:
    """As :func:`linalg.pinv` with another tolerance."""
    return pinv(self, rcond)


def _of_default_tolerance(x: Tensor) -> None:
    """Refuse integers and half precision in PyTorch's words of the default tolerance, which it computes first."""
    if not takes("wc", x._a.dtype):
        raise RuntimeError("This function doesn't handle types other than float and double")


@public("linalg", out=True)
def matrix_rank(A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Tensor:
    """How many singular values are above ``max(atol, rtol * largest)``; no gradient."""
    is_tensor("linalg.matrix_rank", "A", A)
    matrices("torch.linalg.matrix_rank", A, "input")
    if tol is None and rtol is None:
        _of_default_tolerance(A)
    floating("linalg.eigh" if hermitian else "linalg.svd", A)
    if hermitian:
        square("linalg.eigh", A)
    if tol is not None:
        atol, rtol = tol, 0.0
    x: Tensor = RANK(A, *_tolerances("matrix_rank", atol, rtol), hermitian)
    return x


# ----- least squares -----

DEPENDENT = (
    "The least squares solution could not be computed because the input matrix does not have full rank (error code: "
    "{info})."
)


def _lstsq(a: Any, b: Any, rcond: Any, driver: str) -> tuple[Any, Any, Any, Any]:
    """Solution, residuals, rank and singular values."""
    check_place("lstsq_raw", a)
    (m, n), batch = a.shape[-2:], np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    if driver == "gels":
        failures("torch.linalg.lstsq", np.broadcast_to(dependent(a), batch), DEPENDENT)
        rcond = 0.0  # no singular value is too small
    solution, rank, s = best(a, b, rcond, driver)
    real = a.real.dtype
    residuals = np.zeros(0, real)
    if m > n and driver != "gelsy" and a.size and (driver == "gels" or (rank == n).all()):
        residuals = np.square(np.abs(np.matmul(a, solution) - b)).sum(-2)
    if driver == "gels":
        rank = np.zeros(0, np.int64)
    return solution, residuals, rank, s.astype(real) if driver in ("gelss", "gelsd") else np.zeros(0, real)


LSTSQ = op("lstsq_raw(self, b, rcond, driver)", "LinalgLstsqBackward0", outputs="solution residuals *rank *singular_values",
   self="lstsq_matrix_grad(g_solution, g_residuals, self, b, solution)",
   b="lstsq_rhs_grad(g_solution, g_residuals, self, b, solution)",
   jvp="lstsq_tangent(self, b, solution, residuals, self_t, b_t)", holomorphic=False, value=_lstsq)  # fmt: skip


def _inverse(F: Any, a: Any) -> Any:
    return F.pinv_raw(a, None, None, False)


@formula
def lstsq_matrix_grad(F: Any, gx: Any, gr: Any, a: Any, b: Any, x: Any) -> Any:
    """Gradient of solution and residuals in A."""
    out = None
    if gx is not None:
        out = pinv_grad(F, F.matmul(gx, F.mH(b)), _inverse(F, a), a)
    if _has_elements(gr):
        rest = 2 * gr[..., None, :] * (F.matmul(a, x) - b)
        part = F.matmul(rest, F.mH(x))
        out = part if out is None else out + part
    return None if out is None else F.sum_to(out, a.shape)


@formula
def lstsq_rhs_grad(F: Any, gx: Any, gr: Any, a: Any, b: Any, x: Any) -> Any:
    """Gradient of solution and residuals in B."""
    out = None
    if gx is not None:
        out = F.matmul(F.mH(_inverse(F, a)), gx)
    if _has_elements(gr):
        part = 2 * gr[..., None, :] * (b - F.matmul(a, x))
        out = part if out is None else out + part
    return None if out is None else F.sum_to(out, b.shape)


def _has_elements(g: Any) -> bool:
    return g is not None and math.prod(g.shape) > 0


@formula
def lstsq_tangent(F: Any, a: Any, b: Any, x: Any, residuals: Any, a_t: Any, b_t: Any) -> Any:
    """Tangents of solution and residuals."""
    from ...formulas import inner

    inverse = _inverse(F, a)
    x_t = F.matmul(pinv_tangent(F, a_t, inverse, a), b) + F.matmul(inverse, b_t)
    if not math.prod(residuals.shape):
        return x_t, F.zeros_of(residuals.shape, residuals), None, None
    off, off_t = F.matmul(a, x) - b, F.matmul(a_t, x) - b_t
    return x_t, 2 * F.sum_dim(inner(F, off_t, off), -2, False), None, None


DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@public("linalg", out=True)
def lstsq(self: Tensor, b: Tensor, rcond: Any = None, *, driver: str | None = None) -> Any:
    """X that makes ``A X - B`` smallest: ``(solution, residuals, rank, singular_values)``, the last three where computed.

    ``gels`` raises :class:`LinAlgError` where A does not have full rank to rounding (and is not all zeros). The gradient is
    that of ``pinv(A) @ B``.
    """
    name = "torch.linalg.lstsq"
    is_tensor("linalg.lstsq", "input", self)
    is_tensor("linalg.lstsq", "b", b, 2)
    if self.ndim < 2:
        raise shape_error(f"{name}: input must have at least 2 dimensions.")
    if b.ndim < 1:
        raise shape_error(f"{name}: other must have at least 1 dimension.")
    if not 0 <= self.ndim - b.ndim <= 1:
        raise shape_error(
            f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1"
        )
    if rcond is None:
        _of_default_tolerance(self)
    if self._a.dtype.kind not in "fc":
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {scalar_type(self.dtype)}"
        )
    if self._a.dtype != b._a.dtype:
        a, b_type = scalar_type(self.dtype), scalar_type(b.dtype)
        raise RuntimeError(
            f"{name}: Expected input and other to have the same dtype, but got input's dtype {a} and other's dtype {b_type}"
        )
    if driver is not None and driver not in DRIVERS:
        raise RuntimeError(f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    vector = b.ndim == 1 or self.shape[:-1] == b.shape
    rhs = b[..., None] if vector else b
    if rhs.shape[-2] != self.shape[-2]:
        raise shape_error(f"{name}: input.size(-2) should match other.size({-1 if vector else -2})")
    batch = one_batch(name, self.shape[:-2], b.shape[: self.ndim - 2])
    if not vector and b.ndim < self.ndim:  # one matrix, whose rows PyTorch has taken for a batch
        rhs = expand(rhs, *batch, *rhs.shape[-2:])
    floating_matrices("linalg.lstsq", self)
    if rcond is None:
        rcond = float(np.finfo(self._a.dtype).eps) * max(self.shape[-2:])
    elif isinstance(rcond, Tensor):
        rcond = float(rcond.item())
    found = LSTSQ(self, rhs, rcond, driver or "gelsy")
    return found._replace(solution=found.solution[..., 0]) if vector else found

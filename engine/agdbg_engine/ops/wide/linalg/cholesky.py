"""Cholesky factors, and what is solved with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....backends import on_host
from ....device import array_module
from ....tensor import Tensor
from ...explain import shape_error
from ...mixed_devices import together
from ..declare import formula, op, public
from .checks import (
    SINGULAR,
    both_of_dtype,
    failures,
    floating,
    floating_square,
    is_tensor,
    old_square,
    one_batch,
    square,
)
from .lapack import attempted, each, routines, triangular
from .parts import halved_diagonal

NOT_POSITIVE = (
    "The factorization could not be completed because the input is not positive-definite (the leading minor of order {info} is "
    "not positive-definite)."
)


def _cholesky(a: Any, upper: bool) -> tuple[Any, Any]:
    """Factors, and LAPACK's ``info``; a matrix that has none is factored as far as it goes."""
    if not on_host(a):
        return _cholesky_on_device(a, upper)
    try:
        found = np.linalg.cholesky(a, upper=upper)
        return found, _first_nan(found)
    except np.linalg.LinAlgError:
        (potrf,) = routines(("potrf",), a)
        factor, info = each(lambda m: potrf(m, lower=not upper, clean=True), a)
        return factor, info.astype(np.int32)


def _first_nan(factor: Any) -> Any:
    """Where on the diagonal the first NaN is, from 1: no positive number, though some libraries say nothing of it."""
    nan = np.isnan(np.diagonal(factor, 0, -2, -1))
    first = nan.argmax(-1) + 1 if nan.shape[-1] else 0
    return np.where(nan.any(-1), first, 0).astype(np.int32)


def _cholesky_on_device(a: Any, upper: bool) -> tuple[Any, Any]:
    """As :func:`_cholesky`: of a device's library, which reads the lower triangle."""
    if not a.size:
        return a.copy(), array_module(a).zeros(a.shape[:-2], np.int32)
    turned = np.conj(np.swapaxes(a, -1, -2)) if upper else a
    try:
        low = attempted(np.linalg.cholesky, turned)
        info = _first_nan(low)
    except np.linalg.LinAlgError:
        low, info = _by_columns(turned)
    return np.conj(np.swapaxes(low, -1, -2)) if upper else low, info


def _by_columns(a: Any) -> tuple[Any, Any]:
    """Lower factors of all matrices, column by column, and ``info``: from there on the columns are those of the matrix."""
    low, info = np.tril(a), array_module(a).zeros(a.shape[:-2], np.int32)
    with np.errstate(all="ignore"):
        for j in range(a.shape[-1]):
            row = low[..., j, :j]
            pivot = low[..., j, j].real - np.square(np.abs(row)).sum(-1)
            good = (info == 0) & (pivot > 0)
            info = np.where(good | (info != 0), info, np.int32(j + 1))
            root = np.sqrt(np.where(good, pivot, 1))
            below = low[..., j + 1 :, j] - np.matmul(low[..., j + 1 :, :j], np.conj(row)[..., None])[..., 0]
            low[..., j, j] = np.where(good, root, low[..., j, j])
            low[..., j + 1 :, j] = np.where(good[..., None], below / root[..., None], low[..., j + 1 :, j])
    return low, info


def _checked(a: Any, upper: bool) -> Any:
    factor, info = _cholesky(a, upper)
    failures("cholesky", info, NOT_POSITIVE)
    return factor


CHOLESKY = op("cholesky_ex_raw(self, upper)", "LinalgCholeskyExBackward0", outputs="L *info",
   self="cholesky_grad(g, L, upper)", jvp="(cholesky_tangent(self_t, L, upper), None)", holomorphic=False,
   value=_cholesky)  # fmt: skip
OLD = op("cholesky_raw(self, upper)", "CholeskyBackward0", self="cholesky_grad(g, result, upper)",
   jvp="cholesky_tangent(self_t, result, upper)", holomorphic=False, value=_checked)  # fmt: skip


@formula
def cholesky_grad(F: Any, g: Any, factor: Any, upper: bool) -> Any:
    """Gradient in the matrix: Hermitian."""
    low, g = (F.mH(factor), F.mH(g)) if upper else (factor, g)
    phi = F.lower(F.matmul(F.mH(low), g), 0)
    phi = 0.5 * (phi + F.mH(F.lower(phi, -1)))
    phi = F.solve_triangular_raw(F.mH(low), phi, True, True, False)
    return F.solve_triangular_raw(low, phi, False, False, False)


@formula
def cholesky_tangent(F: Any, a_t: Any, factor: Any, upper: bool) -> Any:
    """Tangent of the factor."""
    low = F.mH(factor) if upper else factor
    inner = F.solve_triangular_raw(low, a_t, False, True, False)
    inner = F.solve_triangular_raw(F.mH(low), inner, True, False, False)
    low_t = F.matmul(low, halved_diagonal(F, F.lower(inner, 0)))
    return F.mH(low_t) if upper else low_t


# ----- functions -----


@public("linalg", out=True)
def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """Triangular factors ``L`` with ``A = L L^H`` (``L^H L`` if ``upper``), and LAPACK's ``info`` of each."""
    floating_square("linalg.cholesky", A)
    found = CHOLESKY(A, upper)
    if check_errors:
        failures("linalg.cholesky_ex", found.info._a, NOT_POSITIVE)
    return found


@public("linalg.cholesky", out=True)
def linalg_cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """Triangular factors, see :func:`cholesky_ex`; :class:`LinAlgError` for a matrix that is not positive definite."""
    found = cholesky_ex(A, upper=upper)
    failures("linalg.cholesky", found.info._a, NOT_POSITIVE)
    x: Tensor = found.L
    return x


@public("torch Tensor", out=True)
def cholesky(self: Tensor, upper: bool = False) -> Tensor:
    """The older form of :func:`linalg.cholesky`."""
    square("cholesky", self)
    floating("cholesky", self)
    x: Tensor = OLD(self, upper)
    return x


# ----- with the factor given -----


def _inverse(low: Any, upper: bool) -> Any:
    zero = np.diagonal(low, 0, -2, -1) == 0
    first = zero.argmax(-1) + 1 if zero.shape[-1] else 0
    failures("cholesky_inverse", np.where(zero.any(-1), first, 0), SINGULAR)  # on a device PyTorch waits for it, too
    return _solved(np.broadcast_to(array_module(low).eye(low.shape[-1], dtype=low.dtype), low.shape), low, upper)


def _solved(b: Any, low: Any, upper: bool) -> Any:
    turned = np.conj(np.swapaxes(low, -1, -2))
    first, second = (turned, low) if upper else (low, turned)
    return triangular(second, triangular(first, b, False, True, False), True, True, False)


INVERSE = op("cholesky_inverse_raw(self, upper)", "CholeskyInverseBackward0",
   self="cholesky_inverse_grad(g, self, result, upper)", jvp="cholesky_inverse_tangent(self, self_t, result, upper)",
   holomorphic=False, value=_inverse)  # fmt: skip
SOLVE = op("cholesky_solve_raw(self, input2, upper)", "CholeskySolveBackward0",
   self="sum_to(cholesky_solve_raw(g, input2, upper), self_shape)",
   input2="cholesky_solve_grad(g, input2, result, upper)",
   jvp="cholesky_solve_raw(self_t - matmul(factored_tangent(input2, input2_t, upper), result), input2, upper)",
   holomorphic=False, value=_solved)  # fmt: skip


@formula
def factored_tangent(F: Any, low: Any, low_t: Any, upper: bool) -> Any:
    """Tangent of the matrix of which ``low`` is a factor."""
    half = F.matmul(F.mH(low_t), low) if upper else F.matmul(low_t, F.mH(low))
    return half + F.mH(half)


@formula
def cholesky_inverse_grad(F: Any, g: Any, low: Any, inverse: Any, upper: bool) -> Any:
    """Gradient of the inverse in the factor."""
    inner = F.matmul(F.matmul(inverse, g + F.mH(g)), inverse)
    return -(F.matmul(low, inner) if upper else F.matmul(inner, low))


@formula
def cholesky_inverse_tangent(F: Any, low: Any, low_t: Any, inverse: Any, upper: bool) -> Any:
    """Tangent of the inverse."""
    if not upper:
        low, low_t = F.mH(low), F.mH(low_t)
    half = F.matmul(F.matmul(F.matmul(inverse, F.mH(low_t)), low), inverse)  # from the left: less is lost to rounding
    return -(half + F.mH(half))


@formula
def cholesky_solve_grad(F: Any, g: Any, low: Any, x: Any, upper: bool) -> Any:
    """Gradient of the solution ``x`` in the factor."""
    half = F.matmul(F.cholesky_solve_raw(g, low, upper), F.mH(x))
    inner = half + F.mH(half)
    return F.sum_to(-(F.matmul(low, inner) if upper else F.matmul(inner, low)), low.shape)


@public("torch Tensor", out=True)
def cholesky_inverse(self: Tensor, upper: bool = False) -> Tensor:
    """The inverse of the matrix whose Cholesky factor is given; :class:`LinAlgError` for a zero on its diagonal."""
    square("cholesky_inverse", self)
    floating("cholesky_inverse", self)
    x: Tensor = INVERSE(self, upper)
    return x


@public("torch Tensor", out=True)
def cholesky_solve(self: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """X of ``A X = B`` for B = ``self`` and A given by its Cholesky factor."""
    is_tensor("cholesky_solve", "input2", input2, 2)
    for name, x in (("b", self), ("u", input2)):
        if x.ndim < 2:
            raise shape_error(f"{name} should have at least 2 dimensions, but has {x.ndim} dimensions instead")
    together(self, input2, "Expected b and A to be on the same device, but found b on {0} and A on {1} instead.")
    both_of_dtype(self, input2)
    old_square(input2)
    if input2.shape[-1] != self.shape[-2]:
        n, k = input2.shape[-1], self.shape[-2]
        raise shape_error(
            f"Incompatible matrix sizes for cholesky_solve: each A matrix is {n} by {n} but each b matrix is {k} by "
            f"{self.shape[-1]}"
        )
    floating("cholesky_solve", self)
    one_batch("cholesky_solve", self.shape[:-2], input2.shape[:-2])
    solution: Tensor = SOLVE(self, input2, upper)
    return solution

"""Inverses and linear systems."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ....backends import on_host
from ....device import array_module
from ....tensor import Tensor
from ...complexes import matrix_adjoint
from ...explain import shape_error
from ...returned import returned_as
from ..declare import formula, in_both, kernel, op, public
from .checks import (
    SINGULAR,
    failures,
    floating,
    floating_square,
    is_tensor,
    matrices,
    multiplied,
    one_batch,
    same_dtype,
    square,
)
from .lapack import attempted, factored, routines, solved

UNSOLVABLE = "The solver failed because the input matrix is singular."

# ----- kernels -----


@kernel
def inv_raw(a: Any) -> tuple[Any, Any]:
    """Inverses, and LAPACK's ``info``: 0, or which diagonal element is zero (that inverse is then meaningless)."""
    if not a.size:
        return a.copy(), array_module(a).zeros(a.shape[:-2], np.int32)
    given, a = a, _unmistakable(a)
    try:
        inverse = _column_major(lambda m: attempted(np.linalg.inv, m), a)
        return _all_nan(inverse, given), array_module(a).zeros(a.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        xp, info = array_module(a), factored(a)[2]
        singular = (info != 0)[..., None, None]
        inverse = np.linalg.inv(np.where(singular, xp.eye(a.shape[-1], dtype=a.dtype), a))
        return _all_nan(np.where(singular, xp.full((), np.inf, a.dtype), inverse), given), info


def _all_nan(x: Any, a: Any) -> Any:
    """``x`` computed of the matrices ``a``, all NaN where its matrix has one anywhere.

    So it is in PyTorch; of other LAPACKs some columns or elements come out as numbers.
    """
    nan = np.isnan(a).any((-2, -1))
    if on_host(a) and not nan.any():
        return x
    value = complex(np.nan, np.nan) if x.dtype.kind == "c" else np.nan
    return np.where(nan[..., None, None], array_module(a).full((), value, x.dtype), x)


def _unmistakable(a: Any) -> Any:
    """``a`` with units for complex matrices that have a NaN, some of which OpenBLAS calls singular and PyTorch does not."""
    if not on_host(a) or a.dtype.kind != "c" or not (nan := np.isnan(a).any((-2, -1))).any():
        return a
    return np.where(nan[..., None, None], np.eye(a.shape[-1], dtype=a.dtype), a)


def _column_major(inverse: Any, a: Any) -> Any:
    """The inverse, laid out column by column as LAPACK leaves it and so PyTorch."""
    return np.swapaxes(inverse(np.swapaxes(a, -1, -2)), -1, -2)


@kernel
def solve_raw(a: Any, b: Any, left: bool = True) -> tuple[Any, Any, Any, Any]:
    """X of ``a X = b`` or ``X a = b``, a vector or batch of vectors ``b`` as columns; and LAPACK's ``info``.

    Of a single matrix also the factors and pivots, which the gradient can use again.
    """
    vector = is_vector(a.shape, b.shape)
    rhs = b[..., None] if vector else b
    none = array_module(a).empty((0,), a.dtype)
    if a.ndim == rhs.ndim == 2 and a.size and rhs.size and isinstance(a, np.ndarray):
        lu, pivots, info = routines(("getrf",), a)[0](_unmistakable(a))
        lu = _all_nan(lu, a)
        pivots = pivots + np.int32(1)  # as LAPACK and PyTorch count
        x = solved_again(a, lu, pivots, rhs, left, adjoint=False)
        return (x[..., 0] if vector else x), lu, pivots, np.asarray(info, np.int32)
    info = array_module(a).zeros(a.shape[:-2], np.int32)
    try:
        x = _solved(_unmistakable(a), rhs, left, functools.partial(attempted, np.linalg.solve))
    except np.linalg.LinAlgError:
        x, info = _solved_anyway(_unmistakable(a), rhs, left)
    x = _all_nan(x, a)
    return (x[..., 0] if vector else x), none, none, info


def solved_again(a: Any, lu: Any, pivots: Any, b: Any, left: bool, adjoint: bool = True) -> Any:
    """X of ``a^H X = b`` or ``X a^H = b`` (or with ``a`` itself), by the factors of ``a`` where there are any."""
    if lu.ndim != 2:
        return _solution(np.conj(np.swapaxes(a, -1, -2)), b, left)
    (getrs,) = routines(("getrs",), lu)
    pivots = pivots - 1
    if left:
        return getrs(lu, pivots, b, trans=2 if adjoint else 0)[0]
    return getrs(lu, pivots, b.conj().T, trans=0 if adjoint else 2)[0].conj().T


def _solution(a: Any, b: Any, left: bool) -> Any:
    """As :func:`solve_raw` gives it, where nobody is to be told of singular matrices: a device is not waited for."""
    if on_host(a):
        return solve_raw(a, b, left)[0]
    vector = is_vector(a.shape, b.shape)
    x = _all_nan(_solved(a, b[..., None] if vector else b, left, np.linalg.solve), a)
    return x[..., 0] if vector else x


def _solved(a: Any, b: Any, left: bool, solve: Callable[[Any, Any], Any]) -> Any:
    if not (a.size and b.size):
        return array_module(b).zeros((*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *b.shape[-2:]), b.dtype)
    if not on_host(a) and a.shape[:-2] != b.shape[:-2]:  # CuPy's broadcasts nothing
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a, b = np.broadcast_to(a, (*batch, *a.shape[-2:])), np.broadcast_to(b, (*batch, *b.shape[-2:]))
    if left:
        return solve(a, b)
    return np.swapaxes(solve(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)), -1, -2)


def _solved_anyway(a: Any, b: Any, left: bool) -> tuple[Any, Any]:
    """As :func:`_solved` with infinities or NaN for singular matrices."""
    if not left:
        a, b = np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)
    lu, pivots, info = factored(a)
    x = solved(lu, pivots, b, False)
    return (x if left else np.swapaxes(x, -1, -2)), info


def is_vector(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether ``b`` in ``a x = b`` is a vector or a batch of vectors."""
    return len(b) == 1 or (len(a) - 1 == len(b) and a[:-1] == b)


# ----- rows -----

INV = op("inv_raw(A)", "LinalgInvExBackward0", outputs="inverse *info", A="-matmul(matmul(mH(inverse), g), mH(inverse))",
   jvp="(-matmul(matmul(inverse, A_t), inverse), None)", holomorphic=False)  # fmt: skip
SOLVE = op("solve_raw(A, B, left=True)", "LinalgSolveExBackward0", outputs="result *LU *pivots *info",
   A="solve_matrix_grad(g, A, LU, pivots, result, B_shape, left)", B="solve_rhs_grad(g, A, LU, pivots, B_shape, left)",
   jvp="(solve_tangent(A, B, result, A_t, B_t, left), None, None, None)", holomorphic=False)  # fmt: skip

in_both("solve_only", _solution, lambda a, b, left: SOLVE(a, b, left)[0])
in_both("solve_adjoint", solved_again, lambda a, lu, pivots, b, left: _solve_or_refuse(matrix_adjoint(a), b, left))
in_both("solve_or_refuse", _solution, lambda a, b, left: _solve_or_refuse(a, b, left))


@formula
def solve_rhs_grad(F: Any, g: Any, a: Any, lu: Any, pivots: Any, b_shape: Any, left: bool) -> Any:
    """Gradient of the solution in B."""
    return F.sum_to(_solve_adjoint(F, a, lu, pivots, g, b_shape, left), b_shape)


def _solve_or_refuse(a: Tensor, b: Tensor, left: bool) -> Tensor:
    """A gradient that is recorded is one by :func:`solve`, in PyTorch, which refuses singular matrices."""
    x: Tensor
    x, _, _, info = SOLVE(a, b, left)
    failures("torch.linalg.solve", info._a, UNSOLVABLE)
    return x


def _solve_adjoint(F: Any, a: Any, lu: Any, pivots: Any, g: Any, b_shape: Any, left: bool) -> Any:
    if is_vector(a.shape, b_shape):
        return F.solve_adjoint(a, lu, pivots, g[..., None], True)[..., 0]
    return F.solve_adjoint(a, lu, pivots, g, left)


@formula
def solve_matrix_grad(F: Any, g: Any, a: Any, lu: Any, pivots: Any, x: Any, b_shape: Any, left: bool) -> Any:
    """Gradient of the solution ``x`` in A."""
    gb = _solve_adjoint(F, a, lu, pivots, g, b_shape, left)
    if is_vector(a.shape, b_shape):
        gb, x = gb[..., None], x[..., None]
    return F.sum_to(-(F.matmul(gb, F.mH(x)) if left else F.matmul(F.mH(x), gb)), a.shape)


@formula
def solve_tangent(F: Any, a: Any, b: Any, x: Any, a_t: Any, b_t: Any, left: bool) -> Any:
    """Tangent of the solution."""
    if is_vector(a.shape, b.shape):
        return F.solve_only(a, b_t[..., None] - F.matmul(a_t, x[..., None]), True)[..., 0]
    return F.solve_only(a, b_t - (F.matmul(a_t, x) if left else F.matmul(x, a_t)), left)


# ----- functions -----


@public("linalg", out=True)
def inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """Inverses of square matrices (..., n, n), and LAPACK's ``info`` of each."""
    floating_square("linalg.inv", A)
    found = INV(A)
    if check_errors:
        failures("linalg.inv_ex", found.info._a, SINGULAR)
    return found


@public("linalg", out=True)
def inv(A: Tensor) -> Tensor:
    """Inverses of square matrices (..., n, n); :class:`LinAlgError` for a singular one."""
    found = inv_ex(A)
    failures("linalg.inv", found.info._a, SINGULAR)
    x: Tensor = found.inverse
    return x


@public("torch Tensor", out=True)
def inverse(self: Tensor) -> Tensor:
    """As :func:`linalg.inv`."""
    return inv(self)


@returned_as("linalg_solve_ex")
class Solved(NamedTuple):
    """X, and LAPACK's ``info`` of each matrix."""

    result: Tensor
    info: Tensor


@public("linalg", out=True)
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """X of ``A X = B`` (or ``X A = B``) for square matrices, and LAPACK's ``info`` of each.

    B holds matrices (..., n, k), or vectors (n,) or (..., n) where that is the shape of A without its last dimension.
    """
    is_tensor("linalg.solve", "A", A)
    is_tensor("linalg.solve", "B", B, 2)
    square("linalg.solve", A)
    floating("linalg.solve", A)
    vector = is_vector(A.shape, B.shape)
    if vector and not left:
        (m, n), k = A.shape[-2:], B.shape[-1]
        raise shape_error(f"linalg.solve: Incompatible shapes of A and B for the equation XA = B ({m}x{n} and {k}x1)")
    same_dtype("linalg.solve", A, B)
    if not vector:
        matrices("linalg.solve", B, "B")
        multiplied("linalg.solve", A, B, left)
        one_batch("linalg.solve", B.shape[:-2], A.shape[:-2])
    elif B.shape[-1] != A.shape[-1]:
        raise shape_error(
            f"linalg.solve: Incompatible shapes of A and B for the equation AX = B ({A.shape[-2]}x{A.shape[-1]} and "
            f"{B.shape[-1]}x1)"
        )
    found = SOLVE(A, B, left)
    if check_errors:
        failures("torch.linalg.solve_ex", found.info._a, UNSOLVABLE)
    return Solved(found.result, found.info)


@public("linalg", out=True)
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """X of ``A X = B`` (or ``X A = B``), see :func:`solve_ex`; :class:`LinAlgError` for a singular A."""
    found = solve_ex(A, B, left=left)
    failures("torch.linalg.solve", found.info._a, UNSOLVABLE)
    x: Tensor = found.result
    return x

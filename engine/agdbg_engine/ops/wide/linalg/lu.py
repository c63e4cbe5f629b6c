"""LU factors, and systems solved with them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....backends import on_host
from ....device import array_module
from ....tensor import Tensor, wrap
from ...explain import shape_error
from ...mixed_devices import refuse_apart
from ...returned import returned_as
from ..declare import formula, in_both, op, public
from .checks import (
    failures,
    floating,
    is_tensor,
    matrices,
    multiplied,
    one_batch,
    same_dtype,
    square,
)
from .lapack import factored, permutation, solved

ZERO = (
    "U[{info},{info}] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the "
    "factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
)
NO_PIVOT = "linalg.lu_factor: LU without pivoting is not implemented on the CPU"

# ----- kernels -----


def _matrix_of(rows: Any, dtype: Any) -> Any:
    """P with ``A = P L U``."""
    m = rows.shape[-1]
    out = array_module(rows).zeros((*rows.shape, m), dtype)
    np.put_along_axis(out, rows[..., None, :], 1, -2)
    return out


def _unpacked(lu: Any, k: int) -> tuple[Any, Any]:
    m = lu.shape[-2]
    low, up = np.tril(lu[..., :, :k], -1), np.triu(lu[..., :k, :])
    places = array_module(lu).arange(min(m, k))
    low[..., places, places] = 1
    return low, up


def _lu(a: Any, pivot: bool) -> tuple[Any, Any, Any]:
    lu, pivots, _ = factored(a)
    low, up = _unpacked(lu, min(a.shape[-2:]))
    return _matrix_of(permutation(pivots, a.shape[-2]), a.dtype), low, up


def _unpack(lu: Any, pivots: Any) -> tuple[Any, Any, Any]:
    low, up = _unpacked(lu, min(lu.shape[-2:]))
    return _matrix_of(permutation(pivots, lu.shape[-2]), lu.dtype), low, up


def _solve(lu: Any, pivots: Any, b: Any, left: bool, adjoint: bool) -> Any:
    """X of ``A X = B`` (``X A = B``, or with the adjoint of A)."""
    if left:
        return solved(lu, pivots, b, adjoint)
    return np.conj(np.swapaxes(solved(lu, pivots, np.conj(np.swapaxes(b, -1, -2)), not adjoint), -1, -2))


in_both(
    "permutation_of",
    lambda pivots, like: _matrix_of(permutation(pivots, like.shape[-2]), like.dtype),
    lambda pivots, like: wrap(_matrix_of(permutation(pivots._a, like.shape[-2]), like._a.dtype)),
)

# ----- rows -----

LU = op("lu_raw(A, pivot)", "LinalgLuBackward0", outputs="*P L U", A="lu_grad(g_L, g_U, P, L, U)",
   jvp="lu_tangent(A_t, P, L, U)", holomorphic=False, value=_lu)  # fmt: skip
FACTOR = op("lu_factor_ex_raw(A, pivot)", "LinalgLuFactorExBackward0", outputs="LU *pivots *info",
   A="lu_factor_grad(g, LU, pivots)", jvp="lu_factor_tangent(A_t, LU, pivots)", holomorphic=False,
   value=lambda a, pivot: factored(a))  # fmt: skip
UNPACK = op("lu_unpack_raw(LU_data, LU_pivots)", "LuUnpackBackward0", outputs="*P L U", LU_pivots=None,
   LU_data="lu_unpack_grad(g_L, g_U, LU_data_shape)", jvp="lu_unpack_tangent(LU_data_t)", holomorphic=False,
   value=_unpack)  # fmt: skip
SOLVE = op("lu_solve_raw(LU, pivots, B, left, adjoint)", "LinalgLuSolveBackward0", pivots=None,
   LU="lu_solve_matrix_grad(g, LU, pivots, result, left, adjoint)",
   B="sum_to(lu_solve_raw(LU, pivots, g, left, not adjoint), B_shape)",
   jvp="lu_solve_tangent(LU, pivots, result, LU_t, B_t, left, adjoint)", holomorphic=False, value=_solve)  # fmt: skip


@formula
def lu_grad(F: Any, gl: Any, gu: Any, p: Any, low: Any, up: Any) -> Any:
    """Gradient of L and U in the matrix."""
    if gl is None and gu is None:
        return None
    m, n = low.shape[-2], up.shape[-1]
    k = min(m, n)
    l1, u1 = low[..., :k, :], up[..., :, :k]
    left, right, rest = None, None, None
    if gl is not None:
        left = F.matmul(F.mH(l1), gl[..., :k, :])
    if gu is not None:
        right = F.matmul(gu[..., :, :k], F.mH(u1))
    if n > m:
        rest = F.zeros_of((*up.shape[:-1], n - m), up)
        if gu is not None:
            rest = F.solve_triangular_raw(F.mH(l1), gu[..., :, m:], True, True, True)
            part = -F.matmul(gu[..., :, m:], F.mH(up[..., :, m:]))
            left = part if left is None else left + part
    if m > n:
        rest = F.zeros_of((*low.shape[:-2], m - n, n), low)
        if gl is not None:
            rest = F.solve_triangular_raw(F.mH(u1), gl[..., n:, :], False, False, False)
            part = -F.matmul(F.mH(low[..., n:, :]), gl[..., n:, :])
            right = part if right is None else right + part
    inner = F.zeros_of(l1.shape, l1) if left is None else F.lower(left, -1)
    if right is not None:
        inner = inner + F.upper(right, 0)
    inner = F.solve_triangular_raw(F.mH(l1), inner, True, True, True)
    inner = F.solve_triangular_raw(F.mH(u1), inner, False, False, False)
    if rest is not None:
        inner = F.joined([inner, rest], -1 if n > m else -2)
    return F.matmul(p, inner)


@formula
def lu_tangent(F: Any, a_t: Any, p: Any, low: Any, up: Any) -> Any:
    """Tangents of L and U."""
    m, n = a_t.shape[-2:]
    k = min(m, n)
    l1, u1, a_t = low[..., :k, :], up[..., :, :k], F.matmul(F.mT(p), a_t)
    inner = F.solve_triangular_raw(l1, a_t[..., :k, :k], False, True, True)
    inner = F.solve_triangular_raw(u1, inner, True, False, False)
    l_t, u_t = F.matmul(l1, F.lower(inner, -1)), F.matmul(F.upper(inner, 0), u1)
    if n > m:
        right = a_t[..., :, m:] - F.matmul(l_t, up[..., :, m:])
        u_t = F.joined([u_t, F.solve_triangular_raw(l1, right, False, True, True)], -1)
    if m > n:
        below = a_t[..., n:, :] - F.matmul(low[..., n:, :], u_t)
        l_t = F.joined([l_t, F.solve_triangular_raw(u1, below, True, False, False)], -2)
    return None, l_t, u_t


def _parts(F: Any, lu: Any) -> tuple[Any, Any]:
    """L and U of their packed form."""
    k = min(lu.shape[-2:])
    low = F.lower(lu[..., :, :k], -1)
    square = low[..., :k, :] + F.eye_as(low)
    return (square if lu.shape[-2] == k else F.joined([square, low[..., k:, :]], -2)), F.upper(lu[..., :k, :], 0)


def _packed(F: Any, low: Any, up: Any) -> Any:
    """The packed form of (gradients of) L and U: without the diagonal of L."""
    m, n = low.shape[-2], up.shape[-1]
    low, up = F.lower(low, -1), F.upper(up, 0)
    if n > m:
        low = F.joined([low, F.zeros_of((*low.shape[:-1], n - m), low)], -1)
    if m > n:
        up = F.joined([up, F.zeros_of((*up.shape[:-2], m - n, n), up)], -2)
    return low + up


@formula
def lu_factor_grad(F: Any, g: Any, lu: Any, pivots: Any) -> Any:
    """Gradient of the packed factors in the matrix."""
    k = min(lu.shape[-2:])
    low, up = _parts(F, lu)
    gl, gu = F.lower(g[..., :, :k], -1), F.upper(g[..., :k, :], 0)
    return lu_grad(F, gl, gu, F.permutation_of(pivots, lu), low, up)


@formula
def lu_factor_tangent(F: Any, a_t: Any, lu: Any, pivots: Any) -> Any:
    """Tangent of the packed factors."""
    _, l_t, u_t = lu_tangent(F, a_t, F.permutation_of(pivots, lu), *_parts(F, lu))
    return _packed(F, l_t, u_t), None, None


@formula
def lu_unpack_grad(F: Any, gl: Any, gu: Any, shape: Any) -> Any:
    """Gradient of L and U in their packed form."""
    m, n = shape[-2:]
    k = min(m, n)
    if gl is None and gu is None:
        return None
    like = gu if gl is None else gl
    gl = F.zeros_of((*shape[:-2], m, k), like) if gl is None else gl
    gu = F.zeros_of((*shape[:-2], k, n), like) if gu is None else gu
    return _packed(F, gl, gu)


@formula
def lu_unpack_tangent(F: Any, lu_t: Any) -> Any:
    """Tangents of L and U."""
    k = min(lu_t.shape[-2:])
    return None, F.lower(lu_t[..., :, :k], -1), F.upper(lu_t[..., :k, :], 0)


@formula
def lu_solve_matrix_grad(F: Any, g: Any, lu: Any, pivots: Any, x: Any, left: bool, adjoint: bool) -> Any:
    """Gradient of the solution ``x`` in the packed factors."""
    gb = F.lu_solve_raw(lu, pivots, g, left, not adjoint)
    ga = F.matmul(gb, F.mH(x)) if left else F.matmul(F.mH(x), gb)
    ga = -(F.mH(ga) if adjoint else ga)
    low, up = _parts(F, lu)
    inner = F.matmul(F.mT(F.permutation_of(pivots, lu)), ga)
    return F.sum_to(_packed(F, F.matmul(inner, F.mH(up)), F.matmul(F.mH(low), inner)), lu.shape)


@formula
def lu_solve_tangent(F: Any, lu: Any, pivots: Any, x: Any, lu_t: Any, b_t: Any, left: bool, adjoint: bool) -> Any:
    """Tangent of the solution."""
    low, up = _parts(F, lu)
    l_t, u_t = F.lower(lu_t, -1), F.upper(lu_t, 0)
    a_t = F.matmul(F.permutation_of(pivots, lu), F.matmul(l_t, up) + F.matmul(low, u_t))
    a_t = F.mH(a_t) if adjoint else a_t
    b_t = b_t - (F.matmul(a_t, x) if left else F.matmul(x, a_t))
    return F.lu_solve_raw(lu, pivots, b_t, left, adjoint)


# ----- functions -----


@public("linalg.lu", out=True)
def linalg_lu(A: Tensor, *, pivot: bool = True) -> Any:
    """``P``, ``L`` and ``U`` with ``A = P L U`` of matrices (..., m, n); P has no gradient."""
    _packable("linalg.lu", "linalg.lu", A)
    _pivoting(pivot)
    return LU(A, pivot)


def _packable(op_name: str, shown: str, a: Any) -> None:
    """Floating matrices; ``shown`` is what PyTorch calls the function where there are too few dimensions."""
    is_tensor(op_name, "A", a)
    _has_matrices(shown, a)
    floating(op_name, a)


def _has_matrices(shown: str, a: Tensor) -> None:
    if a.ndim < 2:
        raise shape_error(f"{shown}: Expected tensor with 2 or more dimensions. Got size: {list(a.shape)} instead")


def _pivoting(pivot: bool) -> None:
    if not pivot:
        raise RuntimeError(NO_PIVOT)


@public("linalg", out=True)
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """L and U packed into one matrix, the pivots (from 1), and LAPACK's ``info`` of each."""
    _packable("linalg.lu_factor", "torch.lu_factor", A)
    _pivoting(pivot)
    found = FACTOR(A, pivot)
    if check_errors:
        failures("torch.linalg.lu_factor_ex", found.info._a, ZERO, RuntimeError)
    return found


@returned_as("linalg_lu_factor")
class Factors(NamedTuple):
    """L and U packed into one matrix, and the pivots."""

    LU: Tensor
    pivots: Tensor


@public("linalg", out=True)
def lu_factor(A: Tensor, *, pivot: bool = True) -> Factors:
    """As :func:`lu_factor_ex`; :class:`RuntimeError` where U has a zero on its diagonal."""
    found = lu_factor_ex(A, pivot=pivot)
    failures("torch.linalg.lu_factor", found.info._a, ZERO, RuntimeError)
    return Factors(found.LU, found.pivots)


@public("torch Tensor")
def lu(self: Tensor, pivot: bool = True, get_infos: bool = False, *, out: Any = None) -> Any:
    """The older form of :func:`linalg.lu_factor`."""
    if out is not None:
        from ...out import into

        return into(lu, (self, pivot, get_infos), {"out": out})
    found = lu_factor_ex(self, pivot=pivot)
    if get_infos:
        return found
    return found.LU, found.pivots


@returned_as("lu_unpack")
class Unpacked(NamedTuple):
    """What :func:`lu_unpack` returns."""

    P: Tensor
    L: Tensor
    U: Tensor


@public("torch", out=True)
def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> Unpacked:
    """``P``, ``L`` and ``U`` of packed factors and pivots; those that are not wanted are empty."""
    is_tensor("lu_unpack", "LU_data", LU_data)
    is_tensor("lu_unpack", "LU_pivots", LU_pivots, 2)
    refuse_apart("lu_unpack", LU_data=LU_data, LU_pivots=LU_pivots)
    _has_matrices("torch.lu_unpack", LU_data)
    if unpack_pivots and LU_pivots._a.dtype != np.int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
            "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor"
        )
    if not unpack_pivots:
        LU_pivots = wrap(array_module(LU_data._a).zeros((*LU_data.shape[:-2], 0), np.int32))
    else:
        _in_range("lu_unpack", LU_pivots, LU_data.shape[-2])
        _as_many("lu_unpack", LU_pivots, LU_data)
    p, low, up = UNPACK(LU_data, LU_pivots)
    empty = array_module(LU_data._a).empty((0,), LU_data._a.dtype)
    if not unpack_pivots:
        p = wrap(empty)
    return Unpacked(p, low, up) if unpack_data else Unpacked(p, wrap(empty), wrap(empty.copy()))


def _in_range(op_name: str, pivots: Tensor, m: int) -> None:
    """Refuse pivots that are none of a matrix with ``m`` rows."""
    if pivots._a.size == 0 or not on_host(pivots._a):
        return
    if op_name == "lu_solve" and pivots._a.min() < 1:
        raise RuntimeError(
            "Pivots given to lu_solve must all be greater or equal to 1. Did you properly pass the result of lu_factor?"
        )
    if pivots._a.min() < 1 or pivots._a.max() > m:
        raise RuntimeError(
            f"pivots passed to {op_name} must be between 1 and LU.size(-2) inclusive.Did you properly pass the result of "
            "lu_factor?"
        )


def _as_many(op_name: str, pivots: Tensor, packed: Tensor) -> None:
    """Refuse more or fewer pivots than ``packed`` has; PyTorch reads what lies beyond their memory."""
    expected = [*packed.shape[:-2], min(packed.shape[-2:])]
    if list(pivots.shape) != expected:
        raise shape_error(f"{op_name}: Expected LU_pivots of shape {expected}, got {list(pivots.shape)}")


def _checked_solve(op_name: str, lu: Tensor, pivots: Tensor, b: Tensor, left: bool) -> None:
    floating("torch.linalg.lu_solve", lu, low=True)
    same_dtype(op_name, lu, b, "LU and B")
    square("torch.linalg.lu_solve", lu)
    matrices(op_name, b, "B")
    multiplied(op_name, lu, b, left)
    if pivots._a.dtype != np.int32:
        raise RuntimeError(f"{op_name}: pivots should be a Tensor of scalar type torch.int32")
    floating("torch.linalg.lu_solve", lu)
    if lu.shape[-1] != (pivots.shape[-1] if pivots.ndim else -1):
        raise shape_error(f"{op_name}: Number of pivots per batch should be same as the dimension of the matrix")
    if lu.shape[:-2] != pivots.shape[:-1]:
        raise shape_error(
            f"{op_name}: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{list(pivots.shape)} instead"
        )
    _in_range("lu_solve", pivots, lu.shape[-1])
    one_batch(op_name, lu.shape[:-2], b.shape[:-2])


@public("linalg.lu_solve", out=True)
def linalg_lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """X of ``A X = B`` (``X A = B``, or with the adjoint of A) for A given by what :func:`lu_factor` returns."""
    for i, (name, t) in enumerate((("LU", LU), ("pivots", pivots), ("B", B)), 1):
        is_tensor("linalg.lu_solve", name, t, i)
    _checked_solve("linalg.lu_solve", LU, pivots, B, left)
    x: Tensor = SOLVE(LU, pivots, B, left, adjoint)
    return x


@public("torch Tensor", out=True)
def lu_solve(self: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """The older form of :func:`linalg.lu_solve`, with B first."""
    return linalg_lu_solve(LU_data, LU_pivots, self)

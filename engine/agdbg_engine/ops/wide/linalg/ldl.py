"""LDL factors of Hermitian or symmetric matrices; as in PyTorch without a gradient."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....dtype import scalar_type
from ....tensor import Tensor
from ...explain import shape_error
from ...host_only import check_place
from ...returned import returned_as
from ..declare import op, public
from .checks import failures, floating, floating_square, is_tensor, matrices, one_batch, square
from .lapack import each, routines

# ----- kernels: one LAPACK call a matrix -----


def _names(dtype: Any, hermitian: bool) -> tuple[str, str]:
    kind = "he" if hermitian and dtype.kind == "c" else "sy"
    return kind + "trf", kind + "trs"


def _factor(a: Any, hermitian: bool) -> tuple[Any, Any, Any]:
    check_place("ldl_factor_ex_raw", a)
    (trf,) = routines(_names(a.dtype, hermitian)[:1], a)

    batch, n = a.shape[:-2], a.shape[-1]
    pivots, info = np.zeros((*batch, n), np.int32), np.zeros(batch, np.int32)
    ldl = np.tril(a)
    if not ldl.size:
        return ldl, pivots, info
    columns = np.ascontiguousarray(np.swapaxes(ldl, -1, -2)).reshape(
        -1, n, n
    )  # as LAPACK reads matrices: written in place
    found = [trf(m.T, lower=1, overwrite_a=True)[1:] for m in columns]
    pivots[...] = np.array([of[0] for of in found]).reshape(pivots.shape)
    info[...] = np.array([of[1] for of in found]).reshape(info.shape)
    return np.ascontiguousarray(np.swapaxes(columns, -1, -2)).reshape(a.shape), pivots, info


def _solve(ldl: Any, pivots: Any, b: Any, hermitian: bool) -> Any:
    """X of ``A X = B`` with the factors: blocks of D by their 2 x 2 or 1 x 1 inverses, as LAPACK's ``sytrs``."""
    from scipy.linalg import lapack

    check_place("ldl_solve_raw", ldl)
    prefix = {"f": "s", "d": "d", "F": "c", "D": "z"}[ldl.dtype.char]
    trs = getattr(lapack, prefix + _names(ldl.dtype, hermitian)[1])

    def one(m: Any, p: Any, r: Any) -> tuple[Any]:
        if m.size == 0 or r.size == 0:
            return (np.zeros_like(r),)
        p = np.where((p[0] == 0) | (np.abs(p[0]) > len(m)), np.arange(1, len(m) + 1), p[0])  # LAPACK believes them
        return (np.ascontiguousarray(trs(m, p, r, lower=1)[0]),)

    return each(one, ldl, pivots[..., None, :], b)[0]


FACTOR = op("ldl_factor_ex_raw(self, hermitian)", "NotImplemented", outputs="LD *pivots *info",
   self="not_derived('linalg_ldl_factor_ex')",
   value=_factor)  # fmt: skip
SOLVE = op("ldl_solve_raw(LD, pivots, B, hermitian)", "NotImplemented", pivots=None,
   LD="not_derived('linalg_ldl_solve')",
   B="not_derived('linalg_ldl_solve')", value=_solve)  # fmt: skip

# ----- functions -----

FAILED = (
    "The diagonal element {info} of D is exactly zero. Division by zero will occur if it is used to solve a system of "
    "equations."
)


@returned_as("linalg_ldl_factor")
class Factors(NamedTuple):
    """The factors packed into one matrix, and the pivots."""

    LD: Tensor
    pivots: Tensor


@public("linalg", out=True)
def ldl_factor_ex(self: Tensor, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    """``A = L D L^T`` (``L D L^H`` if ``hermitian``) packed into one matrix, the pivots, and LAPACK's ``info`` of each."""
    floating_square("torch.linalg.ldl_factor_ex", self)
    found = FACTOR(self, hermitian)
    if check_errors:
        failures("torch.linalg.ldl_factor_ex", found.info._a, FAILED)
    return found


@public("linalg", out=True)
def ldl_factor(self: Tensor, *, hermitian: bool = False) -> Factors:
    """As :func:`ldl_factor_ex`; :class:`LinAlgError` where D has a zero."""
    found = ldl_factor_ex(self, hermitian=hermitian)
    failures("torch.linalg.ldl_factor", found.info._a, FAILED)
    return Factors(found.LD, found.pivots)


@public("linalg", out=True)
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """X of ``A X = B`` for A given by what :func:`ldl_factor` returns."""
    name = "torch.linalg.ldl_solve"
    for i, (which, t) in enumerate((("LD", LD), ("pivots", pivots), ("B", B)), 1):
        is_tensor("linalg.ldl_solve", which, t, i)
    square(name, LD, "LD")
    matrices(name, B, "B")
    if LD.shape[-2] != B.shape[-2]:
        m, k = LD.shape[-2], B.shape[-2]
        raise shape_error(
            f"Incompatible matrix sizes for {name}: each A matrix is {m} by {m} but each b matrix is {k} by {B.shape[-1]}"
        )
    if pivots.ndim < 1 or LD.shape[:-1] != pivots.shape:
        raise shape_error(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape {list(pivots.shape)} "
            "instead"
        )
    if pivots._a.dtype.kind not in "iu":
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {scalar_type(pivots.dtype)}")
    if LD.dtype != B.dtype:
        raise RuntimeError(f"{name}: LD dtype {scalar_type(LD.dtype)} does not match b dtype {scalar_type(B.dtype)}")
    floating(name, LD)
    one_batch(name, LD.shape[:-2], B.shape[:-2])
    x: Tensor = SOLVE(LD, pivots, B, hermitian)
    return x

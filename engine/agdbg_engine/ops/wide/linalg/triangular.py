"""Triangular systems."""

from __future__ import annotations

from typing import Any

from ....tensor import Tensor
from ...explain import shape_error
from ..declare import formula, op, public
from .checks import both_of_dtype, floating, is_tensor, matrices, multiplied, old_square, one_batch, same_dtype, square
from .lapack import triangular

SOLVE = op("solve_triangular_raw(self, B, upper, left, unitriangular)", "LinalgSolveTriangularBackward0",
   self="triangular_matrix_grad(g, self, result, upper, left, unitriangular)",
   B="sum_to(solve_triangular_raw(mH(self), g, not upper, left, unitriangular), B_shape)",
   jvp="triangular_tangent(self, result, self_t, B_t, upper, left, unitriangular)", holomorphic=False,
   value=triangular)  # fmt: skip


def _triangle(F: Any, x: Any, upper: bool, unit: bool) -> Any:
    return F.upper(x, int(unit)) if upper else F.lower(x, -int(unit))


@formula
def triangular_matrix_grad(F: Any, g: Any, a: Any, x: Any, upper: bool, left: bool, unit: bool) -> Any:
    """Gradient of the solution ``x`` in the matrix: in its triangle only."""
    gb = F.solve_triangular_raw(F.mH(a), g, not upper, left, unit)
    ga = -(F.matmul(gb, F.mH(x)) if left else F.matmul(F.mH(x), gb))
    return F.sum_to(_triangle(F, ga, upper, unit), a.shape)


@formula
def triangular_tangent(F: Any, a: Any, x: Any, a_t: Any, b_t: Any, upper: bool, left: bool, unit: bool) -> Any:
    """Tangent of the solution."""
    a_t = _triangle(F, a_t, upper, unit)
    return F.solve_triangular_raw(a, b_t - (F.matmul(a_t, x) if left else F.matmul(x, a_t)), upper, left, unit)


@public("linalg", out=True)
def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    """X of ``A X = B`` (or ``X A = B``) for triangular matrices, of which the other triangle is not read."""
    op_name = "linalg.solve_triangular"
    is_tensor(op_name, "A", A)
    is_tensor(op_name, "B", B, 2)
    same_dtype(op_name, A, B)
    square(op_name, A)
    matrices(op_name, B, "B")
    multiplied(op_name, A, B, left)
    floating(op_name, A)
    one_batch(op_name, A.shape[:-2], B.shape[:-2])
    x: Tensor = SOLVE(A, B, upper, left, unitriangular)
    return x


def _transposed(a: Any, transpose: bool) -> Any:
    return a.swapaxes(-1, -2) if transpose else a


def _old(b: Any, a: Any, upper: bool, transpose: bool, unit: bool) -> tuple[Any, Any]:
    return triangular(_transposed(a, transpose), b, upper != transpose, True, unit), a.copy()


OLD = op("triangular_solve_raw(self, A, upper, transpose, unitriangular)", "TriangularSolveBackward0",
   outputs="solution cloned_coefficient",
   self="old_rhs_grad(g_solution, A, self_shape, upper, transpose, unitriangular)",
   A="old_matrix_grad(g_solution, g_cloned_coefficient, A, solution, upper, transpose, unitriangular)",
   jvp="(old_tangent(A, solution, self_t, A_t, upper, transpose, unitriangular), A_t)", holomorphic=False, value=_old)  # fmt: skip


def _turned(F: Any, a: Any, transpose: bool) -> Any:
    return F.mT(a) if transpose else a


@formula
def old_rhs_grad(F: Any, g: Any, a: Any, shape: Any, upper: bool, transpose: bool, unit: bool) -> Any:
    """Gradient of ``triangular_solve`` in the right-hand side."""
    if g is None:
        return None
    m = _turned(F, a, transpose)
    return F.sum_to(F.solve_triangular_raw(F.mH(m), g, upper == transpose, True, unit), shape)


@formula
def old_matrix_grad(F: Any, g: Any, g_clone: Any, a: Any, x: Any, upper: bool, transpose: bool, unit: bool) -> Any:
    """Gradient of ``triangular_solve`` in the matrix."""
    if g is None:
        return g_clone
    turned = triangular_matrix_grad(F, g, _turned(F, a, transpose), x, upper != transpose, True, unit)
    ga = F.sum_to(_turned(F, turned, transpose), a.shape)
    return ga if g_clone is None else ga + g_clone


@formula
def old_tangent(F: Any, a: Any, x: Any, b_t: Any, a_t: Any, upper: bool, transpose: bool, unit: bool) -> Any:
    """Tangent of ``triangular_solve``."""
    m, m_t = _turned(F, a, transpose), _turned(F, a_t, transpose)
    return triangular_tangent(F, m, x, m_t, b_t, upper != transpose, True, unit)


@public("torch Tensor", out=True)
def triangular_solve(
    self: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """The older form of :func:`linalg.solve_triangular`: ``(solution, cloned_coefficient)``."""
    name = "triangular_solve"
    is_tensor(name, "input", self)
    is_tensor(name, "A", A, 2)
    for which, x in (("b", self), ("A", A)):
        if x.ndim < 2:
            raise shape_error(
                f"torch.triangular_solve: Expected {which} to have at least 2 dimensions, but it has {x.ndim} dimensions instead"
            )
    both_of_dtype(self, A)
    old_square(A)
    floating(name, A)
    if A.shape[-1] != self.shape[-2]:
        raise shape_error(
            f"Incompatible matrix sizes for triangular_solve: each A matrix is {A.shape[-1]} by {A.shape[-1]} but each b matrix "
            f"is {self.shape[-2]} by {self.shape[-1]}"
        )
    one_batch(name, self.shape[:-2], A.shape[:-2])
    return OLD(self, A, upper, transpose, unitriangular)

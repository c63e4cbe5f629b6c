"""Products of Householder reflections, as QR decompositions leave them.

A reflection is ``H = 1 - tau v v^H`` where v is 0 above the diagonal, 1 on it and a column of the matrix below. All of them
are applied one after the other, each to the whole batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....backends import on_host
from ....device import array_module
from ....dtype import scalar_type
from ....tensor import Tensor
from ...explain import shape_error
from ...refuse import refuse_recorded
from ..declare import formula, in_both, op, public
from .checks import floating, floating_matrices, is_tensor
from .lapack import each
from .parts import conj_of

# ----- one after the other -----


def _vectors(F: Any, a: Any, k: int) -> Any:
    """The vectors of the first ``k`` reflections as columns."""
    low = F.lower(a[..., :, :k], -1)
    return low + F.first_columns(low)


def _first(x: Any) -> Any:
    xp = array_module(x)
    return xp.eye(*x.shape[-2:], dtype=x.dtype)


def _first_recorded(x: Tensor) -> Tensor:
    from ....tensor import wrap

    return wrap(_first(x._a))


in_both("first_columns", _first, _first_recorded)


def _turned(F: Any, v: Any, tau: Any, c: Any) -> tuple[Any, Any]:
    """``(1 - tau v v^H) c``, and ``v^H c``."""
    along = F.matmul(F.mH(v), c)
    return c - tau * F.matmul(v, along), along


def _steps(k: int, transpose: bool) -> list[int]:
    """The order in which ``Q = H_1 ... H_k``, or its adjoint, applies its reflections."""
    return list(range(k)) if transpose else list(range(k - 1, -1, -1))


def _applied(F: Any, a: Any, tau: Any, c: Any, transpose: bool) -> tuple[Any, list[Any]]:
    """``Q c``, or ``Q^H c``, and what ``c`` was before every reflection."""
    k = tau.shape[-1]
    v, before = _vectors(F, a, k), []
    for i in _steps(k, transpose):
        before.append(c)
        t = tau[..., i][..., None, None]
        c = _turned(F, v[..., :, i : i + 1], conj_of(F, t) if transpose else t, c)[0]
    return c, before


def _back(F: Any, g: Any, a: Any, tau: Any, c: Any, transpose: bool) -> tuple[Any, Any]:
    """Gradients of ``Q c`` (or ``Q^H c``) in the matrix and in tau; none where these are empty, as in PyTorch."""
    if 0 in a.shape or 0 in tau.shape:
        return None, None
    k = tau.shape[-1]
    v, before = _vectors(F, a, k), _applied(F, a, tau, c, transpose)[1]
    columns: list[Any] = [None] * k
    taus: list[Any] = [None] * k
    for i, x in zip(reversed(_steps(k, transpose)), reversed(before), strict=True):
        u = v[..., :, i : i + 1]
        t = tau[..., i][..., None, None]
        t = conj_of(F, t) if transpose else t
        along, across = F.matmul(F.mH(u), x), F.matmul(F.mH(u), g)
        gt = -F.matmul(across, F.mH(along))
        taus[i] = (conj_of(F, gt) if transpose else gt)[..., 0]
        columns[i] = -(conj_of(F, t) * F.matmul(g, F.mH(along)) + t * F.matmul(x, F.mH(across)))
        g = g - conj_of(F, t) * F.matmul(u, across)
    ga = F.lower(F.joined(columns, -1), -1)
    if a.shape[-1] > k:
        ga = F.joined([ga, F.zeros_of((*a.shape[:-1], a.shape[-1] - k), ga)], -1)
    return ga, F.joined(taus, -1)


def _tangent(F: Any, a: Any, tau: Any, c: Any, a_t: Any, tau_t: Any, c_t: Any, transpose: bool) -> Any:
    """Tangent of ``Q c`` or ``Q^H c``."""
    k = tau.shape[-1]
    v, v_t = _vectors(F, a, k), F.lower(a_t[..., :, :k], -1)
    for i in _steps(k, transpose):
        u, u_t = v[..., :, i : i + 1], v_t[..., :, i : i + 1]
        t, t_t = (x[..., i][..., None, None] for x in (tau, tau_t))
        if transpose:
            t, t_t = conj_of(F, t), conj_of(F, t_t)
        along = F.matmul(F.mH(u), c)
        moved = t_t * F.matmul(u, along) + t * (F.matmul(u_t, along) + F.matmul(u, F.matmul(F.mH(u_t), c)))
        c_t = c_t - t * F.matmul(u, F.matmul(F.mH(u), c_t)) - moved
        c = c - t * F.matmul(u, along)
    return c_t


# ----- rows -----


def _product(a: Any, tau: Any) -> Any:
    from ... import kernels

    return _applied(kernels, a, tau, _first(a), False)[0]


def _ormqr(a: Any, tau: Any, c: Any, left: bool, transpose: bool) -> Any:
    from ... import kernels

    if left:
        return _applied(kernels, a, tau, c, transpose)[0]
    return np.conj(np.swapaxes(_applied(kernels, a, tau, np.conj(np.swapaxes(c, -1, -2)), not transpose)[0], -1, -2))


PRODUCT = op("householder_product_raw(input, tau)", "LinalgHouseholderProductBackward0",
   input="householder_grad(g, input, tau)[0]", tau="householder_grad(g, input, tau)[1]",
   jvp="householder_tangent(input, tau, input_t, tau_t)", holomorphic=False, value=_product)  # fmt: skip
ORMQR = op("ormqr_raw(self, input2, input3, left, transpose)", "OrmqrBackward0",
   self="ormqr_grad(g, self, input2, input3, left, transpose)[0]",
   input2="ormqr_grad(g, self, input2, input3, left, transpose)[1]",
   input3="ormqr_raw(self, input2, g, left, not transpose)",
   jvp="ormqr_tangent(self, input2, input3, self_t, input2_t, input3_t, left, transpose)", holomorphic=False,
   value=_ormqr)  # fmt: skip


@formula
def householder_grad(F: Any, g: Any, a: Any, tau: Any) -> Any:
    """Gradients of the product of reflections in the matrix and in tau."""
    return _back(F, g, a, tau, F.first_columns(a), False)


@formula
def householder_tangent(F: Any, a: Any, tau: Any, a_t: Any, tau_t: Any) -> Any:
    """Tangent of the product of reflections."""
    c = F.first_columns(a)
    return _tangent(F, a, tau, c + F.zeros_of(a.shape, a), a_t, tau_t, F.zeros_of(a.shape, a), False)


@formula
def ormqr_grad(F: Any, g: Any, a: Any, tau: Any, c: Any, left: bool, transpose: bool) -> Any:
    """Gradients of ``Q c`` or ``c Q`` in the matrix and in tau."""
    if left:
        return _back(F, g, a, tau, c, transpose)
    return _back(F, F.mH(g), a, tau, F.mH(c), not transpose)


@formula
def ormqr_tangent(F: Any, a: Any, tau: Any, c: Any, a_t: Any, tau_t: Any, c_t: Any, left: bool, transpose: bool) -> Any:
    """Tangent of ``Q c`` or ``c Q``."""
    if left:
        return _tangent(F, a, tau, c, a_t, tau_t, c_t, transpose)
    return F.mH(_tangent(F, a, tau, F.mH(c), a_t, tau_t, F.mH(c_t), not transpose))


# ----- functions -----


@public("linalg", out=True)
def householder_product(input: Tensor, tau: Tensor) -> Tensor:
    """The first n columns of the product of the reflections in the columns of ``input`` (..., m, n), m >= n."""
    name = "torch.linalg.householder_product"
    is_tensor("linalg.householder_product", "input", input)
    is_tensor("linalg.householder_product", "tau", tau, 2)
    if input.ndim < 2:
        raise shape_error(f"{name}: input must have at least 2 dimensions.")
    m, n = input.shape[-2:]
    if m < n:
        raise shape_error(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if (tau.shape[-1] if tau.ndim else 0) > n:
        raise shape_error(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    if input.ndim - tau.ndim != 1:
        raise shape_error(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to {tau.ndim} and input.ndim "
            f"is equal to {input.ndim}"
        )
    if tau.shape[:-1] != input.shape[:-2]:
        raise shape_error(
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got {list(tau.shape[:-1])}"
        )
    if tau.dtype != input.dtype:
        raise RuntimeError(
            f"{name}: tau dtype {scalar_type(tau.dtype)} does not match input dtype {scalar_type(input.dtype)}"
        )
    floating("linalg.householder_product", input)
    x: Tensor = PRODUCT(input, tau)
    return x


@public("torch Tensor", out=True)
def orgqr(self: Tensor, input2: Tensor) -> Tensor:
    """As :func:`linalg.householder_product`."""
    return householder_product(self, input2)


@public("torch Tensor", out=True)
def ormqr(self: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """``Q C`` or ``C Q`` for C = ``input3`` and the product Q of the reflections in ``self`` with tau = ``input2``."""
    is_tensor("ormqr", "input2", input2, 2)
    is_tensor("ormqr", "input3", input3, 3)
    for which, x in (("input", self), ("other", input3)):
        if x.ndim < 2:
            raise shape_error(f"torch.ormqr: {which} must have at least 2 dimensions.")
    side = -2 if left else -1
    if input3.shape[side] < (input2.shape[-1] if input2.ndim else 0):
        raise shape_error(f"torch.ormqr: other.shape[{side}] must be greater than or equal to tau.shape[-1]")
    if input3.shape[side] != self.shape[-2]:
        raise shape_error(f"torch.ormqr: other.shape[{side}] must be equal to input.shape[-2]")
    if (input2.shape[-1] if input2.ndim else 0) != min(input3.shape[side], self.shape[-1]):
        raise shape_error(f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])")
    if self.ndim - input2.ndim != 1:
        raise shape_error(
            "torch.ormqr: Expected tau to have one dimension less than input, but got tau.ndim equal to "
            f"{input2.ndim} and input.ndim is equal to {self.ndim}"
        )
    if self.ndim != input3.ndim:
        raise shape_error(
            "torch.ormqr: Expected other to have the same number of dimensions as input, but got other.ndim equal to "
            f"{input3.ndim} and input.ndim is equal to {self.ndim}"
        )
    if input2.shape[:-1] != self.shape[:-2]:
        raise shape_error(
            "torch.ormqr: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
            f"{list(input2.shape[:-1])}"
        )
    if input3.shape[:-2] != self.shape[:-2]:
        raise shape_error(
            "torch.ormqr: Expected batch dimensions of other to be equal to input.shape[:-2], but got "
            f"{list(input3.shape[:-2])}"
        )
    for which, x in (("tau", input2), ("other", input3)):
        if x.dtype != self.dtype:
            a, b = scalar_type(self.dtype), scalar_type(x.dtype)
            raise RuntimeError(
                f"torch.ormqr: Expected input and {which} to have the same dtype, but input has dtype {a} and {which} has "
                f"dtype {b}"
            )
    floating("torch.ormqr", self)
    product: Tensor = ORMQR(self, input2, input3, left, transpose)
    return product


def _geqrf(a: Any) -> tuple[Any, Any]:
    if not on_host(a):
        packed, tau = each(lambda m: np.linalg.qr(m, mode="raw"), a)
        return np.swapaxes(packed, -1, -2), tau
    if a.size == 0:
        return a.copy(), np.zeros((*a.shape[:-2], min(a.shape[-2:])), a.dtype)
    packed, tau = np.linalg.qr(a, mode="raw")
    return np.swapaxes(packed, -1, -2).astype(a.dtype, copy=False), tau.astype(a.dtype, copy=False)


GEQRF = op(
    "geqrf_raw(self)",
    "GeqrfBackward0",
    outputs="a tau",
    self="not_implemented(\"the derivative for 'geqrf' is not implemented.\")",
    value=_geqrf,
)


@formula
def not_derived(F: Any, name: str) -> Any:
    """The gradient of what PyTorch cannot differentiate."""
    raise RuntimeError(f"derivative for aten::{name} is not implemented")


@public("torch Tensor", out=True)
def geqrf(self: Tensor) -> Any:
    """A QR decomposition as LAPACK packs it: R above the reflections in one matrix ``a``, and ``tau``; no gradient."""
    is_tensor("geqrf", "input", self)
    if self.ndim < 2:
        raise shape_error("torch.geqrf: input must have at least 2 dimensions.")
    floating_matrices("geqrf", self)
    refuse_recorded("geqrf", self)
    return GEQRF(self)

"""Determinants and their logarithms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....backends import on_host
from ....device import array_module
from ....tensor import Tensor
from ... import graph as _graph
from ...formulas import real_part
from ...lists import stack
from ..declare import formula, in_both, op, public
from .checks import floating_square
from .solve import SOLVE

graph: Any = _graph  # the recorded ops, which families put there

# ----- the matrix of cofactors -----


def _cofactors(a: Any, det: Any, g: Any) -> Any:
    """``g`` times the conjugate of the derivative of the determinant: finite for singular matrices too."""
    d = (g * np.conj(det))[..., None, None] * array_module(a).eye(a.shape[-1], dtype=a.dtype)
    turned = np.conj(np.swapaxes(a, -1, -2))
    if on_host(a) and not np.any(det == 0):
        try:
            return np.linalg.solve(turned, d)
        except np.linalg.LinAlgError:
            pass
    return _by_svd(a, g)


def _by_svd(a: Any, g: Any) -> Any:
    u, s, vh = np.linalg.svd(a)
    turn = np.conj(np.linalg.det(u) * np.linalg.det(vh)) * g
    return (u * (turn[..., None] * _other_products(s))[..., None, :]) @ vh


def _other_products(s: Any) -> Any:
    """For every element of the last dimension the product of the others."""
    n = s.shape[-1]
    rest = np.where(array_module(s).eye(n, dtype=bool), 1, s[..., None, :])
    return rest.prod(-1).astype(s.dtype)


def _cofactors_recorded(a: Tensor, det: Tensor, g: Tensor) -> Tensor:
    """As :func:`_cofactors`, to be differentiated: the singular matrices among others by their singular values."""
    if not on_host(a._a):
        if not a.shape[-1]:
            return _by_solving(a, det, g)
        return _by_singular_values(a, g)  # right for all matrices, and nobody has to look at the values
    singular = np.abs(det._a) < 100 * np.finfo(det._a.dtype).eps
    if not singular.any():
        return _by_solving(a, det, g)
    if singular.all():
        return _by_singular_values(a, g)
    flat = singular.reshape(-1)
    first, second = np.flatnonzero(flat), np.flatnonzero(~flat)
    rows, dets, gs = graph.reshape(a, (-1, *a.shape[-2:])), graph.reshape(det, (-1,)), graph.reshape(g, (-1,))
    one = _by_singular_values(graph.index(rows, (first,)), graph.index(gs, (first,)))
    other = _by_solving(*(graph.index(x, (second,)) for x in (rows, dets, gs)))
    back = np.argsort(np.concatenate([first, second]))
    return graph.reshape(graph.index(graph.joined([one, other], 0), (back,)), a.shape)


def _by_solving(a: Tensor, det: Tensor, g: Tensor) -> Tensor:
    d = graph.on_diagonal((g * graph.conj_raw(det))[..., None].expand((*det.shape, a.shape[-1])))
    x: Tensor = SOLVE(graph.mH(a), d, True)[0]
    return x


def _by_singular_values(a: Tensor, g: Tensor) -> Tensor:
    from .svd import linalg_svd

    u, s, vh = linalg_svd(a)
    turn = graph.conj_raw(DET(u) * DET(vh)) * g
    return graph.matmul(u * _times_others(s, turn)[..., None, :], vh)


def _times_others(s: Tensor, factor: Tensor) -> Tensor:
    """For every element of the last dimension the product of the others and ``factor``: a product of what is before and after."""
    n = s.shape[-1]
    before, after = [factor], [s[..., 0] * 0 + 1]
    for i in range(n - 1):
        before.append(before[-1] * s[..., i])
        after.append(after[-1] * s[..., n - 1 - i])
    return stack([x * y for x, y in zip(before, reversed(after), strict=True)], -1)


in_both("cofactors", _cofactors, _cofactors_recorded)


# ----- rows -----


def _det(a: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.linalg.det(a)


def _slogdet(a: Any) -> Any:
    with np.errstate(all="ignore"):
        sign, log = np.linalg.slogdet(a)
    # NumPy takes the sign of whatever is not negative for 1; NaN has none, as in PyTorch
    return sign if a.dtype.kind == "c" else np.where(np.isnan(log), np.zeros_like(sign), sign), log


DET = op("det_raw(A)", "LinalgDetBackward0", A="cofactors(A, result, g)",
   jvp="sum_dim(conj_of(cofactors(A, result, ones_as(result))) * A_t, (-2, -1), False)", holomorphic=False,
   value=_det)  # fmt: skip
SLOGDET = op("slogdet_raw(A)", "LinalgSlogdetBackward0", outputs="sign logabsdet",
   A="slogdet_grad(g_sign, g_logabsdet, A, sign)", jvp="slogdet_tangent(A, sign, A_t)", holomorphic=False,
   value=_slogdet)  # fmt: skip


@formula
def slogdet_grad(F: Any, g_sign: Any, g_log: Any, a: Any, sign: Any) -> Any:
    """Gradient of sign and logarithm: a sign that is +-1 has none."""
    g = g_log
    if a.dtype.kind == "c" and g_sign is not None:
        turn = F.conj_raw(g_sign) * sign
        turn = 0.5 * (turn - F.conj_raw(turn))  # i times its imaginary part
        g = -turn if g is None else g - turn
    if g is None:
        return F.zeros_of(a.shape, a)
    d = F.on_diagonal(F.expand(g[..., None], (*sign.shape, a.shape[-1])))
    return F.solve_or_refuse(F.mH(a), F.cast(d, a.dtype), True)


@formula
def slogdet_tangent(F: Any, a: Any, sign: Any, a_t: Any) -> Any:
    """Tangents of sign and logarithm."""
    t = F.sum_dim(F.diagonal_of(F.solve_only(a, a_t, True)), -1, False)
    if a.dtype.kind != "c":
        return F.zeros_of(sign.shape, sign), t
    return sign * (0.5 * (t - F.conj_raw(t))), real_part(F, t)


# ----- functions -----


@public("linalg.det", out=True)
def linalg_det(A: Tensor) -> Tensor:
    """Determinants of square matrices (..., n, n)."""
    floating_square("linalg.det", A)
    x: Tensor = DET(A)
    return x


@public("torch Tensor")
def det(self: Tensor) -> Tensor:
    """As :func:`linalg.det`."""
    return linalg_det(self)


@public("linalg.slogdet", out=True)
def linalg_slogdet(A: Tensor) -> Any:
    """Sign and logarithm of the absolute value of determinants of square matrices."""
    floating_square("linalg.slogdet", A)
    return SLOGDET(A)


@public("torch Tensor", out=True)
def slogdet(self: Tensor) -> Any:
    """As :func:`linalg.slogdet`."""
    return linalg_slogdet(self)


@public("torch Tensor")
def logdet(self: Tensor) -> Tensor:
    """Logarithm of determinants; NaN for negative ones."""
    floating_square("logdet", self)
    sign, size = SLOGDET(self)
    x: Tensor = sign.log() + size if self._a.dtype.kind == "c" else graph.where(sign == -1, math.nan, size)
    return x

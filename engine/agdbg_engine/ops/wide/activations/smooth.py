"""Activations without a kink: gelu by the error function, log of sigmoid, mish, gated units."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....fused import fused
from ... import graph, kernels
from ...layout import in_rows
from ...lists import cat
from ..declare import formula, in_both, kernel, op
from ..special.scipy_values import functions_of
from ..widths import single
from .row import activation, backward

# ----- gelu -----


_CDF = "T cdf = T(0.5) * (T(1) + erf(x * T(0.7071067811865476)));"
"""In C: the normal distribution function."""


@kernel
@fused("T x", "T out", f"{_CDF} out = x * cdf;")
def gelu(x: Any) -> Any:
    """``x`` times the normal distribution function of it."""
    p = _distribution(x)
    p *= x
    return p


@kernel
@kernels.rounded_once
@fused("T g, T x", "T out", f"{_CDF} out = g * (cdf + x * exp(T(-0.5) * x * x) * T(0.3989422804014327));")
def gelu_backward(g: Any, x: Any) -> Any:
    """The gradient of :func:`gelu`."""
    slope = normal_density(x)
    slope *= x
    slope += _distribution(x)
    slope *= g
    return slope


def _distribution(x: Any) -> Any:
    """The normal distribution function, but for its relative precision far below 0 (which PyTorch has not either)."""
    if x.itemsize < 8:
        p = _erf_of_root(single(x))
    else:
        p = x * math.sqrt(0.5)
        p = functions_of(p).erf(p, kernels.room(p))
    p += 1
    p *= 0.5
    return p.astype(x.dtype, copy=False)


_BEND = (
    0.797884586, 0.0363351458, -3.57332156e-05, -5.33604737e-05, 3.3811821e-06, -4.12705998e-08, -5.67710435e-09,
    2.97208422e-10, -4.52081342e-12,
)  # fmt: skip
"""``artanh(erf(x / sqrt(2))) / x`` as a polynomial in the square of x up to 30, fitted so that erf is right in single precision."""


def _erf_of_root(x: Any) -> Any:
    """``erf(x / sqrt(2))`` in single precision, as a tanh: NumPy computes that, but not erf, for many elements at once."""
    square = kernels.at_most(x * x, 30.0)
    bend = square * _BEND[-1]
    for factor in _BEND[-2:0:-1]:
        bend += factor
        bend *= square
    bend += _BEND[0]
    bend *= x
    return np.tanh(bend, kernels.room(bend))


@kernel
def normal_density(x: Any) -> Any:
    """The density of the standard normal distribution."""
    power = x * x
    power *= -0.5
    power = np.exp(power, kernels.room(power))
    power *= 1 / math.sqrt(2 * math.pi)
    return power


activation("gelu(self)", "GeluBackward0", "gelu_backward(g, self)")
backward("gelu", "GeluBackwardBackward0", "g * grad_output * (normal_density(self) * (2 - self * self))")
activation("normal_density(self)", "NormalDensityBackward0", "-g * (self * result)")

# ----- log of sigmoid, mish -----


@kernel
@fused("T x", "T out", "out = (x < T(0) ? x : T(0)) - log1p(exp(-abs(x)));")
def log_sigmoid(x: Any) -> Any:
    """log(1 / (1 + exp(-x))), computed so that exp never overflows."""
    e = np.abs(x)
    e = np.negative(e, kernels.room(e))
    e = np.log1p(np.exp(e, kernels.room(e)), kernels.room(e))
    out = kernels.at_most(x, 0.0) - e
    return out if out.ndim < 2 else in_rows(out)


@kernel
@kernels.rounded_once
@fused("T g, T x", "T out", "out = g / (T(1) + exp(x));")
def log_sigmoid_backward(g: Any, x: Any) -> Any:
    """``g * sigmoid(-x)``."""
    s = kernels.sigmoid(-x)
    s *= g
    return s


@kernel
@fused("T x", "T out", "out = x * tanh(x > T(20) ? x : log1p(exp(x)));")
def mish(x: Any) -> Any:
    """``x * tanh(softplus(x))``."""
    wide = single(x)
    return (wide * tanh_of_softplus(kernels, wide)).astype(x.dtype, copy=False)


@formula
def tanh_of_softplus(F: Any, x: Any) -> Any:
    """``tanh(log(1 + exp(x)))``, which is a fraction of ``exp(x)``; 1 from 20 on."""
    e = F.exp(F.clamp_max(x, 20.0))
    n = e * (e + 2)
    return n / (n + 2)


@formula
def mish_grad(F: Any, g: Any, x: Any) -> Any:
    """The gradient of :func:`mish`."""
    if x.dtype.itemsize < 4:  # where exp(20) is too large
        return F.to_copy(mish_grad(F, F.to_copy(g, np.dtype(np.float32)), F.to_copy(x, np.dtype(np.float32))), x.dtype)
    return F.mish_grad_by(g, x)


def _mish_grad(F: Any, g: Any, x: Any) -> Any:
    t, s = tanh_of_softplus(F, x), F.sigmoid(x)
    return g * (t + x * s * (1 - t * t))


@fused(
    "T g, T x", "T out",
    "T e = exp(x > T(20) ? T(20) : x); T n = e * (e + T(2)); T t = n / (n + T(2));"
    "out = g * (t + x * (T(1) / (T(1) + exp(-x))) * (T(1) - t * t));",
)  # fmt: skip
def mish_grad_of_buffers(g: Any, x: Any) -> Any:
    """The gradient of :func:`mish` in single or double precision."""
    return _mish_grad(kernels, g, x)


in_both("mish_grad_by", mish_grad_of_buffers, lambda g, x: _mish_grad(graph, g, x))


activation("log_sigmoid(self)", "LogSigmoidBackward0", "log_sigmoid_backward(g, self)")
backward("log_sigmoid", "LogSigmoidBackwardBackward0", "-g * grad_output * sigmoid(self) * sigmoid(-self)")
activation("mish(self)", "MishBackward0", "mish_grad(g, self)")

# ----- gated linear unit -----

in_both(
    "join_halves", lambda a, b, dim: np.concatenate((a, b), dim), lambda a, b, dim: cat((a, b), dim)
)  # fmt: skip


@formula
def halves(F: Any, x: Any, dim: int) -> tuple[Any, Any]:
    """The first and the second half along ``dim``."""
    n = x.shape[dim] // 2
    return F.slice(x, dim, 0, n, 1), F.slice(x, dim, n, 2 * n, 1)


@kernel
@kernels.rounded_once
def glu(x: Any, dim: int) -> Any:
    """The first half along ``dim`` times the sigmoid of the second."""
    a, b = halves(kernels, x, dim)
    return a * kernels.sigmoid(b)


@kernel
@kernels.rounded_once
def glu_backward(g: Any, x: Any, dim: int) -> Any:
    """The gradient of :func:`glu`."""
    a, b = halves(kernels, x, dim)
    s = kernels.sigmoid(b)
    gate = g * s
    return np.concatenate((gate, gate * (1 - s) * a), axis=dim)


@formula
def glu_tangent(F: Any, x_t: Any, x: Any, dim: int) -> Any:
    """The tangent of :func:`glu`, and so the transpose of :func:`glu_backward`."""
    (a, b), (a_t, b_t) = halves(F, x, dim), halves(F, x_t, dim)
    s = F.sigmoid(b)
    return (a_t + b_t * a * (1 - s)) * s


@formula
def glu_push(F: Any, x_t: Any, x: Any, result: Any, dim: int) -> Any:
    """:func:`glu_tangent` in the order of PyTorch's forward mode, where an infinite ``b_t`` gives NaN."""
    b, (a_t, b_t) = halves(F, x, dim)[1], halves(F, x_t, dim)
    s = F.sigmoid(b)
    return a_t * s + result * (b_t - s * b_t)


@formula
def glu_second(F: Any, t: Any, g: Any, x: Any, dim: int) -> Any:
    """The gradient of :func:`glu_backward` in ``x``, and its tangent: the matrix of second derivatives is symmetric."""
    (a, b), (a_t, b_t) = halves(F, x, dim), halves(F, t, dim)
    s = F.sigmoid(b)
    slope = g * s * (1 - s)
    return F.join_halves(b_t * slope, slope * (a_t + b_t * a * (1 - 2 * s)), dim)


op(
    "glu(self, dim=-1)",
    "GluBackward0",
    self="glu_backward(g, self, dim)",
    jvp="glu_push(self_t, self, result, dim)",
    kinds="f",
)
op(
    "glu_backward(grad_output, self, dim)", "GluBackwardBackward0", grad_output="glu_tangent(g, self, dim)",
    self="glu_second(g, grad_output, self, dim)",
    jvp="glu_backward(grad_output_t, self, dim) + glu_second(self_t, grad_output, self, dim)",
)  # fmt: skip

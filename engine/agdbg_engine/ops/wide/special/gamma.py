"""Gamma functions, their logarithmic derivatives and incomplete integrals, and Hurwitz's zeta function; SciPy's values."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ....tensor import Tensor
from ...kernel_names import no_kernel
from ..declare import INPLACE, formula, op, public, unary
from .scipy_values import by_scipy, functions_of

# ----- values -----


def _lgamma(x: Any) -> Any:
    """Log of the absolute value of the gamma function."""
    found = functions_of(x).gammaln(x).astype(x.dtype)
    tiny = np.abs(x) < 1e-300  # where the function of SciPy is infinite, and the gamma function 1 / x
    return np.where((x == -np.inf) | (x == 0), x.dtype.type(np.inf), np.where(tiny, -np.log(np.abs(x)), found))


def _digamma(x: Any) -> Any:
    """Derivative of log gamma; at 0 an infinity of the other sign, NaN at negative integers."""
    found = functions_of(x).digamma(x).astype(x.dtype)
    return np.where(x == 0, np.copysign(x.dtype.type(np.inf), -x), found)


def _polygamma(n: int, x: Any) -> Any:
    """Derivative of order ``n`` of :func:`_digamma`."""
    if n == 0:
        return _digamma(x)
    dtype = x.dtype
    if dtype == np.float16:
        x = x.astype(np.float32)
    if n == 1:
        return _trigamma(x).astype(dtype)
    factor = (-1.0) ** (n + 1) * math.gamma(n + 1)
    return (factor * _zeta(n + 1.0, x)).astype(dtype)


def _zeta(x: Any, q: Any) -> Any:
    """Hurwitz's zeta function; at an infinite ``q`` PyTorch has NaN for its limit 0."""
    found = _ZETA(x, q)
    return np.where((q == math.inf) & (x != 1), found.dtype.type(math.nan), found)


_ZETA = by_scipy("zeta")


_BERNOULLI = 1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730
"""Coefficients of the asymptotic series of :func:`_trigamma`; from 6.5 on it is exact in double precision."""


def _trigamma(x: Any) -> Any:
    """The first derivative of digamma, which every gradient of it needs: by reflection left of 1/2, then steps to the right
    until its series is exact. Several times as fast as the zeta function that it is a case of.
    """
    left = x < 0.5
    y = np.where(left, 1 - x, x)
    total = np.zeros_like(y)
    for step in range(6):
        total = total + 1 / np.square(y + step)
    inverse = 1 / (y + 6)
    square = inverse * inverse
    series = functools.reduce(lambda found, b: (found + b) * square, reversed(_BERNOULLI), np.zeros_like(y))
    total = total + inverse * (1 + inverse / 2 + series)
    return np.where(left, np.square(np.pi / np.sin(np.pi * x)) - total, total)


def _mvlgamma(x: Any, p: int) -> Any:
    """Log of the gamma function of ``p`` dimensions."""
    parts = (_lgamma(x - i / 2) for i in range(p))
    return (functools.reduce(np.add, parts) + p * (p - 1) / 4 * math.log(math.pi)).astype(x.dtype)


@formula
def mvlgamma_grad(F: Any, g: Any, x: Any, p: int) -> Any:
    """``g`` times a digamma function for every dimension."""
    return g * functools.reduce(lambda total, part: total + part, (F.digamma(x + -i / 2) for i in range(p)))


# fmt: off
unary("lgamma(self)", "LgammaBackward0", "g * digamma(self)", kinds="f", value=_lgamma,
      where="torch Tensor special.gammaln")
unary("digamma(self)", "DigammaBackward0", "g * polygamma(1, self)", kinds="f", value=_digamma,
      where="torch Tensor special special.psi")
polygamma = op("polygamma(n, self)", "PolygammaBackward0", self="g * polygamma(n + 1, self)", elementwise=True, floats=True,
   jvp="self_t * polygamma(n + 1, self)", kinds="f", value=_polygamma)
polygamma_written = op("polygamma_written(self, n)", "PolygammaBackward1", self="g * polygamma(n + 1, self)", elementwise=True,
   floats=True, jvp="self_t * polygamma(n + 1, self)", kinds="f", forward="polygamma(n, self)")
mvlgamma_row = unary("mvlgamma(self, p)", "MvlgammaBackward0", "mvlgamma_grad(g, self, p)", kinds="f", value=_mvlgamma,
   where="", out=False, inplace=False)
_NO_INPUT = "not_implemented(\"the derivative for '{}: input' is not implemented.\")"
op("igamma(self, other)", "IgammaBackward0", self=_NO_INPUT.format("igamma"),
   other="g * exp((self - 1) * log(other) - other - lgamma(self))", elementwise=True, kinds="f", inplace=True, out=True,
   where="torch Tensor special.gammainc", value=by_scipy("gammainc"))
op("igammac(self, other)", "IgammacBackward0", self=_NO_INPUT.format("igammac"),
   other="-g * exp((self - 1) * log(other) - other - lgamma(self))", elementwise=True, kinds="f", inplace=True, out=True,
   where="torch Tensor special.gammaincc", value=by_scipy("gammaincc"))
op("zeta(self, other)", "SpecialZetaBackward0", self="not_implemented(\"the derivative for 'zeta' is not implemented.\")",
   other="g * -self * zeta(self + 1, other)", elementwise=True, floats=True, kinds="w", out=True, where="special",
   scalars={"self": "SpecialZetaBackward1", "other": "SpecialZetaBackward2"}, value=_zeta)
# fmt: on


# ----- as users write them -----


def _order(n: int, x: Tensor) -> int:
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if x.dtype.kind == "c":
        raise no_kernel(("digamma", "trigamma", "polygamma")[min(n, 2)], x.dtype)
    return n


@public("torch.polygamma special.polygamma", out=True)
def _polygamma_of(n: int, self: Tensor) -> Tensor:
    """The derivative of order ``n`` of the digamma function at ``self``."""
    return polygamma(_order(n, self), self)


@public("Tensor.polygamma")
def _polygamma_at(self: Tensor, n: int) -> Tensor:
    """The derivative of order ``n`` of the digamma function here."""
    return polygamma(_order(n, self), self)


INPLACE["polygamma_"] = lambda self, n: polygamma_written(self, _order(n, self))


@public("torch Tensor special.multigammaln", out=True, inplace=True)
def mvlgamma(self: Tensor, p: int) -> Tensor:
    """Log of the gamma function in ``p`` dimensions, without checking that elements exceed (p - 1) / 2."""
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    if self.dtype.kind == "b":
        raise RuntimeError("The input tensor may not be a boolean tensor.")
    return mvlgamma_row(self, p)

"""Circular and hyperbolic functions and their inverses, and angles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...kernels_reduce import rounded_once
from ..declare import formula, op, unary
from . import blocks


def _hypot(x: Any, y: Any) -> Any:
    """The root of the sum of squares."""
    return blocks.by_blocks(blocks.hypot, np.hypot, x, y)


def _with_arc(name: str) -> str:
    """Where the inverse function ``name`` is public: under its long name as well."""
    long = "arc" + name[1:]
    return f"torch Tensor torch.{long} Tensor.{long}"


@formula
def acosh_slope(F: Any, x: Any) -> Any:
    """Derivative of acosh; for complex numbers a product of two roots, which has the right branch."""
    if x.dtype.kind != "c":
        return F.rsqrt(x * x - 1)
    return F.rsqrt(x - -1) * F.rsqrt(x - 1)  # a sum would lose the sign of an imaginary part of -0


@formula
def over_square(F: Any, y: Any, a: Any, b: Any) -> Any:
    """``y / (a ** 2 + b ** 2)``, and 0 where that divides by 0; written over a buffer ``y``, which nobody else has.

    A product with the reciprocal, which overflows where PyTorch's does.
    """
    square = a * a + b * b
    if type(y) is np.ndarray and y.dtype == square.dtype and y.shape == square.shape:
        nothing = square == 0
        np.reciprocal(square, square)
        square[nothing] = 0
        y *= square
        return y
    return y * F.drop(F.reciprocal(square), square == 0)


@formula
def sinc_grad(F: Any, g: Any, x: Any) -> Any:
    """Gradient of ``sin(pi x) / (pi x)``; 0 at 0, whatever comes in."""
    angle = x * math.pi
    square = x * angle
    return F.where(square == 0, 0.0, g * ((angle * F.cos(angle) - F.sin(angle)) / square))


@formula
def conjugated_slope(F: Any, x: Any) -> Any:
    """The conjugate of a slope, which is not the slope at the conjugate where that lies on the other side of a branch cut."""
    return F.conj_raw(x) if x.dtype.kind == "c" else x


def _inverse(name: str, node: str, slope: str, value: Any) -> None:
    """An inverse function whose derivative has branch cuts."""
    unary(
        f"{name}(self)", node, f"g * conjugated_slope({slope})", jvp=f"self_t * {slope}", value=value, where=_with_arc(name),
        holomorphic=False,
    )  # fmt: skip


# fmt: off
unary("tan(self)", "TanBackward0", "g * (1 + result * result)", value=np.tan)
_inverse("asin", "AsinBackward0", "rsqrt(1 - self * self)", np.arcsin)
_inverse("acos", "AcosBackward0", "(-rsqrt(1 - self * self))", np.arccos)
unary("atan(self)", "AtanBackward0", "g / (self * self + 1)", value=np.arctan, where=_with_arc("atan"))
_inverse("asinh", "AsinhBackward0", "rsqrt(self * self + 1)", np.arcsinh)
_inverse("acosh", "AcoshBackward0", "acosh_slope(self)", np.arccosh)
unary("atanh(self)", "AtanhBackward0", "g / (1 - self * self)", value=np.arctanh, where=_with_arc("atanh"))
unary("sinc(self)", "SincBackward0", "sinc_grad(g, self)", value=rounded_once(np.sinc), where="torch Tensor special")

op("atan2(self, other)", "Atan2Backward0", self="over_square(g * other, self, other)",
   other="over_square(g * -self, self, other)", jvp="(self_t * other - other_t * self) / (self * self + other * other)",
   elementwise=True, floats=True, kinds="f", inplace=True, out=True, where=_with_arc("atan2"), value=np.arctan2)
op("hypot(self, other)", "HypotBackward0", self="g * (self / result)", other="g * (other / result)",
   jvp="self_t * (self / result) + other_t * (other / result)", elementwise=True, kinds="f", inplace=True, out=True,
   where="torch Tensor", value=_hypot)

unary("deg2rad(self)", "Deg2RadBackward0", f"in_op_math(g, {math.pi / 180})", value=np.deg2rad, kinds="f")
unary("rad2deg(self)", "Rad2DegBackward0", f"in_op_math(g, {180 / math.pi})", value=np.rad2deg, kinds="f")

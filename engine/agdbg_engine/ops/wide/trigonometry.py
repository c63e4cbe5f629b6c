"""Circular and hyperbolic functions and their inverses, and angles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .declare import formula, op, unary


def _with_arc(name: str) -> str:
    """Where the inverse function ``name`` is public: under its long name as well."""
    long = "arc" + name[1:]
    return f"torch Tensor torch.{long} Tensor.{long}"


@formula
def acosh_slope(F: Any, x: Any) -> Any:
    """Derivative of acosh; for complex numbers a product of two roots, which has the right branch."""
    return F.rsqrt(x + 1) * F.rsqrt(x - 1) if x.dtype.kind == "c" else F.rsqrt(x * x - 1)


@formula
def over_square(F: Any, y: Any, a: Any, b: Any) -> Any:
    """``y / (a ** 2 + b ** 2)``, and 0 where that divides by 0."""
    square = a * a + b * b
    return F.drop(y / square, square == 0)


@formula
def sinc_slope(F: Any, x: Any) -> Any:
    """Derivative of ``sin(pi x) / (pi x)``; 0 at 0."""
    angle = x * math.pi
    square = x * angle
    return F.where(square == 0, 0.0, (angle * F.cos(angle) - F.sin(angle)) / square)


# fmt: off
unary("tan(self)", "TanBackward0", "g * (1 + result * result)", value=np.tan)
unary("asin(self)", "AsinBackward0", "g * rsqrt(1 - self * self)", value=np.arcsin, where=_with_arc("asin"))
unary("acos(self)", "AcosBackward0", "g * -rsqrt(1 - self * self)", value=np.arccos, where=_with_arc("acos"))
unary("atan(self)", "AtanBackward0", "g / (self * self + 1)", value=np.arctan, where=_with_arc("atan"))
unary("asinh(self)", "AsinhBackward0", "g * rsqrt(self * self + 1)", value=np.arcsinh, where=_with_arc("asinh"))
unary("acosh(self)", "AcoshBackward0", "g * acosh_slope(self)", value=np.arccosh, where=_with_arc("acosh"))
unary("atanh(self)", "AtanhBackward0", "g / (1 - self * self)", value=np.arctanh, where=_with_arc("atanh"))
unary("sinc(self)", "SincBackward0", "g * sinc_slope(self)", value=np.sinc, where="torch Tensor special")

op("atan2(self, other)", "Atan2Backward0", self="over_square(g * other, self, other)",
   other="over_square(g * -self, self, other)", jvp="over_square(self_t * other - other_t * self, self, other)",
   elementwise=True, floats=True, kinds="f", inplace=True, out=True, where=_with_arc("atan2"), value=np.arctan2)
op("hypot(self, other)", "HypotBackward0", self="g * (self / result)", other="g * (other / result)",
   jvp="self_t * (self / result) + other_t * (other / result)", elementwise=True, kinds="f", inplace=True, out=True,
   where="torch Tensor", value=np.hypot)

unary("deg2rad(self)", "Deg2RadBackward0", f"g * {math.pi / 180}", value=np.deg2rad, kinds="f")
unary("rad2deg(self)", "Rad2DegBackward0", f"g * {180 / math.pi}", value=np.rad2deg, kinds="f")

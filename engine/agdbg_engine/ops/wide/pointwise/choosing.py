"""Elementwise functions that pick among values: limits, signs, roundings, neighbouring numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....tensor import Tensor
from ... import elementwise
from ...compare import isfinite
from ...explain import not_a_tensor
from ..declare import formula, in_both, op, public, unary

in_both("isfinite", np.isfinite, isfinite)


def _at_zero(x: Any, values: Any) -> Any:
    """0 below 0, 1 above, ``values`` at 0."""
    return np.where(x == 0, values, (x > 0).astype(x.dtype))


def _decimals(x: Any, decimals: int) -> Any:
    """X rounded to so many decimals, before the point when negative."""
    scale = x.dtype.type(10.0 ** abs(decimals))
    if decimals == 0:
        return np.rint(x)
    return np.rint(x * scale) / scale if decimals > 0 else np.rint(x / scale) * scale


def _numbers_for(x: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    """X with numbers for NaN and the infinities; by default 0 and the largest ones."""
    return np.nan_to_num(x, copy=True, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


def _fraction(x: Any) -> Any:
    return x - np.trunc(x)


@formula
def same_sign_grad(F: Any, g: Any, x: Any, result: Any) -> Any:
    """Gradient of ``copysign(x, y)`` in x: 1 or -1, and 0 at 0."""
    return g * F.drop(result / x, x == 0)


# fmt: off
unary("frac(self)", "FracBackward0", "g", alias="self", floats=False, kinds="f", value=_fraction)
unary("nan_to_num(self, nan=0.0, posinf=None, neginf=None)", "NanToNumBackward0", "g * isfinite(self)", floats=False,
      value=_numbers_for)
round_decimals = op("round_decimals(self, decimals)", "RoundBackward1", self="zeros_of(self_shape, g)", elementwise=True,
   kinds="f", jvp="zeros_of(self_shape, self_t)", value=_decimals)
op("fmax(self, other)", "FmaxBackward0", self="keep(g, (self >= other) | isnan(other))",
   other="drop(g, (self >= other) | isnan(other))", jvp="extreme_of_two_tangent(self_t, other_t, (self > other) | isnan(other))",
   elementwise=True, out=True, where="torch Tensor", value=np.fmax, kinds="fiub")
op("fmin(self, other)", "FminBackward0", self="keep(g, (self <= other) | isnan(other))",
   other="drop(g, (self <= other) | isnan(other))", jvp="extreme_of_two_tangent(self_t, other_t, (self <= other) | isnan(other))",
   elementwise=True, out=True, where="torch Tensor", value=np.fmin, kinds="fiub")
op("copysign(self, other)", "CopysignBackward0", self="same_sign_grad(g, self, result)", other="zeros_of(other_shape, g)",
   scalars={"other": "CopysignBackward1"}, jvp="same_sign_grad(self_t, self, result)", elementwise=True, floats=True, kinds="f",
   inplace=True, out=True, where="torch Tensor", value=np.copysign)
op("nextafter(self, other)", "NextafterBackward0", self="drop(g, self == other)", other="zeros_of(other_shape, g)",
   jvp="drop(self_t, self == other)", elementwise=True, kinds="f", inplace=True, out=True, where="torch Tensor",
   value=np.nextafter)
heaviside_row = op("heaviside(self, values)", "NotImplemented", elementwise=True, kinds="fiub", value=_at_zero,
   self="not_implemented('derivative for aten::heaviside is not implemented')",
   values="not_implemented('derivative for aten::heaviside is not implemented')")
filled_with = op("filled_with(self, number)", "FillBackward1", self="zeros_of(self_shape, g)", number="sum_all(g)",
   scalars={"number": "FillBackward0"}, jvp="fill(self_t, number_t)", forward="fill(self, number)")
# fmt: on


@public("torch Tensor", out=True, inplace=True)
def heaviside(self: Tensor, values: Tensor) -> Tensor:
    """0 where ``self`` is negative, 1 where positive, ``values`` where 0; recorded, but without a gradient."""
    if not isinstance(values, Tensor):
        raise not_a_tensor("heaviside", "values", values, 2)
    if "c" in (self.dtype.kind, values.dtype.kind):
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if self.dtype != values.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    return heaviside_row(self, values)


@public("torch")
def fill(self: Tensor, value: Any) -> Tensor:
    """The number or 0-d tensor ``value`` everywhere in the shape and dtype of ``self``."""
    return filled_with(self, elementwise.fitting("fill_", self, value))


@public("torch Tensor")
def positive(self: Tensor) -> Tensor:
    """``self`` itself; not of bools."""
    if self.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self

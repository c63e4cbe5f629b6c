"""Exponentials and logarithms of other bases, and functions made of the two."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....dtype import scalar_type
from ....tensor import Tensor
from ... import elementwise, graph, kernels
from ...compare import isnan
from ...explain import no_tensor
from ..declare import INPLACE, formula, in_both, kernel, op, public, unary

in_both("isnan", np.isnan, isnan)

# fmt: off
unary("exp2(self)", "Exp2Backward0", f"g * result * {math.log(2)}", value=np.exp2, where="torch Tensor special")
unary("log2(self)", "Log2Backward0", f"g / in_op_math(self, {math.log(2)})", value=np.log2)
unary("log10(self)", "Log10Backward0", f"g / in_op_math(self, {math.log(10)})", value=np.log10)

op("logaddexp(self, other)", "LogaddexpBackward0", self="g / (1 + exp(other - self))", other="g / (1 + exp(self - other))",
   jvp="self_t / (1 + exp(other - self)) + other_t / (1 + exp(self - other))", elementwise=True, kinds="fc", out=True,
   where="torch Tensor")
op("logaddexp2(self, other)", "Logaddexp2Backward0", self="g / (1 + exp2(other - self))", value=np.logaddexp2,
   other="g / (1 + exp2(self - other))", jvp="self_t / (1 + exp2(other - self)) + other_t / (1 + exp2(self - other))",
   elementwise=True, kinds="f", out=True, where="torch Tensor")
ldexp_row = op("ldexp(self, other)", "LdexpBackward0", self="g * exp2(other)", other=f"g * result * {math.log(2)}",
   jvp=f"self_t * exp2(other) + other_t * result * {math.log(2)}", elementwise=True, floats=True, inplace=True, out=True,
   where="torch Tensor")
frexp_row = op("frexp(self)", "FrexpBackward0", self="times_power(g, -exponent)", jvp="(times_power(self_t, -exponent), None)",
   outputs="mantissa *exponent", value=np.frexp)
in_both("times_power", np.ldexp, ldexp_row)

op("xlogy(self, other)", "XlogyBackward0", self="xlogy_slope(g, self, other)", other="g * self / other",
   jvp="xlogy_slope(self_t, self, other) + other_t * self / other", elementwise=True, floats=True, kinds="f", inplace=True,
   scalars={"self": "XlogyBackward1", "other": "XlogyBackward2"}, out=True, where="torch Tensor special")
op("xlog1py(self, other)", "SpecialXlog1PyBackward0", self="xlog1py_slope(g, self, other)", other="g * self / (other + 1)",
   jvp="xlog1py_slope(self_t, self, other) + other_t * self / (other + 1)", elementwise=True, floats=True, kinds="f",
   scalars={"self": "SpecialXlog1PyBackward1", "other": "SpecialXlog1PyBackward2"}, out=True, where="special")
unary("logit(self, eps=None)", "LogitBackward0", "logit_grad(g, self, eps)", kinds="f", where="torch Tensor special")
# fmt: on


@kernel
def logaddexp(x: Any, y: Any) -> Any:
    """log(exp(x) + exp(y)); of complex numbers from the one with the larger real part, NaN where a part is one."""
    if x.dtype.kind != "c":
        return _added(x, y) if type(x) is np.ndarray and x.size >= kernels.SMALL else np.logaddexp(x, y)
    larger = x.real >= y.real
    top, low = np.where(larger, x, y), np.where(larger, y, x)
    infinite = np.isinf(top.real) & (top.real == low.real)
    at_infinity = np.where(top.real > 0, np.log(np.exp(top) + np.exp(low)), low)
    found = np.where(infinite, at_infinity, top + np.log1p(np.exp(low - top)))
    return np.where(np.isnan(x) | np.isnan(y), x.dtype.type(complex(math.nan, math.nan)), found)


def _added(x: Any, y: Any) -> Any:
    """The larger of two and what the other adds, all by NumPy's fast loops, unless a difference is not a number."""
    apart = np.abs(x - y)
    if np.isnan(apart.max()):
        return np.logaddexp(x, y)
    more = np.exp(np.negative(apart, apart), apart)
    more = np.log1p(more, more)
    more += np.maximum(x, y)
    return more


@kernel
@kernels.rounded_once
def ldexp(x: Any, exponent: Any) -> Any:
    """``x * 2 ** exponent`` for any real exponent."""
    return x * np.exp2(exponent)


@public("torch Tensor", out=True)
def frexp(self: Tensor) -> Any:
    """Mantissas in [0.5, 1) and integer powers of two whose product is ``self``; floating dtypes only."""
    if self.dtype.kind != "f":
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    return frexp_row(self)


# ----- x log y -----


@kernel
def xlogy(x: Any, y: Any) -> Any:
    """``x * log(y)``, and 0 where x is 0 unless y is NaN."""
    return _zero_times(x, np.log, y)


@kernel
def xlog1py(x: Any, y: Any) -> Any:
    """``x * log1p(y)``, and 0 where x is 0 unless y is NaN."""
    return _zero_times(x, np.log1p, y)


def _zero_times(x: Any, logarithm: Any, y: Any) -> Any:
    y = x.dtype.type(y) if isinstance(y, int | float) else y.astype(x.dtype, copy=False)
    product = x * logarithm(y)
    return np.where((x == 0) & (y == y), np.zeros_like(product), product)


@formula
def xlogy_slope(F: Any, g: Any, x: Any, y: Any) -> Any:
    """``g`` times the derivative of ``x log y`` in x; 0 at the corner."""
    return F.drop(F.xlogy(g, y), (x == 0) & (y <= 0))


@formula
def xlog1py_slope(F: Any, g: Any, x: Any, y: Any) -> Any:
    """``g`` times the derivative of ``x log1p y`` in x; 0 at the corner."""
    return F.drop(F.xlog1py(g, y), (x == 0) & (y <= -1))


# ----- logit -----


@kernel
def logit(x: Any, eps: float | None) -> Any:
    """``log(x / (1 - x))``, of ``x`` limited to [eps, 1 - eps]."""
    if eps is not None and eps >= 0:
        x = np.where(x < eps, x.dtype.type(eps), np.minimum(x, 1 - eps))
    return np.log(x / (1 - x))


def _logit_grad(g: Any, x: Any, eps: float | None) -> Any:
    """Gradient of logit: 0 beyond the limits, NaN outside [0, 1] without; at both zeros, and at 1, ``g`` times infinity."""
    slope = np.where((x == 0) | (x == 1), g * x.dtype.type(math.inf), g / (x * (1 - x)))
    if eps is None or eps < 0:
        return np.where((x < 0) | (x > 1), x.dtype.type(math.nan), slope)
    return kernels.drop(slope, (x < eps) | (x > 1 - eps))


def _recorded_logit_grad(g: Any, x: Any, eps: float | None) -> Any:
    """As :func:`_logit_grad` by a formula that can be differentiated again: as in PyTorch, limits below 0 are limits here."""
    slope, low, other = g / (x * (1 - x)), eps or 0.0, math.nan if eps is None else 0.0
    return graph.where((x >= low) & (x <= 1 - low), slope, other)  # type: ignore[attr-defined]  # rows


in_both("logit_grad", _logit_grad, _recorded_logit_grad)


# ----- powers in double precision -----


@public("torch Tensor", out=True)
def float_power(self: Any, exponent: Any) -> Tensor:
    """``self ** exponent`` in float64, or complex128 for complex operands; one of them may be a number."""
    if not isinstance(self, Tensor) and not isinstance(exponent, Tensor):
        raise no_tensor("float_power", self, exponent)
    wide = _wide(self, exponent)
    base, power = (x.to(wide) if isinstance(x, Tensor) else x for x in (self, exponent))
    return elementwise.pow(base, power)


def _float_power_into(self: Tensor, exponent: Any) -> Tensor:
    wide = _wide(self, exponent)
    if self.dtype != wide:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {scalar_type(self.dtype)} but the operation's result requires dtype "
            f"{scalar_type(wide)}"
        )
    return float_power(self, exponent)


INPLACE["float_power_"] = _float_power_into


def _wide(*operands: Any) -> np.dtype[Any]:
    """The dtype in which :func:`float_power` computes."""
    is_complex = any((x.dtype.kind == "c") if isinstance(x, Tensor) else isinstance(x, complex) for x in operands)
    return np.dtype(np.complex128 if is_complex else np.float64)

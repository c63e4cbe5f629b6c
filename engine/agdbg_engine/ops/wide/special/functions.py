"""Hyperbolic functions, the error function and its kin, modified Bessel functions that have a gradient."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....dtype import get_default_dtype, scalar_type
from ....tensor import Tensor
from ..declare import OPS, formula, linear, public, unary
from .scipy_values import by_scipy

unary("sinh(self)", "SinhBackward0", "g * cosh(self)", value=np.sinh)
unary("cosh(self)", "CoshBackward0", "g * sinh(self)", value=np.cosh)

# ----- error function -----

_ROOT = math.sqrt(math.pi)


@formula
def log_ndtr_slope(F: Any, x: Any, result: Any) -> Any:
    """The normal density over its distribution function, whose logarithm is ``result``."""
    return F.exp(-(x * x / 2 + result)) / math.sqrt(2 * math.pi)


# fmt: off
unary("erf(self)", "ErfBackward0", f"g * {2 / _ROOT} * exp(-(self * self))", kinds="f", value=by_scipy("erf"),
      where="torch Tensor special")
unary("erfc(self)", "ErfcBackward0", f"g * {-2 / _ROOT} * exp(-(self * self))", kinds="f", value=by_scipy("erfc"),
      where="torch Tensor special")
unary("erfinv(self)", "ErfinvBackward0", f"g * {_ROOT / 2} * exp(square_of(erfinv(self)))", kinds="f", value=by_scipy("erfinv"),
      where="torch Tensor special")
unary("erfcx(self)", "SpecialErfcxBackward0", f"g * (2 * self * result - {2 / _ROOT})", kinds="w", value=by_scipy("erfcx"),
      where="special", inplace=False)
unary("log_ndtr(self)", "SpecialLogNdtrBackward0", "g * log_ndtr_slope(self, result)", kinds="w", value=by_scipy("log_ndtr"),
      where="special", inplace=False)
unary("ndtri(self)", "SpecialNdtriBackward0", f"g * {math.sqrt(2 * math.pi)} * exp(result * result / 2)", kinds="w",
      value=by_scipy("ndtri"), where="special", inplace=False)
unary("entr(self)", "SpecialEntrBackward0", "g * (-1 - log(self))", kinds="f", value=by_scipy("entr"), where="special",
      inplace=False)
halved = linear("halved(self)", "MulBackward1", "g * 0.5", forward="self * 0.5")

# ----- modified Bessel functions of the first kind -----

unary("i0(self)", "I0Backward0", "g * i1(self)", kinds="f", value=by_scipy("i0"), where="torch Tensor special")
unary("i0e(self)", "SpecialI0EBackward0", "g * (i1e(self) - sgn(self) * result)", kinds="f", value=by_scipy("i0e"),
      where="special", inplace=False)
unary("i1(self)", "SpecialI1Backward0", "g * i1_slope(self, result)", kinds="f", value=by_scipy("i1"), where="special",
      inplace=False)
unary("i1e(self)", "SpecialI1EBackward0", "g * i1e_slope(self, result)", kinds="f", value=by_scipy("i1e"), where="special",
      inplace=False)
# fmt: on


@formula
def square_of(F: Any, x: Any) -> Any:
    """``x * x``."""
    return x * x


@formula
def i1_slope(F: Any, x: Any, result: Any) -> Any:
    """Derivative of i1, the limit near 0."""
    near, x = _away_from_zero(F, x)
    return F.where(near, 0.5, F.i0(x) - result / x)


@formula
def i1e_slope(F: Any, x: Any, result: Any) -> Any:
    """Derivative of i1e, the limit near 0."""
    near, x = _away_from_zero(F, x)
    return F.where(near, 0.5, F.i0e(x) - result * (F.sgn(x) + 1 / x))


def _away_from_zero(F: Any, x: Any) -> tuple[Any, Any]:
    """Where x is about 0 or, as in PyTorch, NaN; and x with another number there."""
    tiny = float(np.finfo(x.dtype).eps)
    far = F.abs(x) > tiny
    return ~far, F.where(far, x, tiny)


@public("special", out=True)
def ndtr(self: Tensor) -> Tensor:
    """The normal distribution function."""
    if self.dtype.kind == "c":
        raise NotImplementedError(f"\"erf_vml_cpu\" not implemented for '{scalar_type(self.dtype)}'")
    x = self if self.dtype.kind == "f" else self.to(get_default_dtype())
    return halved(
        OPS["erf"](x * math.sqrt(0.5)) + 1
    )  # as in PyTorch: less exact than the error function that is left over

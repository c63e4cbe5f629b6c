"""Sums and differences of which one operand is multiplied by a number first: ``alpha`` of ``add``, ``sub`` and ``rsub``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dtype import result_type
from ....scalars import written
from ....tensor import Tensor, wrap
from ... import _generated
from ...kernels_reduce import rounded_once
from ..declare import op
from ..interpret import NUMBERS, _ranked


@rounded_once
def _plus(x: Any, y: Any, alpha: Any) -> Any:
    return x + y * alpha


@rounded_once
def _minus(x: Any, y: Any, alpha: Any) -> Any:
    return x - y * alpha


@rounded_once
def _from(x: Any, y: Any, alpha: Any) -> Any:
    return y - x * alpha


# fmt: off
_ADD = op("add_scaled(self, other, alpha)", "AddBackward0", self="g", other="g * conjugated(alpha)", alias="self",
   jvp="self_t + other_t * alpha", elementwise=True, scalars={"other": "AddBackward0"}, value=_plus)
_SUB = op("sub_scaled(self, other, alpha)", "SubBackward0", self="g", other="-g * conjugated(alpha)", alias="self",
   jvp="self_t - other_t * alpha", elementwise=True, scalars={"other": "SubBackward0"}, value=_minus)
_RSUB = op("rsub_scaled(self, other, alpha)", "RsubBackward0", self="-g * conjugated(alpha)", other="g", alias="other",
   jvp="other_t - self_t * alpha", elementwise=True, scalars={"other": "RsubBackward1"}, value=_from)
# fmt: on


def add_scaled(self: Any, other: Any, alpha: Any) -> Any:
    """``self + alpha * other``, computed in the common dtype; either may be a number."""
    if not isinstance(other, (Tensor, *NUMBERS)):
        return NotImplemented
    alpha = _factor(self, other, alpha)
    return _ADD(self, other, alpha) if isinstance(self, Tensor) else _generated.add(other * alpha, self)


def sub_scaled(self: Any, other: Any, alpha: Any) -> Any:
    """``self - alpha * other``, computed in the common dtype; either may be a number."""
    if not isinstance(other, (Tensor, *NUMBERS)):
        return NotImplemented
    alpha = _factor(self, other, alpha)
    if not isinstance(self, Tensor):
        scaled: Any = other if _some_bool(other) else other * alpha  # refused there
        return _generated.rsub(scaled, self)
    if isinstance(other, bool | np.bool_):
        return _generated.sub(self, wrap(np.asarray(other)))  # refused
    return _generated.sub(self, other) if _some_bool(self, other) else _SUB(self, other, alpha)


def rsub_scaled(self: Tensor, other: Any, alpha: Any) -> Any:
    """``other - alpha * self``, computed in the common dtype."""
    if not isinstance(other, (Tensor, *NUMBERS)):
        return NotImplemented
    alpha = _factor(self, other, alpha)
    return _generated.rsub(self, other) if _some_bool(self, other) else _RSUB(self, other, alpha)


def _some_bool(*operands: Any) -> bool:
    """Whether a tensor of bools, from which nothing is subtracted, is among the ``operands``."""
    return any(isinstance(x, Tensor) and x._a.dtype.kind == "b" for x in operands)


def _factor(self: Any, other: Any, alpha: Any) -> Any:
    """``alpha`` as a number of the common dtype; refused where that cannot hold it."""
    plain = type(alpha) in (int, float) and isinstance(self, Tensor) and isinstance(other, Tensor)
    if plain and self._a.dtype == other._a.dtype and self._a.dtype.char in "fd":  # the usual case, quickly
        return alpha
    alpha = alpha.item() if isinstance(alpha, Tensor) else alpha
    dtype = result_type([_ranked(x._a if isinstance(x, Tensor) else x) for x in (self, other)])
    if isinstance(alpha, bool | np.bool_) and dtype.kind != "b":
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and dtype.kind in "biu":
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if isinstance(alpha, complex) and dtype.kind != "c":
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")
    alpha = written(alpha, dtype)
    return float(np.float16(alpha)) if dtype == np.float16 else alpha

"""Division with rounding, remainders, and arithmetic of three operands."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dtype import cpp_type, scalar_type
from ....errors import raise_if
from ....scalars import check_fits
from ....tensor import Tensor
from ...kernels_reduce import in_single, rounded_once
from ..declare import formula, op, public
from ..interpret import common_dtype
from . import blocks


@formula
def not_implemented(F: Any, text: str) -> Any:
    """Raise what PyTorch says where it has no gradient: the op is recorded all the same. It has two ways of saying so."""
    raise (RuntimeError if text.startswith("derivative for aten::") else NotImplementedError)(text)


@formula
def conjugated(F: Any, number: Any) -> Any:
    """The conjugate of a Python number; tensors are conjugated when formulas get them, those of one element too."""
    is_number = isinstance(number, int | float | complex) and not isinstance(number, np.generic)
    return number.conjugate() if is_number else number


# ----- values -----


def _divided(x: Any, y: Any, rounding_mode: str) -> Any:
    """The quotient rounded down (``floor``) or to 0 (``trunc``); of half precision by a number computed in single."""
    halves = [getattr(v, "dtype", None) == np.float16 for v in (x, y)]
    if halves == [True, False]:
        return in_single(_divided, x, y, rounding_mode)
    if halves == [False, True]:
        x = x.astype(y.dtype)
    _refuse_zero(x, y)
    if rounding_mode == "floor":
        return blocks.by_blocks(blocks.floor_divide, np.floor_divide, x, y)
    if x.dtype.kind == "f":
        return np.trunc(x / y)
    down = np.floor_divide(x, y)
    return down + ((down * y != x) & ((x < 0) != (y < 0))).astype(x.dtype)


def _divided_down(x: Any, y: Any) -> Any:
    return _divided(x, y, "floor")


_divided.in_single = _divided_down.in_single = True  # type: ignore[attr-defined]  # a number beside half precision is one of single


def _fmod(x: Any, y: Any) -> Any:
    """The remainder with the sign of x."""
    _refuse_zero(x, y)
    return blocks.by_blocks(blocks.fmod, np.fmod, x, y)


def _remainder(x: Any, y: Any) -> Any:
    """The remainder with the sign of y; a zero has that of x, unlike NumPy's."""
    _refuse_zero(x, y)
    return blocks.by_blocks(blocks.remainder, _remainder_signed, x, y)


def _remainder_signed(x: Any, y: Any, out: Any = None) -> Any:
    found = np.remainder(x, y, out=out)
    if found.dtype.kind != "f":
        return found
    zero = found == 0
    if out is not None:
        np.copyto(out, np.copysign(found, x), where=zero)
        return out
    return np.where(zero, np.copysign(found, x), found)


def _refuse_zero(x: Any, y: Any) -> None:
    if type(x) is np.ndarray and x.dtype.kind in "iub" and x.size and (y == 0).any():
        raise RuntimeError("ZeroDivisionError")


@rounded_once
def _plus_product(x: Any, a: Any, b: Any, value: Any) -> Any:
    return x + (a * b if value == 1 else a * b * value)


@rounded_once
def _plus_quotient(x: Any, a: Any, b: Any, value: Any) -> Any:
    return x + (a / b if value == 1 else a * value / b)


@rounded_once
def _between(x: Any, end: Any, weight: Any) -> Any:
    """``x + weight * (end - x)``, exact at both ends."""
    way = end - x
    return np.where(np.abs(weight) < 0.5, x + weight * way, end - way * (1 - weight))


_between.in_single = True  # a number beside half precision is one of single here


# ----- rows -----

_NONE = "not_implemented('derivative for aten::floor_divide is not implemented')"
_COMMON: dict[str, Any] = {"elementwise": True, "inplace": True, "out": True}

# fmt: off
div_rounded = op("div_rounded(self, other, rounding_mode)", "DivBackward2", self="zeros_of(self_shape, g)",
   other="zeros_of(other_shape, g)", jvp="zeros_of(result_shape, result)", elementwise=True,
   scalars={"self": "DivBackward2", "other": "DivBackward2"}, value=_divided)
floor_divide_row = op("floor_divide(self, other)", "NotImplemented", self=_NONE, other=_NONE, elementwise=True,
   scalars={"self": "NotImplemented", "other": "NotImplemented"}, value=_divided_down)
op("fmod(self, other)", "FmodBackward1", self="g", other="-g * div_rounded(self, other, 'trunc')", alias="self", kinds="fiu",
   jvp="self_t - other_t * div_rounded(self, other, 'trunc')", scalars={"other": "FmodBackward0"}, where="torch Tensor",
   value=_fmod, **_COMMON)
remainder = op("remainder(self, other)", "RemainderBackward1", self="g", other="-g * div_rounded(self, other, 'floor')",
   alias="self", kinds="fiu", jvp="self_t - other_t * div_rounded(self, other, 'floor')",
   scalars={"self": "RemainderBackward1", "other": "RemainderBackward0"}, where="torch Tensor",
   value=_remainder, **_COMMON)

addcmul_row = op("addcmul(self, tensor1, tensor2, value)", "AddcmulBackward0", self="g", alias="self", elementwise=True,
   tensor1="g * (tensor2 * conjugated(value))", tensor2="g * (tensor1 * conjugated(value))",
   jvp="self_t + (tensor1_t * tensor2 + tensor1 * tensor2_t) * value", value=_plus_product)
addcdiv_row = op("addcdiv(self, tensor1, tensor2, value)", "AddcdivBackward0", self="g", alias="self", elementwise=True,
   tensor1="g * (conjugated(value) / tensor2)", tensor2="-g * (conjugated(value) * tensor1 / (tensor2 * tensor2))",
   jvp="self_t + tensor1_t / tensor2 * value - tensor2_t * (tensor1 / tensor2) / tensor2 * value", value=_plus_quotient)
lerp_row = op("lerp(self, end, weight)", "LerpBackward1", self="g * (1 - conjugated(weight))", end="g * conjugated(weight)",
   weight="g * (end - self)", jvp="lerp(self_t, end_t, weight) + weight_t * (end - self)",
   elementwise=True, kinds="fc", scalars={"weight": "LerpBackward0"}, value=_between)
# fmt: on


# ----- as users write them -----


@public("torch Tensor", out=True, inplace=True)
def floor_divide(self: Any, other: Any) -> Tensor:
    """``self / other`` rounded down; one of them may be a number. Recorded, but without a gradient."""
    _refuse_rounded("floor", self, other)
    return floor_divide_row(self, other)


def rounded_quotient(self: Any, other: Any, rounding_mode: str) -> Tensor:
    """``self / other`` rounded down (``"floor"``) or to 0 (``"trunc"``), in the common dtype; the gradient is 0."""
    if rounding_mode not in ("trunc", "floor"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    _refuse_rounded(rounding_mode, self, other)
    return div_rounded(self, other, rounding_mode)


def _refuse_rounded(mode: str, *operands: Any) -> None:
    """Complex numbers have no order, and bools no quotient that is rounded."""
    if any(isinstance(x, Tensor | complex) and not _is_real(x) for x in operands):
        dtype = common_dtype(operands)
        if dtype.kind in "bc":
            raise NotImplementedError(f"\"div_{mode}_cpu\" not implemented for '{scalar_type(dtype)}'")


def _is_real(x: Any) -> bool:
    """Whether ``x`` is an integer or a floating number, or a tensor of them."""
    return isinstance(x, int | float) if not isinstance(x, Tensor) else x.dtype.kind in "fiu"


@public("torch Tensor", out=True, inplace=True)
def addcmul(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """``self + value * tensor1 * tensor2``, broadcast; not of bools."""
    if all(isinstance(t, Tensor) and t.dtype.kind == "b" for t in (self, tensor1, tensor2)):
        raise NotImplementedError("\"addcmul_cpu_out\" not implemented for 'Bool'")
    return addcmul_row(self, tensor1, tensor2, _value_for(value, self, tensor1, tensor2))


@public("torch Tensor", out=True, inplace=True)
def addcdiv(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """``self + value * tensor1 / tensor2``, broadcast; not of two integer tensors."""
    if all(isinstance(t, Tensor) and t.dtype.kind in "biu" for t in (tensor1, tensor2)):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true division "
            "of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * torch.trunc(tensor1 / "
            "tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for float inputs. The "
            "future addcdiv behavior is just the latter implementation: (input + value * tensor1 / tensor2), for all dtypes."
        )
    return addcdiv_row(self, tensor1, tensor2, _value_for(value, self, tensor1, tensor2))


def _value_for(value: Any, *tensors: Any) -> Any:
    """The factor in the dtype of the result, if that is an integer; a complex one needs a complex result."""
    if not all(isinstance(t, Tensor) for t in tensors):
        return value  # said by the op itself
    value = _fitting(value, common_dtype(tensors))
    return int(value) if all(t.dtype.kind in "biu" for t in tensors) else value


def _fitting(number: Any, dtype: np.dtype[Any]) -> Any:
    """``number`` as one of Python, real beside real numbers; one of NumPy would pass for a tensor of one element."""
    number = number.item() if isinstance(number, np.generic) else number
    if not isinstance(number, complex) or dtype.kind == "c":
        return number
    raise_if(check_fits(number, np.dtype(np.float32) if dtype.char == "e" else dtype))
    return number.real


@public("torch Tensor", out=True, inplace=True)
def lerp(self: Tensor, end: Tensor, weight: Any) -> Tensor:
    """``self + weight * (end - self)`` for a number or a tensor ``weight``; all of one dtype."""
    for name, x in (("end", end), ("weight", weight)):
        if (
            isinstance(x, Tensor)
            and x.dtype != self.dtype
            and not (name == "weight" and x.ndim == 0 and x.dtype.kind == "f")
        ):
            theirs, own = cpp_type(x.dtype), cpp_type(self.dtype)
            raise RuntimeError(f"expected dtype {own} for `{name}` but got dtype {theirs}")
    if self.dtype.kind not in "fc":
        form = "tensor" if isinstance(weight, Tensor) else "scalar"
        raise NotImplementedError(f"\"lerp_kernel_{form}\" not implemented for '{scalar_type(self.dtype)}'")
    return lerp_row(self, end, _fitting(weight, self.dtype))

"""Arithmetic, choosing and limits as users write them, on the rows of the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import events, overrides
from ..backends import on_host
from ..device import beside, may_arrive_later, same_place
from ..dtype import cpp_type, get_default_dtype, is_differentiable, result_type, scalar_type
from ..errors import raise_if
from ..grad_mode import mode
from ..scalars import check_fits, written
from ..several import at_home
from ..signatures import Guard, refusal
from ..tensor import Tensor, wrap
from . import _generated as g
from . import kernels as k
from .explain import broadcast_error, mask_error, not_a_tensor, shape_error
from .kernel_names import no_kernel
from .refuse import refuse_complex


def _checked(name: str, result: Tensor, other: Any, argument: str = "other") -> Tensor:
    """``result`` of an op, which is ``NotImplemented`` where operators must let the other operand try."""
    if result is NotImplemented:
        # of the method; functions tell it by their own forms
        raise refusal(f"Tensor.{name}", (other,), {}) or not_a_tensor(name, argument, other, 1)
    return result


def _of_old(name: str, function: Any, self: Any, *more: Any) -> Tensor:
    """The method called with ``alpha`` before ``other``, as PyTorch still takes it, or its error for too many arguments."""
    args, kwargs = Guard(f"Tensor.{name}").examine(more, {})
    return function(self, *args, **kwargs)


def _scale(op: str, alpha: Any) -> Any:
    """``alpha`` as a number: PyTorch takes it out of a tensor without dimensions."""
    if not isinstance(alpha, Tensor):
        return alpha
    if alpha._a.ndim or alpha.requires_grad:
        raise TypeError(f"{op}(): argument 'alpha' must be Number, not Tensor")
    return alpha._a.item()


def add(self: Any, other: Any, *more: Any, alpha: Any = 1) -> Tensor:
    """``self + alpha * other``; one of them may be a number."""
    if more:
        return _of_old("add", add, self, other, *more)
    if type(alpha) is not int:
        alpha = _scale("add", alpha)
    if alpha != 1 or alpha is True:
        asked = overrides.asked_by(self, (other,)) if overrides.seen else ()
        if asked:
            return overrides.dispatch(add, asked, (self, other), {"alpha": alpha})
        from .wide.pointwise.scaled_sums import add_scaled

        return _checked("add", add_scaled(self, other, alpha), other)
    return _checked("add", g.add(self, other) if isinstance(self, Tensor) else g.add(other, self), other)


def sub(self: Any, other: Any, *more: Any, alpha: Any = 1) -> Tensor:
    """``self - alpha * other``; one of them may be a number."""
    if more:
        return _of_old("sub", sub, self, other, *more)
    if type(alpha) is not int:
        alpha = _scale("sub", alpha)
    if alpha != 1 or alpha is True:
        asked = overrides.asked_by(self, (other,)) if overrides.seen else ()
        if asked:
            return overrides.dispatch(sub, asked, (self, other), {"alpha": alpha})
        from .wide.pointwise.scaled_sums import sub_scaled

        return _checked("sub", sub_scaled(self, other, alpha), other)
    return _checked("sub", g.sub(self, other) if isinstance(self, Tensor) else g.rsub(other, self), other)


def rsub(self: Tensor, other: Any, *more: Any, alpha: Any = 1) -> Tensor:
    """``other - alpha * self``; beside a number ``alpha`` may be given by position."""
    if more:
        if isinstance(other, Tensor) or len(more) > 1:
            raise TypeError(f"rsub() takes 2 positional arguments but {2 + len(more)} were given")
        (alpha,) = more
    if type(alpha) is not int:
        alpha = _scale("rsub", alpha)
    if alpha != 1 or alpha is True:
        from .wide.pointwise.scaled_sums import rsub_scaled

        return _checked("rsub", rsub_scaled(self, other, alpha), other)
    return _checked("rsub", g.rsub(self, other), other)


def mul(self: Any, other: Any) -> Tensor:
    """``self * other``; one of them may be a number."""
    return _checked("mul", g.mul(self, other) if isinstance(self, Tensor) else g.mul(other, self), other)


def div(self: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """``self / other``, one of which may be a number: true division, integers in the default dtype.

    With ``rounding_mode`` ``"floor"`` or ``"trunc"`` rounded down or to 0, in the common dtype; the gradient is 0.
    """
    if rounding_mode is not None:
        from .wide.pointwise.arithmetic import rounded_quotient

        return rounded_quotient(self, other, rounding_mode)
    return _checked("div", g.div(self if isinstance(self, Tensor) else _dividend(self, other), other), other)


def _dividend(number: Any, divisor: Any) -> Any:
    """A number that a function, not an operator, divides: a tensor, since the product with the reciprocal rounds twice."""
    if not isinstance(number, int | float | complex) or not isinstance(divisor, Tensor):
        return number
    default = np.result_type(get_default_dtype(), np.complex64) if isinstance(number, complex) else get_default_dtype()
    dtype = result_type([(divisor.dtype, 2 if divisor.ndim else 1), (default, 0)])
    with np.errstate(over="ignore"):
        return wrap(beside(np.asarray(number, dtype), divisor._a))


def pow(self: Any, exponent: Any) -> Tensor:
    """``self ** exponent``; one of them may be a number."""
    asked = overrides.asked_by(self, (exponent,)) if overrides.seen else ()
    if asked:
        return overrides.dispatch(pow, asked, (self, exponent), {})  # the op itself tells of an operator
    if isinstance(exponent, bool):
        if isinstance(self, Tensor) and self._a.dtype.kind == "b":
            return g.clone(self) if exponent else g.fill(self, True)
        exponent = int(exponent)
    return _checked("pow", g.pow(self, exponent), exponent, "exponent")


def square(self: Tensor) -> Tensor:
    """``self ** 2``."""
    return g.pow(self, 2)


def round(self: Tensor, *, decimals: int | None = None) -> Tensor:
    """The nearest integer, the even one of two; with ``decimals`` so many are kept, before the point when negative."""
    if decimals is None:
        return g.round(self)
    from .wide.pointwise.choosing import round_decimals

    if decimals == 0 and self.dtype.kind != "f":
        raise no_kernel("round_vml_cpu", self.dtype)
    return round_decimals(self, decimals)


def sign(self: Tensor) -> Tensor:
    """-1, 0 or 1; bools as they are."""
    return g.sign(self) if self._a.dtype.kind != "b" else g.clone(self)


def rdiv(self: Tensor, other: Any) -> Tensor:
    """``other / self`` for a number ``other``."""
    return g.mul(g.reciprocal(self), other)


def rdiv_by_hand(self: Tensor, other: Any) -> Any:
    """``x.__rdiv__(other)``, a method that PyTorch still has; another tensor will do."""
    return g.mul(self.reciprocal(), other)


def rpow(self: Tensor, other: Any) -> Tensor:
    """``other ** self`` for a number ``other``."""
    return g.pow(other, self)


# ----- choosing -----


def where(condition: Tensor, self: Any = None, other: Any = None) -> Any:
    """Elements of ``self`` where ``condition`` holds, else of ``other``; positions where it holds without them."""
    if not isinstance(condition, Tensor):
        raise not_a_tensor("where", "condition", condition, 1)
    if self is None and other is None:
        from .wide.indexing.nonzeros import nonzero

        return nonzero(condition, as_tuple=True)
    if condition._a.dtype.kind != "b":
        if condition._a.dtype != np.uint8:
            name = scalar_type(condition.dtype)
            raise RuntimeError(f"where expected condition to be a boolean tensor, but got a tensor with dtype {name}")
        condition = condition.to(np.dtype(np.bool_))
    if not isinstance(self, Tensor) and not isinstance(other, Tensor):
        from ..creation import tensor

        self = tensor(_choosable(get_default_dtype(), self), device=condition.device)
    if isinstance(self, Tensor) and not isinstance(other, Tensor):
        other = _choosable(self._a.dtype, other)
    elif isinstance(other, Tensor) and not isinstance(self, Tensor):
        self = _choosable(other._a.dtype, self)
    result = g.where(condition, self, other)
    return _checked("where", result, other if isinstance(self, Tensor) else self)


def _choosable(dtype: Any, number: Any) -> Any:
    """A number beside a tensor of ``dtype``, for which PyTorch makes a tensor: it must fit into that."""
    if type(number) is int and dtype.kind in "iu":
        return written(number, dtype)
    if isinstance(number, float | complex) and not abs(number) <= _LARGE:
        held = get_default_dtype() if dtype.kind in "biu" or dtype.char == "e" else dtype
        for part in (number.real, number.imag):
            if check_fits(part, held.type(0).real.dtype) is not None:
                raise_if(RuntimeError(f"value cannot be converted to type {cpp_type(held)} without overflow"))
    return number


_LARGE = 3e38
"""About the largest number of single precision."""


def where_self(self: Tensor, condition: Tensor, other: Any) -> Any:
    """``x.where(condition, other)``: elements of ``x`` where ``condition`` holds, else of ``other``."""
    return where(condition, self, other)


def masked_fill(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    """``self`` with the number or 0-d tensor ``value`` where ``mask``."""
    if not isinstance(mask, Tensor):
        raise not_a_tensor("masked_fill", "mask", mask, 2)
    wrong = mask_error(mask, value)
    if wrong is not None:
        raise broadcast_error([mask._a.shape, self._a.shape]) or wrong
    try:
        value = fitting("masked_fill_", self, value)
    except RuntimeError:
        raise_if(broadcast_error([mask._a.shape, self._a.shape]))
        raise
    return _checked("masked_fill", g.masked_fill(self, mask, value), value, "value")


def fill(self: Tensor, value: Any) -> Tensor:
    """The number or 0-d tensor ``value`` everywhere (the in-place form is public)."""
    value = fitting("fill_", self, value)
    if isinstance(value, Tensor) and not same_place(value._a, self._a):
        value = value.to(self.device)
    return _checked("fill_", g.fill(self, value), value, "value")


def copy(self: Tensor, other: Any, non_blocking: bool = False) -> Tensor:
    """The tensor or number ``other`` in the shape and dtype of ``self`` (the in-place form is public).

    With ``non_blocking`` a copy to a device is not waited for, nor one to pinned memory of the host, outside of graphs and
    tangents: what is given then is still on the device, and the in-place form lets it arrive where it writes.
    """
    if isinstance(other, int | float | complex | np.number | np.bool_):
        other = wrap(beside(np.asarray(other), self._a))
    if not isinstance(other, Tensor):
        raise not_a_tensor("copy_", "other", other, 1)
    if other._rg and not is_differentiable(self._a.dtype):
        other = other.to(self._a.dtype)  # no gradient comes out of it
    if not same_place(other._a, self._a):
        if non_blocking and may_arrive_later(self._a, other._a) and _is_plain_copy(self, other):
            return _on_its_device(self, other)
        other = other.to(self.device, non_blocking=non_blocking and not on_host(self._a))
    return g.copy(self, other)


def _is_plain_copy(x: Tensor, src: Tensor) -> bool:
    """Whether nothing is recorded of a copy, for gradients or tangents, and the shapes fit."""
    if events.special & events.FORWARD or (mode.grad and any(t._rg and t.requires_grad for t in (x, src))):
        return False
    return src.ndim <= x.ndim and all(a in (1, b) for a, b in zip(src.shape[::-1], x.shape[::-1], strict=False))


@at_home
def _on_its_device(x: Tensor, src: Tensor) -> Tensor:
    return wrap(k.copy(x._a, src._a))


def fitting(op: str, x: Tensor, value: Any) -> Any:
    """``value`` in the dtype of ``x``, which it takes on."""
    if isinstance(value, Tensor):
        if value.ndim == 0:
            loses_part = value._a.dtype.kind == "c" != x._a.dtype.kind
            # fill_ takes the real part; and a device is not waited for
            if op != "fill_" and (loses_part or on_host(value._a)):
                raise_if(check_fits(value._a.item(), x._a.dtype))
            return value.to(x.dtype)
        raise shape_error(f"{op} only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions.")
    half = op != "fill_" or x._a.size != 1
    return written(value, x._a.dtype, half) if isinstance(value, int | float | complex) else value


# ----- limits -----


def clamp(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Elements limited to [min, max], numbers or tensors, either of which may be missing."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if isinstance(min, Tensor) != isinstance(max, Tensor) and min is not None and max is not None:
        kinds = ", ".join(type(x).__name__ for x in (self, min, max))
        min, max = _as_number(min, kinds), _as_number(max, kinds)
    limits = [x for x in (min, max) if x is not None]
    if any(isinstance(x, Tensor) for x in limits):
        from .wide.pointwise.limits import clamp_both

        if self._a.dtype.kind == "c":
            refuse_complex("clamp", self._a.dtype)
        dtype = result_type([(x._a.dtype, 2 if x._a.ndim else 1) for x in (self, *limits)])
        if dtype.kind == "c" or (dtype.kind == "b" and len(limits) == 2):
            kernel = "clamp" if len(limits) == 2 else "maximum" if max is None else "minimum"
            raise NotImplementedError(f"\"{kernel}_cpu\" not implemented for '{scalar_type(dtype)}'")
        return clamp_both(self, min, max)
    _refuse_bools("clamp" if len(limits) == 2 else "clamp_min" if max is None else "clamp_max", self, *limits)
    return g.clamp(_for_limits("clamp", self, min, max), min, max)


def _as_number(limit: Any, kinds: str) -> Any:
    """A limit beside one that is a number: a tensor without dimensions and without a gradient will do for one."""
    if not isinstance(limit, Tensor):
        return limit
    if limit.ndim or limit.requires_grad:
        raise TypeError(f"clamp() received an invalid combination of arguments - got ({kinds}), but expected one of:")
    return limit.item()


def clamp_min(self: Tensor, min: Any) -> Tensor:
    """Elements no smaller than ``min``, a number or a tensor."""
    return _limited(self, min, "min", g.clamp_min, g.clamp_min_tensor)


def clamp_max(self: Tensor, max: Any) -> Tensor:
    """Elements no greater than ``max``, a number or a tensor."""
    return _limited(self, max, "max", g.clamp_max, g.clamp_max_tensor)


def _limited(x: Tensor, limit: Any, name: str, number: Callable[..., Tensor], tensor: Callable[..., Tensor]) -> Tensor:
    if isinstance(limit, Tensor):
        return tensor(x, limit)
    if not isinstance(limit, int | float | complex):
        raise not_a_tensor(f"clamp_{name}", name, limit, 2)
    _refuse_bools(f"clamp_{name}", x, limit)
    return number(_for_limits(f"clamp_{name}", x, limit), limit)


def _refuse_bools(op: str, x: Tensor, *limits: Any) -> None:
    """PyTorch has no limits for bools that are bools too."""
    if x._a.dtype.kind == "b" and all(isinstance(limit, bool) for limit in limits):
        raise NotImplementedError(f"\"{op}_scalar_cpu\" not implemented for 'Bool'")


def _for_limits(op: str, x: Tensor, *limits: Any) -> Tensor:
    """``x`` in a dtype that can hold the limits, which are refused if none can: integers under a float limit as floats."""
    kind = x._a.dtype.kind
    if kind == "f":
        for limit in limits:
            if type(limit) in (float, int) and not -_HALF <= limit <= _HALF:
                raise_if(check_fits(limit, x._a.dtype))
        if complex not in map(type, limits):
            return x
    if kind == "c" or complex in map(type, limits):
        refuse_complex(op, x._a.dtype)
    if any(isinstance(limit, float) for limit in limits):
        return x.to(get_default_dtype())
    return x.to(np.dtype(np.int64)) if x._a.dtype.kind == "b" else x


_HALF = 65504
"""The largest number of half precision."""

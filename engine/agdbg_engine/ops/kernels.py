"""Values of ops on bare buffers (NumPy or CuPy), by the op's name: what formulas call when no graph is recorded.

Ufuncs are NumPy's own and travel to the library of their inputs by its dispatch protocol. Division by zero and the like
is silent, as in PyTorch: a warnings filter for this package (see ``agdbg_engine/__init__.py``) catches NumPy's warnings, and
where the user has made errors of them, :func:`.prepare.failed` computes again without. Backward passes switch them off.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy import (  # noqa: F401 - the kernels of the ops of these names
    abs,
    add,
    ceil,
    cos,
    exp,
    expm1,
    floor,
    log,
    log1p,
    maximum,
    minimum,
    sin,
    sqrt,
    tanh,
    trunc,
)
from numpy import conj as conj_copy  # noqa: F401 - a kernel
from numpy import conj as conj_raw  # noqa: F401 - a kernel
from numpy import divide as div  # noqa: F401 - a kernel
from numpy import multiply as mul  # noqa: F401 - a kernel
from numpy import negative as _negative
from numpy import negative as neg  # noqa: F401 - a kernel
from numpy import power as _power
from numpy import reciprocal as _reciprocal
from numpy import subtract as sub  # noqa: F401 - a kernel

from ..device import array_module
from ..fused import fused
from ..layout import as_they_lie as _as_they_lie
from ..sites import user_stacklevel
from .kernels_reduce import *  # noqa: F403 - kernels too
from .kernels_reduce import in_single, rounded_once
from .kernels_shape import *  # noqa: F403 - kernels too

ndarray = np.ndarray
Shape = tuple[int, ...]
GELU = 0.7978845608028654  # sqrt(2 / pi)

# ----- functions of one tensor -----


def reciprocal(x: Any) -> Any:
    """1 / x; of complex numbers by a division, which knows 0 and infinities."""
    return np.divide(x.dtype.type(1), x) if x.dtype.kind == "c" else _reciprocal(x)


@rounded_once
def rsqrt(x: Any) -> Any:
    """1 / sqrt(x)."""
    return 1 / np.sqrt(x)


@fused("T x", "T out", "out = T(1) / (T(1) + exp(-x));")
def sigmoid_elsewhere(x: Any) -> Any:
    """As :func:`sigmoid`, of a scalar or on a device, where there is nothing to write into."""
    e = np.exp(_negative(x))
    return np.reciprocal(e + constant(1, e))


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)); the overflow of exp gives the right 0."""
    if x.dtype.char == "e":  # in which exp overflows where the result does not vanish yet
        return in_single(sigmoid, x)
    if type(x) is not ndarray or not x.ndim:
        return sigmoid_elsewhere(x)
    e = _negative(x)
    exp(e, e)
    add(e, constant(1, e), e)
    return _reciprocal(e, e)


def constant(value: float, like: Any) -> Any:
    """``value`` as a 0-d array, made once: a Python number costs a small ufunc as much again as its work."""
    if type(like) is not ndarray:
        return value
    key = (value, like.dtype)
    made = _constants.get(key)
    if made is None:
        made = _constants[key] = np.array(value, like.dtype)
    return made


_constants: dict[tuple[float, Any], Any] = {}


def sgn(x: Any) -> Any:
    """-1, 0 or 1, and 0 for NaN; of complex numbers x / abs(x)."""
    if x.dtype.kind != "f":
        return direction(x) if x.dtype.kind == "c" else np.sign(x)
    if type(x) is not ndarray:
        return sgn_elsewhere(x)
    zero = constant(0, x)
    return ((x > zero).view(np.int8) - (x < zero).view(np.int8)).astype(x.dtype)


@fused("T x", "T out", "out = T((x > T(0)) - (x < T(0)));")
def sgn_elsewhere(x: Any) -> Any:
    """As :func:`sgn`, of real scalars and on a device."""
    return ((x > 0).view(np.int8) - (x < 0).view(np.int8)).astype(x.dtype)


sign = sgn


def direction(x: Any) -> Any:
    """Complex numbers divided by their sizes, each part for itself, 0 at 0; infinities have none, unlike in NumPy."""
    size, out = np.abs(x), np.empty_like(x)
    zero = size == 0
    size = np.where(zero, 1, size)
    out.real, out.imag = (np.where(zero, 0, part / size) for part in (x.real, x.imag))
    return out


def round(x: Any) -> Any:
    """The nearest integer, the even one of two."""
    return x.round()


def relu(x: Any) -> Any:
    """max(x, 0), NaN kept."""
    return np.maximum(x, constant(0, x)) if x.size < LARGE else at_least(x, 0.0)


LARGE = 4000
"""Elements from which ``clip`` pays: with a number it is four times as fast as ``np.maximum``, but slow to call."""


def at_least(x: Any, low: float) -> Any:
    """``x`` where that is above the number ``low``, else ``low``; NaN kept."""
    if x.size < LARGE or type(x) is not ndarray or x.dtype.kind != "f":
        return np.maximum(x, low)
    return x.clip(low, math.inf)


def at_most(x: Any, high: float) -> Any:
    """``x`` where that is below the number ``high``, else ``high``; NaN kept."""
    if x.size < LARGE or type(x) is not ndarray or x.dtype.kind != "f":
        return np.minimum(x, high)
    return np.clip(x, -math.inf, high)


def between(x: Any, low: float, high: float) -> Any:
    """``x`` brought into [low, high]; NaN kept."""
    if x.size < LARGE or type(x) is not ndarray or x.dtype.kind != "f":
        return np.minimum(np.maximum(x, low), high)
    return np.clip(x, low, high)


def room(x: Any) -> Any:
    """``x`` as the ``out`` of a ufunc, or nothing where it is a scalar, which has no room for a result."""
    return x if isinstance(x, ndarray) or not isinstance(x, np.generic) else None


def leaky_relu(x: Any, negative_slope: float) -> Any:
    """x where positive, else ``negative_slope * x``."""
    if 0 < negative_slope <= 1:
        return np.maximum(x, x * negative_slope)
    return where(x > 0, x, x * negative_slope)


@rounded_once
@fused(
    "T x, float64 beta, float64 threshold", "T out",
    "T bx = x * T(beta); out = bx > T(threshold) ? x : log1p(exp(bx)) / T(beta);",
)  # fmt: skip
def softplus(x: Any, beta: float, threshold: float) -> Any:
    """log(1 + exp(beta x)) / beta, and x itself above the threshold."""
    bx = x * beta
    high = bx > threshold
    curve = at_most(bx, threshold)
    curve = np.log1p(np.exp(curve, room(curve)), room(curve))
    if beta != 1:
        curve /= beta
    return where(high, x, curve) if type(x) is not ndarray or high.any() else curve


@rounded_once
@fused(
    "T g, T x, float64 beta, float64 threshold", "T out",
    "T bx = x * T(beta); out = bx > T(threshold) ? g : g / (T(1) + exp(-bx));",
)  # fmt: skip
def softplus_backward(g: Any, x: Any, beta: float, threshold: float) -> Any:
    """``g * sigmoid(beta * x)``, and ``g`` itself above the threshold."""
    bx = x * beta
    high = bx > threshold
    s = sigmoid(bx)
    s *= g
    return where(high, g, s) if type(x) is not ndarray or high.any() else s


@rounded_once
@fused("T x", "T out", "out = x * (T(1) / (T(1) + exp(-x)));")
def silu(x: Any) -> Any:
    """X * sigmoid(x)."""
    s = sigmoid(x)
    s *= x
    return s


@rounded_once
@fused("T g, T x", "T out", "T s = T(1) / (T(1) + exp(-x)); out = g * s * (T(1) + x * (T(1) - s));")
def silu_backward(g: Any, x: Any) -> Any:
    """``g * s * (1 + x * (1 - s))`` with ``s = sigmoid(x)``."""
    s = sigmoid(x)
    slope = 1 - s
    slope *= x
    slope += 1
    slope *= s
    slope *= g
    return slope


@rounded_once
@fused("T x", "T out", "out = T(0.5) * x * (T(1) + tanh(T(0.7978845608028654) * (x + T(0.044715) * (x * x * x))));")
def gelu_tanh(x: Any) -> Any:
    """x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x ** 3)))."""
    return 0.5 * x * (1 + np.tanh(GELU * (x + 0.044715 * (x * x * x))))


@rounded_once
@fused(
    "T g, T x", "T out",
    "T t = tanh(T(0.7978845608028654) * (x + T(0.044715) * (x * x * x)));"
    "out = g * (T(0.5) * (T(1) + t) + x * (T(1) - t * t) * (T(0.3989422804014327) * (T(1) + T(0.134145) * (x * x))));",
)  # fmt: skip
def gelu_tanh_grad(g: Any, x: Any) -> Any:
    """Gradient of the tanh form of gelu."""
    t = np.tanh(GELU * (x + 0.044715 * (x * x * x)))
    return g * (0.5 * (1 + t) + x * (1 - t * t) * (0.5 * GELU * (1 + 3 * 0.044715 * (x * x))))


def clamp(x: Any, low: float | None, high: float | None) -> Any:
    """X limited to [low, high]; NaN kept."""
    if low is not None:
        x = np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


clamp_min, clamp_max = np.maximum, np.minimum


# ----- powers -----


def pow(x: Any, exponent: Any) -> Any:
    """x ** exponent; frequent exponents are products and roots."""
    try:
        if type(exponent) in (int, float) or (type(exponent) is complex and _kind(x) == "c"):
            if exponent == 2 and (type(exponent) is int or x.dtype.kind in "fc"):
                return np.square(x)
            special = _POWERS.get(exponent)
            if special is not None and x.dtype.kind in "fc" and not (x.dtype.char == "e" and _no_root(x, exponent)):
                return special(x)
        elif type(x) is ndarray and x.dtype.kind == "f" and _one_half(exponent):
            # a tensor is no root in PyTorch; NumPy takes one of what has no dimensions
            shape = np.broadcast_shapes(x.shape, exponent.shape)
            return np.power(x, np.full(shape or 1, exponent)).reshape(shape)
        elif type(exponent) is bool and x.dtype.char == "?":
            return x.copy() if exponent else np.ones_like(x)
        elif _of_bools(x) and _of_bools(exponent):
            raise NotImplementedError("\"pow\" not implemented for 'Bool'")
        return _complex_power(x, exponent) if _kind(x) == "c" or _kind(exponent) == "c" else _power(x, exponent)
    except ValueError:
        return _integer_power(x, exponent)


_POWERS: dict[complex, Any] = {
    0.5: np.sqrt,
    -0.5: rsqrt,
    0: np.ones_like,
    1: lambda x: x.copy(),
    -1: reciprocal,
    3: rounded_once(lambda x: x * x * x),
    -2: rounded_once(lambda x: reciprocal(x * x)),
}


def _of_bools(x: Any) -> bool:
    return type(x) is bool or (type(x) is ndarray and x.dtype.char == "?")


def _kind(x: Any) -> str:
    return x.dtype.kind if hasattr(x, "dtype") else "c" if type(x) is complex else "f"


def _complex_power(x: Any, exponent: Any) -> Any:
    """C's power also of 0 and for whole exponents, where NumPy has others: it is NaN for ``0j ** 0j``."""
    found = _power(x, exponent)
    if not isinstance(found, ndarray | np.generic):
        return found
    others = (x == 0) | ((exponent.imag == 0) & (np.rint(exponent.real) == exponent.real))
    if not np.any(others):
        return found
    dtype = found.dtype
    by_log = np.exp(exponent * np.log(x.astype(dtype) if hasattr(x, "dtype") else dtype.type(x)))
    lost = (
        np.isnan(by_log.real) & np.isnan(by_log.imag) & (exponent != 0)
    )  # a product of infinities, which C takes apart
    return np.where(others & ~lost, by_log, found)


def _one_half(exponent: Any) -> bool:
    """Whether it is the one element 0.5, of an array or what NumPy makes of one without dimensions."""
    return isinstance(exponent, ndarray | np.floating) and exponent.size == 1 and bool(exponent == 0.5)


def _no_root(x: Any, exponent: complex) -> bool:
    """Whether half precision has a power where others have a root: PyTorch's on the CPU, of which -0.0 and -inf tell."""
    return abs(exponent) == 0.5 and type(x) is ndarray


def _integer_power(x: Any, exponent: Any) -> Any:
    """Integers to some negative integer powers, which NumPy refuses: their reciprocals, rounded to 0."""
    if type(exponent) is int:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    x = exponent.dtype.type(x) if type(x) is int else x
    x, exponent = np.broadcast_arrays(x, exponent)
    of_one = np.where(np.abs(x) == 1, _power(x, np.abs(exponent)), 0)
    return np.where(exponent < 0, of_one, _power(x, np.maximum(exponent, 0)))


# ----- complex numbers -----


def complex_raw(real: Any, imag: Any) -> Any:
    """Real + i imag."""
    dtype = f"c{2 * real.itemsize}"
    if real.shape == imag.shape and real.strides == imag.strides:
        out = array_module(real).empty_like(real, dtype)  # laid out like the operands
    else:
        out = array_module(real).empty(np.broadcast_shapes(real.shape, imag.shape), dtype)
    out.real, out.imag = real, imag
    return out


def polar_raw(size: Any, turn: Any) -> Any:
    """Complex numbers of absolute value ``size`` and angle ``turn``."""
    return complex_raw(size * np.cos(turn), size * np.sin(turn))


def angle(x: Any) -> Any:
    """The angle of numbers in the plane: 0 or pi of real ones, -0 among the first."""
    return np.angle(x if x.dtype.kind == "c" else x + constant(0, x))


def ones_as(x: Any) -> Any:
    """Ones in the shape, dtype and library of ``x``."""
    return np.ones_like(x)


# ----- choosing -----

SMALL = 2000
"""Elements from which it pays to choose by bits: ``np.where`` mispredicts a branch for every second element of an irregular
mask, which makes it 20 times slower."""

_BITS = {2: np.int16, 4: np.int32, 8: np.int64}


def where(condition: Any, x: Any, y: Any) -> Any:
    """Elements of ``x`` where ``condition``, else of ``y``."""
    if condition.size < SMALL or not type(condition) is type(x) is type(y) is ndarray:
        return np.where(condition, x, y)
    if not (condition.shape == x.shape == y.shape and x.dtype == y.dtype and x.dtype.kind == "f"):
        return np.where(condition, x, y)
    return _chosen(condition, x, y)


def masked_fill(x: Any, mask: Any, value: Any) -> Any:
    """X with ``value`` where ``mask``."""
    if mask.size < SMALL or type(x) is not ndarray or mask.shape != x.shape or x.dtype.kind != "f":
        return np.where(mask, value, x)
    return _chosen(mask, np.asarray(value, x.dtype), x)


def _chosen(mask: Any, x: Any, y: Any) -> Any:
    """Elements of ``x`` where ``mask``, else of ``y``, by their bits."""
    bits = mask.astype(_BITS[y.dtype.itemsize])
    np.negative(bits, bits)
    differing = np.bitwise_xor(x.view(bits.dtype), y.view(bits.dtype))
    bits &= differing
    bits ^= y.view(bits.dtype)
    return bits.view(y.dtype)


def keep(g: Any, mask: Any) -> Any:
    """``g`` where ``mask``, else 0 (not a product: 0 * inf is not 0)."""
    if g.size < SMALL or type(g) is not ndarray or g.itemsize not in _BITS:
        return np.where(mask, g, constant(0, g))
    bits = mask.astype(_BITS[g.dtype.itemsize])
    return _bits_of(g, np.negative(bits, bits))


def tanh_grad(g: Any, result: Any) -> Any:
    """The gradient of the tanh ``result``."""
    if g.dtype.char == "e":
        return in_single(tanh_grad, g, result)
    if type(g) is not ndarray:
        return tanh_grad_elsewhere(g, result)
    return g * (constant(1, result) - result * result)


@fused("T g, T x", "T out", "out = g * (T(1) - x * x);")
def tanh_grad_elsewhere(g: Any, result: Any) -> Any:
    """As :func:`tanh_grad`, of scalars and on a device."""
    return g * (1 - result * result)


def sigmoid_grad(g: Any, result: Any) -> Any:
    """The gradient of the sigmoid ``result``."""
    if g.dtype.char == "e":
        return in_single(sigmoid_grad, g, result)
    if type(g) is not ndarray:
        return sigmoid_grad_elsewhere(g, result)
    return g * (constant(1, result) - result) * result


@fused("T g, T x", "T out", "out = g * (T(1) - x) * x;")
def sigmoid_grad_elsewhere(g: Any, result: Any) -> Any:
    """As :func:`sigmoid_grad`."""
    return g * (1 - result) * result


def threshold_backward(g: Any, x: Any) -> Any:
    """``g`` where ``x`` is not <= 0."""
    if type(g) is not ndarray:
        return threshold_elsewhere(g, x)
    return drop(g, np.less_equal(x, constant(0, x)))


@fused("T g, T x", "T out", "out = x <= T(0) ? T(0) : g;")
def threshold_elsewhere(g: Any, x: Any) -> Any:
    """As :func:`threshold_backward`."""
    return drop(g, np.less_equal(x, constant(0, x)))


@fused("T g, T x, float64 negative_slope", "T out", "out = x > T(0) ? g : g * T(negative_slope);")
def leaky_relu_backward(g: Any, x: Any, negative_slope: float) -> Any:
    """``g`` where ``x`` > 0, else ``g * negative_slope``."""
    return where(x > 0, g, g * negative_slope)


def drop(g: Any, mask: Any) -> Any:
    """``g`` where not ``mask``, else 0."""
    if g.size < SMALL or type(g) is not ndarray or g.itemsize not in _BITS:
        return np.where(mask, constant(0, g), g)
    bits = mask.astype(_BITS[g.dtype.itemsize])
    return _bits_of(g, np.subtract(bits, 1, bits))


def _bits_of(g: Any, bits: Any) -> Any:
    """The bits of ``g`` that are set in ``bits``, which may be broadcast."""
    out = bits if bits.shape == g.shape else None
    return np.bitwise_and(g.view(bits.dtype), bits, out).view(g.dtype)


def copy(x: Any, src: Any) -> Any:
    """``src`` in the shape and dtype of ``x``."""
    if src.dtype.kind == "c" and x.dtype.kind not in "cb":
        warnings.warn(
            "Casting complex values to real discards the imaginary part", UserWarning, stacklevel=user_stacklevel()
        )
        src = src.real
    return np.broadcast_to(src, x.shape).astype(x.dtype)


def fill(x: Any, value: Any) -> Any:
    """A buffer like ``x`` full of ``value``."""
    return np.full_like(x, value)


def zero(x: Any) -> Any:
    """A buffer like ``x`` full of zeros."""
    return np.zeros_like(x)


def zeros_of(shape: Shape, like: Any) -> Any:
    """Zeros of ``shape`` in the dtype and library of ``like``."""
    return array_module(like).zeros(shape, like.dtype)


def clone(x: Any, order: str) -> Any:
    """A copy: in the layout of ``x`` (``K``) or row-major (``C``)."""
    return x.copy(order) if order == "C" or 0 not in x.strides else to_copy(x, x.dtype)


def to_copy(x: Any, dtype: Any) -> Any:
    """A copy in another dtype."""
    x = x.real if x.dtype.kind == "c" != dtype.kind else x
    if 0 not in x.strides:
        return x.astype(dtype)
    axes, back = _as_they_lie(x)  # NumPy would put what is repeated to the inside
    return x.transpose(axes).astype(dtype, "C").transpose(back)

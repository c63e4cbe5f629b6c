"""Values of ops on bare buffers (NumPy or CuPy), by the op's name: what formulas call when no graph is recorded.

Ufuncs are NumPy's own and travel to the library of their inputs by its dispatch protocol. Division by zero and
the like is silent, as in PyTorch, through a warnings filter for this package (see ``agdbg_engine/__init__.py``).
"""

from __future__ import annotations

import builtins
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
    reciprocal,
    sign,
    sin,
    sqrt,
    tanh,
    trunc,
)
from numpy import divide as div  # noqa: F401
from numpy import multiply as mul  # noqa: F401
from numpy import negative as neg  # noqa: F401
from numpy import power as _power
from numpy import subtract as sub  # noqa: F401

from ..device import array_module

ndarray = np.ndarray
_sum: Any = np.add.reduce
_slice = builtins.slice
Shape = tuple[int, ...]
Dims = int | tuple[int, ...] | None
GELU = 0.7978845608028654  # sqrt(2 / pi)

# ----- functions of one tensor -----


def rsqrt(x: Any) -> Any:
    """1 / sqrt(x)."""
    return 1 / np.sqrt(x)


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)); the overflow of exp gives the right 0."""
    e = np.exp(np.negative(x))
    return np.reciprocal(e + constant(1, e))


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


def round(x: Any) -> Any:
    """The nearest integer, the even one of two."""
    return x.round()


def relu(x: Any) -> Any:
    """max(x, 0), NaN kept."""
    return np.maximum(x, constant(0, x))


def leaky_relu(x: Any, negative_slope: float) -> Any:
    """x where positive, else ``negative_slope * x``."""
    if 0 < negative_slope <= 1:
        return np.maximum(x, x * negative_slope)
    return np.where(x > 0, x, x * negative_slope)


def softplus(x: Any, beta: float, threshold: float) -> Any:
    """log(1 + exp(beta x)) / beta, and x itself above the threshold."""
    bx = x * beta
    return np.where(bx > threshold, x, np.log1p(np.exp(np.minimum(bx, threshold))) / beta)


def silu(x: Any) -> Any:
    """X * sigmoid(x)."""
    return x * sigmoid(x)


def gelu_tanh(x: Any) -> Any:
    """x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x ** 3)))."""
    return 0.5 * x * (1 + np.tanh(GELU * (x + 0.044715 * (x * x * x))))


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
        if type(exponent) in (int, float):
            if exponent == 2:
                return np.square(x)
            special = _POWERS.get(exponent)
            if special is not None and x.dtype.kind == "f":
                return special(x)
        return _power(x, exponent)
    except ValueError:
        return _integer_power(x, exponent)


_POWERS: dict[float, Any] = {
    0.5: np.sqrt,
    -0.5: rsqrt,
    1: lambda x: x.copy(),
    -1: np.reciprocal,
    3: lambda x: x * x * x,
    -2: lambda x: 1 / (x * x),
}


def _integer_power(x: Any, exponent: Any) -> Any:
    """Integers to some negative integer powers, which NumPy refuses: their reciprocals, rounded to 0."""
    if type(exponent) is int:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    x, exponent = np.broadcast_arrays(x, exponent)
    of_one = np.where(np.abs(x) == 1, _power(x, np.abs(exponent)), 0)
    return np.where(exponent < 0, of_one, _power(x, np.maximum(exponent, 0)))


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
    if g.size < SMALL or type(g) is not ndarray:
        return np.where(mask, g, constant(0, g))
    bits = mask.astype(_BITS[g.dtype.itemsize])
    return _bits_of(g, np.negative(bits, bits))


def drop(g: Any, mask: Any) -> Any:
    """``g`` where not ``mask``, else 0."""
    if g.size < SMALL or type(g) is not ndarray:
        return np.where(mask, constant(0, g), g)
    bits = mask.astype(_BITS[g.dtype.itemsize])
    return _bits_of(g, np.subtract(bits, 1, bits))


def _bits_of(g: Any, bits: Any) -> Any:
    """The bits of ``g`` that are set in ``bits``, which may be broadcast."""
    out = bits if bits.shape == g.shape else None
    return np.bitwise_and(g.view(bits.dtype), bits, out).view(g.dtype)


def copy(x: Any, src: Any) -> Any:
    """``src`` in the shape and dtype of ``x``."""
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
    """A copy: in the layout of ``x`` (``K``) or row-major (``C``), as always when ``x`` repeats its memory."""
    return x.copy("C" if 0 in x.strides else order)


def to_copy(x: Any, dtype: Any) -> Any:
    """A copy in another dtype."""
    return x.astype(dtype)


# ----- reductions -----


def numel(shape: Shape, dim: Dims = None) -> int:
    """Number of elements of ``shape``, or of its dimensions ``dim``."""
    if dim is not None and dim != ():
        shape = tuple(shape[d] for d in ((dim,) if isinstance(dim, int) else dim))
    n = 1
    for s in shape:
        n *= s
    return n


def sum_all(x: Any) -> Any:
    """Sum of all elements; integers in int64."""
    return _sum(x, None, np.int64 if x.dtype.kind in "bui" else None)


def sum_dim(x: Any, dim: Dims, keepdim: bool) -> Any:
    """Sum along ``dim`` (all dimensions when empty)."""
    return _sum(x, None if dim == () else dim, np.int64 if x.dtype.kind in "bui" else None, None, keepdim)


def mean_all(x: Any) -> Any:
    """Mean of all elements."""
    return _sum(x, None) / x.dtype.type(x.size)


def mean_dim(x: Any, dim: Dims, keepdim: bool) -> Any:
    """Mean along ``dim``."""
    return _sum(x, None if dim == () else dim, None, None, keepdim) / x.dtype.type(numel(x.shape, dim))


def amax(x: Any, dim: Dims, keepdim: bool) -> Any:
    """Largest element along ``dim``."""
    return x.max(axis=None if dim == () else dim, keepdims=keepdim)


def amin(x: Any, dim: Dims, keepdim: bool) -> Any:
    """Smallest element along ``dim``."""
    return x.min(axis=None if dim == () else dim, keepdims=keepdim)


def logsumexp(x: Any, dim: Dims, keepdim: bool) -> Any:
    """log of the sum of exponentials along ``dim``, shifted by the maximum so that it never overflows."""
    axis = None if dim == () else dim
    top = x.max(axis=axis, keepdims=True) if x.size else x.dtype.type(0)
    top = np.where(np.isfinite(top), top, 0)
    out = np.log(np.exp(x - top).sum(axis=axis, keepdims=True)) + top
    return out if keepdim else out.squeeze(axis)


def pick(x: Any, indices: Any, dim: int, keepdim: bool) -> Any:
    """The element at ``indices`` (whose shape is that of the result) along ``dim``."""
    if x.ndim == 0:
        return x.copy()
    if keepdim:
        return np.take_along_axis(x, indices, dim)
    return np.take_along_axis(x, np.expand_dims(indices, dim), dim).squeeze(dim)


def var_dim(x: Any, dim: Dims, correction: int, keepdim: bool) -> Any:
    """Mean squared distance from the mean along ``dim``, over ``n - correction`` elements."""
    centred = x - mean_dim(x, dim, True)
    total = sum_dim(centred * centred, dim, keepdim)
    return total / x.dtype.type(max(numel(x.shape, dim) - correction, 0))


def std_dim(x: Any, dim: Dims, correction: int, keepdim: bool) -> Any:
    """Square root of :func:`var_dim`."""
    return np.sqrt(var_dim(x, dim, correction, keepdim))


def norm_dim(x: Any, dim: Dims, keepdim: bool) -> Any:
    """Square root of the sum of squares along ``dim``."""
    return np.sqrt(sum_dim(x * x, dim, keepdim))


# ----- softmax and losses -----


def softmax_dim(x: Any, dim: int) -> Any:
    """exp(x) / sum(exp(x)) along ``dim``."""
    if not x.size:
        return x.copy()
    axis = dim if x.ndim else None
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / _sum(e, axis, keepdims=True)


def log_softmax_dim(x: Any, dim: int) -> Any:
    """X - log(sum(exp(x))) along ``dim``."""
    if not x.size:
        return x.copy()
    axis = dim if x.ndim else None
    shifted = x - x.max(axis, keepdims=True)
    return shifted - np.log(_sum(np.exp(shifted), axis, keepdims=True))


def nll_loss_raw(x: Any, target: Any, reduction: str) -> Any:
    """Minus ``x[i, target[i]]``: by row, their sum or their mean. ``x`` is (N, C), ``target`` (N,)."""
    picked = -x[_rows(target), target]
    return (
        picked
        if reduction == "none"
        else picked.sum()
        if reduction == "sum"
        else picked.sum() / x.dtype.type(picked.size)
    )


def nll_loss_raw_backward(g: Any, target: Any, shape: Shape, reduction: str) -> Any:
    """The transpose of :func:`nll_loss_raw`: scatters ``-g``."""
    out = array_module(g).zeros(shape, g.dtype)
    out[_rows(target), target] = -g / target.size if reduction == "mean" else -g
    return out


def _rows(target: Any) -> Any:
    return array_module(target).arange(target.shape[0])


def mse_loss_raw(x: Any, target: Any, reduction: str) -> Any:
    """(x - target) ** 2: elements, sum or mean."""
    d = x - target
    if reduction == "none":
        return d * d
    total = _sum(d * d, None)
    return total if reduction == "sum" else total / x.dtype.type(d.size)


# ----- matrices -----


def mm(a: Any, b: Any) -> Any:
    """(n, k) @ (k, m)."""
    return a.dot(b)


def mm_left(a: Any, g: Any, swapped: bool) -> Any:
    """``a.T @ g``: gradient of ``mm(a, b)`` in b, laid out like b (column by column if ``swapped``)."""
    return g.T.dot(a).T if swapped else a.T.dot(g)


def mv(a: Any, v: Any) -> Any:
    """(n, k) @ (k,)."""
    return a.dot(v)


dot = mv


def ger(u: Any, v: Any) -> Any:
    """Outer product."""
    return u[:, None] * v


bmm = np.matmul


def addmm(bias: Any, a: Any, b: Any) -> Any:
    """Bias + a @ b, with one temporary."""
    out = a.dot(b)
    out += bias
    return out


# ----- views -----


def alias(x: Any) -> Any:
    """All of ``x``."""
    return x[...]


def view(x: Any, shape: Shape) -> Any:
    """X seen in another shape; ValueError where that needs a copy."""
    return x.reshape(shape, copy=False) if isinstance(x, ndarray) else x.reshape(shape)


def reshape(x: Any, shape: Shape) -> Any:
    """X in another shape, copied where it must be."""
    return x.reshape(shape)


unsafe_view = reshape_alias = reshape


def expand(x: Any, shape: Shape) -> Any:
    """X broadcast to ``shape`` without copying; -1 keeps a size."""
    if x.ndim == 0 and isinstance(x, (ndarray, np.generic)):
        return ndarray(shape, x.dtype, x, 0, (0,) * len(shape))
    if -1 in shape:
        lead = len(shape) - x.ndim
        shape = tuple(x.shape[i - lead] if s == -1 else s for i, s in enumerate(shape))
    out = np.broadcast_to(x, shape)
    if isinstance(out, ndarray) and x.flags.writeable:
        out.flags.writeable = True  # parts of it that repeat no memory may be written
    return out


def t(x: Any) -> Any:
    """The transpose of a matrix."""
    return x.T


def transpose(x: Any, dim0: int, dim1: int) -> Any:
    """Two dimensions swapped."""
    return x.swapaxes(dim0, dim1)


def permute_to(x: Any, dims: Shape) -> Any:
    """Dimensions in the order ``dims``."""
    return x.transpose(dims)


def unsqueeze(x: Any, dim: int) -> Any:
    """A size-1 dimension put in at ``dim``."""
    at = dim if dim >= 0 else dim + x.ndim + 1
    return x[(_slice(None),) * at + (None,)]


def squeeze_all(x: Any) -> Any:
    """All size-1 dimensions dropped."""
    return x.reshape([s for s in x.shape if s != 1])


def squeeze_dim(x: Any, dim: int) -> Any:
    """Dimension ``dim`` dropped if its size is 1."""
    return x.squeeze(dim) if x.ndim and x.shape[dim] == 1 else x[...]


def select(x: Any, dim: int, index: int) -> Any:
    """Entry ``index`` of dimension ``dim``."""
    return x[_at(x.ndim, dim, index)]


def _at(ndim: int, dim: int, item: Any) -> Any:
    return (*(_slice(None),) * (dim % ndim), item, ...)


def slice(x: Any, dim: int, start: int | None, end: int | None, step: int) -> Any:
    """``x[start:end:step]`` along ``dim``."""
    return x[_at(x.ndim, dim, _slice(start, end, step))]


# ----- their transposes, indexing -----


def sum_to(g: Any, shape: Shape) -> Any:
    """``g`` summed down to ``shape``, from which it was broadcast."""
    if g.shape == shape:
        return g
    lead = g.ndim - len(shape)
    if lead:
        g = _sum(g, tuple(range(lead)))
    if g.shape != shape:
        ones = tuple(i for i, (n, s) in enumerate(zip(g.shape, shape, strict=True)) if s == 1 != n)
        g = _sum(g, ones, keepdims=True)
    return g


def select_backward(g: Any, shape: Shape, dim: int, index: int) -> Any:
    """Zeros of ``shape`` with ``g`` at ``index`` of ``dim``."""
    out = array_module(g).zeros(shape, g.dtype)
    out[_at(len(shape), dim, index)] = g
    return out


def slice_backward(g: Any, shape: Shape, dim: int, start: int | None, end: int | None, step: int) -> Any:
    """Zeros of ``shape`` with ``g`` in the slice."""
    out = array_module(g).zeros(shape, g.dtype)
    out[_at(len(shape), dim, _slice(start, end, step))] = g
    return out


def index(x: Any, indices: Any) -> Any:
    """``x[indices]`` by integer or bool arrays: a copy."""
    return x[indices]


def index_backward(g: Any, shape: Shape, indices: Any) -> Any:
    """Zeros of ``shape`` with ``g`` added at ``indices``, repeats included."""
    out = array_module(g).zeros(shape, g.dtype)
    array_module(g).add.at(out, indices, g)
    return out


def index_put(x: Any, indices: Any, values: Any) -> Any:
    """A copy of ``x`` with ``values`` at ``indices``."""
    out = x.copy()
    out[indices] = values
    return out


def gather(x: Any, dim: int, index: Any) -> Any:
    """``x[i][index[i][j]]`` along ``dim``."""
    return np.take_along_axis(_head(x, dim, index), index, dim)


def _head(x: Any, dim: int, index: Any) -> Any:
    return x[tuple(_slice(None) if d == dim % x.ndim else _slice(0, n) for d, n in enumerate(index.shape))]


def gather_backward(g: Any, shape: Shape, dim: int, index: Any) -> Any:
    """Zeros of ``shape`` with ``g`` added where :func:`gather` read, repeats included."""
    out = array_module(g).zeros(shape, g.dtype)
    grid = list(array_module(g).ogrid[tuple(_slice(0, n) for n in index.shape)])
    grid[dim % len(shape)] = index
    array_module(g).add.at(out, tuple(grid), g)
    return out

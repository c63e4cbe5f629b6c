"""Kernels that reduce: sums, extremes, spreads, softmax, losses. Parts of :mod:`.kernels`."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..device import array_module
from ..rowwise import rowwise
from .kernels_shape import highest, row_sums
from .kernels_shape import total as _sum
from .layout import by_rows, in_rows
from .moments import mean_and_squares

_Shape = tuple[int, ...]
_Dims = int | tuple[int, ...] | None

# ----- half precision -----


def single(x: Any) -> Any:
    """``x`` in float32 where it is a float16 array, whose sums would overflow or stall: as PyTorch accumulates."""
    return x.astype(np.float32) if getattr(x, "dtype", None) == np.float16 else x


def in_single(function: Any, *args: Any) -> Any:
    """What ``function`` of half precision ``args`` gives when computed in single, rounded once."""
    return function(*map(single, args)).astype(np.float16)


def in_float32(x: Any) -> bool:
    """Whether ``x`` is an array of float32 on the host, whose squares may overflow or vanish where their root does not."""
    return type(x) is np.ndarray and x.dtype.char == "f"


def rounded_once(function: Any) -> Any:
    """The kernel ``function``, of whose results in half precision only the last is rounded."""

    @functools.wraps(function)
    def value(x: Any, *args: Any) -> Any:
        return function(x, *args) if x.dtype.char != "e" else in_single(function, x, *args)

    return value


# ----- reductions -----


def numel(shape: _Shape, dim: _Dims = None) -> int:
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


def sum_dim(x: Any, dim: _Dims, keepdim: bool) -> Any:
    """Sum along ``dim`` (all dimensions when empty)."""
    if x.dtype.char == "e":
        return in_single(sum_dim, x, dim, keepdim)
    out = _sum(x, None if dim == () else dim, np.int64 if x.dtype.kind in "bui" else None, None, keepdim)
    return out if out.ndim < 2 else in_rows(out)


def mean_all(x: Any) -> Any:
    """Mean of all elements."""
    if x.dtype.char == "e":
        return in_single(mean_all, x)
    return _sum(x, None) / x.dtype.type(x.size)


def mean_dim(x: Any, dim: _Dims, keepdim: bool) -> Any:
    """Mean along ``dim``."""
    if x.dtype.char == "e":
        return in_single(mean_dim, x, dim, keepdim)
    out = _sum(x, None if dim == () else dim, None, None, keepdim) / x.dtype.type(numel(x.shape, dim))
    return out if out.ndim < 2 else in_rows(out)


def mean_share(g: Any, shape: _Shape, dim: _Dims = None) -> Any:
    """``g`` over the number of elements of ``shape``, or of its dimensions ``dim``: the gradient of each in their mean."""
    if g.dtype.char == "e":  # which may not hold the number
        return in_single(mean_share, g, shape, dim)
    return g / (math.prod(shape) if dim is None else numel(shape, dim))


@by_rows
def amax(x: Any, dim: _Dims, keepdim: bool) -> Any:
    """Largest element along ``dim``."""
    return highest(x, None if dim == () else dim, keepdim)


@by_rows
def amin(x: Any, dim: _Dims, keepdim: bool) -> Any:
    """Smallest element along ``dim``."""
    return x.min(axis=None if dim == () else dim, keepdims=keepdim)


@by_rows
@rounded_once
def logsumexp(x: Any, dim: _Dims, keepdim: bool) -> Any:
    """log of the sum of exponentials along ``dim``, shifted by the maximum so that it never overflows."""
    axis = None if dim == () else dim
    top = (x.real if x.dtype.kind == "c" else x).max(axis=axis, keepdims=True) if x.size else x.dtype.type(0)
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


def _freedom(x: Any, dim: _Dims, correction: Any) -> Any:
    """What the sum of squares is divided by; 0 of no elements, whatever the correction: nothing has no variance."""
    n = numel(x.shape, dim)
    return max(n - correction, 0) if n else 0


def mean_and_var(x: Any, dim: _Dims, correction: int, keepdim: bool) -> tuple[Any, Any]:
    """Mean and variance along ``dim`` of an array of float32, in double."""
    dims = tuple(range(x.ndim)) if dim is None or dim == () else (dim,) if isinstance(dim, int) else dim
    mean, squares = mean_and_squares(x, tuple([d % x.ndim for d in dims]) if x.ndim else ())
    var = squares / np.float64(_freedom(x, dim, correction))
    return (mean, var) if keepdim else (mean.squeeze(dims), var.squeeze(dims))


@by_rows
def var_dim(x: Any, dim: _Dims, correction: int, keepdim: bool) -> Any:
    """Mean squared distance from the mean along ``dim``, over ``n - correction`` elements."""
    if x.dtype.char == "e":
        return in_single(var_dim, x, dim, correction, keepdim)
    if in_float32(x):
        return mean_and_var(x, dim, correction, keepdim)[1].astype(np.float32)
    centred = x - mean_dim(x, dim, True)
    total = sum_dim(squared(centred), dim, keepdim)
    return total / total.dtype.type(_freedom(x, dim, correction))


@by_rows
def std_dim(x: Any, dim: _Dims, correction: int, keepdim: bool) -> Any:
    """Square root of :func:`var_dim`."""
    if x.dtype.char == "e":
        return in_single(std_dim, x, dim, correction, keepdim)
    if in_float32(x):
        return np.sqrt(mean_and_var(x, dim, correction, keepdim)[1]).astype(np.float32)
    return np.sqrt(var_dim(x, dim, correction, keepdim))


def norm_dim(x: Any, dim: _Dims, keepdim: bool) -> Any:
    """Square root of the sum of squares along ``dim``."""
    if x.dtype.char == "e":
        return in_single(norm_dim, x, dim, keepdim)
    return np.sqrt(sum_dim(squared(x), dim, keepdim))


def squared(x: Any) -> Any:
    """The square of the absolute value."""
    return x * x if x.dtype.kind != "c" else x.real * x.real + x.imag * x.imag


# ----- softmax and losses -----


@by_rows
def softmax_dim(x: Any, dim: int) -> Any:
    """exp(x) / sum(exp(x)) along ``dim``."""
    if not x.size:
        return x.copy()
    if x.dtype.char == "e":
        return in_single(softmax_dim, x, dim)
    axis = dim if x.ndim else None
    e = np.exp(x - highest(x, axis, True))
    return e / row_sums(e, axis)


_SOFTMAX_GRAD = rowwise("softmax_grad", "g s", ("g * s",), "s * (g - sum0)")
_LOG_SOFTMAX_GRAD = rowwise("log_softmax_grad", "g y", ("g",), "g - exp(y) * sum0")


def softmax_grad(g: Any, result: Any, dim: int) -> Any:
    """``result * (g - sum(g * result))`` along ``dim``: the gradient of the softmax, which is ``result``."""
    if g.dtype.char == "e":
        return in_single(softmax_grad, g, result, dim)
    if type(g) is not np.ndarray and (found := _SOFTMAX_GRAD((dim,), (g, result))) is not None:
        return found
    out = g * result
    total = row_sums(out, dim)
    if type(out) is not np.ndarray:
        return result * (g - total)
    np.subtract(g, total, out)
    out *= result
    return out


def log_softmax_grad(g: Any, result: Any, dim: int) -> Any:
    """``g - exp(result) * sum(g)`` along ``dim``: the gradient of the log_softmax, which is ``result``."""
    if g.dtype.char == "e":
        return in_single(log_softmax_grad, g, result, dim)
    if type(g) is not np.ndarray and (found := _LOG_SOFTMAX_GRAD((dim,), (g, result))) is not None:
        return found
    out = np.exp(result)
    total = row_sums(g, dim)
    if type(out) is not np.ndarray:
        return g - out * total
    out *= total
    return np.subtract(g, out, out)


@by_rows
def log_softmax_dim(x: Any, dim: int) -> Any:
    """X - log(sum(exp(x))) along ``dim``."""
    if not x.size:
        return x.copy()
    if x.dtype.char == "e":
        return in_single(log_softmax_dim, x, dim)
    axis = dim if x.ndim else None
    shifted = x - highest(x, axis, True)
    return shifted - np.log(row_sums(np.exp(shifted), axis))


def nll_loss_raw(x: Any, target: Any, reduction: str) -> Any:
    """Minus ``x[i, target[i]]``: by row, their sum or their mean. ``x`` is (N, C), ``target`` (N,)."""
    if x.dtype.char == "e":
        return in_single(nll_loss_raw, x, target, reduction)
    picked = -x[_rows(target), target]
    return (
        picked
        if reduction == "none"
        else _sum(picked)
        if reduction == "sum"
        else _sum(picked) / x.dtype.type(picked.size)
    )


def nll_loss_raw_backward(g: Any, target: Any, shape: _Shape, reduction: str) -> Any:
    """The transpose of :func:`nll_loss_raw`: scatters ``-g``."""
    out = array_module(g).zeros(shape, g.dtype)
    out[_rows(target), target] = -g / target.size if reduction == "mean" else -g
    return out


def _rows(target: Any) -> Any:
    return array_module(target).arange(target.shape[0])


def mse_loss_raw(x: Any, target: Any, reduction: str) -> Any:
    """(x - target) ** 2: elements, sum or mean."""
    if x.dtype.char == "e":
        return in_single(mse_loss_raw, x, target, reduction)
    d = x - target
    if reduction == "none":
        return d * d
    total = _sum(d * d, None)
    return total if reduction == "sum" else total / x.dtype.type(d.size)

"""``unfold``: all windows along one dimension, as a view whose elements repeat."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....device import array_module
from ....tensor import Tensor
from ...explain import shape_error
from ...shape import one_dim
from ..declare import kernel, linear, public, view
from .strides import memory_of, shown

Shape = tuple[int, ...]


def _windows(x: Any, dimension: int, size: int, step: int) -> Any:
    if x.ndim == 0:
        return x.reshape(1)[:size]
    n = (x.shape[dimension] - size) // step + 1
    shape = (*x.shape[:dimension], n, *x.shape[dimension + 1 :], size)
    strides = list(x.strides)
    strides[dimension] *= step
    return _strided(x, shape, (*strides, x.strides[dimension]))


def _strided(x: Any, shape: Shape, strides: Shape) -> Any:
    memory, first = memory_of(x)  # not by NumPy's as_strided(), whose result hides whose memory it is
    return shown(memory, x.dtype, first, shape, strides)


@kernel
def unfold_backward(g: Any, shape: Shape, dimension: int, size: int, step: int) -> Any:
    """Zeros of ``shape`` with ``g`` added where the windows lie."""
    if not shape:
        return g.sum().reshape(())
    out = array_module(g).zeros(shape, g.dtype)
    n = g.shape[dimension]
    before = (slice(None),) * dimension
    if step >= size:  # they do not overlap
        _windows(out, dimension, size, step)[...] = g
    elif size <= n:
        for i in range(size):  # the i-th elements of all windows
            out[(*before, slice(i, i + (n - 1) * step + 1, step))] += g[..., i]
    else:
        turned = np.moveaxis(g, -1, dimension)
        for j in range(n):
            out[(*before, slice(j * step, j * step + size))] += turned[(*before, slice(None), j)]
    return out


_ARGS = "dimension, size, step"
_view = view(f"unfold(self, {_ARGS})", "UnfoldBackward0", f"unfold_backward(g, self_shape, {_ARGS})", value=_windows)
_copy = linear(f"unfold_copy(self, {_ARGS})", "UnfoldBackward0_copy", f"unfold_backward(g, self_shape, {_ARGS})",
               value=_windows)  # fmt: skip
linear(f"unfold_backward(grad_in, shape, {_ARGS})", "UnfoldBackwardBackward0", "", grad_in=f"unfold(g, {_ARGS})")


def _checked(x: Tensor, dimension: int, size: int, step: int) -> tuple[int, int, int]:
    dim = one_dim(x, dimension)
    longest = x.shape[dim] if x.ndim else 1
    if size < 0:
        raise shape_error(f"size is {size} but must be >= 0")
    if size > longest:
        raise shape_error(f"maximum size for tensor at dimension {dim} is {longest} but size is {size}")
    if step <= 0:
        raise shape_error(f"step is {step} but must be > 0")
    return dim, size, step


@public("Tensor")
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """All windows of ``size`` along ``dimension``, ``step`` apart, as a view: what is in a window in a last dimension."""
    return _view(self, *_checked(self, dimension, size, step))


@public("torch", out=True)
def unfold_copy(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """A copy of :func:`unfold`."""
    return _copy(self, *_checked(self, dimension, size, step))

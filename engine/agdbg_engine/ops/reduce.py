"""Reductions, softmax and products as users write them: one name for the forms that PyTorch overloads."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..dtype import get_default_dtype
from ..tensor import Tensor, wrap
from . import _generated as g
from .prepare import same_dtype
from .shape import _dim, unsqueeze

Dims = int | tuple[int, ...] | list[int] | None


def _dims(x: Tensor, dim: Dims) -> Any:
    """``dim`` checked and made non-negative; ``()`` for all."""
    if isinstance(dim, int):
        return _dim(x, dim)
    return tuple(_dim(x, d) for d in dim or ())


def sum(self: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Sum of all elements or along ``dim``; integers and bools in int64."""
    x = self if dtype is None else self.to(dtype)
    if dim is None and not keepdim:
        return g.sum_all(x)
    return g.sum_dim(x, _dims(x, dim), keepdim)


def mean(self: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Mean of all elements or along ``dim``; floating dtypes only."""
    x = self if dtype is None else self.to(dtype)
    if x.dtype.kind not in "fc":
        from ..dtype import scalar_type

        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {scalar_type(x.dtype)}"
        )
    if dim is None and not keepdim:
        return g.mean_all(x)
    return g.mean_dim(x, _dims(x, dim), keepdim)


def var(self: Tensor, dim: Dims = None, correction: int = 1, keepdim: bool = False) -> Tensor:
    """Variance of all elements or along ``dim``, divided by ``n - correction``."""
    dims = _dims(self, dim)
    centred = self - g.mean_dim(self, dims, True)
    n = int(np.prod([self.shape[d] for d in ((dims,) if isinstance(dims, int) else dims or range(self.ndim))]))
    return g.sum_dim(centred * centred, dims, keepdim) / max(n - correction, 0)


class Extreme(NamedTuple):
    """Values and their positions."""

    values: Tensor
    indices: Tensor


def max(self: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """Largest element; with ``dim`` also where (the first of ties); with a tensor, elementwise."""
    return _extreme(self, dim, keepdim, np.argmax, g.max_all, g.maximum)


def min(self: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """Smallest element; with ``dim`` also where (the first of ties); with a tensor, elementwise."""
    return _extreme(self, dim, keepdim, np.argmin, g.min_all, g.minimum)


def _extreme(self: Tensor, dim: Any, keepdim: bool, arg: Any, whole: Any, pairwise: Any) -> Any:
    if dim is None:
        return whole(self)
    if isinstance(dim, Tensor):
        return pairwise(self, dim)
    dim = _dim(self, dim)
    where = wrap(np.expand_dims(arg(self._a, axis=dim), dim))
    values = g.gather(self, dim, where)
    if not keepdim:
        values, where = g.squeeze_dim(values, dim), wrap(where._a.squeeze(dim))
    return Extreme(values, where)


def softmax(self: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along ``dim``."""
    x = self if dtype is None else self.to(dtype)
    return g.softmax_dim(x, _dim(x, dim))


def log_softmax(self: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """x - log(sum(exp(x))) along ``dim``."""
    x = self if dtype is None else self.to(dtype)
    return g.log_softmax_dim(x, _dim(x, dim))


def logsumexp(self: Tensor, dim: Dims, keepdim: bool = False) -> Tensor:
    """log(sum(exp(x))) along ``dim``."""
    x = self if self.dtype.kind in "fc" else self.to(get_default_dtype())
    return g.logsumexp(x, _dims(x, dim), keepdim)


# ----- products -----


def mm(self: Tensor, mat2: Tensor) -> Tensor:
    """Product of two matrices."""
    if self.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if mat2.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    same_dtype("mm", self, mat2)
    return g.mm(self, mat2)


def matmul(self: Tensor, other: Tensor) -> Tensor:
    """``self @ other`` for vectors, matrices and batches of matrices, as in PyTorch."""
    if not isinstance(other, Tensor):
        raise TypeError(f"matmul(): argument 'other' (position 1) must be Tensor, not {type(other).__name__}")
    a, b = self.ndim, other.ndim
    if self.dtype is not other.dtype:
        same_dtype("matmul", self, other)
    if a == 2 and b == 2:
        return g.mm(self, other)
    if a == 0 or b == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {a}D and {b}D")
    if a == 1 and b == 1:
        return g.dot(self, other)
    if a == 2 and b == 1:
        return g.mv(self, other)
    if a == 1 and b == 2:
        return g.squeeze_dim(g.mm(unsqueeze(self, 0), other), 0)
    return _batched(self, other)


def _batched(x: Tensor, y: Tensor) -> Tensor:
    """At least one side has a batch: a batch times one matrix is one big product, else ``bmm`` on the broadcast batches."""
    if x.ndim >= 3 and y.ndim <= 2:
        flat = x.reshape((-1, x.shape[-1]))
        out = g.mv(flat, y) if y.ndim == 1 else g.mm(flat, y)
        return out.view((*x.shape[:-1], *y.shape[1:]))
    if x.ndim == 1:
        return g.squeeze_dim(_batched(x.view((1, -1)), y), -2 % (y.ndim))
    batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    (n, k), (k2, m) = x.shape[-2:], y.shape[-2:]
    left = x.expand((*batch, n, k)).reshape((-1, n, k))
    right = y.expand((*batch, k2, m)).reshape((-1, k2, m))
    return g.bmm(left, right).view((*batch, n, m))

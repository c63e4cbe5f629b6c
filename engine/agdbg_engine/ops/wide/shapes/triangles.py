"""Triangles of matrices, and the positions in them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ....creation import leaf
from ....pinned_memory import pinnable
from ....tensor import Tensor
from ... import kernels
from ...explain import shape_error
from ...kernel_names import no_kernel
from ...layout import by_rows
from ..declare import linear, public


@by_rows
def _lower(x: Any, diagonal: int) -> Any:
    return np.tril(x, diagonal) if _is_large(x) else kernels.keep(x, _triangle(*x.shape[-2:], diagonal))


@by_rows
def _upper(x: Any, diagonal: int) -> Any:
    return np.triu(x, diagonal) if _is_large(x) else kernels.drop(x, _triangle(*x.shape[-2:], diagonal - 1))


def _is_large(x: Any) -> bool:
    """Whether the triangle is better not kept for the next time; also what lies on another device."""
    return type(x) is not np.ndarray or x.shape[-2] * x.shape[-1] > _KEPT


_KEPT = 2**16


@functools.lru_cache(16)
def _triangle(rows: int, columns: int, diagonal: int) -> Any:
    return np.tri(rows, columns, diagonal, np.bool_)


_tril = linear("tril(self, diagonal=0)", "TrilBackward0", "tril(g, diagonal)", value=_lower)
_triu = linear("triu(self, diagonal=0)", "TriuBackward0", "triu(g, diagonal)", value=_upper)


def _matrices(op: str, x: Tensor) -> Tensor:
    if x.ndim < 2:
        raise shape_error(f"{op}: input tensor must have at least 2 dimensions")
    return x


@public("torch Tensor", out=True, inplace=True)
def tril(self: Tensor, diagonal: int = 0) -> Tensor:
    """Matrices with zeros above the ``diagonal``-th diagonal (the main one is 0, above it numbers are positive)."""
    return _tril(_matrices("tril", self), diagonal)


@public("torch Tensor", out=True, inplace=True)
def triu(self: Tensor, diagonal: int = 0) -> Tensor:
    """Matrices with zeros below the ``diagonal``-th diagonal."""
    return _triu(_matrices("triu", self), diagonal)


@public("torch")
@pinnable
def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = np.int64, device: Any = None) -> Tensor:
    """Rows and columns of the elements in the lower triangle, row by row: shape (2, n)."""
    return _indices(np.tril, row, col, offset, dtype, device)


@public("torch")
@pinnable
def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = np.int64, device: Any = None) -> Tensor:
    """Rows and columns of the elements in the upper triangle, row by row: shape (2, n)."""
    return _indices(np.triu, row, col, offset, dtype, device)


def _indices(triangle: Any, row: int, col: int, offset: int, dtype: Any, device: Any) -> Tensor:
    for name, n in (("row", row), ("col", col)):
        if n < 0:
            raise shape_error(f"{name} must be non-negative, got{n}")
    kind = np.dtype(dtype or np.int64)
    if kind not in (np.int32, np.int64):
        raise no_kernel(f"{triangle.__name__}_indices", kind)
    found = np.nonzero(triangle(np.ones((row, col), np.bool_), offset))
    return leaf(np.stack(found).astype(kind), device, False)

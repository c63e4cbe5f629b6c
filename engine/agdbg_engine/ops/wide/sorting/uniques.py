"""What different elements or slices there are; recorded, but without a derivative."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....device import array_module
from ....errors import raise_if
from ....signatures import refusal
from ....tensor import Tensor
from ...explain import shape_error
from ...kernel_names import no_kernel
from ...shape import one_dim
from ..declare import kernel, op, public


@kernel
def unique2_raw(x: Any) -> tuple[Any, Any, Any]:
    """Different elements in order, where each element's is, and how often each is there."""
    values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True, equal_nan=False)
    return values, inverse.reshape(x.shape), counts


@kernel
def unique_dim_raw(x: Any, dim: int) -> tuple[Any, Any, Any]:
    """Different slices in order."""
    if not isinstance(x, np.ndarray):
        return _unique_slices(x, dim)
    values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True, axis=dim, equal_nan=False)
    return values, inverse.reshape(-1), counts


def _unique_slices(x: Any, dim: int) -> tuple[Any, Any, Any]:
    """The same on a device, where CuPy's ``unique`` compares slices on the host, one by one."""
    xp, n = array_module(x), x.shape[dim]
    rows = np.moveaxis(x, dim, 0).reshape(n, x.size // max(n, 1))
    order = np.lexsort(rows.T[::-1]) if rows.shape[1] else xp.arange(n)
    rows = rows[order]
    begins = xp.ones(n, bool)
    begins[1:] = (rows[1:] != rows[:-1]).any(1)
    starts = np.flatnonzero(begins)
    inverse = xp.empty(n, np.int64)
    inverse[order] = np.cumsum(begins) - 1
    return np.take(x, order[starts], dim), inverse, np.diff(starts, append=xp.full(1, n))


@kernel
def unique_consecutive_raw(x: Any, dim: int | None) -> tuple[Any, Any, Any]:
    """The first of every run of the same elements or slices."""
    n = x.size if dim is None else x.shape[dim]
    rows = x.reshape(n, 1) if dim is None else np.moveaxis(x, dim, 0).reshape(n, x.size // max(n, 1))
    begins = np.ones_like(rows, dtype=bool, shape=(n,))
    begins[1:] = (rows[1:] != rows[:-1]).any(1)
    starts = np.flatnonzero(begins)
    inverse = np.cumsum(begins) - 1
    counts = np.diff(starts, append=array_module(x).full(1, n))
    values = x.reshape(-1)[starts] if dim is None else np.take(x, starts, dim)
    return values, inverse.reshape(x.shape) if dim is None else inverse, counts


_OUTPUTS = "values *inverse *counts"
_UNIQUE = op("unique2_raw(self)", "Unique2Backward0", outputs=_OUTPUTS,
   self="not_implemented(\"the derivative for '_unique2' is not implemented.\")")  # fmt: skip
_UNIQUE_DIM = op("unique_dim_raw(self, dim)", "UniqueDimBackward0", outputs=_OUTPUTS,
   self="not_implemented(\"the derivative for 'unique_dim' is not implemented.\")")  # fmt: skip
_CONSECUTIVE = op("unique_consecutive_raw(self, dim)", "UniqueConsecutiveBackward0", outputs=_OUTPUTS,
   self="not_implemented(\"the derivative for 'unique_consecutive' is not implemented.\")")  # fmt: skip


@public("torch Tensor")
def unique(
    self: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The different elements, or slices along ``dim``, in order; a derivative of them is an error.

    With ``return_inverse`` and ``return_counts`` also where each element's is among them, and how often each is there.
    """
    if self._a.dtype.kind == "c":
        raise no_kernel("unique" if dim is None else "unique_dim", self.dtype)
    flags = {"sorted": sorted, "return_inverse": return_inverse, "return_counts": return_counts}
    raise_if(refusal("_unique2", (self,), flags))
    found = _UNIQUE(self) if dim is None else _UNIQUE_DIM(self, _slices(self, dim))
    return _wanted(found, return_inverse, return_counts)


@public("torch Tensor")
def unique_consecutive(
    self: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The first of every run of the same elements, or slices along ``dim``; see :func:`unique`."""
    if self._a.dtype.kind == "c":
        raise no_kernel("unique" if dim is None else "unique_dim", self.dtype)
    flags = {"return_inverse": return_inverse, "return_counts": return_counts}
    raise_if(refusal("_unique_consecutive", (self,), flags))
    found = _CONSECUTIVE(self, None if dim is None else _slices(self, dim))
    return _wanted(found, return_inverse, return_counts)


def _slices(x: Tensor, dim: int) -> int:
    if not x.ndim:
        raise shape_error(f"Dimension specified as {dim} but tensor has no dimensions", IndexError)
    dim = one_dim(x, dim)
    if any(not n for d, n in enumerate(x.shape) if d != dim):
        raise shape_error("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    return dim


def _wanted(found: Any, inverse: bool, counts: bool) -> Any:
    values = [found.values, *([found.inverse] if inverse else []), *([found.counts] if counts else [])]
    return values[0] if len(values) == 1 else tuple(values)

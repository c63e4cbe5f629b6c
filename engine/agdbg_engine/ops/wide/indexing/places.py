"""Which elements an index along a dimension means, counted through an array row by row: what scattering writes to."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....backends import on_host
from ....device import array_module
from ....dtype import scalar_type
from ....repeated_index import join_at
from ....tensor import Tensor, wrap
from ...explain import shape_error
from ...host_only import check_place
from ...prepare import as_array

Shape = tuple[int, ...]


def along(shape: Shape, dim: int, index: Any) -> Any:
    """The places in an array of ``shape`` of the slices at a vector ``index`` along ``dim``: as many dimensions as ``shape``."""
    if not shape:
        return index.reshape(()).astype(np.int64)
    step = math.prod(shape[dim + 1 :])
    own = (index.astype(np.int64) * step).reshape(-1, *(1,) * (len(shape) - dim - 1))
    xp = array_module(index)
    before = xp.arange(0, math.prod(shape[:dim]), dtype=np.int64) * (step * shape[dim])
    inner = xp.arange(0, step, dtype=np.int64).reshape(shape[dim + 1 :])
    return before.reshape(*shape[:dim], *(1,) * (len(shape) - dim)) + (own + inner)


def elementwise(shape: Shape, dim: int, index: Any) -> Any:
    """The places in an array of ``shape`` that an ``index`` of as many dimensions names along ``dim``, in its shape."""
    places = index.astype(np.int64)
    if not shape:
        return places
    if not index.ndim:
        return places.reshape(())
    xp = array_module(index)
    places = places * math.prod(shape[dim + 1 :])
    for d, n in enumerate(index.shape):
        if d != dim:
            step = math.prod(shape[d + 1 :])
            places += (xp.arange(n, dtype=np.int64) * step).reshape(-1, *(1,) * (index.ndim - d - 1))
    return places


def combined(how: str, x: Any, places: Any, values: Any) -> Any:
    """A copy of ``x`` with ``values`` joined at ``places`` by the ufunc ``how`` of NumPy, one after the other."""
    if how == "multiply":
        check_place("scatter_reduce_prod", x)
    if x.dtype.char == "e":
        return combined(how, x.astype(np.float32), places, values.astype(np.float32)).astype(x.dtype)
    out = as_array(x).copy()
    join_at(how, out.reshape(-1), places.reshape(-1), values.reshape(-1))
    return out


def written(x: Any, places: Any, values: Any) -> Any:
    """A copy of ``x`` with ``values`` (or a number) at ``places``."""
    out = as_array(x).copy()
    flat = values.reshape(-1) if getattr(values, "ndim", 0) else values
    out.reshape(-1)[places.reshape(-1)] = flat
    return out


# ----- errors -----


def is_index(index: Tensor) -> bool:
    """Whether ``index`` has one of the dtypes of indices."""
    return index.dtype in (np.int64, np.int32)


def check_bounds(
    index: Tensor, dim: int, size: int, prefix: str | None = "", error: type[Exception] = RuntimeError
) -> None:
    """Refuse what lies outside of ``size`` elements; negative indices do. Without a ``prefix`` as for vectors."""
    found = index._a
    if on_host(found) and found.size and not (int(found.min()) >= 0 and int(found.max()) < size):
        if prefix is None:
            raise shape_error("index out of range in self", IndexError)
        wrong = found[(found < 0) | (found >= size)].reshape(-1)[0]
        raise shape_error(f"{prefix}index {wrong} is out of bounds for dimension {dim} with size {size}", error)


def anywhere(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """``index`` as it is, or zeros where slices of ``x`` along ``dim`` have no elements, so that nothing depends on it."""
    nothing = x._a.ndim and not x._a.size and x._a.shape[dim]
    return wrap(index._a * 0) if nothing else index


def check_same_dtype(op: str, x: Tensor, source: Tensor) -> None:
    """Refuse a ``source`` of another dtype."""
    if x.dtype != source.dtype:
        raise RuntimeError(
            f"{op}: self ({scalar_type(x.dtype)}) and source ({scalar_type(source.dtype)}) must have the same scalar type"
        )

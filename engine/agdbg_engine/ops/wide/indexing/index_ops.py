"""Whole slices along a dimension, picked, added to, replaced or filled by a vector of indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....backends import on_host
from ....dtype import scalar_type
from ....scalars import written as as_written
from ....tensor import Tensor, wrap
from ... import kernels
from ...explain import shape_error
from ...mixed_devices import refuse_mixed, together
from ...prepare import as_array
from ...shape import one_dim
from ..declare import formula, in_both, op, public
from . import places


def _selected(x: Any, dim: int, index: Any) -> Any:
    return np.take(x, index.reshape(-1), dim) if x.ndim else x.copy()


def _spread(g: Any, shape: tuple[int, ...], dim: int, index: Any) -> Any:
    if not dim and len(shape) > 1:
        return kernels.index_backward(g, shape, (index.reshape(-1),))
    return _added(kernels.zeros_of(shape, g), dim, index, g)


def _added(x: Any, dim: int, index: Any, source: Any, alpha: Any = 1) -> Any:
    if alpha != 1:
        source = source * x.dtype.type(alpha)
    return places.combined("add", x, places.along(x.shape, dim, index), source)


def _copied(x: Any, dim: int, index: Any, source: Any) -> Any:
    return _filled(x, dim, index, source if source.ndim else source.reshape((1,) * x.ndim))


def _filled(x: Any, dim: int, index: Any, value: Any) -> Any:
    out = as_array(x).copy()
    if x.ndim:
        out[(slice(None),) * dim + (index.reshape(-1),)] = value
    elif index.size:
        out[()] = value if not getattr(value, "ndim", 0) else value.reshape(-1)[-1]
    return out


@formula
def index_source_grad(F: Any, g: Any, dim: int, index: Any, shape: tuple[int, ...], alpha: Any) -> Any:
    """Gradient of the slices that were added or put at ``index``."""
    out = F.reshape(F.index_select(g, dim, index), shape)
    return out if alpha == 1 else out * alpha.conjugate()


def _distinct(index: Any, dim: int, shape: tuple[int, ...]) -> Any:
    return np.unique(index % shape[dim]) if shape else index


in_both("distinct", _distinct, lambda index, dim, shape: wrap(_distinct(index._a, dim, shape)))

SELECT = op("index_select(self, dim, index)", "IndexSelectBackward0", self="index_select_backward(g, self_shape, dim, index)",
            index=None, jvp="linear", value=_selected)  # fmt: skip
op("index_select_backward(self, shape, dim, index)", "IndexAddBackward0", self="index_select(g, dim, index)", index=None,
   jvp="linear", value=_spread)  # fmt: skip
ADD = op("index_add(self, dim, index, source, alpha=1)", "IndexAddBackward0", self="g", index=None, alias="self", jvp="linear",
         source="index_source_grad(g, dim, index, source_shape, alpha)", value=_added)  # fmt: skip
COPY = op("index_copy(self, dim, index, source)", "IndexCopyBackward0", self="index_fill(g, dim, index, 0)", index=None,
          source="index_source_grad(g, dim, index, source_shape, 1)", jvp="linear", value=_copied)  # fmt: skip
FILL = op("index_fill(self, dim, index, number)", "IndexFillBackward1", self="index_fill(g, dim, index, 0)", index=None,
          number="sum_all(index_select(g, dim, distinct(index, dim, self_shape)))", scalars={"number": "IndexFillBackward0"},
          jvp="index_fill(self_t, dim, index, number_t)", value=_filled)  # fmt: skip

# ----- as users write them -----


def axis(self: Tensor, dim: int) -> tuple[int, int]:
    """``dim`` checked and made non-negative, and its size."""
    dim = one_dim(self, dim)
    return dim, self.shape[dim] if self.ndim else 1


@public("torch Tensor", out=True)
def index_select(self: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices of ``self`` along ``dim`` at the entries of a vector ``index`` (a number counts as one of size 1)."""
    refuse_mixed("index_select", self=self, index=index)
    if index.ndim > 1:
        raise shape_error("index_select(): Index is supposed to be a vector", IndexError)
    if not places.is_index(index):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    dim, size = axis(self, dim)
    if not self.ndim and index.numel() != 1:
        raise shape_error(f"index_select(): Index to scalar can have only 1 value, got {index.numel()} value(s)")
    if not size and index.numel():
        raise shape_error("index_select(): self indexing axis dim should be positive")
    if dim == 1 or not self.numel():
        _within(index, size)
    in_range(index, size)
    out: Tensor = SELECT(self, dim, index)
    return out


def _within(index: Tensor, size: int) -> None:
    """As :func:`in_range`, in the words of PyTorch's kernel for the second dimension."""
    found = index._a
    if on_host(found) and found.size and not (int(found.min()) >= 0 and int(found.max()) < size):
        wrong = found[(found < 0) | (found >= size)].reshape(-1)[0]
        raise shape_error(f"INDICES element is out of DATA bounds, id={wrong} axis_dim={size}")


def in_range(index: Tensor, size: int) -> None:
    """Refuse what lies outside of ``size`` elements, in the words of embeddings."""
    found = index._a
    if on_host(found) and found.size and not (int(found.min()) >= 0 and int(found.max()) < size):
        raise shape_error("index out of range in self", IndexError)


@public("torch Tensor", out=True, inplace=True)
def index_add(self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """``self`` with ``alpha`` times the slices of ``source`` added at ``index`` along ``dim``, repeats included."""
    dim, size = sources("index_add_()", self, dim, index, source)
    index = places.anywhere(self, dim, index)
    outer = dim in (0, self.ndim - 1) and index.dtype == np.int64  # which PyTorch scatters: others say it as vectors do
    places.check_bounds(index, dim, size, "" if self.ndim > 1 and outer else None)
    out: Tensor = ADD(self, dim, index, source, as_written(alpha, self.dtype) if self.dtype.kind in "biu" else alpha)
    return out


def sources(op: str, self: Tensor, dim: int, index: Tensor, source: Tensor) -> tuple[int, int]:
    """The arguments of an op that joins slices of ``source`` to those of ``self``, checked: ``dim`` and its size."""
    dim, size = axis(self, dim)
    if index.ndim > 1:
        raise shape_error(
            f"{op}: Index is supposed to be a vector, but got dim: {index.ndim} with type: {scalar_type(index.dtype)} and "
            f"size: {list(index.shape)}",
            IndexError,
        )
    if not places.is_index(index):
        raise RuntimeError(f"{op}: Expected dtype int32/int64 for index but got: {scalar_type(index.dtype)}")
    places.check_same_dtype(op, self, source)
    if dim and dim >= source.ndim:
        raise shape_error(f"{op}: Indexing dim {dim} is out of bounds of the source tensor with dim {source.ndim}")
    have = source.shape[dim] if source.ndim else 1
    if index.numel() != have and source.ndim == 0:
        raise shape_error(f"Dimension specified as {dim} but tensor has no dimensions", IndexError)
    if index.numel() != have:
        raise shape_error(
            f"{op}: Number of indices ({index.numel()}) should be equal to source.size(dim): ({have}), for dim: {dim}"
        )
    kept, given = ([*x.shape[:dim], *x.shape[dim + 1 :]] for x in (self, source))
    if kept != given or self.ndim != source.ndim:
        raise shape_error(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(self.shape)} source.shape = {list(source.shape)}"
        )
    return dim, size


@public("torch Tensor", out=True, inplace=True)
def index_copy(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """``self`` with the slices of ``source`` at ``index`` along ``dim``; of repeats the last one counts."""
    op = "index_copy_()"
    refuse_mixed("index_copy", self=self, index=index, source=source)
    dim, size = axis(self, dim)
    if index.ndim >= 2:
        raise shape_error(f"{op}: Index should have dimension 1 or 0 (got {index.ndim})", IndexError)
    n = index.numel()
    if source.ndim == 0 and n != 1:
        raise shape_error(f"{op}: When source is scalar, index should have one element (got {n})", IndexError)
    if source.ndim != self.ndim and source.ndim and self.ndim:
        raise shape_error(
            f"{op}: When source and destination are not scalars, their dimensionality must match. Source dimensionality "
            f"({source.ndim}), destination dimensionality ({self.ndim})",
            IndexError,
        )
    if index.dtype != np.int64:
        raise RuntimeError(f"{op}: Expected a long tensor for index, but got {scalar_type(index.dtype)}")
    if self.dtype != source.dtype:
        raise RuntimeError(
            f"{op}: self and source expected to have the same dtype, but got (self) {scalar_type(self.dtype)} and (source) "
            f"{scalar_type(source.dtype)}"
        )
    kept, given = ([*x.shape[:dim], *x.shape[dim + 1 :]] for x in (self, source))
    if kept != given:
        shown, other = (" ".join(map(str, s)) for s in (kept, given))
        raise shape_error(
            f"{op}: Source/destination tensor must have same slice shapes. Destination slice shape: {shown} at dimension {dim} "
            f"and source slice shape: {other} at dimension 0."
        )
    if source.ndim and n != source.shape[dim]:
        raise shape_error(
            f"{op}: Number of indices ({n}) should be equal to source.size(dim) ({source.shape[dim]})", IndexError
        )
    index = places.anywhere(self, dim, index)
    places.check_bounds(index, dim, size, f"{op}: ", IndexError)
    out: Tensor = COPY(self, dim, index, source)
    return out


@public("torch Tensor", inplace=True)
def index_fill(self: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """``self`` with the slices at ``index`` (which may be negative) along ``dim`` filled with a number or 0-d tensor."""
    if isinstance(value, Tensor):
        if value.ndim:
            raise shape_error(
                f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s)."
            )
        complex_ = value.dtype.kind == "c"
    else:
        complex_ = isinstance(value, complex)
    if index.dtype != np.int64:
        raise shape_error("index_fill_(): Expected dtype int64 for index.", IndexError)
    if index.ndim > 1:
        raise shape_error("Index has to be a vector/scalar")
    if complex_ and self.dtype.kind != "c":
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    dim, size = axis(self, dim)
    together(self, index)
    index = places.anywhere(self, dim, index)
    found = index._a
    if on_host(found) and found.size and not (int(found.min()) >= -size and int(found.max()) < size):
        wrong = found[(found < -size) | (found >= size)].reshape(-1)[0]
        raise shape_error(f"index {wrong} is out of bounds for dimension {dim} with size {size}", IndexError)
    if isinstance(value, Tensor):
        # PyTorch reads a number of it, which may lie anywhere: it is sent to where it is wanted instead, without waiting for it
        value = value if value.device == self.device else value.to(self.device)
        value = value if value.dtype == self.dtype else value.to(self.dtype)
    else:
        value = as_written(value, self.dtype)
    out: Tensor = FILL(self, dim, index, value)
    return out

"""Elements that a mask picks, as a vector, and a vector put where a mask says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....backends import on_host
from ....dtype import scalar_type
from ....errors import raise_if
from ....several import at_home
from ....tensor import Tensor
from ... import kernels
from ...explain import broadcast_error, shape_error
from ...prepare import as_array
from ..declare import formula, op, public
from .mask_places import places, spread

Shape = tuple[int, ...]


def _whole(x: Any, shape: Shape) -> Any:
    return x if x.shape == shape else np.broadcast_to(x, shape)


def _picked(x: Any, mask: Any) -> Any:
    shape = np.broadcast_shapes(x.shape, mask.shape)
    return _whole(x, shape)[_whole(mask, shape)]


def _put_back(g: Any, mask: Any, shape: Shape) -> Any:
    """The transpose of :func:`_picked`: summed where ``x`` of ``shape`` was broadcast."""
    whole = np.broadcast_shapes(shape, mask.shape)
    out = kernels.zeros_of(whole, g)
    out[_whole(mask, whole)] = g
    return kernels.sum_to(out, shape)


def _filled(x: Any, mask: Any, source: Any) -> Any:
    shape = np.broadcast_shapes(x.shape, mask.shape)
    out = as_array(_whole(x, shape)).copy()
    mask = _whole(mask, shape)
    if on_host(mask):
        out[mask] = source.reshape(-1)[: int(mask.sum())]
        return out
    return spread(source, mask, out)


def _first(g: Any, mask: Any, shape: Shape) -> Any:
    """Zeros of ``shape`` that begin with the elements of ``g`` where ``mask``."""
    if not on_host(mask):
        whole = np.broadcast_shapes(g.shape, mask.shape)
        at, there = places(_whole(mask, whole), math.prod(shape))
        values = _whole(g, whole).reshape(-1)
        first = np.where(there, values[at], values.dtype.type(0)) if values.size else kernels.zeros_of(at.shape, g)
        return first.reshape(shape)
    picked = _picked(g, mask)
    out = kernels.zeros_of((math.prod(shape),), picked)
    out[: picked.size] = picked
    return out.reshape(shape)


def _last(g: Any, mask: Any, shape: Shape) -> Any:
    """The transpose of :func:`_first`."""
    out = kernels.zeros_of(shape, g)
    whole = _whole(mask, shape)
    if not on_host(mask):
        return spread(g, whole, out)
    out[whole] = g.reshape(-1)[: int(whole.sum())]
    return out


@formula
def masked_scatter_grad(F: Any, g: Any, mask: Any, shape: Shape) -> Any:
    """Gradient of what was there before, summed where it was broadcast."""
    return F.sum_to(F.drop(g, mask), shape)


SELECT = op("masked_select(self, mask)", "MaskedSelectBackward0", self="masked_select_backward(g, mask, self_shape)", mask=None,
            jvp="linear", value=_picked)  # fmt: skip
op("masked_select_backward(self, mask, shape)", "MaskedScatterBackward0", self="masked_select(g, mask)", mask=None,
   jvp="linear", value=_put_back)  # fmt: skip
SCATTER = op("masked_scatter(self, mask, source)", "MaskedScatterBackward0", self="masked_scatter_grad(g, mask, self_shape)",
             mask=None, source="masked_scatter_backward(g, mask, source_shape)", jvp="linear", value=_filled)  # fmt: skip
op("masked_scatter_backward(self, mask, sizes)", "MaskedScatterBackwardBackward0", self="masked_first(g, mask, self_shape)",
   mask=None, jvp="linear", value=_first)  # fmt: skip
op("masked_first(self, mask, shape)", "MaskedScatterBackward0", self="masked_scatter_backward(g, mask, self_shape)", mask=None,
   jvp="linear", value=_last)  # fmt: skip


@public("torch Tensor", out=True)
def masked_select(self: Tensor, mask: Tensor) -> Tensor:
    """The elements of ``self`` where ``mask``, in order, as a vector; the two are broadcast together."""
    if mask.dtype.kind != "b":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    raise_if(broadcast_error([mask.shape, self.shape]))
    out: Tensor = SELECT(self, mask)
    return out


@public("torch Tensor", inplace=True)
@at_home
def masked_scatter(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """``self`` with the first elements of ``source`` where ``mask``, which is broadcast, in order."""
    raise_if(broadcast_error([mask.shape, self.shape]))
    if self.dtype != source.dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got{scalar_type(self.dtype)} and "
            f"{scalar_type(source.dtype)}"
        )
    if mask.dtype.kind != "b":
        raise RuntimeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype {scalar_type(mask.dtype)}"
        )
    shape = np.broadcast_shapes(self.shape, mask.shape)
    if on_host(mask._a) and source.numel() < int(_whole(mask._a, shape).sum()):
        raise shape_error("Number of elements of source < number of ones in mask")
    out: Tensor = SCATTER(self, mask, source)
    return out

"""Where numbers belong among others in order, and whether they are among others at all; no gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....backends import on_host
from ....device import array_module
from ....dtype import get_default_dtype, result_type, scalar_type
from ....several import at_home
from ....tensor import Tensor, wrap
from ...compare import no_gradient
from ...explain import shape_error
from ...mixed_devices import refuse_apart, together
from ...prepare import as_array
from ..declare import public
from ..indexing.reading import some
from .rows import write_along


def _places(bounds: Any, values: Any, side: Any) -> Any:
    """Where ``values`` belong among ``bounds``, row by row if these are several; behind all of them if NaN."""
    if not on_host(bounds) or np.isnan(bounds).any():
        return _halved(bounds, values, side)
    if bounds.ndim == 1:
        found = np.searchsorted(bounds, values, side)
    else:
        # both sorted together: the places are how many bounds come before
        both = (values, bounds) if side == "left" else (bounds, values)
        order = np.argsort(np.concatenate(both, -1), -1, kind="stable")
        n, m = bounds.shape[-1], values.shape[-1]
        is_bound = order >= m if side == "left" else order < n
        before = np.empty_like(order)
        write_along(before, order, np.cumsum(is_bound, -1), before.ndim - 1)
        found = before[..., :m] if side == "left" else before[..., n:]
    if values.dtype.kind == "f":
        found = np.where(values != values, bounds.shape[-1], found)
    return found


def _halved(bounds: Any, values: Any, side: Any) -> Any:
    """The places by the steps of PyTorch's search, which decide where NaN is among the bounds: what meets it goes right."""
    count = bounds.shape[-1]
    low = array_module(values).zeros(values.shape, np.int64)
    high = low + count
    for _ in range(count.bit_length()):
        middle = (low + high) >> 1
        at = np.minimum(middle, count - 1)
        there = bounds[at] if bounds.ndim == 1 else np.take_along_axis(bounds, at, -1)
        behind = ~(there >= values if side == "left" else there > values)
        low, high = np.where(behind & (low < high), middle + 1, low), np.where(behind, high, middle)
    return low


def _as_array(x: Any, like: Any) -> Any:
    """A tensor's buffer, or a number as a 0-d array that counts as one of that kind."""
    if isinstance(x, Tensor):
        return x._a
    if isinstance(x, complex):
        kind = np.result_type(get_default_dtype(), np.complex64)
    elif isinstance(x, float):
        kind = get_default_dtype()
    else:
        kind = np.dtype(bool if isinstance(x, bool) else np.int64)
    return array_module(like).full((), x, like.dtype if like.dtype.kind == "f" and kind.kind != "c" else kind)


@public("torch", out=True)
@at_home
def searchsorted(
    sorted_sequence: Tensor, input: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Where ``input`` would have to be put into ``sorted_sequence`` (row by row) to keep it in order.

    Before elements that are the same, or with ``right`` (``side="right"``) behind them. ``sorter`` is the order of a sequence
    that is in none.
    """
    if isinstance(input, Tensor):
        refuse_apart("searchsorted", sorted_sequence=sorted_sequence, input=input)
    together(sorted_sequence, sorter, _SORTER)
    bounds, x = sorted_sequence._a, _as_array(input, sorted_sequence._a)
    _check(bounds, x, right, side, sorter)
    if sorter is not None:
        bounds = np.take_along_axis(bounds, sorter._a, -1)
    no_gradient((sorted_sequence, input))
    dtype = result_type([(a.dtype, 2 if a.ndim else 1) for a in (bounds, x)])
    if x.size:
        _refuse(dtype)
    found = _places(bounds.astype(dtype), x.astype(dtype), "right" if right or side == "right" else "left")
    return wrap(as_array(found).astype(np.int32 if out_int32 else np.int64))


_SORTER = (
    "torch.searchsorted(): sorter and boundary tensors should have same device type, but got sorter tensor device type {1} and "
    "input value tensor device type {0}"
)


def _check(bounds: Any, x: Any, right: bool, side: str | None, sorter: Tensor | None) -> None:
    if side not in (None, "left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True"
        )
    if sorter is not None:
        if sorter.shape != bounds.shape:
            raise shape_error(
                "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
                f"{list(bounds.shape)}and got sorter tensor {list(sorter.shape)}"
            )
        if sorter.dtype != np.int64:
            raise RuntimeError(
                f"torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {scalar_type(sorter.dtype)}"
            )
        if sorter._a.size and some((sorter._a < 0) | (sorter._a >= bounds.shape[-1])):
            raise RuntimeError("torch.searchsorted(): sorter index out of range")
    if not bounds.ndim:
        raise shape_error("torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension")
    if not x.ndim and bounds.ndim != 1:
        raise shape_error(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got "
            f"boundaries tensor dim({bounds.ndim}) and input value's dim(0) numel(1)"
        )
    if bounds.ndim != 1 and bounds.shape[:-1] != x.shape[:-1]:
        raise shape_error(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor "
            f"and input value tensor must match, but we got boundaries tensor {list(bounds.shape)} and input value tensor "
            f"{list(x.shape)}"
        )


def _refuse(dtype: Any) -> None:
    """There is no order of complex numbers, and none of bools alone."""
    if dtype.kind in "bc":
        raise NotImplementedError(f"\"searchsorted_out_cpu\" not implemented for '{scalar_type(dtype)}'")


@public("torch", out=True)
def bucketize(input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """In which of the intervals between ``boundaries`` (1-d, in order) the elements, or a number, lie."""
    if boundaries.ndim != 1:
        raise shape_error(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    if isinstance(input, Tensor):
        refuse_apart("bucketize", input=input, boundaries=boundaries)
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


@public("torch", out=True)
@at_home
def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Whether each of ``elements`` is (not, with ``invert``) one of ``test_elements``; either may be a number."""
    tensors = [x for x in (elements, test_elements) if isinstance(x, Tensor)]
    if not tensors:
        kinds = f"{type(elements).__name__}, {type(test_elements).__name__}"
        raise TypeError(f"isin() received an invalid combination of arguments - got ({kinds}), but expected one of:")
    for x in (elements, test_elements):
        dtype = x.dtype if isinstance(x, Tensor) else np.asarray(x).dtype
        if dtype.kind in "bc":
            raise RuntimeError(f"Unsupported input type encountered for isin(): {scalar_type(dtype)}")
    no_gradient(tuple(tensors))
    xp = array_module(tensors[0]._a)
    a, b = (x._a if isinstance(x, Tensor) else xp.asarray(x) for x in (elements, test_elements))
    return wrap(as_array(np.isin(a, b, assume_unique=assume_unique and a.size > 1, invert=invert)))

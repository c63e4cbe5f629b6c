"""The element in the middle, and the most frequent one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....backends import on_host
from ....device import array_module
from ....dtype import scalar_type
from ....tensor import Tensor
from ..declare import formula, kernel, op, public
from ..scans.rows import running
from ..sorting.rows import SELECTING, element_in_order, nothing, selectable
from ..sorting.selection import INSERTED, place_in_sorted

# ----- values -----


@kernel
def median_raw(x: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """The lower one of the elements in the middle, NaN where there is one, and its place."""
    if not x.ndim or not x.size:
        return nothing(x, dim, keepdim)
    k = (x.shape[dim] - 1) // 2
    middle, largest = element_in_order(x, k, dim), x.max(dim, keepdims=True)
    return _found(x, np.where(largest != largest, largest, middle), k, dim, keepdim)


@kernel
def nanmedian_raw(x: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """The median of what is no NaN."""
    if not x.ndim or not x.size:
        return nothing(x, dim, keepdim)
    k = np.maximum(((x == x).sum(dim, keepdims=True) - 1) // 2, 0)
    return _found(x, np.take_along_axis(np.sort(x, dim), k, dim), k, dim, keepdim)


def _found(x: Any, values: Any, k: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """``values`` and their places: of equal elements the one that is at ``k`` when all keep their order, of NaN the first."""
    same = x == values
    nth = np.where(values == values, k - (x < values).sum(dim, keepdims=True), 0)
    same |= (x != x) & (values != values)
    indices = (np.cumsum(same, dim) > nth).argmax(dim, keepdims=True)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def _of_all(middle: Any) -> Any:
    def value(x: Any) -> Any:
        if not x.size:  # PyTorch has the smallest integer for want of a NaN
            none = np.nan if x.dtype.kind == "f" else np.iinfo(x.dtype).min if x.dtype.kind == "i" else 0
            return array_module(x).full((), none, x.dtype)
        return middle(x.reshape(-1), 0, False)[0]

    return value


def _most(x: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """The most frequent element, of equally frequent ones the smallest, and where the last of them is once all are sorted."""
    if not x.ndim or not x.size:
        return nothing(x, dim, keepdim)
    x = np.moveaxis(x, dim, -1)
    n = x.shape[-1]
    order, at = np.sort(x, -1), array_module(x).arange(n)
    begins = np.ones_like(order, dtype=bool)
    begins[..., 1:] = order[..., 1:] != order[..., :-1]
    run = at - running(np.maximum, np.where(begins, at, 0), begins.ndim - 1)
    end, most = run.argmax(-1, keepdims=True), run.max(-1, keepdims=True)
    values = np.take_along_axis(order, end, -1)
    nan = (order[..., -1:] != order[..., -1:]) & (most == 0)
    values = np.where(nan, order[..., -1:], values)  # a NaN is the smallest here, and no two are the same
    last = n - 1 - np.flip(x == values, -1).argmax(-1, keepdims=True)
    if n > INSERTED and on_host(x):
        tied = most.reshape(-1) > 0
        if tied.any():
            last.reshape(-1)[tied] = place_in_sorted(x.reshape(-1, n)[tied], end.reshape(-1)[tied])
    indices = np.where(nan, (x != x).argmax(-1, keepdims=True), last)
    values, indices = np.moveaxis(values, -1, dim), np.moveaxis(indices, -1, dim)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


# ----- gradients -----


@formula
def same_as(F: Any, x: Any, result: Any) -> Any:
    """Which elements are the same as ``result``, NaN being the same as NaN."""
    return (x == result) | ((x != x) & (result != result))


MEDIAN, NANMEDIAN = (
    op(f"{name}_raw(self, dim, keepdim)", f"{name.capitalize()}Backward1", **SELECTING) for name in ("median", "nanmedian")
)  # fmt: skip
MEDIAN_OF_ALL, NANMEDIAN_OF_ALL = (
    op(
        f"{name}_all(self)", f"{name.capitalize()}Backward0", self="share_among(g, same_as(self, result))",
        jvp="extreme_of_all_tangent(self_t, self, result)", value=_of_all(middle),
    )
    for name, middle in (("median", median_raw), ("nanmedian", nanmedian_raw))
)  # fmt: skip
MODE = op("mode_raw(self, dim, keepdim)", "ModeBackward0", value=_most, **SELECTING)


# ----- as users write them -----

_MISSING: Any = object()


@public("torch Tensor", out=True)
def median(self: Tensor, dim: int = _MISSING, keepdim: bool = False) -> Any:
    """The lower one of the elements in the middle, ties sharing the gradient; with ``dim`` ``(values, indices)`` along it."""
    return _median("median", self, dim, keepdim, MEDIAN, MEDIAN_OF_ALL)


@public("torch Tensor", out=True)
def nanmedian(self: Tensor, dim: int = _MISSING, keepdim: bool = False) -> Any:
    """:func:`median` of the elements that are no NaN."""
    return _median("nanmedian", self, dim, keepdim, NANMEDIAN, NANMEDIAN_OF_ALL)


def _median(name: str, x: Tensor, dim: int, keepdim: bool, row: Any, of_all: Any) -> Any:
    if dim is _MISSING:
        if keepdim:
            raise TypeError(f'{name}() missing 1 required positional arguments: "dim"')
        _ordered("median_cpu", x)
        return of_all(x)
    dim = selectable("median", x, dim)
    _ordered("median_out", x)
    return row(x, dim, keepdim)


def _ordered(kernel_name: str, x: Tensor) -> None:
    if x._a.dtype.kind in "bc":
        raise NotImplementedError(f"\"{kernel_name}\" not implemented for '{scalar_type(x.dtype)}'")


@public("torch Tensor", out=True)
def mode(self: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """``(values, indices)``: the most frequent element along ``dim`` (of several the smallest), and where one of them is."""
    dim = selectable("mode", self, dim)
    if self._a.dtype.kind == "c":
        raise NotImplementedError(f"\"mode_cpu\" not implemented for '{scalar_type(self.dtype)}'")
    return MODE(self, dim, keepdim)

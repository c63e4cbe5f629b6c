"""Elements in order: all of them, the first few, the one at a rank; ties in the order that they had, NaN above all."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....backends import on_host
from ....device import array_module
from ....dtype import scalar_type
from ....tensor import Tensor
from ...compare import no_gradient
from ...explain import shape_error
from ...layout import by_rows
from ...shape import one_dim
from ..declare import formula, kernel, op, public
from .selection import SORTED, kth_place, top_places

MANY = 64
"""Elements from which it pays to find the first few before sorting them, which leaves no order among ties."""


def _order(x: Any, dim: int, descending: bool) -> Any:
    """Positions of the elements in order."""
    if not x.ndim:
        return np.zeros_like(x, dtype=np.int64)
    if not descending:
        return np.argsort(x, dim, kind="stable")
    return x.shape[dim] - 1 - np.flip(np.argsort(np.flip(x, dim), dim, kind="stable"), dim)


@kernel
def sort_raw(x: Any, dim: int, descending: bool) -> tuple[Any, Any]:
    """Elements in order, and where they were."""
    order = _order(x, dim, descending)
    return (np.take_along_axis(x, order, dim) if x.ndim else x.copy()), order


@by_rows
def _top(x: Any, k: int, dim: int, largest: bool) -> tuple[Any, Any]:
    """The first ``k`` elements in order, and where they were."""
    if not x.ndim:
        return sort_raw(x, dim, largest)
    values, places = _first_few(x, k, dim, largest)
    n = x.shape[dim]
    if not k or not x.size or not on_host(x):
        return values, places
    rows, places = np.moveaxis(x, dim, -1).reshape(-1, n), np.moveaxis(places, dim, -1)
    tied = _tied(rows, np.take_along_axis(rows, places.reshape(-1, k), -1))
    if tied.any():
        in_order = (
            k * 64 <= n or k > SORTED
        )  # PyTorch has a heap for a few of many: its order is copied for one element only
        flat = places.reshape(-1, k).copy()
        flat[tied] = _order(rows[tied], 1, largest)[:, :k] if in_order else top_places(rows[tied], k, largest)
        places = flat.reshape(places.shape)
        values = np.take_along_axis(x, np.moveaxis(places, -1, dim), dim)
    return values, np.moveaxis(places, -1, dim)


def _tied(rows: Any, chosen: Any) -> Any:
    """In which of the ``rows`` (m, n) the ``chosen`` elements (m, k), in order, are equal to each other or to what is left over."""
    last = chosen[:, -1:]
    same = (rows == last) | ((rows != rows) & (last != last))
    beside = (chosen[:, 1:] == chosen[:, :-1]) | ((chosen[:, 1:] != chosen[:, 1:]) & (chosen[:, :-1] != chosen[:, :-1]))
    return (same.sum(-1) > 1) | beside.any(-1)


def _first_few(x: Any, k: int, dim: int, largest: bool) -> tuple[Any, Any]:
    """The first ``k`` elements in order, and where they were, in no certain order if they are equal."""
    n, before = x.shape[dim], (slice(None),) * dim
    if n < MANY or 2 * k > n or not k or not on_host(x):  # on a device the order of all is no dearer, and stable
        order = _order(x, dim, largest)[(*before, slice(k))]
        return np.take_along_axis(x, order, dim), order
    found = np.argpartition(x, n - k if largest else k - 1, dim)
    found = found[(*before, slice(n - k, n) if largest else slice(k))]
    values, order = sort_raw(np.take_along_axis(x, found, dim), dim, largest)
    return values, np.take_along_axis(found, order, dim)


def _ranked(x: Any, k: int, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """The ``k``-th smallest element, and its place."""
    if not x.ndim or not x.size:
        return _nothing(x, dim, keepdim)
    values = element_in_order(x, k - 1, dim)
    indices = first_place(x, values, dim)
    if on_host(x):
        rows, chosen = np.moveaxis(x, dim, -1).reshape(-1, x.shape[dim]), np.moveaxis(values, dim, -1).reshape(-1, 1)
        tied = _tied(rows, chosen)
        if tied.any():
            flat = indices.reshape(-1).copy()  # one element along ``dim``: the order of the rows
            flat[tied] = kth_place(rows[tied], k - 1)
            indices = flat.reshape(indices.shape)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def element_in_order(x: Any, k: int, dim: int) -> Any:
    """What is at ``k`` along ``dim`` once that is in order, NaN last. CuPy's ``partition`` does not tell NaN from others."""
    ordered = np.partition(x, k, dim) if isinstance(x, np.ndarray) or x.dtype.kind != "f" else np.sort(x, dim)
    return ordered.take([k], dim)


def first_place(x: Any, values: Any, dim: int) -> Any:
    """Where along ``dim`` the ``values`` are met first."""
    return ((x == values) | ((x != x) & (values != values))).argmax(dim, keepdims=True)


def _nothing(x: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """The result of choosing one element along ``dim`` where there is one only, or nothing at all."""
    values = x.copy() if not x.ndim else x[(slice(None),) * dim + (slice(1),)]
    values = values if keepdim or not x.ndim else values.reshape(x.shape[:dim] + x.shape[dim + 1 :])
    return values, np.zeros_like(values, dtype=np.int64)


nothing = _nothing


def _put_along(x: Any, index: Any, shape: tuple[int, ...], dim: int) -> Any:
    """Zeros of ``shape`` with ``x`` at the places ``index``, of which none is there twice."""
    if not shape:
        return x.copy()
    out = array_module(x).zeros(shape, x.dtype)
    write_along(out, index, x, dim)
    return out


def write_along(out: Any, index: Any, values: Any, dim: int) -> None:
    """Write ``values`` into ``out`` at the places ``index`` along ``dim``."""
    grid = list(array_module(out).ogrid[tuple(slice(n) for n in index.shape)])
    grid[dim] = index
    out[tuple(grid)] = values


op("put_along(self, index, shape, dim)", "PutAlongBackward0", self="pick(g, index, dim, True)", index=None, jvp="linear",
   value=_put_along)  # fmt: skip


@formula
def chosen_grad(F: Any, g: Any, shape: tuple[int, ...], indices: Any, dim: int, keepdim: bool) -> Any:
    """Gradient of choosing one element along ``dim``: zeros with ``g`` there."""
    if shape and not keepdim:
        g, indices = F.unsqueeze(g, dim), F.unsqueeze(indices, dim)
    return F.put_along(g, indices, shape, dim)


# ----- rows -----

_PLACED: dict[str, Any] = {
    "outputs": "values *indices", "self": "put_along(g, indices, self_shape, dim)",
    "jvp": "(pick(self_t, indices, dim, True), None)",
}  # fmt: skip
SORT = op("sort_raw(self, dim, descending)", "SortBackward0", **_PLACED)
SORT_STABLE = op("sort_stable_raw(self, dim, descending)", "SortBackward1", value=sort_raw, **_PLACED)
TOPK = op("topk_raw(self, k, dim, largest)", "TopkBackward0", value=_top, **_PLACED)
SELECTING: dict[str, Any] = {
    "outputs": "values *indices", "self": "chosen_grad(g, self_shape, indices, dim, keepdim)",
    "jvp": "(pick(self_t, indices, dim, keepdim), None)",
}  # fmt: skip
"""Columns of rows that choose one element along ``dim``."""
KTHVALUE = op("kthvalue_raw(self, k, dim, keepdim)", "KthvalueBackward0", value=_ranked, **SELECTING)

# ----- as users write them -----


@public("torch Tensor", out=True)
def sort(self: Tensor, dim: int = -1, descending: bool = False, **options: Any) -> Any:
    """``(values, indices)``: elements along ``dim`` in order, ties as they were (with ``stable=`` or without)."""
    stable = "stable" in options
    options.pop("stable", None)
    if options:
        raise TypeError(f"sort() got an unexpected keyword argument '{next(iter(options))}'")
    if isinstance(dim, bool):
        kinds = f"{type(self).__name__}, bool"
        raise TypeError(f"sort() received an invalid combination of arguments - got ({kinds}), but expected one of:")
    _sortable(self)
    return (SORT_STABLE if stable else SORT)(self, one_dim(self, dim), descending)


def _sortable(x: Tensor) -> None:
    if x._a.dtype.kind == "c":
        raise RuntimeError(" Sort does not support complex dtypes on CPU")


@public("torch Tensor")
def argsort(self: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Tensor:
    """Positions of the elements along ``dim`` in order, ties as they were."""
    _sortable(self)
    no_gradient((self,))
    return SORT(self.detach(), one_dim(self, dim), descending).indices


@public("torch Tensor", out=True)
def msort(self: Tensor) -> Tensor:
    """Elements along the first dimension in order."""
    return sort(self, 0).values


@public("torch Tensor", out=True)
def topk(self: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """``(values, indices)``: the ``k`` largest (else smallest) elements along ``dim``, in order."""
    if not hasattr(k, "__index__"):
        raise TypeError(f"topk(): argument 'k' (position 2) must be int, not {type(k).__name__}")
    dim, k = one_dim(self, dim), int(k)
    if not 0 <= k <= (self.shape[dim] if self.ndim else 1):
        raise shape_error("selected index k out of range")
    kind = self._a.dtype.kind
    if kind in "bc":
        raise RuntimeError(
            f"{'topk does not support bool' if kind == 'b' else ' topk does not support complex'} dtypes on CPU"
        )
    return TOPK(self, k, dim, largest)


@public("torch Tensor", out=True)
def kthvalue(self: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """``(values, indices)``: the ``k``-th smallest element along ``dim`` (from 1 on), and where it was."""
    dim = selectable("kthvalue", self, dim)
    if not 1 <= k <= (self.shape[dim] if self.ndim else 1):
        raise shape_error(f"kthvalue(): selected number k out of range for dimension {dim}")
    if self._a.dtype.kind in "bc":
        raise NotImplementedError(f"\"kthvalue_cpu\" not implemented for '{scalar_type(self.dtype)}'")
    return KTHVALUE(self, int(k), dim, keepdim)


def selectable(name: str, x: Tensor, dim: int) -> int:
    """``dim`` made non-negative, in which there must be something to choose."""
    dim = one_dim(x, dim)
    if x.ndim and not x.shape[dim]:
        raise shape_error(f"{name}(): Expected reduction dim {dim} to have non-zero size.", IndexError)
    return dim

"""Sums, products, means and extremes of the elements (``scatter_reduce``) or slices (``index_reduce``) that come to a place."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dtype import scalar_type
from ....tensor import Tensor
from ...kernel_names import no_kernel
from ..declare import formula, op, public
from . import index_ops, places, scatter

_UFUNCS = {"sum": "add", "mean": "add", "prod": "multiply", "amax": "maximum", "amin": "minimum"}


def _start(dtype: Any, reduce: str) -> Any:
    """What does not change the result of a reduction."""
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    if dtype.kind == "b":
        return reduce == "amin"
    if dtype.kind in "iu":
        return getattr(np.iinfo(dtype), "min" if reduce == "amax" else "max")
    return -np.inf if reduce == "amax" else np.inf


def _reduced(x: Any, at: Any, src: Any, reduce: str, include_self: bool) -> Any:
    """``src`` reduced into a copy of ``x`` at the places ``at``."""
    start = x if include_self else places.written(x, at, _start(x.dtype, reduce))
    out = places.combined(_UFUNCS[reduce], start, at, src)
    if reduce != "mean":
        return out
    count = np.full_like(x, 1 if include_self else 0, dtype=np.int64)
    count = np.maximum(places.combined("add", count, at, np.ones_like(at)), 1)
    return out // count.astype(x.dtype) if x.dtype.kind in "iu" else (out / count).astype(x.dtype)


def _by_element(x: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool) -> Any:
    if not index.size:
        return x.copy()
    at = places.elementwise(x.shape, dim, index)
    return _reduced(x, at, scatter.head(src, index), reduce, include_self)


def _by_slice(x: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool) -> Any:
    return _reduced(x, places.along(x.shape, dim, index), source, reduce, include_self)


# ----- gradients -----


class _ByElement:
    """How elements come to their places and back, in formulas."""

    refusal = (
        "scatter_reduce(): Double backward is unsupported for src when >1 zeros in src are scattered to the same "
        "position in self"
    )

    def __init__(self, F: Any, dim: int, index: Any, src: Any) -> None:
        self.F, self.dim, self.index, self.shape = F, dim, index, tuple(src.shape)

    @property
    def larger(self) -> bool:
        """Whether some elements of the source go nowhere."""
        return tuple(self.index.shape) != self.shape

    def add(self, x: Any, src: Any) -> Any:
        return self.F.scatter_add(x, self.dim, self.index, src)

    def pick(self, x: Any) -> Any:
        return scatter.gathered_for(self.F, x, self.dim, self.index, self.shape)

    def clear(self, x: Any) -> Any:
        return self.F.scatter(x, self.dim, self.index, 0)

    def reduce(self, x: Any, src: Any, how: str, include_self: bool) -> Any:
        return self.F.scatter_reduce(x, self.dim, self.index, src, how, include_self)


class _BySlice(_ByElement):
    """How slices come to their places and back."""

    larger = False

    refusal = (
        "index_reduce(): Double backward is unsupported for source when >1 zeros in source are scattered to the same "
        "position in self"
    )

    def add(self, x: Any, src: Any) -> Any:
        return self.F.index_add(x, self.dim, self.index, src, 1)

    def pick(self, x: Any) -> Any:
        return self.F.reshape(self.F.index_select(x, self.dim, self.index), self.shape)

    def clear(self, x: Any) -> Any:
        return self.F.index_fill(x, self.dim, self.index, 0)

    def reduce(self, x: Any, src: Any, how: str, include_self: bool) -> Any:
        return self.F.index_reduce(x, self.dim, self.index, src, how, include_self)


class _ByPiece(_BySlice):
    """How slices come to pieces and back: what is not the extreme gets nothing, whatever comes in, and NaN is one; in a product
    one NaN has the product of the others."""


def _weights(
    F: Any,
    by: _ByElement,
    x: Any,
    src: Any,
    result: Any,
    reduce: str,
    include_self: bool,
    ties_with_dropped: bool = True,
) -> tuple[Any, Any]:
    """The derivatives of a place by what it held (unless that was dropped) and by every element of the source.

    An extreme that was dropped counts as a tie in backward, and not in tangents, as in PyTorch.
    """
    one = F.ones_as(result)
    if reduce == "mean":
        count = by.add(one if include_self else one * 0, F.ones_as(src))
        share = one / F.where(count == 0, one, count)
        return share, by.pick(share)
    if reduce in ("amax", "amin"):
        held = F.to_copy(x == result, result.dtype)
        if not (include_self or ties_with_dropped):
            held = by.clear(held)
        given = src == by.pick(result)
        if type(by) is _ByPiece:  # what they begin with is no element
            held, given = held * 0, given | (src != src)
        given = F.to_copy(given, result.dtype)
        count = by.add(held, given)
        of_src = given / by.pick(count)  # NaN where nothing is the same as the result, which is NaN
        return held / count, F.drop(of_src, by.pick(one) == 0) if by.larger else of_src
    zero, own_zero = src == 0, x == 0
    kept = F.masked_fill(x, own_zero, 1.0)
    of_self = by.reduce(kept, src, "prod", include_self) / kept
    zeros = by.pick(by.add(one * 0, F.to_copy(zero, result.dtype)))
    alone = zero & (zeros == 1)
    others = by.pick(by.reduce(x, F.masked_fill(src, alone, 1.0), "prod", include_self))
    of_src = F.where(alone, others, by.pick(result) / F.masked_fill(src, zero, 1.0))
    if type(by) is _ByPiece:
        unknown = src != src
        unknown = unknown & (by.pick(by.add(one * 0, F.to_copy(unknown, result.dtype))) == 1)
        of_src = F.where(unknown, by.pick(by.reduce(x, F.masked_fill(src, unknown, 1.0), "prod", include_self)), of_src)
    return of_self, F.once_only(of_src, by.refusal) if bool((zeros > 1).any()) else of_src


@formula
def refused_again(F: Any, text: str) -> Any:
    """Raise where a derivative of a derivative would be wrong."""
    raise RuntimeError(text)


op("once_only(self, text)", "DelayedErrorBackward0", self="refused_again(text)", value=lambda x, text: x)


def _by(name: str) -> type[_ByElement]:
    return {"element": _ByElement, "index": _BySlice, "piece": _ByPiece}[name]


@formula
def reduce_self_grad(
    F: Any, g: Any, how: str, x: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool, result: Any
) -> Any:
    """Gradient of what was there before."""
    by = _by(how)(F, dim, index, src)
    out = g if reduce == "sum" else g * _weights(F, by, x, src, result, reduce, include_self)[0]
    return out if include_self else by.clear(out)


@formula
def reduce_source_grad(
    F: Any, g: Any, how: str, x: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool, result: Any
) -> Any:
    """Gradient of what is reduced."""
    by = _by(how)(F, dim, index, src)
    out = by.pick(g)
    if reduce == "sum":
        return out
    weights = _weights(F, by, x, src, result, reduce, include_self)[1]
    return F.drop(out * weights, weights == 0) if type(by) is _ByPiece and reduce != "prod" else out * weights


@formula
def reduce_tangent(
    F: Any, x_t: Any, src_t: Any, how: str, x: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool,
    result: Any,
) -> Any:  # fmt: skip
    """Tangent of the result."""
    by = _by(how)(F, dim, index, src)
    if reduce != "sum":
        of_self, of_src = _weights(F, by, x, src, result, reduce, include_self, ties_with_dropped=False)
        x_t, src_t = x_t * of_self, src_t * of_src
        if reduce in ("amax", "amin"):  # what is not chosen is not seen, whatever its tangent
            x_t, src_t = F.drop(x_t, of_self == 0), F.drop(src_t, of_src == 0)
    return by.add(x_t if include_self else by.clear(x_t), src_t)


_ELEMENT = "'element', self, dim, index, src, reduce, include_self, result"
_SLICE, _PIECE = (f"'{how}', self, dim, index, source, reduce, include_self, result" for how in ("index", "piece"))
BY_ELEMENT = op(
    "scatter_reduce(self, dim, index, src, reduce, include_self)", "ScatterReduceBackward0", index=None, value=_by_element,
    self=f"reduce_self_grad(g, {_ELEMENT})", src=f"reduce_source_grad(g, {_ELEMENT})",
    jvp=f"reduce_tangent(self_t, src_t, {_ELEMENT})",
)  # fmt: skip
BY_SLICE = op(
    "index_reduce(self, dim, index, source, reduce, include_self)", "IndexReduceBackward0", index=None, value=_by_slice,
    self=f"reduce_self_grad(g, {_SLICE})", source=f"reduce_source_grad(g, {_SLICE})",
    jvp=f"reduce_tangent(self_t, source_t, {_SLICE})",
)  # fmt: skip
BY_PIECE = op(
    "reduced_pieces(self, dim, index, source, reduce, include_self)", "IndexReduceBackward0", index=None, value=_by_slice,
    self=f"reduce_self_grad(g, {_PIECE})", source=f"reduce_source_grad(g, {_PIECE})",
    jvp=f"reduce_tangent(self_t, source_t, {_PIECE})",
)  # fmt: skip


# ----- as users write them -----


@public("torch Tensor", out=True, inplace=True)
def scatter_reduce(
    self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """``src`` reduced (``sum``, ``prod``, ``mean``, ``amax``, ``amin``) into ``out[index[i][j]][j]`` along ``dim`` (here 0).

    What ``self`` has at such a place takes part, unless ``include_self`` is false.
    """
    _ = src.dtype  # a number has none
    dim = scatter.check(self, dim, index, src)
    if reduce not in _UFUNCS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    kind = self.dtype.kind
    if (kind == "b" and reduce == "mean") or (kind == "c" and reduce in ("amax", "amin")):
        name = f"scatter_gather_tensor_cpu_reduce_{reduce}"
        raise NotImplementedError(f"\"{name}\" not implemented for '{scalar_type(self.dtype)}'")
    out: Tensor = BY_ELEMENT(self, dim, scatter.in_a_row(index, src), src, reduce, include_self)
    return out


@public("torch Tensor", out=True, inplace=True)
def index_reduce(
    self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Slices of ``source`` reduced (``prod``, ``mean``, ``amax``, ``amin``) into those of ``self`` at ``index`` along ``dim``."""
    if reduce == "sum" or reduce not in _UFUNCS:
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    dim, size = index_ops.sources("index_reduce_()", self, dim, index, source)
    index_ops.in_range(index, size)
    kind = self.dtype.kind
    if kind in "bc" and not include_self:
        raise no_kernel("index_reduce_func_exclude_input_init", self.dtype)
    if kind in "bc" and self.ndim < 2:
        raise no_kernel("index_func_", self.dtype)
    if kind == "b" and reduce == "mean":
        raise no_kernel("div_floor_cpu", self.dtype)
    if kind == "c" and reduce in ("amax", "amin"):
        raise no_kernel("maximum_cpu" if reduce == "amax" else "minimum_cpu", self.dtype)
    out: Tensor = BY_SLICE(self, dim, index, source, reduce, include_self)
    return out

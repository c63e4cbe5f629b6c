"""Reductions of consecutive pieces of a dimension, whose lengths are given, by the formulas of what adds and reduces slices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....backends import on_host
from ....device import array_module
from ....dtype import scalar_type
from ....several import at_home
from ....tensor import Tensor, wrap
from ... import formulas, kernels
from ...explain import shape_error
from ...shape import one_dim
from ..declare import formula, op, public
from .reading import seen

_START = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}


@public("torch")
@at_home
def segment_reduce(
    data: Tensor, reduce: str, *, lengths: Tensor | None = None, indices: Tensor | None = None,
    offsets: Tensor | None = None, axis: int = 0, unsafe: bool = False, initial: Any = None,
) -> Tensor:  # fmt: skip
    """``sum``, ``mean``, ``max``, ``min`` or ``prod`` of consecutive pieces of ``data`` along ``axis``.

    ``lengths`` (or the ``offsets`` where they begin and the last one ends) have the dimensions of ``data`` up to ``axis``,
    the last with one entry for each piece. ``initial`` takes part in every piece, and is all of an empty one.
    """
    axis = one_dim(data, axis)
    given = lengths if offsets is None else offsets
    if data.dtype.kind != "f":
        raise NotImplementedError(f"\"_segment_reduce_cpu\" not implemented for '{scalar_type(data.dtype)}'")
    if indices is not None:
        raise shape_error("segment_reduce(): indices based reduction is not supported yet.")
    if given is None:
        raise shape_error("segment_reduce(): Either lengths or offsets must be defined.")
    if reduce not in _START:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    name = "lengths" if offsets is None else "offsets"
    if axis != given.ndim - 1:
        raise shape_error(f"segment_reduce(): Expected axis to be the last dimension of {name} but got {axis}.")
    if given.dtype.kind not in "iu":
        kind = scalar_type(given.dtype)
        raise NotImplementedError(f"\"_segment_reduce_{name}_cpu_kernel1\" not implemented for '{kind}'")
    if offsets is None and not unsafe:
        _check_lengths(given._a.reshape(-1, given.shape[-1]).astype(np.int64), data.shape[axis])
    out: Tensor = _SEGMENT_REDUCE(data, reduce, lengths if offsets is None else None, offsets, axis, unsafe, initial)
    return out


def _check_lengths(table: Any, n: int) -> None:
    if seen(table < 0):
        raise shape_error("lengths contains negative value!")
    if seen(table.sum(-1) != n):
        raise shape_error(
            "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe."
        )


class _Pieces:
    """Which piece each row is of: data as (tables * n, inner), the result as (tables * pieces, inner).

    Unless ``lengths`` were checked, rows may lie outside of the pieces: they are left out. On a device, where nobody looks, those
    are of a piece more, which is left out of the result.
    """

    def __init__(self, F: Any, shape: Any, lengths: Any, offsets: Any, axis: int, unsafe: bool) -> None:
        self.F = F
        given = lengths if offsets is None else offsets
        given = given._a if isinstance(given, Tensor) else given
        table = given.reshape(math.prod(given.shape[:-1]), given.shape[-1]).astype(np.int64)
        if offsets is None:
            table = np.concatenate([np.zeros_like(table, shape=(len(table), 1)), table.cumsum(-1)], -1)
        n, tables, pieces = shape[axis], len(table), table.shape[1] - 1
        self.shape = (tables * n, math.prod(shape[axis + 1 :]))
        self.result_shape = (*shape[:axis], pieces, *shape[axis + 1 :])
        self.count, self.more = tables * pieces, 0
        self.sizes = (table[:, 1:] - table[:, :-1]).reshape(-1, 1)
        xp = array_module(table)
        at, before = xp.arange(n)[None], xp.arange(tables)[:, None] * (n + 1)
        all_inside = offsets is None and not unsafe
        self.chosen = None
        if all_inside and on_host(table):
            self.index = np.repeat(np.arange(self.count), self.sizes[:, 0])
            return
        self.index = xp.searchsorted((table[:, 1:] + before).reshape(-1), (at + before).reshape(-1), "right")
        if all_inside:
            return
        inside = ((at >= table[:, :1]) & (at < table[:, -1:])).reshape(-1)
        if not on_host(table):
            self.index, self.more = np.where(inside, self.index, self.count), 1
        elif not inside.all():
            self.chosen = inside.nonzero()[0]
            self.index = self.index[self.chosen]

    def of(self, buffer: Any) -> Any:
        """``buffer`` for the functions of ``F``."""
        return buffer if self.F is kernels else wrap(buffer)

    def rows(self, data: Any) -> Any:
        """The rows of ``data`` that are of a piece."""
        rows = self.F.reshape(data, self.shape)
        return rows if self.chosen is None else self.F.index_select(rows, 0, self.of(self.chosen))

    def back(self, rows: Any) -> Any:
        """``rows``, and zeros for those that are of no piece."""
        if self.chosen is None:
            return rows
        return self.F.index_add(self.F.zeros_of(self.shape, rows), 0, self.of(self.chosen), rows, 1)

    def start(self, rows: Any, value: float) -> Any:
        """What rows are joined to."""
        like = rows._a if isinstance(rows, Tensor) else rows
        return self.of(np.full_like(like, value, shape=(self.count + self.more, self.shape[1])))

    def seen(self, joined: Any) -> Any:
        """``joined`` as the result."""
        return self.F.reshape(joined[: self.count] if self.more else joined, self.result_shape)

    def spread(self, result: Any) -> Any:
        """What is of the form of the ``result``, and zeros for the piece more, as rows."""
        joined = self.F.reshape(result, (self.count, self.shape[1]))
        return self.F.constant_pad_raw(joined, (0, 0, 0, 1), 0) if self.more else joined

    def shares(self, dtype: Any) -> Any:
        """By how much a mean divides the sum of a piece."""
        return self.of(self.of_pieces(np.maximum(self.sizes, 1).astype(dtype)))

    def of_pieces(self, column: Any) -> Any:
        """A ``column`` of values for the pieces, with one for the piece more."""
        return np.concatenate([column, np.ones_like(column, shape=(1, 1))]) if self.more else column


_HOW = {"prod": "prod", "max": "amax", "min": "amin"}
"""By which reduction of slices pieces are reduced."""


def _joined(by: _Pieces, rows: Any, reduce: str, initial: Any) -> tuple[Any, Any]:
    """``rows`` reduced by piece, for means added up, and what they were joined to; ``initial`` is in no extreme."""
    first = _START[reduce] if initial is None or reduce in ("max", "min") else float(initial)
    start, index = by.start(rows, first), by.of(by.index)
    if reduce not in _HOW:
        return by.F.index_add(start, 0, index, rows, 1), start
    return by.F.reduced_pieces(start, 0, index, rows, _HOW[reduce], True), start


def _beyond(joined: Any, reduce: str, initial: Any) -> Any:
    """Where ``initial`` is the extreme."""
    return joined < initial if reduce == "max" else joined > initial


def _value(data: Any, reduce: str, lengths: Any, offsets: Any, axis: int, unsafe: bool, initial: Any) -> Any:
    by = _Pieces(kernels, data.shape, lengths, offsets, axis, unsafe)
    out, _ = _joined(by, by.rows(data), reduce, initial)
    if reduce in ("max", "min") and initial is not None:
        out = np.where(_beyond(out, reduce, initial), float(initial), out)
    if reduce == "mean":
        empty = math.nan if initial is None else float(initial)
        out = np.where(by.of_pieces(by.sizes == 0), empty, out / by.shares(data.dtype))
    return by.seen(out)


def _reduced_rows(by: _Pieces, data: Any, reduce: str, initial: Any, result: Any) -> tuple[Any, ...]:
    """The last arguments of the formulas of slices: what rows are reduced into where, and what comes of it, ``initial`` apart."""
    rows = by.rows(data)
    joined, start = _joined(by, rows, reduce, initial) if initial is not None or by.more else (by.spread(result), None)
    if start is None:
        start = by.start(rows, _START[reduce])
    return "piece", start, 0, by.of(by.index), rows, _HOW[reduce], True, joined


@formula
def segment_reduce_grad(
    F: Any, g: Any, data: Any, reduce: str, lengths: Any, offsets: Any, axis: int, unsafe: bool, initial: Any, result: Any
) -> Any:  # fmt: skip
    """Gradient of ``data``."""
    by = _Pieces(F, data.shape, lengths, offsets, axis, unsafe)
    g = by.spread(g)
    if reduce in _HOW:
        parts = _reduced_rows(by, data, reduce, initial, result)
        if reduce != "prod" and initial is not None:
            g = F.masked_fill(g, _beyond(parts[-1], reduce, initial), 0.0)
        out = formulas.reduce_source_grad(F, g, *parts)  # type: ignore[attr-defined]  # declared in scatter_reduce
    else:
        if reduce == "mean":
            g = g / by.shares(g.dtype)
        out = F.index_select(g, 0, by.of(by.index))
    return F.reshape(by.back(out), tuple(data.shape))


@formula
def segment_reduce_tangent(
    F: Any, t: Any, data: Any, reduce: str, lengths: Any, offsets: Any, axis: int, unsafe: bool, initial: Any, result: Any
) -> Any:  # fmt: skip
    """Tangent of the result."""
    by = _Pieces(F, data.shape, lengths, offsets, axis, unsafe)
    t = by.rows(t)
    if reduce in _HOW:
        parts = _reduced_rows(by, data, reduce, initial, result)
        out = formulas.reduce_tangent(F, by.start(t, 0), t, *parts)  # type: ignore[attr-defined]  # declared in scatter_reduce
        if reduce != "prod" and initial is not None:
            out = F.masked_fill(out, _beyond(parts[-1], reduce, initial), 0.0)
    else:
        out = F.index_add(by.start(t, 0), 0, by.of(by.index), t, 1)
        if reduce == "mean":
            out = out / by.shares(t.dtype)
    return by.seen(out)


_ARGUMENTS = "data, reduce, lengths, offsets, axis, unsafe, initial, result"
_SEGMENT_REDUCE = op(
    "segment_reduce(data, reduce, lengths, offsets, axis, unsafe, initial)", "SegmentReduceBackward0", value=_value,
    data=f"segment_reduce_grad(g, {_ARGUMENTS})", lengths=None, offsets=None,
    jvp=f"segment_reduce_tangent(data_t, {_ARGUMENTS})",
)  # fmt: skip

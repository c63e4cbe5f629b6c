"""Reductions of consecutive pieces of a dimension, whose lengths are given: made of the ops that add and reduce slices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....backends import on_host
from ....device import array_module
from ....dtype import scalar_type
from ....several import at_home
from ....tensor import Tensor, wrap
from ...elementwise import where
from ...explain import shape_error
from ...shape import narrow, one_dim, reshape
from ..declare import public
from . import index_ops, scatter_reduce
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
    n, table = data.shape[axis], given._a.reshape(-1, given.shape[-1]).astype(np.int64)
    if offsets is None:
        if not unsafe:
            _check_lengths(table, n)
        table = np.concatenate([table[:, :1] * 0, table.cumsum(-1)], -1)
    pieces = table.shape[1] - 1
    rows = reshape(data, (len(table) * n, -1)) if data.numel() else data
    out = _reduced(rows, table, n, reduce, initial, offsets is None and not unsafe)
    return reshape(out, (*data.shape[:axis], pieces, *data.shape[axis + 1 :]))


def _check_lengths(table: Any, n: int) -> None:
    if seen(table < 0):
        raise shape_error("lengths contains negative value!")
    if seen(table.sum(-1) != n):
        raise shape_error(
            "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe."
        )


def _reduced(rows: Tensor, table: Any, n: int, reduce: str, initial: Any, all_inside: bool) -> Tensor:
    """``rows`` (tables * n, inner) reduced to (tables * pieces, inner) by the ``table`` of offsets.

    Unless they are ``all_inside``, rows may lie outside of the pieces. On a device, where nobody looks, those are reduced to a
    piece more, which is left out.
    """
    xp = array_module(table)
    before = xp.arange(len(table))[:, None] * (n + 1)
    at = xp.arange(n)[None]
    count = table.shape[0] * (table.shape[1] - 1)
    if all_inside and on_host(table):
        piece = np.repeat(np.arange(count), (table[:, 1:] - table[:, :-1]).reshape(-1))
    else:
        piece = xp.searchsorted((table[:, 1:] + before).reshape(-1), (at + before).reshape(-1), "right")
    more = 0
    if not all_inside:
        inside = ((at >= table[:, :1]) & (at < table[:, -1:])).reshape(-1)
        if on_host(table):
            chosen = inside.nonzero()[0]
            piece = piece[chosen]
            rows = rows if len(chosen) == len(inside) else index_ops.index_select(rows, 0, wrap(chosen))
        else:
            piece, more = np.where(inside, piece, count), 1
    out = _joined(rows, wrap(piece), count + more, reduce, initial)
    out = narrow(out, 0, 0, count) if more else out
    if reduce != "mean":
        return out
    sizes = (table[:, 1:] - table[:, :-1]).reshape(-1, *(1,) * (rows.ndim - 1))
    empty = math.nan if initial is None else float(initial)
    return where(wrap(sizes == 0), empty, out / wrap(np.maximum(sizes, 1).astype(rows.dtype)))


def _joined(rows: Tensor, index: Tensor, count: int, reduce: str, initial: Any) -> Tensor:
    """``rows`` reduced to ``count`` by ``index``, for means added up."""
    first = _START[reduce] if initial is None or reduce in ("max", "min") else float(initial)
    start = wrap(np.full_like(rows._a, first, shape=(count, *rows.shape[1:])))
    if reduce == "prod":
        return scatter_reduce.index_reduce(start, 0, index, rows, "prod")
    if reduce in ("max", "min"):
        out = scatter_reduce.BY_PIECE(start, 0, index, rows, "a" + reduce, True)
        if initial is None:
            return out
        beyond = out < initial if reduce == "max" else out > initial
        return where(beyond, float(initial), out)
    return index_ops.index_add(start, 0, index, rows)

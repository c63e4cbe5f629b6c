"""Ops on or into lists of tensors: their nodes have any number of inputs or outputs, so they are written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import events
from ..dtype import result_type
from ..grad_mode import mode
from ..node import Buffers, Node1, NodeN, edge, next_seq
from ..sites import caller
from ..tensor import Tensor, wrap
from ..view import CreationMeta, as_view
from . import _generated as g
from . import kernels as k
from .shape import _dim, unsqueeze


class CatBackward0(NodeN):
    """Gradient of :func:`cat`: the pieces of the incoming gradient."""

    __slots__ = ("c_dim", "c_sizes")
    op_name = "CatBackward0"
    consts = ("dim", "sizes")

    def _pieces(self, g_: Any, take: Any) -> tuple[Any, ...]:
        out, start = [], 0
        for n, size in zip(self.next, self.c_sizes, strict=True):
            out.append(take(g_, self.c_dim, start, start + size, 1) if n is not None else None)
            start += size
        return tuple(out)

    def grads(self, g_: Any) -> tuple[Any, ...]:  # noqa: D102
        return self._pieces(g_, k.slice)

    def grads_graph(self, g_: Any) -> tuple[Any, ...]:  # noqa: D102
        return self._pieces(g_, g.slice)

    def run(self, g_: Any, buffers: Buffers, shared: set[Any], summed: set[Any], freed: Any) -> None:  # noqa: D102
        from ..backward import route

        route(self, self.grads(g_), buffers, shared, summed)


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """The tensors one after the other along ``dim``."""
    ts = list(tensors)
    if not ts:
        raise RuntimeError("torch.cat(): expected a non-empty list of Tensors")
    dtype = result_type([(t.dtype, 2 if t.ndim else 1) for t in ts])
    ts = [t if t.dtype == dtype else t.to(dtype) for t in ts]
    dim = _dim(ts[0], dim)
    _check_cat(ts, dim)
    out = wrap(np.concatenate([t._a for t in ts], dim))
    if mode.grad and any(t._rg for t in ts):
        node = CatBackward0()
        node.next = tuple(edge(t) if t._rg else None for t in ts)
        if any(n is not None for n in node.next):
            numbers = tuple(t._nr for t in ts)
            node.c_dim, node.c_sizes = dim, tuple(t.shape[dim] for t in ts)
            _finish(node, out, numbers)
    return out


def _finish(node: Any, out: Tensor, numbers: tuple[int, ...]) -> None:
    node.nrs = numbers if any(numbers) else None
    node.seq = next_seq()
    node.code, node.lasti = caller()
    node.hooks = None
    out._fn, out._rg = node, True
    if events.sink is not None:
        events.sink.node_born(node, out)


def _check_cat(ts: list[Tensor], dim: int) -> None:
    first = ts[0].shape
    for i, t in enumerate(ts):
        if t.ndim == 0:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
        if t.ndim != len(first):
            raise RuntimeError(f"Tensors must have same number of dimensions: got {len(first)} and {t.ndim}")
        for d, (a, b) in enumerate(zip(first, t.shape, strict=True)):
            if d != dim and a != b:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {a} but got size {b} for tensor "
                    f"number {i} in the list."
                )


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """The tensors, all of one shape, along a new dimension ``dim``."""
    ts = list(tensors)
    if not ts:
        raise RuntimeError("stack expects a non-empty TensorList")
    for i, t in enumerate(ts):
        if t.shape != ts[0].shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(ts[0].shape)} at entry 0 and {list(t.shape)} at "
                f"entry {i}"
            )
    return cat([unsqueeze(t, dim) for t in ts], dim % (ts[0].ndim + 1))


class UnbindBackward0(Node1):
    """Gradient of :func:`unbind`: the incoming gradients stacked, zeros where there is none."""

    __slots__ = ("c_dim", "n_outputs")
    op_name = "UnbindBackward0"
    consts = ("dim",)
    multi = True
    c_dim: int
    n_outputs: int

    def grads(self, gs: Any) -> tuple[Any, ...]:  # noqa: D102
        zero = np.zeros_like(next(x for x in gs if x is not None))
        return (np.stack([zero if x is None else x for x in gs], self.c_dim),)

    def grads_graph(self, gs: Any) -> tuple[Any, ...]:  # noqa: D102
        zero = wrap(np.zeros_like(next(x for x in gs if x is not None)._a))
        return (stack([zero if x is None else x for x in gs], self.c_dim),)


def unbind(self: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """All entries along ``dim`` as views, from one node with as many outputs (what iterating does)."""
    if self.ndim == 0:
        raise RuntimeError("Dimension specified as 0 but tensor has no dimensions")
    dim = _dim(self, dim)
    outs = tuple(wrap(k.select(self._a, dim, i)) for i in range(self.shape[dim]))
    source = edge(self) if mode.grad and self._rg and outs else None
    if source is not None:
        node = UnbindBackward0()
        node.n0, node.c_dim, node.n_outputs = source, dim, len(outs)
        _finish(node, outs[0], (self._nr,))
        for i, out in enumerate(outs):
            out._fn, out._nr, out._rg = node, i, True
    for i, out in enumerate(outs):
        as_view(out, self, "unbind", *_replays(dim, i), CreationMeta.MULTI_OUTPUT_NODE)
    return outs


def _replays(dim: int, i: int) -> tuple[Any, Any]:
    return (lambda b: g.select(b, dim, i)), (lambda b: k.select(b, dim, i))


def iterate(self: Tensor) -> Any:
    """``for row in x``: the entries of the first dimension."""
    if self.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(unbind(self, 0))


def split(self: Tensor, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces of the given size or sizes along ``dim``, as views."""
    dim = _dim(self, dim)
    n = self.shape[dim]
    sizes = [split_size] * -(-n // split_size) if isinstance(split_size, int) else list(split_size)
    starts = np.cumsum([0, *sizes])
    return tuple(g.slice(self, dim, int(a), int(min(b, n))) for a, b in zip(starts, starts[1:], strict=False))

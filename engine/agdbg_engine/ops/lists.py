"""Ops on or into lists of tensors: their nodes have any number of inputs or outputs, so they are written by hand."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors, events
from ..dtype import result_type
from ..grad_mode import mode
from ..node import Buffers, Node1, NodeN, edge, next_seq, nowhere
from ..saved.strict import follow
from ..several import at_home
from ..signatures import refusal
from ..sites import caller
from ..tensor import Tensor, wrap
from ..view import CreationMeta, as_view
from . import _generated as g
from . import kernels as k
from .after import after_birth
from .checked_devices import differing
from .explain import shape_error
from .forward import propagate_joined, propagate_pieces
from .prepare import cut
from .shape import one_dim

# ----- many to one -----


class _Joined(NodeN):
    """Gradient of joining tensors: every input's part of the incoming gradient."""

    __slots__ = ()
    complete = True

    def part(self, ops: Any, grad: Any, i: int) -> Any:
        """The part of input ``i``, with the functions of ``ops`` (kernels or recorded ops)."""
        raise NotImplementedError

    def grads(self, g_: Any) -> tuple[Any, ...]:
        return tuple(self.part(k, g_, i) for i in range(len(self.next)))

    def grads_graph(self, g_: Any) -> tuple[Any, ...]:
        return tuple(self.part(g, g_, i) for i in range(len(self.next)))

    def run(self, g_: Any, buffers: Buffers, shared: set[Any], summed: set[Any], freed: Any) -> None:
        from ..backward import route

        parts = tuple(None if n is None else self.part(k, g_, i) for i, n in enumerate(self.next))
        route(self, parts, buffers, shared, summed)


class CatBackward0(_Joined):
    """Gradient of :func:`cat`: slices."""

    __slots__ = ("c_dim", "c_starts", "empty")
    op_name = "CatBackward0"
    consts = ("dim", "starts")
    c_dim: int
    c_starts: tuple[int, ...]
    empty: tuple[int, ...]
    """The inputs of shape (0,) beside others of more dimensions."""

    def part(self, ops: Any, grad: Any, i: int) -> Any:
        start, end = self.c_starts[i : i + 2]
        part = ops.slice(grad, self.c_dim, start, end, 1)
        return ops.view(part, (0,)) if i in self.empty else part


class StackBackward0(_Joined):
    """Gradient of :func:`stack`: entries."""

    __slots__ = ("c_dim",)
    op_name = "StackBackward0"
    consts = ("dim",)
    c_dim: int

    def part(self, ops: Any, grad: Any, i: int) -> Any:
        return ops.select(grad, self.c_dim, i)


@at_home
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """The tensors one after the other along ``dim``."""
    ts = _same_dtype("cat", tensors)
    if not ts:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    try:
        joined = np.concatenate([t._a for t in ts], dim)
        dim = one_dim(ts[0], dim)
    except ValueError:
        full = _full(ts)
        if all(t.shape == (0,) for t in ts):
            dim = 0  # whatever it was
        dim = one_dim(full[0], dim)
        _check_sizes(full, dim)
        joined = np.concatenate([t._a for t in full], dim)
    out = wrap(_row_major(joined))
    if events.special & events.FORWARD:
        propagate_joined(out, ts, lambda parts: cat(parts, dim))
    node = _join(CatBackward0, ts, out)
    if node is not None:
        node.c_dim = dim
        node.c_starts = (0, *itertools.accumulate(0 if t.shape == (0,) else t.shape[dim] for t in ts))
        node.empty = tuple(i for i, t in enumerate(ts) if t.ndim < out.ndim)
    return out


def _row_major(joined: Any) -> Any:
    """What was joined is row-major, whatever the layout of the pieces."""
    return joined if joined.flags.c_contiguous else joined.copy("C")


@at_home
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """The tensors, all of one shape, along a new dimension ``dim``."""
    ts = _same_dtype("stack", tensors)
    if not ts:
        raise shape_error("stack expects a non-empty TensorList")
    n = ts[0].ndim + 1
    if not -n <= dim < n:
        raise shape_error(
            f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})", IndexError
        )
    for i, t in enumerate(ts):
        if t.shape != ts[0].shape:
            raise shape_error(
                f"stack expects each tensor to be equal size, but got {list(ts[0].shape)} at entry 0 and {list(t.shape)} at "
                f"entry {i}"
            )
    out = wrap(_row_major(np.stack([t._a for t in ts], dim % n)))
    if events.special & events.FORWARD:
        propagate_joined(out, ts, lambda parts: stack(parts, dim))
    node = _join(StackBackward0, ts, out)
    if node is not None:
        node.c_dim = dim % n
    return out


def _same_dtype(op: str, tensors: Any) -> list[Tensor]:
    """The tensors, checked to be some, cast to their common dtype."""
    if isinstance(tensors, Tensor):
        raise TypeError(f"{op}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor")
    ts = list(tensors)
    alike = True
    for i, t in enumerate(ts):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {errors.class_name(t)}")
        alike = alike and type(t._a) is type(ts[0]._a) and t._a.dtype is ts[0]._a.dtype
    if alike:
        return ts
    if len({type(t._a) for t in ts}) > 1:
        errors.raise_if(differing("cat", {"tensors": ts}))
    dtype = result_type([(t.dtype, 2 if t.ndim else 1) for t in ts])
    return [t.to(dtype) for t in ts]


def _join(kind: Any, ts: list[Tensor], out: Tensor) -> Any:
    """A node of ``kind`` that made ``out`` of ``ts``; ``None`` when no gradient is needed."""
    if not any(t._rg for t in ts):
        return None
    if not mode.grad:
        cut(tuple(ts))
        return None
    producers = tuple(edge(t) if t._rg else None for t in ts)
    if all(t.is_inference() for t in ts):
        return None
    if not any(n is not None for n in producers) and nowhere(*ts) is None:
        return None
    node = kind()
    node.next = producers
    _finish(node, out, tuple(t._nr for t in ts))
    return node


def _finish(node: Any, out: Tensor, numbers: tuple[int, ...]) -> None:
    node.nrs = numbers if any(numbers) else None
    node.seq = next_seq()
    node.code, node.lasti = caller()
    node.hooks = None
    out._fn, out._rg = node, True
    if events.sink is not None:
        events.sink.node_born(node, out)
    if events.special:
        after_birth(node, out)


def _full(ts: list[Tensor]) -> list[Tensor]:
    """The tensors without those of shape (0,), which may stand beside anything: a habit of PyTorch."""
    for i, t in enumerate(ts):
        if t.ndim == 0:
            raise shape_error(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    return [t for t in ts if t.shape != (0,)] or ts[:1]


def _check_sizes(ts: list[Tensor], dim: int) -> None:
    first = ts[0].shape
    for i, t in enumerate(ts):
        if t.ndim != len(first):
            raise shape_error(f"Tensors must have same number of dimensions: got {len(first)} and {t.ndim}")
        for d, (a, b) in enumerate(zip(first, t.shape, strict=True)):
            if d != dim and a != b:
                raise shape_error(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {a} but got size {b} for tensor "
                    f"number {i} in the list."
                )


# ----- one to many -----


class _Pieces(Node1):
    """Gradient of taking a tensor apart: the incoming gradients put together, zeros where there is none."""

    __slots__ = ("c_dim", "c_shapes", "n_outputs")
    multi = True
    consts = ("dim",)
    c_dim: int
    n_outputs: int
    c_shapes: tuple[tuple[int, ...], ...]

    def grads(self, gs: Any) -> tuple[Any, ...]:
        like = next(x for x in gs if x is not None)
        filled = [k.zeros_of(s, like) if x is None else x for x, s in zip(gs, self.c_shapes, strict=True)]
        return (self.join([wrap(x) for x in filled])._a,)

    def grads_graph(self, gs: Any) -> tuple[Any, ...]:
        like = next(x for x in gs if x is not None)._a
        filled = [wrap(k.zeros_of(s, like)) if x is None else x for x, s in zip(gs, self.c_shapes, strict=True)]
        return (self.join(filled),)

    def join(self, pieces: list[Tensor]) -> Tensor:
        """The pieces put together."""
        return cat(pieces, self.c_dim)


class UnbindBackward0(_Pieces):
    """Gradient of :func:`unbind`."""

    __slots__ = ()
    op_name = "UnbindBackward0"

    def join(self, pieces: list[Tensor]) -> Tensor:
        return stack(pieces, self.c_dim)


class SplitBackward0(_Pieces):
    """Gradient of :func:`split` into equal pieces."""

    __slots__ = ()
    op_name = "SplitBackward0"


class SplitWithSizesBackward0(_Pieces):
    """Gradient of :func:`split` into pieces of given sizes."""

    __slots__ = ()
    op_name = "SplitWithSizesBackward0"


def unbind(self: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """All entries along ``dim`` as views, from one node with as many outputs (what iterating does)."""
    if self.ndim == 0:
        raise shape_error("Dimension specified as 0 but tensor has no dimensions", IndexError)
    dim = one_dim(self, dim)
    return _views(UnbindBackward0, self, dim, "select", [(dim, i) for i in range(self.shape[dim])])


def iterate(self: Tensor) -> Any:
    """``for row in x``: the entries of the first dimension."""
    if self.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(unbind(self, 0))


def split(self: Tensor, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces of the given size or sizes along ``dim``, as views."""
    if self.ndim == 0:
        raise shape_error("split expects at least a 1-dimensional tensor")
    if not isinstance(split_size, int):
        errors.raise_if(refusal("split_with_sizes", (self, split_size, dim), {}))
    dim = one_dim(self, dim)
    n = self.shape[dim]
    sizes = _equal_sizes(n, split_size) if isinstance(split_size, int) else list(split_size)
    if not isinstance(split_size, int) and (sum(sizes) != n or min(sizes, default=0) < 0):
        raise shape_error(
            f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at dimension {dim}), but got "
            f"split_sizes={sizes}"
        )
    starts = [0, *itertools.accumulate(sizes)]
    kind = SplitBackward0 if isinstance(split_size, int) else SplitWithSizesBackward0
    return _views(kind, self, dim, "slice", [(dim, a, b, 1) for a, b in itertools.pairwise(starts)])


def _equal_sizes(n: int, size: int) -> list[int]:
    if size < 0:
        raise shape_error(f"split expects split_size be non-negative, but got split_size={size}")
    if size == 0:
        if n:
            raise shape_error(f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}")
        return [0]
    whole, rest = divmod(n, size)
    return [size] * whole + ([rest] if rest or not whole else [])


def chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most ``chunks`` pieces of equal size along ``dim`` (the last may be smaller), as views."""
    if self.ndim == 0:
        raise shape_error("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise shape_error(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    n = self.shape[one_dim(self, dim)]
    return split(self, -(-n // chunks), dim) if n else split(self, [0] * chunks, dim)


class UnsafeSplitBackward0(_Pieces):
    """Gradient of :func:`unsafe_split`."""

    __slots__ = ()
    op_name = "UnsafeSplitBackward0"


class UnsafeSplitWithSizesBackward0(_Pieces):
    """Gradient of :func:`unsafe_split_with_sizes`."""

    __slots__ = ()
    op_name = "UnsafeSplitWithSizesBackward0"


def unsafe_split(self: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """:func:`split` into pieces that are not views: each may be written in place, though they share the memory.

    The engine does not notice when what was saved of the tensor or of another piece changes by such a write.
    """
    return _no_views(UnsafeSplitBackward0, self, split(wrap(self._a), split_size, dim), dim)


def unsafe_split_with_sizes(self: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """As :func:`unsafe_split`, into pieces of given sizes."""
    return _no_views(UnsafeSplitWithSizesBackward0, self, split(wrap(self._a), list(split_sizes), dim), dim)


def unsafe_chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """:func:`chunk` into pieces that are not views, see :func:`unsafe_split`."""
    return _no_views(UnsafeSplitBackward0, self, chunk(wrap(self._a), chunks, dim), dim)


def _no_views(kind: type[_Pieces], x: Tensor, pieces: tuple[Tensor, ...], dim: int) -> tuple[Tensor, ...]:
    """Tensors on the memory of ``pieces`` as outputs of one node of ``kind``, which took ``x`` apart."""
    outs = tuple(wrap(p._a) for p in pieces)
    _record(kind, outs, x, one_dim(x, dim))
    if events.special & events.FORWARD:
        propagate_pieces(outs, x, lambda t: _no_views(kind, t, _like(pieces, t, dim), dim))
    return outs


def _like(pieces: tuple[Tensor, ...], x: Tensor, dim: int) -> tuple[Tensor, ...]:
    """``x`` taken apart in the sizes of ``pieces``."""
    return split(wrap(x._a), [p.shape[dim] for p in pieces], dim)


def _views(kind: type[_Pieces], x: Tensor, dim: int, op: str, arguments: list[tuple[Any, ...]]) -> tuple[Tensor, ...]:
    """The views ``op(x, *arguments[i])``, outputs of one node of ``kind``."""
    take = getattr(k, op)
    outs = tuple(wrap(take(x._a, *a)) for a in arguments)
    _record(kind, outs, x, dim)
    for out, a in zip(outs, arguments, strict=True):
        name = kind.op_name.removesuffix("Backward0").lower()
        as_view(out, x, name, _step(take, a), CreationMeta.MULTI_OUTPUT_NODE)
        if events.special & events.STRICT:
            follow(out)
    if events.special & events.FORWARD:
        propagate_pieces(outs, x, lambda tangent: _views(kind, tangent, dim, op, arguments))
    return outs


def _record(kind: type[_Pieces], outs: tuple[Tensor, ...], x: Tensor, dim: int) -> None:
    """Make a node of ``kind`` that took ``x`` apart the history of ``outs``, if a gradient is needed."""
    source = (edge(x) or nowhere(x)) if mode.grad and x._rg and outs and not x.is_inference() else None
    if source is not None:
        node = kind()
        node.n0, node.c_dim, node.n_outputs = source, dim, len(outs)
        node.c_shapes = tuple(o.shape for o in outs)
        _finish(node, outs[0], (x._nr,))
        for i, out in enumerate(outs):
            out._fn, out._nr, out._rg = node, i, True


def _step(take: Any, arguments: tuple[Any, ...]) -> Any:
    return lambda buffer: take(buffer, *arguments)

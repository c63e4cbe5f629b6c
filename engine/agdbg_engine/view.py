"""Views: tensors that share a base's memory, and what an in-place op on one of them does to the graph.

A view remembers its base and how to make it again from the base (:class:`ViewMeta`). Writing in place through a view
rewrites the *base's* history with a :class:`CopySlices` node; every other view notices by the version counter that
its ``grad_fn`` is old and replays itself on the base's new history at its next use.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import errors, events
from .grad_mode import mode
from .meta import AutogradMeta
from .node import Buffers, Node, NodeN, edge, next_seq
from .sites import caller

if TYPE_CHECKING:
    from .saved import Freed
    from .tensor import Tensor

Replay = Callable[[Any], Any]
"""Makes the view again from a tensor, or the view of a buffer from a buffer, like the base."""


class CreationMeta(enum.Enum):
    """Where a view was made: decides whether it may be written in place."""

    DEFAULT = enum.auto()
    NO_GRAD_MODE = enum.auto()
    MULTI_OUTPUT_NODE = enum.auto()


class ViewMeta:
    """DifferentiableViewMeta: base, view function, the version its ``grad_fn`` belongs to, where it was made."""

    __slots__ = ("attr_version", "base", "creation", "op", "replay", "replay_raw")

    def __init__(
        self, base: Tensor, op: str, replay: Replay, replay_raw: Replay, version: int, creation: CreationMeta
    ) -> None:
        self.base = base
        self.op = op
        self.replay = replay
        self.replay_raw = replay_raw
        self.attr_version = version
        self.creation = creation

    def grad_fn(self, t: Tensor) -> Node | None:
        """The node of view ``t``, made anew when the base's history changed since."""
        storage = t._storage
        assert storage is not None
        if storage.version != self.attr_version and edge(self.base) is not None:
            self.attr_version = storage.version
            self._regenerate(t)
        if t._fn is not None:
            return t._fn
        if t._rg is True:  # a leaf that happens to be a view
            from .node import AccumulateGrad

            meta = t._meta
            assert meta is not None
            node = meta.accumulator() if meta.accumulator is not None else None
            return AccumulateGrad(t) if node is None else node
        return None

    def _regenerate(self, t: Tensor) -> None:
        before = mode.grad
        mode.grad = True
        try:
            again = self.replay(self.base)
        finally:
            mode.grad = before
        t._fn, t._nr, t._rg = again._fn, again._nr, True

    def check_inplace(self, t: Tensor) -> None:
        """Raise what PyTorch raises for writes through views it cannot give a gradient."""
        if not t.requires_grad:
            return
        if self.creation is CreationMeta.MULTI_OUTPUT_NODE:
            raise errors.make(
                RuntimeError,
                errors.Details("view-inplace", t._fn, storage=t._storage),
                f"Output {t._nr} of {t._fn.name() if t._fn else self.op} is a view and is being modified inplace. This view is "
                "the output of a function that returns multiple views. Such functions do not allow the output views to "
                "be modified inplace. You should replace the inplace operation by an out-of-place one.",
                *_made_at(t),
            )
        if self.creation is CreationMeta.NO_GRAD_MODE:
            raise errors.make(
                RuntimeError,
                errors.Details("view-inplace", storage=t._storage),
                "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that "
                "this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both "
                "the view and the inplace either both inside the no_grad block (if you don't want the inplace to be "
                "tracked) or both outside (if you want the inplace to be tracked).",
            )
        base = self.base
        if base._fn is None and base._rg is True:
            raise errors.make(
                RuntimeError,
                errors.Details("view-inplace", storage=t._storage),
                "a view of a leaf Variable that requires grad is being used in an in-place operation.",
                *_made_at(t),
            )


def _made_at(t: Tensor) -> list[str]:
    from .sites import where

    return [f"the view was made at {where(t._fn.code, t._fn.lasti)}"] if t._fn is not None else []


def as_view(
    out: Tensor, source: Tensor, op: str, replay: Replay, raw: Replay, creation: CreationMeta = CreationMeta.DEFAULT
) -> Tensor:
    """Make ``out``, which shares the memory of ``source``, a view of it (or of its base, if it is a view itself)."""
    from .tensor import MAYBE

    storage = source._shared_storage()
    out._storage = storage
    if not mode.grad and creation is CreationMeta.DEFAULT:
        creation = CreationMeta.NO_GRAD_MODE
    base, whole, whole_raw = source, replay, raw
    parent = source._meta.view if source._meta is not None else None
    if parent is not None:
        first, first_raw = parent.replay, parent.replay_raw
        base = parent.base
        whole, whole_raw = lambda b: replay(first(b)), lambda b: raw(first_raw(b))
        if parent.creation is not CreationMeta.DEFAULT and creation is CreationMeta.DEFAULT:
            creation = parent.creation
    meta = out._meta = AutogradMeta()
    meta.view = ViewMeta(base, op, whole, whole_raw, storage.version, creation)
    if not out._rg:
        out._rg = MAYBE
    if events.sink is not None:
        events.sink.view_created(out, source, op, *caller())
    return out


class CopySlices(NodeN):
    """Gradient of writing in place through a view, as seen by the base.

    The base's gradient passes, except in the written region, where the inner node's gradient takes its place.
    """

    __slots__ = ("index", "inner", "shape")
    op_name = "CopySlices"

    def __init__(self, base: Tensor, view: ViewMeta, inner: Node) -> None:
        self.seq = next_seq()
        self.code, self.lasti = inner.code, inner.lasti
        self.hooks = None
        self.inner = inner
        self.shape = base._a.shape
        self.index = view.replay_raw
        rest = inner.next_nodes()[1:]
        self.next = (edge(base) if base._rg else None, *rest)
        numbers = (base._nr, *(inner.nrs or (0,) * inner.arity)[1:])
        self.nrs = numbers if any(numbers) else None

    def _region(self) -> Any:
        """Flat positions of the written region in the base: independent of any buffer's layout."""
        size = int(np.prod(self.shape))
        return self.index(np.arange(size).reshape(self.shape))

    def grads(self, g: Any) -> tuple[Any, ...]:  # noqa: D102
        region = self._region()
        flat = g.reshape(-1).copy()
        inner = self.inner.grads(flat[region])
        flat[region] = 0 if inner[0] is None else inner[0]
        return (flat.reshape(self.shape), *inner[1:])

    def grads_graph(self, g: Any) -> tuple[Any, ...]:  # noqa: D102
        from . import ops

        region = self._region()
        flat = ops.reshape(g, (-1,))
        inner = self.inner.grads_graph(ops.index(flat, (region,)))
        replacement = 0.0 if inner[0] is None else inner[0]
        return (ops.reshape(ops.index_put(flat, (region,), replacement), self.shape), *inner[1:])

    def run(self, g: Any, buffers: Buffers, shared: set[Any], summed: set[Any], freed: Freed | None) -> None:  # noqa: D102
        from .backward import route

        route(self, self.grads(g), buffers, shared, summed)
        if freed is not None:
            self.release(freed)

    def release(self, freed: Freed) -> None:  # noqa: D102
        self.inner.release(freed)


def rebase_history(t: Tensor, node: Node, op: str, code: Any, lasti: int) -> None:
    """Make ``node`` the history of ``t`` after an in-place op, through the base when ``t`` is a view."""
    view = t._meta.view if t._meta is not None else None
    target = t if view is None else view.base
    old = target._fn
    if view is None:
        new = node
    else:
        new = CopySlices(target, view, node)
        if events.sink is not None:
            events.sink.node_born(new, target)
        view.attr_version = -1  # forces the view to replay itself at its next use
    _forget_retained(target)
    target._fn, target._nr, target._rg = new, 0, True
    if events.sink is not None:
        events.sink.history_rebased(target, old, new, op, code, lasti)


def _forget_retained(t: Tensor) -> None:
    """``retain_grad`` moves with the tensor to its new node; hooks stay with the old one, as in PyTorch."""
    meta, old = t._meta, t._fn
    if meta is None or not meta.retains_grad or old is None or old.hooks is None:
        return
    meta.retains_grad = False
    old.hooks.tensor[t._nr].retain = None

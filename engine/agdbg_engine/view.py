"""Views: tensors that share a base's memory, and what an in-place op on one of them does to the graph.

A view remembers its base and how to make it again from the base (:class:`ViewMeta`). Writing in place through a view
rewrites the *base's* history with a :class:`CopySlices` node; every other view notices by the version counter that
its ``grad_fn`` is old and takes its place in the base's new history, as an :class:`AsStridedBackward0`, when next used.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import errors, events
from .backward import route_run
from .device import array_module
from .grad_mode import mode
from .meta import AutogradMeta
from .node import Node, Node1, NodeN, accumulator, edge, next_seq, tensor_hooks
from .sites import caller

if TYPE_CHECKING:
    from .saved import Freed
    from .tensor import Tensor

Step = Callable[[Any], Any]
"""The view of a buffer that is like the one the view was made from."""


class CreationMeta(enum.Enum):
    """Where a view was made: decides whether it may be written in place."""

    DEFAULT = enum.auto()
    NO_GRAD_MODE = enum.auto()
    MULTI_OUTPUT_NODE = enum.auto()


class ViewMeta:
    """DifferentiableViewMeta: base, view function, the version its ``grad_fn`` belongs to, where it was made."""

    __slots__ = ("attr_version", "base", "creation", "op", "parent", "step")

    def __init__(self, base: Tensor, parent: ViewMeta | None, op: str, step: Step, creation: CreationMeta) -> None:
        self.base = base
        self.parent = parent
        """The view that this one was made from; ``None`` when that was the base itself."""
        self.op = op
        self.step = step
        self.attr_version = base._version
        self.creation = creation

    def chain(self) -> list[ViewMeta]:
        """The views from the base down to this one."""
        chain: list[ViewMeta] = []
        view: ViewMeta | None = self
        while view is not None:
            chain.append(view)
            view = view.parent
        return chain[::-1]

    def grad_fn(self, t: Tensor) -> Node | None:
        """The node of view ``t``, made anew when the base's memory or history changed since."""
        storage = t._storage
        assert storage is not None
        if storage.version != self.attr_version and (t._fn is not None or self.base._rg):
            self.check_rebase(t, "its base or another view of its base has been")
            self.regenerate(t)
        if t._fn is not None:
            return t._fn
        if t._rg is True:  # a leaf that happens to be a view
            assert t._meta is not None
            return accumulator(t, t._meta)
        return None

    def regenerate(self, t: Tensor) -> None:
        """Give view ``t`` its place in the base's present history."""
        assert t._storage is not None
        self.attr_version = t._storage.version
        set_history(t, AsStridedBackward0(t, self))

    def check_inplace(self, t: Tensor) -> None:
        """Raise what PyTorch raises for writes through views it cannot give a gradient."""
        self.check_rebase(t, "is being")
        if t.requires_grad and self.base._fn is None:
            raise errors.make(
                RuntimeError,
                errors.Details("view-inplace", storage=t._storage),
                "a view of a leaf Variable that requires grad is being used in an in-place operation.",
                *_made_at(t),
            )

    def check_rebase(self, t: Tensor, what: str) -> None:
        """Raise if a write cannot give ``t`` a new history; ``what`` is modified: the view itself or a relative."""
        if self.creation is CreationMeta.DEFAULT:
            return
        fn = t._fn
        output = "" if fn is None else f"Output {t._nr} of {errors.forward_name(fn)} is a view"
        if fn is not None and self.creation is CreationMeta.MULTI_OUTPUT_NODE:
            text = f"{output} and {what} modified inplace. {_MULTI_OUTPUT}"
        else:
            made = f"{output} of a view which was created" if output else "A view was created"
            reason = _NO_GRAD if self.creation is CreationMeta.NO_GRAD_MODE else _MULTI_OUTPUT
            text = f"{made} in no_grad mode and {what} modified inplace with grad mode enabled. {reason}"
        raise errors.make(RuntimeError, errors.Details("view-inplace", fn, storage=t._storage), text, *_made_at(t))


_MULTI_OUTPUT = (
    "This view is the output of a function that returns multiple views. Such functions do not allow the output views to "
    "be modified inplace. You should replace the inplace operation by an out-of-place one."
)
_NO_GRAD = (
    "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both "
    "the view and the inplace either both inside the no_grad block (if you don't want the inplace to be tracked) or both "
    "outside (if you want the inplace to be tracked)."
)


def _made_at(t: Tensor) -> list[str]:
    from .sites import where

    return [f"the view was made at {where(t._fn.code, t._fn.lasti)}"] if t._fn is not None else []


def as_view(out: Tensor, source: Tensor, op: str, step: Step, creation: CreationMeta = CreationMeta.DEFAULT) -> Tensor:
    """Make ``out``, which shares the memory of ``source``, a view of it (or of its base, if it is a view itself)."""
    from .tensor import MAYBE

    out._storage = source._shared_storage()
    if not mode.grad:
        creation = CreationMeta.NO_GRAD_MODE
    parent = source._meta.view if source._meta is not None else None
    if parent is not None and creation is CreationMeta.DEFAULT:
        creation = parent.creation
    meta = out._meta = AutogradMeta()
    meta.view = ViewMeta(source if parent is None else parent.base, parent, op, step, creation)
    if not out._rg:
        out._rg = MAYBE
    if events.sink is not None:
        events.sink.view_created(out, source, op, *caller())
    return out


class Region:
    """Where a view lies in its base, found by viewing the positions: independent of any buffer's layout.

    It keeps the steps of the view but not the base, whose history may hold this very object.
    """

    __slots__ = ("shape", "size", "steps")

    def __init__(self, view: ViewMeta) -> None:
        self.shape = view.base._a.shape
        self.size: int = view.base._a.size
        self.steps = [v.step for v in view.chain()]

    def positions(self, like: Any) -> Any:
        """Flat positions in the base, in the shape of the view and in the library of buffer ``like``."""
        found = array_module(like).arange(self.size).reshape(self.shape)
        for step in self.steps:
            found = step(found)
        return found


class AsStridedBackward0(Node1):
    """Gradient of a view that was made anew from its base: laid into zeros, at the place of the view."""

    __slots__ = ("region",)
    op_name = "AsStridedBackward0"

    def __init__(self, t: Tensor, view: ViewMeta) -> None:
        self.n0 = edge(view.base)
        self.nrs = (view.base._nr,) if view.base._nr else None
        self.seq = next_seq()
        self.code, self.lasti = caller()
        self.hooks = None
        self.region = Region(view)
        if events.sink is not None:
            events.sink.node_born(self, t)

    def grads(self, g: Any) -> tuple[Any, ...]:
        flat = array_module(g).zeros(self.region.size, g.dtype)
        np.add.at(flat, self.region.positions(g), g)
        return (flat.reshape(self.region.shape),)

    def grads_graph(self, g: Any) -> tuple[Any, ...]:
        from .ops import _generated as ops

        flat = ops.index_backward(g, (self.region.size,), (self.region.positions(g._a),))
        return (ops.view(flat, self.region.shape),)

    run = route_run


class CopySlices(NodeN):
    """Gradient of writing in place through a view, as seen by the base.

    The base's gradient passes, except in the written region, where the inner node's gradient takes its place.
    """

    __slots__ = ("inner", "region")
    op_name = "CopySlices"

    def __init__(self, base: Tensor, view: ViewMeta, inner: Node) -> None:
        self.seq = next_seq()
        self.code, self.lasti = inner.code, inner.lasti
        self.hooks = None
        self.inner = inner
        self.region = Region(view)
        rest = inner.next_nodes()[1:]
        self.next = (edge(base) if base._rg else None, *rest)
        numbers = (base._nr, *(inner.nrs or (0,) * inner.arity)[1:])
        self.nrs = numbers if any(numbers) else None

    def grads(self, g: Any) -> tuple[Any, ...]:
        written = self.region.positions(g)
        flat = g.reshape(-1).copy()
        inner = self.inner.grads(flat[written])
        flat[written] = 0 if inner[0] is None else inner[0]
        return (flat.reshape(self.region.shape), *inner[1:])

    def grads_graph(self, g: Any) -> tuple[Any, ...]:
        from .ops import _generated as ops

        written = (self.region.positions(g._a),)
        flat = g.reshape((-1,))
        inner = self.inner.grads_graph(ops.index(flat, written))
        replacement = 0.0 if inner[0] is None else inner[0]
        return (ops.view(ops.index_put(flat, written, replacement), self.region.shape), *inner[1:])

    run = route_run

    def release(self, freed: Freed) -> None:
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
    set_history(target, new)
    if view is not None:
        view.regenerate(t)
    if events.sink is not None:
        events.sink.history_rebased(target, old, new, op, code, lasti)


def set_history(t: Tensor, new: Node) -> None:
    """Make output 0 of ``new`` the ``grad_fn`` of ``t``: ``retain_grad`` moves along, hooks stay where they are."""
    if t._meta is not None and t._meta.retains_grad:
        assert t._fn is not None
        tensor_hooks(new, 0).retain = tensor_hooks(t._fn, t._nr).retain
        tensor_hooks(t._fn, t._nr).retain = None
    t._fn, t._nr, t._rg = new, 0, True

"""Views: tensors that share a base's memory, and what an in-place op on one of them does to the graph.

A view remembers its base and how to make it again from the base (:class:`ViewMeta`). Writing in place through a view
rewrites the *base's* history with a :class:`CopySlices` node; every other view notices by the version counter that
its ``grad_fn`` is old and takes its place in the base's new history, as an :class:`AsStridedBackward0`, when next used.
"""

from __future__ import annotations

import contextlib
import enum
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import errors, events, inside, streams
from .anomaly import remember
from .backward import route_run
from .device import address, array_module, owner
from .grad_mode import mode
from .hooks import move_to, node_hooks
from .layout import steps_of
from .meta import MAYBE, AutogradMeta
from .node import Node, Node1, NodeN, accumulator, edge, next_seq
from .region import Region
from .repeated_index import add_at
from .resizing import nowhere, parted
from .sites import caller
from .storage import InferenceStorage, Storage, counting

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
    INFERENCE_MODE = enum.auto()
    IN_CUSTOM_FUNCTION = enum.auto()


def _place(array: Any) -> tuple[Any, ...]:
    return address(array), array.shape, array.strides


class ViewMeta:
    """DifferentiableViewMeta: base, view function, the version its ``grad_fn`` belongs to, where it was made."""

    __slots__ = ("attr_version", "base", "creation", "left", "moved", "op", "parent", "place", "step", "turns")

    def __init__(self, base: Tensor, parent: ViewMeta | None, op: str, step: Step, creation: CreationMeta) -> None:
        self.base = base
        self.parent = parent
        """The view that this one was made from; ``None`` when that was the base itself."""
        self.op = op
        self.step = step
        self.attr_version = base._version
        self.creation = creation
        self.left = False
        """Whether the view was given memory that is not its base's: what is written to one does not reach the other any more."""
        self.moved: bool = parent is not None and parent.moved
        """Whether it, or what it was made from, was given another part of its base's memory: its view function leads elsewhere."""
        self.place: tuple[Any, ...] | None = None
        """Where its own part of its base's memory is, once it was given other memory."""
        self.turns = 0 if base._meta is None else len(base._meta.turned)
        """How often the base had changed its shape in place when this view was made."""

    def chain(self) -> list[ViewMeta]:
        """The views from the base down to this one."""
        chain: list[ViewMeta] = []
        view: ViewMeta | None = self
        while view is not None:
            chain.append(view)
            view = view.parent
        return chain[::-1]

    def turned_back(self) -> tuple[Step, ...]:
        """From the present shape of the base, one after the other, to the one that it had when it was viewed."""
        if self.base._meta is None:
            return ()
        first = self
        while first.parent is not None:
            first = first.parent
        turned: tuple[Step, ...] = self.base._meta.turned[first.turns :]
        return turned[::-1]

    def grad_fn(self, t: Tensor) -> Node | None:
        """The node of view ``t``, made anew when the base's memory or history changed since."""
        storage = t._storage
        assert storage is not None
        if not storage.version == self.attr_version and (t._fn is not None or self.base.requires_grad):  # noqa: SIM201 - see saved.detached
            if self.left or parted in self.turned_back():
                return t._fn
            self._check_moved()
            self.check_rebase(t, "its base or another view of its base has been")
            self.regenerate(t)
        if t._fn is not None:
            return t._fn
        if t._rg is True:  # a leaf that happens to be a view
            assert t._meta is not None
            return accumulator(t, t._meta)
        return None

    def give(self, t: Tensor, memory: Any) -> None:
        """View ``t`` is about to be given other ``memory`` as its data."""
        with contextlib.suppress(RuntimeError):  # nobody asks for a history that cannot be told
            self.grad_fn(t)  # what was written to its old memory
        base = self.base._a
        self.place = self.place or _place(t._a)
        if isinstance(memory, np.ndarray) and isinstance(base, np.ndarray):
            self.left = not np.may_share_memory(memory, base)
        else:
            self.left = owner(memory) is not owner(base)
        self.moved = not self.left and _place(memory) != self.place

    def _check_moved(self) -> None:
        if self.moved:
            raise RuntimeError(
                "A view was given another part of the memory of its base by assigning to `data`, and one of the two is written: "
                "there is no way to tell the gradients. Take that part of the base as a new view instead."
            )

    def regenerate(self, t: Tensor) -> None:
        """Give view ``t`` its place in the base's present history."""
        assert t._storage is not None
        region = Region(self)
        region.check_inside()
        self.attr_version = t._storage.version
        set_history(t, AsStridedBackward0(t, edge(self.base), self.base._nr, region))

    def check_inplace(self, t: Tensor) -> None:
        """Raise what PyTorch raises for writes through views it cannot give a gradient."""
        self._check_moved()
        self.check_rebase(t, "is being")
        if t.requires_grad and (self.base._fn is None or inside.is_input(self.base)):
            raise errors.make(
                RuntimeError,
                errors.Details("view-inplace", storage=t._storage),
                "a view of a leaf Variable that requires grad is being used in an in-place operation.",
                *_made_at(t),
            )
        if t._fn is None and t.requires_grad:  # its place in the base's new history was not asked for yet
            raise errors.make(RuntimeError, errors.Details("leaf-inplace", storage=t._storage), errors.LEAF_INPLACE)
        if self.turned_back() or self.step is nowhere:
            Region(self).check_inside()

    def check_rebase(self, t: Tensor, what: str) -> None:
        """Raise if a write cannot give ``t`` a new history; ``what`` is modified: the view itself or a relative."""
        if self.creation is CreationMeta.DEFAULT:
            return
        fn = t._fn
        output = "" if fn is None else f"Output {t._nr} of {errors.forward_name(fn)} is a view"
        reason = _REASONS[self.creation]
        made = f"{output} of a view which was created" if output else "A view was created"
        if self.creation is CreationMeta.INFERENCE_MODE:
            text = f"{made} in inference mode and {what} modified inplace in normal mode. {reason}"
        elif fn is not None and self.creation is not CreationMeta.NO_GRAD_MODE:
            text = f"{output} and {what} modified inplace. {reason}"
        else:
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

_IN_CUSTOM_FUNCTION = (
    "This view was created inside a custom Function (or because an input was returned as-is) and the autograd logic to handle "
    "view+inplace would override the custom backward associated with the custom Function, leading to incorrect gradients. This "
    "behavior is forbidden. You can fix this by cloning the output of the custom Function."
)
_REASONS = {
    CreationMeta.MULTI_OUTPUT_NODE: _MULTI_OUTPUT,
    CreationMeta.NO_GRAD_MODE: _NO_GRAD,
    CreationMeta.IN_CUSTOM_FUNCTION: _IN_CUSTOM_FUNCTION,
    CreationMeta.INFERENCE_MODE: _NO_GRAD.replace("no_grad block", "inference_mode block"),
}


def _made_at(t: Tensor) -> list[str]:
    from .sites import where

    return [f"the view was made at {where(t._fn.code, t._fn.lasti)}"] if t._fn is not None else []


def as_view(out: Tensor, source: Tensor, op: str, step: Step, creation: CreationMeta = CreationMeta.DEFAULT) -> Tensor:
    """Make ``out``, which shares the memory of ``source``, a view of it (or of its base, if it is a view itself)."""
    out._storage = source._shared_storage()
    if isinstance(out._storage, InferenceStorage):  # no view of anything: there is no version to tell of writes
        conjugate, out._storage = out._storage.conjugate, InferenceStorage().of_level(out._storage)
        out._storage.conjugate = conjugate
        return out
    if not mode.grad:
        creation = CreationMeta.INFERENCE_MODE if mode.inference else CreationMeta.NO_GRAD_MODE
    parent = source._meta.view if source._meta is not None else None
    if parent is not None and parent.left:
        parent = None
    if parent is not None and (creation is CreationMeta.DEFAULT or parent.creation is CreationMeta.INFERENCE_MODE):
        creation = parent.creation
    meta = out._meta = AutogradMeta()
    meta.view = ViewMeta(source if parent is None else parent.base, parent, op, step, creation)
    out._rg = out._rg or MAYBE
    if events.sink is not None:
        events.sink.view_created(out, source, public_name(op), *caller())
    return out


def public_name(op: str) -> str:
    """What people call the op of the table that makes a view: ``squeeze`` or ``squeeze_`` for a part of that."""
    name = op.removesuffix("_here")
    return _OF_PARTS.get(name, name) + ("_" if name != op else "")


_OF_PARTS = {
    "permute_to": "permute", "reshape_alias": "reshape", "squeeze_all": "squeeze", "squeeze_dim": "squeeze",
    "squeeze_some": "squeeze",
}  # fmt: skip


class AsStridedBackward0(Node1):
    """Gradient of a view that was made anew from its base: laid into zeros, at the place of the view."""

    __slots__ = ("itemsize", "region", "size", "strides")
    op_name = "AsStridedBackward0"

    def __init__(self, t: Tensor, base: Node | None, number: int, region: Region) -> None:
        self.n0 = base
        self.nrs = (number,) if number else None
        self.seq = next_seq()
        self.code, self.lasti = caller()
        self.hooks = None
        self.region = region
        a = t._a
        self.size, self.strides, self.itemsize = a.shape, a.strides, a.itemsize
        if events.sink is not None:
            events.sink.node_born(self, t)
        if events.special & events.ANOMALY:
            remember(self)
        if events.special & events.STREAMS:
            streams.remember(self, t)

    @property
    def _saved_size(self) -> tuple[int, ...]:
        """Shape of the view."""
        return self.size

    @property
    def _saved_stride(self) -> tuple[int, ...]:
        """Its steps by dimension, in elements."""
        return tuple(s // self.itemsize for s in steps_of(self.size, self.strides, self.itemsize))

    @property
    def _saved_storage_offset(self) -> int:
        """Where its first element lies in memory, in elements."""
        return self.region.start(self.itemsize)

    def grads(self, g: Any) -> tuple[Any, ...]:
        from .ops import kernels as k

        if isinstance(g, np.ndarray):
            whole = self.region.new(g.dtype)
            part = self.region.inside(whole)
            if part is not None:
                whole[...] = 0
                part[...] = g
                return (whole,)
        part = self.region.laid(k, g)
        flat = array_module(g).zeros(self.region.size, part.dtype)
        add_at(flat, self.region.positions(g), part)
        return (self.region.whole(k, flat),)

    def grads_graph(self, g: Any) -> tuple[Any, ...]:
        from .ops import graph as o

        part = self.region.laid(o, g)
        flat = o.index_backward(part, (self.region.size,), (self.region.positions(g._a),))  # type: ignore[attr-defined]  # a row
        return (self.region.whole(o, flat),)

    run = route_run


class CopySlices(NodeN):
    """Gradient of writing in place through a view, as seen by the base.

    The base's gradient passes, except in the written region, where the inner node's gradient takes its place.
    """

    __slots__ = ("at", "freed", "inner", "region")
    op_name = "CopySlices"

    def __init__(self, base: Tensor, view: ViewMeta, inner: Node, at: int = 0) -> None:
        """``at`` is the number of the input of ``inner`` that was written."""
        self.code, self.lasti = inner.code, inner.lasti
        self.hooks = None
        self.inner = inner
        self.freed: Freed | None = None
        """Who released it: it does not run again then, as in PyTorch, even where the inner node has saved nothing."""
        self.at = at
        self.region = Region(view)
        if "result" in inner.slots:
            _outer[inner] = weakref.ref(self)
        if inner.hooks is not None and inner.hooks.unpacks:
            node_hooks(self).unpacks = True
        rest = _without(inner.next_nodes(), at)
        self.next = (edge(base) if base.requires_grad else None, *rest)
        self.seq = next_seq()  # when all producers are known: some may be made only now
        numbers = (base._nr, *_without(inner.nrs or (0,) * (1 + len(rest)), at))
        self.nrs = numbers if any(numbers) else None
        _lead(inner, at, self.next[0])

    @property
    def blanks(self) -> tuple[int, ...]:  # type: ignore[override]  # of each node, not of the class
        """As those of the inner node, whose first input is the one that was written."""
        return self.inner.blanks

    def grads(self, g: Any) -> tuple[Any, ...]:
        from .ops import kernels as k
        from .tensor import check_memory

        self._check_freed()
        region = self.region
        region.check_base()
        if isinstance(g, np.ndarray):
            whole = region.new(g.dtype)
            part = region.inside(whole)
            if part is not None:
                whole[...] = g
                # a copy: the inner node may pass it on as it is, to somebody who writes to it
                inner = self.inner.grads([part.copy()] if self.inner.multi else part.copy())
                if self.next[0] is None:
                    return (None, *_without(inner, self.at))
                part[...] = 0 if inner[self.at] is None else inner[self.at]
                return (whole, *_without(inner, self.at))
        written = region.positions(g)
        flat = region.flat(k, g).copy()
        taken = region.taken(k, flat[written])
        inner = self.inner.grads([taken] if self.inner.multi else taken)
        if self.next[0] is None:
            return (None, *_without(inner, self.at))
        check_memory(written)
        flat[written] = 0 if inner[self.at] is None else region.laid(k, inner[self.at])
        return (region.whole(k, flat), *_without(inner, self.at))

    def grads_graph(self, g: Any) -> tuple[Any, ...]:
        from .ops import graph as o
        from .tensor import check_memory

        self._check_freed()
        region = self.region
        region.check_base()
        written = (region.positions(g._a),)
        flat = region.flat(o, g)
        taken = region.taken(o, o.index(flat, written))  # type: ignore[attr-defined]  # rows
        inner = self.inner.grads_graph([taken] if self.inner.multi else taken)
        if self.next[0] is None:
            return (None, *_without(inner, self.at))
        check_memory(written[0])
        replacement: Any = 0.0
        if inner[self.at] is not None:
            replacement = region.laid(o, inner[self.at])
            if replacement.dtype != flat.dtype:  # the inner node computed in a wider one
                replacement = o.to_copy(replacement, flat.dtype)  # type: ignore[attr-defined]  # a row
        flat = o.index_put(flat, written, replacement)  # type: ignore[attr-defined]  # filled in from the table
        return (region.whole(o, flat), *_without(inner, self.at))

    run = route_run

    def release(self, freed: Freed) -> None:
        self.inner.release(freed)
        self.freed = freed

    def _check_freed(self) -> None:
        if self.freed is not None:
            from .saved import FreedAccess

            raise FreedAccess(self.freed)


def _lead(inner: Node, at: int, base: Node | None) -> None:
    """Let input ``at`` of ``inner`` come from the history of the base: that of the view as it was is not kept any longer."""
    if getattr(inner, f"n{at}", None) is not None:
        setattr(inner, f"n{at}", base)
    elif isinstance(inner, NodeN) and not inner.user_code and inner.next[at] is not None:
        inner.next = (*inner.next[:at], base, *inner.next[at + 1 :])


def _without(items: tuple[Any, ...], at: int) -> tuple[Any, ...]:
    return items[:at] + items[at + 1 :]


_outer: weakref.WeakKeyDictionary[Node, weakref.ref[CopySlices]] = weakref.WeakKeyDictionary()
"""By node that stands inside of a CopySlices and has saved its result: that CopySlices, which is the result's history."""


_written: weakref.WeakKeyDictionary[Node, weakref.ref[Node]] = weakref.WeakKeyDictionary()
"""By the same nodes: the history that the view they wrote through got, which goes with the view."""


def written_view(node: Node) -> Node | None:
    """The history of the view through which ``node`` wrote the result that it has saved, while that is still held."""
    return _written[node]() if node in _written else None


def storage_of_result(node: Node, array: Any) -> Storage:
    """The storage object of ``array``, the result that ``node`` has saved, made if it has none."""
    from .saved.seen_storage import SeenStorage, remember

    new = SeenStorage(array)
    with counting():
        storage: Storage = node.output_storage(new)
        if storage is new:
            remember(array, new)
    if storage is new and events.sink is not None:
        events.sink.storage_made(storage, node)
    return storage


def saved_output(node: Node, array: Any, storage: Any) -> Tensor:
    """The result that ``node`` has saved as a tensor with its history, made anew: the node keeps only the buffer.

    What was written through a view is a view of the base's history.
    """
    from .tensor import wrap

    t = wrap(array)
    t._rg, t._storage = True, storage_of_result(node, array) if storage is None else storage
    set_output(t, node, 0)
    return t


def outer(node: Node) -> CopySlices | None:
    """The CopySlices around ``node``, which has saved its result."""
    return _outer[node]() if node in _outer else None


def set_output(t: Tensor, node: Node, nr: int) -> None:
    """Give ``t``, the saved output ``nr`` of ``node``, its history."""
    slices = outer(node)
    if slices is None:
        t._fn, t._nr = node, nr
    else:
        t._fn = written_view(node) or AsStridedBackward0(t, slices, 0, slices.region)


def rebase_history(t: Tensor, node: Node, op: str, code: Any, lasti: int, at: int = 0) -> None:
    """Make ``node`` the history of ``t``, its input number ``at``, after an in-place op: of the base when ``t`` is a view."""
    view = t._meta.view if t._meta is not None else None
    if view is not None and view.left:
        assert t._storage is not None
        view.attr_version = t._storage.version
        view = None
    target = t if view is None else view.base
    old = target._fn
    if view is None:
        new = node
    else:
        new = CopySlices(target, view, node, at)
        if events.sink is not None:
            events.sink.node_born(new, target)
        if events.special & events.ANOMALY:
            remember(new)
        if events.special & events.STREAMS:
            streams.remember(new, target)
    set_history(target, new)
    if view is not None:
        view.regenerate(t)
        if node in _outer and t._fn is not None:
            _written[node] = weakref.ref(t._fn)
    if events.sink is not None:
        events.sink.history_rebased(target, old, new, op, code, lasti)


def set_history(t: Tensor, new: Node) -> None:
    """Make output 0 of ``new`` the ``grad_fn`` of ``t``: ``retain_grad`` moves along, hooks stay where they are."""
    move_to(new, t)
    t._fn, t._nr, t._rg = new, 0, True


def lost_history(values: Iterable[Any]) -> Exception | None:
    """The error of the first among ``values``, and the lists in them, that is a view which has lost its history to a write.

    PyTorch looks for the histories of what an op will record before it looks at sizes.
    """
    if not mode.grad:
        return None
    from .tensor import Tensor

    for value in values:
        for t in value if isinstance(value, list | tuple) else (value,):
            if isinstance(t, Tensor) and t._rg and t._meta is not None and t._meta.view is not None:
                try:
                    edge(t)
                except RuntimeError as error:
                    return error
    return None

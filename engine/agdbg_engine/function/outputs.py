"""What the ``forward`` of a custom Function returned becomes its outputs: they get the node as their history.

An input that was returned becomes a view of itself, unless it was marked dirty: then its own history is rewritten. Views
may not be written in place afterwards, since that would go around the ``backward`` of the Function.
"""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, Any

from .. import errors, events, inside
from ..hooks import move_to
from ..node import Node
from ..ops.after import after_birth
from ..ops.prepare import cut
from ..storage import InferenceStorage
from ..tensor import Tensor, wrap
from ..view import CreationMeta, as_view, rebase_history
from .ctx import put, separate
from .forward import Forward
from .grads import like
from .saved import keep_in_modes, marked, save, to_save

if TYPE_CHECKING:
    from .node import BackwardCFunction

_RETURNED_AND_SAVED = (
    "An input that has been returned as-is as output is being saved for backward. This is not supported if you override "
    "setup_context. You should return and save a view of the input instead, e.g. with x.view_as(x) or setup ctx inside the "
    "forward function itself."
)
_DIRTY_VIEW = (
    "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more than one "
    "Tensor. This is not supported by the current autograd engine. You should either make sure the input is not a view (using "
    ".clone() for example) or make your Function only return one Tensor (potentially splitting it into two Functions: one doing "
    "the inplace that returns a single Tensor and a second one that does the other operations). You can ask on the forum "
    "https://discuss.pytorch.org/ if you need help to do this change."
)
_DIRTY_NOT_RETURNED = (
    "Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified inplace "
    "must all be outputs of the Function."
)
_DIRTY_LEAF = "a leaf Variable that requires grad has been used in an in-place operation."
_DIRTY_NO_INPUT = (
    "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should be passed to "
    "ctx.mark_dirty()."
)


def outputs_of(
    node: BackwardCFunction, inputs: tuple[Any, ...], tensors: list[Tensor], raw: Any, executable: bool
) -> Any:
    """The outputs for ``raw``, which the forward of ``inputs``, among them ``tensors``, returned; recorded if ``executable``."""
    values = raw if isinstance(raw, tuple) else (raw,)
    saved = to_save(node, executable or separate(node._forward_cls))
    outputs = None
    if executable and not events.on and _plain(node, tensors, values):
        made = values
    else:
        outputs = _Outputs(node, tensors, len(values), executable, saved)
        made = tuple([outputs.made(i, v) if isinstance(v, Tensor) else v for i, v in enumerate(values)])
        outputs.finish()
    if outputs is not None and events.special & events.FORWARD:
        try:
            Forward(node, inputs, outputs.fixed, outputs.dirty).propagate(values, made)
        except BaseException:  # what was written in place has this node as its history, whatever became of the tangents
            with contextlib.suppress(Exception):  # a hook of what is saved may fail, too: the first error is told
                _end(node, tensors, made, saved, outputs, executable)
            raise
    _end(node, tensors, made, saved, outputs, executable)
    put(node, "to_save", None)
    if node.non_differentiable is not None or node.dirty_tensors is not None or node.saved_for_forward is not None:
        node.non_differentiable = node.dirty_tensors = node.saved_for_forward = None
    return made if values is raw else made[0]


def _end(
    node: BackwardCFunction,
    tensors: list[Tensor],
    made: tuple[Any, ...],
    saved: tuple[Any, ...],
    outputs: _Outputs | None,
    executable: bool,
) -> None:
    """What is left when the outputs have their tangents."""
    if executable:
        _complete(node, made, saved, outputs)
    elif events.sink is not None:
        cut(tuple(tensors))


def _complete(node: BackwardCFunction, made: tuple[Any, ...], saved: tuple[Any, ...], outputs: _Outputs | None) -> None:
    """Let backward run ``node``: how many outputs it has, what they are like, and what it saved."""
    put(node, "n_outputs", len(made))
    put(node, "_likes", tuple([like(v) for v in made]))
    if not node._fills:
        node.unfilled = tuple([i for i, v in enumerate(made) if isinstance(v, Tensor) and v._fn is not node])
    save(node, saved)
    if outputs is not None:
        outputs.tell(made)


def _plain(node: BackwardCFunction, tensors: list[Tensor], values: tuple[Any, ...]) -> bool:
    """The short way: give the returned tensors their history, if they are new, differentiable and have nothing special."""
    if node.dirty_tensors is not None or node.non_differentiable is not None:
        return False
    for v in values:
        if not isinstance(v, Tensor) or v._meta is not None or v._a.dtype.kind not in "fc":
            return False
        for t in tensors:
            if t is v:
                return False
    for i, v in enumerate(values):
        v._fn, v._nr, v._rg = node, i, True
    return True


class _Outputs:
    """Turns what one call returned into its outputs, one after the other."""

    def __init__(
        self, node: BackwardCFunction, tensors: list[Tensor], count: int, executable: bool, saved: tuple[Any, ...]
    ) -> None:
        self.node = node
        self.count = count
        self.executable = executable
        self.inputs = {id(t): at for at, t in reversed(list(enumerate(tensors)))}
        self.fixed: set[int] = set()
        self.dirty: dict[int, Tensor] = {}
        if node.non_differentiable is not None:
            text = "mark_non_differentiable only accepts variable arguments, but got "
            self.fixed.update(id(t) for t in marked(node, "non_differentiable", text))
        if node.dirty_tensors is not None:
            self._count_writes()
        self.unreturnable = {id(t) for t in (*saved, *(node.saved_for_forward or ())) if t is not None}
        if self.unreturnable and not separate(node._forward_cls):
            self.unreturnable = set()
        self.returned: set[int] = set()
        self.pure_view = node._pure_view
        self.views: list[Tensor] = []
        self.differentiable = 0
        self.rewritten: list[tuple[Tensor, Node | None]] = []

    def _count_writes(self) -> None:
        for t in marked(self.node, "dirty_tensors", "mark_dirty can only accept variables, but argument "):
            self.dirty[id(t)] = t
            t._shared_storage().wrote(self.node.op_name, self.node.code, self.node.lasti)

    def made(self, i: int, t: Tensor) -> Tensor:
        """Output ``i`` for the returned ``t``."""
        key = id(t)
        is_input, modified = key in self.inputs, key in self.dirty
        self.returned.add(key)
        if self.executable and key not in self.fixed and t._a.dtype.kind in "fc":
            self.differentiable += 1
            out = self._with_history(i, t, is_input, modified)
        else:
            out = self._without_history(t, is_input, modified)
        meta = out._meta
        if meta is not None and meta.view is not None:
            self.views.append(out)
            if not (is_input and modified):
                meta.view.creation = CreationMeta.DEFAULT if self.pure_view else CreationMeta.IN_CUSTOM_FUNCTION
        return out

    def _with_history(self, i: int, t: Tensor, is_input: bool, modified: bool) -> Tensor:
        if modified:
            self._rewrite(i, t, is_input)
            return t
        if is_input:
            t = self._as_is(t)
        t._fn, t._nr, t._rg = self.node, i, True
        if t._meta is not None and t._meta.view is not None and t._storage is not None:
            t._meta.view.attr_version = t._storage.version
        return t

    def _without_history(self, t: Tensor, is_input: bool, modified: bool) -> Tensor:
        if not t.requires_grad:
            if is_input and not modified:
                return self._as_is(t)
            return t
        if is_input:
            return t.detach()
        return t if t._is_view() else t.detach_()

    def _as_is(self, t: Tensor) -> Tensor:
        """A view of an input that was returned without being written."""
        if id(t) in self.unreturnable:
            raise errors.make(RuntimeError, errors.Details("other", self.node), _RETURNED_AND_SAVED)
        return as_view(wrap(t._a), t, "view_as", _itself)

    def _rewrite(self, i: int, t: Tensor, is_input: bool) -> None:
        """Make the node the history of ``t``, which was written."""
        node, view = self.node, None if t._meta is None else t._meta.view
        if (t._fn is None and t.requires_grad) or inside.is_input(t):
            name = "" if t._meta is None else t._meta.name
            more = [f"the leaf is '{name}'"] if name else []
            raise errors.make(
                RuntimeError, errors.Details("leaf-inplace", node, storage=t._storage), _DIRTY_LEAF, *more
            )
        if not is_input:
            if view is not None:
                raise errors.make(
                    RuntimeError, errors.Details("view-inplace", node, storage=t._storage), _DIRTY_NO_INPUT
                )
            warnings.warn(_DIRTY_NO_INPUT, UserWarning, stacklevel=5)
        t._gradient = None  # it was that of what the tensor held before
        if view is None:
            self.rewritten.append((t, t._fn))
            move_to(node, t, i)
            t._fn, t._nr, t._rg = node, i, True
            return
        if self.count > 1:
            raise errors.make(RuntimeError, errors.Details("view-inplace", node, storage=t._storage), _DIRTY_VIEW)
        view.check_inplace(t)
        rebase_history(t, node, node.op_name, node.code, node.lasti, self.inputs[id(t)])

    def finish(self) -> None:
        """Checks that need all outputs."""
        if self.differentiable > 1:
            for t in self.views:
                assert t._meta is not None and t._meta.view is not None
                t._meta.view.creation = CreationMeta.MULTI_OUTPUT_NODE
        if self.dirty and not self.dirty.keys() <= self.returned:
            raise errors.make(RuntimeError, errors.Details("other", self.node), _DIRTY_NOT_RETURNED)

    def tell(self, made: tuple[Any, ...]) -> None:
        """The node is complete: tell the sink, and do what the rare modes want."""
        if not events.on:
            return
        node = self.node
        out = next((t for t in made if isinstance(t, Tensor) and t._fn is node), None)
        if out is None:
            out = next((t for t in made if isinstance(t, Tensor)), None)
        if out is None:  # no output is a tensor: nobody will ever meet this node
            return
        if events.sink is not None:
            for t in made:
                if isinstance(t, Tensor) and t._nr:
                    t._shared_storage()  # memory without a storage object is told as that of the node's first output
            events.sink.node_born(node, out)
            if len(made) > 1:
                events.sink.outputs_made(node, [t for t in made if isinstance(t, Tensor) and t._fn is node])
            self._tell_writes(events.sink)
        if events.special:
            keep_in_modes(node, made)
            after_birth(node, out)

    def _tell_writes(self, sink: events.Sink) -> None:
        node = self.node
        for t in self.dirty.values():
            if t._storage is not None and not isinstance(t._storage, InferenceStorage):
                sink.version_bumped(t, t._storage, node.op_name, node, node.code, node.lasti)
        for t, old in self.rewritten:
            sink.history_rebased(t, old, node, node.op_name, node.code, node.lasti)


def _itself(buffer: Any) -> Any:
    return buffer

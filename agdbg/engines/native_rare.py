"""What few programs do, as records: hooks on saved tensors, custom Functions, forward mode, checkpoints."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

import numpy as np

from agdbg.engines.native_standing import Standing
from agdbg.events import ONCE_DIFFERENTIABLE, Fractions, FunctionCall, Kind, NeedsGrad, head, pack_pair
from agdbg.record import Recorder
from agdbg_engine import events as engine_events
from agdbg_engine.current import current
from agdbg_engine.dtype import is_differentiable
from agdbg_engine.function import once_differentiable
from agdbg_engine.function.ctx import no_backward
from agdbg_engine.node import Node
from agdbg_engine.tensor import Tensor

_CALLS = {"forward": FunctionCall.FORWARD, "backward": FunctionCall.BACKWARD, "jvp": FunctionCall.JVP}
_ONCE = once_differentiable(no_backward).__code__
"""The code of every backward that has the mark."""


class RareSink(engine_events.Sink):
    """The part of the adapter that only special programs need."""

    recorder: Recorder
    new_node: Callable[[], int]
    standing: Standing

    def __init__(self) -> None:
        super().__init__()
        self._early: weakref.WeakKeyDictionary[Node, int] = weakref.WeakKeyDictionary()
        """Numbers of contexts of custom Functions that are no complete nodes yet, and may never be."""
        self._recompute_flags = 0
        """Those for the recomputation that is told of next."""

    # ----- hooks on saved tensors -----

    def saved_packed(self, node: Node, slot: int, code: CodeType, lasti: int) -> None:
        self._rare(Kind.PACKED, self._tag(node), slot, self._site(code, lasti))

    def saved_unpacked(self, node: Node, slot: int) -> None:
        self._rare(Kind.UNPACKED, self._tag(node), slot, running())

    def saved_cloned(self, tensor: Tensor, count: int, code: CodeType, lasti: int) -> None:
        self._rare(Kind.CLONED, self.storage_of(tensor), count, self._site(code, lasti))

    # ----- forward mode -----

    def dual_level(self, level: int, entered: bool, code: CodeType, lasti: int) -> None:
        where = self._site_op(code, lasti, "entered" if entered else "left")
        self._rare(Kind.DUAL_LEVEL, 0, where, level, a=int(entered))

    # ----- custom Functions -----

    def function_began(self, node: Node, what: str, code: CodeType, lasti: int) -> None:
        tag = self._tag(node) if what == "backward" else self._number_early(node)
        where = self._site_op(code, lasti, type(node).op_name)
        function = user_function(node, what)
        flags = ONCE_DIFFERENTIABLE if getattr(function, "__code__", None) is _ONCE else 0
        self._rare(Kind.FUNCTION, tag, running(), where, self._defined(function), a=_CALLS[what], flags=flags)

    def function_wrote(self, node: Node, tensor: Tensor, argument: str, code: CodeType, lasti: int) -> None:
        where = self._site_op(code, lasti, type(node).op_name)
        text = pack_pair(self.recorder.text(argument), 0)
        self._rare(
            Kind.UNMARKED,
            self.storage_of(tensor),
            self._number_early(node),
            where,
            text,
            _needs_grad(tensor.requires_grad),
        )

    def function_kept(self, node: Node, held: Any, name: str, role: str, code: CodeType, lasti: int) -> None:
        if isinstance(held, Tensor):  # an array matters once it has changed: only checksums tell
            self._kept(node, held, name, role, _needs_grad(is_differentiable(held.dtype)), code, lasti)

    def _kept(
        self, node: Node, tensor: Tensor | None, name: str, role: str, more: int, code: CodeType, lasti: int
    ) -> None:
        where = self._site_op(code, lasti, role)
        text, storage = pack_pair(self.recorder.text(name), 0), 0 if tensor is None else self.storage_of(tensor)
        self._rare(Kind.KEPT, self._number_early(node), storage, where, text, more)

    def function_cast(
        self,
        node: Node,
        gradient: Tensor,
        argument: str,
        dtype: np.dtype[Any],
        given: Sequence[Tensor | None],
        code: CodeType,
        lasti: int,
    ) -> None:
        text = self.recorder.text
        widest = max(
            (each.dtype for each in given if each is not None and each.dtype.kind in "fc"), key=_digits, default=None
        )
        self._rare(
            Kind.CAST,
            self._tag(node),
            running(),
            self._site_op(code, lasti, type(node).op_name),
            pack_pair(text(argument), text(str(dtype))),
            pack_pair(text(str(gradient.dtype)), 0 if widest is None else text(str(widest))),
            more=_fractions(given) if gradient.dtype.kind in "biu" else Fractions.UNKNOWN,
        )

    def _number_early(self, node: Node) -> int:
        """The number of a context, which is no node yet: its edges and saved tensors are told when they are known."""
        if hasattr(node, "tag"):
            return node.tag
        number = self._early.get(node)
        if number is None:
            number = self._early[node] = self.new_node()
        return number

    def _new_number(self, node: Node) -> int:
        """The number for a node that is told now: the one it was mentioned with, if it was."""
        if hasattr(node, "tag"):
            return node.tag
        return self._early.pop(node, 0) or self.new_node() if node.user_code else self.new_node()

    # ----- checkpoints -----

    def recomputed(self, ops: int, difference: str | None, code: CodeType, lasti: int) -> None:
        needing = current.node
        tag = 0 if needing is None else self._tag(needing)
        text = 0 if difference is None else pack_pair(self.recorder.text(difference), 0)
        flags, self._recompute_flags = self._recompute_flags, 0
        self._rare(Kind.RECOMPUTED, tag, running(), self._site(code, lasti), text, ops, flags=flags)

    # ----- the rest of the adapter, see agdbg.engines.native -----

    def _rare(
        self,
        kind: Kind,
        number: int,
        p0: int,
        p1: int,
        p2: int = 0,
        p3: int = 0,
        *,
        a: int = 0,
        flags: int = 0,
        more: int = 0,
    ) -> None:
        self.recorder.emit(head(kind, self.recorder.thread(), flags, a), number, p0, p1, p2, p3, more, 0)

    def storage_of(self, t: Tensor) -> int:
        """The id of the memory of ``t``."""
        raise NotImplementedError

    def _tag(self, node: Node) -> int:
        raise NotImplementedError

    def _site(self, code: CodeType, lasti: int) -> int:
        raise NotImplementedError

    def _site_op(self, code: CodeType, lasti: int, op: str) -> int:
        raise NotImplementedError

    def _producer(self, t: Tensor) -> int:
        raise NotImplementedError

    def _defined(self, function: Any) -> int:
        raise NotImplementedError


def user_function(node: Node, what: str) -> Any:
    """The function of a custom Function that is about to run; ``None`` where the user wrote none, or two."""
    cls = getattr(type(node), "_forward_cls", None)
    if what != "backward":
        return getattr(cls, what, None)
    backward, vjp = getattr(cls, "backward", None), getattr(cls, "vjp", None)
    return backward if vjp is no_backward else vjp


def _fractions(given: Sequence[Tensor | None]) -> int:
    """Whether one of the gradients has a number that is no integer; those on a device are not waited for."""
    arrays = [each._a for each in given if each is not None]
    if not all(isinstance(each, np.ndarray) for each in arrays):
        return Fractions.UNKNOWN
    return Fractions.YES if any(bool(np.any(each != np.rint(each))) for each in arrays) else Fractions.NO


def _digits(dtype: np.dtype[Any]) -> int:
    return int(np.finfo(dtype).nmant)


def _needs_grad(yes: bool) -> int:
    return NeedsGrad.YES if yes else NeedsGrad.NO


def running() -> int:
    """The id of the pass that runs in this thread; 0 when none does."""
    return 0 if current.bp is None else current.bp.tag

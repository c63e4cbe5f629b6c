"""What the condition of a breakpoint may name where a thread of the engine has come by, computed only when it is named."""

import os
from collections.abc import Callable, Collection
from types import CodeType, FrameType, SimpleNamespace, TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from agdbg.agent.conditions import Expression, value
from agdbg.agent.frames import dead_frames, innermost
from agdbg.engines.native_devices import settle
from agdbg.engines.native_saved import SavedValues
from agdbg.engines.native_scene import NativeScene
from agdbg_engine.backward import QUIET
from agdbg_engine.grad_mode import mode
from agdbg_engine.journal import runs_user_code
from agdbg_engine.node import AccumulateGrad, Node
from agdbg_engine.saved import Freed, Packed, saved_slots
from agdbg_engine.several import beside
from agdbg_engine.several import copied as copy_beside
from agdbg_engine.sites import where
from agdbg_engine.tensor import Tensor, wrap

if TYPE_CHECKING:
    from agdbg.engines.native_driver import Driver
    from agdbg.engines.native_walk import Walk


class NativeSpot:
    """One place that a thread has come to.

    Args:
        driver: the driver of the program.
        node: the node that it is about, if it is about one.
        walk: the pass that runs, if one does.
        kind: of the event, as ``before`` or ``version-bump``.
        facts: what is known of the event; an expression reads them off ``event``.
        site: the line, where it is not that of the node.
        trace: of an error: the frames that it has left, a hook for example, are the innermost.
    """

    def __init__(
        self,
        driver: "Driver",
        node: Node | None,
        walk: "Walk | None",
        kind: str,
        facts: dict[str, Any] | None = None,
        site: tuple[CodeType, int] | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        self._driver, self._node, self._walk = driver, node, walk
        self._kind, self._facts, self._site, self._trace = kind, facts or {}, site, trace

    def names(self, wanted: Collection[str]) -> dict[str, Any]:
        """The values of those names that mean something here."""
        found: dict[str, Any] = {}
        for name in wanted:
            if name in _KNOWN:
                found[name] = _KNOWN[name](self)
            elif name in _ON_THE_WAY and (self._walk is not None or not self._program_knows(name)):
                found[name] = _ON_THE_WAY[name](self)
        return found

    def lacks(self, wanted: Collection[str]) -> bool:
        """Whether one of the names is that of gradients, and no pass runs: nothing can be true of them then."""
        if self._walk is not None or _OF_GRADIENTS.isdisjoint(wanted):
            return False
        return not all(name in _ON_THE_WAY and self._program_knows(name) for name in _OF_GRADIENTS & set(wanted))

    @property
    def trusted(self) -> frozenset[str]:
        """The files of the engine."""
        return self._driver.agent.internal

    def _program_knows(self, name: str) -> bool:
        frame = self.frame()
        return frame is not None and (name in frame.f_locals or name in frame.f_globals)

    def frame(self) -> FrameType | None:
        """The innermost frame of the program."""
        internal = self._driver.agent.internal
        return next(iter(dead_frames(self._trace, internal)), None) or innermost(internal)

    def describe(self, value: Any) -> str | None:
        """Text for a tensor."""
        if isinstance(value, NodeView):
            return repr(value)
        return NativeScene(self._driver, {}).describe(value)

    def watched(self, function: Callable[[], Any]) -> tuple[Any, list[str]]:
        """Call ``function`` without stopping in it, and without recording gradients; the notes tell of writes."""
        settle()
        before = mode.grad, mode.op_log, mode.born
        mode.grad, mode.op_log, mode.born = False, None, None  # a checkpoint or a write in progress is not to see it
        try:
            return self._driver.watched(function)
        finally:
            mode.grad, mode.op_log, mode.born = before

    def holds(self, condition: Expression) -> tuple[bool, list[str]]:
        """As :meth:`watched`, without a call on the way: this is what is done at every node with a condition."""
        if not _WITHOUT_VALUES.issuperset(condition.names):
            settle()
        driver, before = self._driver, (mode.grad, mode.op_log, mode.born)
        thread, sink = driver.thread, driver.sink
        mode.grad, mode.op_log, mode.born = False, None, None
        thread.suppressed, sink.writes = True, []
        try:
            found = value(condition, self.frame, self.names, driver.agent.internal)
            return bool(found), sink.writes
        finally:
            thread.suppressed, sink.writes = False, None
            mode.grad, mode.op_log, mode.born = before

    def place(self) -> dict[str, Any]:
        """File and line of the event, or of the node, and the number of the node."""
        node = self._node
        site = self._site or (None if node is None else (node.code, node.lasti))
        found = None if site is None else where(*site)
        number = 0 if node is None else getattr(node, "tag", 0)
        return {"file": found.file if found else "", "line": found.line if found else 0, "node": number}

    # ----- the names -----

    def _node_view(self) -> "NodeView | None":
        return None if self._node is None else NodeView(self._node, self._driver)

    def _event(self) -> SimpleNamespace:
        return SimpleNamespace(kind=self._kind, **self._facts)

    def _step(self) -> int:
        return self._driver.passes_over

    def _rank(self) -> int:
        return rank()

    def _gradients_in(self) -> list[Any]:
        node, walk = self._node, self._walk
        if node is None or walk is None:
            return []
        return [copied(g) for g in gradients_in(walk, node)]

    def _gradient(self) -> Any:
        return next(iter(self._gradients_in()), None)

    def _gradients_out(self) -> list[Any]:
        node, walk = self._node, self._walk
        if node is None or walk is None or isinstance(node, AccumulateGrad):
            return []
        return [copied(g) for g in gradients_out(walk, node)]

    def _saved(self) -> SavedValues | None:
        node, journal = self._node, self._walk.journal if self._walk is not None else None
        if node is None:
            return None
        kept = {} if journal is None else journal.saved(node)
        values = {s.slot: kept.get(s.slot) if s.freed else s.value for s in saved_slots(node)}
        return SavedValues(node, lambda slot: copied(values[slot]))


_KNOWN: dict[str, Callable[[NativeSpot], Any]] = {
    "node": NativeSpot._node_view,
    "grads_in": NativeSpot._gradients_in,
    "grads_out": NativeSpot._gradients_out,
    "saved": NativeSpot._saved,
    "event": NativeSpot._event,
    "step": NativeSpot._step,
    "rank": NativeSpot._rank,
}


#: In forward code, where no gradients are on their way, what the program calls so comes first.
_ON_THE_WAY: dict[str, Callable[[NativeSpot], Any]] = {
    "grads": NativeSpot._gradients_in,
    "grad": NativeSpot._gradient,
}


_WITHOUT_VALUES = frozenset({"node", "event", "step", "rank"})
"""What can be told while devices still compute."""
_OF_GRADIENTS = frozenset({"grads_in", "grads_out", *_ON_THE_WAY})
"""What means something in backward only."""


_OF_NODES = frozenset({"seq", "name", "op_name", "next", "next_functions", "leaf", "metadata", "code", "lasti"})
"""Attributes of a node in which there are no values of tensors."""


class NodeView:
    """The node of the engine with what agdbg knows of it, found when it is asked for: all other attributes are the node's own."""

    __slots__ = ("_driver", "_node")

    def __init__(self, node: Node, driver: "Driver") -> None:
        self._node, self._driver = node, driver

    @property
    def op(self) -> str:
        """The name of the op."""
        return self._node.op_name

    @property
    def id(self) -> int:
        """Its number in the recording."""
        return self._driver.sink.number(self._node)

    @property
    def parameter(self) -> str:
        """The name of its leaf; empty when it has none."""
        return self._name() if self._node.leaf else ""

    @property
    def module(self) -> str:
        """The path of the module that built it; empty when none did."""
        return "" if self._node.leaf else self._name()

    def _name(self) -> str:
        return next(iter(self._driver.names.of_node(self._node)), "")

    @property
    def file(self) -> str:
        """The file of the line that built it."""
        return where(self._node.code, self._node.lasti).file

    @property
    def line(self) -> int:
        """The line that built it."""
        return where(self._node.code, self._node.lasti).line

    def __getattr__(self, name: str) -> Any:
        if name not in _OF_NODES:
            settle()
        return getattr(self._node, name)

    def __repr__(self) -> str:
        return f"{self.op} #{self.id}"


def rank() -> int:
    """The number of this process among those that train together."""
    return int(os.environ.get("RANK", "0") or 0)


def keys_of(node: Node) -> list[Any]:
    """Under what the gradients of the outputs of ``node`` wait."""
    return [node, *((node, nr) for nr in range(1, getattr(node, "n_outputs", 1)))] if node.multi else [node]


def gradients_in(walk: "Walk", node: Node) -> list[Any]:
    """The gradients that have come in at a node that runs next or has just run; ``None`` where none came.

    In the middle of a node they are as its hooks have left them so far: what its next part is given.
    """
    keys = keys_of(node)
    if (inside := walk.inside(node)) is not None:
        return list(inside[0])
    if walk.next_node() is node and any(key in walk.bp.buffers for key in keys):
        return [walk.bp.buffers.get(key) for key in keys]
    found = walk.journal.gradients_in(node) if walk.journal is not None else None
    return list(found) if found else [None for _ in keys]


def gradients_out(walk: "Walk", node: Node) -> list[Any]:
    """What a node sends to its producers: of one that has not run yet what it would send, without hooks."""
    unknown = [None] * len(node.next_nodes())
    if (inside := walk.inside(node)) is not None and inside[1] is not None:
        return list(inside[1])
    with np.errstate(**QUIET):
        try:
            if walk.next_node() is not node:
                return list((walk.journal and walk.journal.gradients_out(node)) or unknown)
            gs = [buffer(g) for g in gradients_in(walk, node)]
            if runs_user_code(node) or all(g is None for g in gs):
                return unknown
            with beside(gs):
                return list(node.grads(gs if node.multi else gs[0]))
        except Exception:  # what it saved was freed or modified
            return unknown


def buffer(value: Any) -> Any:
    """The array of a tensor; any other value is one."""
    return value._a if isinstance(value, Tensor) else value


def copied(value: Any) -> Any:
    """A tensor of its own with the same elements; ``None`` for what is not there or kept by hooks of the program."""
    if value is None or isinstance(value, Freed | Packed):
        return None
    return wrap(copy_beside(buffer(value)))

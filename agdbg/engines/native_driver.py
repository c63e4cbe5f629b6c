"""The stepper of agdbg's own engine: it runs passes node by node where somebody wants to stop, and stops."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agdbg.agent.agent import GO_ON, Agent, Command
from agdbg.agent.control import Settings
from agdbg.agent.reason import STEP, Reason, message
from agdbg.engines.native_match import Matcher
from agdbg.engines.native_scene import NativeScene
from agdbg.engines.native_walk import Walk
from agdbg_engine.backward import BackwardPass
from agdbg_engine.errors import Details
from agdbg_engine.node import Node
from agdbg_engine.sites import INTERNAL, where

if TYPE_CHECKING:
    from agdbg.engines.native import NativeSink

ALL_ERRORS = "any"


class Stepping(threading.local):
    """How the running thread goes on.

    ``next`` stops at the next node of ``within``, ``in`` at the next event at all, ``out`` at the end of ``within``,
    ``pass`` at the start of the next pass, ``continue`` at a breakpoint. ``within`` is None in the program's forward code.
    """

    def __init__(self) -> None:
        self.mode = "continue"
        self.within: Walk | None = None
        self.walks: list[Walk] = []
        self.suppressed = False
        self.visit: tuple[object, int, int] | None = None

    def is_due(self, walk: "Walk | None") -> bool:
        """True when a step ends at the next node of ``walk``."""
        if self.mode == "in":
            return True
        return self.mode == "next" and (self.within is walk or self.within not in self.walks)


class Driver:
    """Stops the engine where the agent's settings say.

    Attributes:
        matcher: the breakpoints that hold now.
        expected: the control block's first word, as long as nobody wants to stop where nodes are built:
            :meth:`born` is to be called for each node while the two differ.
    """

    def __init__(self, agent: Agent, sink: "NativeSink") -> None:
        self.agent = agent
        self.sink = sink
        self.thread = Stepping()
        self._steppers: set[int] = set()
        self.expected = -1
        INTERNAL.update(str(file) for file in Path(__file__).resolve().parents[1].rglob("*.py"))
        agent.internal = frozenset(INTERNAL)
        agent.on_change(self._changed)

    def _changed(self, settings: Settings) -> None:
        self.matcher = Matcher(settings, self.sink.names_of_leaf)
        self._watch_births()

    def _watch_births(self) -> None:
        births = bool(self.matcher) or bool(self._steppers) or self.agent.wants_pause
        self.expected = -1 if births and not self.agent.gone else self.agent.seen

    def walks(self) -> list[Walk]:
        """The passes that run in this thread, the innermost first."""
        return self.thread.walks[::-1]

    # ----- events of the engine -----

    def drive(self, bp: BackwardPass) -> None:
        """Run the nodes of a pass, with stops."""
        thread = self.thread
        if thread.suppressed or self.agent.gone:
            return
        walk = Walk(self, bp)
        thread.walks.append(walk)
        try:
            walk.run()
        finally:
            thread.walks.remove(walk)

    def born(self, node: Node) -> None:
        """A node was built by the program's forward code."""
        self.agent.look()
        thread = self.thread
        if thread.suppressed or thread.walks or node.leaf or self.agent.gone:
            return
        reason = self._reason_at_birth(node)
        if reason is not None:
            self._go_on(self.stop(NativeScene(self, self._birth(node, reason), node=node)))

    def _reason_at_birth(self, node: Node) -> Reason | None:
        ids = [*self.matcher.functions(node), *self._line(node)]
        if ids:
            return Reason("breakpoint", ids)
        if self.agent.takes_pause():
            return Reason("pause")
        return STEP if self.thread.is_due(None) else None

    def _line(self, node: Node) -> list[int]:
        """The breakpoint on the line, when the program has come to the line with this node."""
        found = self.matcher.source(node.code, node.lasti)
        if not found:
            self.thread.visit = None
            return []
        visit, self.thread.visit = self.thread.visit, (node.code, found, node.lasti)
        goes_on = visit is not None and visit[:2] == (node.code, found) and visit[2] < node.lasti
        return [] if goes_on else [found]

    def _birth(self, node: Node, reason: Reason) -> dict[str, Any]:
        line = where(node.code, node.lasti).line
        return message(reason, "born", f"forward, line {line} built {node.op_name}", node=node.tag)

    def raised(self, error: BaseException, details: Details) -> None:
        """The engine is about to raise ``error``, or one that passed through it."""
        thread, wanted = self.thread, self.agent.settings.exceptions
        if thread.suppressed or self.agent.gone or not (details.kind in wanted or ALL_ERRORS in wanted):
            return
        walk = thread.walks[-1] if thread.walks else None
        if walk is not None and walk.announced == (details.kind, details.node):
            return
        node = 0 if details.node is None else self.sink.number(details.node)
        told = {"kind": details.kind, "text": f"{type(error).__name__}: {error}", "predicted": False, "node": node}
        reason = Reason("exception", error=told)
        text = f"{type(error).__name__} is about to be raised: {details.kind}"
        if walk is None:
            stop = message(reason, "raise", text, node=node)
        else:
            stop = {**walk.message(reason, "raise", description=text), "node": node or walk.number()}
        self._go_on(self.stop(NativeScene(self, stop, walk, details.node, inside=True)))

    # ----- stopping -----

    def stop(self, scene: NativeScene) -> Command:
        """Stop the running thread; whatever goes wrong, the program goes on."""
        if self.agent.gone:
            return GO_ON
        try:
            self.sink.recorder.flush()
            return self.agent.stop(scene, self.sink.ordinal.number)
        except Exception as error:
            self.agent.fail(error)
            return GO_ON

    def resume(self, mode: str, within: "Walk | None") -> None:
        """Go on in this way."""
        self.thread.mode, self.thread.within = mode, within
        if mode in ("next", "in"):
            self._steppers.add(threading.get_ident())
        else:
            self._steppers.discard(threading.get_ident())
        self._watch_births()

    def _go_on(self, command: Command) -> None:
        """Go on from a stop that is not a place in a pass."""
        walk = self.thread.walks[-1] if self.thread.walks else None
        if command.how == "out":
            self.resume("out" if walk else "pass", walk)
        else:
            self.resume(command.how if command.how in ("next", "in") else "continue", walk)

    def watched(self, function: Callable[[], Any]) -> tuple[Any, list[str]]:
        """Call ``function`` without a stop in it; the notes tell of writes to memory that graphs may need."""
        self.thread.suppressed = True
        self.sink.writes = []
        try:
            value = function()
            return value, list(self.sink.writes)
        finally:
            self.sink.writes = None
            self.thread.suppressed = False

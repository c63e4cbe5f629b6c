"""The stepper of agdbg's own engine: it runs passes node by node where somebody wants to stop, and stops."""

import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from agdbg.agent.agent import GO_ON, Agent, Command
from agdbg.agent.control import ALONE, Settings
from agdbg.agent.hits import Verdict
from agdbg.agent.reason import STEP, Reason, message
from agdbg.engines.native_arrival import Arrivals
from agdbg.engines.native_devices import settle
from agdbg.engines.native_errors import filters_for, raised_by_engine
from agdbg.engines.native_events import Happening
from agdbg.engines.native_match import Matcher
from agdbg.engines.native_names import Names
from agdbg.engines.native_pdb import Handover, functions_of
from agdbg.engines.native_scene import NativeScene
from agdbg.engines.native_spot import NativeSpot
from agdbg.engines.native_stops import Stops
from agdbg.engines.native_until import Target
from agdbg.engines.native_walk import Walk
from agdbg.error_text import class_name, error_text
from agdbg_engine.backward import BackwardPass
from agdbg_engine.errors import Details, details_of
from agdbg_engine.node import Node
from agdbg_engine.sites import INTERNAL, where
from agdbg_engine.tensor import Tensor

if TYPE_CHECKING:
    from agdbg.engines.native import NativeSink

ALL_ERRORS = "any"


class Stepping(threading.local):
    """How the running thread goes on.

    ``next`` stops at the next node of ``within``, ``in`` at the next event at all, ``out`` at the end of ``within``,
    ``pass`` at the start of the next pass, ``until`` at ``target``, ``continue`` at a breakpoint. ``within`` is None in the
    program's forward code. ``turn`` counts how often that was said. ``lines`` are those with breakpoints on which nodes
    were built, by these, and ``on_line`` the one of the last node. ``hit`` is what the breakpoints said of a node that was just
    built, if they were asked already. ``is_met`` says that the hub knows the thread.
    """

    def __init__(self) -> None:
        self.mode = "continue"
        self.turn = 0
        self.within: Walk | None = None
        self.target: Target | None = None
        self.handover: Handover | None = None
        self.walks: list[Walk] = []
        self.suppressed = False
        self.lines: dict[tuple[int, ...], Arrivals] = {}
        self.on_line: Arrivals | None = None
        self.hit: Verdict | None = None
        self.is_met = False

    def turn_to(self, line: Arrivals | None) -> None:
        """The last node was built on this line, of those with breakpoints; None: on another one."""
        if self.on_line is not line and self.on_line is not None:
            self.on_line.leave()
        self.on_line = line

    def is_due(self, walk: "Walk | None") -> bool:
        """True when a step ends at the next node of ``walk``."""
        if self.mode == "in":
            return True
        return self.mode == "next" and (self.within is walk or self.within not in self.walks)


class Driver:
    """Stops the engine where the agent's settings say.

    Attributes:
        stops: what stops a thread, and where.
        passes_over: how many passes, without those inside of passes, have ended so far: what conditions call ``step``.
        expected: the control block's first word, as long as nobody wants to stop where nodes are built:
            :meth:`born` is to be called for each node while the two differ.
        sifted: the control block's first word, as long as only the nodes that :func:`~agdbg.engines.native_sieve.sieve`
            lets through are to be looked at.
    """

    def __init__(self, agent: Agent, sink: "NativeSink") -> None:
        self.agent = agent
        self.sink = sink
        self.thread = Stepping()
        self._steppers: set[int] = set()
        self.expected = self.sifted = -1
        self.passes_over = 0
        self._known_error: tuple[int, str] = 0, ""
        self.stops = Stops(self)
        INTERNAL.update(str(file) for file in Path(__file__).resolve().parents[1].rglob("*.py"))
        agent.internal = frozenset(INTERNAL)
        agent.on_change(self._changed)

    def _changed(self, settings: Settings) -> None:
        self.stops.take(settings)
        self._watch_births()

    @property
    def matcher(self) -> Matcher:
        """The breakpoints on names and lines that hold now."""
        return self.stops.matcher

    @property
    def names(self) -> Names:
        """What things are called."""
        return self.stops.names

    def _watch_births(self) -> None:
        every = bool(self._steppers) or self.agent.wants_pause
        births = (every or self.stops.at_births) and not self.agent.gone
        self.expected = -1 if births else self.agent.seen
        self.sifted = -1 if every or not births else self.agent.seen

    def walks(self) -> list[Walk]:
        """The passes that run in this thread, the innermost first."""
        return self.thread.walks[::-1]

    # ----- events of the engine -----

    def drive(self, bp: BackwardPass) -> None:
        """Run the nodes of a pass, with stops."""
        thread = self.thread
        if thread.suppressed or self.agent.gone:
            return
        if not thread.is_met:
            thread.is_met = self.agent.meet(self.sink.ordinal.number)
        walk = Walk(self, bp)
        thread.walks.append(walk)
        try:
            walk.run()
        finally:
            thread.walks.remove(walk)
            walk.frames = None  # which would keep what the program has in memory
            if not thread.walks:
                self.passes_over += 1
                self.stops.waiting.pass_over()
            if thread.within is walk:  # which would keep the graph alive
                thread.within = None

    def born(self, node: Node, out: Tensor) -> None:
        """A node was built by the program's forward code, which made ``out``."""
        hit, self.thread.hit = self.thread.hit, None
        self.agent.look()
        if node.leaf or self.is_deaf():
            return
        reason = self._reason_at_birth(node, out, hit)
        if reason is not None:
            self._go_on(self.stop(NativeScene(self, self._birth(node, reason), node=node)), node)

    def is_deaf(self) -> bool:
        """Whether nothing that is built now is looked at: a pass builds it, or an expression at a stop."""
        thread = self.thread
        return thread.suppressed or bool(thread.walks) or self.agent.gone

    def _reason_at_birth(self, node: Node, out: Tensor, hit: Verdict | None) -> Reason | None:
        reason = self.stops.born(node, out, self._line(node), hit) if self.stops.at_births else None
        if reason is not None:
            return reason
        if self.agent.takes_pause():
            return Reason("pause")
        is_there = self.thread.target is not None and self.thread.target.is_born(node)
        return STEP if is_there or self.thread.is_due(None) else None

    def _line(self, node: Node) -> list[int]:
        """The breakpoints on the line, when the program has come to the line with this node."""
        found = self.matcher.source(node.code, node.lasti, "forward")
        thread = self.thread
        here = thread.lines.setdefault(tuple(found), Arrivals()) if found else None
        thread.turn_to(here)
        return found if here is not None and here.is_new(node) else []

    def _birth(self, node: Node, reason: Reason) -> dict[str, Any]:
        line = where(node.code, node.lasti).line
        return message(reason, "born", f"forward, line {line} built {node.op_name}", node=node.tag)

    def raised(self, error: BaseException, details: Details) -> None:
        """The engine is about to raise ``error``, or one that passed through it."""
        thread, wanted = self.thread, self.agent.settings.exceptions
        if thread.suppressed or self.agent.gone or not wanted:
            return
        self._known_error = _identity(error)
        names = filters_for(error, details.kind)
        filters = [name for name in (*names, ALL_ERRORS) if name in wanted]
        walk = thread.walks[-1] if thread.walks else None
        if not filters or (walk is not None and walk.announced == (details.kind, details.node)):
            return
        kind = names[0] if names else details.kind
        text = error_text(error)
        spot = NativeSpot(self, details.node, walk, kind, {"error": error, "text": text}, trace=error.__traceback__)
        verdicts = [found for name in filters if (found := self.stops.lets_through(name, spot)) is not None]
        if not verdicts:
            return
        told = {"kind": kind, "text": text, "predicted": False, "node": self._number(details.node)}
        reason = Reason("exception", error=told, note="; ".join(found.note for found in verdicts if found.note))
        words = f"{class_name(error)} is about to be raised: {kind} (post-mortem)"
        self._stop_inside(reason, "raise", words, details.node, walk, trace=error.__traceback__)

    def uncaught(self, error: BaseException) -> None:
        """Nobody has caught ``error``, which ends the program or a thread: stop, unless it was stopped at when it was raised."""
        self.agent.look()
        wanted, details = self.agent.settings.exceptions, details_of(error)
        if self.agent.gone or not wanted or self._known_error == _identity(error) or not isinstance(error, Exception):
            return
        names = filters_for(error, details.kind)
        if not raised_by_engine(error) and "hook-error" not in names:
            return
        kind, text, trace = names[0] if names else "other", error_text(error), error.__traceback__
        spot = NativeSpot(self, None, None, kind, {"error": error, "text": text}, trace=trace)
        filters = [name for name in (*names, ALL_ERRORS) if name in wanted]
        if not any(self.stops.lets_through(name, spot) is not None for name in filters):
            return
        told = {"kind": kind, "text": text, "predicted": False, "node": 0}
        words = f"{class_name(error)} was not caught: {kind} (post-mortem: its frames have ended)"
        stop = message(Reason("exception", error=told), "raise", words)
        self.stop(NativeScene(self, stop, inside=True, trace=trace, has_ended=True))

    def stop_at_event(self, reason: Reason, happening: Happening, walk: Walk | None) -> None:
        """Stop where something has happened, which is what the note of the reason says."""
        node = happening.node
        facts = {**happening.facts, "kind": happening.kind}
        elsewhere = walk is None and happening.is_elsewhere
        self._stop_inside(
            Reason(reason.name, reason.breakpoints), "event", reason.note, node, walk, facts, None, elsewhere
        )

    def stop_here(self, text: str) -> bool:
        """Stop since the program asks for it, unless something is evaluated at a stop; False: no client has joined."""
        if self.thread.suppressed:
            return True
        walk = self.thread.walks[-1] if self.thread.walks else None
        return self._stop_inside(Reason("breakpoint"), "event", text, None, walk).how != ALONE

    def _stop_inside(
        self,
        reason: Reason,
        place: str,
        text: str,
        node: Node | None,
        walk: Walk | None,
        facts: dict[str, Any] | None = None,
        trace: TracebackType | None = None,
        elsewhere: bool = False,
    ) -> Command:
        number = self._number(node)
        if walk is None:
            stop = message(reason, place, text, node=number, elsewhere=elsewhere)
        else:
            stop = walk.message(reason, place, description=text)
            stop |= {"node": number, "running": walk.number()} if number not in (0, walk.number()) else {}
        command = self.stop(NativeScene(self, stop, walk, node, inside=True, facts=facts, trace=trace))
        self._go_on(command)
        return command

    def _number(self, node: Node | None) -> int:
        """The number of a node; 0 for none, and for the context of a custom Function that is no node yet."""
        if node is None or (node.user_code and not hasattr(node, "tag")):
            return 0
        return self.sink.number(node)

    # ----- stopping -----

    def stop(self, scene: NativeScene) -> Command:
        """Stop the running thread; whatever goes wrong, the program goes on."""
        if self.agent.gone:
            return GO_ON
        if self.thread.handover is not None:
            self.thread.handover.end()
        try:
            with self.sink.standing.here():
                settle()
                self.sink.recorder.flush()
                command = self.agent.stop(scene, self.sink.ordinal.number)
            self.agent.look()  # breakpoints on events that were set at the stop hold from here on
            return command
        except Exception as error:
            self.agent.fail(error)
            return GO_ON

    def go_on(self, command: Command, within: "Walk | None", start: Node | None = None) -> None:
        """Go on as a stop was told to; ``start`` is the node that was just built, where that was the stop."""
        how = command.how
        if how == "until":
            self.resume(how, within, Target(command.node, command.file, command.line, start))
        elif how == "pdb":
            self._hand_over(within)
        elif how == "out":
            self.resume("pass" if within is None else how, within)
        else:
            self.resume(how if how in ("next", "in") else "continue", within)

    def _hand_over(self, within: "Walk | None") -> None:
        """Enter pdb at the first line of a function of the program that the next node of ``within`` calls."""
        node = None if within is None else within.next_node()
        self.resume("next" if within is None or not within.is_inside else "in", within)
        if node is not None:
            self.thread.handover = Handover(functions_of(node), self.sink.standing.here)
            self.thread.handover.begin()

    def resume(self, mode: str, within: "Walk | None", target: Target | None = None) -> None:
        """Go on in this way."""
        self.thread.mode, self.thread.within, self.thread.target = mode, within, target
        self.thread.turn += 1
        if mode in ("next", "in", "until"):
            self._steppers.add(threading.get_ident())
        else:
            self._steppers.discard(threading.get_ident())
        self._watch_births()

    def _go_on(self, command: Command, start: Node | None = None) -> None:
        """Go on from a stop that is not a place in a pass."""
        self.go_on(command, self.thread.walks[-1] if self.thread.walks else None, start)

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


def _identity(error: BaseException) -> tuple[int, str]:
    """What an error is known by for as long as it is on its way; it is not held, since it holds all its frames."""
    return id(error), error_text(error)

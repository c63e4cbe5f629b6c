"""One pass of the engine under the stepper: where it stops, how it goes on, how it goes back."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from time import perf_counter
from types import FrameType
from typing import TYPE_CHECKING, Any

from agdbg.agent.agent import Command, Impossible
from agdbg.agent.reason import STEP, Reason, message
from agdbg.counted import counted
from agdbg.engines.native_scene import NativeScene, unpacking
from agdbg.engines.native_spot import NativeSpot
from agdbg.engines.native_until import Target
from agdbg_engine import events, noting
from agdbg_engine.backward import Abandoned, BackwardPass
from agdbg_engine.interventions import retain
from agdbg_engine.journal import Journal, runs_user_code
from agdbg_engine.node import Node
from agdbg_engine.saved import first_refusal

if TYPE_CHECKING:
    from agdbg.engines.native_driver import Driver

_LOOK_S = 0.002
"""The time between two looks at the settings while nodes run without stops."""
_MOST_AT_ONCE = 4096
_BACK = ("back", "reverse")


class Walk:
    """A pass that is driven.

    Attributes:
        journal: what can be undone; None while nodes run unnoted.
        announced: ``(kind, node)`` of an error that was foreseen, and told already.
        is_inside: it stands in the middle of a node.
        judged: the position at which it was last asked what stops here; -1 for none.
        frames: the user's, which stay where they are between the nodes of the pass; None until they are asked for, and in the end.
    """

    def __init__(self, driver: "Driver", bp: BackwardPass) -> None:
        self.driver = driver
        self.bp = bp
        self.journal = bp.noted
        self.announced: tuple[str, Node | None] | None = None
        self.is_inside = False
        self.judged = -1
        self.frames: list[tuple[FrameType, int]] | None = None
        self._visited: set[int] = set()
        self._stops: dict[int, list[int]] = {}
        self._ordered: list[int] = []
        self._calling: list[int] | None = None
        self._planned = -1, 0
        self._found: Reason | None = None
        self._by_number: dict[int, Node] = {}
        self._places: dict[Node, int] = {}
        self._until_of: Target | None = None
        self._until_at: list[int] = []

    # ----- forward -----

    def run(self) -> None:
        """Run the pass to its end, unless the stepper is given up on the way: the engine runs the rest then."""
        reason = self._guarded(self._at_start)
        while not self.driver.agent.gone:
            reason = reason or self._guarded(self._here)
            if reason is not None:
                self._stop(reason)
            if self._is_over():
                return
            self._move()
            reason = None

    def _is_over(self) -> bool:
        return self.bp.position >= len(self.bp.order)

    def _guarded(self, function: Callable[..., Reason | None], *args: Any) -> Reason | None:
        """Our own mistakes are not the program's: the stepper is given up."""
        try:
            found = function(*args)
        except Exception as error:
            self.driver.agent.fail(error)
            return None
        return found

    def _plan(self) -> Reason | None:
        """Note where the breakpoints are, again when they have changed."""
        agent = self.driver.agent
        agent.look()
        stops = self.driver.stops
        for_step = self.driver.passes_over if stops.early.use_step else 0
        if self._planned != (agent.seen, for_step):
            self._planned = agent.seen, for_step
            self._stops = stops.in_pass(self.bp)
            self._ordered = sorted(self._stops)
        return None

    def _is_outdated(self) -> bool:
        """Whether another pass has ended since, and breakpoints ask how many have."""
        return self.driver.stops.early.use_step and self._planned[1] != self.driver.passes_over

    def _at_start(self) -> Reason | None:
        self._plan()
        if self.journal is None and (self._stops or self._until() or self.driver.stops.every):
            self.journal = Journal(self.bp)
        foreseen = self._foreseen()
        entry = self.driver.agent.takes_entry()
        is_due = self.driver.thread.mode == "pass"
        if foreseen is None and not is_due and not entry:
            return None
        here = self.driver.stops.look(self, self._stops.get(0, [])) or STEP
        name = "exception" if foreseen is not None else here.name if is_due else "entry"
        return Reason(name, here.breakpoints, foreseen or here.error, here.note)

    def _foreseen(self) -> dict[str, Any] | None:
        """An error that will come for sure: what a node saved is freed, or was modified."""
        wanted = self.driver.agent.settings.exceptions
        if not {"backward-twice", "inplace-modified", "any"}.intersection(wanted):
            return None
        refusal = first_refusal(self.bp.running())
        kind = "" if refusal is None else "backward-twice" if refusal.freed is not None else "inplace-modified"
        if refusal is None or not (kind in wanted or "any" in wanted):
            return None
        self.announced = (kind, refusal.node)
        spot = NativeSpot(self.driver, refusal.node, self, kind)
        if all(self.driver.stops.lets_through(name, spot) is None for name in (kind, "any") if name in wanted):
            return None
        error = self.driver.sink.foresee(refusal, self.bp)
        number = self.driver.sink.number(refusal.node)
        return {"kind": kind, "text": f"{type(error).__name__}: {error}", "predicted": True, "node": number}

    def _here(self) -> Reason | None:
        """Why to stop before the next node, or at the end; None: go on."""
        self._plan()
        reason, self._found = self._found, None
        reason = reason or self.driver.stops.look(self, self._stops.get(self.bp.position, []))
        if reason is not None:
            return reason
        thread = self.driver.thread
        if self._is_over():
            ends = thread.is_due(self) or (thread.mode == "out" and thread.within is self)
            return STEP if ends else None
        if self.driver.agent.takes_pause():
            return Reason("pause")
        return STEP if thread.is_due(self) or self.bp.position in self._until() else None

    def _until(self) -> list[int]:
        """The positions in this pass up to which the thread is to run, if it is to run to some place."""
        target = self.driver.thread.target
        if target is None:
            return []
        if self._until_of is not target:
            self._until_of, self._until_at = target, target.positions(self)
        return self._until_at

    def _stop(self, reason: Reason) -> None:
        """Stop, go back as often as asked for, and set how to go on."""
        if self.journal is None:
            self.journal = Journal(self.bp)
        while True:
            self._visited.add(self.bp.position)
            place = "end" if self._is_over() else "before"
            command = self.driver.stop(NativeScene(self.driver, self.message(reason, place), self, self.next_node()))
            if command.how == "skip":
                self.journal.skip()
            elif command.how in _BACK:
                self._go_back(command)
            else:
                self._go_on(command)
                return
            reason = STEP

    def _go_on(self, command: Command) -> None:
        within: Walk | None = self
        if self._is_over():
            walks = self.driver.thread.walks
            within = walks[-2] if len(walks) > 1 else None
        self.driver.go_on(command, within)

    def _move(self) -> None:
        """Run nodes: one, or all to the next place where a stop is possible."""
        thread = self.driver.thread
        if self.journal is not None and thread.mode == "in":
            self._step_in(self.journal)
        elif self.journal is not None and (thread.is_due(self) or self.journal.has_replaced):
            self.journal.step()
        else:
            self._run_on()

    def _step_in(self, journal: Journal) -> None:
        try:
            journal.step(self._in_parts)
        except Abandoned:
            journal.undo(force=True)  # of its functions some may have been called, which are called again
            self.driver.resume("next", self)  # which stops before the node once more

    def _in_parts(self, node: Node) -> None:
        self.bp.run_in_parts(node, self._before_part)

    def _before_part(self, phase: str) -> None:
        thread = self.driver.thread
        if thread.mode != "in" or thread.suppressed:  # what is evaluated at a stop may unpack as well
            return
        node = self.next_node()
        self.is_inside = True
        try:
            stop = self.message(STEP, "inside", phase=phase)
            hook = next((each for each in unpacking(node) if each["kind"] == phase), None) if node is not None else None
            stop |= {} if hook is None else {"hook": hook}
            command = self.driver.stop(NativeScene(self.driver, stop, self, node, inside=True))
            if command.how in _BACK:
                raise Abandoned
            self._go_on(command)
        finally:
            self.is_inside = False

    def inside(self, node: Node) -> tuple[list[Any], Sequence[Any] | None] | None:
        """The gradients that came in at a node in whose middle the pass is, and those that it gives; None when it is not."""
        return self.bp.inside if self.bp.inside is not None and self.next_node() is node else None

    def _run_on(self) -> None:
        """Run to the next breakpoint or to the end, looking at the settings now and then."""
        self._guarded(self._plan)  # breakpoints may have been set at the stop
        self.judged = self.bp.position  # the thread leaves this place
        bp, thread, stops = self.bp, self.driver.thread, self.driver.stops
        if stops.every and self.journal is None:
            self.journal = Journal(bp)
        end = bp.position + 1 if stops.one_by_one else self._last_stop()
        ends_here = thread.mode == "out" and thread.within is self
        has_to = stops.every or end < len(bp.order) or ends_here or bp.noted is not None
        if self.journal is not None and has_to:
            journal, before = self.journal, stops.before(self)
            where = None if stops.looks_everywhere else self._stops
            self._run_many(end, lambda count: journal.advance(count, before, where))
            return
        self.journal = None  # what runs unnoted cannot be undone, and nor can what ran before it
        if stops.stops_inside:
            before = stops.before(self)
            self._run_many(end, lambda count: bp.advance(count, noting.unnoted(bp, before), whole=True))
        else:
            self._run_many(end, bp.advance)

    def _last_stop(self) -> int:
        """The position up to which nodes run in a row: that of the last breakpoint in the pass, since those on the way are judged
        there, or the one that is asked for; the end of the pass if there is neither.
        """
        ahead = [p for p in self._ordered[-1:] if p > self.bp.position]
        return min([*ahead, *(p for p in self._until() if p > self.bp.position)], default=len(self.bp.order))

    @property
    def stops(self) -> Mapping[int, list[int]]:
        """The breakpoints in the pass by position."""
        return self._stops

    def judge(self) -> None:
        """Ask the breakpoints at the next of several nodes that run in a row, and abandon it if they want to stop."""
        position = self.bp.position
        numbers = self._stops.get(position)
        if numbers is None or self.judged == position:
            return
        self._found = self.bp.outside(self._guarded, self.driver.stops.judge, self, numbers)
        if self._found is not None or self.driver.agent.gone:
            raise Abandoned

    def _run_many(self, end: int, advance: Callable[[int], object]) -> None:
        """Nodes that call the program run alone: it may start a pass, where a person says how this one is to go on as well."""
        agent, bp, count = self.driver.agent, self.bp, 16
        thread, turn = self.driver.thread, self.driver.thread.turn
        while bp.position < end and agent.words[0] == agent.seen and thread.turn == turn:
            calling, position = self._next_calling(), bp.position
            began = perf_counter()
            asked = max(1, min(count, end - position, calling - position))
            with suppress(Abandoned), self._told(position == calling):
                advance(asked)
            if bp.position - position < asked or self._is_outdated():  # something wants to be looked at
                return
            took = perf_counter() - began
            count = max(1, min(_MOST_AT_ONCE, int(count * min(4.0, _LOOK_S / max(took, 1e-7)))))

    def _told(self, calls: bool) -> AbstractContextManager[None]:
        """While a node runs that calls functions of the program, and so may take long, let the hub know which."""
        node = self.next_node()
        if not calls or node is None:
            return nullcontext()
        return self.driver.agent.running(f"{node.op_name} #{self.number()}, which calls {_called(node)}")

    def _next_calling(self) -> int:
        """The next position of a node that may call functions of the program, or behind the pass."""
        if self._calling is None:
            self._calling = [i for i, node in enumerate(self.bp.order) if node.hooks is not None or node.user_code]
        place = bisect_left(self._calling, self.bp.position)
        return self._calling[place] if place < len(self._calling) else len(self.bp.order)

    # ----- back -----

    def check_back(self, command: Command) -> None:
        """Raise :class:`Impossible` when the last node cannot be undone."""
        if not self.journal:
            raise Impossible(
                "nothing before this is journalled: the recording can be looked at, but not run again", "beyond"
            )
        node = self.journal.barrier()
        if node is not None and not command.force:
            but = ", but for their backward passes" if self.journal.undoes_passes() else ""
            raise Impossible(
                f"{node.op_name} called {_called(node)} of the program: what they did is not taken back{but}; "
                "step back all the same?",
                "barrier",
            )

    def _go_back(self, command: Command) -> None:
        journal = self.journal
        assert journal is not None
        journal.undo(force=True)  # check_back has asked
        if command.how == "reverse":
            while journal and self.bp.position not in self._visited and not self._would_stop():
                if journal.barrier() is not None and not command.force:
                    break
                journal.undo(force=True)
        self.judged = -1  # what runs again is hit again

    def _would_stop(self) -> bool:
        return self.driver.stops.would_stop(self, self._stops.get(self.bp.position, []))

    # ----- what it shows -----

    def next_node(self) -> Node | None:
        """The node that runs next."""
        return None if self._is_over() else self.bp.order[self.bp.position]

    def number(self) -> int:
        """The number of the node that runs next; 0 at the end."""
        node = self.next_node()
        return 0 if node is None else self.driver.sink.number(node)

    def node(self, number: int) -> Node | None:
        """The node of the pass with this number."""
        if not self._by_number:
            self._by_number = {self.driver.sink.number(node): node for node in self.bp.order}
        return self._by_number.get(number)

    def has_run(self, node: Node) -> bool:
        """True when the pass is past a node of it."""
        return self._place(node) < self.bp.position

    def place_of(self, number: int) -> int | None:
        """Where in the order of the pass the node with this number is."""
        node = self.node(number)
        return None if node is None else self._place(node)

    def _place(self, node: Node) -> int:
        if not self._places:
            self._places = {each: place for place, each in enumerate(self.bp.order)}
        return self._places[node]

    def replace(self, node: Node, output: int, array: Any) -> None:
        """Replace a gradient that comes in at the next node."""
        self.bp.replace(node, output, array)
        if events.sink is not None:
            events.sink.gradient_replaced(self.bp, node, output)
        self.driver.sink.recorder.flush()

    def replace_saved(self, node: Node, slot: str, array: Any) -> None:
        """Replace a saved tensor of the next node for its next run."""
        assert self.journal is not None  # every stop has one
        self.journal.replace_saved(slot, array)
        if events.sink is not None:
            events.sink.saved_replaced(self.bp, node, node.slots.index(slot))
        self.driver.sink.recorder.flush()

    def retain(self) -> list[Node]:
        """Free nothing more in this pass; return the nodes that are freed already."""
        freed = retain(self.bp)
        self.driver.sink.recorder.flush()
        return freed

    def message(self, reason: Reason, place: str, *, phase: str = "", description: str = "") -> dict[str, Any]:
        """The message of a stop in this pass."""
        bp, walks = self.bp, self.driver.walks()
        around = walks[walks.index(self) + 1 :] if len(walks) > 1 else ()
        outer = [{"pass": w.bp.tag, "position": w.bp.position, "node": w.number()} for w in around]
        return message(
            reason,
            place,
            description or self._described(place, phase),
            **{"pass": bp.tag},
            position=bp.position,
            planned=len(bp.order),
            node=self.number(),
            phase=phase,
            outer=outer,
            undo=len(self.journal or ()),
        )

    def _described(self, place: str, phase: str) -> str:
        node, total = self.next_node(), len(self.bp.order)
        if node is None or place == "end":
            return f"{self.bp.call}() has run its {counted(total, 'node')} and is about to return"
        where = f"in {node.op_name} ({phase})" if phase else f"before {node.op_name}"
        hooks = f", which calls {_called(node)}" if runs_user_code(node) and not phase else ""
        return f"{where}, node {self.bp.position + 1:,} of {total:,} of {self.bp.call}(){hooks}"


def _called(node: Node) -> str:
    """What of the program is called when ``node`` runs, which does call something."""
    inner = getattr(node, "inner", node)  # of a write through a view
    return "functions" if inner.user_code else "hooks"

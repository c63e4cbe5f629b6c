"""Where the agent's settings stop a thread of the engine: at births, between the nodes of a pass, at events, at errors."""

import weakref
from collections.abc import Callable, Iterable
from types import CodeType
from typing import TYPE_CHECKING, Any

from agdbg.agent.control import FilterStop, Settings
from agdbg.agent.hits import NOTHING, Hits, Verdict
from agdbg.agent.reason import Reason
from agdbg.engines.native_early import EarlyTests
from agdbg.engines.native_events import AT_BIRTH, IN_PASSES, EventStops, Happening, at_birth, in_pass
from agdbg.engines.native_finite import FILTERS, Finite
from agdbg.engines.native_match import WHEN, Matcher, leaves_of
from agdbg.engines.native_names import Names, models
from agdbg.engines.native_quick import looking
from agdbg.engines.native_spot import NativeSpot
from agdbg.engines.native_waiting import Waiting
from agdbg.engines.native_watch import Watches
from agdbg_engine import events as engine_events
from agdbg_engine.backward import Abandoned, BackwardPass
from agdbg_engine.nn.module import Module
from agdbg_engine.node import AccumulateGrad, Node
from agdbg_engine.sites import where
from agdbg_engine.tensor import Tensor

if TYPE_CHECKING:
    from agdbg.engines.native_driver import Driver
    from agdbg.engines.native_walk import Walk

_WATCH, _SILENT = "data breakpoint", "silent-change"


def _nothing_coming(tensor: Tensor, op: str, code: CodeType, lasti: int) -> None:
    """Nobody wants to know."""


def nothing(node: Node) -> None:
    """Nothing to look at before a node runs."""


class _Found:
    """What a thread is to stop for, gathered from all that may stop it here."""

    def __init__(self) -> None:
        self.name = "breakpoint"
        self.numbers: list[int] = []
        self.notes: list[str] = []
        self.error: dict[str, Any] | None = None

    def add(self, verdict: Verdict, text: str = "", name: str = "") -> None:
        """The breakpoints of a verdict, if it has any, and what there is to say about them."""
        if verdict.stops:
            self.numbers += [number for number in verdict.stops if number not in self.numbers]
            self.notes += [note for note in (text, verdict.note) if note]
            self.name = name or self.name

    def fail(self, error: dict[str, Any] | None, verdict: Verdict | None) -> None:
        """An error, which its filter lets through if there is a verdict."""
        if error is not None and verdict is not None and self.error is None:
            self.error = error
            self.notes += [note for note in (verdict.note,) if note]

    def reason(self) -> Reason | None:
        """Why to stop; ``None`` for no reason."""
        if self.error is None and not self.numbers:
            return None
        note = "; ".join(self.notes)
        if self.error is not None:
            text = "; ".join(part for part in (str(self.error["text"]), note) if part)
            return Reason("exception", self.numbers, self.error, text)
        return Reason(self.name, self.numbers, note=note)


class Stops:
    """All that may stop a thread, and the hits of it so far.

    Attributes:
        matcher: the breakpoints on names and lines that hold now.
        names: what things are called.
        watches: the watched memory.
        waiting: the breakpoints on names and lines that nothing has met so far.
        every: whether every node of a pass is to be looked at.
        one_by_one: whether they must run one by one for that.
        at_births: whether a look at nodes that are built is wanted.
        sees_all_births: whether at all of them.
        early: what can be said before a thread has come by.
    """

    def __init__(self, driver: "Driver") -> None:
        self._driver = driver
        self.names = Names(driver.sink)
        self.watches = Watches(driver.sink, self.names)
        self.waiting = Waiting(self._tell, lambda: bool(driver.thread.walks), self.watches.is_called)
        self.every = self.one_by_one = self.at_births = self._looks_at_births = self.sees_all_births = False
        self._read(Settings())
        self._told_of_writes = False
        self._events = EventStops(driver.sink, self.names, self._happened, driver.agent.fail)
        self._hits = Hits()
        self._finite: Finite | None = None
        self._filters: dict[str, FilterStop] = {}
        self._wanted: frozenset[str] = frozenset()
        self._without_grad: weakref.WeakKeyDictionary[Module, set[str]] = weakref.WeakKeyDictionary()

    def take(self, settings: Settings) -> None:
        """These are the settings now."""
        self._hits.take(settings)
        self._read(settings)
        self.names.forget_recorded()
        self.watches.take(settings.watches)
        self._events.take(settings.events, bool(self.watches))
        self._tell_of_writes(bool(self.watches))
        self._filters = {each.name: each for each in settings.filters}
        self._wanted = frozenset(settings.exceptions)
        looked_for = FILTERS & self._wanted
        known = self._finite.since if self._finite is not None else {}
        since = {kind: known.get(kind) or self._driver.sink.next_number() for kind in looked_for}
        self._finite = Finite(looked_for, self._finite, since) if looked_for else None
        looks = self._finite is not None or bool(self.watches)
        self.one_by_one = self._events.any_of(IN_PASSES)
        self.every = self.one_by_one or looks
        self.sees_all_births = self._events.any_of(AT_BIRTH)
        self._looks_at_births = looks or self.sees_all_births
        self.at_births = self._looks_at_births or bool(self.matcher)

    def _tell_of_writes(self, wanted: bool) -> None:
        """Let the engine say before a write that it is coming, while memory is watched, or no longer."""
        if wanted == self._told_of_writes:
            return
        self._told_of_writes = wanted
        # As other closures of the sink: what is not wanted costs the engine one empty call.
        self._driver.sink.write_coming = self._write_coming if wanted else _nothing_coming  # type: ignore[method-assign]
        engine_events.use(engine_events.WRITES, 1 if wanted else -1)

    def _read(self, settings: Settings) -> None:
        self.waiting.take(settings)
        number, met = self._driver.sink.number, self.waiting.met
        self.matcher = Matcher(settings, self.names.of_node, number, self.names.paths, met)
        self.early = EarlyTests(settings, self._driver)

    @property
    def asks_for_modules(self) -> bool:
        """Whether the module in which a node is built matters to a breakpoint."""
        if not self.names.paths():
            return False
        return self.early.use_modules or any(self.matcher.means_modules(when) for when in WHEN)

    @property
    def looks_at_values(self) -> bool:
        """Whether what nodes make is looked at."""
        return self._finite is not None

    def comes_to_line(self, node: Node, out: Tensor) -> bool:
        """Whether ``node`` is on a line with a breakpoint; what is on none ends the visit to one."""
        if self.matcher.source(node.code, node.lasti, "forward"):
            return True
        thread = self._driver.thread
        if thread.on_line is not None and not thread.suppressed and not thread.walks:
            thread.turn_to(None)
        return False

    # ----- judging -----

    def _judge(self, numbers: list[int], spot: NativeSpot) -> Verdict:
        return self._hits.judge(numbers, spot, self._tell) if numbers else NOTHING

    def _tell(self, message: dict[str, Any]) -> None:
        self._driver.agent.tell(message, self._driver.sink.ordinal.number)

    def lets_through(self, name: str, spot: NativeSpot) -> Verdict | None:
        """What the conditions of a filter say, if it is on; ``None`` when they say no."""
        rule = self._filters.get(name)
        if rule is None:
            return NOTHING
        verdict = self._judge([rule.id], spot)
        return verdict if verdict.stops else None

    def would_stop(self, walk: "Walk", numbers: Iterable[int]) -> bool:
        """Whether going back ends before the next node of a pass: nothing is counted or told."""
        return self._hits.would_stop(numbers, NativeSpot(self._driver, walk.next_node(), walk, "before"))

    # ----- at a birth -----

    def hits(self, node: Node, numbers: list[int]) -> bool:
        """Whether one of the breakpoints, which are all that there may be at ``node``, stops where it was just built; they are not
        judged again in :meth:`born`.
        """
        driver = self._driver
        if driver.is_deaf():
            return False
        verdict = self._judge(numbers, NativeSpot(driver, node, None, "born"))
        driver.thread.hit = verdict if verdict.stops else None
        return bool(verdict.stops)

    def born(self, node: Node, out: Tensor, lines: list[int], hit: Verdict | None) -> Reason | None:
        """Why to stop where forward code has just built ``node``, which has come to the breakpoints ``lines``; ``hit`` is what
        :meth:`hits` has found.
        """
        driver, numbers = self._driver, lines
        if hit is not None:
            return Reason("breakpoint", hit.stops, note=hit.note)
        if self.matcher.has_names:
            if self.asks_for_modules:
                self.names.born(node)
            numbers = [*self.matcher.functions(node, "forward"), *lines]
        numbers = self.early.left(numbers, node, "born") if self.early else numbers
        if not numbers and not self._looks_at_births:
            return None
        verdict = self._judge(numbers, NativeSpot(driver, node, None, "born"))
        if not verdict.stops and not self._looks_at_births:
            return None
        found = _Found()
        found.add(verdict)
        if self._events.any_of(AT_BIRTH):
            for each in at_birth(node, out):
                found.add(self._judged(each, None), _in_words(each))
        if self._finite is not None:
            error = self._finite.born(node, out)
            if error is not None:
                found.fail(error, self.lets_through(error["kind"], NativeSpot(driver, node, None, error["kind"])))
        self._look_at_memory(found, None, node)
        return found.reason()

    # ----- between the nodes of a pass -----

    def in_pass(self, bp: BackwardPass) -> dict[int, list[int]]:
        """The breakpoints on names and lines that may stop a pass, by position."""
        means_leaves = self.matcher.means_leaves
        leaves = leaves_of(bp.order) if means_leaves or self.matcher.has_names or self._events.of("accumulate") else []
        if means_leaves or self._events.of("accumulate"):
            self.names.look_at_variables((leaf for _, leaf in leaves), bp.order)
        return self.early.stops(self.matcher.stops(bp, leaves), bp.order)

    @property
    def stops_inside(self) -> bool:
        """Whether something may stop a thread in the middle of a node of a pass."""
        return bool(self.watches) or bool(self._events)

    @property
    def looks_everywhere(self) -> bool:
        """Whether what :meth:`before` gives has something to do at nodes without breakpoints."""
        return self._finite is not None or self.stops_inside

    def before(self, walk: "Walk") -> Callable[[Node], object]:
        """What is to be called before each of several nodes of a pass that run in a row: it raises
        :class:`~agdbg_engine.backward.Abandoned` where the thread is to stop, or to :meth:`look` first.
        """
        look = None if self._finite is None else looking(self._finite, walk.bp)
        if not self.stops_inside:
            return _before_plain(walk, look) if walk.stops else look or nothing
        thread, turn = self._driver.thread, self._driver.thread.turn
        bp, stops, judge = walk.bp, walk.stops, walk.judge
        is_quiet = self.watches.is_quiet if self.watches else None

        def before(node: Node) -> None:
            if thread.turn != turn:  # in the node before this a person said how to go on
                raise Abandoned
            if look is not None:
                look(node)
            if is_quiet is not None and not is_quiet(node, True) and bp.position != walk.judged:
                raise Abandoned
            if bp.position in stops:
                judge()

        return before

    def look(self, walk: "Walk", numbers: list[int]) -> Reason | None:
        """Why to stop before the next node of a pass, or at its end; ``numbers`` are the breakpoints on that node.

        Asked again at the same place it says nothing: a hit is counted once.
        """
        if walk.judged == walk.bp.position:
            return None
        walk.judged = walk.bp.position
        found, node = _Found(), walk.next_node()
        if self._finite is not None:
            self._look_at_gradients(self._finite, found, walk, node)
        self._look_at_memory(found, walk, node)
        if self._events.any_of(IN_PASSES):
            for each in in_pass(walk):
                found.add(self._judged(each, walk), _in_words(each))
        if numbers:
            found.add(self._judge(numbers, NativeSpot(self._driver, node, walk, "before")))
        if node is None and "none-grad" in self._wanted:
            error = self._missing(walk)
            if error is not None:
                found.fail(error, self.lets_through("none-grad", NativeSpot(self._driver, None, walk, "none-grad")))
        return found.reason()

    def judge(self, walk: "Walk", numbers: list[int]) -> Reason | None:
        """As :meth:`look`, of nothing but the breakpoints: at a node of several that run in a row, where all else was looked at."""
        walk.judged = walk.bp.position
        verdict = self._judge(numbers, NativeSpot(self._driver, walk.next_node(), walk, "before"))
        if not verdict.stops:
            return None
        found = _Found()
        found.add(verdict)
        return found.reason()

    def _look_at_gradients(self, finite: Finite, found: _Found, walk: "Walk", following: Node | None) -> None:
        ran = walk.bp.order[walk.bp.position - 1] if walk.bp.position else None
        error = finite.ran(walk, ran) if ran is not None else None
        finite.next(following)
        if error is not None:
            found.fail(error, self.lets_through(error["kind"], NativeSpot(self._driver, ran, walk, error["kind"])))

    def _look_at_memory(self, found: _Found, walk: "Walk | None", node: Node | None) -> None:
        if not self.watches:
            return
        here = "the end of the pass"
        if node is not None:
            here = f"{node.op_name} of line {where(node.code, node.lasti).line}"
            here = here if walk is None else f"the run of {here}"
        for numbers, text in self.watches.look(here):
            spot = NativeSpot(self._driver, node, walk, _SILENT, {"silent": True})
            found.add(self._judge(numbers, spot), text, _WATCH)

    def _missing(self, walk: "Walk") -> dict[str, Any] | None:
        """Parameters without a gradient at the end of a ``backward``, of models of which others got one; each is told once."""
        if walk.bp.call != "backward" or walk.bp.parent is not None:
            return None
        got = {id(node.variable) for node in walk.bp.order if isinstance(node, AccumulateGrad)}
        new: list[str] = []
        for model in models():
            named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
            missing = {name for name, p in named if p._gradient is None}
            if missing and any(id(p) in got for _, p in named):
                known = self._without_grad.setdefault(model, set())
                new += sorted(missing - known)
                known |= missing
        if not new:
            return None
        more = f" and {len(new) - 3:,} more" if len(new) > 3 else ""
        text = f"{', '.join(new[:3])}{more} got no gradient, though others of the model did"
        return {"kind": "none-grad", "text": text, "predicted": False, "node": 0}

    # ----- at an event -----

    def _judged(self, each: Happening, walk: "Walk | None") -> Verdict:
        return self._judge(self._events.of(each.kind), self._spot(each, walk))

    def _spot(self, each: Happening, walk: "Walk | None") -> NativeSpot:
        return NativeSpot(self._driver, each.node, walk, each.kind, dict(each.facts), each.site)

    def _write_coming(self, tensor: Tensor, op: str, code: CodeType, lasti: int) -> None:
        """A write that is told comes to some memory: one to watched memory that nobody was told of until now is told first, since
        nothing could tell the two apart afterwards.
        """
        driver, thread = self._driver, self._driver.thread
        walk = thread.walks[-1] if thread.walks else None
        found, site = _Found(), (code, lasti)
        try:
            if thread.suppressed or driver.agent.gone or self.watches.is_as_seen():
                return
            for numbers, text in self.watches.look(f"{op} of line {where(code, lasti).line}"):
                spot = NativeSpot(driver, None, walk, _SILENT, {"silent": True}, site)
                found.add(self._judge(numbers, spot), text, _WATCH)
        except Exception as error:
            driver.agent.fail(error)
            return
        reason = found.reason()
        if reason is not None:
            driver.stop_at_event(reason, Happening(_SILENT, reason.note, None, site, {"silent": True}), walk)

    def _happened(self, each: Happening) -> None:
        """The engine has told of something that is wanted."""
        driver, thread = self._driver, self._driver.thread
        walk = thread.walks[-1] if thread.walks else None
        found = _Found()
        try:
            if each.kind == "version-bump":
                self.watches.follow(f"{each.facts['op']} of line {where(*each.site).line}" if each.site else "a write")
            if thread.suppressed or driver.agent.gone:
                return
            found.add(self._judged(each, walk), _in_words(each))
            if each.kind == "version-bump" and self.watches:
                watched = self.watches.written(each.facts["storage"])
                spot = NativeSpot(driver, each.node, walk, each.kind, {**each.facts, "silent": False}, each.site)
                found.add(self._judge(watched, spot), each.text, _WATCH)
        except Exception as error:
            driver.agent.fail(error)
            return
        reason = found.reason()
        if reason is not None:
            driver.stop_at_event(reason, each, walk)


def _in_words(each: Happening) -> str:
    """What has happened, and the line where it has, unless its text has that, or the line is that of its node."""
    said = f"{each.kind}: {each.text}"
    if each.site is None or each.kind == "version-bump" or (each.node is not None and not each.is_elsewhere):
        return said
    return f"{said}, at line {where(*each.site).line}"


def _before_plain(walk: "Walk", look: Callable[[Node], None] | None) -> Callable[[Node], None]:
    """What is to be called before each node where no thread stops in the middle of one."""
    bp, stops, judge = walk.bp, walk.stops, walk.judge

    def before(node: Node) -> None:
        if look is not None:
            look(node)
        if bp.position in stops:
            judge()

    return before

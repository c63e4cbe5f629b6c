"""Breakpoints: what clients ask for, as the program is told of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from agdbg.agent.control import ControlWriter, EventStop, FilterStop, FunctionStop, Settings, SourceStop, TooBig
from agdbg.breakpoints import event_kind, matches, names_of_op, node_number
from agdbg.filters import LATE, VALUES
from agdbg.hub import recorded_stops
from agdbg.hub.breakpoint_kinds import (
    Body,
    Breakpoint,
    DataBreakpoint,
    EventBreakpoint,
    LineBreakpoint,
    NameBreakpoint,
)
from agdbg.hub.breakpoint_problems import (
    data_problem,
    event_problem,
    filter_problem,
    length_of,
    line_problem,
    name_problem,
)
from agdbg.hub.call import Refused
from agdbg.hub.recorded_stops import OnLine, OnName, RecordedStops
from agdbg.hub.rules import Rule

B = TypeVar("B", bound=Breakpoint)


class Breakpoints:
    """All breakpoints, and the block of memory in which the program sees them.

    Attributes:
        recording: of a trace without a program what it sees, by its header: what it cannot honour is refused.
    """

    def __init__(self, control: ControlWriter) -> None:
        self._control = control
        self._last_id = 0
        self.recording: Mapping[str, object] | None = None
        self._lines: dict[str, list[LineBreakpoint]] = {}
        self._names: list[NameBreakpoint] = []
        self._events: list[EventBreakpoint] = []
        self._data: list[DataBreakpoint] = []
        #: What somebody called the memory of a ``dataId``.
        self.labels: dict[str, str] = {}
        self._filter_ids: dict[str, int] = {}
        self._settings = Settings()

    @property
    def recorded(self) -> RecordedStops:
        """Those at which a cursor in a recording stops: what only logs, or is for forward code, is not among them."""
        names = [each for each in self._names if not each.problem and each.when != "forward" and not each.rule.log]
        lines = [
            each
            for made in self._lines.values()
            for each in made
            if not each.problem and each.when != "forward" and not each.rule.log
        ]
        return RecordedStops(
            tuple(OnName(each.id, each.name, each.rule.condition, each.rule.is_counted) for each in names),
            tuple(OnLine(each.id, each.file, each.line, each.rule.condition, each.rule.is_counted) for each in lines),
        )

    # ----- setting them -----

    def set_lines(self, file: str, wanted: list[Body]) -> list[LineBreakpoint]:
        """Take ``wanted``, as the protocol has them, as all breakpoints of ``file``; one that was there keeps its id.

        Args:
            file: an absolute path.
            wanted: with a ``line`` from 1 each.
        """
        length = length_of(file)

        def make(each: Body, rule: Rule) -> LineBreakpoint:
            line, when = each["line"], str(each.get("when") or "both")
            problem = line_problem(file, line, length) or rule.problem() or self._recorded_problem(rule, when)
            return LineBreakpoint(0, rule, problem, file=file, line=line, when=when)

        made, answers = self._made(self._lines.get(file, []), wanted, make)
        self._publish_with(lines={**self._lines, file: made})
        return answers

    def set_names(self, wanted: list[Body]) -> list[NameBreakpoint]:
        """Take ``wanted`` as all breakpoints on names; one that was there keeps its id."""

        def make(each: Body, rule: Rule) -> NameBreakpoint:
            name, when = each["name"], str(each.get("when") or "both")
            problem = name_problem(name) or rule.problem() or self._recorded_problem(rule, when)
            return NameBreakpoint(0, rule, problem, name=name, when=when)

        made, answers = self._made(self._names, wanted, make)
        self._publish_with(names=made)
        return answers

    def set_events(self, wanted: list[Body]) -> list[EventBreakpoint]:
        """Take ``wanted`` as all breakpoints on events; one that was there keeps its id."""

        def make(each: Body, rule: Rule) -> EventBreakpoint:
            kind = event_kind(each["kind"])
            problem = event_problem(kind) or rule.problem()
            problem = problem or (recorded_stops.kind_problem(kind) if self.recording is not None else "")
            return EventBreakpoint(0, rule, problem, kind=kind)

        made, answers = self._made(self._events, wanted, make)
        self._publish_with(events=made)
        return answers

    def set_data(self, wanted: list[Body]) -> list[DataBreakpoint]:
        """Take ``wanted`` as all watched memory; one that was there keeps its id."""

        def make(each: Body, rule: Rule) -> DataBreakpoint:
            data = each["dataId"]
            problem = data_problem(data, each.get("accessType")) or rule.problem()
            problem = problem or (recorded_stops.data_problem() if self.recording is not None else "")
            return DataBreakpoint(0, rule, problem, data=data, label=self.labels.get(data, ""))

        made, answers = self._made(self._data, wanted, make)
        self._publish_with(data=made)
        return answers

    def set_filters(self, filters: list[str], options: Iterable[Body] = (), *, has_begun: bool = False) -> list[Body]:
        """Take ``filters`` and those of ``options`` as all that are on; one that is not known is not verified.

        Args:
            filters: their ids.
            options: those with a condition or a count, as the protocol has them.
            has_begun: the program may have built nodes: a filter of values that is new has a message that says what it missed.
        """
        wanted = [*({"filterId": name} for name in filters), *options]
        rules = [(str(each["filterId"]), Rule.of(each)) for each in wanted]
        problems = [
            filter_problem(name)
            or rule.problem()
            or self._recorded_problem(rule)
            or (recorded_stops.filter_problem(name, rule) if self.recording is not None else "")
            for name, rule in rules
        ]
        good = [pair for pair, problem in zip(rules, problems, strict=True) if not problem]
        stops = {
            name: FilterStop(self._filter_id(name), name, **rule.as_fields()) for name, rule in good if rule != Rule()
        }
        on = list(dict.fromkeys(name for name, _ in good))
        late = VALUES.difference(self._settings.exceptions) if has_begun else frozenset[str]()
        self._publish(replace(self._settings, exceptions=on, filters=list(stops.values())))
        return [
            {"verified": False, "message": problem}
            if problem
            else {"verified": True, **rule.as_body(), **({"message": LATE} if name in late else {})}
            for problem, (name, rule) in zip(problems, rules, strict=True)
        ]

    def _recorded_problem(self, rule: Rule, when: str = "both") -> str:
        return "" if self.recording is None else recorded_stops.rule_problem(rule, self.recording, when)

    def _filter_id(self, name: str) -> int:
        if name not in self._filter_ids:
            self._filter_ids[name] = self._number(0, set())
        return self._filter_ids[name]

    def clear(self) -> bool:
        """Drop all breakpoints and filters; False when there were none."""
        there = any((self._lines, self._names, self._events, self._data, self._settings.exceptions))
        there = there or self._settings.entry
        self._lines, self._names, self._events, self._data = {}, [], [], []
        self._publish(Settings(pause=self._settings.pause))
        return there

    def spend(self, numbers: Iterable[int]) -> bool:
        """Drop those of them that are temporary, which have been hit; False when none is."""
        gone = {each.id for each in self._all() if each.rule.temporary}.intersection(numbers)
        if gone:
            self._publish_with(
                lines={file: _without(gone, made) for file, made in self._lines.items()},
                names=_without(gone, self._names),
                events=_without(gone, self._events),
                data=_without(gone, self._data),
            )
        return bool(gone)

    def fail(self, number: int, text: str) -> None:
        """The condition of a breakpoint has failed; it is told as long as it has that condition."""
        self._lines = {file: _failed(number, text, made) for file, made in self._lines.items()}
        self._names = _failed(number, text, self._names)
        self._events = _failed(number, text, self._events)
        self._data = _failed(number, text, self._data)

    def wait(self, number: int, text: str) -> None:
        """Nothing has met a breakpoint on a name or a line, or a watch by name, so far; an empty ``text``: something has now."""
        self._lines = {file: _waiting(number, text, made) for file, made in self._lines.items()}
        self._names = _waiting(number, text, self._names)
        self._data = _waiting(number, text, self._data)

    def stop_on_entry(self) -> None:
        """Stop before the first node of the first pass."""
        self._publish(replace(self._settings, entry=True))

    def pause(self) -> None:
        """Stop at the next node."""
        self._publish(replace(self._settings, pause=self._settings.pause + 1))

    # ----- asking about them -----

    def _all(self) -> Sequence[Breakpoint]:
        return [*(each for made in self._lines.values() for each in made), *self._names, *self._events, *self._data]

    def bodies(self) -> dict[int, Body]:
        """All of them by their ids, as the protocol has them."""
        return {each.id: each.as_body() for each in self._all()}

    def is_on_name(self, number: int) -> bool:
        """True for the id of a breakpoint on a name."""
        return any(each.id == number for each in self._names)

    def matches(self, file: str, line: int, names: list[str], node: int = 0, module: str = "") -> bool:
        """True when a node that was built there, with such names, is one to stop at."""
        at_line = any(each.line == line and not each.problem for each in self._lines.get(file, ()))
        known = [each for name in names for each in names_of_op(name)] + ([module] if module else [])
        return at_line or any(
            matches(each.name, known) or (node and node_number(each.name) == node)
            for each in self._names
            if not each.problem
        )

    # ----- telling the program -----

    def _made(
        self, before: Iterable[B], wanted: list[Body], make: Callable[[Body, Rule], B]
    ) -> tuple[list[B], list[B]]:
        """The breakpoints that are wanted, and for each that was asked for the one that it is: two that are alike are one."""
        left: dict[Any, list[B]] = {}
        for each in before:
            left.setdefault(each.key(), []).append(each)
        new = [(asked.get("id") or 0, make(asked, Rule.of(asked))) for asked in wanted]
        alike = list(dict.fromkeys((number, each.key(), each.rule) for number, each in new))
        # those that are as they were take their ids first, or one that was changed might take that of another
        alike.sort(key=lambda same: (not same[0], all(each.rule != same[2] for each in left.get(same[1], []))))
        olds = {same: _taken(left.get(same[1], []), same[2], same[0]) for same in alike}
        used = {each.id for each in self._all()} | set(self._filter_ids.values())
        made: dict[Any, B] = {}
        answers = []
        for number, each in new:
            same = number, each.key(), each.rule
            if same not in made:
                old = olds[same]
                failure = old.failure if old is not None and old.rule == each.rule else ""
                waits = old.waits if old is not None and not each.problem else ""
                own = old.id if old is not None else self._number(number, used)
                used.add(own)
                made[same] = replace(each, id=own, failure=failure, waits=waits)
            answers.append(made[same])
        return list(made.values()), answers

    def _number(self, wanted: int, used: set[int]) -> int:
        """The id of a new breakpoint: the one that is wanted, when it was given before and nobody has it any more."""
        if 0 < wanted <= self._last_id and wanted not in used:
            return wanted
        self._last_id += 1
        return self._last_id

    def _publish_with(
        self,
        *,
        lines: dict[str, list[LineBreakpoint]] | None = None,
        names: list[NameBreakpoint] | None = None,
        events: list[EventBreakpoint] | None = None,
        data: list[DataBreakpoint] | None = None,
    ) -> None:
        lines = self._lines if lines is None else {file: made for file, made in lines.items() if made}
        names = self._names if names is None else names
        events = self._events if events is None else events
        data = self._data if data is None else data
        everywhere = _good(each for made in lines.values() for each in made)
        settings = replace(
            self._settings,
            sources=[SourceStop(b.id, b.file, b.line, b.when, **b.rule.as_fields()) for b in everywhere],
            functions=[FunctionStop(b.id, b.name, b.when, **b.rule.as_fields()) for b in _good(names)],
            events=[EventStop(b.id, b.kind, **b.rule.as_fields()) for b in _good(events)],
            watches=[b.stop() for b in _good(data)],
        )
        self._publish(settings)
        self._lines, self._names, self._events, self._data = lines, names, events, data

    def _publish(self, settings: Settings) -> None:
        try:
            self._control.publish(settings)
        except TooBig as error:
            raise Refused(str(error)) from None
        self._settings = settings


def _taken(left: list[B], rule: Rule, number: int) -> B | None:
    """One of the breakpoints that were at a place, taken out: the one with that number, or with the same rule, or the first."""
    if number:
        found = next((each for each in left if each.id == number), None)
    else:
        found = next((each for each in left if each.rule == rule), left[0] if left else None)
    if found is not None:
        left.remove(found)
    return found


def _good(made: Iterable[B]) -> list[B]:
    return [each for each in made if not each.problem]


def _without(gone: set[int], made: list[B]) -> list[B]:
    return [each for each in made if each.id not in gone]


def _waiting(number: int, text: str, made: list[B]) -> list[B]:
    return [replace(each, waits=text) if each.id == number else each for each in made]


def _failed(number: int, text: str, made: list[B]) -> list[B]:
    return [replace(each, failure=text) if each.id == number else each for each in made]

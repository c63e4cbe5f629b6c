"""The breakpoints of a console: what is asked for, what the hub has made of it, and sending it all again when one changes."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agdbg.console.table import CommandError

if TYPE_CHECKING:
    from agdbg.console.console import Console

Body = dict[str, Any]
#: What the hub gives no number has one above this.
_OWN = 1000
#: Filters of errors that are on from the start.
DEFAULT_FILTERS = ("backward-twice", "inplace-modified")


@dataclass
class Stop:
    """A breakpoint of some sort.

    Attributes:
        kind: ``name``, ``line``, ``event``, ``watch`` or ``filter``.
        what: the name, the event, the id of the tensor or the filter.
        label: what people call it.
        file, line: of a line.
        options: fields of the protocol besides: ``condition``, ``hitCondition``, ``logMessage``, ``temporary``, ``when``.
        number: that of the hub, or ours for a filter.
        is_on: it is not switched off.
        problem: why the hub cannot stop there.
        waits: why it could not stop there so far.
        missed: what it was too late for, said once.
        commands: those that are done when it has stopped.
        instead_of: the words of the one whose place it took.
    """

    kind: str
    what: str
    label: str
    file: str = ""
    line: int = 0
    options: Body = field(default_factory=dict)
    number: int = 0
    is_on: bool = True
    problem: str = ""
    waits: str = ""
    missed: str = ""
    commands: list[str] = field(default_factory=list)
    instead_of: str = ""

    @property
    def words(self) -> str:
        """What it stops at, and when."""
        told = {
            "when": "in {}", "condition": "if {}", "hitCondition": "hits {}", "ignore": "ignores {}", "logMessage": "logs {!r}",
            "temporary": "temporary",
        }  # fmt: skip
        more = [told[name].format(value) for name, value in self.options.items() if value]
        state = [] if self.is_on else ["off"]
        problem = [f"cannot stop: {self.problem}"] if self.problem else []
        problem += [f"has not stopped: {self.waits}"] if self.waits else []
        does = [f"does {' ; '.join(self.commands)}"] if self.commands else []
        return "  ".join([self.label, *more, *does, *state, *problem])

    def as_json(self) -> Body:
        """The same for programs."""
        told = self.problem or self.waits
        return {
            "id": self.number, "kind": self.kind, "what": self.label, "enabled": self.is_on,
            "verified": not told, "message": told or self.missed, "commands": self.commands, **self.options,
        }  # fmt: skip


class Table:
    """All breakpoints that a console knows of."""

    def __init__(self, console: "Console") -> None:
        self._console = console
        self.stops: list[Stop] = []
        self._gone: list[Stop] = []

    def begin(self) -> None:
        """Switch the filters on that are on from the start."""
        self.stops += [Stop("filter", name, f"errors: {name}") for name in DEFAULT_FILTERS]
        self.send("filter")

    def add(self, stop: Stop) -> Stop:
        """Set one, beside others at the same place; the one that is just like it, or is the same filter of errors, is it then.

        Raises:
            CommandError: the hub cannot stop there; all is as it was.
        """
        before = list(self.stops)
        same = next(
            (each for each in before if (each.kind, each.what) == (stop.kind, stop.what) and _is_one(each, stop)), None
        )
        if same is not None and same.is_on and same.options == stop.options:
            return same
        if same is not None:
            stop.number, stop.commands = same.number, same.commands
            stop.instead_of = same.words if same.options != stop.options else ""
        self.stops = [stop if each is same else each for each in before] if same is not None else [*before, stop]
        try:
            self.send(stop.kind, stop.file)
        except Exception:
            self.stops = before
            raise
        if stop.problem:
            self.stops = before
            self.send(stop.kind, stop.file)
            raise CommandError(stop.problem)
        return stop

    def remove(self, stop: Stop) -> None:
        """Take one away."""
        self.stops = [each for each in self.stops if each is not stop]
        self.send(stop.kind, stop.file)

    def get(self, number: int) -> Stop:
        """The one with a number.

        Raises:
            CommandError: there is none.
        """
        for each in self.stops:
            if each.number == number:
                return each
        there = ", ".join(str(each.number) for each in self.stops if each.kind != "filter")
        if not there:
            raise CommandError(f"there is no breakpoint {number}, nor any other; break sets one")
        raise CommandError(f"there is no breakpoint {number}; there {'are' if ',' in there else 'is'} {there}")

    def commands_at(self, value: Any) -> list[str]:
        """The commands of the breakpoints that the program has stopped at, when ``value`` is that of such a reply."""
        stop = value.get("stop") if isinstance(value, dict) else None
        hit = stop.get("hitBreakpointIds", ()) if isinstance(stop, dict) else ()
        gone, self._gone = self._gone, []
        return [line for each in (*gone, *self.stops) if each.number in hit for line in each.commands]

    def let_go(self) -> None:
        """Switch all off that stop; what only logs stays."""
        for each in self.stops:
            if each.is_on and not each.options.get("logMessage"):
                each.is_on = False
        for kind, file in dict.fromkeys((each.kind, each.file) for each in self.stops):
            self.send(kind, file)

    @property
    def off(self) -> dict[int, Body]:
        """Those that are switched off, by their numbers, as the protocol would have them; no errors to stop at."""
        return {each.number: _as_body(each) for each in self.stops if not each.is_on and each.kind != "filter"}

    def switch(self, filters: Collection[str], off: Mapping[int, Body], on: Collection[int]) -> None:
        """Another way to set breakpoints has switched some on or off: they keep their numbers.

        Args:
            filters: all filters of errors that are on.
            off: breakpoints that are switched off, by their numbers.
            on: the numbers of those that are on.
        """
        self.stops = [
            each
            for each in self.stops
            if each.is_on or each.kind == "filter" or each.number in off or each.number in on
        ]
        for each in self.stops:
            each.is_on = each.what in filters if each.kind == "filter" else each.number not in off
        there = {each.number for each in self.stops}
        self.stops += [found for number in off if number not in there and (found := _read(off[number])) is not None]
        for each in self.stops:
            each.is_on = each.is_on and each.number not in off
        errors = {each.what for each in self.stops if each.kind == "filter"}
        for name in sorted(set(filters) - errors):
            self.stops.append(Stop("filter", name, f"errors: {name}", number=self._own_number()))

    def sync(self) -> None:
        """Take in what other clients have set, and which of ours are gone because they were temporary."""
        news, self._console.state.breakpoints = self._console.state.breakpoints, []
        for reason, body in news:
            known = next((each for each in self.stops if each.number == body.get("id")), None)
            if reason == "removed" and known is not None and known.is_on:
                self.stops.remove(known)
                self._gone.append(known)
            elif reason != "removed" and known is None:
                self.stops += [found] if (found := _read(body)) is not None else []
            elif known is not None and known.is_on:
                _learn(known, body)
                if known.waits:
                    self._console.state.notes.append(f"breakpoint {known.number}: {known.words}")

    # ----- sending -----

    def send(self, kind: str, file: str = "") -> None:
        """Send all breakpoints of a kind, those of a line for one file."""
        if kind == "filter":
            self._send_filters()
            return
        chosen = [each for each in self.stops if (each.kind, each.file) == (kind, file) and each.is_on]
        bodies = self._answered(kind, file, chosen)
        for each, body in zip(chosen, bodies, strict=True):
            each.number = body.get("id", each.number) or self._own_number()
            _learn(each, body)

    def _answered(self, kind: str, file: str, stops: list[Stop]) -> list[Body]:
        ask = self._console.ask
        if kind == "name":
            wanted = [{"name": each.what, **_as_wanted(each)} for each in stops]
            return ask("setFunctionBreakpoints", breakpoints=wanted)["breakpoints"]  # type: ignore[no-any-return]  # JSON
        if kind == "line":
            wanted = [{"line": each.line, **_as_wanted(each)} for each in stops]
            return ask("setBreakpoints", source={"path": file}, breakpoints=wanted)["breakpoints"]  # type: ignore[no-any-return]  # JSON
        if kind == "event":
            wanted = [{"kind": each.what, **_as_wanted(each)} for each in stops]
            return ask("agdbg/setEventBreakpoints", kinds=wanted)["breakpoints"]  # type: ignore[no-any-return]  # JSON
        wanted = [{"dataId": each.what, **_as_wanted(each)} for each in stops]
        return ask("setDataBreakpoints", breakpoints=wanted)["breakpoints"]  # type: ignore[no-any-return]  # JSON

    def _send_filters(self) -> None:
        on = [each for each in self.stops if each.kind == "filter" and each.is_on]
        plain = [each for each in on if not each.options]
        more = [each for each in on if each.options]
        arguments: Body = {"filters": [each.what for each in plain]}
        if more:
            arguments["filterOptions"] = [{"filterId": each.what, **each.options} for each in more]
        bodies = self._console.ask("setExceptionBreakpoints", **arguments)["breakpoints"]
        for each, body in zip([*plain, *more], bodies, strict=True):
            each.number = each.number or body.get("id") or self._own_number()
            told = str(body.get("message") or "")
            each.problem, each.missed = ("", told) if body.get("verified") else (told or "it cannot be set", "")

    def _own_number(self) -> int:
        """A number for what the hub gives none."""
        return max((each.number for each in self.stops if each.number > _OWN), default=_OWN) + 1


def _learn(stop: Stop, body: Body) -> None:
    """Take in whether the hub can stop there."""
    told = "" if body.get("verified") else str(body.get("message") or "it cannot be set")
    waits = body.get("reason") == "pending"
    stop.problem, stop.waits = ("", told) if waits else (told, "")


def _is_one(old: Stop, new: Stop) -> bool:
    """Whether two at a place are one: the hub has each filter of errors once only."""
    return old.kind == "filter" or old.options == new.options


def _as_wanted(stop: Stop) -> Body:
    """What is asked for besides the place, with the number that it had before it was switched off."""
    return {**stop.options, **({"id": stop.number} if stop.number else {})}


_OPTIONS = ("condition", "hitCondition", "ignore", "logMessage", "temporary", "when")


def _as_body(stop: Stop) -> Body:
    """One that is switched off as the protocol would have it."""
    where: dict[str, Body] = {
        "line": {"source": {"path": stop.file}, "line": stop.line},
        "name": {"name": stop.what},
        "event": {"kind": stop.what},
        "watch": {"dataId": stop.what, "label": stop.label.removeprefix("writes to ")},
    }
    return {"id": stop.number, "verified": True, **where[stop.kind], **stop.options}


def _read(body: Body) -> Stop | None:
    """A breakpoint that another client has set."""
    options = {name: body[name] for name in _OPTIONS if body.get(name) and (name, body[name]) != ("when", "both")}
    known: Body = {"options": options, "number": body["id"]}
    made = _placed(body, known)
    if made is not None:
        _learn(made, body)
    return made


def _placed(body: Body, known: Body) -> Stop | None:
    """The same, by where it is; ``None`` where nobody can tell."""
    if body.get("kind"):
        return Stop("event", body["kind"], f"event: {body['kind']}", **known)
    if body.get("dataId"):
        return Stop("watch", body["dataId"], f"writes to {body.get('label') or body['dataId']}", **known)
    if body.get("name"):
        return Stop("name", body["name"], body["name"], **known)
    source = body.get("source")
    if not source or not body.get("line"):
        return None
    from agdbg.console.places import short

    path, line = source["path"], body["line"]
    return Stop("line", f"{path}:{line}", f"{short(path)}:{line}", path, line, **known)

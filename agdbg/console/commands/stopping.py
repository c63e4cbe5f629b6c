"""Breakpoints of all sorts."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agdbg.breakpoints import EVENTS, event_kind
from agdbg.console.breakpoints import Stop
from agdbg.console.places import file_and_line, short
from agdbg.console.table import CommandError, Reply, command, find, nearest, number
from agdbg.filters import KNOWN
from agdbg.protocol.errors import RequestFailed

if TYPE_CHECKING:
    from agdbg.console.console import Console

_GROUP = "Breakpoints"
#: What a watch by a name waits for, where nothing is called so: as a thread stands where it was evaluated, as none does, and as
#: the program is over.
_NO_TENSOR = " (no tensor here now: it waits for a model that has them)"
_RUNS = " (by name, as the program does not stand: it waits for a model that has them, and not for a variable)"
_ENDED = " (by name, as the program has ended: nothing is written to before restart runs it anew)"
_WHEN = ("forward", "backward", "both")
_QUOTED = re.compile(r"""(["'])((?:\\.|(?!\1|\\).)*)\1""")
_ESCAPED = re.compile(r"""\\(["'\\])""")
_IF = re.compile(r"(?:^|\s)if\s")


@command("break", "b", arguments="NAME | NODE | FILE:LINE [forward | backward] [if CONDITION]", group=_GROUP)
def set_break(console: "Console", rest: str) -> Reply:
    """Stop at nodes of an op, a parameter or a module (a pattern), at one node by its number, or at a line."""
    return _placed(console, _wanted(console, rest))


@command("tbreak", "tb", arguments="NAME | NODE | FILE:LINE [forward | backward] [if CONDITION]", group=_GROUP)
def set_temporary(console: "Console", rest: str) -> Reply:
    """Stop there once."""
    stop = _wanted(console, rest)
    stop.options["temporary"] = True
    return _placed(console, stop)


@command("log", arguments="NAME | NODE | FILE:LINE MESSAGE", group=_GROUP)
def set_log(console: "Console", rest: str) -> Reply:
    """Print a message there and go on; {expressions} in braces are filled in, quotes around the whole are not printed."""
    where, _, message = rest.partition(" ")
    message = _unquoted(message.strip())
    if not message:
        raise CommandError("log what? write log NAME MESSAGE, as log Mul* {node}: {grads}")
    stop = _wanted(console, where)
    stop.options["logMessage"] = message
    return _placed(console, stop)


def _unquoted(message: str) -> str:
    """The message without quotes around the whole of it; a backslash keeps one inside."""
    quoted = _QUOTED.fullmatch(message)
    return _ESCAPED.sub(r"\1", quoted[2]) if quoted else message


@command("condition", "cond", arguments="NUMBER [CONDITION]", group=_GROUP)
def set_condition(console: "Console", rest: str) -> Reply:
    """Let a breakpoint stop only when a Python expression is true; without one, always again."""
    word, _, condition = rest.partition(" ")
    return _changed(console, number(word, "number of a breakpoint"), "condition", condition.strip())


@command("ignore", arguments="NUMBER COUNT", group=_GROUP)
def ignore(console: "Console", rest: str) -> Reply:
    """Let a breakpoint pass so many times before it stops."""
    word, _, count = rest.partition(" ")
    passes = number(count, "count")
    return _changed(console, number(word, "number of a breakpoint"), "ignore", passes)


@command("commands", arguments="NUMBER [COMMAND ; COMMAND ...]", group=_GROUP)
def set_commands(console: "Console", rest: str) -> Reply:
    """Do commands whenever a breakpoint has stopped; without commands, no more."""
    word, _, lines = rest.partition(" ")
    stop = console.table.get(number(word, "number of a breakpoint"))
    stop.commands = [line.strip() for line in lines.split(" ; ") if line.strip()]
    for line in stop.commands:
        find(line.split()[0])
    return _told(stop)


@command("watch", "w", arguments="EXPRESSION | NAME", group=_GROUP)
def watch(console: "Console", rest: str) -> Reply:
    """Stop at every write to the memory of a tensor."""
    if not rest:
        raise CommandError("watch what? write watch NAME, a parameter or an expression for a tensor")
    arguments: dict[str, Any] = {"name": rest}
    if (frame := _frame(console)) is not None:
        arguments["frameId"] = frame
    found = console.ask("dataBreakpointInfo", **arguments)
    data, text = str(found.get("dataId") or ""), str(found.get("description") or "")
    if not data:
        raise CommandError(text or f"{rest} cannot be watched")
    what = text if data.startswith("name:") else rest
    waits = "" if what == rest else _waits(console, stands=frame is not None)
    return _told(console.table.add(Stop("watch", data, f"writes to {what}{waits}")))


def _frame(console: "Console") -> int | None:
    """The frame that is looked at; None while no thread stands, also where another way than this console has just let it go on."""
    if not console.state.stops:
        return None
    try:
        return int(console.frames()[console.frame]["id"])
    except RequestFailed:
        console.drain()
        if console.state.stops:
            raise
        return None


def _waits(console: "Console", *, stands: bool) -> str:
    if not console.is_waiting and console.ask("agdbg/status")["state"] == "ended":
        return _ENDED
    return _NO_TENSOR if stands else _RUNS


@command("catch", arguments="FILTER | EVENT [if CONDITION]", group=_GROUP)
def catch(console: "Console", rest: str) -> Reply:
    """Stop at a kind of error (backward-twice, nan, any, ...) or of event (save, hook-fired, accumulate, ...)."""
    what, condition = _split_condition(rest)
    if not what:
        raise CommandError(f"catch what? an error, as nan or any, or an event: {', '.join(EVENTS)}")
    options = {"condition": condition} if condition else {}
    if event_kind(what) in EVENTS:
        kind = event_kind(what)
        return _told(console.table.add(Stop("event", kind, f"event: {kind}", options=options)))
    if what not in KNOWN:
        near = nearest(what, [*KNOWN, *EVENTS])
        raise CommandError(
            f"there is no error or event {what!r}{near}; errors: {', '.join(KNOWN)}; events: {', '.join(EVENTS)}"
        )
    return _told(console.table.add(Stop("filter", what, f"errors: {what}", options=options)))


@command("delete", "d", arguments="[NUMBER ...]", group=_GROUP)
def delete(console: "Console", rest: str) -> Reply:
    """Take breakpoints away; without numbers all but errors to stop at, which go by their numbers."""
    gone = _chosen(console, rest)
    if not rest.split():
        gone = [stop for stop in gone if stop.kind != "filter"]
    for stop in gone:
        console.table.remove(stop)
    told = _lines(gone, "deleted  ")
    if not rest.split() and (stay := [str(stop.number) for stop in console.table.stops]):
        told += f"\nerrors to stop at stay; delete {' '.join(stay)} takes them away"
    return Reply(told, {**_list(console).value, "deleted": [stop.as_json() for stop in gone]})


@command("disable", "dis", arguments="[NUMBER ...]", group=_GROUP)
def disable(console: "Console", rest: str) -> Reply:
    """Switch breakpoints off; without numbers all."""
    return _switched(console, rest, on=False)


@command("enable", "en", arguments="[NUMBER ...]", group=_GROUP)
def enable(console: "Console", rest: str) -> Reply:
    """Switch breakpoints on again; without numbers all."""
    return _switched(console, rest, on=True)


def _switched(console: "Console", rest: str, *, on: bool) -> Reply:
    chosen = _chosen(console, rest)
    for stop in chosen:
        if stop.is_on != on:
            stop.is_on = on
            console.table.send(stop.kind, stop.file)
    value = _list(console).value  # which hears first what the hub says of them
    return Reply(_lines(chosen), value)


def _chosen(console: "Console", rest: str) -> list[Stop]:
    """Those with the numbers, each once; without numbers all."""
    numbers = dict.fromkeys(number(word, "number of a breakpoint") for word in rest.split())
    return [console.table.get(each) for each in numbers] or list(console.table.stops)


def _lines(stops: Sequence[Stop], before: str = "") -> str:
    return "\n".join(f"{before}{stop.number}  {stop.words}" for stop in stops) or "no breakpoints"


def _changed(console: "Console", which: int, option: str, value: str | int) -> Reply:
    stop = console.table.get(which)
    before = dict(stop.options)
    stop.options = {**before, option: value} if value else {k: v for k, v in before.items() if k != option}
    console.table.send(stop.kind, stop.file)
    if stop.problem:
        problem, stop.options = stop.problem, before
        console.table.send(stop.kind, stop.file)
        raise CommandError(problem)
    return _told(stop)


def _wanted(console: "Console", rest: str) -> Stop:
    """The breakpoint that is asked for."""
    what, condition = _split_condition(rest)
    words = what.removeprefix("node ").split()
    when = words.pop() if len(words) > 1 and words[-1] in _WHEN else ""
    if len(words) != 1:
        raise CommandError(f"break where? write NAME, NODE or FILE:LINE, and not {what!r}")
    options = {key: value for key, value in (("condition", condition), ("when", when)) if value}
    place = file_and_line(console, words[0])
    if place is not None:
        file, line = place
        return Stop("line", f"{file}:{line}", f"{short(file)}:{line}", file, line, options)
    word = words[0].removeprefix("#")
    name = f"#{word}" if word.isascii() and word.isdecimal() else words[0]
    return Stop("name", name, f"node {word}" if name[0] == "#" else name, options=options)


def _split_condition(rest: str) -> tuple[str, str]:
    found = _IF.search(rest)
    return (rest[: found.start()].strip(), rest[found.end() :].strip()) if found else (rest.strip(), "")


def _placed(console: "Console", stop: Stop) -> Reply:
    """Set one; of a line say so where the file is not as it was when the program began."""
    set_one = console.table.add(stop)
    note = console.source_now(stop.file)[1] if stop.kind == "line" else ""
    return _told(set_one, note)


def _told(stop: Stop, note: str = "") -> Reply:
    instead, stop.instead_of = f"  (instead of: {stop.instead_of})" if stop.instead_of else "", ""
    missed = "".join(f"\n  {each}" for each in (stop.missed, note) if each)
    return Reply(f"{stop.number}  {stop.words}{instead}{missed}", {"breakpoint": stop.as_json()})


def _list(console: "Console") -> Reply:
    console.settle()
    stops = console.table.stops
    return Reply(_lines(stops), {"breakpoints": [stop.as_json() for stop in stops]})


list_all = _list

"""Moves: on, back, and to some place."""

from dataclasses import replace
from typing import TYPE_CHECKING

from agdbg.console.places import file_and_line
from agdbg.console.table import CommandError, Reply, command, number
from agdbg.protocol.client import RequestFailed

if TYPE_CHECKING:
    from agdbg.console.console import Console

_GROUP = "Moves"


@command("run", "r", group=_GROUP)
def run(console: "Console", rest: str) -> Reply:
    """Start the program and run it to the first breakpoint or error; once it was started, restart it."""
    _refuse(rest, "run")
    return console.begin(stop_on_entry=False) if console.is_waiting else restart(console, "")


@command("start", group=_GROUP)
def start(console: "Console", rest: str) -> Reply:
    """Start the program and stop before the first node of its first pass."""
    _refuse(rest, "start")
    if not console.is_waiting:
        raise CommandError("the program was started already; restart starts it anew")
    return console.begin(stop_on_entry=True)


@command("restart", group=_GROUP)
def restart(console: "Console", rest: str) -> Reply:
    """Run the same program anew, with the same breakpoints and to a new trace."""
    _refuse(rest, "restart")
    if console.is_waiting:
        return console.begin(stop_on_entry=False)
    console.ask("restart")
    return console.arrived()


@command("continue", "c", "cont", arguments="[COUNT]", group=_GROUP)
def go_on(console: "Console", rest: str) -> Reply:
    """Let all threads run to the next breakpoint or error; at a place in the recording, return to the program."""
    if console.is_waiting:
        return console.begin(stop_on_entry=False)
    if console.is_running:
        count = _count(rest)
        reply = console.arrived()
        return _again(console, reply, "continue", count, ())
    console.let_others_go()
    return _repeated(console, "continue", rest, ())


@command("wait", group=_GROUP)
def wait(console: "Console", rest: str) -> Reply:
    """Wait until a program that runs stops or has ended; where one stands already, it is told."""
    _refuse(rest, "wait")
    from agdbg.console.console import told_end

    if console.is_waiting:
        raise CommandError("the program has not been started; run, start or continue does")
    if console.is_running:
        return console.arrived()
    if console.state.is_over:
        return told_end(console.state.ended)
    return console.told_stop(console.state.stops[console.thread])


@command("next", "n", arguments="[COUNT]", group=_GROUP)
def step_over(console: "Console", rest: str) -> Reply:
    """Run one node, or as many as COUNT says; in forward code, to the next node that is built."""
    return _started(console) if console.is_waiting else _repeated(console, "next", rest, ("step",))


@command("step", "s", arguments="[COUNT]", group=_GROUP)
def step_in(console: "Console", rest: str) -> Reply:
    """Run one part of the node: unpacking, hooks, its own formula, accumulating; and into passes that hooks start."""
    return _started(console) if console.is_waiting else _repeated(console, "stepIn", rest, ("step",))


@command("finish", "fin", "out", group=_GROUP)
def step_out(console: "Console", rest: str) -> Reply:
    """Run to the end of this pass; from there to the first node of the next one."""
    _refuse(rest, "finish")
    return console.move("stepOut")


@command("until", "u", "advance", arguments="NODE | FILE:LINE", group=_GROUP)
def until(console: "Console", rest: str) -> Reply:
    """Run until a node is built or runs next, by its number, or a line builds a node, one of its nodes runs or it starts a pass."""
    if not rest:
        raise CommandError("until where? write until NODE or until FILE:LINE")
    place = file_and_line(console, rest)
    if place is not None:
        return console.move("agdbg/until", file=place[0], line=place[1])
    return console.move("agdbg/until", node=number(rest, "number of a node, and no FILE:LINE"))


@command("back", "b-", "rn", "reverse-next", arguments="[COUNT] [force]", group=_GROUP)
def back(console: "Console", rest: str) -> Reply:
    """Take the last node back; force does it also over functions of the program, which cannot be undone."""
    words, force = _forced(rest)
    return _repeated(console, "stepBack", words, ("step",), force=force)


@command("reverse", "rc", "reverse-continue", arguments="[force]", group=_GROUP)
def reverse(console: "Console", rest: str) -> Reply:
    """Take nodes back until the last place where the pass stopped, or where a breakpoint is."""
    words, force = _forced(rest)
    _refuse(words, "reverse")
    return console.move("reverseContinue", force=force)


@command("goto", arguments="[EVENT]", group=_GROUP)
def goto(console: "Console", rest: str) -> Reply:
    """Look at the recording as it was at an event, by its number in events; without one, where the program stands."""
    if not rest:
        return console.move("agdbg/goto")
    return console.move("agdbg/goto", event=number(rest, "number of an event"))


@command("pause", "interrupt", group=_GROUP)
def pause(console: "Console", rest: str) -> Reply:
    """Stop a program that runs, at the next node of any thread."""
    _refuse(rest, "pause")
    if console.is_waiting:
        raise CommandError("the program has not been started; start stops at its first node")
    if console.ask("agdbg/status")["state"] in ("trace", "ended"):
        raise CommandError("there is no program that runs here: this is its recording")
    if console.state.stops:
        raise CommandError("the program has stopped already")
    threads = console.ask("threads")["threads"]
    console.ask("pause", threadId=threads[0]["id"] if threads else 1)
    return console.arrived()


@command("skip", group=_GROUP)
def skip(console: "Console", rest: str) -> Reply:
    """Go past the node without running it: zeros go on to its inputs."""
    _refuse(rest, "skip")
    return console.move("agdbg/skip")


@command("pdb", group=_GROUP)
def enter_pdb(console: "Console", rest: str) -> Reply:
    """Enter pdb at the first line of the hook or custom Function that the node calls, on the program's terminal."""
    _refuse(rest, "pdb")
    return console.move("agdbg/pdb")


# ----- helpers -----


def _started(console: "Console") -> Reply:
    return console.begin(stop_on_entry=True)


def _repeated(console: "Console", request: str, rest: str, goes_on: tuple[str, ...], **arguments: bool) -> Reply:
    """Move so many times, until the program has ended, or has stopped for another reason than those of ``goes_on``."""
    count = _count(rest)
    return _again(console, console.move(request, **arguments), request, count, goes_on, **arguments)


def _count(rest: str) -> int:
    count = number(rest, "count") if rest else 1
    if not count:
        raise CommandError("a count of 0 moves nothing; write 1 or more")
    return count


def _again(
    console: "Console", reply: Reply, request: str, count: int, goes_on: tuple[str, ...], **arguments: bool
) -> Reply:
    """Move on after the first of ``count`` moves, which has led to ``reply``; one that is refused ends it where it stands."""
    from agdbg.console.console import refusal

    for done in range(1, count):
        stop = reply.value.get("stop")
        if stop is None or (goes_on and stop["reason"] not in goes_on):
            break
        try:
            reply = console.move(request, **arguments)
        except RequestFailed as error:
            return replace(reply, text=f"{reply.text}\nmoved {done:,} of {count:,} times: {refusal(error)}")
    return reply


def _forced(rest: str) -> tuple[str, bool]:
    """What stands there besides ``force``, and whether that does."""
    words = rest.split()
    return " ".join(word for word in words if word != "force"), "force" in words


def _refuse(rest: str, name: str) -> None:
    if rest:
        raise CommandError(f"{name} takes nothing behind it, and not {rest!r}")

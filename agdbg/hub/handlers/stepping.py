"""Going on and going back: of the program as far as it can, and else of the cursor in the recording."""

from collections.abc import Callable
from typing import Any

from agdbg.hub.agents import AgentRefused
from agdbg.hub.call import LATER, Body, Call, Refused, handles
from agdbg.hub.cursor import Cursor
from agdbg.hub.session import Session
from agdbg.hub.stops import HOW


def _forwards(request: str) -> Any:
    """Who answers a request that goes on: the program is told first, since every microsecond counts."""

    def go_on(call: Call) -> Body:
        number = call.arguments["threadId"]
        session = call.session
        if session.stops.cursor_of(number) is not None or not session.is_live:
            return _move(call, number, request)
        thread, _, _ = session.stops.threads.standing(number)
        session.stops.resume(thread, HOW[request], call.client)
        return {"allThreadsContinued": False} if request == "continue" else None

    return go_on


def _backwards(request: str) -> Any:
    """Who answers a request that goes back: the answer waits for the agent, which may refuse."""

    def go_back(call: Call) -> Body:
        number = call.arguments["threadId"]
        session = call.session
        if session.stops.cursor_of(number) is not None or not session.is_live:
            return _move(call, number, request)
        thread, _, _ = session.stops.threads.standing(number)

        def answered(_: dict[str, Any], error: AgentRefused | None) -> None:
            if error is None:
                call.ok()
            elif error.code == "beyond":
                call.run(lambda: _move(call, number, request))
            else:
                call.fail_with(error)

        session.stops.try_to(thread, HOW[request], bool(call.arguments.get("force")), call.client, answered)
        return LATER

    return go_back


for _request in ("next", "stepIn", "stepOut", "continue"):
    handles(_request)(_forwards(_request))
for _request in ("stepBack", "reverseContinue"):
    handles(_request)(_backwards(_request))


@handles("pause")
def pause(call: Call) -> Body:
    """Stop at the next node, whatever thread runs it."""
    call.session.program()
    thread = call.session.stops.threads.of(call.arguments["threadId"])
    if thread is not None and thread.stop is not None:
        raise Refused(f"thread {thread.number} has stopped already")
    call.session.breakpoints.pause()
    return None


@handles("agdbg/until")
def until(call: Call) -> Body:
    """Run to a node or a line; in the recording, to the next run of such a node."""
    session, arguments = call.session, call.arguments
    number = arguments["threadId"]
    place = _place(arguments)
    if session.stops.cursor_of(number) is not None or not session.is_live:
        return _show(call, number, lambda cursor, history: cursor.until(history, **place))
    thread, _, _ = session.stops.threads.standing(number)
    session.stops.resume(thread, "until", call.client, **place)
    return None


def _place(arguments: dict[str, Any]) -> dict[str, Any]:
    """The node, or else the file and the line.

    Raises:
        Refused: neither, both, or half of the latter.
    """
    node, file, line = arguments.get("node"), arguments.get("file"), arguments.get("line")
    if (node is None) == (file is None) or (file is None) != (line is None):
        raise Refused("agdbg/until: name either a node, or a file and a line")
    if 0 in (node, line):
        what = f"node {node}" if node is not None else f"line {line}"
        raise Refused(f"agdbg/until: there is no {what}; nodes and lines count from 1")
    if file is not None and not file.startswith("/"):
        raise Refused(f"agdbg/until: file {file!r} is no absolute path; name the file from the root")
    return {"node": node or 0, "file": file or "", "line": line or 0}


# ----- the cursor -----

_NOTHING_LATER = "no node ran between that and where the program stands: this is where it stands, and not the recording"


@handles("agdbg/goto")
def goto(call: Call) -> Body:
    """Look at another place of the recording, or where the program stands; the program, if there is one, stays where it is."""
    session, arguments = call.session, call.arguments
    event, row = arguments.get("event"), arguments.get("row")
    number = arguments.get("threadId") or _looked_at(session)
    if event is None and row is None:
        return _back(call, number)
    if event is not None and row is not None:
        raise Refused("agdbg/goto: name an event or a row, or neither to look at where the program stands")
    return _show(
        call, number, lambda cursor, history: cursor.goto(history, _row_of(history, event, row)), _NOTHING_LATER
    )


def _back(call: Call, number: int) -> Body:
    """Look at where the program stands."""
    if not call.session.is_live:
        raise Refused(
            "agdbg/goto: no program runs here that would stand somewhere: name an event or a row of its recording"
        )
    _may_move(call.session, number)
    call.ok()
    call.session.stops.leave_recording()
    return LATER


def _looked_at(session: Session) -> int:
    """The thread that one looks at."""
    cursor, thread = session.stops.cursor, session.stops.threads.current()
    return cursor.thread if cursor is not None else 1 if thread is None else thread.number


def _row_of(history: Any, event: int | None, row: int | None) -> int:
    """The record that is meant.

    Raises:
        Refused: there is none.
    """
    total = history.records if event is None else history.events(0, 0)["total"]
    wanted = event if event is not None else row or 0
    if wanted >= total:
        what = "record" if event is None else "event"
        raise Refused(f"agdbg/goto: there is no {what} {wanted:,}; the trace has {total:,}, counted from 0")
    found: int = wanted if event is None else history.row_of_event(event)
    return found


def _show(call: Call, number: int, move: Callable[[Cursor, Any], Any], at_end: str = "") -> Body:
    """Move the cursor somewhere, and say where it then is."""
    session, stops = call.session, call.session.stops
    reading = session.recorded()
    _may_move(session, number)
    cursor = stops.cursor_of(number) or Cursor(number)
    cursor.thread = number

    def moved(position: Any) -> Body:
        call.ok()
        stops.cursor_moved(cursor, position, at_end)
        return LATER

    return reading.ask(call, lambda history: move(cursor, history), moved)


def _move(call: Call, number: int, request: str) -> Body:
    """Move the cursor, and say where it then is."""
    session, stops = call.session, call.session.stops
    reading = session.recorded()
    _may_move(session, number)
    body = {"allThreadsContinued": False} if request == "continue" else None
    if request == "continue" and session.is_live:
        call.ok(body)
        stops.leave_recording()
        return LATER
    found = stops.cursor_of(number)
    stands = stops.words(number) if found is None else ""
    cursor = found or Cursor(number)
    cursor.thread = number

    def moved(position: Any) -> Body:
        call.ok(body)
        stops.cursor_moved(cursor, position)
        return LATER

    breakpoints = session.breakpoints.recorded
    return reading.ask(call, lambda history: cursor.move(history, request, stands, breakpoints), moved)


def _may_move(session: Session, number: int) -> None:
    """The cursor moves for a thread that stands, or when there is no program.

    Raises:
        Refused: it may not now.
    """
    if session.state == "waiting":
        raise Refused("the program has not started: it does at configurationDone")
    if session.is_live:
        session.stops.threads.standing(number)

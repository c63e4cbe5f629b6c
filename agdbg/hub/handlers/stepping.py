"""Going on and going back: of the program as far as it can, and else of the cursor in the recording."""

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
                call.fail(str(error), error.code)

        session.stops.go_back(thread, HOW[request], bool(call.arguments.get("force")), call.client, answered)
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


# ----- the cursor -----


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

    return reading.ask(call, lambda history: cursor.move(history, request, stands), moved)


def _may_move(session: Session, number: int) -> None:
    """The cursor moves for a thread that stands, or when there is no program.

    Raises:
        Refused: it may not now.
    """
    if session.state == "waiting":
        raise Refused("the program has not started: it does at configurationDone")
    if session.is_live:
        session.stops.threads.standing(number)

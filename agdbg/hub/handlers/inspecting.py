"""Looking at a stop: frames, scopes, evaluation, the diagnosis of an error."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agdbg.hub import frames
from agdbg.hub.agents import AgentRefused
from agdbg.hub.call import LATER, Body, Call, Refused, handles
from agdbg.hub.frames import Place
from agdbg.hub.inspector import look_at, place_of
from agdbg.hub.references import Children, Entries, Locals
from agdbg.hub.session import Session

if TYPE_CHECKING:
    from agdbg.hub.history import History


@handles("stackTrace")
def stack_trace(call: Call) -> Body:
    """The node, its origin, the nodes around it, the functions."""
    session, number = call.session, call.arguments["threadId"]
    first, levels = (call.arguments.get(name) or 0 for name in ("startFrame", "levels"))
    if first < 0 or levels < 0:
        raise Refused(f"stackTrace: startFrame is {first} and levels is {levels}; frames are counted from 0")
    cursor = session.stops.cursor_of(number)
    stop = session.stops.threads.standing(number)[2] if cursor is None else {}

    def look(history: Any) -> tuple[Any, Body]:
        position = None if cursor is None or history is None else cursor.where(history)
        found = frames.frames_of(stop if position is None else position.as_stop())
        last = first + levels if levels else len(found)
        place = _places(history)
        bodies = [frames.as_body(number, at, found[at], place) for at in range(first, min(last, len(found)))]
        return position, {"stackFrames": bodies, "totalFrames": len(found)}

    def looked(found: tuple[Any, Body]) -> Body:
        position, body = found
        if cursor is not None and cursor.position is None:
            cursor.position = position
        return body

    reading = session.recorded()
    if cursor is None:
        return reading.ask_at_once(call, look, looked)
    return reading.ask_or(call, look(None), look, looked)


def _places(history: "History | None") -> Callable[[int, str], Place]:
    """Where nodes were created, each looked up once; made at every step, for which `functools.cache` takes too long."""
    known: dict[tuple[int, str], Place] = {}

    def place(node: int, phase: str) -> Place:
        if (node, phase) not in known:
            known[node, phase] = Place("") if history is None else place_of(history, node, phase)
        return known[node, phase]

    return place


@handles("scopes")
def scopes(call: Call) -> Body:
    """Of a node its gradients, saved tensors and so on; of a function its locals."""
    session, frame_id = call.session, call.arguments["frameId"]
    number, _ = frames.thread_and_place(frame_id)
    frame = frames.pick(frames.frames_of(session.stops.stop_of(number)), frame_id)
    if frame.kind in ("node", "outer"):
        return look_at(call, number, frame.node, lambda body: {"scopes": _scopes(session, number, body)}, inside=True)
    if frame.kind == "user" and session.stops.cursor_of(number) is None:
        reference = session.stops.references.new(number, Locals(number, frame.user))
        return {"scopes": [{"name": "Locals", "variablesReference": reference, "expensive": False}]}
    return {"scopes": []}


def _scopes(session: Session, number: int, body: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": section["name"],
            "variablesReference": session.stops.references.new(
                number, Entries(section["entries"], number, body["node"], section["name"])
            ),
            "namedVariables": len(section["entries"]),
            "expensive": False,
        }
        for section in body["sections"]
        if section["entries"]
    ]


@handles("evaluate")
def evaluate(call: Call) -> Body:
    """Python, on the thread that stands."""
    session, arguments = call.session, call.arguments
    session.program()
    number, frame = _frame_to_evaluate_in(session, arguments.get("frameId"))
    _, link, stop = session.stops.threads.standing(number)
    elsewhere = session.stops.cursor_of(number) is not None and arguments.get("context", "repl") == "repl"

    def answered(body: dict[str, Any], error: AgentRefused | None) -> None:
        if error is not None:
            call.fail_with(error)
            return
        if elsewhere:
            call.note(
                f"this is the value where the program stands, not in the recording: {stop.get('description', '')}"
            )
        for note in body.get("notes") or []:
            call.note(str(note))
        call.ok(
            {
                "result": body.get("result", ""),
                "type": body.get("type", ""),
                "variablesReference": _child(session, number, body.get("reference")),
            }
        )

    asked = {"expression": arguments["expression"], "frame": frame, "context": arguments.get("context", "repl")}
    link.ask("evaluate", answered, **asked)
    return LATER


def _child(session: Session, number: int, reference: Any) -> int:
    return session.stops.references.new(number, Children(number, reference)) if reference else 0


def _frame_to_evaluate_in(session: Session, frame_id: int | None) -> tuple[int, int | None]:
    """The thread, and the number of the function among the user's; None: at the node."""
    if frame_id is None:
        thread = session.stops.threads.current()
        if thread is None:
            raise Refused("evaluate: the program runs: pause it, or wait until it stops")
        return thread.number, None
    number, _ = frames.thread_and_place(frame_id)
    _, _, stop = session.stops.threads.standing(number)
    if session.stops.cursor_of(number) is not None:
        return number, None
    frame = frames.pick(frames.frames_of(stop), frame_id)
    return number, frame.user if frame.kind == "user" else None


@handles("exceptionInfo")
def exception_info(call: Call) -> Body:
    """The diagnosis of the error that a thread stopped for; in a trace, of the error that ended it."""
    session, number = call.session, call.arguments["threadId"]
    cursor = session.stops.cursor_of(number)
    stop = {} if cursor is not None and cursor.position is None else session.stops.stop_of(number)
    error: dict[str, Any] | None = stop.get("error")
    if error is None and cursor is None:
        raise Refused(f"thread {number} did not stop for an error, but: {stop.get('description', '')}")

    def found(history: Any) -> Any:
        from agdbg.hub.diagnosis import exception_body

        return exception_body(history, stop, session.cwd)

    return session.recorded().ask_heavy(call, found)

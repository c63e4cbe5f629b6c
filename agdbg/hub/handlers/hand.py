"""What a person does by hand to the node that runs next, and to its pass."""

import re
from typing import Any

from agdbg.hub import frames
from agdbg.hub.agents import AgentLink, AgentRefused
from agdbg.hub.call import LATER, Body, Call, Refused, handles
from agdbg.hub.session import Session

_GRADIENT = re.compile(r"grad(?:s?\[(\d+)\])?")
_SAVED = re.compile(r"""saved(?:\[(\d+)\]|\[(['"])(.+)\2\]|\.(\w+)|\[([A-Za-z_]\w*)\])""")


@handles("agdbg/skip")
def skip(call: Call) -> Body:
    """Go past the node that runs next."""
    return _try_to(call, "skip")


@handles("agdbg/pdb")
def enter_pdb(call: Call) -> Body:
    """Go on into a function of the program, and let pdb have it there."""
    return _try_to(call, "pdb")


def _try_to(call: Call, how: str) -> Body:
    session, number = call.session, call.arguments["threadId"]
    thread, _ = _standing(session, number, f"agdbg/{how}")

    def answered(_: dict[str, Any], error: AgentRefused | None) -> None:
        if error is None:
            call.ok()
        else:
            call.fail_with(error)

    session.stops.try_to(thread, how, False, call.client, answered)
    return LATER


@handles("agdbg/retain")
def retain(call: Call) -> Body:
    """Keep the graph after all."""
    _, link = _standing(call.session, call.arguments["threadId"], "agdbg/retain")

    def done(body: dict[str, Any]) -> Body:
        return {"freed": body.get("freed") or []}

    link.ask("retain", call.then(done))
    return LATER


@handles("setExpression")
def set_expression(call: Call) -> Body:
    """Replace an incoming gradient or a saved tensor of the node that runs next."""
    session, arguments = call.session, call.arguments
    what = _target(arguments["expression"])
    session.program()
    current = session.stops.threads.current()
    given = arguments.get("frameId")
    number = frames.thread_and_place(given)[0] if given is not None else 0 if current is None else current.number
    thread, link = _standing(session, number, "setExpression")
    stop = thread.stop or {}
    if not stop.get("node"):
        raise Refused("setExpression: no node runs next here, so there is nothing to replace")
    replace(call, link, number, int(stop["node"]), arguments["value"], what)
    return LATER


def _target(expression: str) -> dict[str, Any]:
    """What the agent is asked to replace.

    Raises:
        Refused: it is nothing that can be.
    """
    text = expression.strip()
    gradient, saved = _GRADIENT.fullmatch(text), _SAVED.fullmatch(text)
    if gradient is not None:
        return {"output": int(gradient[1] or 0)}
    if saved is not None:
        return {"slot": int(saved[1]) if saved[1] is not None else saved[3] or saved[4] or saved[5]}
    raise Refused(
        f"setExpression: {text!r} cannot be replaced; grad, grads[0] and saved[0] or saved.NAME of the next node can"
    )


def replace(call: Call, link: AgentLink, thread: int, node: int, expression: str, what: dict[str, Any]) -> None:
    """Let the agent replace something of the next node, tell all clients, and answer with the new value."""

    def answered(body: dict[str, Any], error: AgentRefused | None) -> None:
        if error is not None:
            call.fail_with(error)
            return
        value = body.get("value") or {}
        call.ok({"value": value.get("summary", ""), "type": value.get("dtype", "")})
        call.session.gradient_replaced(thread)

    link.ask("set", answered, node=node, expression=expression, frame=None, **what)


def _standing(session: Session, number: int, command: str) -> Any:
    """The thread and the connection to it, where it stands in the program and a client does not look at the recording.

    Raises:
        Refused: it does not, or a client does.
    """
    session.program()
    thread, link, _ = session.stops.threads.standing(number)
    if session.stops.cursor_of(number) is not None:
        raise Refused(f"{command}: this is a place in the recording, where nothing can be changed; continue returns")
    return thread, link

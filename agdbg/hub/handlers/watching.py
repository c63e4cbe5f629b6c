"""Watched memory: what can be watched, and what is."""

from typing import Any

from agdbg.breakpoints import storage_number
from agdbg.hub import frames
from agdbg.hub.agents import AgentLink, AgentRefused
from agdbg.hub.breakpoint_problems import is_name
from agdbg.hub.call import LATER, Body, Call, handles
from agdbg.hub.handlers.breaking import answered
from agdbg.hub.references import Children, Elements, Entries, Locals

_WRITE = ["write"]
_NO_ADDRESS = "memory has no addresses here: name a tensor, or storage NUMBER"
_NO_STORAGE = (
    "has no storage that could be watched: parameters, buffers, saved tensors and other tensors of the program have"
)
_NO_RESTART = "it was not started by this hub, so it cannot be started anew here"
_ON_ITS_WAY = "is a gradient on its way, which has no storage of its own: break on the node that it goes to"


@handles("setDataBreakpoints")
def set_data_breakpoints(call: Call) -> Body:
    """Take the memory that is to be watched."""
    made = call.session.breakpoints.set_data(call.arguments["breakpoints"])
    return answered(call, [each.as_body() for each in made])


@handles("dataBreakpointInfo")
def data_breakpoint_info(call: Call) -> Body:
    """Say by what something can be watched."""
    arguments, name = call.arguments, call.arguments["name"].strip()
    if call.session.state == "trace":
        return _cannot(f"{name}: this is a recording, in which nothing is written to; memory is watched in a program")
    if call.session.state == "ended" and not call.session.can_restart:
        return _cannot(f"{name}: the program has ended, and nothing is written to any more; {_NO_RESTART}")
    if arguments.get("asAddress"):
        return _cannot(_NO_ADDRESS)
    if arguments.get("variablesReference"):
        return _of_variable(call, arguments["variablesReference"], arguments["name"])
    if storage_number(name):
        return _storage(storage_number(name), f"storage {storage_number(name)}")
    if arguments.get("frameId") is not None:
        return _of_expression(call, arguments["frameId"], name)
    current = call.session.stops.threads.current()
    if current is None or current.link is None:
        return _named(name)
    return _ask(call, current.link, name, {"expression": name, "frame": None}, otherwise=_named(name))


def _of_variable(call: Call, reference: int, name: str) -> Body:
    """An entry of what has a reference."""
    found = call.session.stops.references.get(reference)
    if isinstance(found, Elements):
        return _cannot(f"{name} is an element: watch the tensor that it is in")
    _, link, _ = call.session.stops.threads.standing(found.thread)
    if isinstance(found, Locals):
        return _ask(call, link, name, {"local": found.frame, "name": name})
    if isinstance(found, Children):
        return _ask(call, link, name, {"reference": found.reference, "name": name})
    return _of_entry(call, link, found, name)


def _of_entry(call: Call, link: AgentLink, entries: Entries, name: str) -> Body:
    if entries.section == "Saved tensors":
        return _ask(call, link, name, {"node": entries.node, "what": "saved", "which": name})
    if entries.section == "Node" and name == "grad":
        return _ask(call, link, name, {"node": entries.node, "what": "grad", "which": 0})
    return _cannot(f"{name} {_ON_ITS_WAY if entries.section.startswith('Gradients') else _NO_STORAGE}")


def _of_expression(call: Call, frame_id: int, name: str) -> Body:
    if (
        call.session.state == "ended"
    ):  # the frame is of its recording; what a name means is there when it is started anew
        return _named(name)
    number, _ = frames.thread_and_place(frame_id)
    _, link, stop = call.session.stops.threads.standing(number)
    frame = frames.pick(frames.frames_of(stop), frame_id)
    asked = {"expression": name, "frame": frame.user if frame.kind == "user" else None}
    return _ask(call, link, name, asked, otherwise=_named(name))


def _ask(
    call: Call, link: AgentLink, name: str, asked: dict[str, Any], otherwise: dict[str, Any] | None = None
) -> Body:
    """Ask the thread which storage it is; ``otherwise`` is the answer when it has none."""

    def told(body: dict[str, Any], error: AgentRefused | None) -> None:
        number, text = (0, "") if error is not None else (int(body.get("storage") or 0), str(body.get("text") or ""))
        if number:
            found = _storage(number, text or name)
            call.session.breakpoints.labels[found["dataId"]] = name if "expression" in asked else found["description"]
            call.ok(found)
        elif error is None and text:
            call.ok(_cannot(text))
        elif otherwise is not None and error is not None and not is_name(name):
            call.ok(_cannot(f"{name} cannot be watched: {error}"))
        else:
            call.ok(otherwise or _cannot(f"{name} {_NO_STORAGE}"))

    link.ask("watch", told, **asked)
    return LATER


def _storage(number: int, text: str) -> dict[str, Any]:
    return {"dataId": f"storage:{number}", "description": text, "accessTypes": _WRITE, "canPersist": False}


def _named(name: str) -> dict[str, Any]:
    if not is_name(name):
        return _cannot(f"{name} is no name of a parameter or buffer, and no thread stands where it could be evaluated")
    text = f"parameters and buffers called {name}"
    return {"dataId": f"name:{name}", "description": text, "accessTypes": _WRITE, "canPersist": True}


def _cannot(why: str) -> dict[str, Any]:
    return {"dataId": None, "description": why}

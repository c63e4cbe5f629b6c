"""Variables: the children of what has a reference, page by page; replacing a gradient or a saved tensor."""

from typing import Any

from agdbg.hub.call import LATER, Body, Call, Refused, handles
from agdbg.hub.handlers.hand import replace
from agdbg.hub.inspector import look_at
from agdbg.hub.references import GRADIENTS_IN, REPLACEABLE, Children, Elements, Entries, Locals

#: The most children in one answer.
PAGE = 1000
_REPLACEABLE = " and ".join(map(repr, REPLACEABLE))


@handles("variables")
def variables(call: Call) -> Body:
    """The children of a reference."""
    arguments = call.arguments
    start = max(arguments.get("start") or 0, 0)
    count = min(max(arguments.get("count") or PAGE, 0), PAGE)
    referent = call.session.stops.references.get(arguments["variablesReference"])
    if isinstance(referent, Entries):
        return _entries(call, referent, start, count if arguments.get("filter") != "indexed" else 0)
    if isinstance(referent, Elements):
        return _elements(call, referent, start, count if arguments.get("filter") != "named" else 0)
    return _of_agent(call, referent, start, count)


def _entries(call: Call, referent: Entries, start: int, count: int) -> Body:
    def page() -> Body:
        return {"variables": [_of_entry(call, each) for each in referent.entries[start : start + count]]}

    def renewed(body: dict[str, Any]) -> Body:
        referent.renew(body)
        return page()

    return look_at(call, referent.thread, referent.node, renewed, inside=True) if referent.is_stale else page()


def _of_entry(call: Call, entry: dict[str, Any]) -> dict[str, Any]:
    found = {
        "name": entry["name"],
        "value": entry["value"],
        "type": entry["type"],
        "variablesReference": entry["reference"],
    }
    if entry["reference"]:
        referent = call.session.stops.references.get(entry["reference"])
        if isinstance(referent, Elements):
            found["indexedVariables"] = referent.size
    return found


def _elements(call: Call, referent: Elements, start: int, count: int) -> Body:
    _, link, _ = call.session.stops.threads.standing(referent.thread)

    def named(body: dict[str, Any]) -> Body:
        shown = enumerate(body.get("elements") or [], start)
        return {
            "variables": [
                {"name": _index(number, referent.shape), "value": str(each), "variablesReference": 0}
                for number, each in shown
            ]
        }

    asked = {"node": referent.node, "what": referent.what, "which": referent.which, "start": start, "count": count}
    link.ask("elements", call.then(named), **asked)
    return LATER


def _index(number: int, shape: tuple[int, ...]) -> str:
    """``[1, 2]``: the place of an element by its number in row-major order."""
    places = []
    for size in reversed(shape):
        number, place = divmod(number, max(size, 1))
        places.append(place)
    return f"[{', '.join(map(str, reversed(places)))}]"


def _of_agent(call: Call, referent: Locals | Children, start: int, count: int) -> Body:
    session, number = call.session, referent.thread
    _, link, _ = session.stops.threads.standing(number)

    def translated(body: dict[str, Any]) -> Body:
        return {
            "variables": [
                {
                    "name": each.get("name", ""),
                    "value": each.get("value", ""),
                    "type": each.get("type", ""),
                    "variablesReference": session.stops.references.new(number, Children(number, each["reference"]))
                    if each.get("reference")
                    else 0,
                }
                for each in body.get("variables") or []
            ]
        }

    page = {"start": start, "count": count}
    if isinstance(referent, Locals):
        link.ask("locals", call.then(translated), frame=referent.frame, **page)
    else:
        link.ask("children", call.then(translated), reference=referent.reference, **page)
    return LATER


@handles("setVariable")
def set_variable(call: Call) -> Body:
    """Replace an incoming gradient or a saved tensor of the node that runs next."""
    session, arguments = call.session, call.arguments
    session.program()
    referent = session.stops.references.get(arguments["variablesReference"])
    name = arguments["name"]
    if not isinstance(referent, Entries) or referent.section not in REPLACEABLE:
        raise Refused(f"setVariable: {name} cannot be replaced; the entries of {_REPLACEABLE} of the next node can")
    names = [each["name"] for each in referent.entries]
    if name not in names:
        raise Refused(f"setVariable: there is no {name!r} in {referent.section!r}; there are {', '.join(names)}")
    _, link, stop = session.stops.threads.standing(referent.thread)
    if stop.get("node") != referent.node:
        raise Refused(f"setVariable: node {referent.node} does not run next; only values of the next node can change")
    what = {"output": int(name)} if referent.section == GRADIENTS_IN else {"slot": name}
    replace(call, link, referent.thread, referent.node, arguments["value"], what)
    return LATER

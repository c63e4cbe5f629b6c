"""Where to stop: breakpoints on lines, names and events, and filters of errors."""

from typing import Any

from agdbg.hub.call import LATER, Body, Call, Refused, handles


@handles("setBreakpoints")
def set_breakpoints(call: Call) -> Body:
    """Take the breakpoints of one file."""
    arguments = call.arguments
    path = arguments["source"].get("path")
    if not path:
        raise Refused("setBreakpoints: source has no path; breakpoints are set in files")
    plain = [{"line": line} for line in arguments.get("lines") or []]
    wanted: list[dict[str, Any]] = (arguments.get("breakpoints") or []) if "breakpoints" in arguments else plain
    made = call.session.breakpoints.set_lines(path, wanted)
    return answered(call, [each.as_body() for each in made])


@handles("setFunctionBreakpoints")
def set_function_breakpoints(call: Call) -> Body:
    """Take the breakpoints on ops, nodes, parameters and modules."""
    made = call.session.breakpoints.set_names(call.arguments["breakpoints"])
    return answered(call, [each.as_body() for each in made])


@handles("agdbg/setEventBreakpoints")
def set_event_breakpoints(call: Call) -> Body:
    """Take the breakpoints on kinds of event."""
    made = call.session.breakpoints.set_events(call.arguments["kinds"])
    return answered(call, [each.as_body() for each in made])


@handles("setExceptionBreakpoints")
def set_exception_breakpoints(call: Call) -> Body:
    """Take the filters that are on."""
    options = call.arguments.get("filterOptions") or []
    has_begun = call.session.is_live
    return {
        "breakpoints": call.session.breakpoints.set_filters(call.arguments["filters"], options, has_begun=has_begun)
    }


def answered(call: Call, bodies: list[dict[str, Any]]) -> Body:
    """Answer, then tell the other clients."""
    call.ok({"breakpoints": bodies})
    call.session.break_telling.answered(call.client, bodies, call.session.joined)
    return LATER

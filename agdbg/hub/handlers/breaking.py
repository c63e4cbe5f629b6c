"""Where to stop: breakpoints on lines and names, and filters of errors."""

from typing import Any

from agdbg.hub.call import LATER, Body, Call, Refused, handles


@handles("setBreakpoints")
def set_breakpoints(call: Call) -> Body:
    """Take the breakpoints of one file."""
    arguments = call.arguments
    path = arguments["source"].get("path")
    if not path:
        raise Refused("setBreakpoints: source has no path; breakpoints are set in files")
    wanted: list[dict[str, Any]] = arguments.get("breakpoints") or []
    lines = [each["line"] for each in wanted] if "breakpoints" in arguments else list(arguments.get("lines") or [])
    conditional = [each["line"] for each in wanted if _has_condition(each)]
    made = call.session.breakpoints.set_lines(path, lines, conditional)
    return _answered(call, [each.as_body() for each in made])


@handles("setFunctionBreakpoints")
def set_function_breakpoints(call: Call) -> Body:
    """Take the breakpoints on ops, nodes and parameters."""
    wanted: list[dict[str, Any]] = call.arguments["breakpoints"]
    conditional = [each["name"] for each in wanted if _has_condition(each)]
    made = call.session.breakpoints.set_names([each["name"] for each in wanted], conditional)
    return _answered(call, [each.as_body() for each in made])


@handles("setExceptionBreakpoints")
def set_exception_breakpoints(call: Call) -> Body:
    """Take the filters that are on."""
    options = [each["filterId"] for each in call.arguments.get("filterOptions") or []]
    return {"breakpoints": call.session.breakpoints.set_filters([*call.arguments["filters"], *options])}


def _has_condition(wanted: dict[str, Any]) -> bool:
    return any(wanted.get(each) for each in ("condition", "hitCondition", "logMessage"))


def _answered(call: Call, bodies: list[dict[str, Any]]) -> Body:
    """Answer, then tell the other clients."""
    call.ok({"breakpoints": bodies})
    call.session.break_telling.answered(call.client, bodies, call.session.joined)
    return LATER

"""Every message, by the name of its command or event. The types stand in ``requests``, ``bodies``, ``events``,
``things`` and, for those of agdbg's own, ``vendor``; :mod:`agdbg.protocol.check` tests messages against them.
"""

from typing import Any, Literal, NamedTuple, NotRequired, TypedDict

from agdbg.protocol import bodies, events, looks, requests, vendor
from agdbg.protocol.things import Capabilities, Nothing


class Request(TypedDict):
    """What a client sends."""

    seq: int
    type: Literal["request"]
    command: str
    arguments: NotRequired[dict[str, Any] | None]


class Response(TypedDict):
    """The answer to a request; ``message`` is a short reason when it failed."""

    seq: int
    type: Literal["response"]
    request_seq: int
    success: bool
    command: str
    message: NotRequired[str]
    body: NotRequired[dict[str, Any]]


class Event(TypedDict):
    """What the hub tells all its clients."""

    seq: int
    type: Literal["event"]
    event: str
    body: NotRequired[dict[str, Any]]


class Shape(NamedTuple):
    """The types of a request's arguments and of its response's body."""

    arguments: type
    body: type


STANDARD_REQUESTS: dict[str, Shape] = {
    "initialize": Shape(requests.InitializeArguments, Capabilities),
    "launch": Shape(requests.LaunchArguments, Nothing),
    "attach": Shape(requests.AttachArguments, Nothing),
    "configurationDone": Shape(requests.ConfigurationDoneArguments, Nothing),
    "setBreakpoints": Shape(requests.SetBreakpointsArguments, bodies.SetBreakpointsBody),
    "setFunctionBreakpoints": Shape(requests.SetFunctionBreakpointsArguments, bodies.SetFunctionBreakpointsBody),
    "setExceptionBreakpoints": Shape(requests.SetExceptionBreakpointsArguments, bodies.SetExceptionBreakpointsBody),
    "dataBreakpointInfo": Shape(requests.DataBreakpointInfoArguments, bodies.DataBreakpointInfoBody),
    "setDataBreakpoints": Shape(requests.SetDataBreakpointsArguments, bodies.SetDataBreakpointsBody),
    "threads": Shape(Nothing, bodies.ThreadsBody),
    "stackTrace": Shape(requests.StackTraceArguments, bodies.StackTraceBody),
    "scopes": Shape(requests.ScopesArguments, bodies.ScopesBody),
    "variables": Shape(requests.VariablesArguments, bodies.VariablesBody),
    "evaluate": Shape(requests.EvaluateArguments, bodies.EvaluateBody),
    "setVariable": Shape(requests.SetVariableArguments, bodies.SetVariableBody),
    "setExpression": Shape(requests.SetExpressionArguments, bodies.SetExpressionBody),
    "next": Shape(requests.NextArguments, Nothing),
    "stepIn": Shape(requests.StepInArguments, Nothing),
    "stepOut": Shape(requests.StepOutArguments, Nothing),
    "stepBack": Shape(requests.StepBackArguments, Nothing),
    "continue": Shape(requests.ContinueArguments, bodies.ContinueBody),
    "reverseContinue": Shape(requests.ReverseContinueArguments, Nothing),
    "pause": Shape(requests.PauseArguments, Nothing),
    "restart": Shape(requests.RestartArguments, Nothing),
    "disconnect": Shape(requests.DisconnectArguments, Nothing),
    "terminate": Shape(requests.TerminateArguments, Nothing),
    "cancel": Shape(requests.CancelArguments, Nothing),
    "exceptionInfo": Shape(requests.ExceptionInfoArguments, bodies.ExceptionInfoBody),
    "source": Shape(requests.SourceArguments, bodies.SourceBody),
}

VENDOR_REQUESTS: dict[str, Shape] = {
    "agdbg/rows": Shape(vendor.RowsArguments, vendor.RowsBody),
    "agdbg/fold": Shape(vendor.FoldArguments, vendor.FoldBody),
    "agdbg/find": Shape(vendor.FindArguments, vendor.FindBody),
    "agdbg/locate": Shape(vendor.LocateArguments, vendor.LocateBody),
    "agdbg/node": Shape(vendor.NodeArguments, vendor.NodeBody),
    "agdbg/events": Shape(vendor.EventsArguments, vendor.EventsBody),
    "agdbg/graph": Shape(vendor.GraphArguments, vendor.GraphBody),
    "agdbg/timeline": Shape(looks.TimelineArguments, looks.TimelineBody),
    "agdbg/profile": Shape(looks.ProfileArguments, looks.ProfileBody),
    "agdbg/neighbourhood": Shape(looks.NeighbourhoodArguments, looks.NeighbourhoodBody),
    "agdbg/tensor": Shape(looks.TensorArguments, looks.TensorBody),
    "agdbg/tree": Shape(looks.TreeArguments, looks.TreeBody),
    "agdbg/paths": Shape(looks.PathsArguments, looks.PathsBody),
    "agdbg/firstBad": Shape(Nothing, looks.BadBody),
    "agdbg/export": Shape(vendor.ExportArguments, vendor.ExportBody),
    "agdbg/findings": Shape(vendor.FindingsArguments, vendor.FindingsBody),
    "agdbg/setEventBreakpoints": Shape(vendor.SetEventBreakpointsArguments, vendor.SetEventBreakpointsBody),
    "agdbg/output": Shape(vendor.OutputArguments, vendor.OutputPage),
    "agdbg/input": Shape(vendor.InputArguments, Nothing),
    "agdbg/resize": Shape(vendor.ResizeArguments, Nothing),
    "agdbg/skip": Shape(vendor.SkipArguments, Nothing),
    "agdbg/retain": Shape(vendor.RetainArguments, vendor.RetainBody),
    "agdbg/until": Shape(vendor.UntilArguments, Nothing),
    "agdbg/goto": Shape(vendor.GotoArguments, Nothing),
    "agdbg/pdb": Shape(vendor.PdbArguments, Nothing),
    "agdbg/status": Shape(Nothing, vendor.StatusBody),
    "agdbg/processes": Shape(Nothing, vendor.ProcessesBody),
    "agdbg/control": Shape(vendor.ControlArguments, vendor.ControlBody),
}

#: By command: the types of the arguments and of the body.
REQUESTS: dict[str, Shape] = STANDARD_REQUESTS | VENDOR_REQUESTS

STANDARD_EVENTS: dict[str, type] = {
    "initialized": Nothing,
    "stopped": events.StoppedBody,
    "continued": events.ContinuedBody,
    "exited": events.ExitedBody,
    "terminated": events.TerminatedBody,
    "thread": events.ThreadBody,
    "output": events.OutputBody,
    "process": events.ProcessBody,
    "breakpoint": events.BreakpointBody,
    "invalidated": events.InvalidatedBody,
    "capabilities": events.CapabilitiesBody,
    "progressStart": events.ProgressStartBody,
    "progressUpdate": events.ProgressUpdateBody,
    "progressEnd": events.ProgressEndBody,
}

VENDOR_EVENTS: dict[str, type] = {
    "agdbg/grew": vendor.GrewBody,
    "agdbg/troubled": vendor.TroubledBody,
    "agdbg/controlChanged": vendor.ControlChangedBody,
    "agdbg/ended": vendor.EndedBody,
    "agdbg/orphaned": Nothing,
    "agdbg/restarted": vendor.RestartedBody,
}

#: By name of the event: the type of its body.
EVENTS: dict[str, type] = STANDARD_EVENTS | VENDOR_EVENTS


# ----- making messages -----


def request(seq: int, command: str, arguments: dict[str, Any]) -> Request:
    """A request; ``seq`` counts the messages of its sender from 1."""
    return {"seq": seq, "type": "request", "command": command, "arguments": arguments}


def response(seq: int, to: Request, body: Any = None) -> Response:
    """The answer to a request that went well; ``body`` is the dict that the command's type describes."""
    return {
        "seq": seq,
        "type": "response",
        "request_seq": to["seq"],
        "success": True,
        "command": to["command"],
        "body": body or {},
    }


def failure(seq: int, to: Request, text: str, number: int = 1, show: bool = False, code: str = "") -> Response:
    """The answer to a request that failed.

    Args:
        seq, to: its own number, and the request.
        text: why it failed, and what to do.
        number: of the kind of error; a client may offer to hide it by that.
        show: a client is to show it even where it would only log it.
        code: what a program may go by, as ``barrier``; it becomes a variable of the error.
    """
    variables = {"text": text, "code": code} if code else {"text": text}
    return {
        "seq": seq,
        "type": "response",
        "request_seq": to["seq"],
        "success": False,
        "command": to["command"],
        "message": text,
        "body": {"error": {"id": number, "format": "{text}", "variables": variables, "showUser": show}},
    }


def event(seq: int, name: str, body: Any = None) -> Event:
    """An event; ``body`` is the dict that the event's type describes."""
    return {"seq": seq, "type": "event", "event": name, "body": body or {}}

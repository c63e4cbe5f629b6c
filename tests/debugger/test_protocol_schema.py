"""The message types agree with the published JSON schema of the protocol, which ships inside debugpy."""

import json
import types
from importlib.util import find_spec
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    TypedDict,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import jsonschema
import pytest

from agdbg.protocol import wire
from agdbg.protocol.bodies import SourceBody
from agdbg.protocol.check import check_arguments, check_body, check_event, check_request
from agdbg.protocol.messages import (
    STANDARD_EVENTS,
    STANDARD_REQUESTS,
    event,
    failure,
    request,
    response,
)
from agdbg.protocol.requests import AttachArguments, LaunchArguments, ReverseContinueArguments, StepBackArguments
from agdbg.protocol.things import (
    Breakpoint,
    DataBreakpoint,
    ExceptionFilterOptions,
    FunctionBreakpoint,
    SourceBreakpoint,
)

DEBUGPY = Path(find_spec("debugpy").origin).parent  # it is not imported: it changes the interpreter
SCHEMA = json.loads((DEBUGPY / "_vendored/pydevd/_pydevd_bundle/_debug_adapter/debugProtocol.json").read_text("utf-8"))
DEFINITIONS = SCHEMA["definitions"]

# The protocol leaves the arguments of the first two to the adapter; a field is added to the others.
OPEN = {
    LaunchArguments: {
        "program",
        "module",
        "args",
        "cwd",
        "env",
        "trace",
        "stopOnEntry",
        "onOrphan",
        "also",
        "echo",
        "columns",
        "rows",
        "token",
    },
    AttachArguments: {"trace", "token"},
    StepBackArguments: {"force"},
    ReverseContinueArguments: {"force"},
    SourceBody: {"changed"},
    Breakpoint: {"name", "kind", "dataId", "label", "when"}
    | {"condition", "hitCondition", "ignore", "logMessage", "temporary"},
    SourceBreakpoint: {"when", "ignore", "temporary", "id"},
    FunctionBreakpoint: {"when", "logMessage", "ignore", "temporary", "id"},
    DataBreakpoint: {"logMessage", "ignore", "temporary", "id"},
    ExceptionFilterOptions: {"hitCondition", "logMessage", "ignore"},
}
SCHEMA_NAMES = {
    LaunchArguments: "LaunchRequestArguments",
    AttachArguments: "AttachRequestArguments",
    SourceBody: "SourceResponse",
}
PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def resolved(schema):
    """A schema without references on its outside: what it takes from others is put together."""
    if "$ref" in schema:
        return resolved(DEFINITIONS[schema["$ref"].rpartition("/")[2]])
    if "allOf" not in schema:
        return schema
    parts = [resolved(part) for part in schema["allOf"]]
    properties = {name: each for part in parts for name, each in part.get("properties", {}).items()}
    required = [name for part in parts for name in part.get("required", [])]
    return {"type": "object", "properties": properties, "required": required}


def complaints(hint, schema, where, seen=()):
    """What in a type of ours the schema does not know, or knows otherwise."""
    origin, arguments = get_origin(hint), get_args(hint)
    schema = resolved(schema)
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if hint is Any or hint in seen:
        return
    if origin in (Annotated, Required, NotRequired):
        yield from complaints(arguments[0], schema, where, seen)
    elif origin is types.UnionType:
        for each in arguments:
            yield from complaints(each, schema, where, seen)
    elif is_typeddict(hint):
        if "object" not in kinds:
            yield f"{where} is an object"
        yield from complaints_of_fields(hint, schema, where, (*seen, hint))
    elif origin is list:
        if "array" not in kinds:
            yield f"{where} is a list"
        yield from complaints(arguments[0], schema.get("items", {}), f"{where}[]", seen)
    elif origin is dict:
        yield from complaints(arguments[1], schema.get("additionalProperties", {}), f"{where}{{}}", seen)
    elif origin is Literal:
        strange = set(arguments) - set(schema.get("enum") or schema.get("_enum") or [])
        if strange:
            yield f"{where} may be {sorted(strange)}"
    elif PLAIN[hint] not in kinds:
        yield f"{where} is {PLAIN[hint]}"
    elif "enum" in schema:
        yield f"{where} is any {PLAIN[hint]}"


def complaints_of_fields(hint, schema, where, seen):
    ours = {
        name: each for name, each in get_type_hints(hint, include_extras=True).items() if name not in OPEN.get(hint, ())
    }
    properties = schema.get("properties", {})
    for name, each in ours.items():
        if name not in properties:
            yield f"{where}.{name} exists"
        else:
            yield from complaints(each, properties[name], f"{where}.{name}", seen)
    for name in schema.get("required", []):
        if name not in hint.__required_keys__:
            yield f"{where}.{name} may be missing"


def definition(name, suffix):
    return DEFINITIONS[name[0].upper() + name[1:] + suffix]


def part_of(name, suffix, part):
    """The schema of the arguments or of the body of a message, and whether the message must have one."""
    message = resolved(definition(name, suffix))
    return message["properties"].get(part, {"type": "object"}), part in message["required"]


@pytest.mark.parametrize("command", STANDARD_REQUESTS)
def test_a_request_is_as_in_the_schema(command):
    schema, _ = part_of(command, "Request", "arguments")
    if command == "threads":  # it has no arguments at all
        schema = {"type": "object"}
    assert list(complaints(STANDARD_REQUESTS[command].arguments, schema, command)) == []


@pytest.mark.parametrize("command", STANDARD_REQUESTS)
def test_a_response_is_as_in_the_schema(command):
    schema, _ = part_of(command, "Response", "body")
    fields = get_type_hints(STANDARD_REQUESTS[command].body)
    if schema.get("type") != "object" and not fields and "$ref" not in schema:  # no body: the schema allows anything
        schema = {"type": "object"}
    assert list(complaints(STANDARD_REQUESTS[command].body, schema, command)) == []


@pytest.mark.parametrize("name", STANDARD_EVENTS)
def test_an_event_is_as_in_the_schema(name):
    schema, _ = part_of(name, "Event", "body")
    if not get_type_hints(STANDARD_EVENTS[name]):
        schema = {"type": "object"}
    assert list(complaints(STANDARD_EVENTS[name], schema, name)) == []


@pytest.mark.parametrize("ours", OPEN, ids=lambda hint: hint.__name__)
def test_fields_of_our_own_are_not_in_the_schema(ours):
    assert OPEN[ours] <= ours.__annotations__.keys()
    properties = resolved(DEFINITIONS[SCHEMA_NAMES.get(ours, ours.__name__)])["properties"]
    assert not OPEN[ours] & properties.get("body", {}).get("properties", properties).keys()


# ----- the comparison itself finds mistakes -----


class Misspelt(TypedDict):
    threadID: int


class Mistyped(TypedDict):
    threadId: str


class Lax(TypedDict, total=False):
    threadId: int


class StrangeChoice(TypedDict):
    threadId: int
    granularity: Literal["statement", "node"]


class TooWide(TypedDict):
    threadId: int
    granularity: str


class Inner(TypedDict):
    line: int
    colum: int


class NotNested(TypedDict):
    source: int
    breakpoints: list[Inner]


@pytest.mark.parametrize(
    ("hint", "against", "expected"),
    [
        (Misspelt, "NextArguments", ["x.threadID exists", "x.threadId may be missing"]),
        (Mistyped, "NextArguments", ["x.threadId is string"]),
        (Lax, "NextArguments", ["x.threadId may be missing"]),
        (StrangeChoice, "NextArguments", ["x.granularity may be ['node']"]),
        (TooWide, "NextArguments", ["x.granularity is any string"]),
        (NotNested, "SetBreakpointsArguments", ["x.source is integer", "x.breakpoints[].colum exists"]),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_wrong_type_is_found(hint, against, expected):
    assert list(complaints(hint, DEFINITIONS[against], "x")) == expected


# ----- sample messages -----

SOURCE = {"name": "train.py", "path": "/home/user/train.py", "origin": "forward"}
BREAKPOINT = {"id": 1, "verified": True, "source": SOURCE, "line": 12, "message": "", "reason": "pending"}
STEP = {"threadId": 1, "singleThread": True, "granularity": "statement"}
FILTER = {"filter": "backward-twice", "label": "Backward twice", "description": "before the pass", "default": True}
CAPABILITIES = {"supportsStepBack": True, "supportsSetVariable": True, "exceptionBreakpointFilters": [FILTER]}
VARIABLE = {"name": "0", "value": "float64 [3, 4]", "type": "Tensor", "variablesReference": 7, "indexedVariables": 12}
FRAME = {
    "id": 10000,
    "name": "MulBackward0, 3 of 12",
    "source": SOURCE,
    "line": 12,
    "column": 1,
    "presentationHint": "label",
}
SCOPE = {"name": "Gradients in", "variablesReference": 5, "expensive": False, "namedVariables": 2}
DETAILS = {"message": "second time", "typeName": "RuntimeError", "innerException": [{"message": "first"}]}
LAUNCH = {
    "noDebug": False,
    "program": "train.py",
    "args": ["--epochs", "3"],
    "cwd": "/home/user",
    "env": {"SEED": "1"},
    "trace": None,
    "stopOnEntry": True,
    "onOrphan": "wait",
    "also": ["shapes"],
    "columns": 80,
    "rows": 24,
    "token": "secret",
}
REQUESTS = {
    "initialize": (
        {"adapterID": "agdbg", "clientID": "tui", "linesStartAt1": True, "pathFormat": "path"},
        CAPABILITIES,
    ),
    "launch": (LAUNCH, {}),
    "attach": ({"trace": "/home/user/trace", "token": "secret"}, {}),
    "configurationDone": ({}, {}),
    "setBreakpoints": (
        {"source": SOURCE, "breakpoints": [{"line": 12, "condition": "x"}]},
        {"breakpoints": [BREAKPOINT]},
    ),
    "setFunctionBreakpoints": ({"breakpoints": [{"name": "Mul*"}]}, {"breakpoints": [BREAKPOINT]}),
    "setExceptionBreakpoints": (
        {"filters": ["any"], "filterOptions": [{"filterId": "leaf-inplace"}]},
        {"breakpoints": [BREAKPOINT]},
    ),
    "dataBreakpointInfo": (
        {"variablesReference": 5, "name": "self", "frameId": 10000},
        {"dataId": "storage:7", "description": "storage 7", "accessTypes": ["write"], "canPersist": False},
    ),
    "setDataBreakpoints": (
        {"breakpoints": [{"dataId": "storage:7", "accessType": "write", "condition": "x", "hitCondition": "3"}]},
        {"breakpoints": [BREAKPOINT]},
    ),
    "threads": ({}, {"threads": [{"id": 1, "name": "MainThread"}]}),
    "stackTrace": ({"threadId": 1, "startFrame": 0, "levels": 20}, {"stackFrames": [FRAME], "totalFrames": 1}),
    "scopes": ({"frameId": 10000}, {"scopes": [SCOPE]}),
    "variables": ({"variablesReference": 5, "filter": "indexed", "start": 0, "count": 9}, {"variables": [VARIABLE]}),
    "evaluate": (
        {"expression": "grad.norm()", "frameId": 10000, "context": "repl"},
        {"result": "5.6", "type": "float", "variablesReference": 0, "presentationHint": {"attributes": ["readOnly"]}},
    ),
    "setVariable": ({"variablesReference": 5, "name": "0", "value": "grad * 0"}, {"value": "zeros", "type": "Tensor"}),
    "setExpression": (
        {"expression": "saved[0]", "value": "node.saved * 0", "frameId": 10000},
        {"value": "zeros", "type": "float32", "variablesReference": 0},
    ),
    "next": (STEP, {}),
    "stepIn": (STEP, {}),
    "stepOut": (STEP, {}),
    "stepBack": (STEP | {"force": True}, {}),
    "continue": ({"threadId": 1}, {"allThreadsContinued": False}),
    "reverseContinue": ({"threadId": 1}, {}),
    "pause": ({"threadId": 1}, {}),
    "restart": ({}, {}),
    "disconnect": ({"terminateDebuggee": True}, {}),
    "terminate": ({"restart": False}, {}),
    "cancel": ({"requestId": 7, "progressId": "1"}, {}),
    "exceptionInfo": (
        {"threadId": 1},
        {"exceptionId": "backward-twice", "description": "...", "breakMode": "always", "details": DETAILS},
    ),
    "source": ({"source": SOURCE, "sourceReference": 0}, {"content": "x = 1\n", "mimeType": "text/x-python"}),
}
EVENTS = {
    "initialized": {},
    "stopped": {"reason": "function breakpoint", "threadId": 1, "allThreadsStopped": False, "hitBreakpointIds": [1]},
    "continued": {"threadId": 1, "allThreadsContinued": False},
    "exited": {"exitCode": 1},
    "terminated": {},
    "thread": {"reason": "started", "threadId": 1},
    "output": {"category": "stdout", "output": "loss 1.2\n"},
    "process": {"name": "train.py", "systemProcessId": 1234, "isLocalProcess": True, "startMethod": "launch"},
    "breakpoint": {"reason": "changed", "breakpoint": BREAKPOINT},
    "invalidated": {"areas": ["variables"], "threadId": 1},
    "capabilities": {"capabilities": CAPABILITIES},
    "progressStart": {
        "progressId": "1",
        "title": "Searching",
        "requestId": 7,
        "cancellable": True,
        "message": "records",
    },
    "progressUpdate": {"progressId": "1", "message": "records", "percentage": 12.5},
    "progressEnd": {"progressId": "1"},
}


def assert_valid(message, name):
    [sent] = wire.Decoder().feed(wire.encode(message))
    assert name in DEFINITIONS
    validator = jsonschema.Draft4Validator({"$ref": f"#/definitions/{name}", "definitions": DEFINITIONS})
    assert [f"{list(error.absolute_path)}: {error.message}" for error in validator.iter_errors(sent)] == []


def definition_name(name, suffix):
    return name[0].upper() + name[1:] + suffix


@pytest.mark.parametrize("command", STANDARD_REQUESTS)
def test_samples_of_requests_and_responses_are_valid(command):
    arguments, body = REQUESTS[command]
    asked = request(1, command, arguments)
    assert_valid(asked, definition_name(command, "Request"))
    assert_valid(response(2, asked, body), definition_name(command, "Response"))
    assert check_request(asked) is asked
    assert check_arguments(command, arguments) is arguments
    check_body(command, body)


@pytest.mark.parametrize("name", STANDARD_EVENTS)
def test_samples_of_events_are_valid(name):
    assert_valid(event(3, name, EVENTS[name]), definition_name(name, "Event"))
    check_event(name, EVENTS[name])


def test_a_failure_is_valid():
    message = failure(2, request(1, "next", {}), "next: threadId is missing", code="bad", show=True)
    assert_valid(message, "ErrorResponse")
    assert not message["success"]


@pytest.mark.parametrize("wrong", [{"threadId": "1"}, {}], ids=["mistyped", "missing"])
def test_the_validation_of_samples_finds_mistakes(wrong):
    with pytest.raises(AssertionError, match=r"threadId|'1'"):
        assert_valid(request(1, "next", wrong), "NextRequest")

"""The arguments of the standard requests."""

from typing import Annotated, Any, Literal, Required, TypedDict

from agdbg.protocol.limits import CELLS, Between
from agdbg.protocol.things import (
    DataBreakpoint,
    ExceptionFilterOptions,
    FunctionBreakpoint,
    Source,
    SourceBreakpoint,
)


class InitializeArguments(TypedDict, total=False):
    """What the client is, and how it counts lines and columns: from 1 if it does not say."""

    clientID: str
    clientName: str
    adapterID: Required[str]
    locale: str
    linesStartAt1: bool
    columnsStartAt1: bool
    pathFormat: str
    supportsVariableType: bool
    supportsVariablePaging: bool
    supportsInvalidatedEvent: bool
    supportsProgressReporting: bool


class LaunchArguments(TypedDict, total=False):
    """A program to run: a script or a module, its arguments, and the terminal that it is to have.

    The trace is written to a directory of its own name when ``trace`` is null. ``onOrphan`` says what a stopped
    program does when the last client has gone: drop the breakpoints and go on, or wait for a new one. ``also`` names what is
    recorded beside the graph.
    """

    noDebug: bool
    program: str
    module: str
    args: list[str]
    cwd: str
    env: dict[str, str]
    trace: str | None
    stopOnEntry: bool
    onOrphan: Literal["continue", "wait"]
    also: list[Literal["shapes", "values", "checksums"]]
    echo: bool
    columns: Annotated[int, Between(1, CELLS)]
    rows: Annotated[int, Between(1, CELLS)]
    token: str


class AttachArguments(TypedDict, total=False):
    """A trace to show, or nothing: then the client joins what the hub runs."""

    trace: str | None
    token: str


class ConfigurationDoneArguments(TypedDict):
    """No fields."""


class SetBreakpointsArguments(TypedDict, total=False):
    """All breakpoints of one file; they take the place of those that it had."""

    source: Required[Source]
    breakpoints: list[SourceBreakpoint]
    lines: list[int]
    sourceModified: bool


class SetFunctionBreakpointsArguments(TypedDict):
    """All breakpoints on names."""

    breakpoints: list[FunctionBreakpoint]


class SetExceptionBreakpointsArguments(TypedDict, total=False):
    """All exception filters that are to be on."""

    filters: Required[list[str]]
    filterOptions: list[ExceptionFilterOptions]


class DataBreakpointInfoArguments(TypedDict, total=False):
    """Something that may be watched: a variable of a reference, an expression in a frame, or a name."""

    variablesReference: int
    name: Required[str]
    frameId: int


class SetDataBreakpointsArguments(TypedDict):
    """All memory that is to be watched."""

    breakpoints: list[DataBreakpoint]


class StackTraceArguments(TypedDict, total=False):
    """The frames of a stopped thread, from ``startFrame``; all of them when ``levels`` is 0 or missing."""

    threadId: Required[int]
    startFrame: int
    levels: int


class ScopesArguments(TypedDict):
    """The scopes of a frame."""

    frameId: int


class VariablesArguments(TypedDict, total=False):
    """The children of a reference, from ``start``; all of them when ``count`` is 0 or missing."""

    variablesReference: Required[int]
    filter: Literal["indexed", "named"]
    start: int
    count: int


class EvaluateArguments(TypedDict, total=False):
    """Python to evaluate on the stopped thread."""

    expression: Required[str]
    frameId: int
    context: str


class SetVariableArguments(TypedDict):
    """A Python expression, whose value replaces a variable: an incoming gradient of the node that runs next."""

    variablesReference: int
    name: str
    value: str


class SetExpressionArguments(TypedDict, total=False):
    """What of the node that runs next is to be replaced (``grad``, ``grads[1]``, ``saved[0]``), and by what expression's value."""

    expression: Required[str]
    value: Required[str]
    frameId: int


class NextArguments(TypedDict, total=False):
    """Run one node."""

    threadId: Required[int]
    singleThread: bool
    granularity: Literal["statement", "line", "instruction"]


class StepInArguments(TypedDict, total=False):
    """Run one phase of the node."""

    threadId: Required[int]
    singleThread: bool
    targetId: int
    granularity: Literal["statement", "line", "instruction"]


class StepOutArguments(TypedDict, total=False):
    """Run to the end of the pass."""

    threadId: Required[int]
    singleThread: bool
    granularity: Literal["statement", "line", "instruction"]


class StepBackArguments(TypedDict, total=False):
    """Take one node back; ``force``, which is agdbg's own, also over one that cannot be undone in full."""

    threadId: Required[int]
    force: bool
    singleThread: bool
    granularity: Literal["statement", "line", "instruction"]


class ContinueArguments(TypedDict, total=False):
    """Run to the next stop."""

    threadId: Required[int]
    singleThread: bool


class ReverseContinueArguments(TypedDict, total=False):
    """Go back to the previous stop; ``force`` as in :class:`StepBackArguments`."""

    threadId: Required[int]
    force: bool
    singleThread: bool


class PauseArguments(TypedDict):
    """Stop at the next node."""

    threadId: int


class RestartArguments(TypedDict, total=False):
    """Run the program anew; what it was launched with holds, so these are not looked at."""

    arguments: Any


class DisconnectArguments(TypedDict, total=False):
    """The client leaves; with ``terminateDebuggee`` the program ends too."""

    restart: bool
    terminateDebuggee: bool
    suspendDebuggee: bool


class TerminateArguments(TypedDict, total=False):
    """End the program."""

    restart: bool


class CancelArguments(TypedDict, total=False):
    """A request of this client that is not wanted any more, by its number or by that of its progress."""

    requestId: int
    progressId: str


class ExceptionInfoArguments(TypedDict):
    """What the thread stopped for, explained."""

    threadId: int


class SourceArguments(TypedDict, total=False):
    """The text of a source; ``source`` has its path when ``sourceReference`` is 0."""

    source: Source
    sourceReference: Required[int]

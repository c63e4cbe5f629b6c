"""The bodies of responses to the standard requests."""

from typing import Literal, Required, TypedDict

from agdbg.protocol.things import (
    Breakpoint,
    ExceptionDetails,
    Scope,
    StackFrame,
    Thread,
    Variable,
    VariablePresentationHint,
)


class SetBreakpointsBody(TypedDict):
    """One breakpoint for each that was asked for, in the same order."""

    breakpoints: list[Breakpoint]


class SetFunctionBreakpointsBody(TypedDict):
    """One breakpoint for each that was asked for, in the same order."""

    breakpoints: list[Breakpoint]


class SetExceptionBreakpointsBody(TypedDict, total=False):
    """One breakpoint for each filter, in the same order."""

    breakpoints: list[Breakpoint]


class DataBreakpointInfoBody(TypedDict, total=False):
    """What to watch it by, null when it cannot be watched; the description says what it is, or why not."""

    dataId: Required[str | None]
    description: Required[str]
    accessTypes: list[Literal["read", "write", "readWrite"]]
    canPersist: bool


class SetDataBreakpointsBody(TypedDict):
    """One breakpoint for each that was asked for, in the same order."""

    breakpoints: list[Breakpoint]


class ThreadsBody(TypedDict):
    """All threads."""

    threads: list[Thread]


class StackTraceBody(TypedDict, total=False):
    """Frames, innermost first, and how many there are in all."""

    stackFrames: Required[list[StackFrame]]
    totalFrames: int


class ScopesBody(TypedDict):
    """The scopes of the frame."""

    scopes: list[Scope]


class VariablesBody(TypedDict):
    """The variables of the page."""

    variables: list[Variable]


class EvaluateBody(TypedDict, total=False):
    """The value, and a reference to its children or 0."""

    result: Required[str]
    type: str
    presentationHint: VariablePresentationHint
    variablesReference: Required[int]
    namedVariables: int
    indexedVariables: int


class SetVariableBody(TypedDict, total=False):
    """The new value."""

    value: Required[str]
    type: str
    variablesReference: int
    namedVariables: int
    indexedVariables: int


class SetExpressionBody(TypedDict, total=False):
    """The new value."""

    value: Required[str]
    type: str
    variablesReference: int
    namedVariables: int
    indexedVariables: int


class ContinueBody(TypedDict, total=False):
    """Whether other threads went on too; they never did."""

    allThreadsContinued: bool


class ExceptionInfoBody(TypedDict, total=False):
    """The diagnosis: the kind of error as an id, the explanation, and the error itself."""

    exceptionId: Required[str]
    description: str
    breakMode: Required[Literal["never", "always", "unhandled", "userUnhandled"]]
    details: ExceptionDetails


class SourceBody(TypedDict, total=False):
    """The text of a source; ``changed`` is agdbg's own: the file was written to after the program began."""

    content: Required[str]
    mimeType: str
    changed: bool

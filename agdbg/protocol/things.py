"""What the messages of the Debug Adapter Protocol are made of. A type has the fields that agdbg reads or sends."""

from typing import Literal, Required, TypedDict


class Nothing(TypedDict):
    """No fields."""


class ExceptionBreakpointsFilter(TypedDict, total=False):
    """A kind of error to stop at: its id, and how a client shows it."""

    filter: Required[str]
    label: Required[str]
    description: str
    default: bool
    supportsCondition: bool
    conditionDescription: str


class Capabilities(TypedDict, total=False):
    """What the hub can do; what is missing it cannot."""

    supportsConfigurationDoneRequest: bool
    supportsFunctionBreakpoints: bool
    supportsConditionalBreakpoints: bool
    supportsHitConditionalBreakpoints: bool
    supportsLogPoints: bool
    supportsDataBreakpoints: bool
    supportsEvaluateForHovers: bool
    exceptionBreakpointFilters: list[ExceptionBreakpointsFilter]
    supportsExceptionFilterOptions: bool
    supportsExceptionInfoRequest: bool
    supportsStepBack: bool
    supportsSetVariable: bool
    supportsSetExpression: bool
    supportsRestartRequest: bool
    supportsDelayedStackTraceLoading: bool
    supportTerminateDebuggee: bool
    supportSuspendDebuggee: bool
    supportsTerminateRequest: bool
    supportsCancelRequest: bool
    supportsClipboardContext: bool
    supportsSteppingGranularity: bool
    supportsSingleThreadExecutionRequests: bool


class Source(TypedDict, total=False):
    """A source file: its absolute path, or a number to ask for its text by."""

    name: str
    path: str
    sourceReference: int
    presentationHint: Literal["normal", "emphasize", "deemphasize"]
    origin: str


class SourceBreakpoint(TypedDict, total=False):
    """A breakpoint on a line, as a client asks for it."""

    line: Required[int]
    column: int
    condition: str
    hitCondition: str
    logMessage: str
    when: Literal["both", "forward", "backward"]
    ignore: int
    temporary: bool
    id: int


class FunctionBreakpoint(TypedDict, total=False):
    """A breakpoint on a name: of an op, a node, a parameter or a module; ``*`` and ``?`` are wildcards."""

    name: Required[str]
    condition: str
    hitCondition: str
    logMessage: str
    when: Literal["both", "forward", "backward"]
    ignore: int
    temporary: bool
    id: int


class DataBreakpoint(TypedDict, total=False):
    """Memory to watch, by what ``dataBreakpointInfo`` calls it."""

    dataId: Required[str]
    accessType: Literal["read", "write", "readWrite"]
    condition: str
    hitCondition: str
    logMessage: str
    ignore: int
    temporary: bool
    id: int


class ExceptionFilterOptions(TypedDict, total=False):
    """An exception filter that is to be on, in its longer form."""

    filterId: Required[str]
    condition: str
    hitCondition: str
    logMessage: str
    ignore: int


class Breakpoint(TypedDict, total=False):
    """A breakpoint, as the hub has it; ``message`` says why it is not verified.

    ``name``, ``kind``, ``dataId``, ``label``, ``when`` and what was asked for besides are agdbg's own: in the protocol only who
    sets a breakpoint knows them. ``label`` is what a person called the memory that ``dataId`` names.
    """

    id: int
    name: str
    kind: str
    dataId: str
    label: str
    when: str
    condition: str
    hitCondition: str
    ignore: int
    logMessage: str
    temporary: bool
    verified: Required[bool]
    message: str
    source: Source
    line: int
    column: int
    endLine: int
    endColumn: int
    reason: Literal["pending", "failed"]


class Thread(TypedDict):
    """A thread of the program that has run backward passes."""

    id: int
    name: str


class StackFrame(TypedDict, total=False):
    """A frame: the node that runs next, its forward origin (a label), or a frame of the user's code."""

    id: Required[int]
    name: Required[str]
    source: Source
    line: Required[int]
    column: Required[int]
    endLine: int
    endColumn: int
    canRestart: bool
    presentationHint: Literal["normal", "label", "subtle"]


class Scope(TypedDict, total=False):
    """A group of variables of a frame, to be fetched by its reference."""

    name: Required[str]
    presentationHint: str
    variablesReference: Required[int]
    namedVariables: int
    indexedVariables: int
    expensive: Required[bool]


class VariablePresentationHint(TypedDict, total=False):
    """How a variable is to be shown."""

    kind: str
    attributes: list[str]
    visibility: str
    lazy: bool


class Variable(TypedDict, total=False):
    """A variable; it has children when its reference is not 0."""

    name: Required[str]
    value: Required[str]
    type: str
    presentationHint: VariablePresentationHint
    evaluateName: str
    variablesReference: Required[int]
    namedVariables: int
    indexedVariables: int


class ExceptionDetails(TypedDict, total=False):
    """An error: what it says, its type, where it was raised, and what it was raised from."""

    message: str
    typeName: str
    fullTypeName: str
    evaluateName: str
    stackTrace: str
    innerException: list["ExceptionDetails"]


class Message(TypedDict, total=False):
    """An error that a response carries; ``{name}`` in its format stands for a variable."""

    id: Required[int]
    format: Required[str]
    variables: dict[str, str]
    showUser: bool
    url: str
    urlLabel: str

"""The bodies of the standard events."""

from typing import Any, Literal, Required, TypedDict

from agdbg.protocol.things import Breakpoint, Capabilities, Source


class StoppedBody(TypedDict, total=False):
    """A thread has stopped; ``description`` says where and why in one line, ``text`` tells more."""

    reason: Required[
        Literal["entry", "step", "breakpoint", "function breakpoint", "data breakpoint", "exception", "pause", "goto"]
    ]
    description: str
    threadId: int
    preserveFocusHint: bool
    text: str
    allThreadsStopped: bool
    hitBreakpointIds: list[int]


class ContinuedBody(TypedDict, total=False):
    """A thread runs on."""

    threadId: Required[int]
    allThreadsContinued: bool


class ExitedBody(TypedDict):
    """The program has ended."""

    exitCode: int


class TerminatedBody(TypedDict, total=False):
    """There is no program any more; its trace is still served."""

    restart: Any


class ThreadBody(TypedDict):
    """A thread is new, or has ended."""

    reason: Literal["started", "exited"]
    threadId: int


class OutputBody(TypedDict, total=False):
    """Output of the program (``stdout``), or words of the hub (``console``, ``important``)."""

    category: Literal["console", "important", "stdout", "stderr", "telemetry"]
    output: Required[str]
    group: Literal["start", "startCollapsed", "end"]
    variablesReference: int
    source: Source
    line: int
    column: int
    data: Any


class ProcessBody(TypedDict, total=False):
    """The program has started."""

    name: Required[str]
    systemProcessId: int
    isLocalProcess: bool
    startMethod: Literal["launch", "attach", "attachForSuspendedLaunch"]
    pointerSize: int


class BreakpointBody(TypedDict):
    """A breakpoint is not what it was."""

    reason: Literal["changed", "new", "removed"]
    breakpoint: Breakpoint


class InvalidatedBody(TypedDict, total=False):
    """What a client has asked for may have changed, though nothing ran: it is to ask again."""

    areas: list[Literal["all", "stacks", "threads", "variables"]]
    threadId: int
    stackFrameId: int


class ProgressStartBody(TypedDict, total=False):
    """Work for a request takes a while; it can be cancelled by its ``progressId``. ``percentage`` is missing where nobody knows."""

    progressId: Required[str]
    title: Required[str]
    requestId: int
    cancellable: bool
    message: str
    percentage: float


class ProgressUpdateBody(TypedDict, total=False):
    """It has come so far."""

    progressId: Required[str]
    message: str
    percentage: float


class ProgressEndBody(TypedDict, total=False):
    """It has ended, well or not; the response says which."""

    progressId: Required[str]
    message: str


class CapabilitiesBody(TypedDict):
    """What the hub can do has changed."""

    capabilities: Capabilities

"""The requests and events of agdbg's own, all under the prefix ``agdbg/``, and what they are made of.

An id of a node is at least 1 and never used again. A file is an absolute path, and empty when it is not known; a
line counts from 1, and is 0 when it is not known.
"""

from typing import Annotated, Literal, NotRequired, TypedDict

from agdbg.norm import Norm
from agdbg.protocol.limits import CELLS, OUTPUT_PAGE, PAGE, Between
from agdbg.protocol.things import Breakpoint

PREFIX = "agdbg/"

Count = Annotated[int, Between(0, PAGE)]
Start = Annotated[int, Between(0)]
State = Literal["pending", "waiting", "ready", "running", "ran", "freed", "failed", "skipped", "next"]

_Pass = TypedDict("_Pass", {"pass": int})
_MaybePass = TypedDict("_MaybePass", {"pass": NotRequired[int]})


# ----- what is drawn -----


class Badge(TypedDict):
    """A leaf at a node that uses it: a parameter, a constant."""

    text: str
    node: int
    state: str


class Row(_Pass):
    """A node as a row of the lane view. ``pass`` and ``order`` are those of its last run: 0 and null before it;
    of a node that a pass has still to run ``pass`` is that one, and ``order`` null.

    What was not recorded is empty or null: ``shape`` of the first output, ``module`` in which it was built, ``saved`` bytes of the
    memory that its saved tensors lie in, ``gradient``, the norm of what arrived in that pass. ``bad``: a NaN or an
    Inf was in it, in what went out, or in the outputs, or the program has stopped for one that the node made.

    Where rows are folded, ``count`` is how many a row stands for, from ``row`` on: it tells the last of them, and as ``op`` the
    module, or what repeats itself so many ``times`` (0: nothing does); its state is the least advanced.
    """

    row: int
    node: int
    op: str
    cells: str
    undrawn: list[int]
    file: str
    line: int
    text: str
    badges: list[Badge]
    shape: str
    module: str
    saved: int | None
    gradient: Norm | None
    bad: bool
    state: State
    order: int | None
    breakpoint: bool
    count: int
    times: int


class ClosedFold(TypedDict):
    """What the call at a depth has built around a row that begins there."""

    row: Start
    depth: Start


class Folds(TypedDict):
    """What is folded: what is built in a module in ``depth`` calls (0: nothing), and repeats of that; but those are ``opened`` that
    begin at these rows, one that is open several layers deep as often; and some are ``closed`` beside.
    """

    depth: Start
    opened: list[Start]
    closed: list[ClosedFold]


class RowsArguments(TypedDict):
    """Rows in the order in which their nodes were built; with ``folds`` start and count are those of folded rows."""

    start: Start
    count: Count
    threadId: NotRequired[int]
    folds: NotRequired[Folds]


class FoldArguments(TypedDict):
    """A move at a row: fold what is around it, unfold what it is in, show it by itself, or keep all as it is."""

    row: Start
    how: Literal["fold", "unfold", "show", "keep"]
    folds: Folds


class FoldBody(TypedDict):
    """What is folded then, where the row stands among so many, and how deep modules are called at most."""

    folds: Folds
    at: int
    total: int
    deepest: int


class RowsBody(TypedDict):
    """A page of rows; ``pc`` is where the row of the node that runs next stands. For a leaf that is the last node that uses it."""

    total: int
    start: int
    rows: list[Row]
    pc: int | None
    pcNode: int | None


class FindArguments(TypedDict):
    """Text to look for in ops, places, source lines and names, from a row on, round the end."""

    text: str
    start: Start
    backwards: bool


class FindBody(TypedDict):
    """The row found, or null."""

    row: int | None
    node: int | None


class LocateArguments(TypedDict):
    """A node whose row is asked for."""

    node: int


class LocateBody(TypedDict):
    """The row of the node, or null when it has none."""

    row: int | None


class Entry(TypedDict):
    """A line of the inspector; ``state`` marks a saved tensor: ``ok``, ``modified``, ``freed``; else it is empty."""

    name: str
    value: str
    type: str
    reference: int
    state: str


class HookCode(TypedDict):
    """Where a hook of a node is defined.

    ``kind`` is ``tensor``, ``pre``, ``backward``, ``post-accumulate`` or ``post``, and at a stop ``unpack`` with a slot behind it.
    """

    kind: str
    name: str
    file: str
    line: int


class Section(TypedDict):
    """A part of the inspector."""

    name: str
    entries: list[Entry]


class NodeArguments(TypedDict):
    """A node to inspect, on the thread that is stopped at it."""

    node: int
    threadId: NotRequired[int]


class NodeBody(_Pass):
    """All about a node; ``pass`` is that of a row.

    ``gradient`` is the norm of what arrives at it at this stop, or else arrived last; null: not known.

    ``bad``: in what arrives or goes out at this stop, or else last did, or in the outputs, is a NaN or an infinity, or the program
    has stopped for one that the node made.
    """

    node: int
    op: str
    row: int | None
    file: str
    line: int
    column: int
    endLine: int
    endColumn: int
    text: str
    state: State
    gradient: Norm | None
    bad: bool
    hooks: list[HookCode]
    sections: list[Section]


class GraphArguments(_MaybePass):
    """A pass, or the neighbourhood of a node; with neither, the whole graph."""

    node: NotRequired[int]
    hops: NotRequired[Start]
    start: Start
    count: Count


class GraphNode(TypedDict):
    """A node of a drawing."""

    id: int
    op: str
    file: str
    line: int
    text: str
    state: str
    badges: list[Badge]


class GraphEdge(TypedDict):
    """A consumer uses an output of a producer; in backward the gradient goes the same way."""

    consumer: int
    producer: int
    output: int
    input: int


class GraphBody(TypedDict):
    """A page of nodes, and the edges that they are consumers of."""

    title: str
    total: int
    start: int
    nodes: list[GraphNode]
    edges: list[GraphEdge]


class ExportArguments(_MaybePass):
    """A drawing to write to a file, whose suffix says the format."""

    path: str
    full: NotRequired[bool]
    overwrite: NotRequired[bool]


class ExportBody(TypedDict):
    """Where the drawing is, and how many nodes it has."""

    path: str
    nodes: int


# ----- moves -----


class SkipArguments(TypedDict):
    """Go past the node that runs next without running it; zeros go on."""

    threadId: int


class RetainArguments(TypedDict):
    """Keep the graph of the pass that the thread is in, after all."""

    threadId: int


class FreedNode(TypedDict):
    """A node whose saved tensors are gone already."""

    node: int
    op: str


class RetainBody(TypedDict):
    """The nodes of the pass that were freed before."""

    freed: list[FreedNode]


class UntilArguments(TypedDict):
    """Run until a node runs next or was just built, by its id, or else until a line comes to one."""

    threadId: int
    node: NotRequired[int]
    file: NotRequired[str]
    line: NotRequired[Annotated[int, Between(1)]]


class GotoArguments(TypedDict):
    """Move the cursor to the first run at or behind an event of ``agdbg/events``, by its index, or a record of the trace."""

    threadId: NotRequired[int]
    event: NotRequired[Start]
    row: NotRequired[Start]


class PdbArguments(TypedDict):
    """Go on into the function of the program that the node is about to call, and enter pdb there, on the program's terminal."""

    threadId: int


# ----- what happened -----


class TraceEvent(TypedDict):
    """A rare event of the trace; ``node`` is 0 when it is about none.

    It happened at ``time_ns`` when it is ``timed``, or else had happened by then.
    """

    index: int
    time_ns: int
    timed: bool
    kind: str
    text: str
    node: int
    file: str
    line: int


class EventsArguments(TypedDict):
    """A page of events; a negative start counts from the end."""

    start: int
    count: Count


class EventsBody(TypedDict):
    """A page of events."""

    total: int
    start: int
    events: list[TraceEvent]


class Evidence(TypedDict):
    """A line of code that shows why a finding is true; ``node``: the one that it is about, 0 for none."""

    role: str
    note: str
    file: str
    line: int
    end_line: int
    col: int
    end_col: int
    func: str
    text: str
    node: int


class Finding(TypedDict):
    """A diagnosis."""

    kind: str
    cause: str
    certainty: str
    fix: str
    caught: bool | None
    ended: str | None
    predicted: bool
    lint: bool
    remark: bool
    nodes: list[int]
    evidence: list[Evidence]


class Undiagnosed(TypedDict):
    """A recorded error of which no finding speaks."""

    kind: str
    text: str
    count: int
    caught: bool | None
    ended: str | None
    file: str
    line: int


class FindingsArguments(TypedDict, total=False):
    """``lints``: also what is wrong or suspicious although nothing was raised; ``notes``: also what is no fault."""

    lints: bool
    notes: bool


class FindingsBody(TypedDict):
    """What ``agdbg explain --json`` prints, and as ``rendered`` what it prints without ``--json``.

    Findings about NaN and Inf are there unasked, where values were recorded; ``unseen``: what of them no finding speaks of.
    What is about the error at which the program stands is told first; ``stands_at`` is that error where no finding speaks of it,
    and ``standing`` the block of ``rendered`` that says so, "" where none does.
    """

    format: str
    version: int
    trace: str
    nodes: int
    passes: int
    problems: list[str]
    state: str
    ending: str
    uncaught: str
    undiagnosed: list[Undiagnosed]
    findings: list[Finding]
    rendered: str
    unseen: str
    stands_at: Undiagnosed | None
    standing: str


# ----- where to stop -----


class EventBreakpoint(TypedDict):
    """A kind of event to stop at."""

    kind: str
    condition: NotRequired[str]
    hitCondition: NotRequired[str]
    ignore: NotRequired[int]
    logMessage: NotRequired[str]
    temporary: NotRequired[bool]
    id: NotRequired[int]


class SetEventBreakpointsArguments(TypedDict):
    """All kinds of event to stop at."""

    kinds: list[EventBreakpoint]


class SetEventBreakpointsBody(TypedDict):
    """One breakpoint for each that was asked for, in the same order."""

    breakpoints: list[Breakpoint]


# ----- the program and its terminal -----


class OutputArguments(TypedDict):
    """A piece of the program's output, in bytes."""

    start: Start
    length: Annotated[int, Between(0, OUTPUT_PAGE)]
    before: NotRequired[bool]


class OutputPage(TypedDict):
    """The whole characters of the piece, from byte ``start`` to ``end``, where the next one starts, of ``total``.

    ``kept`` is false where nobody keeps what the program prints: it goes to a terminal of its own.
    """

    start: int
    end: int
    total: int
    text: str
    kept: bool


class InputArguments(TypedDict):
    """Text to type into the program's terminal; ``end``: behind it the program finds the end of its input."""

    text: str
    end: NotRequired[bool]


class ResizeArguments(TypedDict):
    """The new size of the program's terminal."""

    columns: Annotated[int, Between(1, CELLS)]
    rows: Annotated[int, Between(1, CELLS)]


class StatusThread(TypedDict):
    """A thread, and whether it is stopped."""

    id: int
    name: str
    stopped: bool


class Trouble(TypedDict):
    """What is wrong with the recording itself, in a sentence: it has ``stopped`` before its program, or is ``damaged``."""

    kind: Literal["stopped", "damaged"]
    text: str


class Process(TypedDict):
    """A process of a parallel program: one that runs, with its ``pid`` and the ``address`` of its hub, or one of which there is
    only the ``trace``. ``stopped``: a thread of it stands, as it was a moment ago.

    ``rank`` is null where its launcher names none, ``world`` 0 where it does not say how many there are.
    ``isHere``: it is the one of this hub, which needs no address.
    """

    rank: int | None
    world: int
    pid: int | None
    stopped: bool
    argv: list[str]
    trace: str
    address: str
    isHere: bool


class ProcessesBody(TypedDict):
    """This process and the others of its run, by their ranks."""

    processes: list[Process]


class StatusBody(TypedDict):
    """How the program is; ``idle`` are the seconds since its last record. A trace has no program: its pid is null.

    ``awaitsInput`` is true while the program reads its terminal, at which there is nothing to read. ``runs`` names the node that
    runs while it calls functions of the program, such as hooks; else it is empty. ``rank`` says which process of a parallel program
    it is, as ``rank 1 of 4``; else it is empty.
    """

    state: Literal["waiting", "running", "stopped", "ended", "trace"]
    pid: int | None
    trace: str
    idle: float
    argv: list[str]
    exit: int | None
    signal: str | None
    threads: list[StatusThread]
    awaitsInput: bool
    rank: str
    runs: str
    troubles: list[Trouble]


class ControlArguments(TypedDict, total=False):
    """Take control over the program, or give it up; neither only asks who has it."""

    take: bool
    release: bool


class ControlBody(TypedDict):
    """Whether this client has control, and the name of the one that has; empty: whoever moves next."""

    has: bool
    holder: str


# ----- events -----


class ControlChangedBody(TypedDict):
    """Another client has control from now on, whose name this is, or nobody has; ``lost``: this one had it until now."""

    holder: str
    lost: bool


class RestartedBody(TypedDict):
    """The program was started anew; nothing of the run before holds any more, and this is the directory of the new trace."""

    trace: str


class GrewBody(TypedDict):
    """The trace has grown to so many nodes and records; at most ten times a second."""

    nodes: int
    records: int


class TroubledBody(TypedDict):
    """What is wrong with the recording has changed; this is all that is known."""

    troubles: list[Trouble]


class EndedBody(TypedDict):
    """The program has ended: with an exit status, or by a signal."""

    exit: int | None
    signal: str | None
    trace: str

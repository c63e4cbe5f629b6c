"""Requests of agdbg's own by which panes look at a recording from another side: in time, around a node, by modules."""

from typing import Annotated, Literal, NotRequired, TypedDict

from agdbg.norm import Norm
from agdbg.protocol.limits import Between
from agdbg.protocol.vendor import Count, Start, _MaybePass, _Pass

# ----- the timeline -----


class TimelineArguments(_MaybePass):
    """A page of the runs of a pass; without one that in which the thread stands, or else the last.

    With a ``node`` it is the pass to which that belongs for the thread: the one in which it stands if that has run the node, or has
    still to, or else the one that ran it last.
    """

    start: Start
    count: Count
    node: NotRequired[int]
    threadId: NotRequired[int]


class Run(TypedDict):
    """A run of a node; ``name`` is that of a leaf, ``record`` is for ``agdbg/goto``.

    ``gradient`` is the norm of what arrived, null where that was not recorded, and ``hooks`` how many calls of hooks it made,
    which took ``hooksNs`` of its duration, null where that is not known. The time at stops is in no duration.
    """

    node: int
    op: str
    name: str
    file: str
    line: int
    order: int
    startNs: int
    durationNs: int
    outcome: Literal["ok", "error", "skipped"]
    hooks: int
    hooksNs: int | None
    gradient: Norm | None
    record: int


class TimelineBody(_Pass):
    """A page; ``pass`` is 0 when there is none, ``at`` the run at which the thread stands, or ``total`` behind all that ran, and
    null where it stands in another pass.
    """

    before: int | None
    after: int | None
    call: str
    file: str
    line: int
    outcome: Literal["ok", "error", "unfinished"]
    total: int
    start: int
    runs: list[Run]
    longestNs: int
    wholeNs: int
    at: int | None


class ProfileArguments(_MaybePass):
    """A pass as a whole in at most ``points`` parts, and what is held in a page of its runs; which pass is as of the timeline."""

    start: Start
    count: Count
    points: Count
    threadId: NotRequired[int]


class Point(TypedDict):
    """Consecutive runs: the first of them, the most bytes held, the sums of durations, the greatest norm that arrived."""

    order: int
    held: int
    ns: int
    hooksNs: int
    gradient: Norm | None


class Layer(TypedDict):
    """The gradients that arrived at the parameters of a module, or at a leaf of none; ``node`` is the first one's."""

    name: str
    node: int
    parameters: int
    norm: Norm
    largest: float
    nans: int
    infs: int


class ProfileBody(_Pass):
    """``held`` are the bytes that saved tensors hold while each run of the page goes on, ``heldAfter`` behind the last run.

    Of the ``storages`` that are held at some time of the pass ``unknown`` have no recorded size, and count for nothing.
    ``hooksNs`` is null where the time of a hook is not known. ``wholeNs`` has the time of all runs, and of hooks
    that are in none that has ended.
    """

    total: int
    start: int
    held: list[int]
    heldMost: int
    mostAt: int | None
    heldAfter: int
    storages: int
    unknown: int
    wholeNs: int
    hookCalls: int
    hooksNs: int | None
    points: list[Point]
    layers: list[Layer]


# ----- the neighbourhood -----


class NeighbourhoodArguments(TypedDict):
    """A node, and how many edges away others may be; or the ``depth`` in calls of modules at which all around it is drawn."""

    node: int
    hops: Start
    depth: NotRequired[Start]


class Box(TypedDict):
    """A node, in cells of a screen; layer 0 is above, and has the nodes that were built first."""

    node: int
    op: str
    words: list[str]
    x: int
    width: int
    layer: int
    state: str
    file: str
    line: int


class Port(TypedDict):
    """An edge that is too long for a line."""

    consumer: int
    producer: int
    output: int
    input: int


class Line(Port):
    """An edge; ``xs`` are its places from the top of the consumer, layer by layer, up to the bottom of the producer."""

    xs: list[int]


class NeighbourhoodBody(TypedDict):
    """The boxes and the lines between them; ``cut``: fewer hops, or fewer nodes, than were asked for."""

    node: int
    hops: int
    depth: int
    total: int
    cut: bool
    width: int
    layers: int
    boxes: list[Box]
    lines: list[Line]
    ports: list[Port]


# ----- a tensor -----

#: Rows and columns of a page at most.
Side = Annotated[int, Between(1, 200)]


class TensorArguments(TypedDict):
    """A page of the tensor that a reference stands for; ``index`` are places along all but its last two dimensions.

    With a ``step`` each so many-th element from ``row`` and ``column`` on is told; with 0 as many as make all of the matrix fit.
    With ``compare`` the program keeps the value, and what is told is what it has changed by since an earlier pass.
    """

    variablesReference: int
    index: list[int]
    row: Start
    column: Start
    rows: Side
    columns: Side
    step: Start
    compare: NotRequired[bool]


class Statistic(TypedDict):
    """A number about all elements that are finite."""

    name: str
    value: str


class Compared(TypedDict):
    """What was compared: the value in pass ``now`` with that of pass ``before``, null where there is none: ``why`` says why.

    ``changed`` elements differ; ``largest`` and ``mean`` are of the absolute differences that are finite, "" for none.
    ``keptBytes`` are all copies that the program keeps for this, ``limitBytes`` the most; ``dropped`` others had to go.
    """

    now: int
    before: int | None
    why: str
    changed: int
    largest: str
    mean: str
    dropped: int
    keptBytes: int
    limitBytes: int


class TensorBody(TypedDict):
    """A sample of a matrix of ``height`` times ``width`` in the tensor, whose elements are texts, "" where there is none.

    A tensor of one dimension goes on in the next line. ``rowStep`` and ``columnStep`` are how far apart the elements are, on
    the average where they are spread over all of the matrix. ``histogram`` counts the finite elements from ``low`` to ``high``,
    and ``firstBad`` is where the first is that is not finite.
    """

    dtype: str
    shape: list[int]
    index: list[int]
    height: int
    width: int
    row: int
    column: int
    rowStep: float
    columnStep: float
    values: list[list[str]]
    stats: list[Statistic]
    nans: int
    infs: int
    firstBad: list[int] | None
    histogram: list[int]
    low: str
    high: str
    compared: Compared | None


# ----- modules, paths, what is bad -----


class TreeArguments(TypedDict):
    """A page of the tree."""

    start: Start
    count: Count


class Branch(TypedDict):
    """A module, or a parameter (``kind``), with its place in the tree; ``className`` of a parameter is its shape, where recorded.

    ``nodes`` and ``ns`` count what was built in the module and in those in it, and how long that ran. ``node`` is the first of
    them, or the leaf of the parameter.
    """

    kind: str
    path: str
    className: str
    depth: int
    nodes: int
    ns: int
    nbytes: int
    node: int | None
    row: int | None


class TreeBody(TypedDict):
    """A page of modules and parameters."""

    total: int
    start: int
    branches: list[Branch]


PathsArguments = TypedDict("PathsArguments", {"from": int, "to": int})


class PathsBody(TypedDict):
    """The nodes between two: ``first`` is where the gradient comes from. ``cut``: not all of the graph was looked at."""

    first: int
    last: int
    total: int
    nodes: list[int]
    shortest: list[int]
    cut: bool


class BadBody(TypedDict):
    """The first node that had a NaN or an Inf where values were recorded, or else the first for which this run has stopped, or else
    the first that failed; and why.
    """

    node: int | None
    row: int | None
    why: str

"""What an adapter reads of a graph that lives in this process, in words that fit any engine.

An adapter for these is a module of ``agdbg.engines`` with the functions of :class:`Reader`.
"""

from dataclasses import dataclass
from types import CodeType
from typing import TYPE_CHECKING, Any, Protocol

from agdbg.record.lookup import NO_SITE, Site
from agdbg.record.strings import absolute, site_line

if TYPE_CHECKING:
    from agdbg.record.writer import Recorder


@dataclass(frozen=True)
class LiveWrite:
    """A write to memory: the version it made, by what, on which line."""

    version: int
    op: str
    site: Site


@dataclass(frozen=True)
class LiveTrouble:
    """Why a node cannot run as things stand.

    Attributes:
        kind: as in the trace, ``backward-twice`` or ``inplace-modified``.
        slot: what was saved there is gone, or was changed.
        call, site: the call that freed it, and its line.
        storage: its number in the trace, when a recording is on.
        expected, current: the version that was saved, and that of now.
        writes: those that the engine remembers, of the versions between.
        text: the message of the error that would be raised.
    """

    kind: str
    slot: str
    call: str = ""
    site: Site = NO_SITE
    storage: int = 0
    expected: int = 0
    current: int = 0
    writes: tuple[LiveWrite, ...] = ()
    text: str = ""


@dataclass(frozen=True)
class LiveNode:
    """A node. ``edges`` are node and output by input, None for no gradient; ``leaf`` is a leaf's name, or empty.

    ``saves`` are the slots that hold something, ``finite`` is False where one of these holds NaN or infinity (and is only
    looked at when that is asked for).
    """

    id: int
    op: str
    site: Site
    edges: tuple[tuple[int, int] | None, ...] = ()
    is_leaf: bool = False
    leaf: str = ""
    is_parameter: bool = False
    saves: tuple[str, ...] = ()
    freed: bool = False
    trouble: LiveTrouble | None = None
    finite: bool | None = None


@dataclass(frozen=True)
class LiveParameter:
    """A parameter of a model, by its full name, and whether the graph reaches it."""

    name: str
    requires_grad: bool
    reached: bool


@dataclass(frozen=True)
class LiveGraph:
    """The graph of one tensor: nodes in creation order, and the node that made the tensor, 0 for none.

    ``finite`` is None where the tensor's numbers cannot be anything else. ``recorded`` says that the numbers of nodes are those
    of the recording that is on.
    """

    nodes: tuple[LiveNode, ...]
    root: int
    requires_grad: bool
    shape: tuple[int, ...]
    finite: bool | None
    has_nan: bool = False
    parameters: tuple[LiveParameter, ...] = ()
    recorded: bool = False

    @property
    def elements(self) -> int:
        """How many numbers the tensor has."""
        count = 1
        for size in self.shape:
            count *= size
        return count


@dataclass(frozen=True)
class LiveError:
    """What an exception of an engine carries. ``node`` is None where it is about none."""

    kind: str
    node: LiveNode | None
    trouble: LiveTrouble | None


class Reader(Protocol):
    """The functions of a module that reads the graphs of an engine."""

    def owns(self, value: Any) -> bool:
        """Whether ``value`` is a tensor of this engine."""

    def read(self, tensor: Any, model: Any = None) -> LiveGraph:
        """The graph of a tensor; parameters are those of ``model``, or of the models whose parameters it reaches."""

    def error(self, error: BaseException) -> LiveError | None:
        """What an exception carries, None when this engine did not make it."""

    def recorder(self) -> "Recorder | None":
        """What records the engine now."""

    def stop(self, text: str) -> bool | None:
        """Stop the running thread and show ``text`` as the reason; False when nobody listens, None when no client has joined."""


class Sites:
    """Finds the places of instructions, as a trace would tell them. One is for one reading: it does not keep code alive."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, int], Site] = {}
        self._positions: dict[int, list[Any]] = {}

    def __call__(self, code: CodeType, lasti: int) -> Site:
        """The place of an instruction."""
        key = id(code), lasti
        site = self._found.get(key)
        if site is None:
            site = self._found[key] = self._resolved(code, lasti)
        return site

    def _resolved(self, code: CodeType, lasti: int) -> Site:
        positions = self._positions.get(id(code))
        if positions is None:
            positions = self._positions[id(code)] = list(code.co_positions())
        index = max(lasti, 0) // 2
        position = positions[index] if index < len(positions) else (None, None, None, None)
        if position[0] is None:
            position = (code.co_firstlineno, None, None, None)
        found: dict[str, Any] = site_line(absolute(code.co_filename), position, code.co_qualname, "")
        del found["k"]
        return Site(**found)

"""What a drawing knows of a graph: nodes in creation order, edges from consumer to producer, notes."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

BadgeKind = Literal["parameter", "leaf", "saved"]
NodeState = Literal["pending", "ran", "freed", "failed"]
Certainty = Literal["observed", "inferred", "unknown"]

STATES: tuple[NodeState, ...] = ("pending", "ran", "freed", "failed")
BADGE_KINDS: tuple[BadgeKind, ...] = ("parameter", "leaf", "saved")


@dataclass(frozen=True, slots=True)
class Badge:
    """Something small that hangs on a node: a parameter or leaf that it uses, or a tensor that it saved."""

    text: str
    kind: BadgeKind


@dataclass(frozen=True, slots=True)
class ModuleCall:
    """A call of the module at `path` of a model (empty for its root); `call` tells the calls of one module apart."""

    path: str
    class_name: str
    call: int


@dataclass(frozen=True, slots=True)
class GraphNode:
    """One backward node, or a fold that stands for `count` of them.

    A fold carries the id of its first member, so that ids stay those of the trace. `shapes` are those of the outputs, as
    `float32[3, 4]`, where they were recorded; `modules` are those that the node was built in, the outermost first.
    """

    id: int
    op: str
    site: str = ""
    text: str = ""
    state: NodeState = "pending"
    badges: tuple[Badge, ...] = ()
    count: int = 1
    shapes: tuple[str, ...] = ()
    modules: tuple[ModuleCall, ...] = ()

    @property
    def module(self) -> str:
        """The dotted path of the innermost module; empty for none, and for the root of a model."""
        return self.modules[-1].path if self.modules else ""


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """The way one gradient takes: from the consumer `src` (nearer the loss) to the producer `dst`.

    `output_nr` says which output of the producer, `input_index` which input of the consumer. An edge that
    touches a fold may stand for `count` edges; the two numbers are then those of the first.
    """

    src: int
    dst: int
    output_nr: int = 0
    input_index: int = 0
    count: int = 1
    certainty: Certainty = "observed"


@dataclass(slots=True)
class Graph:
    """A graph to draw. `nodes` are in creation order; `notes` tell a reader what was folded or left out."""

    title: str = ""
    nodes: list[GraphNode] = field(default_factory=list)
    edges: list[GraphEdge] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def positions(self) -> dict[int, int]:
        """Return where each node id stands in `nodes`.

        Raises:
            ValueError: two nodes have one id.
        """
        found = {node.id: at for at, node in enumerate(self.nodes)}
        if len(found) != len(self.nodes):
            raise ValueError(f"two nodes have the id {_first_repeated(node.id for node in self.nodes)}")
        return found

    @property
    def certainty(self) -> Certainty | None:
        """How certain the edges are, when they are all alike; None when they differ."""
        found = {edge.certainty for edge in self.edges}
        return None if len(found) > 1 else next(iter(found), "observed")

    @property
    def size(self) -> int:
        """How many nodes the graph stands for, those inside folds counted."""
        return sum(node.count for node in self.nodes)


def _first_repeated(ids: Iterable[int]) -> int:
    seen: set[int] = set()
    for each in ids:
        if each in seen:
            return each
        seen.add(each)
    raise AssertionError("no id is repeated")

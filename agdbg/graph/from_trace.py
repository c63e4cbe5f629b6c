"""The graph of a backward pass, as a trace tells it.

States are those of the pass that is drawn: *ran* in it, *failed* in it, *freed* by an earlier pass and not
run again, or *pending*. When all nodes are drawn they are those at the end of the trace: freed wins over ran.
"""

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from os.path import basename
from typing import Literal

from agdbg.counted import counted
from agdbg.events import ACCUMULATE_SEQUENCE, Kind, Provenance
from agdbg.graph.model import Badge, BadgeKind, Certainty, Graph, GraphEdge, GraphNode, ModuleCall, NodeState
from agdbg.progress import report, steps
from agdbg.record.lookup import Site
from agdbg.record.query import ErrorFact, Facts, NodeFact, PassFact

_CERTAINTY: dict[Provenance, Certainty] = {
    Provenance.OBSERVED: "observed",
    Provenance.INFERRED: "inferred",
    Provenance.UNKNOWN: "unknown",
}


_LISTED_PASSES = 5
#: Nodes that are read from one report of how far that is to the next.
_REPORTED = 512


def graph_of(facts: Facts, pass_id: int | Literal["all"] | None = None) -> Graph:
    """Return the nodes that are reachable from the roots of a pass, in creation order.

    Leaves become badges on the nodes that use them; one stays a node when it is a root or when it failed.

    Args:
        facts: the trace.
        pass_id: which pass; None for the one that failed, or else the last; "all" for every node there is.

    Raises:
        ValueError: there is no such pass; the message names those that there are.
    """
    drawn = None if pass_id == "all" else chosen_pass(facts, pass_id)
    return _Builder(facts, drawn).build()


def chosen_pass(facts: Facts, pass_id: int | None) -> PassFact | None:
    """The pass with a number; without one that which failed, or else the last; None where there are none.

    Raises:
        ValueError: there is no such pass; the message names those that there are.
    """
    if pass_id is not None:
        found = facts.pass_of(pass_id)
        if found is None:
            raise ValueError(f"the trace has no backward pass {pass_id}; its passes: {_numbers(facts.passes)}")
        return found
    for error in reversed(facts.errors):
        failing = facts.pass_of(error.pass_id)
        if failing is not None and failing.outcome != "ok":
            return failing
    failed = [each for each in facts.passes if each.outcome == "error"]
    candidates = failed or facts.passes
    return candidates[-1] if candidates else None


def _numbers(passes: list[PassFact]) -> str:
    """``1, 2``; of many the first and the last: ``1 to 100000``."""
    ids = sorted(each.id for each in passes)
    if len(ids) <= _LISTED_PASSES:
        return ", ".join(map(str, ids)) or "none"
    some = "" if ids[-1] - ids[0] + 1 == len(ids) else f" ({len(ids):,} of these numbers)"
    return f"{ids[0]} to {ids[-1]}{some}"


class _Builder:
    """Collects one graph; `drawn` is its pass, None stands for all nodes."""

    def __init__(self, facts: Facts, drawn: PassFact | None) -> None:
        self._facts = facts
        self._drawn = drawn
        self._errors = [each for each in facts.errors if drawn is None or each.pass_id == drawn.id]
        passes = facts.passes if drawn is None else [drawn]
        self._error_of = {each.node: each for each in self._errors if each.node}
        self._failed = failed_nodes(facts, drawn)
        self._ran: set[int] = set().union(*(facts.ran(each.id).tolist() for each in passes))
        self._roots = [node for each in passes for node, _ in each.roots]
        self._kinds = {each.producer: each.kind for each in facts.tensors if each.producer}
        self._unknown: set[int] = set()
        self._has_shapes, self._has_modules = (len(facts.rows(kind)) > 0 for kind in (Kind.SHAPE, Kind.MODULE))

    def build(self) -> Graph:
        """Return the finished graph."""
        starts = self._facts.node_ids.tolist() if self._drawn is None else self._roots
        reached = self._reach(starts)
        leaves = {each.id for each in reached.values() if self._is_badge(each)}
        shown = [each for each in reached.values() if each.id not in leaves]
        graph = Graph(title_of(self._facts, self._drawn))
        in_order = steps(_in_creation_order(shown), "describing nodes", len(shown))
        graph.nodes = [self._node(each, leaves) for each in in_order]
        graph.nodes[:0] = [GraphNode(number, "born before recording") for number in sorted(self._unknown)]
        for each in shown:
            graph.edges += _edges(each, leaves)
        graph.edges.sort(key=lambda edge: (edge.src, edge.input_index))
        graph.notes = self._notes(graph)
        return graph

    def _reach(self, starts: Sequence[int]) -> dict[int, NodeFact]:
        found: dict[int, NodeFact] = {}
        todo = list(starts)
        while todo:
            number = todo.pop()
            if number in found or number in self._unknown:
                continue
            fact = self._facts.node(number)
            if fact is None:
                self._unknown.add(number)
            else:
                found[number] = fact
                if not len(found) % _REPORTED:
                    report("reading nodes", len(found), self._drawn.planned if self._drawn else len(starts))
                todo += [edge.node for edge in fact.edges if edge.node]
        return found

    def _is_badge(self, fact: NodeFact) -> bool:
        return _is_leaf(fact) and fact.id not in self._failed and fact.id not in self._roots

    def _node(self, fact: NodeFact, leaves: set[int]) -> GraphNode:
        used = [edge.node for edge in fact.edges if edge.node in leaves]
        badges = _counted(self._leaf_badge(leaf) for leaf in used)
        if _is_leaf(fact):
            badges = (self._leaf_badge(fact.id),)
        error = self._error_of.get(fact.id)
        if error is not None and error.slot:
            badges = (*badges, self._saved_badge(error))
        text = fact.site.text.strip()
        shapes = tuple(shape.text for shape in self._facts.shapes(fact.id)) if self._has_shapes else ()
        calls = self._facts.module_calls(fact.id) if self._has_modules else []
        modules = tuple(ModuleCall(module.path, module.class_name, call) for call, module in calls)
        state = self._state(fact.id)
        return GraphNode(fact.id, fact.op.name, _site(fact.site), text, state, badges, shapes=shapes, modules=modules)

    def _state(self, number: int) -> NodeState:
        if self._drawn is not None and number in self._ran and number not in self._failed:
            return "ran"  # as most are: nothing more is looked up
        return state_of(self._facts, self._drawn, self._failed, number)

    def _leaf_badge(self, leaf: int) -> Badge:
        kind: BadgeKind = "parameter" if self._kinds.get(leaf) == "parameter" else "leaf"
        return Badge(self._facts.name_of_leaf(leaf) or "unnamed leaf", kind)

    def _saved_badge(self, error: ErrorFact) -> Badge:
        names = [name for name in self._facts.names(error.storage) if name][:1]
        what = " = ".join([error.slot, *names])
        freed = self._facts.pass_of(self._facts.freed_by(error.node))
        if error.kind == "backward-twice" and freed:
            return Badge(f"{what}: freed by pass {freed.id}", "saved")
        if error.current != error.expected:
            return Badge(f"{what}: saved at v{error.expected}, now v{error.current}", "saved")
        return Badge(what, "saved")

    def _notes(self, graph: Graph) -> list[str]:
        notes = []
        for error in self._errors:
            first_line = (error.text.strip().splitlines() or ["no message"])[0]
            where = f" at #{error.node}" if error.node else ""
            notes.append(f"{error.kind}{where}: {first_line}")
        if self._unknown:
            notes.append(f"{counted(len(self._unknown), 'node')} were born before recording began.")
        if self._drawn is not None and not graph.nodes:
            notes.append("The roots of this pass have no graph.")
        return notes


def title_of(facts: Facts, drawn: PassFact | None) -> str:
    """What a drawing of a pass, or of all nodes, is called."""
    if drawn is None:
        return f"all nodes, backward passes: {len(facts.rows(Kind.PASS_STARTED))}"
    return f"{_site(drawn.site)} {drawn.call}(), pass {drawn.id}: {drawn.outcome}".strip()


def failed_nodes(facts: Facts, drawn: PassFact | None) -> set[int]:
    """The nodes that failed in a pass, or in any: those that errors name, or where none does, those whose run did."""
    named = {each.node for each in facts.errors if each.node and (drawn is None or each.pass_id == drawn.id)}
    if named:
        return named
    passes = facts.failed_passes if drawn is None else [drawn] if drawn.outcome == "error" else []
    return set().union(*(facts.failed(each.id).tolist() for each in passes))


def state_of(facts: Facts, drawn: PassFact | None, failed: Set[int], number: int) -> NodeState:
    """The state of a node in a drawing of a pass, or of all nodes; ``failed`` are those that :func:`failed_nodes` found."""
    if number in failed:
        return "failed"
    ran_in = facts.passes_of(number)
    if drawn is not None and drawn.id in ran_in:
        return "ran"
    if not ran_in:
        return "pending"
    freed_by = facts.pass_of(facts.freed_by(number))
    if drawn is None:
        return "freed" if freed_by else "ran"
    return "freed" if freed_by and freed_by.row < drawn.row else "pending"


def _is_leaf(fact: NodeFact) -> bool:
    return fact.seq == ACCUMULATE_SEQUENCE or fact.op.name.endswith("AccumulateGrad")


def _in_creation_order(facts: list[NodeFact]) -> list[NodeFact]:
    """By sequence number where one thread made them all, else by id: those of two do not compare."""
    if len({fact.thread for fact in facts}) < 2:
        return sorted(facts, key=lambda fact: (0 if _is_leaf(fact) else fact.seq, fact.id))
    return sorted(facts, key=lambda fact: fact.id)


def _edges(fact: NodeFact, leaves: set[int]) -> list[GraphEdge]:
    return [
        GraphEdge(fact.id, edge.node, edge.nr, index, certainty=_CERTAINTY[edge.provenance])
        for index, edge in enumerate(fact.edges)
        if edge.node and edge.node not in leaves
    ]


def _counted(badges: Iterable[Badge]) -> tuple[Badge, ...]:
    times = "\N{MULTIPLICATION SIGN}"
    return tuple(
        badge if count == 1 else Badge(f"{badge.text} {times}{count}", badge.kind)
        for badge, count in Counter(badges).items()
    )


def _site(site: Site) -> str:
    name = basename(site.file.replace("\\", "/"))
    return f"{name}:{site.line}" if site.line else name

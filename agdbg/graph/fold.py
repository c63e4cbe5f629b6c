"""What a box says that stands for many nodes, and the edges that it has."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from agdbg.counted import counted
from agdbg.graph.model import Badge, GraphEdge, GraphNode, NodeState
from agdbg.graph.topology import Topology

BADGES_KEPT = 3
OPS_NAMED = 5
_CERTAINTIES = ("observed", "inferred", "unknown")
LEAST_ADVANCED: tuple[NodeState, ...] = ("failed", "pending", "ran", "freed")


def folded_node(members: Sequence[GraphNode], repeats: int, block: int, title: str = "") -> GraphNode:
    """Return one box for `members`: `repeats` blocks of `block` nodes, or 0 when they do not repeat; with `title` called so.

    Its state is the least advanced one that a member has; mixed states are counted in its text.
    """
    count = sum(member.count for member in members)
    states = Counter(member.state for member in members)
    text = _ops(members)
    if len(states) > 1:
        counted = ", ".join(f"{states[state]} {state}" for state in LEAST_ADVANCED if states[state])
        text = f"{counted}: {text}"
    state = next(state for state in LEAST_ADVANCED if states[state])
    return GraphNode(
        id=members[0].id,
        op=title or _title(members, count, repeats, block),
        site=_sites(member.site for member in members),
        text=text,
        state=state,
        badges=_badges(members),
        count=count,
    )


def _title(members: Sequence[GraphNode], count: int, repeats: int, block: int) -> str:
    times = "\N{MULTIPLICATION SIGN}"
    if not repeats:
        return f"{counted(count, 'node')} folded"
    if block == 1:
        return f"{repeats:,} {times} {members[0].op}"
    if count == repeats * block:
        return f"{repeats:,} {times} {counted(block, 'node')}"
    return f"{counted(repeats, 'repeat')}, {counted(count, 'node')}"


def _ops(members: Sequence[GraphNode]) -> str:
    """The ops of the members, in order of first appearance."""
    ops = list(dict.fromkeys(member.op.removesuffix("Backward0") for member in members))
    if len(ops) <= OPS_NAMED + 1:
        return ", ".join(ops)
    return f"{', '.join(ops[:OPS_NAMED])} and {len(ops) - OPS_NAMED} more ops"


def _sites(sites: Iterable[str]) -> str:
    """A range of lines in one file, or the first site and how many others."""
    distinct = list(dict.fromkeys(site for site in sites if site))
    if len(distinct) < 2:
        return "".join(distinct)
    parts = [site.rpartition(":") for site in distinct]
    files = {file for file, _, _ in parts}
    lines = [int(line) for _, _, line in parts if line.isascii() and line.isdigit() and len(line) < 10]
    if len(files) == 1 and len(lines) == len(distinct):
        return f"{parts[0][0]}:{min(lines)}-{max(lines)}"
    others = len(distinct) - 1
    return f"{distinct[0]} and {others:,} other line{'s' if others > 1 else ''}"


def _badges(members: Sequence[GraphNode]) -> tuple[Badge, ...]:
    distinct = list(dict.fromkeys(badge for member in members for badge in member.badges))
    if len(distinct) <= BADGES_KEPT + 1:
        return tuple(distinct)
    rest = len(distinct) - BADGES_KEPT
    kinds = {badge.kind for badge in distinct[BADGES_KEPT:]}
    kind = kinds.pop() if len(kinds) == 1 else "leaf"
    return (*distinct[:BADGES_KEPT], Badge(f"{rest} more", kind))


def folded_edges(
    edges: Sequence[GraphEdge], topology: Topology, owner: Sequence[int], boxes: Sequence[GraphNode]
) -> list[GraphEdge]:
    """Edges between boxes; `owner` says which box a node position is in. Edges inside a box are not drawn."""
    merged: dict[tuple[int, int], int] = {}
    result: list[GraphEdge] = []
    for edge, consumer, producer in zip(edges, topology.consumers, topology.producers, strict=True):
        ends = (owner[consumer], owner[producer])
        if ends[0] == ends[1] and boxes[ends[0]].count > 1:
            continue
        if boxes[ends[0]].count == boxes[ends[1]].count == 1:
            result.append(edge)
        elif ends not in merged:
            merged[ends] = len(result)
            result.append(replace(edge, src=boxes[ends[0]].id, dst=boxes[ends[1]].id))
        else:
            first = result[merged[ends]]
            weakest = max(first.certainty, edge.certainty, key=_CERTAINTIES.index)
            result[merged[ends]] = replace(first, count=first.count + edge.count, certainty=weakest)
    return result

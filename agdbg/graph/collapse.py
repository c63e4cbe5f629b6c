"""Big graphs made small enough to look at, with honest counts.

A graph of more than `DEFAULT_NODE_LIMIT` nodes is folded, in this order and only as far as needed:

1. Repeats. Where blocks of nodes with the same ops, lines and states follow each other at least four times
   (the steps of a loop, equal layers, a long chain), the first and the last stay, and one box stands for
   those between. Repeats of repeats (nested loops) fold again.
2. Stretches. If that is not enough, the nodes near what failed (or else near the loss) stay, and the rest is
   folded into a few boxes of neighbours in creation order.

Nodes that failed and their direct neighbours are never folded. A fold is always a stretch of one order in
which producers come first, so folding never makes a cycle. `graph.notes` say what was folded.
"""

from collections.abc import Hashable
from dataclasses import dataclass

from agdbg.counted import counted
from agdbg.graph.fold import folded_edges, folded_node
from agdbg.graph.model import Graph
from agdbg.graph.repeats import find_repeats
from agdbg.graph.topology import Topology, topology_of

DEFAULT_NODE_LIMIT = 200
LEAST_LIMIT = 16
MAX_ROUNDS = 8
NOTES_OF_FOLDS = 8
"""Folds that get a note of their own."""


@dataclass(frozen=True, slots=True)
class _Item:
    """A stretch of the order, `start` included and `end` not: one node or one fold."""

    start: int
    end: int
    key: int
    repeats: int = 0
    block: int = 0


def collapse(graph: Graph, limit: int = DEFAULT_NODE_LIMIT, full: bool = False) -> Graph:
    """Return a graph of at most about `limit` boxes; `graph` itself when it is no bigger, or when `full`.

    Raises:
        ValueError: `limit` is below 16, or the graph's edges and nodes do not fit together.
    """
    if limit < LEAST_LIMIT:
        raise ValueError(f"the limit of nodes must be at least {LEAST_LIMIT}, not {limit}")
    if full or len(graph.nodes) <= limit:
        return graph
    topology = topology_of(graph)
    items = _fold_repeats(_items(graph, topology), limit)
    if len(items) > limit:
        items = _fold_stretches(items, _focus(graph, topology, items), limit)
    return _apply(graph, topology, items)


def _items(graph: Graph, topology: Topology) -> list[_Item]:
    """One item a node; equal nodes have equal keys, and those that must stay have keys of their own."""
    kept = _kept(graph, topology)
    numbers: dict[Hashable, int] = {}
    items = []
    for at, position in enumerate(topology.order):
        node = graph.nodes[position]
        looks: Hashable = (node.op, node.site, node.state)
        key = -1 - at if position in kept else numbers.setdefault(looks, len(numbers))
        items.append(_Item(at, at + 1, key))
    return items


def _kept(graph: Graph, topology: Topology) -> set[int]:
    failed = {at for at, node in enumerate(graph.nodes) if node.state == "failed"}
    near = set(failed)
    if failed:
        for consumer, producer in zip(topology.consumers, topology.producers, strict=True):
            if consumer in failed or producer in failed:
                near |= {consumer, producer}
    return near


def _fold_repeats(items: list[_Item], limit: int) -> list[_Item]:
    numbers: dict[Hashable, int] = {}
    next_key = max(item.key for item in items) + 1
    for _ in range(MAX_ROUNDS):
        if len(items) <= limit:
            break
        folded: list[_Item] = []
        done = 0
        for start, period, times in find_repeats([item.key for item in items]):
            first, last = start + period, start + period * (times - 1)
            looks = tuple(item.key for item in items[start:first])
            key = next_key + numbers.setdefault(looks, len(numbers))
            folded += items[done:first]
            block = items[first - 1].end - items[start].start
            folded.append(_Item(items[first].start, items[last - 1].end, key, times - 2, block))
            done = last
        if not done:
            break
        items = folded + items[done:]
    return items


def _focus(graph: Graph, topology: Topology, items: list[_Item]) -> list[int]:
    """Which items a reader looks at first: those that failed, else the newest."""
    failed = [
        at
        for at, item in enumerate(items)
        if item.end - item.start == 1 and graph.nodes[topology.order[item.start]].state == "failed"
    ]
    return failed or [len(items) - 1]


def _fold_stretches(items: list[_Item], focus: list[int], limit: int) -> list[_Item]:
    stretches = max(limit // 8, 2)
    keep = max(limit - stretches - len(focus) - 1, len(focus))
    distance = _distances(len(items), focus)
    near = set(sorted(range(len(items)), key=lambda at: (distance[at], at))[:keep])
    size = -(-(len(items) - len(near)) // stretches)
    folded: list[_Item] = []
    waiting: list[_Item] = []
    for at, item in enumerate(items):
        stays = at in near or item.key < 0
        if waiting and (stays or len(waiting) == size):
            folded.append(_joined(waiting))
            waiting = []
        (folded if stays else waiting).append(item)
    return folded + ([_joined(waiting)] if waiting else [])


def _joined(items: list[_Item]) -> _Item:
    return items[0] if len(items) == 1 else _Item(items[0].start, items[-1].end, items[0].key)


def _distances(size: int, focus: list[int]) -> list[int]:
    """How far each place is from the nearest focus."""
    distance = [size] * size
    for at in focus:
        distance[at] = 0
    for at in range(1, size):
        distance[at] = min(distance[at], distance[at - 1] + 1)
    for at in range(size - 2, -1, -1):
        distance[at] = min(distance[at], distance[at + 1] + 1)
    return distance


def _apply(graph: Graph, topology: Topology, items: list[_Item]) -> Graph:
    result = Graph(graph.title, [], [], list(graph.notes))
    owner = [0] * topology.size
    folds: list[str] = []
    for at, item in enumerate(items):
        members = sorted(topology.order[item.start : item.end])
        for position in members:
            owner[position] = at
        if len(members) == 1:
            result.nodes.append(graph.nodes[members[0]])
        else:
            box = folded_node([graph.nodes[position] for position in members], item.repeats, item.block)
            result.nodes.append(box)
            folds.append(f"Folded at #{box.id}: {box.op} ({box.text}) at {box.site or 'no known line'}.")
    result.edges = folded_edges(graph.edges, topology, owner, result.nodes)
    boxes = len(result.nodes)
    result.notes.append(
        f"{counted(boxes, 'box', 'es')} stand for {counted(graph.size, 'node')}; a full drawing shows every node."
    )
    result.notes += folds[:NOTES_OF_FOLDS]
    if len(folds) > NOTES_OF_FOLDS:
        result.notes.append(f"{len(folds) - NOTES_OF_FOLDS} more folds are marked in the drawing.")
    return result

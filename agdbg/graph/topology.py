"""A graph as plain integers, with an order in which producers come before consumers."""

from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from agdbg.graph.model import Graph


@dataclass(slots=True)
class Topology:
    """Edges as positions in `graph.nodes`.

    `against` holds the edges (by their place in `graph.edges`) that no order can satisfy. A true autograd
    graph has none; a damaged trace may.
    """

    size: int
    consumers: list[int]
    producers: list[int]
    order: list[int]
    against: set[int]


def topology_of(graph: Graph) -> Topology:
    """Number the edges of `graph` and find an order as near to creation order as its edges allow.

    Raises:
        ValueError: an edge names a node that the graph does not have, or two nodes have one id.
    """
    at = graph.positions()
    try:
        consumers = [at[edge.src] for edge in graph.edges]
        producers = [at[edge.dst] for edge in graph.edges]
    except KeyError as missing:
        raise ValueError(f"an edge names node #{missing.args[0]}, which the graph does not have") from None
    order = _order(len(graph.nodes), consumers, producers)
    place = _inverse(order)
    against = {
        edge
        for edge, (consumer, producer) in enumerate(zip(consumers, producers, strict=True))
        if place[producer] >= place[consumer]
    }
    return Topology(len(graph.nodes), consumers, producers, order, against)


def _inverse(order: list[int]) -> list[int]:
    place = [0] * len(order)
    for position, node in enumerate(order):
        place[node] = position
    return place


def _order(size: int, consumers: list[int], producers: list[int]) -> list[int]:
    """Creation order where it will do (the common case), else Kahn's algorithm, oldest ready first."""
    if all(producer < consumer for consumer, producer in zip(consumers, producers, strict=True)):
        return list(range(size))
    waits = [0] * size
    used_by: list[list[int]] = [[] for _ in range(size)]
    for consumer, producer in zip(consumers, producers, strict=True):
        waits[consumer] += 1
        used_by[producer].append(consumer)
    return _kahn(waits, used_by)


def _kahn(waits: list[int], used_by: list[list[int]]) -> list[int]:
    ready = [node for node, wait in enumerate(waits) if not wait]
    heapify(ready)
    placed = [False] * len(waits)
    order: list[int] = []
    oldest = 0
    while len(order) < len(waits):
        if not ready:  # only cycles are left: let the oldest node go first
            while placed[oldest]:
                oldest += 1
            ready.append(oldest)
        node = heappop(ready)
        if placed[node]:
            continue
        placed[node] = True
        order.append(node)
        for consumer in used_by[node]:
            waits[consumer] -= 1
            if not waits[consumer] and not placed[consumer]:
                heappush(ready, consumer)
    return order

"""Which layer each node stands in, and which edges are too long to be routed."""

from dataclasses import dataclass

from agdbg.graph.topology import Topology

MAX_SPAN = 12
"""An edge over more layers than this is drawn as a port at both ends, so that cost stays linear."""


@dataclass(slots=True)
class Layers:
    """`layer` counts from 0 at the top (oldest) per node. Edges are named by their place in the graph.

    `routed` edges are drawn as lines, `ports` as labels at both ends. `component` numbers connected parts.
    `rank` says how much an edge belongs to the trunk of the drawing, which placement keeps straight: 3 on a
    longest path of its part, 2 on the longest path through both its ends, 1 on the longest from above, or 0.
    """

    layer: list[int]
    routed: list[int]
    ports: list[int]
    rank: list[int]
    component: list[int]


def assign_layers(topology: Topology, max_span: int = MAX_SPAN) -> Layers:
    """Layer by longest path; what hangs from nothing older is then pulled down next to its consumer."""
    producers_of, consumers_of = _neighbours(topology)
    depth = [0] * topology.size
    for node in topology.order:
        depth[node] = 1 + max((depth[producer] for producer in producers_of[node]), default=-1)
    layer = depth.copy()
    _pull_down(topology.order, producers_of, consumers_of, layer)
    component = _components(topology.size, producers_of, consumers_of)
    rank = _ranks(topology, consumers_of, depth, component)
    routed, ports = [], []
    for edge, (consumer, producer) in enumerate(zip(topology.consumers, topology.producers, strict=True)):
        if edge in topology.against or layer[consumer] - layer[producer] > max_span:
            ports.append(edge)
        else:
            routed.append(edge)
    _start_at_zero(layer, component)
    return Layers(layer, routed, ports, rank, component)


def _ranks(topology: Topology, consumers_of: list[list[int]], depth: list[int], component: list[int]) -> list[int]:
    height = [0] * topology.size
    for node in reversed(topology.order):
        height[node] = 1 + max((height[consumer] for consumer in consumers_of[node]), default=-1)
    longest = [0] * topology.size
    for part, high in zip(component, height, strict=True):
        longest[part] = max(longest[part], high)
    rank = [0] * len(topology.consumers)
    for edge, (consumer, producer) in enumerate(zip(topology.consumers, topology.producers, strict=True)):
        if depth[producer] + 1 == depth[consumer]:
            is_local = height[consumer] + 1 == height[producer]
            is_trunk = depth[consumer] + height[consumer] == longest[component[consumer]]
            rank[edge] = 3 if is_local and is_trunk else 2 if is_local else 1
    return rank


def _neighbours(topology: Topology) -> tuple[list[list[int]], list[list[int]]]:
    producers_of: list[list[int]] = [[] for _ in range(topology.size)]
    consumers_of: list[list[int]] = [[] for _ in range(topology.size)]
    for edge, (consumer, producer) in enumerate(zip(topology.consumers, topology.producers, strict=True)):
        if edge not in topology.against:
            producers_of[consumer].append(producer)
            consumers_of[producer].append(consumer)
    return producers_of, consumers_of


def _pull_down(
    order: list[int], producers_of: list[list[int]], consumers_of: list[list[int]], layer: list[int]
) -> None:
    """Move small side trees (weights, constants, targets) from the top to just above what uses them."""
    is_tree = [False] * len(order)
    for node in order:
        is_tree[node] = all(is_tree[each] and len(consumers_of[each]) == 1 for each in producers_of[node])
    for node in reversed(order):
        if is_tree[node] and consumers_of[node]:
            layer[node] = min(layer[consumer] for consumer in consumers_of[node]) - 1


def _components(size: int, producers_of: list[list[int]], consumers_of: list[list[int]]) -> list[int]:
    """Number the connected parts in the order of their oldest nodes."""
    component = [-1] * size
    count = 0
    for start in range(size):
        if component[start] >= 0:
            continue
        component[start] = count
        todo = [start]
        while todo:
            node = todo.pop()
            for near in (*producers_of[node], *consumers_of[node]):
                if component[near] < 0:
                    component[near] = count
                    todo.append(near)
        count += 1
    return component


def _start_at_zero(layer: list[int], component: list[int]) -> None:
    top: dict[int, int] = {}
    for node, part in enumerate(component):
        top[part] = min(top.get(part, layer[node]), layer[node])
    for node, part in enumerate(component):
        layer[node] -= top[part]

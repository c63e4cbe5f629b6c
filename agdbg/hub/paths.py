"""The ways that gradients can take from one node to another."""

from collections import deque

from agdbg.protocol.looks import PathsBody
from agdbg.record.live import LiveFacts

#: Nodes that are looked at; what is further away is not found.
MOST = 50_000
#: Nodes that are told.
TOLD = 1000


def paths_between(facts: LiveFacts, one: int, other: int) -> PathsBody:
    """The nodes on the ways between two nodes, whichever of them the gradient comes to first.

    Raises:
        ValueError: there is no such node.
    """
    for node in (one, other):
        if facts.node(node) is None:
            raise ValueError(f"there is no node {node}")
    for start, goal in ((one, other), (other, one)):
        used, is_cut = _walk(facts, start, goal)
        between = _leading_to(used, goal)
        if start in between:
            shortest = _shortest(used, between, start, goal)
            told = sorted(between)
            return {
                "first": start, "last": goal, "total": len(told), "nodes": told[:TOLD], "shortest": shortest[:TOLD],
                "cut": is_cut,
            }  # fmt: skip
    return {"first": one, "last": other, "total": 0, "nodes": [], "shortest": [], "cut": is_cut}


def _walk(facts: LiveFacts, start: int, goal: int) -> tuple[dict[int, list[int]], bool]:
    """The producers of every node that the gradient of ``start`` comes to, and whether there are more than was looked at."""
    used: dict[int, list[int]] = {}
    todo = deque([start])
    while todo and len(used) < MOST:
        node = todo.popleft()
        if node in used:
            continue
        fact = facts.node(node)
        used[node] = [edge.node for edge in fact.edges if edge.node] if fact is not None and node != goal else []
        todo.extend(used[node])
    return used, bool(todo)


def _leading_to(used: dict[int, list[int]], goal: int) -> set[int]:
    """The nodes from which the goal is come to."""
    consumers: dict[int, list[int]] = {}
    for node, producers in used.items():
        for producer in producers:
            consumers.setdefault(producer, []).append(node)
    found: set[int] = set()
    todo = [goal] if goal in used else []
    while todo:
        node = todo.pop()
        if node not in found:
            found.add(node)
            todo += consumers.get(node, ())
    return found


def _shortest(used: dict[int, list[int]], between: set[int], start: int, goal: int) -> list[int]:
    before: dict[int, int] = {start: 0}
    todo = deque([start])
    while todo:
        node = todo.popleft()
        for producer in used[node]:
            if producer in between and producer not in before:
                before[producer] = node
                todo.append(producer)
    way = [goal]
    while way[-1] != start:
        way.append(before[way[-1]])
    return way[::-1]

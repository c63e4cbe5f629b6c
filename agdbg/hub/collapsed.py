"""The graph around a node at a level: a box for what each call of a module has built, a box for each node outside of them."""

from typing import TYPE_CHECKING

import numpy as np

from agdbg.counted import counted
from agdbg.graph.row_folds import Item, View
from agdbg.graph.told import edges_to
from agdbg.hub.moment import Moment
from agdbg.hub.neighbourhood import MOST, Sheet, badges_of, placed
from agdbg.protocol.looks import NeighbourhoodBody
from agdbg.protocol.vendor import GraphEdge, Row

if TYPE_CHECKING:
    from agdbg.hub.history import History

#: Rows of which the edges are looked at on each side of the box in the middle.
ROWS = 20_000


def collapsed(history: "History", node: int, depth: int, at: Moment | None, following: int = 0) -> NeighbourhoodBody:
    """All that hangs together with a node, at a depth in calls of modules, as far as it fits.

    ``total`` counts what was found near the node; that it is ``cut`` says that more hangs together with that further away.

    The box of the node ``following`` is *next*, if that is one.

    Raises:
        ValueError: the node has no row.
    """
    row = history.place_of(node, at=at)
    if row is None:
        raise ValueError(f"node {node} has no row: it is a leaf that no recorded node uses, or was not built")
    depth = min(depth, history.folded.deepest)
    view = history.folded.folds.level(depth)
    middle = view.at(row)
    first, last = _window(view, middle)
    edges = _edges(history, view, first, last)
    together = _together(middle, edges)
    shown = sorted(sorted(together, key=lambda index: abs(index - middle))[:MOST])
    items = [view.item(index) for index in shown]
    rows = history.folded.told(items, at)
    if following and (place := history.place_of(following, at=at)) is not None and view.at(place) in shown:
        rows[shown.index(view.at(place))]["state"] = "next"
    ids = {index: told["node"] for index, told in zip(shown, rows, strict=True)}
    kept = [_edge(ids[consumer], ids[producer]) for consumer, producer in edges if {consumer, producer} <= ids.keys()]
    nodes = [_node(item, told, following) for item, told in zip(items, rows, strict=True)]
    is_cut = (first > 0 or last < len(view)) and _goes_on(history, view, together, first, last)
    return placed(Sheet(ids[middle], 0, len(together), is_cut, depth), nodes, kept)


def _window(view: View, middle: int) -> tuple[int, int]:
    """The boxes, from one to before another, that are looked at: in training each iteration hangs together by itself."""
    item = view.item(middle)
    first = max(view.at(max(item.start - ROWS, 0)), middle - MOST)
    last = min(view.at(min(item.end + ROWS, view.total) - 1) + 1, middle + MOST + 1)
    return first, last


def _edges(history: "History", view: View, first: int, last: int) -> list[tuple[int, int]]:
    """Which boxes of a window use which, each pair once."""
    start, end = view.item(first).start, view.item(last - 1).end
    rows = np.arange(start, end)
    used = history.graph_rows.used(rows)
    pairs = {
        (view.at(consumer), view.at(producer))
        for consumer, producers in zip(rows.tolist(), used, strict=True)
        for producer in producers
        if start <= producer < end
    }
    return sorted((consumer, producer) for consumer, producer in pairs if consumer != producer)


def _together(middle: int, edges: list[tuple[int, int]]) -> set[int]:
    """The boxes that can be come to from one, along edges in either direction."""
    beside: dict[int, list[int]] = {}
    for consumer, producer in edges:
        beside.setdefault(consumer, []).append(producer)
        beside.setdefault(producer, []).append(consumer)
    found, todo = {middle}, [middle]
    while todo:
        fresh = set(beside.get(todo.pop(), ())) - found
        found |= fresh
        todo += fresh
    return found


def _goes_on(history: "History", view: View, together: set[int], first: int, last: int) -> bool:
    """Whether an edge leads from these boxes out of the window: more hangs together with them than was looked at."""
    start, end = view.item(first).start, view.item(last - 1).end
    items = [view.item(index) for index in sorted(together)]
    rows = np.concatenate([np.arange(item.start, item.end) for item in items])
    if any(0 <= producer < start for producers in history.graph_rows.used(rows) for producer in producers):
        return True
    nodes = history.graph_rows.nodes
    users = edges_to(history.growing, nodes.nodes.now[rows]).source
    return bool(np.any(nodes.find(np.unique(users)) >= end))


def _edge(consumer: int, producer: int) -> GraphEdge:
    return {"consumer": consumer, "producer": producer, "output": 0, "input": 0}


def _node(item: Item, told: Row, following: int) -> tuple[Row, list[str]]:
    """A box and its words: of a module how much it has built, and the shape that it gives."""
    count = item.end - item.start
    badges = badges_of(told, following)
    place = f"{told['file'].rsplit('/', 1)[-1]}:{told['line']}" if told["file"] else ""
    if count == 1:
        return told, [f"{told['op']} #{told['node']}", badges or told["shape"] or place]
    return told, [told["op"], f"{counted(count, 'node')}  {told['shape'] or place}".rstrip()]

"""The order in which PyTorch's ready queue hands out nodes, ties between leaves included.

Ready nodes wait in a binary heap, the highest sequence number on top. All AccumulateGrad nodes have the same
number, so which of several comes first depends on how the heap moves its elements: this is the heap of the GNU
C++ library, step by step. It matters only where one node makes three or more leaves ready at once.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Container, Iterable

from .node import Node, Nowhere

_by_seq = operator.attrgetter("seq")


def plan(roots: Iterable[Node]) -> list[Node]:
    """All nodes reachable from ``roots`` in running order: by falling sequence number, a leaf after its last consumer."""
    roots = list(roots)
    order = [n for n in roots if not n.leaf]
    seen: set[Node] = {*order}
    last: dict[Node, Node] = {}
    see, take, last_of = seen.add, order.append, last.get
    for node in order:  # grows while it is walked
        for n in (node.n0,) if node.arity == 1 else (node.n0, node.n1) if node.arity == 2 else node.next_nodes():
            if n is None or n in seen:
                continue
            if n.leaf:
                if type(n) is Nowhere:
                    continue
                before = last_of(n)
                if before is None or node.seq < before.seq:
                    last[n] = node
            else:
                see(n)
                take(n)
    order.sort(key=_by_seq, reverse=True)
    alone = [n for n in roots if n.leaf and n not in last]
    if not last and len(alone) < 3:
        return alone + order
    return _with_leaves(order, last, alone) or ready_order(roots)


def _with_leaves(order: list[Node], last: dict[Node, Node], alone: list[Node]) -> list[Node] | None:
    """Put every leaf behind its last consumer, in the order of that consumer's edges; ``None`` for three at once."""
    waiting: dict[Node, list[Node]] = {}
    for leaf, consumer in last.items():
        waiting.setdefault(consumer, []).append(leaf)
    if len(alone) > 2 or max(map(len, waiting.values())) > 2:
        return None
    for consumer, leaves in waiting.items():
        if len(leaves) > 1:
            position = {n: i for i, n in reversed(list(enumerate(consumer.next_nodes())))}
            leaves.sort(key=position.__getitem__)
    if len(waiting) <= 8:  # a search in C for each beats a look at every node
        for consumer, leaves in waiting.items():
            behind = order.index(consumer) + 1
            order[behind:behind] = leaves
        return alone + order
    for node in order:
        alone.append(node)
        alone.extend(waiting.get(node, ()))
    return alone


def ready_order(roots: list[Node], wanted: Container[Node] | None = None) -> list[Node]:
    """The nodes below ``roots`` (those among ``wanted``) in the order in which they leave the queue."""
    waiting = _dependencies(roots, wanted)
    heap: list[Node] = []
    order: list[Node] = []
    _release(heap, waiting, roots)
    while heap:
        node = _pop(heap)
        order.append(node)
        _release(heap, waiting, node.next_nodes())
    return order


def _dependencies(roots: list[Node], wanted: Container[Node] | None) -> Counter[Node]:
    """How many gradients every node waits for; a root has one more, from the caller."""
    waiting = Counter(n for n in roots if wanted is None or n in wanted)
    stack = list(waiting)
    while stack:
        for n in stack.pop().next_nodes():
            if n is not None and (wanted is None or n in wanted):
                if n not in waiting:
                    stack.append(n)
                waiting[n] += 1
    return waiting


def _release(heap: list[Node], waiting: Counter[Node], arrived: Iterable[Node | None]) -> None:
    """One more gradient has come for each of ``arrived``; what waits for no other goes onto the heap."""
    for n in arrived:
        if n is None or n not in waiting:
            continue
        waiting[n] -= 1
        if not waiting[n]:
            heap.append(n)
            _rise(heap, len(heap) - 1, n)


def _rise(heap: list[Node], hole: int, node: Node) -> None:
    """Put ``node`` into ``hole`` or above, where its parent is no smaller."""
    parent = (hole - 1) // 2
    while hole > 0 and heap[parent].seq < node.seq:
        heap[hole] = heap[parent]
        hole, parent = parent, (parent - 1) // 2
    heap[hole] = node


def _pop(heap: list[Node]) -> Node:
    """Take the top: larger children move up until the hole is at the bottom, then the last element rises from it."""
    top, last = heap[0], heap.pop()
    n, hole = len(heap), 0
    if n == 0:
        return top
    while hole < (n - 1) // 2:
        child = 2 * hole + 2
        if heap[child].seq < heap[child - 1].seq:
            child -= 1
        heap[hole] = heap[child]
        hole = child
    if n % 2 == 0 and hole == (n - 2) // 2:
        heap[hole] = heap[2 * hole + 1]
        hole = 2 * hole + 1
    _rise(heap, hole, last)
    return top

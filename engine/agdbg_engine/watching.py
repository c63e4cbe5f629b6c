"""Gradients shown to an instrument on their way: what arrives at a node of a pass, and what the node sends to each producer.

What a node sends is added to what already waits there, often in place. So a node whose gradients are watched is given,
instead of the buffers of the pass, :class:`_Sent`, in which nothing ever waits; what it holds then is brought to the
buffers by the same additions in the same order, so that not a bit of the results, nor who owns a buffer, is different.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .saved import unpack_all

if TYPE_CHECKING:
    from .backward import BackwardPass
    from .node import Node


class Watch:
    """Receives the gradients of one pass, buffers or tensors, to look at and not to keep. It must not raise."""

    def arrived(self, node: Node, nr: int, g: Any) -> None:
        """``g`` arrived for output ``nr`` of ``node``, which is about to run."""

    def sent(self, node: Node, index: int, g: Any) -> None:
        """``node`` sends ``g`` to the producer of its input ``index``."""


class _Sent(dict[Any, Any]):
    """Takes what one node sends in place of the buffers of a pass: every gradient is the first one."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Any, Any]] = []

    def __contains__(self, key: object) -> bool:
        return False

    def __setitem__(self, key: Any, g: Any) -> None:
        self.pairs.append((key, g))


def runner(bp: BackwardPass, watch: Watch) -> Callable[[Node], None]:
    """``run_node`` for passes on buffers, as ``backward`` has it, with ``watch`` looking on."""
    buffers, shared, summed, freed = bp.buffers, bp.shared, bp.summed, bp.freed
    pop, general = buffers.pop, bp._general_node

    def run_node(node: Node) -> None:
        if node.hooks is not None or node.multi:
            general(node)
            return
        g = pop(node, None)
        if g is None:
            unpack_all(node)
            if freed is not None:
                node.release(freed)
            return
        watch.arrived(node, 0, g)
        sent, marked = _Sent(), {node} if node in shared else set()
        node.run(g, sent, marked, summed, freed)
        show(watch, node, sent.pairs)
        marked.discard(node)
        deliver(sent.pairs, marked, buffers, shared, summed)

    return run_node


def deliver(
    pairs: Iterable[tuple[Any, Any]], marked: set[Any], buffers: dict[Any, Any], shared: set[Any], summed: set[Any]
) -> None:
    """Bring what a node sends to the buffers of its pass, as it would have done itself; ``marked`` it found to be shared."""
    from .backward import add

    for key, g in pairs:
        if key in buffers:
            add(buffers, key, g, shared, summed)
        else:
            buffers[key] = g
            if key in marked:
                shared.add(key)


def show(watch: Watch, node: Node, pairs: Iterable[tuple[Any, Any]]) -> None:
    """Tell what ``node`` sends, by the numbers of its inputs: they are served in order, some of them with nothing."""
    keys = _keys(node)
    at = -1
    for key, g in pairs:
        at = next((i for i in range(at + 1, len(keys)) if keys[i] == key), at)
        watch.sent(node, max(at, 0), g)


def show_arrived(watch: Watch, node: Node, gs: Iterable[Any]) -> None:
    """Tell what arrived for each output of ``node``, or ``None``."""
    for nr, g in enumerate(gs):
        if g is not None:
            watch.arrived(node, nr, g)


def show_all(watch: Watch, node: Node, grads: Iterable[Any]) -> None:
    """Tell what ``node`` sends, given one gradient for every input, or ``None``."""
    for index, (n, g) in enumerate(zip(node.next_nodes(), grads, strict=True)):
        if n is not None and g is not None:
            watch.sent(node, index, g)


def _keys(node: Node) -> list[Any]:
    numbers: Iterator[int] | tuple[int, ...] = node.nrs or ()
    nodes = node.next_nodes()
    pairs = zip(nodes, numbers or (0,) * len(nodes), strict=True)
    return [(n, nr) if nr else n for n, nr in pairs]

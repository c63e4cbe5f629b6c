"""Which graphs live on when their backward call is over: what grows from iteration to iteration, and gradients with a graph.

Nothing is kept alive by looking: there are weak references only.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import NamedTuple

from agdbg.events import Held, Kind, head, pack_edge
from agdbg_engine.backward import BackwardPass
from agdbg_engine.node import AccumulateGrad, Node
from agdbg_engine.tensor import Tensor

_LEAVES = 8
"""Leaves of one pass that are looked at."""

Emit = Callable[..., None]


class _Gradient(NamedTuple):
    """A leaf whose ``grad`` was made with a graph, by a pass on a line."""

    leaf: weakref.ref[Tensor]
    node: int
    storage: int
    running: int
    place: tuple[int, int]


class _Alive:
    """Nodes that are looked at without being kept, in the order in which they came."""

    def __init__(self, number: Callable[[Node], int]) -> None:
        self._number = number
        self._nodes: dict[int, weakref.ref[Node]] = {}

    def add(self, node: Node) -> None:
        """Look at ``node`` from now on."""
        number, nodes = self._number(node), self._nodes
        nodes.setdefault(number, weakref.ref(node, lambda _: nodes.pop(number, None)))

    def numbers(self) -> list[int]:
        """The numbers of those that are there, the oldest first."""
        return list(self._nodes)


class HeldGraphs:
    """Looks, whenever a pass starts and at the end, which graphs of finished passes are still there.

    Of each the root is looked at, and the node that ran last: whoever holds an intermediate result holds that one too.
    """

    def __init__(self, emit: Emit, number: Callable[[Node], int], storage_of: Callable[[Tensor], int]) -> None:
        self._emit = emit
        self._number = number
        self._storage_of = storage_of
        self._roots, self._deepest = _Alive(number), _Alive(number)
        self._gradients: list[_Gradient] = []

    def started(self, bp: BackwardPass, thread: int) -> None:
        """A pass starts."""
        self._tell_graphs(bp.tag, thread)
        if self._gradients:
            self._tell_gradients((id(bp.code), bp.lasti), thread)

    def finished(self, bp: BackwardPass) -> None:
        """A pass is over."""
        for root in dict.fromkeys(node for node, _ in bp.roots if not node.leaf):
            self._roots.add(root)
        last = next((node for node in reversed(bp.order) if not node.leaf), None)
        if last is not None:
            self._deepest.add(last)
        if bp.create_graph and bp.call == "backward":
            leaves = [node for node in bp.order if isinstance(node, AccumulateGrad)][:_LEAVES]
            place = id(bp.code), bp.lasti
            self._gradients += [
                _Gradient(weakref.ref(n.variable), self._number(n), self._storage_of(n.variable), bp.tag, place)
                for n in leaves
            ]

    def ended(self, thread: int) -> None:
        """The recording is over."""
        self._tell_graphs(0, thread)
        self._tell_gradients(None, thread)

    def _tell_graphs(self, running: int, thread: int) -> None:
        """Those of which the root is there, or those of which the last node is, whichever are more."""
        alive = max(self._roots.numbers(), self._deepest.numbers(), key=len)
        if alive:
            words = len(alive), pack_edge(alive[0]), 0, 0, 0, 0
            self._emit(head(Kind.HELD, thread, a=Held.SOMEBODY), running, *words)

    def _tell_gradients(self, place: tuple[int, int] | None, thread: int) -> None:
        """Those of passes of the line that calls again; all of them at the end."""
        due = [each for each in self._gradients if place in (None, each.place)]
        self._gradients = [each for each in self._gradients if place not in (None, each.place)]
        for each in due:
            leaf = each.leaf()
            grad = None if leaf is None else leaf._gradient
            if grad is not None and grad._fn is not None:
                words = 1, pack_edge(each.node), each.storage, 0, 0, 0
                self._emit(head(Kind.HELD, thread, a=Held.GRADIENT), each.running, *words)

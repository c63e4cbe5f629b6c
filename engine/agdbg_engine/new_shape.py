"""``y.data =`` of another shape, where ``y`` has a history: what is computed from ``y`` afterwards has gradients of the new shape.

Its producer, and what was computed from it before, know the old shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import events, streams
from .anomaly import remember
from .backward import route_run
from .node import Node1, edge, next_seq
from .sites import caller
from .validate import fitted_to, metadata_of

if TYPE_CHECKING:
    from .tensor import Tensor


class NewShapeBackward0(Node1):
    """Sums the gradient to the old shape, as PyTorch does with what a node returns for an input of that shape."""

    __slots__ = ("fits",)
    op_name = "NewShapeBackward0"

    def __init__(self, t: Tensor) -> None:
        self.n0 = edge(t)
        self.nrs = (t._nr,) if t._nr else None
        self.seq = next_seq()
        self.code, self.lasti = caller()
        self.hooks = None
        self.fits = metadata_of(t)
        if events.sink is not None:
            events.sink.node_born(self, t)
        if events.special & events.ANOMALY:
            remember(self)
        if events.special & events.STREAMS:
            streams.remember(self, t)

    def grads(self, g: Any) -> tuple[Any, ...]:
        """Of a buffer."""
        from .tensor import wrap

        return (fitted_to(self, 0, wrap(g), self.fits)._a,)

    def grads_graph(self, g: Any) -> tuple[Any, ...]:
        """Of a tensor."""
        return (fitted_to(self, 0, g, self.fits),)

    run = route_run

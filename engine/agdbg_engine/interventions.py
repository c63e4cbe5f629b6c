"""What a person at a debugger may do to a pass that stands between two nodes: go past one without running it, keep the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import events
from .backward import QUIET, _route_tensors, route
from .device import zeros_on
from .hooks import firing
from .journal import buffer_of, innermost, own_keys, slots_of, unpacks
from .saved import Freed
from .several import beside

if TYPE_CHECKING:
    from .backward import BackwardPass
    from .node import Node


def skip(bp: BackwardPass) -> tuple[Any, ...]:
    """Go past the next node: neither it nor its hooks run, its saved tensors stay, and zeros go on to its producers.

    They are returned. ``autograd.grad`` picks up what has come for it all the same. A leaf gets nothing.
    """
    node = bp.order[bp.position]
    gs = [bp.buffers.pop(key, None) for key in own_keys(node)]
    bp._capture(node, gs)
    found: tuple[Any, ...] = ()
    if bp._wanted is None or node in bp._wanted:
        with np.errstate(**QUIET):
            found = zeros(bp, node, [buffer_of(g) for g in gs])
        if bp.tensors:
            _route_tensors(node, tuple(map(firing.as_tensor, found)), bp.buffers)
        else:
            route(node, found, bp.buffers, bp.shared, bp.summed)
    bp.position += 1
    if events.sink is not None:
        events.sink.node_skipped(bp, node, bp.position - 1)
    return found


def retain(bp: BackwardPass) -> list[Node]:
    """Free nothing more in this pass; return those of its nodes that are freed already, by whatever pass."""
    bp.retain_graph, bp.freed = True, None
    bp.run_node = bp.runner()  # the one before knows what to leave in freed slots
    if events.sink is not None:
        events.sink.graph_retained(bp)
    return [node for node in bp.order if is_freed(node)]


def is_freed(node: Node) -> bool:
    """Whether a pass has released what ``node`` saved."""
    return any(isinstance(value, Freed) for _, _, value in slots_of(node))


def zeros(bp: BackwardPass, node: Node, gs: list[Any]) -> tuple[Any, ...]:
    """A zero buffer for each producer of ``node``; ``None`` where there is none, and where its shape cannot be known.

    What a plain node would send is computed and thrown away: its saved tensors know the shapes. Where they were freed or
    written to, and where functions of the user would have to be called, what is known of the producers says them. ``gs`` are
    the buffers that came in, one for each output.
    """
    producers = node.next_nodes()
    can_tell = any(g is not None for g in gs) and not innermost(node).user_code and not unpacks(slots_of(node))
    found = (_like_its_gradients(node, gs) if can_tell else None) or [None] * len(producers)
    return tuple(
        None if n is None else like if like is not None else _like_its_output(bp, node, i)
        for i, (n, like) in enumerate(zip(producers, found, strict=True))
    )


def _like_its_gradients(node: Node, gs: list[Any]) -> list[Any] | None:
    try:
        with beside(gs):
            grads = node.grads(gs if node.multi else gs[0])
            return [None if g is None else np.zeros_like(g) for g in grads]
    except Exception:  # freed, or written to: what is skipped may be what would fail
        return None


def _like_its_output(bp: BackwardPass, node: Node, i: int) -> Any:
    """Zeros for the producer that is input ``i`` of ``node``, as far as anybody knows what it looks like."""
    n, nr = node.edges()[i]
    assert n is not None
    wants = [want for want in getattr(node, "_wants", ()) if want is not None]
    if node.user_code and len(wants) == len(node.next_nodes()):  # a custom Function knows its arguments
        from .function.grads import zeros_like

        return zeros_like(wants[i])._a
    waiting = buffer_of(bp.buffers.get((n, nr) if nr else n))
    if waiting is not None:
        return np.zeros_like(waiting)
    described = n._input_metadata
    like = described[nr] if nr < len(described) else None
    return None if like is None else zeros_on(like.device, like.shape, like.dtype)

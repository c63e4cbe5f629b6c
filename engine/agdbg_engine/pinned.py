"""Tensors that were given other data after an op had made them: the gradient that their node gets must fit what it made.

The nodes of ops keep no record of what they made, as what comes back fits by construction. Only ``t.data = other`` and changes of
shape without recording break that; they leave a record first, which backward looks at where a node is special anyway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import backward
from .current import current
from .device import same_place
from .hooks import node_hooks
from .validate import fitted_to, metadata_of

if TYPE_CHECKING:
    from .backward import BackwardPass
    from .node import Node
    from .tensor import Tensor


def pin(t: Tensor, array: Any) -> None:
    """``t`` is about to be given ``array``: its node remembers what it made, if that was something else."""
    if t._fn is not None and _another_kind(t._a, array):
        _remember(t._fn, t._nr, t)


def pin_leaf(t: Tensor, array: Any) -> None:
    """As :func:`pin` for a leaf whose shape changes in place, if a graph that has it is alive."""
    if t._fn is None and t._meta is not None and t._meta.accumulator is not None and _another_kind(t._a, array):
        node = t._meta.accumulator()
        if node is not None:
            _remember(node, 0, t)


def _remember(node: Node, nr: int, t: Tensor) -> None:
    node_hooks(node).made.setdefault(nr, metadata_of(t))
    backward.mixed = True


def _another_kind(old: Any, new: Any) -> bool:
    return new.shape != old.shape or new.dtype != old.dtype or not same_place(new, old)


def fitted(bp: BackwardPass, node: Node, gs: list[Any]) -> list[Any]:
    """The gradients ``gs`` that came in for ``node``, made to fit what it made.

    Raises PyTorch's :class:`RuntimeError` with the name of the node that sent one which cannot fit.
    """
    from .hooks.firing import as_tensor

    assert node.hooks is not None
    for nr, want in node.hooks.made.items():
        if gs[nr] is not None:
            sender, index = _sender(bp, node, nr)
            g = fitted_to(sender, index, as_tensor(gs[nr]), want)
            gs[nr] = g if bp.tensors else g._a
    return gs


def both_fitted(key: Any, old: Any, g: Any) -> tuple[Any, Any]:
    """The gradients ``old`` and ``g`` that are to be added for ``key``, of different shapes: each is made to fit what was made."""
    from .hooks.firing import as_tensor
    from .tensor import Tensor

    node, nr = key if type(key) is tuple else (key, 0)
    want = None if node.hooks is None else node.hooks.made.get(nr)
    if want is None or current.bp is None:
        return old, g
    sender, index = _sender(current.bp, node, nr)
    both = [fitted_to(sender, index, as_tensor(x), want) for x in (old, g)]
    return (both[0], both[1]) if isinstance(g, Tensor) else (both[0]._a, both[1]._a)


def _sender(bp: BackwardPass, node: Node, nr: int) -> tuple[Node, int]:
    """Who sent a gradient for output ``nr`` of ``node`` first, and for which of its inputs."""
    for sender in bp.order:
        if sender is node:
            break
        for index, edge in enumerate(sender.edges()):
            if edge == (node, nr):
                return sender, index
    return node, 0  # a root, whose gradient the caller gave

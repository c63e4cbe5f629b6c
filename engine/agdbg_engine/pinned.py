"""Tensors that were given other data after an op had made them: the gradient that their node gets must fit what it made.

The nodes of ops keep no record of what they made, as what comes back fits by construction. Only ``t.data = other``, changes of
shape without recording, and unpack hooks that return another kind of tensor than was saved break that; they leave a record
first, which backward looks at where a node is special anyway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import backward
from .current import current
from .device import same_place
from .hooks import node_hooks
from .meta import SAME
from .node import edge
from .validate import InputMetadata, castable, fitted_to, metadata_of

if TYPE_CHECKING:
    from .backward import BackwardPass
    from .node import Node
    from .tensor import Tensor


def pin(t: Tensor, array: Any) -> None:
    """``t`` is about to be given ``array``: its node remembers what it made, if that was something else."""
    if t._fn is not None and _another_kind(t._a, array):
        _remember(t._fn, t._nr, metadata_of(t))


def pin_leaf(t: Tensor, array: Any) -> None:
    """As :func:`pin` for a leaf whose shape changes in place, if a graph that has it is alive."""
    if t._fn is None and t._meta is not None and t._meta.accumulator is not None and _another_kind(t._a, array):
        node = t._meta.accumulator()
        if node is not None:
            _remember(node, 0, metadata_of(t))


def pin_unpacked(t: Tensor, saved: InputMetadata) -> None:
    """``t`` has the history of what was ``saved`` and is of another kind: its consumers send gradients that are like ``t``."""
    node = edge(t)
    if node is not None:
        _remember(node, t._nr, saved)


def _remember(node: Node, nr: int, what: InputMetadata) -> None:
    node_hooks(node).made.setdefault(nr, what)
    backward.mixed = True


def _another_kind(old: Any, new: Any) -> bool:
    return new.shape != old.shape or new.dtype != old.dtype or not same_place(new, old)


def differ(old: Any, g: Any) -> bool:
    """Whether the gradients ``old`` and ``g``, buffers or tensors, are of different kinds."""
    return _another_kind(getattr(old, "_a", old), getattr(g, "_a", g))


def fitted(bp: BackwardPass, node: Node, gs: list[Any]) -> list[Any]:
    """The gradients ``gs`` that came in for ``node``, made to fit what it made.

    Raises PyTorch's :class:`RuntimeError` with the name of the node that sent one which cannot fit.
    """
    assert node.hooks is not None
    for nr, want in node.hooks.made.items():
        if gs[nr] is not None:
            gs[nr] = _fit(bp, node, nr, gs[nr], want)
    return gs


def both_fitted(key: Any, old: Any, g: Any) -> tuple[Any, Any]:
    """The gradients ``old`` and ``g`` that are to be added for ``key``, of different kinds: each is made to fit what was made."""
    node, nr = key if type(key) is tuple else (key, 0)
    want = None if node.hooks is None else node.hooks.made.get(nr)
    if want is None or current.bp is None:
        return old, g
    return _fit(current.bp, node, nr, old, want), _fit(current.bp, node, nr, g, want)


def _fit(bp: BackwardPass, node: Node, nr: int, g: Any, want: InputMetadata) -> Any:
    """Gradient ``g`` for output ``nr`` of ``node``, a buffer or a tensor, made to fit ``want``."""
    from .hooks.firing import as_tensor
    from .tensor import Tensor

    t = as_tensor(g)
    if node.leaf:
        want = want._replace(dtype=wanted_for(node, t.dtype, want.dtype))
    if t.shape == want.shape and t.device == want.device and castable(t.dtype, want.dtype):
        if t.dtype == want.dtype:
            return g
        t = t.to(want.dtype)
    else:
        t = fitted_to(*_sender(bp, node, nr), t, want)
    return t if isinstance(g, Tensor) else t._a


def wanted_for(node: Any, given: Any, made: Any) -> Any:
    """The dtype in which the leaf of ``node``, whose data were of dtype ``made``, wants a gradient of dtype ``given``."""
    meta = node.variable._meta
    if meta is None or meta.grad_dtype is SAME:
        return made
    return given if meta.grad_dtype is None else meta.grad_dtype


def _sender(bp: BackwardPass, node: Node, nr: int) -> tuple[Node, int]:
    """Who sent a gradient for output ``nr`` of ``node`` first, and for which of its inputs."""
    for sender in bp.order:
        if sender is node:
            break
        for index, to in enumerate(sender.edges()):
            if to == (node, nr):
                return sender, index
    return node, 0  # a root, whose gradient the caller gave

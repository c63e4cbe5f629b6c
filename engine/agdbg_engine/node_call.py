"""A node called like a function: its derivative alone, without a backward pass around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import errors
from .saved import FreedAccess
from .tensor import Tensor

if TYPE_CHECKING:
    from .node import Node


def call(node: Node, gradients: tuple[Any, ...]) -> Any:
    """``node(*gradients)``: one tensor, or a tuple for a node with another number of inputs than one.

    Ops are recorded when gradient mode is on, as they are for anything else that a program computes. Raises :class:`TypeError`
    for what is no tensor and for another number of gradients than of outputs, in PyTorch's words.
    """
    from .node import AccumulateGrad

    for i, g in enumerate(gradients):
        if g is not None and not isinstance(g, Tensor):
            raise TypeError(f"argument {i} is not a Variable")
    expected = node.n_outputs if node.multi else 1
    if len(gradients) != expected:
        raise TypeError(f"expected {expected} arguments, got {len(gradients)} instead")
    if isinstance(node, AccumulateGrad):
        if gradients[0] is not None:
            node.variable._accumulate(gradients[0]._a, False)
        return ()
    if all(g is None for g in gradients):
        found: list[Any] = [None] * len(node.next_nodes())
    else:
        found = list(_derivative(node, gradients))
    for i in node.blanks:
        found.insert(i, None)
    return found[0] if len(found) == 1 else tuple(found)


def _derivative(node: Node, gradients: tuple[Any, ...]) -> Any:
    try:
        return node.grads_graph(list(gradients) if node.multi else gradients[0])
    except FreedAccess as access:
        raise errors.backward_twice(node, access.freed) from None

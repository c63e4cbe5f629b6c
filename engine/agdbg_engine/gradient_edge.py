"""GradientEdge: a place in the graph by itself, where a gradient goes in, without the tensor that was there."""

from __future__ import annotations

from typing import Any, NamedTuple

from .node import Node, edge
from .tensor import Tensor
from .validate import InputMetadata, metadata_of, output_metadata


class _Fields(NamedTuple):
    node: Node
    output_nr: int
    ownership_token: Node | None = None


class GradientEdge(_Fields):
    """Output ``output_nr`` of ``node``: a root or an input of ``backward`` and ``grad`` in place of a tensor.

    ``ownership_token`` is PyTorch's; here the node itself keeps the graph alive.
    """

    metadata: InputMetadata | None = None
    """What a gradient there looks like, where the edge was got from a tensor."""


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Where the gradient of ``tensor`` goes in; :class:`RuntimeError` if it requires none."""
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients",
        )
    node = edge(tensor)
    if node is None:
        raise AssertionError("Expected gradient function to be set")
    found = GradientEdge(node, tensor._nr)
    found.metadata = metadata_of(tensor)
    return found


def known(at: GradientEdge) -> InputMetadata | None:
    """What a gradient at an edge looks like; ``None`` if that is not known (an edge made by hand to an op's node)."""
    outputs: Any = output_metadata(at.node) if isinstance(at.node, Node) else at.node._input_metadata
    found: InputMetadata | None = outputs[at.output_nr]
    return at.metadata or found

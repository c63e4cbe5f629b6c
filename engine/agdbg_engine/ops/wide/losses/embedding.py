"""Losses that compare vectors, or distances of them, as users call them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....tensor import Tensor
from ... import _generated as g
from ...elementwise import where
from ...explain import shape_error
from ..declare import public
from .reduction import finish, reduction_of

Legacy = bool | None


@public("nn.functional")
def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, size_average: Legacy = None, reduce: Legacy = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Distances ``input`` where the target is 1, ``max(0, margin - input)`` where it is -1."""
    reduction = reduction_of(size_average, reduce, reduction)
    if input.dtype.kind in "iu":
        far = where(target != 1, g.clamp_min((-input).add(margin).to(input.dtype), 0), 0)
        loss = far + where(target != -1, input, 0)
        return loss.mean() if reduction == "mean" else finish(loss, reduction)
    if input.dtype.kind == "b":
        return input - input  # refused
    far = where(target != 1, g.clamp_min(margin - input, 0), 0.0)
    return finish(far + where(target != -1, input, 0.0), reduction)


@public("nn.functional")
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: Legacy = None, reduce: Legacy = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """``max(0, margin - target * (input1 - input2))``: ``input1`` should be the larger one where the target is 1."""
    reduction = reduction_of(size_average, reduce, reduction)
    if not input1.ndim == input2.ndim == target.ndim:
        sizes = [f"torch.Size({list(t.shape)})" for t in (input1, input2, target)]
        raise shape_error(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {sizes[0]}, input2: {sizes[1]}, target: {sizes[2]} "
        )
    lead = input1 - input2
    return finish(g.clamp_min(-target * lead + float(margin), 0), reduction)  # a double in PyTorch, so of floats


@public("nn.functional")
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: Legacy = None, reduce: Legacy = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """``1 - cos`` of the vectors (N, D) or (D,) where the target is 1, ``max(0, cos - margin)`` where it is -1."""
    reduction = reduction_of(size_average, reduce, reduction)
    if target.ndim > 1:
        raise shape_error("0D or 1D target tensor expected, multi-target not supported")
    if not input1.ndim == input2.ndim == target.ndim + 1:
        raise shape_error(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    dim = target.ndim
    sizes = [(x * x).sum(dim) + 1e-12 for x in (input1, input2)]
    cos = (input1 * input2).sum(dim) / (sizes[0] * sizes[1]).sqrt()
    out = where(target == 1, 1 - cos, 0.0) + where(target == -1, g.clamp_min(cos - margin, 0), 0.0)
    return finish(out, reduction)


@public("nn.functional")
def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False, size_average: Legacy = None, reduce: Legacy = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """``max(0, margin + |anchor - positive| - |anchor - negative|)`` with p-norms of the vectors in the last dimension."""
    from ..layers.distances import pairwise_distance

    reduction = reduction_of(size_average, reduce, reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")

    def distance(a: Tensor, b: Tensor) -> Tensor:
        return pairwise_distance(a, b, p, eps)

    return _triplet(anchor, positive, negative, distance, margin, swap, reduction)


@public("nn.functional")
def triplet_margin_with_distance_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, *, distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0, swap: bool = False, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """:func:`triplet_margin_loss` with a distance of one's own."""
    from ..layers.distances import pairwise_distance

    reduction_of(None, None, reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return _triplet(anchor, positive, negative, distance_function or pairwise_distance, margin, swap, reduction)


def _triplet(
    anchor: Tensor, positive: Tensor, negative: Tensor, distance: Callable[[Any, Any], Any], margin: float, swap: bool,
    reduction: str,
) -> Tensor:  # fmt: skip
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise shape_error(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: anchor "
            f"{anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = g.minimum(far, distance(positive, negative))
    return finish(g.clamp_min(margin + near - far, 0), reduction)

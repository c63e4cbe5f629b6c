"""The losses that PyTorch has at its top level too, where a number says how to reduce: 0 not at all, 1 mean, 2 sum.

They do not reduce unless they are told to, as PyTorch's parser of arguments has it, whatever its declarations say.
"""

from __future__ import annotations

from typing import Any

from ....tensor import Tensor
from ..declare import public
from . import classification, ctc, embedding, regression

Maybe = Tensor | None
NONE, MEAN, SUM = range(3)


def _name(reduction: int) -> str:
    return ("none", "mean", "sum")[reduction]


@public("torch")
def kl_div(input: Tensor, target: Tensor, reduction: int = NONE, *, log_target: bool = False) -> Tensor:
    """``target * (log(target) - input)``."""
    each = regression.kl_div(input, target, reduction="none", log_target=log_target)
    return each.mean() if reduction == MEAN else each.sum() if reduction == SUM else each


@public("torch")
def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Maybe = None, pos_weight: Maybe = None, reduction: int = NONE
) -> Tensor:
    """Binary cross entropy of ``sigmoid(input)``."""
    return classification.binary_cross_entropy_with_logits(
        input, target, weight, reduction=_name(reduction), pos_weight=pos_weight
    )


@public("torch")
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = NONE
) -> Tensor:
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1."""
    return embedding.cosine_embedding_loss(input1, input2, target, margin, reduction=_name(reduction))


@public("torch")
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = NONE) -> Tensor:
    """``input`` where the target is 1, ``max(0, margin - input)`` where it is -1."""
    return embedding.hinge_embedding_loss(input, target, margin, reduction=_name(reduction))


@public("torch")
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = NONE
) -> Tensor:
    """``max(0, margin - target * (input1 - input2))``."""
    return embedding.margin_ranking_loss(input1, input2, target, margin, reduction=_name(reduction))


@public("torch")
def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6,
    swap: bool = False, reduction: int = NONE,
) -> Tensor:  # fmt: skip
    """``max(0, margin + |anchor - positive| - |anchor - negative|)``."""
    return embedding.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=_name(reduction))


@public("torch")
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor:
    """Negative log likelihood of counts."""
    return regression.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=_name(reduction))


@public("torch")
def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: int = NONE,
    zero_infinity: bool = False,
) -> Tensor:  # fmt: skip
    """Minus the log-likelihood of label sequences, summed over all alignments."""
    return ctc.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, _name(reduction), zero_infinity)

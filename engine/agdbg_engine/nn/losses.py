"""Losses as modules, from one table: name, function, arguments as PyTorch has them."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable
from typing import Any

from ..ops.wide.losses.reduction import reduction_of
from ..sites import user_stacklevel
from ..tensor import Tensor
from . import functional as F
from .layers import Linear, PairwiseDistance
from .module import Module

_OLD = ("size_average", "reduce")


class _Loss(Module):
    """A loss with options, which are attributes; weights are buffers."""

    function: str = ""
    options: tuple[str, ...]
    __signature__ = inspect.signature(lambda size_average=None, reduce=None, reduction="mean": None)
    """Of ``__init__``: what a class that a script derives from this one may give it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        bound = type(self).__signature__.bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        if self.function == "huber_loss" and not isinstance(given["delta"], float | int):
            raise TypeError(f"delta must be a float or int, got: {type(given['delta'])}")
        old = [given.pop(name, None) for name in _OLD]
        if any(value is not None for value in old):
            given["reduction"] = reduction_of(old[0], old[1], given["reduction"])
        for name, value in given.items():
            if name in ("weight", "pos_weight"):
                self.register_buffer(name, value)
            else:
                setattr(self, name, value)
        if self.function == "multi_margin_loss":
            if self.p not in (1, 2):
                raise ValueError("only p == 1 and p == 2 supported")
            if self.weight is not None and self.weight.ndim != 1:
                raise ValueError(
                    f"MultiMarginLoss: expected weight to be None or 1D tensor, got {self.weight.ndim}D instead"
                )

        if self.function == "triplet_margin_loss" and self.margin <= 0:
            raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {self.margin} instead")

    def forward(self, *inputs: Tensor, **kwargs: Tensor) -> Tensor:
        options = {name: getattr(self, name) for name in self.options}
        return getattr(F, self.function)(*inputs, **kwargs, **options)


class _WeightedLoss(_Loss):
    """A loss with a weight for every class."""

    __signature__ = inspect.signature(lambda weight=None, size_average=None, reduce=None, reduction="mean": None)


def _loss(name: str, function: str, arguments: str = "size_average=None, reduce=None, reduction='mean'") -> Any:
    """A module class whose ``__init__`` has these arguments."""
    space: dict[str, Any] = {}
    exec(f"def signature({arguments}): pass", space)
    signature = inspect.signature(space["signature"])
    options = tuple(n for n in signature.parameters if n not in _OLD)
    body = {
        "function": function, "options": options, "__doc__": f"Computes :func:`{function}`.", "__signature__": signature,
        "__module__": __name__,
    }  # fmt: skip
    return type(name, (_WeightedLoss if "weight" in options and "pos_weight" not in options else _Loss,), body)


_USUAL = "size_average=None, reduce=None, reduction='mean'"
_CLASSES = "weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'"

L1Loss = _loss("L1Loss", "l1_loss")
MSELoss = _loss("MSELoss", "mse_loss")
SmoothL1Loss = _loss("SmoothL1Loss", "smooth_l1_loss", f"{_USUAL}, beta=1.0")
HuberLoss = _loss("HuberLoss", "huber_loss", "reduction='mean', delta=1.0")
KLDivLoss = _loss("KLDivLoss", "kl_div", f"{_USUAL}, log_target=False")
PoissonNLLLoss = _loss(
    "PoissonNLLLoss", "poisson_nll_loss",
    "log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction='mean'",
)  # fmt: skip
GaussianNLLLoss = _loss("GaussianNLLLoss", "gaussian_nll_loss", "*, full=False, eps=1e-6, reduction='mean'")
NLLLoss = _loss("NLLLoss", "nll_loss", _CLASSES)


class NLLLoss2d(NLLLoss):  # type: ignore[misc,valid-type]  # which is made from the table
    """An old name of :class:`NLLLoss`."""

    __signature__ = NLLLoss.__signature__

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            "`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in replacement and see "
            "https://pytorch.org/docs/main/nn.html#torch.nn.NLLLoss for more details.",
            FutureWarning,
            stacklevel=user_stacklevel(),
        )
        super().__init__(*args, **kwargs)


CrossEntropyLoss = _loss("CrossEntropyLoss", "cross_entropy", f"{_CLASSES}, label_smoothing=0.0")
BCELoss = _loss("BCELoss", "binary_cross_entropy", f"weight=None, {_USUAL}")
BCEWithLogitsLoss = _loss(
    "BCEWithLogitsLoss", "binary_cross_entropy_with_logits", f"weight=None, {_USUAL}, pos_weight=None"
)
HingeEmbeddingLoss = _loss("HingeEmbeddingLoss", "hinge_embedding_loss", f"margin=1.0, {_USUAL}")
MarginRankingLoss = _loss("MarginRankingLoss", "margin_ranking_loss", f"margin=0.0, {_USUAL}")
CosineEmbeddingLoss = _loss("CosineEmbeddingLoss", "cosine_embedding_loss", f"margin=0.0, {_USUAL}")
MultiMarginLoss = _loss("MultiMarginLoss", "multi_margin_loss", f"p=1, margin=1.0, weight=None, {_USUAL}")
MultiLabelMarginLoss = _loss("MultiLabelMarginLoss", "multilabel_margin_loss")
MultiLabelSoftMarginLoss = _loss("MultiLabelSoftMarginLoss", "multilabel_soft_margin_loss", f"weight=None, {_USUAL}")
SoftMarginLoss = _loss("SoftMarginLoss", "soft_margin_loss")
TripletMarginLoss = _loss(
    "TripletMarginLoss", "triplet_margin_loss", f"margin=1.0, p=2.0, eps=1e-6, swap=False, {_USUAL}"
)


class TripletMarginWithDistanceLoss(Module):
    """Computes :func:`triplet_margin_with_distance_loss`; the distance is a Euclidean one where none is given."""

    def __init__(
        self, *, distance_function: Callable[[Tensor, Tensor], Tensor] | None = None, margin: float = 1.0,
        swap: bool = False, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__()
        if margin <= 0:
            raise ValueError(
                f"TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {margin} instead"
            )
        self.distance_function: Any = PairwiseDistance() if distance_function is None else distance_function
        self.margin, self.swap, self.reduction = margin, swap, reduction

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            anchor, positive, negative, distance_function=self.distance_function, margin=self.margin, swap=self.swap,
            reduction=self.reduction,
        )  # fmt: skip


class LinearCrossEntropyLoss(_WeightedLoss):
    """Computes :func:`linear_cross_entropy` of the scores of its own ``linear`` layer.

    ``options`` say how PyTorch may compute in parts: nothing here.
    """

    def __init__(
        self, in_features: int, num_classes: int, *, out_features: tuple[int, ...] = (), bias: bool = False, device: Any = None,
        dtype: Any = None, reduction: str = "mean", weight: Tensor | None = None, ignore_index: int | None = None,
        label_smoothing: float = 0.0, options: Any = None,
    ) -> None:  # fmt: skip
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight=weight, reduction=reduction)
        self.num_classes, self.out_features, self.options = num_classes, out_features, options
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        scores = math.prod(out_features, start=num_classes)
        self.linear = Linear(in_features, scores, bias=bias, device=device, dtype=dtype)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:  # type: ignore[override]  # of any inputs in others
        outputs, linear = (self.num_classes, *self.out_features), self.linear
        return F.linear_cross_entropy(
            input, linear.weight.reshape(*outputs, linear.in_features), target, weight=self.weight,
            linear_bias=None if linear.bias is None else linear.bias.reshape(*outputs), reduction=self.reduction,
            ignore_index=self.ignore_index, label_smoothing=self.label_smoothing, options=self.options,
        )  # fmt: skip

    def extra_repr(self) -> str:
        shown = {
            "in_features": self.linear.in_features, "num_classes": self.num_classes, "out_features": self.out_features,
            "bias": self.linear.bias is not None, "reduction": self.reduction, "ignore_index": self.ignore_index,
            "label_smoothing": self.label_smoothing, "options": self.options,
        }  # fmt: skip
        return ", ".join(f"{name}={value}" for name, value in shown.items())


CTCLoss = _loss("CTCLoss", "ctc_loss", "blank=0, reduction='mean', zero_infinity=False")

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss", "GaussianNLLLoss",
    "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "LinearCrossEntropyLoss", "MSELoss",
    "MarginRankingLoss", "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss", "MultiMarginLoss", "NLLLoss", "NLLLoss2d", "PoissonNLLLoss", "SmoothL1Loss", "SoftMarginLoss",
    "TripletMarginLoss", "TripletMarginWithDistanceLoss",
]  # fmt: skip

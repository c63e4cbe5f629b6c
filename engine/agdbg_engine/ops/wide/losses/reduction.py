"""What happens to the losses of the elements: nothing, their sum or their mean."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ....dtype import category, result_type
from ....errors import raise_if
from ....sites import user_stacklevel
from ....tensor import Tensor
from ... import _generated as g
from ...explain import broadcast_error
from ...kernel_names import not_written
from ...reduce import mean
from ..declare import formula, linear

# ----- in formulas -----


@formula
def reduced(F: Any, values: Any, reduction: str) -> Any:
    """The losses ``values`` of elements reduced."""
    if reduction == "none":
        return values
    return F.sum_all(values) if reduction == "sum" else F.mean_all(values)


@formula
def shared(F: Any, g: Any, shape: tuple[int, ...], reduction: str) -> Any:
    """What the gradient ``g`` of the reduced losses is for each of them."""
    if reduction != "mean":
        return g
    return F.mean_share(g, shape) if F.numel(shape) else g * math.nan


@formula
def no_second(F: Any, name: str) -> Any:
    """Refuse a derivative that PyTorch has not."""
    raise RuntimeError(f"derivative for aten::{name} is not implemented")


@formula
def two_dtypes(F: Any, text: str) -> Any:
    """Refuse the gradient of a loss of two dtypes, as PyTorch does that has computed it already."""
    raise RuntimeError(text)


linear("huber_of_two_dtypes(self, text)", "HuberLossBackward0", "two_dtypes(text)", value=lambda x, text: x.copy())
linear("over_number(self, other)", "DivBackward1", "g / other", forward="self / other")

# ----- in functions -----


def reduction_of(size_average: Any, reduce: Any, reduction: str) -> str:
    """The reduction meant: its name, or what two older arguments say."""
    if size_average is not None or reduce is not None:
        kept = reduce is None or reduce
        reduction = "none" if not kept else "mean" if size_average is None or size_average else "sum"
        text = f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead."
        warnings.warn(text, stacklevel=user_stacklevel())
    elif reduction == "elementwise_mean":
        text = "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead."
        warnings.warn(text, stacklevel=user_stacklevel())
        return "mean"
    elif reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def finish(values: Tensor, reduction: str) -> Tensor:
    """The losses ``values`` reduced by ops of their own."""
    if reduction == "none":
        return values
    return g.sum_all(values) if reduction == "sum" else mean(values)


def same_shape(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Both broadcast, with a warning where that is needed."""
    if input.shape == target.shape:
        return input, target
    warnings.warn(
        f"Using a target size (torch.Size({list(target.shape)})) that is different to the input size "
        f"(torch.Size({list(input.shape)})). This will likely lead to incorrect results due to broadcasting. Please ensure they "
        "have the same size.",
        stacklevel=user_stacklevel(),
    )
    raise_if(broadcast_error([tuple(input.shape), tuple(target.shape)]))
    shape = np.broadcast_shapes(tuple(input.shape), tuple(target.shape))
    return expanded(input, shape), expanded(target, shape)


def expanded(t: Tensor, shape: tuple[int, ...]) -> Tensor:
    """``t`` in ``shape``: itself where it has that, as in PyTorch, no view of it."""
    return t if t.shape == shape else t.expand(shape)


def same_dtype(*tensors: Tensor) -> list[Tensor]:
    """The tensors in their common dtype."""
    if all(t.dtype == tensors[0].dtype for t in tensors):
        return list(tensors)
    dtype = result_type([(t.dtype, 2 if t.ndim else 1) for t in tensors])
    return [t.to(dtype) for t in tensors]


def in_dtype_of(input: Tensor, loss: Tensor) -> Tensor:
    """``loss`` in the dtype of the ``input``, which some losses of two dtypes have; refused where that cannot hold it."""
    if loss.dtype == input.dtype:
        return loss
    if category(loss.dtype) > category(input.dtype):
        raise not_written(loss.dtype, input.dtype)
    return loss.to(input.dtype)

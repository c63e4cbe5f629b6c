"""Losses of numbers, as users call them."""

from __future__ import annotations

import math
import warnings
from typing import Any

from ....dtype import scalar_type
from ....several import at_home
from ....sites import user_stacklevel
from ....tensor import Tensor
from ... import _generated as g
from ...explain import shape_error
from ...kernel_names import no_kernel
from ..declare import OPS, public
from ..indexing.reading import seen
from .reduction import finish, in_dtype_of, reduction_of, same_dtype, same_shape

Legacy = bool | None
_WEIGHTS = "Weights and input must have the same size."


def _weighted(loss: Tensor, input: Tensor, weight: Tensor, reduction: str, by_weight: bool) -> Tensor:
    """The losses times ``weight``; their mean is over the sum of the weights where ``by_weight``."""
    if weight.shape != input.shape:
        raise ValueError(_WEIGHTS)
    if reduction not in ("none", "sum", "mean"):
        raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")
    loss = loss * weight
    return loss.sum() / weight.sum() if by_weight and reduction == "mean" else finish(loss, reduction)


@public("nn.functional")
def l1_loss(
    input: Tensor, target: Tensor, size_average: Legacy = None, reduce: Legacy = None, reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The size of the difference."""
    input, target = same_shape(input, target)
    if size_average is not None or reduce is not None or weight is None:
        reduction = reduction_of(size_average, reduce, reduction)
    loss = g.sub(input, target).abs()  # by no operator: two tensors of PyTorch have one of their own
    return finish(loss, reduction) if weight is None else _weighted(loss, input, weight, reduction, True)


@public("nn.functional")
def mse_loss(
    input: Tensor, target: Tensor, size_average: Legacy = None, reduce: Legacy = None, reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The square of the difference."""
    input, target = same_shape(input, target)
    if size_average is not None or reduce is not None or weight is None:
        reduction = reduction_of(size_average, reduce, reduction)
    if weight is not None:
        return _weighted((input - target).pow(2), input, weight, reduction, True)
    if input.dtype.kind in "biu" and target.dtype.kind in "biu":
        raise NotImplementedError(f"\"mse_cpu\" not implemented for '{scalar_type(input.dtype)}'")
    x, y = same_dtype(input, target)
    return g.mse_loss_raw(x, y, reduction)


@public("nn.functional")
def smooth_l1_loss(
    input: Tensor, target: Tensor, size_average: Legacy = None, reduce: Legacy = None, reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:  # fmt: skip
    """The size of the difference; below ``beta`` its square instead, with the same slope at ``beta``."""
    input, target = same_shape(input, target)
    reduction = reduction_of(size_average, reduce, reduction)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return finish((input - target).abs(), reduction)
    return OPS["smooth_l1_loss"](*same_dtype(input, target), beta, reduction)


@public("nn.functional")
def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """Half the square of the difference; beyond ``delta`` linear instead, with the slope at ``delta``."""
    input, target = same_shape(input, target)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    pair = same_dtype(input, target)
    reduced = "none" if weight is not None else reduction_of(None, None, reduction)
    loss = in_dtype_of(input, OPS["huber_loss"](*pair, delta, reduced))
    if input.dtype != target.dtype:
        text = f"Found dtype {scalar_type(target.dtype)} but expected {scalar_type(input.dtype)}"
        loss = OPS["huber_of_two_dtypes"](loss, text)
    return loss if weight is None else _weighted(loss, input, weight, reduction, False)


@public("nn.functional")
def kl_div(
    input: Tensor, target: Tensor, size_average: Legacy = None, reduce: Legacy = None, reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:  # fmt: skip
    """``target * (log(target) - input)``: the divergence of distributions whose logarithms are ``input``."""
    if input.dtype.kind not in "fc" or target.dtype.kind not in "fc":
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if "c" in (input.dtype.kind, target.dtype.kind):
        raise RuntimeError("kl_div: Complex inputs not supported.")
    legacy = size_average is not None or reduce is not None
    if not legacy and reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides only by the "
            "batch size, and aligns with the KL div math definition.'mean' will be changed to behave the same as 'batchmean' "
            "in the next major release.",
            stacklevel=user_stacklevel(),
        )
    by_batch = not legacy and reduction == "batchmean"
    reduction = reduction_of(size_average, reduce, "sum" if by_batch else reduction)
    loss = target.exp() * (target - input) if log_target else OPS["xlogy"](target, target) - target * input
    loss = finish(loss, reduction)
    return loss / input.size()[0] if by_batch and input.ndim else loss


@public("nn.functional")
def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool = True, full: bool = False, size_average: Legacy = None, eps: float = 1e-8,
    reduce: Legacy = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Negative log likelihood of counts ``target`` whose rate is ``input`` or, with ``log_input``, its exponential."""
    if size_average is not None or reduce is not None or reduction != "none":
        reduction = reduction_of(size_average, reduce, reduction)
    rate, expected = (input.exp(), target * input) if log_input else (input, target * (input + eps).log())
    loss = g.sub(rate, expected)
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return finish(loss, reduction)


@public("nn.functional")
def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Tensor | float, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """Negative log likelihood of ``target`` under normal distributions of mean ``input`` and variance ``var``."""
    spread = _variance(input, var, eps)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    loss = 0.5 * (spread.log() + (input - target) ** 2 / spread)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return finish(loss, reduction)


@at_home
def _variance(input: Tensor, var: Any, eps: float) -> Tensor:
    """``var`` in a shape that broadcasts with ``input``, no less than ``eps`` but with the gradient of ``var`` everywhere."""
    from ....creation import ones
    from ....grad_mode import quiet_no_grad

    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * ones(input.shape, dtype=input.dtype, device=input.device)
    elif var.dtype.kind == "c":
        raise no_kernel("lt_cpu", var.dtype)
    elif seen(var._a < 0):
        raise ValueError("var has negative entry/entries")
    if var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif input.ndim != var.ndim or sum(b for a, b in zip(input.shape, var.shape, strict=True) if a != b) != 1:
            raise shape_error("var is of incorrect size", ValueError)
    var = var.clone()
    with quiet_no_grad():
        var.clamp_(min=eps)
    return var

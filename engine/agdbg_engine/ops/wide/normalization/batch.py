"""Batch normalisation as a row. The running statistics are brought up to date by the function that calls it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....device import array_module
from ... import kernels
from ..declare import formula, kernel, op
from ..widths import single
from .layer import of_channels
from .moments import Dims, moments_and_centred, scaled, standard, standard_grad


@kernel
def native_batch_norm(
    x: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, eps: float
) -> tuple[Any, ...]:
    """``x`` (N, C, ...) normalised by channel; in training also mean, 1 / std and variance of the channels."""
    wide = single(x)
    if training:
        mean, var, centred = moments_and_centred(wide, _dims(x))
        found = (mean.reshape(-1), (1 / np.sqrt(var + eps)).reshape(-1), var.reshape(-1))
    else:
        mean, var = of_channels(kernels, running_mean, x.ndim), of_channels(kernels, running_var, x.ndim)
        centred = wide - mean
        found = (array_module(x).empty(0, x.dtype),) * 3
    each = [None if p is None else of_channels(kernels, p, x.ndim) for p in (weight, bias)]
    factor = 1 / np.sqrt(var + eps)
    out = scaled(centred, factor if each[0] is None else factor * each[0], None, each[1]).astype(x.dtype, copy=False)
    return out, *(a.astype(x.dtype, copy=False) for a in found[:2]), found[2].copy()


def _dims(x: Any) -> Dims:
    return 0, *range(2, len(x.shape))


def _statistics(F: Any, x: Any, running: Any, saved: Any, training: bool, eps: float) -> tuple[Any, Any]:
    """Mean and 1 / std that the values were normalised with."""
    if training:
        return of_channels(F, saved[0], len(x.shape)), of_channels(F, saved[1], len(x.shape))
    return of_channels(F, running[0], len(x.shape)), F.rsqrt(of_channels(F, running[1], len(x.shape)) + eps)


@formula
def batch_norm_grad(F: Any, g: Any, x: Any, weight: Any, running: Any, saved: Any, training: bool, eps: float) -> Any:
    """Gradient of batch normalisation in its input, and its tangent without those of weight and bias."""
    mean, rstd = _statistics(F, x, running, saved, training, eps)
    if weight is not None:
        g = g * of_channels(F, weight, len(x.shape))
    return standard_grad(F, g, x, mean, rstd, _dims(x), eps) if training else g * rstd


@formula
def batch_norm_normal(F: Any, x: Any, running: Any, saved: Any, training: bool, eps: float) -> Any:
    """``x`` normalised, without weight and bias."""
    mean, rstd = _statistics(F, x, running, saved, training, eps)
    return standard(F, x, mean, rstd, _dims(x), eps) if training else (x - mean) * rstd


@formula
def batch_norm_tangent(
    F: Any, x_t: Any, weight_t: Any, bias_t: Any, x: Any, weight: Any, running: Any, saved: Any, training: bool, eps: float
) -> Any:  # fmt: skip
    """Tangent of batch normalisation."""
    out = batch_norm_grad(F, x_t, x, None, running, saved, training, eps)
    if weight is not None:
        normal = batch_norm_normal(F, x, running, saved, training, eps)
        out = out * of_channels(F, weight, len(x.shape)) + normal * of_channels(F, weight_t, len(x.shape))
    return out + of_channels(F, bias_t, len(x.shape)) if bias_t.shape else out


op("batch_norm_apart(self, other)", "NativeBatchNormBackwardBackward0", self="g", other="None", jvp="self_t",
   value=lambda g, other: g)  # fmt: skip


@formula
def of_running(F: Any, gradient: Any, of: Any, training: bool) -> Any:
    """The ``gradient`` in ``of``; by the running statistics it does not change with it, but requires grad with it as in PyTorch."""
    return gradient if training else F.batch_norm_apart(gradient, of)


_BY = "(running_mean, running_var), (result1, result2), training, eps"
op(
    "native_batch_norm(input, weight, bias, running_mean, running_var, training, eps)", "NativeBatchNormBackward0",
    outputs="result0 *result1 *result2 *variance", kinds="f", running_mean=None, running_var=None,
    input=f"of_running(batch_norm_grad(g, input, weight, {_BY}), input, training)",
    weight=f"of_running(over_channels(g * batch_norm_normal(input, {_BY})), weight, training)",
    bias="over_channels(g)",
    jvp=f"(batch_norm_tangent(input_t, weight_t, bias_t, input, weight, {_BY}), None, None, None)",
)  # fmt: skip

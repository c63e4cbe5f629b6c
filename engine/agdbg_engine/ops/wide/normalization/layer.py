"""Layer and group normalisation as rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....rowwise import rowwise
from ... import graph, kernels
from ...layout import by_rows
from ..declare import formula, in_both, kernel, op
from ..widths import single
from .moments import Dims, moments_and_centred, scaled, standard, standard_grad

Shape = tuple[int, ...]

# ----- over the last dimensions -----


@kernel
@by_rows
def native_layer_norm(x: Any, shape: Shape, weight: Any, bias: Any, eps: float) -> tuple[Any, ...]:
    """``x`` normalised over its last dimensions, of sizes ``shape``; their mean and 1 / std."""
    wide = single(x)
    mean, var, centred = moments_and_centred(wide, _last(x.shape, shape))
    rstd = 1 / np.sqrt(var + eps)
    return tuple(a.astype(x.dtype, copy=False) for a in (scaled(centred, rstd, weight, bias), mean, rstd))


def _last(shape: Shape, normalized: Shape) -> Dims:
    return tuple(range(len(shape) - len(normalized), len(shape)))


@formula
def layer_norm_grad(F: Any, g: Any, x: Any, mean: Any, rstd: Any, weight: Any, shape: Shape, eps: float) -> Any:
    """Gradient of layer normalisation in its input."""
    return standard_grad(F, g if weight is None else g * weight, x, mean, rstd, _last(x.shape, shape), eps)


@formula
def layer_norm_weight_grad(F: Any, g: Any, x: Any, mean: Any, rstd: Any, shape: Shape, eps: float) -> Any:
    """Gradient of layer normalisation in its weight."""
    return F.sum_to(g * standard(F, x, mean, rstd, _last(x.shape, shape), eps), shape)


@formula
def layer_norm_tangent(
    F: Any, x_t: Any, weight_t: Any, bias_t: Any, x: Any, mean: Any, rstd: Any, weight: Any, shape: Shape, eps: float
) -> Any:
    """Tangent of layer normalisation."""
    dims = _last(x.shape, shape)
    out = standard_grad(F, x_t, x, mean, rstd, dims, eps)
    if weight is not None:
        out = out * weight + standard(F, x, mean, rstd, dims, eps) * weight_t
    return out + bias_t


op(
    "native_layer_norm(input, normalized_shape, weight, bias, eps)", "NativeLayerNormBackward0",
    outputs="result0 *result1 *result2", kinds="f",
    input="layer_norm_grad(g, input, result1, result2, weight, normalized_shape, eps)",
    weight="layer_norm_weight_grad(g, input, result1, result2, normalized_shape, eps)",
    bias="sum_to(g, normalized_shape)",
    jvp="(layer_norm_tangent(input_t, weight_t, bias_t, input, result1, result2, weight, normalized_shape, eps), None, None)",
)  # fmt: skip

# ----- by the root of the mean square, in one op: on devices, as in PyTorch -----

_RMS_GRAD = rowwise("rms_grad", "g x", ("g * x",), "rstd * (g - x * (rstd * rstd * (sum0 / T(n))))", "rstd")


@kernel
def fused_rms_norm(x: Any, shape: Shape, weight: Any, eps: float) -> tuple[Any, Any]:
    """``x`` over the root of its mean square along its last dimensions, of sizes ``shape``; and 1 over that root."""
    rstd = 1 / np.sqrt(kernels.mean_dim(x * x, _last(x.shape, shape), True) + eps)
    return scaled(x * rstd, None, weight, None), rstd


def _rms_grad(g: Any, x: Any, rstd: Any, dims: Dims, eps: float) -> Any:
    found = _RMS_GRAD(dims, (g, x), (rstd,))
    return found if found is not None else _recorded_rms_grad(kernels, g, x, rstd, dims)


def _recorded_rms_grad(F: Any, g: Any, x: Any, rstd: Any, dims: Dims) -> Any:
    return rstd * (g - x * (rstd * rstd * F.mean_dim(g * x, dims, True)))


def _rstd_of(x: Any, rstd: Any, dims: Dims, eps: float) -> Any:
    """``rstd`` as a function of ``x``: the saved one has no history."""
    return graph.rsqrt(graph.mean_dim(x * x, dims, True) + eps)  # type: ignore[attr-defined]  # rows


in_both("rstd_of", lambda x, rstd, dims, eps: rstd, _rstd_of)
in_both(
    "rms_grad_by",
    _rms_grad,
    lambda g, x, rstd, dims, eps: _recorded_rms_grad(graph, g, x, graph.rstd_of(x, rstd, dims, eps), dims),  # type: ignore[attr-defined]  # given above
)


@formula
def rms_norm_grad(F: Any, g: Any, x: Any, rstd: Any, weight: Any, shape: Shape, eps: float) -> Any:
    """Gradient in the input, and its tangent: that matrix is symmetric."""
    return F.rms_grad_by(g if weight is None else g * weight, x, rstd, _last(x.shape, shape), eps)


@formula
def rms_norm_weight_grad(F: Any, g: Any, x: Any, rstd: Any, shape: Shape, eps: float) -> Any:
    """Gradient in the weight."""
    return F.sum_to(g * (x * F.rstd_of(x, rstd, _last(x.shape, shape), eps)), shape)


@formula
def rms_norm_tangent(
    F: Any, x_t: Any, weight_t: Any, x: Any, rstd: Any, weight: Any, shape: Shape, eps: float
) -> Any:  # fmt: skip
    """Tangent of the values."""
    dims = _last(x.shape, shape)
    out = F.rms_grad_by(x_t, x, rstd, dims, eps)
    return out if weight is None else out * weight + x * F.rstd_of(x, rstd, dims, eps) * weight_t


op(
    "fused_rms_norm(input, normalized_shape, weight, eps)", "FusedRmsNormBackward0", outputs="result0 *result1", kinds="f",
    input="rms_norm_grad(g, input, result1, weight, normalized_shape, eps)",
    weight="rms_norm_weight_grad(g, input, result1, normalized_shape, eps)",
    jvp="(rms_norm_tangent(input_t, weight_t, input, result1, weight, normalized_shape, eps), None)",
)  # fmt: skip

# ----- over groups of channels -----


@kernel
def native_group_norm(
    x: Any, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Any, ...]:
    """``x`` (N, C, ...) normalised over each group of channels; mean and 1 / std by sample and group."""
    wide = single(x).reshape(_grouped(N, C, HxW, group))
    mean, var, centred = moments_and_centred(wide, (2,))
    rstd = 1 / np.sqrt(var + eps)
    centred *= rstd
    each = [None if p is None else of_channels(kernels, p, x.ndim) for p in (weight, bias)]
    out = scaled(centred.reshape(x.shape), None, *each)
    return tuple(a.astype(x.dtype, copy=False) for a in (out, mean[:, :, 0], rstd[:, :, 0]))


def _grouped(n: int, c: int, rest: int, group: int) -> Shape:
    return n, group, c // group * rest


@formula
def of_channels(F: Any, values: Any, ndim: int) -> Any:
    """One value for each channel in a shape that broadcasts with (N, C, ...)."""
    return F.reshape(values, (1, values.shape[0], *(1,) * (ndim - 2)))


@formula
def over_channels(F: Any, x: Any) -> Any:
    """The sum by channel of (N, C, ...)."""
    return F.sum_dim(x, (0, *range(2, len(x.shape))), False)


def _wide(F: Any, x: Any, sizes: tuple[int, ...], mean: Any, rstd: Any) -> tuple[Any, Any, Any]:
    n, c, rest, group = sizes
    return F.reshape(x, _grouped(n, c, rest, group)), F.unsqueeze(mean, 2), F.unsqueeze(rstd, 2)


@formula
def group_norm_grad(F: Any, g: Any, x: Any, mean: Any, rstd: Any, weight: Any, sizes: Any, eps: float) -> Any:
    """Gradient of the values of group normalisation in its input."""
    if weight is not None:
        g = g * of_channels(F, weight, len(x.shape))
    wide, mean, rstd = _wide(F, x, sizes, mean, rstd)
    return F.reshape(standard_grad(F, F.reshape(g, wide.shape), wide, mean, rstd, (2,), eps), x.shape)


@formula
def group_norm_grads(F: Any, grads: Any, x: Any, mean: Any, rstd: Any, weight: Any, sizes: Any, eps: float) -> Any:
    """Gradient of all results of group normalisation in its input; none without one for the values, as in PyTorch."""
    if grads[0] is None:
        return None
    out = group_norm_grad(F, grads[0], x, mean, rstd, weight, sizes, eps)
    if grads[1] is None and grads[2] is None:
        return out
    wide, mean, rstd = _wide(F, x, sizes, mean, rstd)
    mean, rstd = F.moments_of(wide, mean, rstd, (2,), eps)
    each = F.zeros_of(wide.shape, wide)
    if grads[1] is not None:
        each = each + F.unsqueeze(grads[1], 2)
    if grads[2] is not None:
        each = each - F.unsqueeze(grads[2], 2) * (rstd * rstd * rstd * (wide - mean))
    return out + F.reshape(each / wide.shape[2], x.shape)


@formula
def group_norm_normal(F: Any, x: Any, mean: Any, rstd: Any, sizes: Any, eps: float) -> Any:
    """``x`` normalised, without weight and bias."""
    return F.reshape(standard(F, *_wide(F, x, sizes, mean, rstd), (2,), eps), x.shape)


@formula
def group_norm_weight_grad(F: Any, g: Any, x: Any, mean: Any, rstd: Any, sizes: Any, eps: float) -> Any:
    """Gradient of group normalisation in its weight."""
    return None if g is None else over_channels(F, g * group_norm_normal(F, x, mean, rstd, sizes, eps))


@formula
def group_norm_tangent(
    F: Any, x_t: Any, weight_t: Any, bias_t: Any, x: Any, mean: Any, rstd: Any, weight: Any, sizes: Any, eps: float
) -> tuple[Any, Any, Any]:
    """Tangents of the three results of group normalisation."""
    out = group_norm_grad(F, x_t, x, mean, rstd, None, sizes, eps)
    if weight is not None:
        scale = of_channels(F, weight, len(x.shape))
        out = out * scale + group_norm_normal(F, x, mean, rstd, sizes, eps) * of_channels(F, weight_t, len(x.shape))
    if bias_t.shape:
        out = out + of_channels(F, bias_t, len(x.shape))
    wide, mean_, rstd_ = _wide(F, x, sizes, mean, rstd)
    t = F.reshape(x_t, wide.shape)
    normal = standard(F, wide, mean_, rstd_, (2,), eps)
    return out, F.mean_dim(t, 2, False), -F.mean_dim(t * normal, 2, False) * rstd * rstd


op(
    "native_group_norm(input, weight, bias, N, C, HxW, group, eps)", "NativeGroupNormBackward0",
    outputs="result0 result1 result2", kinds="f",
    input="group_norm_grads((g_result0, g_result1, g_result2), input, result1, result2, weight, (N, C, HxW, group), eps)",
    weight="group_norm_weight_grad(g_result0, input, result1, result2, (N, C, HxW, group), eps)",
    bias="over_channels(g_result0) if g_result0 is not None else None",
    jvp="group_norm_tangent(input_t, weight_t, bias_t, input, result1, result2, weight, (N, C, HxW, group), eps)",
)  # fmt: skip

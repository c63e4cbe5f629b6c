"""Activations that are linear in pieces, hardswish's parabola included. Which slope holds at a kink is PyTorch's choice."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....fused import fused
from ... import graph, kernels
from ..declare import in_both, kernel, op
from .row import NOTHING, activation, backward


@kernel
def hardshrink(x: Any, lambd: float) -> Any:
    """0 in [-lambd, lambd], elsewhere ``x``."""
    return kernels.drop(x, (x >= -lambd) & (x <= lambd))


@kernel
@fused("T g, T x, float64 lambd", "T out", "out = x >= T(-lambd) && x <= T(lambd) ? T(0) : g;")
def hardshrink_backward(g: Any, x: Any, lambd: float) -> Any:
    """The gradient of hardshrink and softshrink."""
    return kernels.drop(g, (x >= -lambd) & (x <= lambd))


@kernel
def softshrink(x: Any, lambd: float) -> Any:
    """0 in [-lambd, lambd], elsewhere ``lambd`` nearer to 0; NaN kept."""
    return x - kernels.between(x, -lambd, lambd)


@kernel
def hardtanh(x: Any, min_val: float, max_val: float) -> Any:
    """``x`` limited to [min_val, max_val]."""
    if x.dtype.kind == "f":
        return kernels.between(x, min_val, max_val)
    return np.minimum(np.maximum(x, x.dtype.type(min_val)), x.dtype.type(max_val))


@kernel
@fused("T g, T x, float64 min_val, float64 max_val", "T out", "out = x <= T(min_val) || x >= T(max_val) ? T(0) : g;")
def hardtanh_backward(g: Any, x: Any, min_val: float, max_val: float) -> Any:
    """``g`` but at the limits and beyond."""
    outside = x <= min_val
    outside |= x >= max_val
    return kernels.drop(g, outside)


@kernel
@fused("T x", "T out", "T part = x + T(3); out = (part < T(0) ? T(0) : part > T(6) ? T(6) : part) / T(6);")
def hardsigmoid(x: Any) -> Any:
    """(x + 3) / 6 limited to [0, 1]."""
    part = kernels.between(x + 3, 0.0, 6.0)
    part /= 6
    return part


@kernel
@fused("T g, T x", "T out", "out = x > T(-3) && x < T(3) ? g / T(6) : T(0);")
def hardsigmoid_backward(g: Any, x: Any) -> Any:
    """``g / 6`` in (-3, 3)."""
    inside = x > -3
    inside &= x < 3
    return kernels.keep(g / 6, inside)


@kernel
@kernels.rounded_once
@fused(
    "T x", "T out", "T part = x + T(3); part = part < T(0) ? T(0) : part > T(6) ? T(6) : part; out = part * x / T(6);"
)
def hardswish(x: Any) -> Any:
    """``x * hardsigmoid(x)``."""
    part = kernels.between(x + 3, 0.0, 6.0)
    part *= x
    part /= 6
    return part


@kernel
@kernels.rounded_once
@fused("T g, T x", "T out", "out = x <= T(-3) ? T(0) : x < T(3) ? g * (x / T(3) + T(0.5)) : g;")
def hardswish_backward(g: Any, x: Any) -> Any:
    """The gradient of hardswish."""
    slope = x / 3
    slope += 0.5
    slope *= g
    return kernels.drop(kernels.where(x < 3, slope, g), x <= -3)


@kernel
def threshold(x: Any, threshold: float, value: float) -> Any:
    """``value`` where ``x <= threshold``, elsewhere ``x``."""
    return kernels.masked_fill(x, x <= threshold, x.dtype.type(value))


@kernel
@fused("T g, T x, float64 threshold", "T out", "out = x <= T(threshold) ? T(0) : g;")
def threshold_by_backward(g: Any, x: Any, threshold: float) -> Any:
    """The gradient of threshold, from its input or its result ``x``."""
    return kernels.drop(g, x <= threshold)


@kernel
@fused("T g, T x, T weight", "T out", "out = x > T(0) ? g : g * weight;")
def prelu_kernel_backward(g: Any, x: Any, weight: Any) -> Any:
    """The gradient of prelu in ``x``."""
    return kernels.where(x > 0, g, g * weight)


@kernel
def prelu_kernel(x: Any, weight: Any) -> Any:
    """``x`` where positive, else ``weight * x``."""
    slope = weight * x
    if type(weight) is np.ndarray and weight.size and weight.min() > 0 and weight.max() <= 1:
        return np.maximum(x, slope)
    return kernels.where(x > 0, x, slope)


def _prelu_weight_grad(g: Any, x: Any) -> Any:
    """The gradient in the weight with a history; at 0 it has no slope, as in PyTorch."""
    return graph.drop(g * graph.where(x >= 0, 0.0, x), x > 0)  # type: ignore[attr-defined]  # a row


in_both("prelu_weight_grad", lambda g, x: kernels.drop(g * x, x > 0), _prelu_weight_grad)


@kernel
def rrelu_with_noise(x: Any, noise: Any, lower: float, upper: float, training: bool) -> Any:
    """``x`` where positive, else times ``noise``, or times the mean slope when not training."""
    return x * noise if training else kernels.where(x > 0, x, x * ((lower + upper) / 2))


@kernel
def rrelu_with_noise_backward(
    g: Any, x: Any, noise: Any, lower: float, upper: float, training: bool, is_result: bool
) -> Any:  # fmt: skip
    """The gradient of rrelu, from its input or its result ``x``."""
    if training and upper - lower > 1e-6:
        return g * noise
    return kernels.where(x > 0, g, g * ((lower + upper) / 2))


activation(
    "hardshrink(self, lambd=0.5)", "HardshrinkBackward0", "hardshrink_backward(g, self, lambd)",
    where="torch Tensor nn.functional", out=True,
)  # fmt: skip
backward("hardshrink", "HardshrinkBackwardBackward0", NOTHING, "lambd")
activation("softshrink(self, lambd=0.5)", "SoftshrinkBackward0", "hardshrink_backward(g, self, lambd)")
activation(
    "hardtanh(self, min_val=-1.0, max_val=1.0)",
    "HardtanhBackward0",
    "hardtanh_backward(g, self, min_val, max_val)",
    kinds="",
)
backward("hardtanh", "HardtanhBackwardBackward0", NOTHING, "min_val, max_val")
activation("hardsigmoid(self)", "HardsigmoidBackward0", "hardsigmoid_backward(g, self)")
backward("hardsigmoid", "HardsigmoidBackwardBackward0", NOTHING)
activation("hardswish(self)", "HardswishBackward0", "hardswish_backward(g, self)")
backward("hardswish", "HardswishBackwardBackward0", "keep(g * grad_output / 3, (self > -3) & (self < 3))")
activation(
    "threshold(self, threshold, value)", "ThresholdBackward0", "threshold_by_backward(g, self, threshold)", kinds=""
)
backward("threshold_by", "ThresholdBackwardBackward0", NOTHING, "threshold")
activation(
    "threshold_of_result(self, threshold, value)", "ThresholdBackward1", "threshold_by_backward(g, result, threshold)", kinds="",
    forward="threshold(self, threshold, value)",
)  # fmt: skip
op(
    "prelu_kernel(self, weight)", "PreluKernelBackward0", self="prelu_kernel_backward(g, self, weight)",
    weight="prelu_weight_grad(g, self)", jvp="where(self >= 0, self_t, self_t * weight) + drop(weight_t * self, self >= 0)",
    elementwise=True, kinds="f",
)  # fmt: skip
op(
    "prelu_kernel_backward(grad_output, self, weight)", "PreluKernelBackwardBackward0", self=NOTHING,
    grad_output="where(self >= 0, g, g * weight)", weight="drop(g * grad_output, self >= 0)", elementwise=True,
    jvp="where(self >= 0, grad_output_t, grad_output_t * weight) + drop(weight_t * grad_output, self >= 0)",
)  # fmt: skip
for _name, _node, _read in (
    ("rrelu_with_noise", "RreluWithNoiseBackward0", "self"),
    ("rrelu_of_result", "RreluWithNoiseBackward1", "result"),
):
    _gradient = f"rrelu_with_noise_backward(%s, {_read}, noise, lower, upper, training, {_read == 'result'})"
    op(
        f"{_name}(self, noise, lower, upper, training)", _node, self=_gradient % "g", noise=None, jvp=_gradient % "self_t",
        forward="rrelu_with_noise(self, noise, lower, upper, training)", elementwise=True, kinds="f",
    )  # fmt: skip
_gradient = "rrelu_with_noise_backward(%s, self, noise, lower, upper, training, is_result)"
op(
    "rrelu_with_noise_backward(grad_output, self, noise, lower, upper, training, is_result)", "RreluWithNoiseBackwardBackward0",
    grad_output=_gradient % "g", self=NOTHING, noise=None, jvp=_gradient % "grad_output_t", elementwise=True,
)  # fmt: skip
activation("leaky_relu_of_result(self, negative_slope=0.01)", "LeakyReluBackward1",
           "leaky_relu_backward(g, result, negative_slope)", forward="leaky_relu(self, negative_slope)")  # fmt: skip

"""Exponential linear units; their in-place forms compute the gradient from the result, which is all that they keep."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....fused import fused
from ... import kernels
from ..declare import formula, kernel, op
from .row import activation


@kernel
def elu(x: Any, alpha: float, scale: float, input_scale: float) -> Any:
    """``scale * x`` where positive, else ``scale * alpha * (exp(input_scale * x) - 1)``."""
    below, above = _apart(x, input_scale)
    below = np.expm1(below, kernels.room(below))
    if alpha * scale != 1:
        below *= alpha * scale
    if scale != 1:
        above *= scale
    below += above
    return below


def _apart(x: Any, input_scale: float) -> tuple[Any, Any]:
    """``input_scale * x`` where x is negative, and x where it is positive; each 0 elsewhere."""
    below, above = kernels.at_most(x, 0.0), kernels.at_least(x, 0.0)
    if input_scale != 1:
        below *= input_scale
    return below, above


@kernel
@fused(
    "T g, float64 alpha, float64 scale, float64 input_scale, bool is_result, T x", "T out",
    "T below = is_result ? x + T(alpha * scale) : T(alpha * scale) * exp(x * T(input_scale)); "
    "out = g * (x <= T(0) ? below * T(input_scale) : T(scale));",
)  # fmt: skip
def elu_backward(
    g: Any, alpha: float, scale: float, input_scale: float, is_result: bool, x: Any
) -> Any:  # fmt: skip
    """The gradient of :func:`elu`, from its input or from its result ``x``."""
    if is_result:
        below = x + alpha * scale
        if input_scale != 1:
            below *= input_scale
    else:
        below = kernels.at_most(x, 0.0)
        if input_scale != 1:
            below *= input_scale
        below = np.exp(below, kernels.room(below))
        if input_scale * alpha * scale != 1:
            below *= input_scale * alpha * scale
    below *= g
    return kernels.where(x <= 0, below, g if scale == 1 else g * scale)


@formula
def elu_second(
    F: Any, g: Any, grad: Any, alpha: float, scale: float, input_scale: float, is_result: bool, x: Any
) -> Any:  # fmt: skip
    """The gradient of :func:`elu_backward` in ``x``: a product with 0 at 0 and above, as in PyTorch."""
    both = g * grad * input_scale
    curve = both if is_result else F.elu_backward(both, alpha, scale, input_scale, False, x)
    return curve * F.to_copy(x < 0, x.dtype)


activation(
    "elu(self, alpha=1.0, scale=1.0, input_scale=1.0)", "EluBackward0",
    "elu_backward(g, alpha, scale, input_scale, False, self)",
)  # fmt: skip
activation(
    "elu_of_result(self, alpha=1.0, scale=1.0, input_scale=1.0)", "EluBackward1",
    "elu_backward(g, alpha, scale, input_scale, True, result)", forward="elu(self, alpha, scale, input_scale)",
)  # fmt: skip
activation(
    "celu(self, alpha=1.0)", "CeluBackward0", "elu_backward(g, alpha, 1.0, 1.0 / alpha, False, self)",
    forward="elu(self, alpha, 1.0, 1.0 / alpha)",
)  # fmt: skip
activation(
    "celu_of_result(self, alpha=1.0)", "CeluBackward1", "elu_backward(g, alpha, 1.0, 1.0 / alpha, True, result)",
    forward="elu(self, alpha, 1.0, 1.0 / alpha)",
)  # fmt: skip
op(
    "elu_backward(grad_output, alpha, scale, input_scale, is_result, self_or_result)", "EluBackwardBackward0",
    grad_output="elu_backward(g, alpha, scale, input_scale, is_result, self_or_result)",
    self_or_result="elu_second(g, grad_output, alpha, scale, input_scale, is_result, self_or_result)",
    jvp="elu_backward(grad_output_t, alpha, scale, input_scale, is_result, self_or_result) "
    "+ elu_second(self_or_result_t, grad_output, alpha, scale, input_scale, is_result, self_or_result)", elementwise=True,
)  # fmt: skip

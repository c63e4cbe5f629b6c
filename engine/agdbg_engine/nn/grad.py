"""Gradients of convolutions as functions of their own (``torch.nn.grad``)."""

from __future__ import annotations

from typing import Any

from ..autograd import grad
from ..creation import zeros
from ..grad_mode import enable_grad, is_grad_enabled
from ..missing import public_names
from ..tensor import Tensor
from . import functional as F

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]

__getattr__ = public_names(__name__)


def _gradient(
    conv: str, wanted: str, size: Any, given: Tensor, grad_output: Tensor, options: tuple[Any, ...]
) -> Tensor:
    """The gradient with respect to the input or the weight, whose values do not count: a convolution is linear in both."""
    unknown = zeros(tuple(size), dtype=grad_output.dtype, device=grad_output.device, requires_grad=True)
    stride, padding, dilation, groups = options
    recorded = is_grad_enabled() and (given.requires_grad or grad_output.requires_grad)
    with enable_grad():
        operands = (unknown, given) if wanted == "input" else (given, unknown)
        out = getattr(F, conv)(*operands, None, stride, padding, dilation, groups)
    found: Tensor = grad(out, unknown, grad_output, create_graph=recorded)[0]
    return found


def _input(conv: str) -> Any:
    def gradient(
        input_size: Any, weight: Tensor, grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:  # fmt: skip
        return _gradient(conv, "input", input_size, weight, grad_output, (stride, padding, dilation, groups))

    gradient.__name__ = gradient.__qualname__ = f"{conv}_input"
    gradient.__doc__ = f"The gradient of :func:`{conv}` with respect to an input of size ``input_size``."
    return gradient


def _weight(conv: str) -> Any:
    def gradient(
        input: Tensor, weight_size: Any, grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:  # fmt: skip
        return _gradient(conv, "weight", weight_size, input, grad_output, (stride, padding, dilation, groups))

    gradient.__name__ = gradient.__qualname__ = f"{conv}_weight"
    gradient.__doc__ = f"The gradient of :func:`{conv}` with respect to a weight of size ``weight_size``."
    return gradient


conv1d_input, conv2d_input, conv3d_input = (_input(f"conv{n}d") for n in (1, 2, 3))
conv1d_weight, conv2d_weight, conv3d_weight = (_weight(f"conv{n}d") for n in (1, 2, 3))

"""First values of parameters (``torch.nn.init``): every function writes into its tensor and gives it back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..grad_mode import no_grad
from ..random import generator as _engine_generator
from ..tensor import Tensor, wrap

__all__ = [
    "calculate_gain", "constant_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_", "orthogonal_",
    "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_",
]  # fmt: skip


def _write(tensor: Tensor, values: Any) -> Tensor:
    with no_grad():
        tensor.copy_(wrap(np.asarray(values, tensor.dtype)))
    return tensor


def constant_(tensor: Tensor, val: float) -> Tensor:
    """``val`` everywhere."""
    return _write(tensor, np.full(tensor.shape, val))


def ones_(tensor: Tensor) -> Tensor:
    """1 everywhere."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """0 everywhere."""
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """The identity matrix."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return _write(tensor, np.eye(tensor.shape[0], tensor.shape[1]))


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform in [a, b)."""
    return _write(tensor, (generator or _engine_generator()).uniform(a, b, tensor.shape))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Normal."""
    return _write(tensor, (generator or _engine_generator()).normal(mean, std, tensor.shape))


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    """Normal, but only what lies in [a, b]."""
    draws = generator or _engine_generator()
    values = draws.normal(mean, std, tensor.shape)
    while (outside := (values < a) | (values > b)).any():
        values[outside] = draws.normal(mean, std, int(outside.sum()))
    return _write(tensor, values)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By how much weights before a nonlinearity are to be larger than before none."""
    if nonlinearity in (
        "linear",
        "conv1d",
        "conv2d",
        "conv3d",
        "conv_transpose1d",
        "conv_transpose2d",
        "conv_transpose3d",
        "sigmoid",
    ):
        return 1
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    known = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
    if nonlinearity not in known:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return known[nonlinearity]


def _fans(tensor: Tensor) -> tuple[int, int]:
    """How many numbers an output is made of, and how many an input goes into."""
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform, with a variance between those that keep the size of outputs and of gradients (Glorot)."""
    bound = gain * math.sqrt(6.0 / sum(_fans(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """As :func:`xavier_uniform_`, normal."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_fans(tensor))), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return calculate_gain(nonlinearity, a) / math.sqrt(_fans(tensor)[mode == "fan_out"])


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Uniform, with the variance that keeps the size of outputs (or gradients: ``fan_out``) behind a nonlinearity (He)."""
    if 0 in tensor.shape:
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """As :func:`kaiming_uniform_`, normal."""
    if 0 in tensor.shape:
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """A matrix with orthogonal rows or columns, of the first dimension and all others."""
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    rows = tensor.shape[0]
    columns = math.prod(tensor.shape[1:])
    drawn = (generator or _engine_generator()).standard_normal((max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(drawn)
    q *= np.sign(np.diag(r))
    return _write(tensor, gain * (q if rows >= columns else q.T).reshape(tensor.shape))

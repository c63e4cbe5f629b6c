"""Activations as modules, from one table: name, function, arguments with their defaults, and what the repr shows."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

from ..creation import full
from ..sites import user_stacklevel
from ..tensor import Tensor
from . import functional as F
from .module import Module
from .parameter import check_size, drawn

_REQUIRED = inspect.Parameter.empty
SILENT = "-"
"""For a repr that shows nothing, not even ``inplace``."""


class _Activation(Module):
    """A function of one tensor with options, which are attributes."""

    function: str
    options: tuple[str, ...]
    shown: str
    __signature__: inspect.Signature

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        bound = type(self).__signature__.bind(*args, **kwargs)
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            setattr(self, name, value)
        if self.function == "hardtanh" and self.max_val <= self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")

    def forward(self, input: Tensor) -> Tensor:
        return getattr(F, self.function)(input, *[getattr(self, name) for name in self.options])

    def extra_repr(self) -> str:
        if self.shown == SILENT:
            return ""
        text = self.shown.format(**{name: getattr(self, name) for name in self.options})
        inplace = "inplace=True" if "inplace" in self.options and self.inplace else ""
        return f"{text}, {inplace}" if text and inplace else text or inplace


def _activation(name: str, function: str, shown: str = "", **options: Any) -> Any:
    """A module class; ``shown`` is what its repr has between the parentheses."""
    parameters = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=v) for n, v in options.items()]
    body = {
        "function": function, "options": tuple(options), "shown": shown, "__signature__": inspect.Signature(parameters),
        "__doc__": f"Applies :func:`{function}`.", "__module__": __name__,
    }  # fmt: skip
    return type(name, (_Activation,), body)


_IN: dict[str, Any] = {"inplace": False}
ReLU = _activation("ReLU", "relu", **_IN)
ReLU6 = _activation("ReLU6", "relu6", **_IN)
ReLU6.min_val, ReLU6.max_val = 0.0, 6.0  # it is a Hardtanh in PyTorch
LeakyReLU = _activation("LeakyReLU", "leaky_relu", "negative_slope={negative_slope}", negative_slope=0.01, **_IN)
ELU = _activation("ELU", "elu", "alpha={alpha}", alpha=1.0, **_IN)
CELU = _activation("CELU", "celu", "alpha={alpha}", alpha=1.0, **_IN)
SELU = _activation("SELU", "selu", **_IN)
SiLU = _activation("SiLU", "silu", **_IN)
Mish = _activation("Mish", "mish", **_IN)
GLU = _activation("GLU", "glu", "dim={dim}", dim=-1)


_Limits: Any = _activation(
    "Hardtanh", "hardtanh", "min_val={min_val}, max_val={max_val}", min_val=-1.0, max_val=1.0, **_IN
)


class Hardtanh(_Limits):  # type: ignore[misc]  # a class made above
    """Applies :func:`hardtanh`; ``min_value`` and ``max_value`` are old names of the limits."""

    def __init__(
        self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False, min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:  # fmt: skip
        for old, value in (("min_val", min_value), ("max_val", max_value)):
            if value is not None:
                text = f"keyword argument `{old}ue` is deprecated and renamed to `{old}`"
                warnings.warn(text, FutureWarning, stacklevel=user_stacklevel())
        low, high = min_val if min_value is None else min_value, max_val if max_value is None else max_value
        super().__init__(low, high, inplace)


Hardsigmoid = _activation("Hardsigmoid", "hardsigmoid", SILENT, **_IN)
Hardswish = _activation("Hardswish", "hardswish", SILENT, **_IN)
Hardshrink = _activation("Hardshrink", "hardshrink", "{lambd}", lambd=0.5)
Softshrink = _activation("Softshrink", "softshrink", "{lambd}", lambd=0.5)
Threshold = _activation(
    "Threshold", "threshold", "threshold={threshold}, value={value}", threshold=_REQUIRED, value=_REQUIRED, **_IN
)
Softplus = _activation("Softplus", "softplus", "beta={beta}, threshold={threshold}", beta=1.0, threshold=20.0)
Sigmoid = _activation("Sigmoid", "sigmoid")
Tanh = _activation("Tanh", "tanh")
LogSigmoid = _activation("LogSigmoid", "logsigmoid")
Softsign = _activation("Softsign", "softsign")
Tanhshrink = _activation("Tanhshrink", "tanhshrink")
Softmax = _activation("Softmax", "softmax", "dim={dim}", dim=None)
Softmin = _activation("Softmin", "softmin", "dim={dim}", dim=None)
LogSoftmax = _activation("LogSoftmax", "log_softmax", "dim={dim}", dim=None)


class RReLU(_activation("RReLU", "rrelu", "lower={lower}, upper={upper}", lower=1 / 8, upper=1 / 3, **_IN)):  # type: ignore[misc]  # a class made above
    """Applies :func:`rrelu`: with random slopes while training."""

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class GELU(_activation("GELU", "gelu", "approximate={approximate!r}", approximate="none")):  # type: ignore[misc]  # as above
    """Applies :func:`gelu`, whose option is a keyword."""

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)


class PReLU(Module):
    """Input where positive, else times a learned weight: one, or one for each channel."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        check_size(num_parameters)
        self.weight = drawn(full((num_parameters,), float(init), dtype=dtype, device=device))

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class Softmax2d(Module):
    """Softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return F.softmax(input, -3)


__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]  # fmt: skip

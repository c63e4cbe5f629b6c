"""First values of parameters (``torch.nn.init``): every function writes into its tensor and gives it back."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from ..creation import eye as eye_matrix
from ..dtype import scalar_type
from ..foreign import refuse
from ..grad_mode import no_grad
from ..missing import public_names
from ..ops.out import into
from ..random import generator as _numbers
from ..sites import user_stacklevel
from ..tensor import Tensor, wrap

__all__ = [
    "calculate_gain", "constant_", "dirac_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_",
    "orthogonal_", "sparse_", "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_",
]  # fmt: skip

__getattr__ = public_names(__name__)

F = TypeVar("F", bound=Callable[..., Any])


def _own(function: F) -> F:
    """``function``, which writes by methods of its tensor, for tensors of the engine: those of PyTorch have the same ones."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        tensor = args[0] if args else kwargs.get("tensor")
        if not isinstance(tensor, Tensor):
            refuse(tensor, function.__name__, "tensor")
        return function(*args, **kwargs)

    return cast("F", call)


def _write(tensor: Tensor, values: Any) -> Tensor:
    with no_grad():
        tensor.copy_(wrap(np.asarray(values, tensor.dtype)))
    return tensor


def _check_dtype(tensor: Tensor, kernel: str, kinds: str) -> None:
    """Refuse a dtype that PyTorch's ``kernel`` is not there for."""
    if tensor.dtype.kind not in kinds:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_type(tensor.dtype)}'")


@_own
def constant_(tensor: Tensor, val: float) -> Tensor:
    """``val`` everywhere."""
    with no_grad():
        return tensor.fill_(val)


@_own
def ones_(tensor: Tensor) -> Tensor:
    """1 everywhere."""
    return constant_(tensor, 1.0)


@_own
def zeros_(tensor: Tensor) -> Tensor:
    """0 everywhere."""
    with no_grad():
        return tensor.zero_()


@_own
def eye_(tensor: Tensor) -> Tensor:
    """The identity matrix."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        into(eye_matrix, tuple(tensor.shape), {"out": tensor, "dtype": tensor.dtype, "device": tensor.device})
    return tensor


@_own
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Weights of a convolution that leaves as many channels of every group as there are as they are."""
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    each = tensor.shape[0] // groups
    middle: tuple[Any, ...] = tuple(n // 2 for n in tensor.shape[2:])
    with no_grad():
        tensor.zero_()
        for start in range(0, tensor.shape[0], each):
            for channel in range(min(each, tensor.shape[1])):
                tensor[(start + channel, channel, *middle)] = 1
    return tensor


@_own
def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Normal, but the part ``sparsity`` of every column is 0."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    draws = _numbers(generator)
    normal_(tensor, 0, std, generator)
    order = draws.permuted(np.tile(np.arange(rows)[:, None], columns), axis=0)
    with no_grad():
        for column in range(columns):
            tensor[order[: math.ceil(sparsity * rows), column], column] = 0
    return tensor


@_own
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform in [a, b)."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


@_own
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Normal."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


@_own
def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    """Normal, but only what lies in [a, b]."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect.",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
    _check_dtype(tensor, "normal_kernel_cpu", "fc")
    _check_dtype(tensor, "lt_cpu", "f")
    if a > b:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={a:g} > to={b:g}")
    draws = _numbers(generator)
    within = 0.5 * (math.erf((b - mean) / std / math.sqrt(2)) - math.erf((a - mean) / std / math.sqrt(2)))
    values = np.empty(tensor.shape)
    missing = np.ones(tensor.shape, bool)
    while missing.any():  # draw again what is refused
        n = int(missing.sum())
        if within > 0.3:
            drawn = draws.normal(mean, std, n)
            good = (a <= drawn) & (drawn <= b)
        else:  # in a tail nearly everything would be refused: draw evenly, and take by density
            drawn = draws.uniform(a, b, n)
            peak = max(a, min(mean, b))
            good = np.log(draws.random(n)) <= 0.5 * (((peak - mean) / std) ** 2 - ((drawn - mean) / std) ** 2)
        places = np.flatnonzero(missing)[good]
        values.reshape(-1)[places] = drawn[good]
        missing.reshape(-1)[places] = False
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
        if param is not None and (isinstance(param, bool) or not isinstance(param, int | float)):
            raise ValueError(f"negative_slope {param} not a valid number")
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


_calculate_fan_in_and_fan_out = _fans
"""PyTorch's name, which scripts use although it is not public."""


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    """One of the two of :func:`_fans`; PyTorch's name."""
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _fans(tensor)[mode == "fan_out"]


@_own
def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform, with a variance between those that keep the size of outputs and of gradients (Glorot)."""
    bound = gain * math.sqrt(6.0 / sum(_fans(tensor)))
    return uniform_(tensor, -bound, bound, generator)


@_own
def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """As :func:`xavier_uniform_`, normal."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_fans(tensor))), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


@_own
def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Uniform, with the variance that keeps the size of outputs (or gradients: ``fan_out``) behind a nonlinearity (He)."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", UserWarning, stacklevel=user_stacklevel())
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


@_own
def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """As :func:`kaiming_uniform_`, normal."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", UserWarning, stacklevel=user_stacklevel())
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


@_own
def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """A matrix with orthogonal rows or columns, of the first dimension and all others."""
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if 0 in tensor.shape:
        return tensor
    _check_dtype(tensor, "normal_kernel_cpu", "fc")
    rows = tensor.shape[0]
    columns = math.prod(tensor.shape[1:])
    drawn = _numbers(generator).standard_normal((max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(drawn)
    q *= np.sign(np.diag(r))
    _write(tensor, (q if rows >= columns else q.T).reshape(tensor.shape))
    with no_grad():
        return tensor.mul_(gain)


def _deprecated(function: Any) -> Callable[..., Tensor]:
    """``function`` under its old name, without the underscore."""
    new = function.__name__

    @functools.wraps(function)
    def old(*args: Any, **kwargs: Any) -> Tensor:
        warnings.warn(
            f"`nn.init.{new[:-1]}` is now deprecated in favor of `nn.init.{new}`.", FutureWarning, stacklevel=2
        )
        return function(*args, **kwargs)

    old.__name__ = new[:-1]
    return old


uniform, normal, constant, eye, dirac = map(_deprecated, (uniform_, normal_, constant_, eye_, dirac_))
xavier_uniform, xavier_normal, orthogonal = map(_deprecated, (xavier_uniform_, xavier_normal_, orthogonal_))
kaiming_uniform, kaiming_normal, sparse = map(_deprecated, (kaiming_uniform_, kaiming_normal_, sparse_))

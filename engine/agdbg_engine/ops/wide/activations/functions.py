"""Activations as users call them: with ``inplace=``, and under PyTorch's other names."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ....device import array_module
from ....dtype import scalar_type
from ....foreign import described
from ....random import generator
from ....scalars import written as fitting
from ....several import at_home
from ....sites import user_stacklevel
from ....tensor import Tensor, wrap
from ... import _generated as g
from ... import reduce
from ...explain import check_exponential, shape_error
from ...inplace import inplace as written
from ...kernel_names import not_implemented, takes
from ...shape import one_dim
from ..declare import OPS, public

SELU = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
"""``alpha`` and ``scale`` with which selu keeps mean 0 and variance 1."""


def _form(name: str, inplace: bool, x: Tensor, function: Callable[..., Tensor], *args: Any, kept: Any = None) -> Tensor:
    """``function(x, *args)``; in place by the function ``kept``, whose node keeps the result, where there is one."""
    return written(x, f"{name}_", kept or function, args) if inplace else function(x, *args)


@public("nn.functional")
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(input, 0)."""
    return _form("relu", inplace, input, g.relu)


@public("nn.functional")
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Input where positive, else ``negative_slope * input``."""
    kept = OPS["leaky_relu_of_result"] if negative_slope >= 0 else None
    return _form("leaky_relu", inplace, input, g.leaky_relu, negative_slope, kept=kept)


@public("nn.functional")
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Input times its sigmoid."""
    return _form("silu", inplace, input, g.silu)


@public("nn.functional")
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Input times tanh(softplus(input))."""
    return _form("mish", inplace, input, OPS["mish"])


@public("nn.functional", out=True)
def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """Input times the normal distribution function of it, or its ``"tanh"`` approximation."""
    if approximate == "tanh":
        return g.gelu_tanh(input)
    if approximate != "none":
        raise RuntimeError("approximate argument must be either none or tanh.")
    return OPS["gelu"](input)


@public("nn.functional")
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Input where positive, else ``alpha * (exp(input) - 1)``."""
    kept = OPS["elu_of_result"] if alpha >= 0 else None
    return _form("elu", inplace, input, OPS["elu"], alpha, kept=kept)


@public("torch nn.functional")
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """:func:`elu` scaled so that it keeps mean 0 and variance 1."""
    return _form("selu", inplace, input, OPS["elu"], *SELU, kept=OPS["elu_of_result"])


@public("torch nn.functional")
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Input where positive, else ``alpha * (exp(input / alpha) - 1)``."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    kept = OPS["celu_of_result"] if alpha > 0 else None
    return _form("celu", inplace, input, OPS["celu"], alpha, kept=kept)


@public("nn.functional")
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Input limited to [min_val, max_val]."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if input.dtype.kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if input.dtype.kind == "c":
        raise NotImplementedError("clamp is not supported for complex types")
    if input.dtype.kind == "u" and min(int(min_val), int(max_val)) < 0:
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return _form("hardtanh", inplace, input, OPS["hardtanh"], min_val, max_val)


@public("nn.functional")
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Input limited to [0, 6]."""
    return hardtanh(input, 0.0, 6.0, inplace)


@public("nn.functional")
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """(input + 3) / 6 limited to [0, 1]."""
    return _form("hardsigmoid", inplace, input, OPS["hardsigmoid"])


@public("nn.functional")
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Input times :func:`hardsigmoid`."""
    return _form("hardswish", inplace, input, OPS["hardswish"])


@public("nn.functional", out=True)
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """0 in [-lambd, lambd], elsewhere ``lambd`` nearer to 0."""
    if input.dtype.kind == "f" and not 0 <= lambd <= np.finfo(input.dtype).max:
        most, name = np.finfo(input.dtype).max, scalar_type(input.dtype)
        raise RuntimeError(f"lambda must be in range [0, {most:g}] for input dtype {name}, but found {lambd:g}")
    return OPS["softshrink"](input, lambd)


@public("torch", out=True)
@public("nn.functional")
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """``value`` where ``input <= threshold``, elsewhere ``input``."""
    if input.dtype.kind in "bc":
        raise NotImplementedError(f"\"threshold_cpu\" not implemented for '{scalar_type(input.dtype)}'")
    threshold, value = fitting(threshold, input.dtype), fitting(value, input.dtype)
    kept = OPS["threshold_of_result"] if value <= threshold else None
    return _form("threshold", inplace, input, OPS["threshold"], threshold, value, kept=kept)


_threshold = threshold  # which is a parameter below


@public("nn.functional", out=True)
def logsigmoid(input: Tensor) -> Tensor:
    """Logarithm of the sigmoid."""
    return OPS["log_sigmoid"](input)


@public("nn.functional")
def softsign(input: Tensor) -> Tensor:
    """``input / (1 + abs(input))``."""
    return g.div(input, input.abs() + 1)  # by no operator: a tensor of PyTorch has one of its own


@public("nn.functional")
def tanhshrink(input: Tensor) -> Tensor:
    """``input - tanh(input)``."""
    return g.sub(input, input.tanh())


@public("nn.functional")
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along ``dim`` times the sigmoid of the second."""
    if input.ndim == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    dim = one_dim(input, dim)
    if input.shape[dim] % 2:
        raise shape_error(f"Halving dimension must be even, but dimension {dim} is size {input.shape[dim]}")
    return OPS["glu"](input, dim)


@public("torch Tensor nn.functional")
def prelu(self: Tensor, weight: Tensor) -> Tensor:
    """``self`` where positive, else ``weight * self``: one weight, or one for each channel (dimension 1)."""
    if not isinstance(weight, Tensor):
        raise TypeError(f"prelu(): argument 'weight' (position 2) must be Tensor, not {described(weight)}")
    if self.dtype != weight.dtype:
        kinds = scalar_type(self.dtype), scalar_type(weight.dtype)
        raise RuntimeError("prelu: Type promoting not supported. Got {} and {}".format(*kinds))
    if weight.ndim > 1:
        raise shape_error(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}")
    if weight.numel() != 1:
        if self.ndim == 0:
            raise shape_error("Not allow zero-dim input tensor.")
        channels = self.shape[1] if self.ndim > 1 else 1
        if channels != weight.numel():
            raise shape_error(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {weight.numel()} and "
                f"channel size = {channels}."
            )
    if weight.ndim != self.ndim:
        weight = weight.view([-1 if i == min(1, self.ndim - 1) else 1 for i in range(self.ndim)])
    return OPS["prelu_kernel"](self, weight)


@public("torch nn.functional")
@at_home
def rrelu(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """Input where positive, else times a slope drawn from [lower, upper], or times the mean of both when not training."""
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    if not training and input.dtype.kind != "f":
        raise not_implemented("leaky_relu", input.dtype)
    noise = None
    if training and not takes("w", input.dtype):
        raise not_implemented("rrelu_with_noise", input.dtype)
    if training:
        drawn = generator(None, input._a).uniform(lower, upper, input.shape).astype(input.dtype)
        noise = g.where(wrap(input._a <= 0), wrap(drawn), 1.0)
    kept = OPS["rrelu_of_result"] if lower >= 0 else None
    return _form("rrelu", inplace, input, OPS["rrelu_with_noise"], noise, lower, upper, training, kept=kept)


# ----- softmax under the names of nn.functional -----


@public("nn.functional")
def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """exp(input) / sum(exp(input)) along ``dim``."""
    return reduce.softmax(input, _dim("softmax", input, dim, _stacklevel), dtype)


@public("nn.functional")
def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """Softmax of ``-input`` along ``dim``."""
    return reduce.softmax(-input, _dim("softmin", input, dim, _stacklevel), dtype)


@public("nn.functional")
def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """Logarithm of the softmax along ``dim``."""
    return reduce.log_softmax(input, _dim("log_softmax", input, dim, _stacklevel), dtype)


@public("nn.functional")
@at_home
def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """Softmax of ``(logits + Gumbel noise) / tau``; ``hard``: 1 at the largest and 0 elsewhere, with the same gradient."""
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=user_stacklevel())
    check_exponential(logits.dtype)
    noise = generator(None, logits._a).gumbel(size=logits.shape).astype(logits.dtype)
    soft = reduce.softmax((logits + wrap(noise)) / tau, dim)
    if not hard:
        return soft
    values = soft._a
    largest = np.expand_dims(values.argmax(dim), dim)
    shape = [-1 if d == dim % values.ndim else 1 for d in range(values.ndim)]
    places = array_module(values).arange(values.shape[dim]).reshape(shape)
    return wrap((places == largest).astype(values.dtype)) - soft.detach() + soft


def _dim(name: str, x: Tensor, dim: int | None, stacklevel: int) -> int:
    if dim is None:
        warnings.warn(
            f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
            stacklevel=user_stacklevel() + stacklevel - 3,
        )
        return 0 if x.ndim in (0, 1, 3) else 1
    return dim


# ----- the forms that end in an underscore -----


@public("torch nn.functional")
def relu_(input: Tensor) -> Tensor:
    """In-place form of :func:`relu`."""
    return relu(input, True)


@public("nn.functional")
def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """In-place form of :func:`elu`."""
    return elu(input, alpha, True)


@public("torch nn.functional")
def selu_(input: Tensor) -> Tensor:
    """In-place form of :func:`selu`."""
    return selu(input, True)


@public("torch nn.functional")
def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """In-place form of :func:`celu`."""
    return celu(input, alpha, True)


@public("nn.functional")
def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """In-place form of :func:`leaky_relu`."""
    return leaky_relu(input, negative_slope, True)


@public("nn.functional")
def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """In-place form of :func:`hardtanh`."""
    return hardtanh(input, min_val, max_val, True)


@public("torch nn.functional")
def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """In-place form of :func:`threshold`."""
    return _threshold(input, threshold, value, True)


@public("torch nn.functional")
def rrelu_(input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False) -> Tensor:
    """In-place form of :func:`rrelu`."""
    return rrelu(input, lower, upper, training, True)

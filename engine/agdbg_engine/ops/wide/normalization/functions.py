"""Normalisation as users call it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import events
from ....backends import on_host
from ....dtype import scalar_type
from ....inside import unchecked
from ....saved.strict import let_go, refuse
from ....several import at_home
from ....tensor import Tensor, wrap
from ... import _generated as g
from ...constant_arguments import constant
from ...explain import shape_error, size_at
from ...kernel_names import no_kernel
from ...kernels import zeros_of
from ...lists import cat
from ..declare import OPS, public

Sizes = list[int] | tuple[int, ...]

# ----- over the last dimensions -----


@public("torch")
def native_layer_norm(
    input: Tensor, normalized_shape: Sizes, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, ...]:
    """:func:`layer_norm`, with mean and 1 / std of what it normalises over."""
    shape = _last_sizes("layer_norm", input, normalized_shape, weight, bias)
    _same_floats(input, weight, bias)
    return tuple(OPS["native_layer_norm"](input, shape, weight, bias, eps))


@public("nn.functional")
def layer_norm(
    input: Tensor, normalized_shape: Sizes, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """``(input - mean) / sqrt(var + eps) * weight + bias`` over the last dimensions, of sizes ``normalized_shape``."""
    return native_layer_norm(input, normalized_shape, weight, bias, eps)[0]


@public("torch.layer_norm")
def _layer_norm(
    input: Tensor, normalized_shape: Sizes, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Tensor:  # fmt: skip
    """:func:`layer_norm`."""
    return layer_norm(input, normalized_shape, weight, bias, eps)


@public("torch nn.functional")
def rms_norm(input: Tensor, normalized_shape: Sizes, weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """``input / sqrt(mean(input ** 2) + eps) * weight`` over the last dimensions, of sizes ``normalized_shape``."""
    shape = _last_sizes("rms_norm", input, normalized_shape, weight, None)
    dtype = input.dtype
    if dtype.kind not in "fc":
        raise NotImplementedError(f"\"rms_norm\" not implemented for '{scalar_type(dtype)}'")
    x = input.to(np.dtype(np.float32)) if dtype.itemsize < 4 else input
    if eps is None:
        eps = float(np.finfo(x.dtype).eps)
    if not on_host(input._a) and dtype.char in "fd" and (weight is None or weight.dtype == dtype):
        return OPS["fused_rms_norm"](input, shape, weight, eps)[0]
    dims = tuple(range(-len(shape), 0))
    out = x * (g.mean_dim(x.pow(2), tuple(d % x.ndim for d in dims), True) + eps).rsqrt()
    out = out if weight is None else out * weight
    return out.to(dtype)


def _last_sizes(op: str, x: Tensor, shape: Any, weight: Tensor | None, bias: Tensor | None) -> tuple[int, ...]:
    """``shape`` as a tuple, checked to be the last sizes of ``x`` and the sizes of the parameters."""
    if isinstance(shape, int):
        raise TypeError(f"{op}(): argument 'normalized_shape' (position 2) must be tuple of ints, not int")
    shape = tuple(shape)
    if not shape:
        raise shape_error(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    for name, p in (("weight", weight), ("bias", bias)):
        if p is not None and tuple(p.shape) != shape:
            raise shape_error(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape {list(p.shape)} and "
                f"normalized_shape = {list(shape)}"
            )
    if tuple(x.shape[-len(shape) :]) != shape or x.ndim < len(shape):
        sizes = ", ".join(str(s) for s in shape)
        star = f"[*, {sizes}]" if op == "layer_norm" else f"[*{sizes}]"
        raise shape_error(
            f"Given normalized_shape={list(shape)}, expected input with shape {star}, but got input of size{list(x.shape)}"
        )
    return shape


def _same_floats(x: Tensor, *parameters: Tensor | None) -> None:
    """Refuse parameters of another dtype, but float32 ones beside float16."""
    given = [p.dtype for p in parameters if p is not None]
    if all(dtype == x.dtype for dtype in given):
        return
    if any(dtype != np.float32 for dtype in given):
        raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
    if x.dtype != np.float16:
        raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")


# ----- by channel -----


@public("torch")
def native_group_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Tensor, ...]:
    """:func:`group_norm`, with mean and 1 / std by sample and group."""
    _same_floats(input, weight, bias)
    return tuple(OPS["native_group_norm"](input, weight, bias, N, C, HxW, group, eps))


@public("nn.functional")
def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """(N, C, ...) normalised over each of ``num_groups`` groups of channels, times ``weight`` plus ``bias`` by channel."""
    if input.ndim < 2:
        raise shape_error(f"Expected at least 2 dimensions for input tensor but received {input.ndim}")
    n, channels = input.shape[:2]
    _refuse_single([n * channels // num_groups, num_groups, *input.shape[2:]], num_groups)
    if channels % num_groups:
        raise shape_error(
            f"Expected number of channels in input to be divisible by num_groups, but got input of shape {list(input.shape)} "
            f"and num_groups={num_groups}"
        )
    for name, p in (("weight", weight), ("bias", bias)):
        if p is not None and tuple(p.shape) != (channels,):
            raise shape_error(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of shape "
                f"{list(p.shape)} and input of shape {list(input.shape)}"
            )
    return native_group_norm(input, weight, bias, n, channels, math.prod(input.shape[2:]), num_groups, eps)[0]


@public("torch.group_norm")
def _group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Tensor:  # fmt: skip
    """:func:`group_norm`."""
    return group_norm(input, num_groups, weight, bias, eps)


@public("torch")
@at_home
def native_batch_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None,
    training: bool, momentum: float, eps: float,
) -> tuple[Tensor, ...]:  # fmt: skip
    """:func:`batch_norm`, with mean and 1 / std by channel (empty when not training)."""
    channels = input.shape[1] if input.ndim > 1 else 0
    for name, p in (("running_mean", running_mean), ("running_var", running_var), ("weight", weight), ("bias", bias)):
        if p is None and not training and name.startswith("running"):
            raise RuntimeError(f"{name} must be defined in evaluation mode")
        if p is not None and p.numel() != channels:
            raise shape_error(f"{name} should contain {channels} elements not {p.numel()}")
    if input.ndim < 2:
        raise shape_error("Dimension out of range (expected to be in range of [-1, 0], but got 1)", IndexError)
    _same_floats(input, weight, bias, running_mean, running_var)
    constant("native_batch_norm", running_mean=running_mean, running_var=running_var)
    strict = training and events.special & events.STRICT
    for p in (running_mean, running_var) if strict else ():
        if p is not None:
            refuse(p, "batch_norm")
    out, mean, rstd, var = OPS["native_batch_norm"](input, weight, bias, running_mean, running_var, training, eps)
    if strict:
        let_go(out._fn, "running_mean", "running_var")
    if training:
        n = input.numel() // channels if channels else 0
        _update(running_mean, mean._a, momentum)
        _update(running_var, var._a * (n / (n - 1) if n > 1 else math.inf), momentum)
    return out, mean, rstd


@at_home
def _update(running: Tensor | None, value: Any, momentum: float) -> None:
    """Mix ``value`` into running statistics. As in PyTorch this counts as no write: a node that keeps them may run afterwards."""
    if running is not None:
        running._a[...] = (1 - momentum) * running._a + momentum * value


@public("nn.functional")
def batch_norm(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None,
    bias: Tensor | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """(N, C, ...) normalised by channel, times ``weight`` plus ``bias``.

    In training by the statistics of the batch, which are mixed into the running ones; else by the running ones.
    """
    if training:
        if not input.ndim:
            raise shape_error("tuple index out of range", IndexError)  # of the size that is looked at first
        _refuse_single(input.shape, input.shape[1] if input.ndim > 1 else 1)
    if eps < 0 or (training and eps == 0):
        kind = "positive during training" if training else "non-negative"
        raise ValueError(f"batch_norm eps must be {kind}, but got {eps}")
    return _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, True)


@public("torch.batch_norm")
def _batch_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None,
    training: bool, momentum: float, eps: float, cudnn_enabled: bool,
) -> Tensor:  # fmt: skip
    """:func:`batch_norm`."""
    if not input._a.size:
        out = input.clone()
        out = out if weight is None else out * weight[0]
        return out if bias is None else out + bias[0]
    return native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


def _refuse_single(size: Any, channels: int) -> None:
    """Nothing can be normalised by its own mean."""
    if math.prod(size) == channels:
        shown = f"torch.Size({list(size)})" if isinstance(size, tuple) else list(size)
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {shown}")


@public("nn.functional")
def instance_norm(
    input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None, weight: Tensor | None = None,
    bias: Tensor | None = None, use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """(N, C, ...) normalised by sample and channel, times ``weight`` plus ``bias`` by channel."""
    if use_input_stats:
        if math.prod(input.shape[2:]) == 1:
            raise ValueError(
                f"Expected more than 1 spatial element when training, got input size torch.Size({list(input.shape)})"
            )
    elif running_mean is None or running_var is None:
        raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
    n, channels = size_at(input, 0), size_at(input, 1)
    w, b, mean, var = (_repeated(p, n) for p in (weight, bias, running_mean, running_var))
    flat = input.contiguous().view(1, n * channels, *input.shape[2:])
    out = native_batch_norm(flat, w, b, mean, var, use_input_stats, momentum, eps)[0]
    for running, each in ((running_mean, mean), (running_var, var)):
        if use_input_stats and running is not None and each is not None:
            with unchecked():
                running.copy_(each.view(n, channels).mean(0))
    return out.view(input.shape)


def _repeated(p: Tensor | None, n: int) -> Tensor | None:
    return None if p is None else g.clone(p.view(1, -1).expand(n, p.numel()), "C").view(-1)


@public("torch.instance_norm")
def _instance_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None,
    use_input_stats: bool, momentum: float, eps: float, cudnn_enabled: bool,
) -> Tensor:  # fmt: skip
    """:func:`instance_norm`."""
    return instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


# ----- by neighbouring channels, by length -----


@public("nn.functional")
def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """(N, C, ...) divided by ``(k + alpha * mean of squares of size neighbouring channels) ** beta``."""
    if input.ndim < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality                          input (got {input.ndim} dimensions)"
        )
    if not input._a.size:
        return input
    if not (input.dtype.kind == "f" or input.dtype == np.int64):
        raise no_kernel("avg_pool2d" if input.ndim == 3 else "avg_pool3d_out_frame", input.dtype)
    squares, channels = input * input, input.shape[1]
    before, after = size // 2, (size - 1) // 2
    zeros = [wrap(zeros_of((input.shape[0], n, *input.shape[2:]), input._a)) for n in (before, after)]
    padded = cat([zeros[0], squares, zeros[1]], 1)
    total = padded.narrow(1, 0, channels)
    for i in range(1, size):
        total = total + padded.narrow(1, i, channels)
    return input / (total / size * alpha + k).pow(beta)


@public("nn.functional")
def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """``input`` divided by its p-norm along ``dim``, which counts as no less than ``eps``."""
    size = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    if out is None:
        return g.div(input, size)  # not by an operator, for which a tensor of PyTorch has a method of its own
    from .... import div

    result: Tensor = div(input, size, out=out)
    return result

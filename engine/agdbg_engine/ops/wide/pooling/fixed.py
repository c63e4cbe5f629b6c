"""Pooling with fixed windows as users call it: ``max_pool``, ``avg_pool`` and ``lp_pool``."""

from __future__ import annotations

import math
from typing import Any

from ....tensor import Tensor
from ... import elementwise, graph
from ...explain import shape_error
from ..declare import public
from .arguments import Size, check_kind, check_max_pool1d, check_windows, each

Pair = tuple[Tensor, Tensor]


# ----- max -----


def _max(k: int, x: Tensor, kernel_size: Size, stride: Any, padding: Size, dilation: Size, ceil_mode: bool) -> Any:
    op = f"max_pool{k}d"
    kernel = each(op, "kernel_size", kernel_size, k)
    how = (
        kernel, each(op, "stride", stride, k, kernel), each(op, "padding", padding, k), each(op, "dilation", dilation, k),
        bool(ceil_mode),
    )  # fmt: skip
    check_windows("max_pool3d_with_indices_out_cpu_template" if k == 3 else op, x, *how)
    check_kind(op, x, "iuf")
    return getattr(graph, f"{op}_with_indices")(x, *how)


def _max1d(
    x: Tensor, kernel_size: Size, stride: Any, padding: Size, dilation: Size, ceil_mode: bool, places: bool
) -> Pair:
    kernel = each("max_pool1d", "kernel_size", kernel_size, 1)
    how = (
        kernel, each("max_pool1d", "stride", stride, 1, kernel), each("max_pool1d", "padding", padding, 1),
        each("max_pool1d", "dilation", dilation, 1),
    )  # fmt: skip
    if places:
        dims_1d("max_pool1d", x)
    else:
        check_max_pool1d(x, *how, ceil_mode)
    (k,), (s,), (p,), (d,) = how
    values, indices = _max(2, x.unsqueeze(-2), (1, k), (1, s), (0, p), (1, d), ceil_mode)
    return values.squeeze(-2), indices.squeeze(-2)


@public("torch nn.functional")
def max_pool1d(
    input: Tensor, kernel_size: Size, stride: Any = None, padding: Size = 0, dilation: Size = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """Maxima over windows of (N, C, L) or (C, L), with their places if ``return_indices``."""
    values, indices = _max1d(input, kernel_size, stride, padding, dilation, ceil_mode, bool(return_indices))
    return (values, indices) if return_indices else values


@public("torch nn.functional")
def max_pool2d(
    input: Tensor, kernel_size: Size, stride: Any = None, padding: Size = 0, dilation: Size = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """Maxima over windows of (N, C, H, W) or (C, H, W), with their places in the plane if ``return_indices``."""
    values, indices = _max(2, input, kernel_size, stride, padding, dilation, ceil_mode)
    return (values, indices) if return_indices else values


@public("torch nn.functional")
def max_pool3d(
    input: Tensor, kernel_size: Size, stride: Any = None, padding: Size = 0, dilation: Size = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """Maxima over windows of (N, C, D, H, W) or (C, D, H, W), with their places in the volume if ``return_indices``."""
    values, indices = _max(3, input, kernel_size, stride, padding, dilation, ceil_mode)
    return (values, indices) if return_indices else values


@public("torch nn.functional")
def max_pool1d_with_indices(
    input: Tensor, kernel_size: Size, stride: Any = None, padding: Size = 0, dilation: Size = 1, ceil_mode: bool = False
) -> Pair:
    """:func:`max_pool1d` and the places of the maxima."""
    return _max1d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


@public("nn.functional")
def max_pool2d_with_indices(
    input: Tensor, kernel_size: Size, stride: Any = None, padding: Size = 0, dilation: Size = 1, ceil_mode: bool = False
) -> Pair:
    """:func:`max_pool2d` and the places of the maxima."""
    return tuple(_max(2, input, kernel_size, stride, padding, dilation, ceil_mode))


@public("nn.functional")
def max_pool3d_with_indices(
    input: Tensor, kernel_size: Size, stride: Any = None, padding: Size = 0, dilation: Size = 1, ceil_mode: bool = False
) -> Pair:
    """:func:`max_pool3d` and the places of the maxima."""
    return tuple(_max(3, input, kernel_size, stride, padding, dilation, ceil_mode))


# ----- mean -----


def _avg(
    k: int,
    x: Tensor,
    kernel_size: Size,
    stride: Any,
    padding: Size,
    ceil_mode: bool,
    count_include_pad: bool,
    override: Any,
) -> Tensor:
    op = f"avg_pool{k}d"
    kernel = each(op, "kernel_size", kernel_size, k)
    how = (kernel, each(op, "stride", stride, k, kernel), each(op, "padding", padding, k))
    if override == 0:
        raise shape_error("divisor must be not zero")
    check_windows(op, x, *how, (1,) * k, bool(ceil_mode))
    halves = k == 3 and x.dtype.name == "float16"
    check_kind("avg_pool3d_out_frame" if k == 3 else op, x, "" if halves else "f", ("int64",))
    made: Tensor = getattr(graph, f"{op}_raw")(x, *how, bool(ceil_mode), bool(count_include_pad), override)
    return made


@public("torch nn.functional")
def avg_pool1d(
    input: Tensor, kernel_size: Size, stride: Any = None, padding: Size = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """Means over windows of (N, C, L) or (C, L); zeros of the padding count unless ``count_include_pad`` is false."""
    dims_1d("avg_pool1d", input)
    (k,) = kernel = each("avg_pool1d", "kernel_size", kernel_size, 1)
    (s,) = each("avg_pool1d", "stride", stride, 1, kernel)
    (p,) = each("avg_pool1d", "padding", padding, 1)
    made = _avg(2, input.unsqueeze(-2), (1, k), (1, s), (0, p), ceil_mode, count_include_pad, None)
    return made.squeeze(-2)


@public("nn.functional", out=True)
def avg_pool2d(
    input: Tensor, kernel_size: Size, stride: Any = None, padding: Size = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """Means over windows of (N, C, H, W) or (C, H, W); ``divisor_override`` divides the sums instead of their length."""
    return _avg(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


@public("nn.functional", out=True)
def avg_pool3d(
    input: Tensor, kernel_size: Size, stride: Any = None, padding: Size = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """Means over windows of (N, C, D, H, W) or (C, D, H, W), as :func:`avg_pool2d`."""
    return _avg(3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def dims_1d(op: str, x: Tensor) -> None:
    """Refuse what is neither (N, C, L) nor (C, L)."""
    if x.ndim not in (2, 3):
        raise shape_error(
            f"Expected 2 to 3 dimensions, but got {x.ndim}-dimensional tensor for argument #1 'self' (while checking arguments for "
            f"{op})"
        )


# ----- powers -----


def _lp(k: int, x: Tensor, norm_type: float, kernel_size: Size, stride: Any, ceil_mode: bool) -> Tensor:
    if norm_type in (math.inf, -math.inf):
        pooled = (max_pool1d, max_pool2d, max_pool3d)[k - 1]
        if norm_type > 0:
            return pooled(x.abs(), kernel_size, stride, 0, 1, ceil_mode)
        return -pooled(-x.abs(), kernel_size, stride, 0, 1, ceil_mode)
    window = each(f"lp_pool{k}d", "kernel_size", kernel_size, k)
    mean = (avg_pool1d, avg_pool2d, avg_pool3d)[k - 1](x.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    powers = elementwise.sign(mean) * graph.relu(mean.abs())  # type: ignore[attr-defined]  # a row
    return (powers * math.prod(window)).pow(1.0 / norm_type)


@public("nn.functional")
def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: Size, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """The ``norm_type`` norm of windows of (N, C, L) or (C, L); gradient 0 where the sum of powers is 0."""
    return _lp(1, input, norm_type, kernel_size, stride, ceil_mode)


@public("nn.functional")
def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Size, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """The ``norm_type`` norm of windows of (N, C, H, W) or (C, H, W)."""
    return _lp(2, input, norm_type, kernel_size, stride, ceil_mode)


@public("nn.functional")
def lp_pool3d(
    input: Tensor, norm_type: float, kernel_size: Size, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """The ``norm_type`` norm of windows of (N, C, D, H, W) or (C, D, H, W)."""
    return _lp(3, input, norm_type, kernel_size, stride, ceil_mode)

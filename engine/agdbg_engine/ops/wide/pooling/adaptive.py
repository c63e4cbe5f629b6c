"""Pooling to a given size, and pooling undone: ``adaptive_avg_pool``, ``adaptive_max_pool``, ``max_unpool``."""

from __future__ import annotations

import math
from operator import index
from typing import Any

import numpy as np

from ....dtype import scalar_type
from ....tensor import Tensor
from ... import graph, reduce
from ...explain import shape_error
from ..convolution.windows import Ints
from ..declare import public
from .arguments import Size, check_kind, each
from .fixed import Pair, dims_1d


def _output_size(op: str, x: Tensor, output_size: Any, k: int) -> tuple[Any, ...]:
    """``output_size`` by dimension, where ``None`` keeps that of the input."""
    wanted = f"{op}(): argument 'output_size' (position 2) must be tuple of ints"
    if not isinstance(output_size, tuple | list):
        if not _is_size(output_size):
            raise TypeError(f"{wanted}, not {type(output_size).__name__}")
        return (index(output_size),) * k
    for at, size in enumerate(output_size):
        if size is not None and not _is_size(size):
            raise TypeError(f"{wanted}, but found element of type {type(size).__name__} at pos {at}")
    if x.ndim <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    kept = x.shape[x.ndim - len(output_size) :]
    return tuple(n if m is None else index(m) for m, n in zip(output_size, kept, strict=True))


def _is_size(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)


def _check(op: str, x: Tensor, k: int, first: int) -> None:
    """Refuse other numbers of dimensions and nothing to pool; dimensions before ``first`` may be empty."""
    if x.ndim not in (k + 1, k + 2):
        got = "but got:" if "max" in op else "but got"
        raise shape_error(f"{op}(): Expected {k + 1}D or {k + 2}D tensor, {got} {list(x.shape)}")
    for d in range(x.ndim - k - 1 + first, x.ndim):
        if x.shape[d] == 0:
            raise shape_error(
                f"{op}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {list(x.shape)} with "
                f"dimension {d} being empty"
            )


# ----- mean -----


def _avg(k: int, x: Tensor, size: Ints) -> Tensor:
    op = f"adaptive_avg_pool{k}d"
    if len(size) != k:
        raise shape_error(f"{op}: output_size must be {k}")
    if min(size) < 0:
        shown = ", ".join(map(str, size))
        raise shape_error(f"{op}: elements of output_size must be greater than or equal to 0 but received {{{shown}}}")
    if all(n == 1 for n in size):
        return reduce.mean(x, tuple(range(-k, 0)), keepdim=True)
    _check(op, x, k, 1)
    check_kind(f"{op}_cpu" if k == 3 else op, x, "f")
    made: Tensor = getattr(graph, f"{op}_raw")(x, size)
    return made


@public("torch nn.functional")
def adaptive_avg_pool1d(input: Tensor, output_size: Size) -> Tensor:
    """Means over ``output_size`` windows that cover (N, C, L) or (C, L) evenly."""
    dims_1d("adaptive_avg_pool1d", input)
    (n,) = each("adaptive_avg_pool1d", "output_size", output_size, 1)
    return _avg(2, input.unsqueeze(-2), (1, n)).squeeze(-2)


@public("nn.functional")
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Means over (H', W') windows that cover (N, C, H, W) or (C, H, W) evenly; ``None`` keeps a size."""
    return _avg(2, input, _output_size("adaptive_avg_pool2d", input, output_size, 2))


@public("nn.functional")
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Means over (D', H', W') windows that cover (N, C, D, H, W) or (C, D, H, W) evenly; ``None`` keeps a size."""
    return _avg(3, input, _output_size("adaptive_avg_pool3d", input, output_size, 3))


# ----- max -----


def _max(k: int, x: Tensor, size: Ints) -> Pair:
    op = f"adaptive_max_pool{k}d"
    if len(size) != k:
        raise shape_error(f"{op}(): internal error: output_size.size() must be {k}")
    _check(op, x, k, 0)
    check_kind(f"{op}_cpu" if k == 3 else op, x, "f")
    for n in size:
        if n < 0:
            made = [*x.shape[:-k], *size]
            raise shape_error(f"Trying to create tensor with negative dimension {n}: {made}")
    values, indices = getattr(graph, f"{op}_raw")(x, size)
    return values, indices


def _max1d(x: Tensor, output_size: Size) -> Pair:
    dims_1d("adaptive_max_pool1d", x)
    (n,) = each("adaptive_max_pool1d", "output_size", output_size, 1)
    values, indices = _max(2, x.unsqueeze(-2), (1, n))
    return values.squeeze(-2), indices.squeeze(-2)


@public("nn.functional")
def adaptive_max_pool1d_with_indices(input: Tensor, output_size: Size, return_indices: bool = False) -> Pair:
    """Maxima over ``output_size`` windows that cover (N, C, L) or (C, L) evenly, and their places."""
    return _max1d(input, output_size)


@public("nn.functional")
def adaptive_max_pool2d_with_indices(input: Tensor, output_size: Any, return_indices: bool = False) -> Pair:
    """Maxima over (H', W') windows that cover (N, C, H, W) or (C, H, W) evenly, and their places in the plane."""
    return _max(2, input, _output_size("adaptive_max_pool2d", input, output_size, 2))


@public("nn.functional")
def adaptive_max_pool3d_with_indices(input: Tensor, output_size: Any, return_indices: bool = False) -> Pair:
    """Maxima over (D', H', W') windows that cover (N, C, D, H, W) evenly, and their places in the volume."""
    return _max(3, input, _output_size("adaptive_max_pool3d", input, output_size, 3))


@public("nn.functional")
def adaptive_max_pool1d(input: Tensor, output_size: Size, return_indices: bool = False) -> Any:
    """Maxima over ``output_size`` windows that cover (N, C, L) or (C, L) evenly, with their places if ``return_indices``."""
    values, indices = _max1d(input, output_size)
    return (values, indices) if return_indices else values


@public("torch.adaptive_max_pool1d")
def both_of_adaptive_max_pool1d(input: Tensor, output_size: Size) -> Pair:
    """:func:`adaptive_max_pool1d` of ``nn.functional`` and the places of the maxima."""
    return _max1d(input, output_size)


@public("nn.functional")
def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima over (H', W') windows that cover (N, C, H, W) evenly, with their places if ``return_indices``."""
    values, indices = adaptive_max_pool2d_with_indices(input, output_size)
    return (values, indices) if return_indices else values


@public("nn.functional")
def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima over (D', H', W') windows that cover (N, C, D, H, W) evenly, with their places if ``return_indices``."""
    values, indices = adaptive_max_pool3d_with_indices(input, output_size)
    return (values, indices) if return_indices else values


# ----- undone -----


def _unpooled(
    k: int, x: Tensor, indices: Tensor, kernel_size: Size, stride: Any, padding: Size, output_size: Any
) -> Tensor:
    op = f"max_unpool{k}d"
    kernel = each(op, "kernel_size", kernel_size, k)
    step, around = each(op, "stride", stride, k, kernel), each(op, "padding", padding, k)
    size = _unpooled_size(x, kernel, step, around, output_size)
    if k == 1:
        return _written(2, x.unsqueeze(-1), indices.unsqueeze(-1), (*size, 1)).squeeze(-1)
    if k == 3 and min(step) <= 0:
        raise shape_error(f"strides should be greater than zero, but got stride: {list(step)}")
    return _written(k, x, indices, size)


def _unpooled_size(x: Tensor, kernel: Ints, stride: Ints, padding: Ints, output_size: Any) -> Ints:
    k = len(kernel)
    sizes = x.shape[-k:]
    usual = [(n - 1) * s + w - 2 * p for n, w, s, p in zip(sizes, kernel, stride, padding, strict=True)]
    if output_size is None:
        return tuple(usual)
    wanted = tuple(output_size)[2:] if len(output_size) == k + 2 else tuple(output_size)
    if len(wanted) != k:
        raise ValueError(
            f"output_size should be a sequence containing {k} or {k + 2} elements, but it has a length of '{len(wanted)}'"
        )
    for d, (n, m, s) in enumerate(zip(wanted, usual, stride, strict=True)):
        if not m - s < n < m + s:
            raise ValueError(f'invalid output_size "{wanted}" (dim {d} must be between {m - s} and {m + s})')
    return wanted


def _written(k: int, x: Tensor, indices: Tensor, size: Ints) -> Tensor:
    if indices.dtype != np.int64:
        raise shape_error(f"elements in indices should be type int64 but got: {scalar_type(indices.dtype)}")
    if x.ndim not in (k + 1, k + 2):
        raise shape_error(
            f"Input to max_unpooling{k}d should be a {k + 1}d or {k + 2}d Tensor, but got a tensor with {x.ndim} dimensions."
        )
    if x.shape != indices.shape:
        raise shape_error(
            f"Expected shape of indices to be same as that of the input tensor ({list(x.shape)}) but got indices tensor with "
            f"shape: {list(indices.shape)}"
        )
    found, n = indices._a, math.prod(size)
    wrong = found[(found < 0) | (found >= n)] if isinstance(found, np.ndarray) else found[:0]
    if wrong.size:
        raise shape_error(
            f"Found an invalid max index: {int(wrong[0])} (output volumes are of size {'x'.join(map(str, size))})"
        )
    check_kind(f"max_unpool{k}d", x, "f")
    made: Tensor = getattr(graph, f"max_unpool{k}d_raw")(x, indices, size)
    return made


@public("nn.functional")
def max_unpool1d(
    input: Tensor, indices: Tensor, kernel_size: Size, stride: Any = None, padding: Size = 0, output_size: Any = None
) -> Tensor:
    """Zeros with the maxima of :func:`max_pool1d` put back where ``indices`` say they were."""
    return _unpooled(1, input, indices, kernel_size, stride, padding, output_size)


@public("nn.functional")
def max_unpool2d(
    input: Tensor, indices: Tensor, kernel_size: Size, stride: Any = None, padding: Size = 0, output_size: Any = None
) -> Tensor:
    """Zeros with the maxima of :func:`max_pool2d` put back where ``indices`` say they were."""
    return _unpooled(2, input, indices, kernel_size, stride, padding, output_size)


@public("nn.functional")
def max_unpool3d(
    input: Tensor, indices: Tensor, kernel_size: Size, stride: Any = None, padding: Size = 0, output_size: Any = None
) -> Tensor:
    """Zeros with the maxima of :func:`max_pool3d` put back where ``indices`` say they were."""
    return _unpooled(3, input, indices, kernel_size, stride, padding, output_size)

"""``grid_sample`` and ``affine_grid`` as users call them."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ....device import array_module
from ....dtype import scalar_type
from ....tensor import Tensor, wrap
from ... import graph
from ...explain import shape_error
from ...kernel_names import KERNELS
from ..convolution.windows import Ints
from ..declare import formula, in_both, op, public
from ..pooling.arguments import check_kind
from .grid_taps import BICUBIC

_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
_PADDINGS = {"zeros": 0, "border": 1, "reflection": 2}


@public("nn.functional")
def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """(N, C, H, W) read at the points ``grid`` (N, H', W', 2), whose (x, y) run from -1 to 1: (N, C, H', W').

    Volumes (N, C, D, H, W) take points (N, D', H', W', 3). What lies outside is 0, the border, or reflected.
    """
    if mode not in _MODES:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in _PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    return grid_sampler(input, grid, _MODES[mode], _PADDINGS[padding_mode], _corners(align_corners))


def _corners(align_corners: bool | None) -> bool:
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
            "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details.",
            stacklevel=3,
        )
    return bool(align_corners)


@public("torch")
def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """:func:`grid_sample` with modes by number."""
    shapes = f"but got input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
    if input.ndim not in (4, 5) or input.ndim != grid.ndim:
        wanted = input.ndim if input.ndim in (4, 5) else 5
        raise shape_error(f"grid_sampler(): expected {wanted}D input and grid with same number of dimensions, {shapes}")
    if input.shape[0] != grid.shape[0]:
        raise shape_error(f"grid_sampler(): expected grid and input to have same batch size, {shapes}")
    k = input.ndim - 2
    if grid.shape[-1] != k:
        raise shape_error(
            f"grid_sampler(): expected grid to have size {k} in last dimension, but got grid with sizes {list(grid.shape)}"
        )
    for d in range(2, input.ndim):
        if input.shape[d] == 0:
            raise shape_error(
                f"grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes {list(input.shape)} "
                f"with dimension {d} being empty"
            )
    if k == 3 and interpolation_mode == BICUBIC:
        raise shape_error("grid_sampler(): bicubic interpolation only supports 4D input")
    check_kind(KERNELS[f"grid_sampler_{k}d"], input, "f")
    if input.dtype != grid.dtype:
        raise RuntimeError(f"expected scalar type {scalar_type(input.dtype)} but found {scalar_type(grid.dtype)}")
    made: Tensor = getattr(graph, f"grid_sampler_{k}d")(
        input, grid, int(interpolation_mode), int(padding_mode), bool(align_corners)
    )
    return made


# ----- affine -----


def _points(like: Any, size: Ints, align_corners: bool) -> Any:
    """The points (1, prod(size), k + 1) of a regular grid, with a last coordinate of 1."""
    axes = []
    for n in reversed(size):
        line = np.linspace(-1, 1, n) if n > 1 else np.zeros(n)
        axes.append(line if align_corners else line * ((n - 1) / n))
    k = len(size)
    spread = [a.reshape(*(1,) * (k - 1 - i), -1, *(1,) * i) for i, a in enumerate(axes)]
    points = np.stack([*np.broadcast_arrays(*spread), np.ones(size)], -1).reshape(1, -1, k + 1)
    return array_module(like).asarray(points.astype(like.dtype))


in_both("affine_points", _points, lambda like, *how: wrap(_points(like._a, *how)))


def _generated(theta: Any, size: Ints, align_corners: bool) -> Any:
    points = np.matmul(_points(theta, size[2:], align_corners), np.swapaxes(theta, 1, 2))
    return points.reshape(size[0], *size[2:], len(size) - 2)


@formula
def affine_grid_backward(F: Any, g: Any, size: Ints, align_corners: bool) -> Any:
    """The gradient of the points of an affine grid in its matrices."""
    flat = F.reshape(g, (size[0], math.prod(size[2:]), g.shape[-1]))
    return F.matmul(F.mT(flat), F.affine_points(g, size[2:], align_corners))


op(
    "affine_grid_generator_raw(theta, size, align_corners)", "AffineGridGeneratorBackward0",
    theta="affine_grid_backward(g, size, align_corners)", jvp="linear", value=_generated,
)  # fmt: skip


@public("torch")
def affine_grid_generator(theta: Tensor, size: Any, align_corners: bool) -> Tensor:
    """The points that the matrices ``theta`` (N, 2, 3) or (N, 3, 4) make of a regular grid for images of ``size``."""
    size = tuple(int(n) for n in size)
    if theta.shape[0] != size[0]:
        raise shape_error(
            f"Expected size for first two dimensions of batch2 tensor to be: [{size[0]}, {theta.shape[2]}] but got: "
            f"[{theta.shape[0]}, {theta.shape[2]}]."
        )
    return graph.affine_grid_generator_raw(theta, size, bool(align_corners))  # type: ignore[attr-defined]  # a row


@public("nn.functional")
def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """The grid for :func:`grid_sample` of affine maps ``theta`` (N, 2, 3) or (N, 3, 4), for results of ``size``."""
    corners = _corners(align_corners)
    if theta.dtype.kind != "f":
        raise ValueError(f"Expected theta to have floating point type, but got torch.{theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError(
            f"affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size {size}."
        )
    k = len(size) - 2
    if theta.ndim != 3 or tuple(theta.shape[1:]) != (k, k + 1):
        raise ValueError(
            f"Expected a batch of {k}D affine matrices of shape Nx{k}x{k + 1} for size {size}. Got torch.Size({list(theta.shape)})."
        )
    if corners and min(size[2:]) == 1:
        warnings.warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This is not an "
            "intended use case of affine_grid. See the documentation of affine_grid for details.",
            stacklevel=2,
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return affine_grid_generator(theta, size, corners)

"""``grid_sample``: images read at points between their elements. Kernels and rows; see :mod:`.grid_taps`.

The op is linear in the image, so its derivatives to second order are six sums of one form, each a kernel.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from ....device import array_module
from ....dtype import scalar_type
from ....repeated_index import add_at
from ..convolution.windows import Ints
from ..declare import formula, kernel, op
from .grid_taps import taps

_Axes = list[Any]


def _axes(grid: Any, size: Ints, how: tuple[int, int, bool]) -> _Axes:
    """The taps of every dimension of the image; the grid names the last one first."""
    k = len(size)
    return [taps(grid[..., k - 1 - d], size[d], k == 3, *how) for d in range(k)]


def _combinations(axes: _Axes, size: Ints) -> Any:
    """By combination of taps: flat positions, where they exist, and the taps, all (N, *points)."""
    for taken in itertools.product(*axes):
        flat: Any = 0
        inside: Any = None
        for tap, n in zip(taken, size, strict=True):
            flat = flat * n + tap.index
            if tap.inside is not None:
                inside = tap.inside if inside is None else inside & tap.inside
        yield flat, inside, taken


def _weight(taken: Any, orders: Ints) -> Any:
    """The product of weights, derived ``orders`` times; ``None`` for 0."""
    weight: Any = 1
    for tap, order in zip(taken, orders, strict=True):
        w = tap.weight[order]
        if w is None:
            return None
        weight = weight * w
    return weight


def _pixels(x: Any) -> Any:
    """(N, C, ...) as rows of channels (N * ..., C), which are read in one piece."""
    (n, c), area = x.shape[:2], math.prod(x.shape[2:])
    return array_module(x).ascontiguousarray(x.reshape(n, c, area).swapaxes(1, 2)).reshape(n * area, c)


def _gathered(x: Any, axes: _Axes) -> Any:
    """By combination of taps: the elements of ``x`` there, as rows of channels, where they exist, and the taps."""
    n, _, *size = x.shape
    pixels = _pixels(x)
    first = array_module(x).arange(n)[:, None] * math.prod(size)
    for flat, inside, taken in _combinations(axes, tuple(size)):
        value = pixels.take((first + flat.reshape(n, math.prod(flat.shape[1:]))).reshape(-1), 0)
        if inside is not None:
            np.copyto(value, 0, where=~inside.reshape(-1, 1))
        yield value, inside, taken


def _read(x: Any, axes: _Axes, points: Ints, orders: Ints) -> Any:
    """The weighted sum of elements of ``x`` (N, C, ...) at every point: (N, C, *points)."""
    (n, c), count = x.shape[:2], math.prod(points)
    xp = array_module(x)
    out = xp.zeros((n * count, c), x.dtype)
    for value, _, taken in _gathered(x, axes) if out.size else ():
        weight = _weight(taken, orders)
        if weight is not None:
            out += value if isinstance(weight, int) else value * weight.reshape(-1, 1)
    return xp.ascontiguousarray(out.reshape(n, count, c).swapaxes(1, 2)).reshape(n, c, *points)


def _products(g: Any, x: Any, axes: _Axes, wanted: list[Ints]) -> list[Any]:
    """The products of ``g`` (N, C, *points) with what :func:`_read` gives for the ``wanted`` orders: (N, *points)."""
    points = (g.shape[0], *g.shape[2:])
    out = [array_module(g).zeros(points, g.dtype) for _ in wanted]
    rows = _pixels(g)
    for value, inside, taken in _gathered(x, axes) if g.size else ():
        weights = [_weight(taken, orders) for orders in wanted]
        if any(w is not None for w in weights):
            product = np.einsum("pc,pc->p", rows, value).reshape(points)
            if (
                inside is not None and len(axes) == 3
            ):  # of a volume PyTorch skips what lies outside, of an image it multiplies
                product = np.where(inside, product, 0)
            for total, weight in zip(out, weights, strict=True):
                if weight is not None:
                    total += product * weight
    return out


def _write(g: Any, axes: _Axes, shape: Ints, orders: Ints) -> Any:
    """The transpose of :func:`_read`: ``g`` (N, C, *points) added to an image of ``shape``."""
    n, c, *size = shape
    area = math.prod(size)
    xp = array_module(g)
    out = xp.zeros(n * c * area, g.dtype)
    planes = xp.arange(n * c).reshape(n, c, 1) * area
    rows = g.reshape(n, c, math.prod(g.shape[2:]))
    for flat, inside, taken in _combinations(axes, tuple(size)):
        weight = _weight(taken, orders)
        if weight is None or not g.size:
            continue
        value = rows if isinstance(weight, int) else rows * weight.reshape(n, 1, -1)
        if inside is not None:
            value = np.where(inside.reshape(n, 1, -1), value, 0)
        add_at(out, (planes + flat.reshape(n, 1, -1)).reshape(-1), value.reshape(-1))
    return out.reshape(shape)


def _unit(k: int, *dims: int) -> Ints:
    """How often to derive along each dimension of the image, for coordinates ``dims`` of the grid."""
    return tuple(sum(k - 1 - a == d for a in dims) for d in range(k))


# ----- kernels -----


@kernel
def grid_values(input: Any, grid: Any, *how: Any) -> Any:
    """The image at the points of the grid."""
    x, at = input, grid
    if x.dtype != at.dtype:
        raise RuntimeError(f"expected scalar type {scalar_type(x.dtype)} but found {scalar_type(at.dtype)}")
    k = x.ndim - 2
    return _read(x, _axes(at, x.shape[2:], how), at.shape[1:-1], (0,) * k)


def _to_input(grad_output: Any, input: Any, grid: Any, shape: Ints, *how: Any) -> Any:
    g, at = grad_output, grid
    return _write(g, _axes(at, shape[2:], how), shape, (0,) * (len(shape) - 2))


def _to_grid(grad_output: Any, input: Any, grid: Any, *how: Any) -> Any:
    g, x, at = grad_output, input, grid
    k = x.ndim - 2
    found = _products(g, x, _axes(at, x.shape[2:], how), [_unit(k, a) for a in range(k)])
    return np.stack(found, -1)


def _along(direction: Any, input: Any, grid: Any, *how: Any) -> Any:
    """How the values change along a direction in the grid."""
    h, x, at = direction, input, grid
    k = x.ndim - 2
    axes = _axes(at, x.shape[2:], how)
    found: Any = sum(h[:, None, ..., a] * _read(x, axes, at.shape[1:-1], _unit(k, a)) for a in range(k))
    return found


def _along_to_input(direction: Any, grad_output: Any, grid: Any, shape: Ints, *how: Any) -> Any:
    h, g, at = direction, grad_output, grid
    k = len(shape) - 2
    axes = _axes(at, shape[2:], how)
    found: Any = sum(_write(g * h[:, None, ..., a], axes, shape, _unit(k, a)) for a in range(k))
    return found


def _along_to_grid(direction: Any, grad_output: Any, input: Any, grid: Any, *how: Any) -> Any:
    h, g, x, at = direction, grad_output, input, grid
    k = x.ndim - 2
    found = _products(g, x, _axes(at, x.shape[2:], how), [_unit(k, a, b) for b in range(k) for a in range(k)])
    return np.stack([sum(h[..., a] * found[b * k + a] for a in range(k)) for b in range(k)], -1)


# ----- rows -----


@formula
def no_third_derivative(F: Any, g: Any) -> Any:
    """Raise: sampling is derived twice, as in PyTorch."""
    raise NotImplementedError("derivative for 'grid_sampler_2d_double_backward' is not implemented")


_HOW = "interpolation_mode, padding_mode, align_corners"


def _declare(k: int) -> None:
    name, node = f"grid_sampler_{k}d", f"GridSampler{k}DBackward"
    into, over = f"{name}_input_backward", f"{name}_grid_backward"
    along, along_into, along_over = f"{name}_along", f"{name}_along_input_backward", f"{name}_along_grid_backward"
    no = "no_third_derivative(g)"
    op(
        f"{name}(input, grid, {_HOW})", f"{node}0",
        input=f"{into}(g, input, grid, input_shape, {_HOW})", grid=f"{over}(g, input, grid, {_HOW})",
        jvp=f"{name}(input_t, grid, {_HOW}) + {along}(grid_t, input, grid, {_HOW})", where="torch", kinds="f", value=grid_values,
    )  # fmt: skip
    op(
        f"{into}(grad_output, input, grid, shape, {_HOW})", f"{node}Backward0", input="None",
        grad_output=f"{name}(g, grid, {_HOW})", grid=f"{over}(grad_output, g, grid, {_HOW})", value=_to_input,
    )  # fmt: skip
    op(
        f"{over}(grad_output, input, grid, {_HOW})", f"{node}Backward0",
        grad_output=f"{along}(g, input, grid, {_HOW})", input=f"{along_into}(g, grad_output, grid, input_shape, {_HOW})",
        grid=f"{along_over}(g, grad_output, input, grid, {_HOW})", value=_to_grid,
    )  # fmt: skip
    op(f"{along}(direction, input, grid, {_HOW})", f"{node}Backward0", direction=no, input=no, grid=no, value=_along)
    op(
        f"{along_into}(direction, grad_output, grid, shape, {_HOW})", f"{node}Backward0", direction=no, grad_output=no, grid=no,
        value=_along_to_input,
    )  # fmt: skip
    op(
        f"{along_over}(direction, grad_output, input, grid, {_HOW})", f"{node}Backward0", direction=no, grad_output=no, input=no,
        grid=no, value=_along_to_grid,
    )  # fmt: skip


_declare(2)
_declare(3)

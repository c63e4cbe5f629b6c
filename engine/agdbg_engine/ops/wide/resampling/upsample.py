"""Resampling by interpolation: each mode is a table of positions and weights along every axis, see :mod:`.axes`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..convolution.windows import Ints
from ..declare import op
from .axes import Table, gathered, scattered
from .pixels import resampled

Axis = Callable[[int, int, bool, float | None, Any], tuple[list[Any], list[Any] | None]]
"""(size before, size after, align_corners, scale, dtype of the computation) to (positions, weights) by term."""


def _step(n: int, m: int, align_corners: bool, scale: float | None) -> float:
    """How far apart the results lie in the input."""
    if align_corners:
        return (n - 1) / (m - 1) if m > 1 else 0.0
    return 1 / scale if scale is not None and scale > 0 else n / m


def _places(n: int, m: int, align_corners: bool, scale: float | None, dtype: Any) -> Any:
    """Where the results lie in the input, in the precision that PyTorch computes it in."""
    step, i = dtype.type(_step(n, m, align_corners, scale)), np.arange(m).astype(dtype)
    half = dtype.type(0.5)
    return step * i if align_corners else step * (i + half) - half


def _nearest(n: int, m: int, align_corners: bool, scale: float | None, dtype: Any) -> Any:
    step, i = np.float32(_step(n, m, False, scale)), np.arange(m).astype(np.float32)
    if m == n:
        return [np.arange(n)], None
    if m == 2 * n:
        return [np.arange(m) // 2], None
    return [np.minimum(np.floor(i * step).astype(np.int64), n - 1)], None


def _nearest_exact(n: int, m: int, align_corners: bool, scale: float | None, dtype: Any) -> Any:
    step, i = np.float32(_step(n, m, False, scale)), np.arange(m).astype(np.float32)
    return [np.minimum(np.floor((i + np.float32(0.5)) * step).astype(np.int64), n - 1)], None


def _linear(n: int, m: int, align_corners: bool, scale: float | None, dtype: Any) -> Any:
    if n == m:
        return [np.arange(n)], None
    at = np.maximum(_places(n, m, align_corners, scale, dtype), 0)
    first = np.minimum(at.astype(np.int64), n - 1)
    part = (at - first).clip(0, 1).astype(dtype)
    return [first, np.minimum(first + 1, n - 1)], [1 - part, part]


def _cubic_near(x: Any, a: float) -> Any:
    """The cubic convolution kernel within 1 of its centre."""
    return ((a + 2) * x - (a + 3)) * x * x + 1


def _cubic_far(x: Any, a: float) -> Any:
    """The cubic convolution kernel between 1 and 2 from its centre."""
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a


def _cubic(n: int, m: int, align_corners: bool, scale: float | None, dtype: Any) -> Any:
    at = _places(n, m, align_corners, scale, dtype)
    first = np.minimum(np.floor(at).astype(np.int64), n - 1)
    part = (at - first).clip(0, 1).astype(dtype)
    weights = cubic_weights(part)
    return [(first + k).clip(0, n - 1) for k in (-1, 0, 1, 2)], weights


def cubic_weights(part: Any, a: float = -0.75) -> list[Any]:
    """Weights of the four points around a place that lies ``part`` behind the second."""
    return [_cubic_far(part + 1, a), _cubic_near(part, a), _cubic_near(1 - part, a), _cubic_far(2 - part, a)]


# ----- with a filter as wide as the step, so that no element is skipped -----


def _triangle(x: Any) -> Any:
    return np.maximum(1 - np.abs(x), 0)


def _cubic_filter(x: Any) -> Any:
    x = np.abs(x)
    return np.where(x < 1, _cubic_near(x, -0.5), np.where(x < 2, _cubic_far(x, -0.5), 0))


def _lanczos(x: Any) -> Any:
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)


def _smooth(width: int, weigh: Callable[[Any], Any]) -> Axis:
    def axis(n: int, m: int, align_corners: bool, scale: float | None, dtype: Any) -> Any:
        step = _step(n, m, align_corners, scale)
        support = width / 2 * max(step, 1.0)
        centre = step * (np.arange(m) + 0.5)
        first = np.maximum((centre - support + 0.5).astype(np.int64), 0)
        count = np.minimum((centre + support + 0.5).astype(np.int64), n) - first
        k = np.arange(int(count.max()))[:, None]
        inside = k < count
        weights = np.where(inside, weigh((k + first - centre + 0.5) / max(step, 1.0)), 0)
        weights /= weights.sum(0)
        at = np.minimum(first + k, first + count - 1)
        return list(at), list(weights.astype(dtype))

    return axis


# ----- rows -----


@functools.lru_cache(16)
def _tables(size: Ints, to: Ints, align_corners: bool, scales: Any, dtype: Any, axis: Axis) -> list[Table]:
    """The tables of the axes that change."""
    computed = np.dtype(np.float64) if dtype in (np.float64, np.uint8) else np.dtype(np.float32)
    found = []
    for d, n, m, scale in zip(range(-len(to), 0), size, to, scales, strict=True):
        index, weight = axis(n, m, align_corners, scale, computed)
        if not (weight is None and n == m and (index[0] == np.arange(n)).all()):
            found.append(Table(d, n, index, weight))
    return found


def _declare(name: str, node: str, k: int, axis: Axis, align: bool) -> None:
    scales = ("scales",) if k == 1 else ("scales_d", "scales_h", "scales_w")[-k:]
    how = ", ".join((*(["align_corners"] if align else []), *scales))
    defaults = ", ".join((*(["align_corners"] if align else []), *(f"{s}=None" for s in scales)))

    def plan(size: Ints, to: Ints, dtype: Any, rest: Any) -> list[Table]:
        return _tables(size, to, bool(rest[0]) if align else False, rest[1:] if align else rest, dtype, axis)

    def value(self: Any, output_size: Ints, *rest: Any) -> Any:
        tables = plan(self.shape[-k:], output_size, self.dtype, rest)
        weighted = any(table.weights for table in tables)
        return resampled(self, tables) if weighted and self.dtype == np.uint8 else gathered(self, tables)

    def backward(grad_output: Any, output_size: Ints, input_size: Ints, *rest: Any) -> Any:
        return scattered(grad_output, plan(input_size[-k:], output_size, grad_output.dtype, rest))

    op(
        f"{name}(self, output_size, {defaults})", f"{node}Backward0",
        self=f"{name}_backward(g, output_size, self_shape, {how})", jvp="linear", value=value,
    )  # fmt: skip
    op(
        f"{name}_backward(grad_output, output_size, input_size, {defaults})", f"{node}BackwardBackward0",
        grad_output=f"{name}(g, output_size, {how})", jvp="linear", value=backward,
    )  # fmt: skip


for _k, _name, _node in (
    (1, "linear1d", "Linear1D"),
    (2, "bilinear2d", "Bilinear2D"),
    (3, "trilinear3d", "Trilinear3D"),
):
    _declare(f"upsample_nearest{_k}d", f"UpsampleNearest{_k}D", _k, _nearest, align=False)
    _declare(f"upsample_nearest_exact{_k}d", f"UpsampleNearestExact{_k}D", _k, _nearest_exact, align=False)
    _declare(f"upsample_{_name}", f"Upsample{_node}", _k, _linear, align=True)
_declare("upsample_bicubic2d", "UpsampleBicubic2D", 2, _cubic, align=True)
for _name, _node, _width, _weigh in (
    ("bilinear", "Bilinear", 2, _triangle), ("bicubic", "Bicubic", 4, _cubic_filter), ("lanczos", "Lanczos", 6, _lanczos)
):  # fmt: skip
    _declare(f"upsample_{_name}2d_aa", f"Upsample{_node}2DAa", 2, _smooth(_width, _weigh), align=True)


def scaled_size(sizes: Ints, factors: Any) -> Ints:
    """Sizes times factors, rounded down."""
    return tuple(math.floor(n * f) for n, f in zip(sizes, factors, strict=True))

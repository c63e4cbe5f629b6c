"""Means over windows, fixed and adaptive: sums along one dimension after the other, and their transposes."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from ....device import array_module
from ....repeated_index import add_at
from ..convolution.windows import Ints
from ..declare import op
from .max_pool import adaptive_bounds, places


def _bounds(n: int, k: int, s: int, p: int, m: int) -> tuple[Any, Any, Any]:
    """Where windows begin and end inside the input, and how many elements each has with the padding."""
    start = np.arange(m) * s - p
    end = np.minimum(start + k, n + p)
    return start.clip(0, None), end.clip(None, n), end - start


def _all_bounds(size: Ints, kernel: Ints, stride: Ints, padding: Ints, ceil_mode: bool) -> list[Any]:
    counts = places(size, kernel, stride, padding, (1,) * len(kernel), ceil_mode)
    return [_bounds(*numbers) for numbers in zip(size, kernel, stride, padding, counts, strict=True)]


class Axis(NamedTuple):
    """The windows along one dimension."""

    places: int
    runs: list[tuple[Any, Any, bool]]
    """By offset, which windows have an element there and where it lies, as slices where possible; and whether none is met twice."""


def _axis(start: Any, end: Any, *rest: Any) -> Axis:
    runs = []
    for offset in range(int((end - start).max()) if len(start) else 0):
        has = np.flatnonzero(start + offset < end)
        at = start[has] + offset
        where = _as_slice(at)
        runs.append((_as_slice(has), where, isinstance(where, slice) or bool((np.diff(at) > 0).all())))
    return Axis(len(start), runs)


def _as_slice(at: Any) -> Any:
    step = int(at[1] - at[0]) if len(at) > 1 else 1
    if step > 0 and (np.diff(at) == step).all():
        return slice(int(at[0]), int(at[-1]) + 1, step)
    return at


def _on(at: Any, x: Any) -> Any:
    """Positions as an index for ``x``."""
    return at if isinstance(at, slice) else array_module(x).asarray(at)


def _sums(x: Any, axis: int, windows: Axis) -> Any:
    """The sum of every window along ``axis``."""
    before, after = (slice(None),) * axis, x.shape[axis + 1 :]
    out = array_module(x).zeros((*x.shape[:axis], windows.places, *after), x.dtype)
    for has, at, _ in windows.runs:
        out[(*before, _on(has, x))] += x[(*before, _on(at, x))]
    return out


def _spread(g: Any, axis: int, windows: Axis, n: int) -> Any:
    """The transpose of :func:`_sums`: ``g`` added to the ``n`` elements of its windows."""
    before, after = (slice(None),) * axis, g.shape[axis + 1 :]
    out = array_module(g).zeros((*g.shape[:axis], n, *after), g.dtype)
    for has, at, once in windows.runs:
        part = g[(*before, _on(has, g))]
        if once:
            out[(*before, _on(at, g))] += part
        else:
            add_at(out, (*before, _on(at, g)), part)
    return out


def _mean(x: Any, axes: list[Axis], divisor: Any) -> Any:
    dtype = x.dtype
    if dtype == np.float16:
        x = x.astype(np.float32)
    for axis, windows in enumerate(axes, x.ndim - len(axes)):
        x = _sums(x, axis, windows)
    if dtype.kind in "iu":
        divisor = divisor if isinstance(divisor, int) else array_module(x).asarray(divisor)
        return (np.abs(x) // np.abs(divisor) * np.sign(x) * np.sign(divisor)).astype(dtype)
    return (x / _like(divisor, x)).astype(dtype, copy=False)


def _mean_backward(g: Any, axes: list[Axis], divisor: Any, size: Ints) -> Any:
    dtype = g.dtype
    if dtype == np.float16:
        g = g.astype(np.float32)
    g = g / _like(divisor, g)
    for axis, windows, n in zip(range(g.ndim - len(axes), g.ndim), axes, size, strict=True):
        g = _spread(g, axis, windows, n)
    return g.astype(dtype, copy=False)


def _like(divisor: Any, x: Any) -> Any:
    """Divisors in the dtype and library of ``x``."""
    if isinstance(divisor, int):
        return x.dtype.type(divisor)
    return array_module(x).asarray(divisor.astype(x.dtype))


def _product(counts: list[Any]) -> Any:
    """The outer product of the counts of every dimension; one number where all are the same."""
    k = len(counts)
    total: Any = 1
    for axis, c in enumerate(counts):
        total = total * c.reshape(-1, *(1,) * (k - 1 - axis))
    return int(total.flat[0]) if total.size and (total == total.flat[0]).all() else total


# ----- fixed windows -----


def _divisor(bounds: list[Any], count_include_pad: bool, divisor_override: int | None) -> Any:
    if divisor_override is not None:
        return divisor_override
    return _product([whole if count_include_pad else end - start for start, end, whole in bounds])


_Plan = tuple[list[Axis], Any]


@functools.lru_cache(16)
def _plan(
    size: Ints, kernel_size: Ints, stride: Ints, padding: Ints, ceil_mode: bool, include: bool, override: Any
) -> _Plan:
    bounds = _all_bounds(size, kernel_size, stride, padding, ceil_mode)
    return [_axis(*b) for b in bounds], _divisor(bounds, include, override)


@functools.lru_cache(16)
def _adaptive_plan(size: Ints, output_size: Ints) -> _Plan:
    bounds = [adaptive_bounds(n, m) for n, m in zip(size, output_size, strict=True)]
    return [_axis(*b) for b in bounds], _product([end - start for start, end in bounds])


_HOW = "kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override"


def _declare(k: int) -> None:
    def value(self: Any, *how: Any) -> Any:
        return _mean(self, *_plan(self.shape[-k:], *how))

    def backward(grad_output: Any, self: Any, *how: Any) -> Any:
        size = self.shape[-k:]
        return _mean_backward(grad_output, *_plan(size, *how), size)

    def adaptive(self: Any, output_size: Ints) -> Any:
        return _mean(self, *_adaptive_plan(self.shape[-k:], output_size))

    def adaptive_backward(grad_output: Any, self: Any) -> Any:
        size = self.shape[-k:]
        return _mean_backward(grad_output, *_adaptive_plan(size, grad_output.shape[-k:]), size)

    name, node = f"avg_pool{k}d", f"AvgPool{k}DBackward"
    op(f"{name}_raw(self, {_HOW})", f"{node}0", self=f"{name}_backward(g, self, {_HOW})", jvp="linear", value=value)
    op(
        f"{name}_backward(grad_output, self, {_HOW})", f"{node}Backward0", grad_output=f"{name}_raw(g, {_HOW})",
        self="zeros_of(self_shape, g)", jvp=f"{name}_backward(grad_output_t, self, {_HOW})", value=backward,
    )  # fmt: skip
    op(
        f"adaptive_{name}_raw(self, output_size)", f"Adaptive{node}0", self=f"adaptive_{name}_backward(g, self)", jvp="linear",
        value=adaptive,
    )  # fmt: skip
    op(
        f"adaptive_{name}_backward(grad_output, self)", f"Adaptive{node}Backward0",
        grad_output=f"adaptive_{name}_raw(g, grad_output_shape[-{k}:])", self="zeros_of(self_shape, g)",
        jvp=f"adaptive_{name}_backward(grad_output_t, self)", value=adaptive_backward,
    )  # fmt: skip


_declare(2)
_declare(3)

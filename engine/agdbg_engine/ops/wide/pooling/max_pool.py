"""Maxima over windows, their places, and what goes back there: the kernels and rows of all max pooling.

A kind of pooling is the windows it has: by dimension the positions (offset, place) that each window covers. Positions that
a window would have outside the input repeat its first or last one inside, which changes no maximum.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from ....device import array_module
from ....repeated_index import add_at
from ...explain import shape_error
from ..convolution.windows import Ints, steps
from ..declare import formula, kernel, op


def places(size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool) -> Ints:
    """How many windows there are; with ``ceil_mode`` one that hangs over the end counts, unless it begins after the input."""
    found = []
    for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True):
        m = steps(n + 2 * p + (s - 1 if ceil_mode else 0), k, s, d)
        if ceil_mode and (m - 1) * s >= n + p:
            m -= 1
        found.append(m)
    return tuple(found)


class Windows(NamedTuple):
    """Windows over planes of one size."""

    counts: Ints
    """How many there are."""
    picks: list[list[Any]]
    """By dimension and offset, the positions of all windows there: a slice where they are evenly spaced."""
    flat: Any
    """Positions in the flat plane: (offsets, windows)."""


def _windows(size: Ints, positions: list[Any]) -> Windows:
    """Windows of their ``positions`` (offset, window) in every dimension."""
    k = len(size)
    flat: Any = 0
    for axis, rows in enumerate(positions):
        turned = rows.reshape(*(1,) * axis, len(rows), *(1,) * (k - 1), rows.shape[1], *(1,) * (k - 1 - axis))
        flat = flat + turned * math.prod(size[axis + 1 :])
    counts = tuple(rows.shape[1] for rows in positions)
    offsets = math.prod(len(rows) for rows in positions)
    return Windows(
        counts, [[_evenly(row) for row in rows] for rows in positions], flat.reshape(offsets, math.prod(counts))
    )


def _evenly(at: Any) -> Any:
    """Positions as a slice if they are evenly spaced."""
    step = int(at[1] - at[0]) if len(at) > 1 else 1
    if len(at) and step > 0 and (np.diff(at) == step).all():
        return slice(int(at[0]), int(at[-1]) + 1, step)
    return at


@functools.lru_cache(16)
def _regular(size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool) -> Windows:
    found = []
    counts = places(size, kernel, stride, padding, dilation, ceil_mode)
    for n, k, s, p, d, m in zip(size, kernel, stride, padding, dilation, counts, strict=True):
        at = np.arange(k)[:, None] * d + np.arange(m) * s - p
        first = at[0] + -(np.minimum(at[0], 0) // d) * d
        last = at[0] + (np.minimum(at[-1], n - 1) - at[0]) // d * d
        if (first > last).any():
            raise shape_error(
                f"max_pool: a window of {k} elements, {d} apart, over {n} elements with padding {p} holds nothing but padding, "
                "which has no maximum. Use less padding, or a smaller dilation"
            )
        found.append(at.clip(first, last))
    return _windows(size, found)


def adaptive_bounds(n: int, m: int) -> tuple[Any, Any]:
    """Where the ``m`` windows over ``n`` elements begin and end."""
    i = np.arange(m)
    return i * n // m if m else i, -((i + 1) * -n // m) if m else i


@functools.lru_cache(16)
def _adaptive(size: Ints, output_size: Ints) -> Windows:
    found = []
    for n, m in zip(size, output_size, strict=True):
        start, end = adaptive_bounds(n, m)
        longest = int((end - start).max()) if m else 1
        found.append(np.minimum(start + np.arange(longest)[:, None], end - 1))
    return _windows(size, found)


def _at(x: Any, picks: tuple[Any, ...]) -> Any:
    """One element of every window."""
    for axis, pick in enumerate(picks, x.ndim - len(picks)):
        even = isinstance(pick, slice)
        x = x[(slice(None),) * axis + (pick,)] if even else x.take(array_module(x).asarray(pick), axis)
    return x


def _maxima(x: Any, windows: Windows) -> tuple[Any, Any]:
    """The maximum of every window, and where it lies in the (flat) plane: the first of equals, the last of NaNs."""
    k = len(windows.counts)
    best: Any = None
    for number, picks in enumerate(itertools.product(*windows.picks)):
        value = _at(x, picks)
        if best is None:
            best = value.copy()
            which = array_module(x).zeros(best.shape, np.int64)
            continue
        better = value > best
        if x.dtype.kind == "f":
            better |= value != value
        np.copyto(best, value, where=better)
        np.copyto(which, number, where=better)
    count = math.prod(windows.counts)
    xp = array_module(x)
    found = xp.asarray(windows.flat)[which.reshape(math.prod(best.shape[:-k]), count), xp.arange(count)]
    return best, found.reshape(best.shape)


def _put_back(g: Any, indices: Any, size: Ints, add: bool) -> Any:
    """``g`` written or added to planes of ``size`` at flat ``indices``."""
    k = len(size)
    lead, n = g.shape[:-k], math.prod(size)
    planes = math.prod(lead)
    xp = array_module(g)
    flat = (indices.reshape(planes, math.prod(g.shape[-k:])) + xp.arange(planes)[:, None] * n).reshape(-1)
    out = xp.zeros(planes * n, g.dtype)
    if add:
        add_at(out, flat, g.reshape(-1))
    else:
        out[flat] = g.reshape(-1)
    return out.reshape(*lead, *size)


@formula
def pooled_at(F: Any, x: Any, indices: Any, k: int) -> Any:
    """The elements of ``x`` at flat ``indices`` into its last ``k`` dimensions."""
    shape = tuple(indices.shape)
    lead = shape[:-k]
    flat = F.reshape(x, (*lead, math.prod(x.shape[len(lead) :])))
    picked = F.gather(flat, len(lead), F.reshape(indices, (*lead, math.prod(shape[-k:]))))
    return F.reshape(picked, shape)


def declare(name: str, node: str, k: int, how: str, value: Any, again: str = "") -> None:
    """One kind of max pooling over ``k`` dimensions: ``how`` are its other arguments, ``again`` those of its backward op."""

    def backward(grad_output: Any, self: Any, *arguments: Any) -> Any:
        return _put_back(grad_output, arguments[-1], self.shape[-k:], add=True)

    again = f"{again}, " if again else ""
    op(
        f"{name}(self, {how})", f"{node}Backward0", self=f"{name}_backward(g, self, {again}result1)",
        jvp=f"(pooled_at(self_t, result1, {k}), None)",
        outputs="result0 *result1", kinds="iuf", value=value,
    )  # fmt: skip
    op(
        f"{name}_backward(grad_output, self, {again}indices)", f"{node}BackwardBackward0",
        grad_output=f"pooled_at(g, indices, {k})", self="zeros_of(self_shape, g)", indices=None,
        jvp=f"{name}_backward(grad_output_t, self, {again}indices)", value=backward,
    )  # fmt: skip


def _over(windows: Any, k: int) -> Any:
    """The kernel for windows that are the same in all planes."""

    def value(self: Any, *arguments: Any) -> Any:
        return _maxima(self, windows(self.shape[-k:], *arguments))

    return value


_REGULAR = "kernel_size, stride, padding, dilation, ceil_mode"
for _k in (2, 3):
    declare(f"max_pool{_k}d_with_indices", f"MaxPool{_k}DWithIndices", _k, _REGULAR, _over(_regular, _k), _REGULAR)
    declare(f"adaptive_max_pool{_k}d_raw", f"AdaptiveMaxPool{_k}D", _k, "output_size", _over(_adaptive, _k))


@kernel
def max_unpool(self: Any, indices: Any, output_size: Ints) -> Any:
    """Planes of zeros with ``self`` written at flat ``indices``."""
    return _put_back(self, indices, output_size, add=False)


for _k in (2, 3):
    op(
        f"max_unpool{_k}d_raw(self, indices, output_size)", f"MaxUnpool{_k}DBackward0", self=f"pooled_at(g, indices, {_k})",
        indices=None, jvp="linear", value=max_unpool,
    )  # fmt: skip

"""How many elements lie in each of some intervals; no gradient."""

from __future__ import annotations

import builtins
import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from ....backends import on_host
from ....device import array_module, device_of, moved
from ....dtype import cpp_type, scalar_type
from ....ranges import spaced
from ....repeated_index import add_at, times_named
from ....scalars import written
from ....several import at_home
from ....tensor import Tensor, wrap
from ...compare import no_gradient
from ...explain import shape_error
from ...kernel_names import no_kernel, takes
from ...lists import cat
from ...mixed_devices import refuse_apart, together
from ...returned import returned_as
from ..declare import op, public
from ..indexing.reading import ends

# ----- edges and counts -----


def _edges(x: Any, bins: int, low: Any, high: Any) -> Any:
    """``bins + 1`` edges from ``low`` to ``high`` in the dtype of ``x``."""
    return moved(spaced(low, high, bins + 1, x.dtype), device_of(x))


@at_home
def _range(x: Any, given: Any, d: int) -> tuple[Any, Any]:
    """What is ``given``, or the smallest and the largest element, moved apart if they are the same; 0 and 1 of nothing.

    Of dimension ``d``, which the error names if an end is infinite or NaN.
    """
    low, high = given or (ends(x) if x.size else (0.0, 1.0))
    _check_finite(low, high, d)
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _check_finite(low: float, high: float, d: int) -> None:
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.histogramdd: dimension {d}'s range [{low:g}, {high:g}] is not finite")


@at_home
def _counted(points: Any, edges: list[Any], weight: Any) -> Any:
    """How many of the (n, d) ``points`` lie in each cell between the ``edges`` of the d dimensions, or what they weigh."""
    shape = tuple(len(e) - 1 for e in edges)
    inside: Any = True
    cell: Any = 0
    for d, e in enumerate(edges):
        x = points[:, d]
        inside = inside & (x >= e[0]) & (x <= e[-1])
        at = np.searchsorted(e, x, "right") - 1
        cell = cell * shape[d] + np.minimum(at, shape[d] - 1)  # the last interval is closed
    total = int(np.prod(shape))
    if on_host(points):
        weights = None if weight is None else weight[inside]
        return np.bincount(cell[inside], weights, total).reshape(shape).astype(points.dtype)
    cell = np.where(inside, cell, total)
    if weight is None:
        return times_named(cell, total + 1)[:total].reshape(shape).astype(points.dtype)
    sums = array_module(points).zeros(total + 1, np.float64)
    add_at(sums, cell, weight.astype(np.float64))
    return sums[:total].reshape(shape).astype(points.dtype)


def _density(counts: Any, edges: list[Any]) -> Any:
    counts = counts / counts.sum()
    for d, e in enumerate(edges):
        counts = counts / np.diff(e).reshape(-1, *(1,) * (counts.ndim - 1 - d))
    return counts


# ----- histc -----


@public("torch Tensor", out=True)
@at_home
def histc(self: Tensor, bins: int = 100, min: Any = 0, max: Any = 0) -> Tensor:
    """How many elements lie in each of ``bins`` intervals of the same width between ``min`` and ``max``.

    By default between the smallest and the largest element. A path for gradients ends here.
    """
    x = self._a
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if x.dtype.kind == "c" and min == max:
        raise no_kernel("aminmax_cpu", x.dtype)
    low, high = min, max
    if low == high and x.size:
        low, high = ends(x)
    if low == high:
        low, high = low - 1, high + 1
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError("torch.histc: max must be larger than min")
    low, high = (x.dtype.type(written(end, x.dtype)) for end in (low, high))
    if x.dtype.kind != "f":
        raise no_kernel("linspace_cpu" if x.dtype.kind == "b" else "histogram_cpu", x.dtype)
    no_gradient((self,))
    x = x.reshape(-1)
    inside = (x >= low) & (x <= high)
    if on_host(x):
        return wrap(np.bincount(_cells(x[inside], low, high, bins), minlength=bins).astype(x.dtype))
    at = np.where(inside, _cells(np.where(inside, x, low), low, high, bins), bins)
    return wrap(times_named(at, bins + 1)[:bins].astype(x.dtype))


def _cells(x: Any, low: Any, high: Any, bins: int) -> Any:
    """In which of ``bins`` intervals between ``low`` and ``high`` each element lies."""
    return np.minimum(((x - low) * x.dtype.type(bins) / (high - low)).astype(np.int64), bins - 1)


# ----- histogram -----


def _recorded(signature: str, value: Any, like: str, *wanted: str, outputs: str = "") -> Any:
    """An op that is recorded for the gradients of ``wanted``, which are refused in the words for PyTorch's op ``like``."""
    refused = dict.fromkeys(wanted, f"not_implemented('derivative for aten::{like} is not implemented')")
    columns: dict[str, Any] = {"self": None, **refused, "outputs": outputs, "value": value}
    return op(signature, "NotImplemented", **columns)


def _found(points: Any, edges: list[Any], weight: Any, density: bool) -> Any:
    counts = _counted(points, edges, None if weight is None else weight.reshape(-1))
    return _density(counts, edges) if density else counts


def _histogram(x: Any, weight: Any, bins: int, range: Any, density: bool) -> tuple[Any, Any]:
    x = x.reshape(-1)
    edges = _edges(x, bins, *_range(x, range, 0))
    return _found(x[:, None], [edges], weight, density), edges


def _between(x: Any, weight: Any, bins: Any, density: bool) -> tuple[Any, Any]:
    return _found(x.reshape(-1, 1), [bins], weight, density), bins.copy()


_OF_COUNT = _recorded("histogram_of_count_raw(self, weight, bins, range, density)", _histogram, "histogram", "self", "weight",
    outputs="hist bin_edges")  # fmt: skip
_OF_EDGES = _recorded("histogram_of_edges_raw(self, weight, bins, density)", _between, "histogram", "self", "weight", "bins",
    outputs="hist bin_edges")  # fmt: skip


@returned_as("histogram")
class Histogram(NamedTuple):
    """Counts and the edges of the intervals."""

    hist: Tensor
    bin_edges: Tensor


@public("torch Tensor", out=True)
def histogram(
    self: Tensor, bins: Any = 100, *, range: Any = None, weight: Tensor | None = None, density: bool = False
) -> Any:
    """``(hist, bin_edges)``: how many elements, or what ``weight`` of them, lie in each interval.

    ``bins`` is the number of intervals of the same width in ``range`` (by default that of the elements), or the edges. With
    ``density`` the integral of the result is 1. Recorded, but without a derivative.
    """
    _check(self, weight, self.shape, [1, self._a.size], None if weight is None else [weight._a.size])
    for other in (weight, bins):
        together(self, other)
    edges = [bins] if isinstance(bins, Tensor) else [int(bins)]
    _check_edges(self, edges, range, "torch.histogram()")
    if isinstance(bins, Tensor):
        return Histogram(*_OF_EDGES(self, weight, bins, density))
    return Histogram(*_OF_COUNT(self, weight, int(bins), range, density))


def _check(x: Tensor, weight: Any, shape: Any, shown: Any, shown_weight: Any) -> None:
    if weight is not None:
        if weight.shape != tuple(shape):
            raise shape_error(
                "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding its "
                f"innermost dimension, but got input with shape {list(shown)} and weight with shape {list(shown_weight)}"
            )
        if weight.dtype != x.dtype:
            raise RuntimeError(
                "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype, but "
                f"got input({cpp_type(x.dtype)}), and weight({cpp_type(weight.dtype)})"
            )


def _check_edges(x: Tensor, bins: list[Any], range: Any, name: str) -> None:
    n = len(bins)
    for d, b in enumerate(bins):
        if isinstance(b, Tensor):
            if b.ndim != 1:
                raise shape_error(
                    f"torch.histogramdd: bins tensor should have one dimension, but got {b.ndim} dimensions in the bins tensor for "
                    f"dimension {d}"
                )
            if b.dtype != x.dtype:
                raise RuntimeError(
                    "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype "
                    f"{cpp_type(x.dtype)} and bins for dimension {d} with dtype {cpp_type(b.dtype)}"
                )
        elif b <= 0:
            raise RuntimeError(f"{name}: bins must be > 0, but got {b} for dimension {d}")
    counted = not isinstance(bins[0], Tensor)
    if range is None:
        if counted and not takes("w", x.dtype):  # whose ends are looked for
            raise no_kernel("histogramdd", x.dtype)
    elif len(range) != 2 * n:
        raise shape_error(
            f"torch.histogramdd: for a {n}-dimensional histogram range should have {2 * n} elements, but got {len(range)}"
        )
    ends = range or ()
    for d, (low, high) in enumerate(zip(ends[::2], ends[1::2], strict=True)):
        if isinstance(bins[d], Tensor):  # then nobody asks for the range
            continue
        _check_finite(low, high, d)
        if low > high:
            raise RuntimeError(
                f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension {d}"
            )
        written(low, x.dtype), written(high, x.dtype)
    if not takes("f", x.dtype):
        raise no_kernel("linspace_cpu" if counted and x.dtype.kind == "b" else "histogram_cpu", x.dtype)


@returned_as("histogramdd")
class HistogramDD(NamedTuple):
    """Counts and the edges of the cells by dimension."""

    hist: Tensor
    bin_edges: tuple[Tensor, ...]


def _limits(points: Any, range: Any, d: int) -> Any:
    return _range(points[:, d], None if range is None else range[2 * d : 2 * d + 2], d)


def _edges_along(x: Any, weight: Any, bins: list[int], range: Any, d: int) -> Any:
    points = x.reshape(-1, len(bins))
    return _edges(points[:, d], bins[d], *_limits(points, range, d))


def _in_cells(x: Any, weight: Any, bins: list[int], range: Any, density: bool) -> Any:
    points = x.reshape(-1, len(bins))
    edges = [_edges(points[:, d], n, *_limits(points, range, d)) for d, n in enumerate(bins)]
    return _found(points, edges, weight, density)


def _in_given(x: Any, weight: Any, edges: Any, ends: list[int], density: bool) -> Any:
    given = [edges[low:high] for low, high in itertools.pairwise((0, *ends))]
    return _found(x.reshape(-1, len(ends)), given, weight, density)


_EDGES = _recorded("histogramdd_bin_edges_raw(self, weight, bins, range, d)", _edges_along, "_histogramdd_bin_edges",
    "self", "weight")  # fmt: skip
_FROM_COUNTS = _recorded("histogramdd_from_bin_cts_raw(self, weight, bins, range, density)", _in_cells,
    "_histogramdd_from_bin_cts", "self", "weight")  # fmt: skip
_FROM_EDGES = _recorded("histogramdd_from_bin_tensors_raw(self, weight, bins, ends, density)", _in_given,
    "_histogramdd_from_bin_tensors", "self", "weight", "bins")  # fmt: skip


@public("torch")
def histogramdd(
    input: Tensor, bins: Any, range: Any = None, weight: Tensor | None = None, density: bool = False
) -> Any:
    """``(hist, bin_edges)``: how many points, the rows of ``input`` (..., d), lie in each cell of a grid.

    ``bins`` are the numbers of intervals by dimension (or one for all), or their edges; ``range`` has two numbers by dimension.
    Recorded, but without a derivative.
    """
    if input.ndim < 2:
        raise shape_error("torch.histogramdd: input tensor should have at least 2 dimensions")
    d = input.shape[-1]
    given: list[Any] = [bins] * d if isinstance(bins, int) else list(bins)
    if len(given) != d:
        raise shape_error("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    _check(input, weight, input.shape[:-1], input.shape, None if weight is None else weight.shape)
    _check_edges(input, given, range, "torch.histogramdd()")
    if any(isinstance(b, Tensor) for b in given):
        ends = list(itertools.accumulate(len(b) for b in given))
        return HistogramDD(_FROM_EDGES(input, weight, cat(given), ends, density), tuple(given))
    counts = [int(b) for b in given]
    edges = tuple(_EDGES(input, weight, counts, range, i) for i in builtins.range(d))
    return HistogramDD(_FROM_COUNTS(input, weight, counts, range, density), edges)


# ----- bincount -----


def _bins(self: Any, weights: Any, minlength: int) -> Any:
    if not on_host(self):  # where ``minlength`` is how many there are
        if weights is None:
            return times_named(self, minlength)
        sums = array_module(self).zeros(minlength, np.float32 if weights.dtype == np.float32 else np.float64)
        add_at(sums, self, weights.real.astype(sums.dtype))
        return sums
    if weights is None:
        return np.bincount(self, None, minlength)
    found = np.bincount(self, weights.real, minlength)
    return found.astype(weights.dtype if weights.dtype == np.float32 else np.float64)


_BINCOUNT = _recorded("bincount_raw(self, weights, minlength)", _bins, "bincount", "weights")


@public("torch Tensor")
@at_home
def bincount(self: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often, or with what ``weights`` together, each number from 0 on is among the integers of a 1-d tensor.

    Recorded where the weights want a gradient, but without a derivative.
    """
    refuse_apart("bincount", self=self, weights=weights)
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    x = self._a
    if x.dtype.kind not in "iu":
        raise NotImplementedError(f"\"bincount_cpu\" not implemented for '{scalar_type(self.dtype)}'")
    low, high = ends(x) if x.ndim == 1 and x.size else (0, -1)
    if x.ndim != 1 or low < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is not None and weights.shape != self.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    made: Tensor = _BINCOUNT(self, weights, max(minlength, high + 1))
    return made

"""Running sums, products and extremes along a dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....device import array_module
from ....dtype import cpp_type, scalar_type
from ....tensor import Tensor
from ...formulas import pick_backward
from ...kernel_names import no_kernel
from ...layout import by_rows
from ...reduce import came_in, summed_in
from ...shape import one_dim
from ..declare import INPLACE, formula, op, public
from ..indexing.reading import some

# ----- values -----


def _accumulated(function: Any) -> Callable[[Any, int], Any]:
    """The kernel of ``np.cumsum`` or ``np.cumprod``; integers in int64, floats computed in the next wider dtype as in PyTorch."""

    @by_rows
    def value(x: Any, dim: int) -> Any:
        if not x.ndim:
            return x.copy() if x.dtype.kind in "fc" else x.astype(np.int64)
        if x.dtype.kind in "bui":
            return function(x, dim, np.int64)
        return function(x, dim, WIDER.get(x.dtype.char)).astype(x.dtype, copy=False)

    return value


WIDER = {"e": np.float32, "f": np.float64, "F": np.complex128}
"""In what running sums and products are computed, by the dtype's character."""


def running(ufunc: Any, x: Any, dim: int) -> Any:
    """``ufunc`` applied to all elements up to each along ``dim``; for libraries without ``accumulate`` in doubling steps."""
    if type(x) is np.ndarray and isinstance(ufunc, np.ufunc):
        return ufunc.accumulate(x, dim)
    out, step, before = x.copy(), 1, (slice(None),) * dim
    while step < x.shape[dim]:
        ahead, behind = (*before, slice(step, None)), (*before, slice(None, -step))
        out[ahead] = ufunc(out[ahead], out[behind])
        step *= 2
    return out


def _extremes(ufunc: Any) -> Callable[[Any, int], tuple[Any, Any]]:
    """The kernel of the running extreme and where it was met last; a NaN is never left again."""

    @by_rows
    def value(x: Any, dim: int) -> tuple[Any, Any]:
        if not x.ndim:
            return x.copy(), array_module(x).zeros((), np.int64)
        values = running(ufunc, x, dim)
        met = x == values
        if x.dtype.kind == "f":
            met |= x != x
        n = x.shape[dim]
        positions = array_module(x).arange(n, dtype=np.int32 if n < 2**31 else np.int64)
        met = met * positions.reshape(-1, *(1,) * (x.ndim - 1 - dim))
        return values, running(np.maximum, met, dim).astype(np.int64, copy=False)

    return value


# ----- products -----


@formula
def sum_to_end(F: Any, x: Any, dim: int) -> Any:
    """Sums of every element and those after it."""
    if not x.ndim:
        return x
    return F.flip(F.cumsum(F.flip(x, (dim,)), dim), (dim,))


@formula
def cumprod_grad(F: Any, g: Any, x: Any, result: Any, dim: int) -> Any:
    """Gradient of running products, right where some factors are zero; what comes after a second zero counts for none."""
    if F.numel(x.shape) <= 1 or x.shape[dim] == 1:
        return g
    zero = x == 0
    if not some(zero):
        return sum_to_end(F, g * result, dim) / x
    if isinstance(x, Tensor):
        return _by_left_out(F, g, x, dim)
    many = np.cumsum(zero, dim)
    once = many == 1
    first = zero & once
    before = sum_to_end(F, np.where(many == 0, g * result, 0), dim) / x
    rest = F.cumprod(np.where(once & ~first, x, 1).astype(x.dtype), dim)  # of the factors between the first two zeros
    rest = (rest * np.where(once, g, 0)).sum(dim, keepdims=True)
    place = first.argmax(dim, keepdims=True)
    ahead = np.take_along_axis(result, np.maximum(place - 1, 0), dim)
    at_first = rest * np.where(place == 0, 1, ahead)
    return np.where(first, at_first, np.where(many == 0, before, 0)).astype(x.dtype, copy=False)


def _by_left_out(F: Any, g: Any, x: Any, dim: int) -> Any:
    """The gradient as sums over products in which one factor is left out, without any division: it may be derived again.

    What comes before a factor and what comes after it are products of their own, as in PyTorch, so that a NaN or an infinity
    among them reaches the same second derivatives. Time and memory are those of the square of the size of ``dim``.
    """
    n = x.shape[dim]
    one = F.zeros_of((*x.shape[:dim], 1, *x.shape[dim + 1 :]), x) + 1
    sums = []
    for k in range(n):
        before = F.prod_dim(F.slice(x, dim, 0, k, 1), dim, True) if k else one
        others = before
        if k < n - 1:
            after = F.cumprod(F.slice(x, dim, k + 1, n, 1), dim)
            others = F.joined((before, before * after if k else after), dim)
        sums.append(F.sum_dim(F.slice(g, dim, k, n, 1) * others, dim, True))
    return F.joined(tuple(sums), dim)


@formula
def cumprod_tangent(F: Any, x_t: Any, x: Any, result: Any, dim: int) -> Any:
    """Tangent of running products."""
    zero = x == 0
    if not some(zero):
        return F.cumsum(x_t / x, dim) * result if x.ndim else x_t / x * result
    if not x.ndim:
        return x_t
    met = F.cumsum(F.to_copy(zero, x.dtype), dim)
    from_zero = F.cumprod(
        F.where(zero & (met == 1), x_t, x), dim
    )  # its own tangent alone counts from the first zero on
    return F.where(met == 0, F.cumsum(x_t / F.masked_fill(x, zero, 1.0), dim) * result, from_zero)


@formula
def at_extremes(F: Any, g: Any, x: Any, indices: Any, dim: int) -> Any:
    """Gradient of running extremes: added up where they were met."""
    return pick_backward(F, g, x.shape, indices, dim, True)


# ----- rows -----

cumsum_row = op(
    "cumsum(self, dim)", "CumsumBackward0", self="sum_to_end(g, dim)", jvp="linear", value=_accumulated(np.cumsum)
)
cumprod_row = op("cumprod(self, dim)", "CumprodBackward0", self="cumprod_grad(g, self, result, dim)",
   jvp="cumprod_tangent(self_t, self, result, dim)", value=_accumulated(np.cumprod))  # fmt: skip
CUMMAX, CUMMIN = (
    op(
        f"{name}_raw(self, dim)", f"{name.capitalize()}Backward0", outputs="values *indices", value=_extremes(ufunc),
        self="at_extremes(g, self, indices, dim)", jvp="(pick(self_t, indices, dim, True), None)", kinds="fiub",
    )
    for name, ufunc in (("cummax", np.maximum), ("cummin", np.minimum))
)  # fmt: skip


# ----- as users write them -----


def _no_bools(op: str, x: Tensor, dtype: Any) -> None:
    """Refuse to compute in bools, unless there is nothing to compute."""
    if dtype is not None and np.dtype(dtype).kind == "b" and x.ndim and x.numel():
        raise no_kernel(f"{op}_out_cpu", np.dtype(dtype))


@public("torch Tensor", out=True)
def cumsum(self: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Sums of the elements up to each along ``dim``, computed in ``dtype``; integers and bools in int64."""
    _no_bools("cumsum", self, dtype)
    return came_in(cumsum_row(self if dtype is None else summed_in(self, dtype), one_dim(self, dim)), dtype)


@public("torch Tensor", out=True)
def cumprod(self: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Products of the elements up to each along ``dim``, computed in ``dtype``; integers and bools in int64."""
    _no_bools("cumprod", self, dtype)
    return came_in(cumprod_row(self if dtype is None else summed_in(self, dtype), one_dim(self, dim)), dtype)


def _writing(name: str, row: Any) -> None:
    def written(self: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
        dim, own = one_dim(self, dim), self._a.dtype
        if dtype is not None and np.dtype(dtype) != own:
            raise RuntimeError(
                f"Bad in-place call: input tensor dtype {cpp_type(own)} and output tensor dtype "
                f"{cpp_type(np.dtype(dtype))} should match"
            )
        if own.kind == "b":
            raise NotImplementedError(f"\"{name}_out_cpu\" not implemented for 'Bool'")
        return row(self, dim)

    written.__name__ = written.__qualname__ = name
    written.__doc__ = f"What ``{name}_`` writes; integers are cut to the dtype there is."
    INPLACE[f"{name}_"] = written


_writing("cumsum", cumsum_row)
_writing("cumprod", cumprod_row)


@public("torch Tensor", out=True)
def cummax(self: Tensor, dim: int) -> Any:
    """``(values, indices)``: the largest element up to each along ``dim``, and where it was met last."""
    return _extreme("cummax", CUMMAX, self, dim)


@public("torch Tensor", out=True)
def cummin(self: Tensor, dim: int) -> Any:
    """``(values, indices)``: the smallest element up to each along ``dim``, and where it was met last."""
    return _extreme("cummin", CUMMIN, self, dim)


def _extreme(name: str, row: Any, x: Tensor, dim: int) -> Any:
    if x._a.dtype.kind == "c":
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{scalar_type(x.dtype)}'")
    return row(x, one_dim(x, dim))

"""Products of many elements, right where some are zero, and sums and means that leave NaN out."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dtype import scalar_type
from ....tensor import Tensor
from ...formulas import expand_dims
from ...kernel_names import no_kernel
from ...kernels_shape import total as _sum
from ...layout import by_rows
from ...reduce import came_in, summed_in
from ...shape import Dims, one_dim, some_dims
from ..declare import formula, kernel, op, public
from ..indexing.reading import number, some


def _times(x: Any, axis: Any, dtype: Any = None, keepdims: bool = False) -> Any:
    return x.prod(axis, dtype, keepdims=keepdims)


# ----- products -----


@kernel
def prod_all(x: Any) -> Any:
    """Product of all elements; integers in int64."""
    return _product(x, None, False)


@kernel
@by_rows
def prod_dim(x: Any, dim: int, keepdim: bool) -> Any:
    """Product along ``dim``."""
    return _product(x, dim if x.ndim else None, keepdim)


def _product(x: Any, axis: Any, keepdims: bool) -> Any:
    if x.dtype == np.float16:
        return _times(x.astype(np.float32), axis, keepdims=keepdims).astype(x.dtype)
    if x.dtype.kind == "f" and x.size >= _LARGE and (axis is None or axis == x.ndim - 1):
        if axis is None and not keepdims:
            return _times(_folded(x.reshape(-1)), None)
        return _times(_folded(x), axis, keepdims=keepdims)
    return _times(x, axis, np.int64 if x.dtype.kind in "bui" else None, keepdims=keepdims)


_LARGE = 2000
"""Elements from which it pays to multiply halves of rows, which NumPy does faster than to reduce them."""


def _folded(x: Any) -> Any:
    """Rows with the same products, but shorter."""
    while x.shape[-1] > 64:
        half, odd = divmod(x.shape[-1], 2)
        shorter = x[..., :half] * x[..., half : 2 * half]
        if odd:
            shorter[..., 0] *= x[..., -1]
        x = shorter
    return x


@formula
def others(F: Any, x: Any, result: Any, dim: int) -> Any:
    """For every element the product of the others along ``dim``; ``result`` is that of all, with that dimension."""
    if not some(x == 0):
        return result / x
    n = x.shape[dim]
    one = F.zeros_of((*x.shape[:dim], 1, *x.shape[dim + 1 :]), x) + 1
    before = F.cumprod(F.joined((one, F.slice(x, dim, 0, n - 1, 1)), dim), dim)
    turned = F.flip(x, (dim,))
    after = F.cumprod(F.joined((one, F.slice(turned, dim, 0, n - 1, 1)), dim), dim)
    return before * F.flip(after, (dim,))


@formula
def prod_grad(F: Any, g: Any, x: Any, result: Any) -> Any:
    """``g`` times the product of all others; 0 where two elements are zero, whatever is infinite or NaN.

    When it may be derived again, zeros count as any other element does.
    """
    if not isinstance(x, Tensor) and x.ndim:
        zeros = number((x == 0).sum())
        if zeros != 1:
            return F.zeros_of(x.shape, x) if zeros else g * (result / x)
    return g * others_of_all(F, x, result)


@formula
def others_of_all(F: Any, x: Any, result: Any) -> Any:
    """For every element the product of all others."""
    if not x.shape:
        return F.zeros_of((), x) + 1
    if not some(x == 0):
        return result / x
    return F.reshape(others(F, F.reshape(x, (F.numel(x.shape),)), F.reshape(result, (1,)), 0), x.shape)


@formula
def others_along(F: Any, x: Any, result: Any, dim: int, keepdim: bool) -> Any:
    """:func:`others` with the result as it came out."""
    if not x.shape:
        return F.zeros_of((), x) + 1
    return others(F, x, result if keepdim else F.unsqueeze(result, dim), dim)


@formula
def spread_over(F: Any, g: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    """The gradient of a reduction of ``x`` for every element."""
    return expand_dims(F, g, x.shape, dim, keepdim)


PROD = op("prod_all(self)", "ProdBackward0", self="prod_grad(g, self, result)",
   jvp="sum_all(self_t * others_of_all(self, result))")  # fmt: skip
PROD_ALONG = op("prod_dim(self, dim, keepdim)", "ProdBackward1",
   self="spread_over(g, self, dim, keepdim) * others_along(self, result, dim, keepdim)",
   jvp="sum_dim(self_t * others_along(self, result, dim, keepdim), dim, keepdim)")  # fmt: skip


@public("torch Tensor", out=True)
def prod(self: Tensor, dim: Any = None, keepdim: Any = None, *, dtype: Any = None) -> Tensor:
    """Product of all elements or along one ``dim``, computed in ``dtype``; integers and bools in int64."""
    if not (dim is None and keepdim is None) and not hasattr(dim, "__index__"):
        rest = [type(dim).__name__] if dim is not None else [f"keepdim={type(keepdim).__name__}"]
        kinds = ", ".join([type(self).__name__, *rest])
        raise TypeError(f"prod() received an invalid combination of arguments - got ({kinds}), but expected one of:")
    x = self if dtype is None else summed_in(self, dtype)
    return came_in(PROD(x) if dim is None else PROD_ALONG(x, one_dim(x, dim), bool(keepdim)), dtype)


# ----- without NaN -----


@kernel
def nansum_raw(x: Any, dim: Any, keepdim: bool) -> Any:
    """Sum along ``dim`` of what is no NaN."""
    axis = None if dim == () else dim
    if x.dtype.kind != "f":
        return _sum(x, axis, np.int64, keepdims=keepdim)
    if type(x) is np.ndarray:
        total = _sum(x, axis, keepdims=keepdim)
        if not some(total != total):
            return total
    return _sum(np.where(x == x, x, x.dtype.type(0)), axis, keepdims=keepdim)


NANSUM = op("nansum_raw(self, dim, keepdim)", "NansumBackward0",
   self="spread_over(g, self, dim, keepdim) * (self == self)",
   jvp="sum_dim(keep(self_t, self == self), dim, keepdim)")  # fmt: skip


@public("torch Tensor", out=True)
def nansum(self: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Sum of all elements or along ``dim``, NaN counting as 0; integers and bools in int64."""
    if self._a.dtype.kind == "c":
        raise RuntimeError("nansum on CPU does not support complex inputs")
    if self._a.dtype.kind == "f" and dtype is not None and np.dtype(dtype).kind != "f":
        if np.dtype(dtype).kind == "c" and self.numel():
            raise no_kernel("nansum_cpu", np.dtype(dtype))
        self = self.masked_fill(self.isnan(), 0)  # an integer would have no NaN left to leave out
    x = self if dtype is None else summed_in(self, dtype)
    return came_in(NANSUM(x, some_dims(x, dim), keepdim), dtype)


@public("torch Tensor", out=True)
def nanmean(self: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Mean of all elements or along ``dim`` that are no NaN."""
    if self._a.dtype.kind not in "fc":
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {scalar_type(self.dtype)}"
        )
    if dtype is not None and np.dtype(dtype).kind not in "fc":
        raise RuntimeError(
            "nanmean(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. "
            f"Got: {scalar_type(np.dtype(dtype))}"
        )
    numbers = ~self.detach().isnan()
    return nansum(self, dim, keepdim, dtype=dtype) / numbers.sum(dim, keepdim)

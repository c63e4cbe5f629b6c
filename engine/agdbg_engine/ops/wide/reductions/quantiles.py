"""Elements at a fraction of the way from the smallest to the largest, between two of them where the rank is no integer."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....device import array_module
from ....dtype import get_default_dtype
from ....several import at_home
from ....tensor import Tensor, wrap
from ...explain import shape_error
from ...indexing import gather
from ...mixed_devices import together
from ...shape import one_dim, permute, reshape
from ..declare import OPS, public
from ..indexing.reading import seen
from ..pointwise.arithmetic import lerp
from ..sorting.rows import sort

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


@public("torch Tensor", out=True)
def quantile(
    self: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """The ``q``-th quantile, ``q`` in [0, 1], of all elements or along ``dim``; NaN where there is a NaN.

    Several quantiles, for a 1-d tensor ``q``, lie along a new first dimension. ``interpolation`` says what lies between two
    elements: ``linear``, ``lower``, ``higher``, ``midpoint`` or ``nearest``.
    """
    return _quantile("quantile", self, q, dim, keepdim, interpolation, leave_out=False)


@public("torch Tensor", out=True)
def nanquantile(
    self: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """:func:`quantile` of the elements that are no NaN."""
    return _quantile("nanquantile", self, q, dim, keepdim, interpolation, leave_out=True)


def _quantile(
    name: str, x: Tensor, q: Any, dim: int | None, keepdim: bool, interpolation: str, leave_out: bool
) -> Tensor:
    q = _checked(name, x, q, interpolation)
    ndim, d = x.ndim, None if dim is None else one_dim(x, dim)
    if d is None or not ndim:
        rows = reshape(x, (-1,))
    else:
        rows = x if d == ndim - 1 else permute(x, [*(i for i in range(ndim) if i != d), d])
    ordered = sort(rows, -1).values
    found = _between(ordered, _ranks(ordered.detach(), q, leave_out), interpolation)
    if keepdim and ndim:
        found = reshape(found, (*(1,) * ndim, -1)) if d is None else found.unsqueeze(d)
    if q.ndim:
        found = found.unsqueeze(0).transpose(0, -1)
    return OPS["squeeze_dim_here"](found, found.ndim - 1)


@at_home
def _checked(name: str, x: Tensor, q: Any, interpolation: str) -> Tensor:
    """``q`` as a tensor."""
    if not isinstance(q, Tensor | int | float | np.number):
        kinds = f"{type(x).__name__}, {type(q).__name__}"
        raise TypeError(f"{name}() received an invalid combination of arguments - got ({kinds}), but expected one of:")
    if not isinstance(q, Tensor):
        if not 0 <= q <= 1:
            raise shape_error(f"quantile() q must be in the range [0, 1] but got {q:g}")
        q = wrap(array_module(x._a).full((), q, x.dtype if x.dtype.kind == "f" else get_default_dtype()))
    if not x._a.size:
        raise shape_error("quantile() input tensor must be non-empty")
    if q.ndim > 1:
        raise shape_error("quantile() q must be a scalar or 1D tensor")
    if x.dtype not in (np.float32, np.float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if q.dtype != x.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    together(x, q, "quantile() q tensor must be on the same device as the input tensor")
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            f"quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    if seen((q._a < 0) | (q._a > 1)):
        raise shape_error("quantile() q values must be in the range [0, 1]")
    return q


def _ranks(ordered: Tensor, q: Tensor, leave_out: bool) -> Tensor:
    """Where the quantiles lie in rows in order: (..., number of quantiles)."""
    n = ordered.shape[-1]
    nan = ordered.isnan()
    if leave_out:
        return (reshape(q, (-1,)) * ((~nan).sum(-1, keepdim=True) - 1)).clamp(min=0)
    ranks = (reshape(q, (-1,)) * (n - 1)).expand(*ordered.shape[:-1], max(q._a.size, 0))
    return ranks.masked_fill(nan.any(-1, keepdim=True), n - 1)


def _between(ordered: Tensor, ranks: Tensor, interpolation: str) -> Tensor:
    if interpolation == "nearest":
        return gather(ordered, -1, ranks.detach().round().to(np.dtype(np.int64)))
    below = ranks.detach().floor()
    if interpolation == "lower":
        return gather(ordered, -1, below.to(np.dtype(np.int64)))
    above = gather(ordered, -1, ranks.detach().ceil().to(np.dtype(np.int64)))
    if interpolation == "higher":
        return above
    weight = ranks - below if interpolation == "linear" else 0.5
    return lerp(gather(ordered, -1, below.to(np.dtype(np.int64))), above, weight)

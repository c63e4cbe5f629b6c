"""Masked scans and normalizations (``torch.masked``), which keep the shape: elements outside of the mask take no part."""

from __future__ import annotations

import math
from typing import Any

from ....device import array_module
from ....tensor import Tensor, wrap
from ... import _generated as g
from ... import reduce
from ..declare import PUBLIC, public
from ..scans import rows as scans
from . import masks


def _in(x: Tensor, dtype: Any) -> Tensor:
    return x if dtype is None or x.dtype == dtype else x.to(dtype)


@public("masked")
def cumsum(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Sums along ``dim`` of the elements up to each where ``mask``."""
    d = masks.canonical(dim, input.ndim)[0]
    return _in(scans.cumsum(masks.filled(input, mask, 0), d, dtype=dtype or input.dtype), dtype or input.dtype)


@public("masked")
def cumprod(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Products along ``dim`` of the elements up to each where ``mask``."""
    d = masks.canonical(dim, input.ndim)[0]
    return _in(scans.cumprod(masks.filled(input, mask, 1), d, dtype=dtype or input.dtype), dtype or input.dtype)


@public("masked")
def softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """exp(x) / sum(exp(x)) along ``dim`` of the elements where ``mask``; 0 elsewhere, NaN where there are none."""
    d = masks.canonical(dim, input.ndim)[0]
    return reduce.softmax(_without("amax", input, mask), d, dtype or input.dtype)


@public("masked")
def log_softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Logarithm of :func:`softmax`."""
    d = masks.canonical(dim, input.ndim)[0]
    return reduce.log_softmax(_without("amax", input, mask), d, dtype or input.dtype)


@public("masked")
def softmin(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """:func:`softmax` of the negative elements."""
    d = masks.canonical(dim, input.ndim)[0]
    x = input if mask is None else masks.filled(masks.real("amin", input), mask, masks.highest(input))
    return reduce.softmax(-x, d, dtype or input.dtype)


def _without(name: str, x: Tensor, mask: Tensor | None) -> Tensor:
    return x if mask is None else masks.filled(masks.real(name, x), mask, masks.lowest(x))


@public("masked")
def normalize(
    input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """Elements where ``mask`` divided by their norm along ``dim``, at least ``eps``; 0 elsewhere."""
    size = masks.norm(input, ord, dim, keepdim=True, dtype=dtype or input.dtype, mask=mask)
    return masks.filled(input, mask, 0) / g.maximum(size, wrap(array_module(size._a).full((), eps, size.dtype)))


@public("masked")
def logaddexp(
    input: Tensor, other: Tensor, *, dtype: Any = None, input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """log(exp(input) + exp(other)), where elements outside of their mask add nothing."""
    x, y = (t if m is None else masks.filled(t, m, -math.inf) for t, m in ((input, input_mask), (other, other_mask)))
    return _in(PUBLIC["torch"]["logaddexp"].function(x, y), dtype or input.dtype)

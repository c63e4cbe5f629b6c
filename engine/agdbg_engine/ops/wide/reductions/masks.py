"""Masked reductions (``torch.masked``): elements outside of the mask count as the identity of the reduction."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....creation import ones_like
from ....device import array_module
from ....dtype import is_differentiable
from ....tensor import Tensor, wrap
from ... import compare, reduce
from ...complexes import conj
from ...elementwise import where
from ...shape import reshape
from ..declare import public
from ..indexing.reading import some
from ..linalg.norms import vector_norm
from .medians import nanmedian
from .multiples import prod as _prod

Dims = int | tuple[int, ...] | list[int] | None


# ----- masks -----


def canonical(dim: Dims, ndim: int) -> tuple[int, ...]:
    """The dimensions ``dim`` in order; all for ``None`` and ``()``."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    found: list[int] = []
    n = max(ndim, 1)
    for d in (dim,) if isinstance(dim, int) else dim:
        if d in found:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        if not -n <= d < n:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})")
        found.append(d % n)
    return tuple(sorted(found))


def shaped(mask: Tensor, x: Tensor) -> Tensor:
    """``mask`` as bools in the shape of ``x``."""
    if mask.shape != x.shape:
        if mask.ndim > x.ndim:
            raise IndexError(
                "_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)"
            )
        mask = mask.expand(x.shape)
    return mask.to(np.dtype(np.bool_))


def filled(x: Tensor, mask: Tensor | None, value: float) -> Tensor:
    """``x`` with ``value`` outside of ``mask``."""
    if mask is None:
        return x
    return where(shaped(mask, x), x, wrap(array_module(x._a).full((), value, x.dtype)))


def lowest(x: Tensor) -> float:
    """What no element is below."""
    return -math.inf if x.dtype.kind in "fc" else np.iinfo(x.dtype).min


def highest(x: Tensor) -> float:
    """What no element is above."""
    return math.inf if x.dtype.kind in "fc" else np.iinfo(x.dtype).max


def real(name: str, x: Tensor) -> Tensor:
    """``x``, unless it is bools, which have no identity for ``name``."""
    if x.dtype.kind == "b":
        raise NotImplementedError(f"identity of {name} on torch.bool input")
    return x


def _summed_dtype(x: Tensor, dtype: Any) -> Any:
    return dtype or (np.dtype(np.int64) if x.dtype.kind in "biu" else x.dtype)


# ----- reductions -----


@public("masked")
def sum(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """Sum along ``dim`` of the elements where ``mask``."""
    dims = canonical(dim, input.ndim)
    return reduce.sum(filled(input, mask, 0), dims, bool(keepdim), dtype=_summed_dtype(input, dtype))


@public("masked")
def prod(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """Product along ``dim`` of the elements where ``mask``."""
    found = filled(input, mask, 1)
    dtype = _summed_dtype(input, dtype)
    found = found if found.dtype == dtype else found.to(dtype)
    for d in reversed(canonical(dim, input.ndim)):
        found = _prod(found, d, bool(keepdim))
    return found


@public("masked")
def amax(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The largest of the elements along ``dim`` where ``mask``; ties share the gradient."""
    x = input if mask is None else filled(real("amax", input), mask, lowest(input))
    return reduce.amax(x, canonical(dim, x.ndim), bool(keepdim)).to(dtype or input.dtype)


@public("masked")
def amin(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The smallest of the elements along ``dim`` where ``mask``; ties share the gradient."""
    x = input if mask is None else filled(real("amin", input), mask, highest(input))
    return reduce.amin(x, canonical(dim, x.ndim), bool(keepdim)).to(dtype or input.dtype)


@public("masked")
def argmax(
    input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """Where the largest of the elements along ``dim`` where ``mask`` is, in the dtype of ``input`` or ``dtype``."""
    x = input if mask is None else filled(real("argmax", input), mask, lowest(input))
    return compare.argmax(x, dim, bool(keepdim)).to(dtype or input.dtype)


@public("masked")
def argmin(
    input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """Where the smallest of the elements along ``dim`` where ``mask`` is, in the dtype of ``input`` or ``dtype``."""
    x = input if mask is None else filled(real("argmin", input), mask, highest(input))
    return compare.argmin(x, dim, bool(keepdim)).to(dtype or input.dtype)


@public("masked")
def mean(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """Mean along ``dim`` of the elements where ``mask``; NaN where there are none."""
    wanted = np.dtype(dtype or input.dtype)
    if not is_differentiable(wanted):
        source = "Input" if dtype is None else "Optional"
        raise ValueError(
            f"mean(): Could not infer output dtype. {source} dtype must be either a floating point or complex dtype. "
            f"Got: torch.{wanted.name}"
        )
    count, total = _count_and_sum(input, dim, keepdim, wanted, mask)
    return total / count


def _count_and_sum(x: Tensor, dim: Dims, keepdim: bool, dtype: Any, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    inside = ones_like(x, dtype=np.dtype(np.bool_)) if mask is None else shaped(mask, x)
    count = reduce.sum(inside, canonical(dim, x.ndim), bool(keepdim))
    return count, sum(x, dim, keepdim=keepdim, dtype=dtype, mask=mask)


@public("masked")
def median(
    input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """Median along ``dim`` of the elements where ``mask``; NaN, for integers an error, where there are none."""
    d = canonical(dim, input.ndim)[0]
    floating = input.dtype.kind == "f"
    x = input if floating else input.to(np.dtype(np.float32))
    found: Tensor = nanmedian(filled(x, mask, math.nan), d, keepdim).values
    if floating:
        return found
    if some(compare.isnan(found)):
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return found.to(dtype or input.dtype)


@public("masked")
def logsumexp(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """log(sum(exp(x))) along ``dim`` of the elements where ``mask``."""
    dims = canonical(dim, input.ndim)
    x = input if mask is None else filled(real("logsumexp", input), mask, lowest(input))
    return reduce.logsumexp(x, dims, keepdim).to(dtype or input.dtype)


@public("masked")
def norm(
    input: Tensor, ord: float | None = 2.0, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Norm along ``dim`` of the elements where ``mask``; see :func:`agdbg_engine.linalg.vector_norm`."""
    x = filled(input, mask, math.inf if ord == -math.inf else 0)
    found: Tensor = vector_norm(x, ord, canonical(dim, input.ndim), bool(keepdim), dtype=dtype or input.dtype)
    return found


# ----- spread -----


@public("masked")
def var(
    input: Tensor, dim: Dims = None, unbiased: bool | None = None, *, correction: float | None = None,
    keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Variance along ``dim`` of the elements where ``mask``, over their number less ``correction`` (1 by default)."""
    return _spread(input, dim, unbiased, correction, keepdim, dtype, mask)


@public("masked")
def std(
    input: Tensor, dim: Dims = None, unbiased: bool | None = None, *, correction: float | None = None,
    keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Square root of :func:`var`."""
    return _spread(input, dim, unbiased, correction, keepdim, dtype, mask).sqrt()


def _spread(
    x: Tensor, dim: Dims, unbiased: bool | None, correction: Any, keepdim: bool, dtype: Any, mask: Tensor | None
) -> Tensor:
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if correction is None:
        correction = 1.0 if unbiased is None or unbiased else 0.0
    result = np.dtype(dtype or (x.dtype if x.dtype.kind in "fc" else np.float32))
    computed = result if result.kind in "fc" else np.dtype(np.float32)
    count, total = _count_and_sum(x, dim, True, result, mask)
    apart = x - total / count
    squares = sum(apart * conj(apart), dim, keepdim=keepdim, dtype=computed, mask=mask)
    if not keepdim:
        count = reshape(count, squares.shape)
    if correction != 0:
        count = (count.to(np.dtype(f"f{computed.itemsize // (2 if computed.kind == 'c' else 1)}")) - correction).clamp(
            min=0
        )
    found = squares / count
    return found if found.dtype == result else found.to(result)

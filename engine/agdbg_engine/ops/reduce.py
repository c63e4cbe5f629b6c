"""Reductions and softmax as users write them: one name for the forms that PyTorch overloads."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from ..arguments import NotGiven
from ..dtype import get_default_dtype, is_differentiable, scalar_type
from ..errors import raise_if
from ..grad_mode import mode
from ..several import at_home
from ..signatures import refusal
from ..sites import user_stacklevel
from ..tensor import Tensor, wrap
from . import _generated as g
from .explain import shape_error
from .kernels_reduce import numel
from .returned import returned_as
from .shape import Dims, one_dim, some_dims

# ----- sums and means -----


def sum(
    self: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None, axis: Dims = None, keepdims: bool = False
) -> Tensor:  # fmt: skip
    """Sum of all elements or along ``dim``; integers and bools in int64."""
    x = self if dtype is None else summed_in(self, dtype)
    if dim is None and axis is None and not keepdim and not keepdims:
        return came_in(g.sum_all(x), dtype)
    dims, keepdim = _dims_and("sum", x, dim if axis is None else axis, keepdim or keepdims)
    return came_in(g.sum_dim(x, dims, keepdim), dtype)


def _dims_and(op: str, x: Tensor, dim: Any, keepdim: Any) -> tuple[tuple[int, ...], bool]:
    """The dimensions and ``keepdim`` of a call that came without the look at its types that others have."""
    try:
        dims = some_dims(x, dim)
    except (TypeError, AttributeError) as error:
        raise (refusal(f"Tensor.{op}", (dim,), {"keepdim": keepdim} if keepdim else {}) or error) from None
    if keepdim is not True and keepdim is not False:
        raise_if(refusal(f"Tensor.{op}", (dim,), {"keepdim": keepdim}))
    return dims, keepdim


def summed_in(x: Tensor, dtype: Any) -> Tensor:
    """``x`` in ``dtype``; an integer one is refused where a gradient is wanted."""
    if not is_differentiable(np.dtype(dtype)) and mode.grad and x.requires_grad:
        raise RuntimeError(f"Autograd not support dtype: {scalar_type(np.dtype(dtype))}")
    return x.to(dtype)


def came_in(result: Tensor, dtype: Any) -> Tensor:
    """``result``, which is an int64 of integers, in the ``dtype`` that was asked for."""
    return result if dtype is None or result._a.dtype == dtype else result.to(dtype)


def mean(
    self: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None, axis: Dims = None, keepdims: bool = False
) -> Tensor:  # fmt: skip
    """Mean of all elements or along ``dim``; floating dtypes only."""
    x = self if dtype is None else self.to(dtype)
    if x._a.dtype.kind not in "fc":
        which = "Input" if dtype is None else "Optional"
        raise RuntimeError(
            f"mean(): could not infer output dtype. {which} dtype must be either a floating point or complex dtype. "
            f"Got: {scalar_type(x.dtype)}"
        )
    if dim is None and axis is None and not keepdim and not keepdims:
        return g.mean_all(x)
    dims, keepdim = _dims_and("mean", x, dim if axis is None else axis, keepdim or keepdims)
    return g.mean_dim(x, dims, keepdim)


def var(
    self: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: Any = None
) -> Tensor:
    """Variance of all elements or along ``dim``, divided by ``n - correction`` (1, or 0 when not ``unbiased``)."""
    if isinstance(dim, bool):  # var(x, unbiased)
        dim, unbiased = None, dim
    return g.var_dim(*spread("var", self, dim, unbiased, correction), keepdim)


def std(
    self: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: Any = None
) -> Tensor:
    """Square root of :func:`var`; its gradient is 0 where it is 0."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    return g.std_dim(*spread("std", self, dim, unbiased, correction), keepdim)


def spread(op: str, x: Tensor, dim: Dims, unbiased: bool | None, correction: Any) -> tuple[Tensor, Any, Any]:
    """The tensor, its dimensions and the correction of a variance, with PyTorch's warning where that leaves nothing."""
    if x._a.dtype.kind not in "fc":
        raise RuntimeError("std and var only support floating point and complex dtypes")
    if unbiased is not None and correction is not None:
        raise TypeError(f"{op}() received an invalid combination of arguments: both unbiased and correction")
    dims, less = some_dims(x, dim), int(unbiased is None or unbiased) if correction is None else correction
    if dim is None and unbiased is None and correction is None:
        less = NotGiven(1)
    if numel(x.shape, dims) <= less:
        warnings.warn(
            f"{op}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input numel "
            "divided by output numel).",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
    return x, dims, less


def logsumexp(self: Tensor, dim: Dims, keepdim: bool = False) -> Tensor:
    """log(sum(exp(x))) along ``dim``."""
    x = self if self._a.dtype.kind in "fc" else self.to(get_default_dtype())
    return g.logsumexp(x, some_dims(x, dim), keepdim)


def softmax(self: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along ``dim``."""
    dim = one_dim(self, dim)
    return g.softmax_dim(_floating("softmax", self, dtype, dim), dim)


def log_softmax(self: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """x - log(sum(exp(x))) along ``dim``."""
    dim = one_dim(self, dim)
    return g.log_softmax_dim(_floating("log_softmax", self, dtype, dim), dim)


def _floating(op: str, x: Tensor, dtype: Any, dim: int) -> Tensor:
    if dtype is not None:
        x = x.to(dtype)
    if x._a.dtype.kind != "f":
        kernel = f"{op}_lastdim_kernel_impl" if x.ndim in (0, dim + 1) else f"{op}_kernel_impl"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_type(x.dtype)}'")
    return x


# ----- extremes -----


class Extreme(NamedTuple):
    """Values and their positions."""

    values: Tensor
    indices: Tensor


@returned_as("max")
class Largest(Extreme):
    """What :func:`max` returns."""


@returned_as("min")
class Smallest(Extreme):
    """What :func:`min` returns."""


def amax(self: Tensor, dim: Dims = (), keepdim: bool = False) -> Tensor:
    """Largest element of all or along ``dim``; ties share the gradient."""
    return g.amax(self, _extreme_dims("amax", self, dim), keepdim)


def amin(self: Tensor, dim: Dims = (), keepdim: bool = False) -> Tensor:
    """Smallest element of all or along ``dim``; ties share the gradient."""
    return g.amin(self, _extreme_dims("amin", self, dim), keepdim)


def max(self: Tensor, dim: Any = None, keepdim: bool = False, *, other: Tensor | None = None) -> Any:
    """Largest element; with ``dim`` also where (the first of ties); with a tensor, elementwise."""
    dim = dim if other is None else other
    if dim is None:
        return g.max_all(_some_elements("max", self))
    if isinstance(dim, Tensor):
        return g.maximum(self, dim)
    return _along("max", self, dim, keepdim, np.argmax, g.max_dim, Largest)


def min(self: Tensor, dim: Any = None, keepdim: bool = False, *, other: Tensor | None = None) -> Any:
    """Smallest element; with ``dim`` also where (the first of ties); with a tensor, elementwise."""
    dim = dim if other is None else other
    if dim is None:
        return g.min_all(_some_elements("min", self))
    if isinstance(dim, Tensor):
        return g.minimum(self, dim)
    return _along("min", self, dim, keepdim, np.argmin, g.min_dim, Smallest)


@at_home
def _along(op: str, x: Tensor, dim: int, keepdim: bool, position: Any, row: Any, kind: type[Extreme]) -> Extreme:
    _extreme_dims(op, x, dim)
    dim = one_dim(x, dim)
    where = wrap(position(x._a, axis=dim if x.ndim else None, keepdims=keepdim and x.ndim > 0))
    return kind(row(x, where, dim, keepdim), where)


def _some_elements(op: str, x: Tensor) -> Tensor:
    if x._a.size == 0:
        raise shape_error(
            f"{op}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' "
            "argument."
        )
    return x


def _extreme_dims(op: str, x: Tensor, dim: Dims) -> Any:
    dims = some_dims(x, dim)
    if x._a.size == 0:
        if dims == ():
            _some_elements(op, x)
        for d in (dims,) if isinstance(dims, int) else dims:
            if x.shape[d] == 0:
                if op in ("amax", "amin"):  # which name it as it was given
                    given: Any = dim if isinstance(dim, tuple | list) else (dim,)
                    d = next(n for n in given if n % x.ndim == d)
                raise shape_error(f"{op}(): Expected reduction dim {d} to have non-zero size.", IndexError)
    return dims

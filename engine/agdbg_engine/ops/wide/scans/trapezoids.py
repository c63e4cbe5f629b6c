"""Integrals by the trapezoidal rule."""

from __future__ import annotations

from typing import Any

from ....creation import zeros
from ....dtype import get_default_dtype
from ....tensor import Tensor
from ...explain import shape_error
from ...shape import one_dim
from ..declare import linear, public
from .differences import over, pieces
from .rows import cumsum

_by_number = linear("by_number(self, number)", "MulBackward1", "g * number", forward="self * number")


def _times(x: Tensor, number: Any) -> Tensor:
    made: Tensor = _by_number(x if x.dtype.kind in "fc" else x.to(get_default_dtype()), number)
    return made


def _two(y: Tensor, x: Any, dx: Any, name: str) -> None:
    if x is not None and (dx is not None or not isinstance(x, Tensor)):
        kinds = ", ".join(["Tensor", type(x).__name__, *([] if dx is None else [f"dx={type(dx).__name__}"])])
        raise TypeError(f"{name}() received an invalid combination of arguments - got ({kinds}), but expected one of:")
    if y.dtype.kind == "b" or (x is not None and x.dtype.kind == "b"):
        which = "`y`" if x is None else "`x` or `y`"
        raise RuntimeError(f"{name}: received a bool input for {which}, but bool is not supported")
    if isinstance(dx, complex):
        raise RuntimeError(f"{name}: Currently, we only support dx as a real number.")


def _steps(y: Tensor, x: Tensor, dim: int, name: str) -> Tensor:
    """The differences of the places ``x``, in a shape that goes with the samples along ``dim``."""
    if (x.ndim == 1 and y.ndim != 1) or (x.ndim and x.ndim < y.ndim):
        if x.ndim == 1:
            if x.shape[0] != y.shape[dim]:
                raise shape_error(f"{name}: There must be one `x` value for each sample point")
            x = x.reshape(tuple(-1 if d == dim else 1 for d in range(y.ndim)))
        else:
            x = x.reshape((*(1,) * (y.ndim - x.ndim), *x.shape))
    n = x.shape[dim] if x.ndim else 0
    if not x.ndim:
        return zeros((0,) * y.ndim, dtype=y.dtype, device=y.device)
    return pieces(x, dim, 1, n - 1) - pieces(x, dim, 0, n - 1)


@public("torch")
def trapezoid(y: Tensor, x: Any = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """The integral along ``dim`` of samples ``y`` at the places ``x``, or ``dx`` (1 by default) apart."""
    if not y.ndim:
        raise shape_error(f"Dimension specified as {dim} but tensor has no dimensions", IndexError)
    _two(y, x, dx, "trapezoid")
    dim = one_dim(y, dim)
    n = y.shape[dim]
    if not n:
        return zeros((*y.shape[:dim], *y.shape[dim + 1 :]), dtype=y.dtype, device=y.device)
    if x is None:
        whole = y.sum(dim) - (y.select(dim, 0) + y.select(dim, -1)) * 0.5
        return _times(whole, 1 if dx is None else dx)
    both = pieces(y, dim, 0, n - 1) + pieces(y, dim, 1, n - 1)
    return over((both * _steps(y, x, dim, "trapezoid")).sum(dim), 2)


@public("torch")
def trapz(y: Tensor, x: Any = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """:func:`trapezoid` by its older name."""
    return trapezoid(y, x, dx=dx, dim=dim)


@public("torch")
def cumulative_trapezoid(y: Tensor, x: Any = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """The integrals along ``dim`` up to every sample but the first; see :func:`trapezoid`."""
    if not y.ndim:
        raise shape_error("slice() cannot be applied to a 0-dim tensor.", IndexError)
    _two(y, x, dx, "cumulative_trapezoid")
    dim = one_dim(y, dim)
    rest = max(y.shape[dim] - 1, 0)
    both = pieces(y, dim, 0, rest) + pieces(y, dim, min(1, y.shape[dim]), rest)
    if x is None:
        return cumsum(_times(both, (1 if dx is None else dx) / 2), dim)
    return over(cumsum(both * _steps(y, x, dim, "cumulative_trapezoid"), dim), 2)

"""Forward mode: tensors that carry a tangent, and what every op does with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .tensor import Tensor, wrap

Shape = tuple[int, ...]


class Zero:
    """The tangent of an argument that has none: nothing is computed with it, not even 0 * inf.

    Sums and products with it are what they would be with a tensor of zeros of ``shape`` (which matters for broadcasting);
    :func:`filled` makes that tensor for functions that need one.
    """

    __slots__ = ("dtype", "shape")
    __array_ufunc__ = None

    def __init__(self, shape: Shape, dtype: Any) -> None:
        self.shape = shape
        self.dtype = dtype

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Zero):
            return Zero(np.broadcast_shapes(self.shape, other.shape), np.promote_types(self.dtype, other.dtype))
        shape = np.broadcast_shapes(self.shape, other.shape)
        return other if shape == other.shape else other.expand(shape)

    __radd__ = __add__
    __rsub__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __mul__(self, other: Any) -> Zero:
        return Zero(np.broadcast_shapes(self.shape, getattr(other, "shape", ())), self.dtype)

    __rmul__ = __mul__
    __truediv__ = __mul__

    def __neg__(self) -> Zero:
        return self


def filled(tangent: Any) -> Any:
    """``tangent``, or the zeros that it stands for."""
    return wrap(np.zeros(tangent.shape, tangent.dtype)) if isinstance(tangent, Zero) else tangent

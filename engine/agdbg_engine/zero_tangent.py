"""The tangent of an argument that has none, PyTorch's ZeroTensor: nothing is computed with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .device import device as Device
from .device import module_of, on
from .grad_mode import mode
from .tensor import Tensor, wrap

Shape = tuple[int, ...]


class Zero:
    """Stands for zeros of ``shape`` in sums and products, without being computed with: 0 * inf is 0 here.

    Tangent formulas meet it in operators and as an argument of functions that are linear in it (:func:`linear`);
    :func:`filled` makes the zeros where a function takes several tangents. Its ``factors`` are the tensors that require grad
    and were multiplied with it: as in PyTorch what it is added to depends on them, with derivatives of zero.
    """

    __slots__ = ("device", "dtype", "factors", "shape")
    __array_ufunc__ = None

    def __init__(self, shape: Shape, dtype: Any, device: Device, factors: tuple[Tensor, ...] = ()) -> None:
        self.shape = shape
        self.dtype = dtype
        self.device = device
        self.factors = factors

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Zero):
            shape = np.broadcast_shapes(self.shape, other.shape)
            return Zero(shape, np.promote_types(self.dtype, other.dtype), self.device, self.factors + other.factors)
        shape = np.broadcast_shapes(self.shape, other.shape)
        return self.linked(other if shape == other.shape else other.expand(shape))

    __radd__ = __add__
    __rsub__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __mul__(self, other: Any) -> Zero:
        shape = np.broadcast_shapes(self.shape, getattr(other, "shape", ()))
        return Zero(shape, self.dtype, self.device, self.factors + _factors(other))

    __rmul__ = __mul__
    __truediv__ = __mul__

    def __neg__(self) -> Zero:
        return self

    def linked(self, t: Tensor) -> Tensor:
        """``t`` as something that depends on the factors too."""
        from .ops import _generated as ops

        for x in self.factors:
            t = t + ops.sum_all(ops.zero(x))
        return t


def _factors(*args: Any) -> tuple[Tensor, ...]:
    """Those of ``args`` that an op would record."""
    return tuple(x for x in args if isinstance(x, Tensor) and x.requires_grad) if mode.grad else ()


def filled(tangent: Any) -> Any:
    """``tangent``, or the zeros that it stands for."""
    if not isinstance(tangent, Zero):
        return tangent
    with on(tangent.device):
        return tangent.linked(wrap(module_of(tangent.device).zeros(tangent.shape, tangent.dtype)))


def linear(function: Callable[..., Tensor], position: int, *args: Any) -> Any:
    """``function(*args)``, which is linear in the tangent at ``position``: nothing where that is a :class:`Zero`.

    What is returned then is a scalar: the term it is added to has the shape of the result, or nothing is left.
    """
    tangent = args[position]
    return Zero((), tangent.dtype, tangent.device, _factors(*args)) if isinstance(tangent, Zero) else function(*args)

"""Questions about elements, answered by bools: signs, infinities, closeness. No gradient; a path ends there."""

from __future__ import annotations

import numpy as np

from ....backward import QUIET
from ....dtype import get_default_dtype, scalar_type
from ....several import at_home
from ....tensor import Tensor, wrap
from ...compare import no_gradient
from ...explain import explain
from ...mixed_devices import with_numbers_beside
from ..declare import public


@public("torch Tensor", out=True)
@at_home
def signbit(self: Tensor) -> Tensor:
    """Whether elements are negative, -0 included."""
    no_gradient((self,))
    if self.dtype.kind == "c":
        raise NotImplementedError("signbit is not implemented for complex tensors.")
    return wrap(np.signbit(self._a) if self.dtype.kind == "f" else self._a < 0)


@public("torch Tensor", out=True)
def isposinf(self: Tensor) -> Tensor:
    """Whether elements are infinity."""
    return _is_number("isposinf", self, np.inf)


@public("torch Tensor", out=True)
def isneginf(self: Tensor) -> Tensor:
    """Whether elements are minus infinity."""
    return _is_number("isneginf", self, -np.inf)


@at_home
def _is_number(name: str, x: Tensor, number: float) -> Tensor:
    no_gradient((x,))
    if x.dtype.kind == "c":
        raise RuntimeError(f"{name} does not support complex inputs.")
    return wrap(x._a == number if x.dtype.kind == "f" else np.zeros_like(x._a, dtype=np.bool_))


@public("torch Tensor")
@at_home
def isreal(self: Tensor) -> Tensor:
    """Whether elements have no imaginary part."""
    no_gradient((self,))
    return wrap(self._a.imag == 0 if self.dtype.kind == "c" else np.ones_like(self._a, dtype=np.bool_))


@public("torch Tensor")
@at_home
def isclose(self: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Whether elements differ by at most ``atol + rtol * |other|``; broadcast, both of one dtype."""
    no_gradient((self, other))
    if self.dtype != other.dtype:
        raise RuntimeError(f"{scalar_type(self.dtype)} did not match {scalar_type(other.dtype)}")
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if not tolerance >= 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance}")
    self, other = with_numbers_beside(self, other)
    a, b = self._a, other._a
    try:
        same = a == b
    except ValueError as error:
        raise explain("isclose", error, self=self, other=other) from None
    if equal_nan:
        same = same | ((a != a) & (b != b))
    if rtol == 0 and atol == 0:
        return wrap(same)
    if self.dtype.kind in "biu":
        a, b = a.astype(get_default_dtype()), b.astype(get_default_dtype())
    with np.errstate(**QUIET):
        distance = np.abs(a - b)
        return wrap(same | (np.isfinite(distance) & (distance <= atol + np.abs(rtol * b))))

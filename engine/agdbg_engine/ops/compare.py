"""Ops without a gradient: comparisons, tests, positions. A path through one of them ends there (a *cut*)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import events
from ..sites import caller
from ..tensor import Tensor, wrap
from .prepare import explain


def _value(x: Any) -> Any:
    return x._a if isinstance(x, Tensor) else x


def _cut(how: str, *operands: Any) -> None:
    sink = events.sink
    if sink is None:
        return
    for x in operands:
        if isinstance(x, Tensor) and x._rg and x.requires_grad:
            sink.graph_cut(x, how, *caller())


def _binary(name: str, ufunc: Any) -> Callable[[Any, Any], Tensor]:
    def compare(self: Any, other: Any) -> Tensor:
        if not isinstance(other, Tensor | int | float | bool | np.generic):
            return NotImplemented
        try:
            out = wrap(np.asarray(ufunc(_value(self), _value(other))))
        except Exception as error:
            raise explain(name, error, self=self, other=other) from None
        _cut("integer", self, other)
        return out

    compare.__name__ = compare.__qualname__ = name
    compare.__doc__ = f"Elementwise {name}; a bool tensor without gradient."
    return compare


eq = _binary("eq", np.equal)
ne = _binary("ne", np.not_equal)
lt = _binary("lt", np.less)
le = _binary("le", np.less_equal)
gt = _binary("gt", np.greater)
ge = _binary("ge", np.greater_equal)
logical_and = _binary("logical_and", np.logical_and)
logical_or = _binary("logical_or", np.logical_or)
bitwise_and = _binary("bitwise_and", np.bitwise_and)
bitwise_or = _binary("bitwise_or", np.bitwise_or)


def _test(name: str, ufunc: Any) -> Callable[[Tensor], Tensor]:
    def test(self: Tensor) -> Tensor:
        return wrap(np.asarray(ufunc(self._a)))

    test.__name__ = test.__qualname__ = name
    test.__doc__ = f"Elementwise {name}; a bool tensor without gradient."
    return test


isnan = _test("isnan", np.isnan)
isinf = _test("isinf", np.isinf)
isfinite = _test("isfinite", np.isfinite)
logical_not = _test("logical_not", np.logical_not)
bitwise_not = _test("bitwise_not", np.invert)


def argmax(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Position of the largest element (of the flattened tensor without ``dim``); the first of ties."""
    _cut("integer", self)
    return wrap(np.asarray(np.argmax(self._a, axis=dim, keepdims=keepdim)))


def argmin(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Position of the smallest element; the first of ties."""
    _cut("integer", self)
    return wrap(np.asarray(np.argmin(self._a, axis=dim, keepdims=keepdim)))


def all(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Whether all elements are true."""
    return wrap(np.asarray(self._a.all(axis=dim, keepdims=keepdim)))


def any(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Whether some element is true."""
    return wrap(np.asarray(self._a.any(axis=dim, keepdims=keepdim)))


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all elements differ by at most ``atol + rtol * |other|``."""
    return bool(np.allclose(input._a, other._a, rtol, atol, equal_nan))


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether shapes and all elements are the same."""
    return bool(input.shape == other.shape and np.array_equal(input._a, other._a))

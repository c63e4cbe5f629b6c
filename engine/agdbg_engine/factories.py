"""``x.new_zeros(...)`` and its like: new tensors in the dtype of an old one."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .arguments import checked
from .pinned_memory import pinnable

if TYPE_CHECKING:
    from .tensor import Tensor


def _factory(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return checked(pinnable(function), method=True)


class Factories:
    """The part of :class:`~agdbg_engine.tensor.Tensor` that makes new tensors, which share nothing with it."""

    __slots__ = ()
    _a: Any

    @_factory
    def new_zeros(self, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
        """Zeros."""
        return self._new("new_zeros", size, 0, dtype, device, requires_grad)

    @_factory
    def new_ones(self, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
        """Ones."""
        return self._new("new_ones", size, 1, dtype, device, requires_grad)

    @_factory
    def new_empty(self, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
        """Unspecified content."""
        return self._new("new_empty", size, None, dtype, device, requires_grad)

    @_factory
    def new_full(
        self, size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
    ) -> Tensor:
        """One value."""
        from .creation import fill_number

        fill_value = fill_number("new_full", fill_value)
        return self._new("new_full", (size,), fill_value, dtype, device, requires_grad)

    @_factory
    def new_tensor(self, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
        """A copy of ``data``."""
        from .creation import copied_instead, new_leaf

        if isinstance(data, Factories):
            warnings.warn(copied_instead("tensor.new_tensor"), UserWarning, stacklevel=2)
        where = self.device if device is None else device  # type: ignore[attr-defined]  # of Tensor
        return new_leaf(data, dtype or self._a.dtype, where, requires_grad)

    def _new(self, op: str, size: Any, value: Any, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
        from .creation import made, shape_of
        from .scalars import written

        device = self.device if device is None else device  # type: ignore[attr-defined]  # of Tensor
        kind = (shape_of(op, size), dtype or self._a.dtype)
        if value is None:
            return made("empty", kind, device, requires_grad)
        value = written(value, np.dtype(kind[1]), math.prod(kind[0]) != 1) if op == "new_full" else value
        return made("full", (kind[0], value, kind[1]), device, requires_grad)

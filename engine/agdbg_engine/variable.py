"""``autograd.Variable``: what a tensor that could require gradients was, long ago. Every tensor is one."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import class_name
from .final_callbacks import ExecutionEngine
from .tensor import Tensor, set_up, warn_volatile


class _EveryTensor(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_EveryTensor):
    """Calling it gives a tensor on the memory of another, without its history."""

    _execution_engine = ExecutionEngine()

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: Any = None) -> Any:
        """A leaf on the memory of ``data`` (empty if ``None``)."""
        if volatile is not None:
            warn_volatile("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")
        if data is not None and not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {class_name(data)}")
        made: Tensor = object.__new__(Tensor)
        set_up(made, np.empty(0, np.float32) if data is None else data._a)
        if data is not None:
            made._storage = data._shared_storage()
        return made.requires_grad_() if requires_grad else made

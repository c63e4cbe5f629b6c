"""Kernels of SciPy, or of its counterpart on the GPU; imported when one is called, since that takes a while."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....backends import scipy_for


def functions_of(x: Any) -> Any:
    """The module of special functions that knows buffers like ``x``."""
    return scipy_for(x, "special")


def by_scipy(name: str) -> Callable[..., Any]:
    """The kernel that SciPy has under ``name``, with its value in the dtype of the operands (SciPy has no float16)."""

    def value(*operands: Any) -> Any:
        x = next(x for x in operands if hasattr(x, "dtype"))  # formulas give numbers as they are
        return getattr(functions_of(x), name)(*operands).astype(x.dtype)

    value.__name__ = name
    return value

"""Kernels of SciPy, or of its counterpart on the GPU; imported when one is called, since that takes a while."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np


def functions_of(x: Any) -> Any:
    """The module of special functions that knows buffers like ``x``."""
    if isinstance(x, np.ndarray | np.generic):
        return importlib.import_module("scipy.special")
    return importlib.import_module("cupyx.scipy.special")


def by_scipy(name: str) -> Callable[..., Any]:
    """The kernel that SciPy has under ``name``, with its value in the dtype of the operands (SciPy has no float16)."""

    def value(*operands: Any) -> Any:
        x = next(x for x in operands if hasattr(x, "dtype"))  # formulas give numbers as they are
        return getattr(functions_of(x), name)(*operands).astype(x.dtype)

    value.__name__ = name
    return value

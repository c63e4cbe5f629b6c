"""``a x + y`` by BLAS: one pass over the memory and one rounding, as PyTorch's ``add_(x, alpha=a)``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .elementwise import BLOCK, blocks

Array = Any


def fits(y: Array, x: Array, a: float) -> bool:
    """Whether BLAS can add ``a * x`` to ``y``: real arrays of one dtype on the CPU, contiguous, not empty,
    and ``y`` aligned and writable: of another one BLAS would change a copy."""
    return bool(
        type(y) is type(x) is np.ndarray
        and y.dtype is x.dtype
        and y.dtype.char in "fd"
        and y.size
        and y.dtype.type(a) != 0  # for it BLAS adds nothing, where a product with NaN or infinity is NaN
        and y.flags.carray
        and x.flags.c_contiguous
    )


def by_blas(y: Array, x: Array, a: float) -> None:
    """``y += a * x`` of what :func:`fits`."""
    _routine(y.dtype.char)(x.reshape(-1), y.reshape(-1), a=a)  # both are views, so that it is y which changes


@functools.cache
def _routine(char: str) -> Callable[..., Any]:
    """That of BLAS for single or double precision."""
    from scipy.linalg import blas  # here, since it takes long to import

    routine: Callable[..., Any] = blas.saxpy if char == "f" else blas.daxpy
    return routine


def add_scaled(y: Array, x: Array, a: Any) -> None:
    """``y += a * x``; by BLAS where they are large, since small programs need not import it."""
    if y.size <= BLOCK:
        y += a * x
    elif fits(y, x, a):
        by_blas(y, x, float(a))
    else:
        for y_, x_ in blocks(y, x):
            y_ += a * x_

"""Tensors of random numbers: NumPy's, so that a seed gives other numbers than in PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .creation import factory, leaf, shape_of
from .dtype import get_default_dtype
from .grad_mode import mode
from .overrides import overridable
from .tensor import Tensor

_generator = np.random.default_rng(0)


def manual_seed(seed: int) -> None:
    """Seed the engine's random numbers."""
    global _generator
    _generator = np.random.default_rng(int(seed))


def generator() -> np.random.Generator:
    """The generator behind everything here and the initialisation of modules; refused where nothing random may happen."""
    if mode.random_refused:
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness "
            "flags on vmap or perform the randomness operation out of vmap"
        )
    return _generator


def get_rng_state() -> Any:
    """The state of the generator, for :func:`set_rng_state` (a dict of NumPy's, not a tensor as in PyTorch)."""
    return _generator.bit_generator.state


def set_rng_state(state: Any) -> None:
    """Go on drawing from where the generator was when ``state`` was taken."""
    _generator.bit_generator.state = state


@contextmanager
def drawing_from(state: Any) -> Iterator[None]:
    """Draw from ``state`` on inside, and afterwards go on where the generator was; nothing for ``None``."""
    if state is None:
        yield
        return
    before = get_rng_state()
    set_rng_state(state)
    try:
        yield
    finally:
        set_rng_state(before)


@factory
def rand(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Uniform random numbers in [0, 1)."""
    numbers = generator().random(shape_of("rand", size))
    return leaf(np.asarray(numbers, dtype or get_default_dtype()), device, requires_grad)


@factory
def randn(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Standard normal random numbers."""
    numbers = generator().standard_normal(shape_of("randn", size))
    return leaf(np.asarray(numbers, dtype or get_default_dtype()), device, requires_grad)


@factory
def randint(low: int, high: Any, size: Any = None, *, dtype: Any = np.int64, device: Any = None) -> Tensor:
    """Random integers in [low, high), or below ``low`` when called as ``randint(high, size)``."""
    if size is None:
        low, high, size = 0, low, high
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    numbers = generator().integers(low, high, shape_of("randint", (size,)))
    return leaf(np.asarray(numbers, dtype), device, False)


@factory
def randperm(n: int, *, dtype: Any = np.int64, device: Any = None) -> Tensor:
    """A random order of 0 .. n - 1."""
    shape_of("randperm", (n,))
    return leaf(generator().permutation(n).astype(dtype), device, False)


@overridable
def rand_like(t: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Uniform random numbers in the shape and dtype of ``t``."""
    return rand(t.shape, dtype=dtype or t.dtype, requires_grad=requires_grad)


@overridable
def randn_like(t: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Standard normal numbers in the shape and dtype of ``t``."""
    return randn(t.shape, dtype=dtype or t.dtype, requires_grad=requires_grad)

"""Making tensors from data, from nothing, from random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .device import device as Device
from .dtype import get_default_dtype, is_differentiable
from .tensor import Tensor, wrap

_generator = np.random.default_rng(0)


def manual_seed(seed: int) -> None:
    """Seed the engine's random numbers (which are NumPy's, not PyTorch's)."""
    global _generator
    _generator = np.random.default_rng(seed)


def generator() -> np.random.Generator:
    """The generator behind :func:`rand`, :func:`randn` and module initialisation."""
    return _generator


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A new leaf holding a copy of ``data`` (numbers, nested lists, arrays); Python floats get the default dtype."""
    if isinstance(data, Tensor):
        array = np.array(data._a)
    else:
        array = np.array(_unwrapped(data))
        if array.dtype == object:
            raise ValueError(
                f"could not make a tensor of {data!r}: its rows differ in length or hold something else than numbers"
            )
        if dtype is None and array.dtype == np.float64 and not _is_array(data):
            array = array.astype(get_default_dtype())
    if dtype is not None:
        array = array.astype(dtype)
    return _leaf(array, device, requires_grad)


def _unwrapped(data: Any) -> Any:
    """Nested lists with tensors in them as numbers."""
    if isinstance(data, Tensor):
        return data._a
    return [_unwrapped(x) for x in data] if isinstance(data, list | tuple) else data


def _is_array(data: Any) -> bool:
    return isinstance(data, np.ndarray | np.generic)


def _leaf(array: Any, device: Any, requires_grad: bool) -> Tensor:
    if device is not None and Device(device).type != "cpu":
        raise RuntimeError(f"device {Device(device)} is not supported yet: only the CPU is")
    t = wrap(array)
    if requires_grad:
        if not is_differentiable(array.dtype):
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        t.requires_grad_()
    return t


def as_tensor(data: Any, dtype: Any = None) -> Tensor:
    """``data`` as a tensor, sharing the memory of arrays where possible."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    return wrap(np.asarray(data, dtype)) if _is_array(data) and data.ndim else tensor(data, dtype=dtype)


def from_numpy(array: Any) -> Tensor:
    """A tensor on the memory of ``array``: writes to one show in the other, without a version bump."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    return wrap(array)


def _shape(size: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int | np.integer) else size


def zeros(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of zeros."""
    return _leaf(np.zeros(_shape(size), dtype or get_default_dtype()), device, requires_grad)


def ones(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of ones."""
    return _leaf(np.ones(_shape(size), dtype or get_default_dtype()), device, requires_grad)


def empty(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor with unspecified content."""
    return _leaf(np.empty(_shape(size), dtype or get_default_dtype()), device, requires_grad)


def full(size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of one value."""
    return _leaf(np.full(size, fill_value, dtype or tensor(fill_value).dtype), device, requires_grad)


def arange(
    start: Any, end: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Numbers from ``start`` (0 when only one is given) to before ``end``."""
    if end is None:
        start, end = 0, start
    if dtype is None and any(isinstance(v, float) for v in (start, end, step)):
        dtype = get_default_dtype()
    return _leaf(np.arange(start, end, step, dtype=dtype), device, requires_grad)


def linspace(
    start: float, end: float, steps: int, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``steps`` evenly spaced numbers, both ends included."""
    return _leaf(np.linspace(start, end, steps, dtype=dtype or get_default_dtype()), device, requires_grad)


def eye(n: int, m: int | None = None, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A matrix with ones on the diagonal."""
    return _leaf(np.eye(n, m, dtype=dtype or get_default_dtype()), device, requires_grad)


def rand(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Uniform random numbers in [0, 1)."""
    return _leaf(_generator.random(_shape(size)).astype(dtype or get_default_dtype()), device, requires_grad)


def randn(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Standard normal random numbers."""
    return _leaf(_generator.standard_normal(_shape(size)).astype(dtype or get_default_dtype()), device, requires_grad)


def randint(low: int, high: int, size: Any, *, dtype: Any = np.int64, device: Any = None) -> Tensor:
    """Random integers in [low, high)."""
    return _leaf(_generator.integers(low, high, size).astype(dtype), device, False)


def randperm(n: int) -> Tensor:
    """A random order of 0 .. n - 1."""
    return wrap(_generator.permutation(n))


def zeros_like(t: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Zeros in the shape and dtype of ``t``."""
    return _leaf(np.zeros_like(t._a, dtype), None, requires_grad)


def ones_like(t: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones in the shape and dtype of ``t``."""
    return _leaf(np.ones_like(t._a, dtype), None, requires_grad)


def randn_like(t: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Standard normal numbers in the shape and dtype of ``t``."""
    return randn(*t.shape, dtype=dtype or t.dtype, requires_grad=requires_grad)

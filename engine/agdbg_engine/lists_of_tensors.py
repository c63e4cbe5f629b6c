"""Tensors made of nested lists that hold tensors: each of these stands for one number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .conversions import ONE_ELEMENT, real_of
from .dtype import get_default_dtype, promote_types
from .errors import class_name
from .scalars import check_data
from .tensor import Tensor


def holds_tensors(data: Any) -> bool:
    """Whether there is a tensor somewhere in nested lists."""
    return isinstance(data, list | tuple) and any(isinstance(x, Tensor) or holds_tensors(x) for x in data)


def of_numbers(data: Sequence[Any], dtype: np.dtype[Any] | None) -> Any:
    """The numbers in ``data`` as an array of ``dtype``, if there is none of what they promote to.

    The first elements tell the shape. Raises PyTorch's errors: a tensor must have one element (:class:`ValueError`), an integer one
    where integers or bools are wanted (:class:`TypeError`), and what is a list where the first is a tensor is no number.
    """
    sizes: list[int] = []
    level: Any = data
    while isinstance(level, list | tuple) or (isinstance(level, np.ndarray) and level.ndim):
        sizes.append(len(level))
        level = level[0]
    numbers = list(_at(data, sizes, 0))
    kind = np.dtype(dtype) if dtype is not None else _promoted(numbers)
    values = [_number(x, kind) for x in numbers]
    array = np.array(values, None if kind.kind in "iu" else kind).reshape(sizes)
    check_data(array, kind)
    return array.astype(kind)


def _at(data: Any, sizes: Sequence[int], dim: int) -> Iterator[Any]:
    """What stands in nested lists ``dim`` levels above the numbers."""
    if dim == len(sizes):
        yield data
        return
    if not hasattr(data, "__len__") or (isinstance(data, Tensor) and not data.ndim):
        raise TypeError("not a sequence")
    if len(data) != sizes[dim]:
        raise ValueError(f"expected sequence of length {sizes[dim]} at dim {dim} (got {len(data)})")
    for x in data:
        yield from _at(x, sizes, dim + 1)


def _promoted(numbers: Sequence[Any]) -> np.dtype[Any]:
    """The dtype that holds them all, as if each were a tensor with dimensions."""
    found = _kind(numbers[0])
    for x in numbers[1:]:
        found = promote_types(found, _kind(x))
    return found


def _kind(number: Any) -> np.dtype[Any]:
    if isinstance(number, Tensor | np.generic | np.ndarray):
        return np.dtype(number.dtype)
    if isinstance(number, bool):
        return np.dtype(np.bool_)
    if isinstance(number, int):
        return np.dtype(np.int64)
    if isinstance(number, float):
        return get_default_dtype()
    if isinstance(number, complex):
        return promote_types(get_default_dtype(), np.dtype(np.complex64))
    if isinstance(number, list | tuple) and number:
        return _promoted(number)
    if isinstance(number, str):
        raise TypeError("new(): invalid data type 'str'")
    raise RuntimeError(f"Could not infer dtype of {class_name(number)}")


def _number(value: Any, kind: np.dtype[Any]) -> Any:
    if isinstance(value, list | tuple):
        raise TypeError(f"must be real number, not {class_name(value)}")
    if not isinstance(value, Tensor):
        return value.item() if isinstance(value, np.generic | np.ndarray) else value
    if kind.kind in "iub":
        return value.__index__()
    if value._a.size != 1:
        raise ValueError(ONE_ELEMENT)
    value._warn_of_scalar()
    number = value._a.item()  # not value.item(): a sink is told once that the path ends here
    return real_of(number, "double") if kind.kind == "f" else number

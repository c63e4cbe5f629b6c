"""Samples made into batches: numbers and tensors are stacked, whatever containers they are in."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from ...creation import as_tensor, tensor
from ...dtype import float64
from ...foreign import hint
from ...tensor import Tensor

_WRONG = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


def default_convert(data: Any) -> Any:
    """NumPy arrays and numbers in ``data`` as tensors; what else there is stays."""
    if isinstance(data, np.ndarray | np.generic) and not isinstance(data, np.str_ | np.bytes_):
        return data if data.dtype.kind in "SUO" else as_tensor(np.asarray(data))
    if isinstance(data, Tensor | str | bytes):
        return data
    if isinstance(data, Mapping):
        return _filled(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple):
        parts = [default_convert(part) for part in data]
        named: Any = type(data)
        return named(*parts) if hasattr(data, "_fields") else parts
    if isinstance(data, Sequence):
        return _filled(data, [default_convert(part) for part in data])
    return data


def default_collate(batch: Any) -> Any:
    """The samples of ``batch`` as one: of the structure of the first, with tensors that have one more dimension."""
    return collate(batch, collate_fn_map=default_collate_fn_map)


def collate(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """As :func:`default_collate`, with functions of one's own for types: ``fn(batch, collate_fn_map=...)``."""
    first = batch[0]
    for kind, fn in (collate_fn_map or {}).items():
        if type(first) is kind:
            return fn(batch, collate_fn_map=collate_fn_map)
    for kind, fn in (collate_fn_map or {}).items():
        if isinstance(first, kind):
            return fn(batch, collate_fn_map=collate_fn_map)

    def together(samples: Any) -> Any:
        return collate(samples, collate_fn_map=collate_fn_map)

    if isinstance(first, Mapping):
        return _filled(first, {key: together([sample[key] for sample in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        named: Any = type(first)
        return named(*(together(samples) for samples in zip(*batch, strict=False)))
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        parts = [together(samples) for samples in zip(*batch, strict=True)]
        return parts if isinstance(first, tuple) else _filled(first, parts)
    raise TypeError(_WRONG.format(type(first)) + hint(first))


def _filled(like: Any, parts: Any) -> Any:
    """``parts`` in a container as ``like``, where one can be made; else as they are."""
    try:
        if isinstance(like, MutableMapping):
            made: Any = copy.copy(like)
            made.update(parts)
            return made
        if isinstance(like, MutableSequence):
            made = copy.copy(like)
            for i, part in enumerate(parts):
                made[i] = part
            return made
        return type(like)(parts)
    except TypeError:
        return parts


def _arrays(batch: Any, **_: Any) -> Any:
    if batch[0].dtype.kind in "SUO":
        raise TypeError(_WRONG.format(batch[0].dtype))
    return _tensors([as_tensor(array) for array in batch])


def _tensors(batch: Any, **_: Any) -> Any:
    from ...ops import FUNCTIONS

    return FUNCTIONS["stack"](list(batch), 0)


def _scalars(batch: Any, **_: Any) -> Any:
    return as_tensor(np.asarray(batch))


def _floats(batch: Any, **_: Any) -> Any:
    return tensor(list(batch), dtype=float64)


def _integers(batch: Any, **_: Any) -> Any:
    return tensor(list(batch))


def _as_is(batch: Any, **_: Any) -> Any:
    return batch


default_collate_fn_map: dict[Any, Callable[..., Any]] = {
    Tensor: _tensors,
    np.ndarray: _arrays,
    (np.bool_, np.number, np.object_): _scalars,
    float: _floats,
    int: _integers,
    str: _as_is,
    bytes: _as_is,
}
"""How a batch of each of these types is made one."""

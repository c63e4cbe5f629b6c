"""Whether what hooks keep, or give back, lies in the memory of the tensor that was saved, where others may have written to it."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from ..device import device
from ..tensor import Tensor
from . import strict

_PLAIN = (str, bytes, int, float, complex, np.dtype, np.generic, device, type(None))


class Memory:
    """The memory that an array lies in, remembered without being kept alive."""

    __slots__ = ("_array", "_bounds", "_kind", "_owner")

    def __init__(self, array: Any) -> None:
        mine = strict.owner(array)
        self._kind = type(array)
        try:
            self._owner: weakref.ref[Any] | None = weakref.ref(mine)
            self._array: weakref.ref[Any] | None = weakref.ref(array)
        except TypeError:
            self._owner = self._array = None
        on_host = isinstance(mine, np.ndarray)
        self._bounds = np.lib.array_utils.byte_bounds(mine) if on_host and not mine.flags.owndata else None

    def holds(self, array: Any) -> bool:
        """Whether ``array`` lies in it; ``True`` where that cannot be told."""
        if self._bounds is not None:  # somebody else's memory, which may outlive the array
            if not isinstance(array, np.ndarray):
                return False
            low, high = np.lib.array_utils.byte_bounds(array)
            return bool(low < self._bounds[1] and self._bounds[0] < high)
        if self._owner is None:
            return isinstance(array, self._kind)
        mine = self._owner()
        return mine is not None and _shares(array, mine)

    def copied_late(self, array: Any) -> bool:
        """Whether ``array`` may be a copy of what is in the memory now; ``True`` where that cannot be told."""
        if self._owner is None or self._array is None:
            return True
        if self._owner() is None and self._bounds is None:
            return False  # nobody can have copied it since
        mine = self._array()
        if not (isinstance(mine, np.ndarray) and isinstance(array, np.ndarray)):
            return True
        return mine.size == array.size and bool(np.array_equal(mine.ravel(), array.ravel(), mine.dtype.kind in "fc"))


def independent(value: Any, array: Any) -> bool:
    """Whether what a hook keeps can be seen to be a copy: it has arrays, none in the memory of ``array``, and nothing unknown."""
    parts = list(_parts(value))
    return any(map(_is_array, parts)) and all(
        not _shares(p, array) if _is_array(p) else isinstance(p, _PLAIN) for p in parts
    )


def shared(value: Any, array: Any) -> bool:
    """Whether what a hook keeps can be seen to lie in the memory of ``array``."""
    return any(_is_array(p) and _shares(p, array) for p in _parts(value))


def arrays_in(value: Any) -> Iterator[Any]:
    """The buffers in what a hook keeps: in nested containers, and in the attributes of an object that stands in one."""
    for part in _parts(value):
        if _is_array(part):
            yield part
        elif not isinstance(part, type | ModuleType) and not callable(part):
            within = getattr(part, "__dict__", {})
            yield from filter(_is_array, _parts(list(within.values())))


def _is_array(part: Any) -> bool:
    # Asked of its type: what the user's own objects answer, or raise, when they are asked is theirs.
    return hasattr(type(part), "dtype") and not isinstance(part, _PLAIN)


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for v in value:
            yield from _parts(v)
    elif type(value) is dict:
        for v in (*value.keys(), *value.values()):
            yield from _parts(v)
    else:
        yield value._a if isinstance(value, Tensor) else value


def _shares(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return bool(np.may_share_memory(a, b))
    return type(a) is type(b) and strict.owner(a) is strict.owner(b)

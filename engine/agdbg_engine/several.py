"""Several devices of one kind in one program: whatever is computed is computed where its operands are, as in PyTorch.

Array libraries compute on their current device and make arrays there. While a program uses one device that is the right one, and
nothing is asked. From the first use of another on (:func:`begin`, for good) ops that read an operand which is not on the current
device start again on that of their operands, or refuse operands of two; and :func:`~agdbg_engine.device.array_module` gives a
module whose functions make their arrays beside the one that it was asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar, cast

import numpy as np

from . import events
from .backends import Backend, backend_of

F = TypeVar("F", bound=Callable[..., Any])

active = False
"""Whether a second device has been used. Read it through the module: it changes."""

_NOWHERE = (np.ndarray, np.generic, int, float, complex, str, slice, type(None), np.dtype)
_HERE: AbstractContextManager[Any] = nullcontext()


class Elsewhere(Exception):
    """An op read an operand that is not on the current device; nothing has been computed yet."""


used: set[tuple[str, int]] = set()
"""Kind and number of the devices that the program has asked for."""


def note(kind: str, index: int) -> None:
    """Device ``index`` of a kind is about to be used."""
    used.add((kind, index))
    if index:
        begin()


def begin() -> None:
    """A device that is not the first of its kind is about to be used."""
    global active
    if active:
        return
    from .tensor import Tensor

    active = True
    events.keep_on(events.STREAMS)  # nodes run on the device of their forward op
    Tensor._in = property(_operand)  # type: ignore[attr-defined]  # the name under which ops read their inputs


def _operand(t: Any) -> Any:
    array = t._a
    if away(array):
        raise Elsewhere
    return array


def home(operands: Iterable[Any]) -> AbstractContextManager[Any]:
    """A context in which the device of the arrays among ``operands`` is the current one; PyTorch's error where they have two."""
    found: tuple[Backend, int] | None = None
    for array in _arrays(operands):
        backend = backend_of(array)
        place = backend, backend.index_of(array)
        if found is not None and place != found:
            from .ops.mixed_devices import mixed

            raise mixed(*(f"{b.kind}:{i}" for b, i in (found, place)))
        found = place
    return _HERE if found is None else at(*found)


def beside(gradients: Iterable[Any]) -> AbstractContextManager[Any]:
    """A context in which the device of incoming ``gradients`` is the current one: for a node that is called outside of a pass."""
    return home(gradients) if active else _HERE


def refuse_several(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """PyTorch's error where tensors among the arguments of ``function`` are on two devices."""
    from .device import device_of
    from .ops.mixed_devices import in_words_of, mixed

    found = dict.fromkeys(str(device_of(array)) for array in _buffers((*args, *kwargs.values())))
    if len(found) > 1:
        raise in_words_of(function, args, kwargs) or mixed(*found) from None


def _buffers(operands: Iterable[Any]) -> Iterator[Any]:
    """Those of tensors, on the host too; what is an array itself may be an index or a number of the caller."""
    for x in operands:
        if isinstance(x, tuple | list):
            yield from _buffers(x)
        elif hasattr(x, "_a"):
            yield x._a


def at(backend: Backend, index: int) -> AbstractContextManager[Any]:
    """A context in which device ``index`` is the current one."""
    return _HERE if index == backend.current() else backend.on(index)


def away(array: Any) -> bool:
    """Whether ``array`` is on a device that is not the current one."""
    if isinstance(array, np.ndarray):
        return False
    backend = backend_of(array)
    return backend.index_of(array) != backend.current()


def _arrays(operands: Iterable[Any]) -> Iterator[Any]:
    for x in operands:
        if isinstance(x, tuple | list):
            yield from _arrays(x)
        elif not isinstance(x, _NOWHERE):
            x = getattr(x, "_a", x)
            if hasattr(x, "strides") and not isinstance(x, np.ndarray):
                yield x


class ModuleAt:
    """An array module, or a part of one, whose functions compute and make arrays on one device."""

    def __init__(self, part: Any, backend: Backend, index: int) -> None:
        self._part, self._backend, self._index = part, backend, index

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._part, name)
        plain = isinstance(found, type | int | float | str | np.dtype)
        return found if plain else ModuleAt(found, self._backend, self._index)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Of a function: its result."""
        with at(self._backend, self._index):
            return self._part(*args, **kwargs)

    def __getitem__(self, key: Any) -> Any:  # ``ogrid``
        with at(self._backend, self._index):
            return self._part[key]


def module_at_home(module: Any, array: Any) -> Any:
    """``module``, the one of ``array``, with its functions where ``array`` is."""
    backend = backend_of(array)
    index = backend.index_of(array)
    return module if index == backend.current() else ModuleAt(module, backend, index)


def at_home(function: F) -> F:
    """Let ``function`` run on the device of its arguments that are arrays or tensors (or lists of them)."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            if not active:
                return function(*args, **kwargs)
            operands = (*args, *kwargs.values())
            if _apart(operands):
                refuse_several(function, args, kwargs)
            with home(operands):
                return function(*args, **kwargs)
        except TypeError:  # what array libraries say of another's arrays
            refuse_several(function, args, kwargs)
            raise

    return cast(F, call)


def _apart(operands: Iterable[Any]) -> bool:
    """Whether the arrays among ``operands`` that are on devices are on two."""
    places = {(b.kind, b.index_of(array)) for array, b in ((a, backend_of(a)) for a in _arrays(operands))}
    return len(places) > 1


@at_home
def copied(array: Any) -> Any:
    """A copy of ``array`` beside it: its own ``copy()`` would lie on the current device."""
    return array.copy()


def plus(a: Any, b: Any) -> Any:
    """``a + b`` of arrays on a device."""
    if not active:
        return a + b
    with home((a, b)):
        return a + b

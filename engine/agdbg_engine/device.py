"""Devices and the array module behind a buffer: NumPy on the CPU, CuPy on the GPU.

Ops never name an array library. NumPy's own dispatch (``__array_ufunc__``, ``__array_function__``) carries
ufuncs to the library of their inputs; where an array is made from nothing, :func:`array_module` says by whom.
"""

from __future__ import annotations

import re
import sys
import threading
from contextlib import nullcontext
from typing import Any

import numpy as np

from . import cuda, several
from .backends import BACKENDS, Backend, backend_of, on_host


class device:
    """A device as ``type`` and ``index``: of a name (``device("cuda:1")``), of both, or of the number of a GPU.

    As a context (``with device("cuda"):``) it is where factories make tensors that are not told where.
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, type: Any = None, index: int | None = None, **named: Any) -> None:
        """``device`` is another name for ``type`` where there is no ``index``. Errors are PyTorch's."""
        if named or (type is None and index is not None):
            type = _named(type, index, named)
        if isinstance(type, device) and index is None:
            _set_type(self, type.type)
            _set_index(self, type.index)
            return
        if index is not None:
            _check_index(type, index)
        if isinstance(type, int) and not isinstance(type, bool) and type >= 0 and cuda.is_available():
            index, type = type, "cuda"
        if not isinstance(type, str):
            raise _no_device(type)
        kind, number = _parts(type)
        if number is not None and index is not None:
            raise RuntimeError(f"type (string) must not include an index because index was passed explicitly: {type}")
        _set_type(self, kind)
        _set_index(self, index if number is None else number)

    def __setattr__(self, name: str, value: object) -> None:
        if name in ("type", "index"):  # else it could not be a key
            raise AttributeError(f"attribute '{name}' of 'torch.device' objects is not writable")
        raise AttributeError(f"'torch.device' object has no attribute '{name}'")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        tail = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{tail})"

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (self.type, self.index)

    def __enter__(self) -> device:
        _defaults.stack = (*_defaults.stack, self)
        return self

    def __exit__(self, *_: object) -> None:
        _defaults.stack = _defaults.stack[:-1]


_set_type, _set_index = vars(device)["type"].__set__, vars(device)["index"].__set__


def _named(type: Any, index: Any, named: dict[str, Any]) -> Any:
    """What ``device=`` names; an error where there is anything beside it."""
    if set(named) == {"device"} and type is None and index is None:
        return named["device"]
    given = {"type": type, "index": index, **named}
    kinds = ", ".join(f"{n}={v.__class__.__name__}" for n, v in given.items() if v is not None)
    tail = ", " if "=" in kinds and "," not in kinds else ""
    raise TypeError(
        f"device() received an invalid combination of arguments - got ({kinds}{tail}), but expected one of:"
    )


def _parts(name: str) -> tuple[str, int | None]:
    """The kind of device and the number that a name has."""
    found = re.fullmatch(r"([a-zA-Z_]+)(?::(0|[1-9]\d*))?", name)
    if found is None:
        from .missing import with_reason

        raise RuntimeError(
            with_reason(f"Invalid device string: '{name}'", name) if name else "Device string must not be empty"
        )
    kind, number = found.groups()
    if kind != "cpu" and kind not in BACKENDS:
        known = ", ".join(("cpu", *BACKENDS))
        raise RuntimeError(f"Expected one of {known} device type at start of device string: {name}")
    return kind, None if number is None else int(number)


def _check_index(kind: Any, index: Any) -> None:
    for name, position, value, wanted in (("type", 1, kind, str), ("index", 2, index, int)):
        if not isinstance(value, wanted) or isinstance(value, bool):
            given = f"torch.{type(value).__name__}" if isinstance(value, device) else type(value).__name__
            raise TypeError(f"device(): argument '{name}' (position {position}) must be {wanted.__name__}, not {given}")
    if index < 0:
        raise RuntimeError("Device index must not be negative")


def _no_device(spec: Any) -> Exception:
    if type(spec).__name__ == "device":
        return TypeError(
            f"device(): {spec!r} is the device of another library, {type(spec).__module__}: give its name, '{spec}'"
        )
    if isinstance(spec, int) and not isinstance(spec, bool):
        if spec < 0:
            return RuntimeError("Device index must not be negative")
        return RuntimeError("Cannot access accelerator device when none is available.")
    return TypeError(
        f"device() received an invalid combination of arguments - got ({type(spec).__name__}), but expected one of:"
    )


CPU = device("cpu")


class _Defaults(threading.local):
    stack: tuple[device, ...] = ()


_defaults = _Defaults()
"""The devices of the ``with device(...)`` blocks that this thread is in."""


# ----- buffers -----


def array_module(array: Any) -> Any:
    """The module that made ``array``: ``numpy``, or the one its type was defined in (``cupy``). It makes things there."""
    if isinstance(array, (np.ndarray, np.generic)):
        return np
    module = sys.modules[type(array).__module__.partition(".")[0]]
    return several.module_at_home(module, array) if several.active else module


def owner(array: Any) -> Any:
    """The buffer that owns the memory which ``array`` is a part of."""
    while isinstance(array.base, type(array)):
        array = array.base
    return array


def address(array: Any) -> int:
    """Where the first element of ``array`` lies in the memory of its device, in bytes."""
    return int(array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr)


def device_of(array: Any) -> device:
    """The device that holds ``array``."""
    if isinstance(array, (np.ndarray, np.generic)):
        return CPU
    backend = backend_of(array)
    index = backend.index_of(array)
    if index:
        several.note(backend.kind, index)
    return device(backend.kind, index)


def same_place(a: Any, b: Any) -> bool:
    """Whether two buffers are on one device."""
    return type(a) is type(b) and (not several.active or on_host(a) or device_of(a) == device_of(b))


def asked(given: Any) -> Any:
    """The device that is given, or that of the ``with`` block; ``None`` for none, where what has one stays there."""
    return _defaults.stack[-1] if given is None and _defaults.stack else given


def resolved(given: Any) -> device:
    """The device that a factory's ``device=`` means, with its number; without one that of the ``with`` block, else the CPU.

    :class:`RuntimeError` where it cannot be used.
    """
    if given is None:
        if not _defaults.stack:
            return CPU
        given = _defaults.stack[-1]
    found = device(given)
    if found.type == "cpu":
        return CPU
    backend = _usable(found)
    if found.index is None:
        found = device(found.type, backend.current())
    assert found.index is not None
    several.note(found.type, found.index)
    return found


def _usable(found: device) -> Backend:
    backend = BACKENDS[found.type]
    _ = backend.module  # says what is missing
    if found.index is not None and found.index >= backend.count():
        raise RuntimeError(f"{found.type} error: invalid device ordinal: {found} of {backend.count()} device(s)")
    return backend


def moved(array: Any, target: device, blocking: bool = True) -> Any:
    """A copy of ``array`` on ``target`` (of :func:`resolved`), its dimensions in the same order; ``array`` itself when it is there.

    Unless ``blocking`` it may not be complete yet, for what the device does not do itself.
    """
    source = device_of(array)
    if source == target:
        return array
    if not array.flags.c_contiguous:  # CuPy's copies would lie in C's order
        from .layout import as_they_lie

        axes, back = as_they_lie(array)
        return _sent(array.transpose(axes), source, target, blocking).transpose(back)
    return _sent(array, source, target, blocking)


def _sent(array: Any, source: device, target: device, blocking: bool) -> Any:
    if target.type == "cpu":
        backend = backend_of(array)
        there = backend.to_host(array, blocking)
        if not blocking:
            keep_until_copied(backend, source.index or 0, there)
        return there
    from . import streams

    assert target.index is not None
    backend = BACKENDS[target.type]
    if source.type not in ("cpu", target.type):
        array = backend_of(array).to_host(array)
    if source.type != target.type or source.index == target.index:
        there = backend.to_device(array, target.index, blocking)
        if not blocking:
            keep_until_copied(backend, target.index, array)
        return there
    with streams.across(BACKENDS[target.type], source.index or 0, target.index):
        return BACKENDS[target.type].to_device(array, target.index)


def keep_until_copied(backend: Backend, index: int, array: Any) -> None:
    """Pinned memory of ``array`` is given to nobody else before what the current stream of a device was asked for is done."""
    if backend.pins and backend.is_pinned(array):
        from . import stream_memory, streams

        stream_memory.hold(streams.current(backend, index), array)


def may_arrive_later(target: Any, array: Any) -> bool:
    """Whether what lies on a device as ``array`` can be copied into ``target`` on the host without waiting: it is pinned then."""
    if on_host(array) or not on_host(target) or not (target.flags.c_contiguous or target.flags.f_contiguous):
        return False
    backend = backend_of(array)
    return backend.pins and backend.is_pinned(target)


def arrive_later(target: Any, array: Any) -> None:
    """Begin to copy ``array`` of a device into ``target``: pinned memory in its shape and dtype, kept until that is done."""
    backend = backend_of(array)
    backend.fetch(target, array)
    keep_until_copied(backend, backend.index_of(array), target)


def beside(array: Any, like: Any) -> Any:
    """An array of NumPy's, copied to the device of ``like`` where that is another."""
    return array if isinstance(like, (np.ndarray, np.generic)) else moved(array, device_of(like))


def _pinning() -> Backend | None:
    return next((backend for backend in BACKENDS.values() if backend.pins and backend.is_usable()), None)


def may_pin() -> bool:
    """Whether there is a device that pinned memory is of use for."""
    return _pinning() is not None


def pinning() -> Backend:
    """The backend that memory is pinned for; :class:`RuntimeError` where none is usable, as in PyTorch."""
    found = _pinning()
    if found is None:
        raise RuntimeError("Cannot access accelerator device when none is available.")
    return found


def on(target: device) -> Any:
    """A context in which the array module of ``target`` makes its arrays there."""
    if target.type == "cpu":
        return nullcontext()
    return BACKENDS[target.type].on(target.index or 0)


def zeros_on(target: device, shape: tuple[int, ...], dtype: Any) -> Any:
    """Zeros on ``target``."""
    with on(target):
        return module_of(target).zeros(shape, dtype)


def module_of(target: device) -> Any:
    """The array module of ``target``."""
    return np if target.type == "cpu" else BACKENDS[target.type].module

"""Kinds of devices other than the CPU: which array library keeps their memory, and how arrays come there and back.

``cuda`` is CuPy, imported when first used. Tests (or anybody) may :func:`register` more kinds.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np


class Backend:
    """An array library with NumPy's functions whose memory is no host memory; one device of it unless told otherwise."""

    def __init__(self, kind: str, module: str, scipy: Callable[[str], Any]) -> None:
        """``module`` is imported at first use; ``scipy(part)`` gives what stands for ``scipy.<part>``."""
        self.kind = kind
        self.name = module
        self.scipy = scipy

    @property
    def module(self) -> Any:
        """The array library; an error that says what is missing where it cannot be used."""
        return sys.modules.get(self.name) or importlib.import_module(self.name)

    def count(self) -> int:
        """How many devices there are."""
        return 1

    def current(self) -> int:
        """The number of the device that is meant where no number is given."""
        return 0

    def index_of(self, array: Any) -> int:
        """The number of the device that holds ``array``."""
        return int(array.device.id)

    def on(self, index: int) -> Any:
        """A context in which new arrays are made on device ``index``."""
        return contextlib.nullcontext()

    def to_device(self, array: Any, index: int) -> Any:
        """A copy of an array of NumPy or of this library on device ``index``."""
        with self.on(index):
            return self.module.array(array)

    def to_host(self, array: Any) -> Any:
        """A copy of ``array`` as NumPy's: waits for what computes it."""
        return array.get()

    def synchronize(self, index: int | None = None) -> None:
        """Wait until the device has done all that it was asked for."""


BACKENDS: dict[str, Backend] = {}
"""By kind of device, those that are registered."""


def register(backend: Backend) -> None:
    """Make ``backend.kind`` a kind of device: ``device("kind:0")``, ``x.to("kind")``, ``zeros(2, device="kind")``."""
    BACKENDS[backend.kind] = backend


def backend_of(array: Any) -> Backend:
    """The backend whose library made ``array``; :class:`TypeError` when there is none."""
    name = type(array).__module__.partition(".")[0]
    for backend in BACKENDS.values():
        if backend.name == name:
            return backend
    raise TypeError(f"no device is known for arrays of type {type(array).__module__}.{type(array).__name__}")


def on_host(array: Any) -> bool:
    """Whether the values of ``array`` can be read without waiting for a device."""
    return isinstance(array, np.ndarray | np.generic)


def scipy_for(array: Any, part: str) -> Any:
    """``scipy.<part>`` (``special``, ``linalg``, ``ndimage``) for arrays like ``array``."""
    return importlib.import_module(f"scipy.{part}") if on_host(array) else backend_of(array).scipy(part)

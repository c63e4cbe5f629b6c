"""Kinds of devices other than the CPU: which array library keeps their memory, and how arrays come there and back.

``cuda`` is CuPy, imported when first used. Tests (or anybody) may :func:`register` more kinds.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .summaries import WORDS, Found, Spread, read, read_spread

if TYPE_CHECKING:
    from .fused import Fused
    from .rowwise import Layout, Rowwise


class MemoryUse(NamedTuple):
    """Bytes on one device."""

    allocated: int
    """In arrays that are alive."""
    reserved: int
    """Taken from the device: the former and what is kept for later."""
    free: int
    """Left on the device, whoever has the rest."""
    total: int


class Properties(NamedTuple):
    """What one device is."""

    name: str
    """What its maker calls it."""
    major: int
    minor: int
    """What it can do, as a version: its compute capability."""
    total_memory: int
    """In bytes."""
    multi_processor_count: int


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

    def is_usable(self) -> bool:
        """Whether the array library and a device for it are there."""
        try:
            return self.module is not None
        except RuntimeError:
            return False

    def is_loaded(self) -> bool:
        """Whether the array library is in use: nothing can be on its devices before."""
        return self.name in sys.modules

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

    def use(self, index: int) -> None:
        """Make device ``index`` the one that is meant where no number is given, in this thread."""

    def to_device(self, array: Any, index: int, blocking: bool = True) -> Any:
        """A copy of an array of NumPy or of this library on device ``index``, row by row.

        Unless ``blocking``, pinned memory may be read later.
        """
        with self.on(index):
            return self.module.array(array, order="C", blocking=blocking)

    def to_host(self, array: Any, blocking: bool = True) -> Any:
        """A copy of ``array`` as NumPy's: waits for what computes it, unless ``blocking`` is false: then into pinned memory."""
        return array.get()

    def fetch(self, target: Any, array: Any) -> None:
        """Begin to copy ``array`` into ``target``, contiguous pinned memory in its shape and dtype; nobody waits for it."""
        target[...] = self.to_host(array)

    def name_of(self, index: int) -> str:
        """What device ``index`` is called by its maker."""
        return self.kind

    def properties_of(self, index: int) -> Properties:
        """What device ``index`` is."""
        raise NotImplementedError(f"device {self.kind} does not tell what it is")

    def can_access(self, index: int, other: int) -> bool:
        """Whether device ``index`` can read the memory of ``other`` by itself."""
        return False

    def synchronize(self, index: int | None = None) -> None:
        """Wait until the device has done all that it was asked for."""

    # ----- kernels and random numbers -----

    def elementwise(self, formula: Fused) -> Callable[..., Any] | None:
        """A function that computes ``formula`` in one kernel; ``None`` where there are no kernels."""
        return None

    def rowwise(self, formula: Rowwise, place: Layout, arrays: tuple[Any, ...], by_row: tuple[Any, ...]) -> Any:
        """``formula`` of ``arrays`` in one kernel; ``None`` where there are no kernels."""
        return None

    def ask(self, array: Any) -> Any:
        """Begin to find what the elements of ``array`` are, in one kernel: words on its device, for :meth:`answers`.

        ``None`` where there are no kernels.
        """
        return None

    def answers(self, words: Sequence[Any]) -> list[Found]:
        """What was asked for, in order: one copy to the host from each device, which waits for it."""
        found: dict[int, Found] = {}
        for index in sorted({self.index_of(each) for each in words}):
            places = [i for i, each in enumerate(words) if self.index_of(each) == index]
            self.synchronize(index)  # kernels may have run on any stream
            with self.on(index):
                fetched = self.to_host(self.module.concatenate([words[i] for i in places]))
            found.update(zip(places, map(read, fetched.reshape(-1, WORDS)), strict=True))
        return [found[i] for i in range(len(words))]

    def summary(self, array: Any) -> Found | None:
        """What the elements of ``array`` are, in one kernel and one copy to the host; ``None`` where there are no kernels."""
        words = self.ask(array)
        return None if words is None else self.answers([words])[0]

    def ask_spread(self, array: Any, mean: float, edges: Any) -> Any:
        """Begin to find how the finite elements of ``array`` lie about ``mean`` and between ``edges``, in one kernel: words there.

        ``edges`` is an array of NumPy that begins with their smallest and ends with their largest, in equal steps. It may be empty.
        """
        raise NotImplementedError(f"device {self.kind} has no kernels")

    def spread(self, array: Any, mean: float, edges: Any) -> Spread:
        """What :meth:`ask_spread` finds, in one copy to the host; for arrays that :meth:`ask` has words for."""
        with self.on(self.index_of(array)):
            return read_spread(self.to_host(self.ask_spread(array, mean, edges)))

    def linalg_errors(self) -> Any:
        """A context in which its linear algebra waits for what the routines say, and raises NumPy's ``LinAlgError`` if they failed.

        Otherwise what comes of a singular matrix is anything.
        """
        return contextlib.nullcontext()

    draws = False
    """Whether random numbers are drawn on its devices; else on the host, and copied."""

    # ----- memory -----

    def memory(self, index: int) -> MemoryUse:
        """What is in use on device ``index`` now."""
        raise NotImplementedError(f"device {self.kind} does not tell how much memory is in use")

    def free_cached(self) -> None:
        """Give back what is kept for later."""

    pins = False
    """Whether it has a use for pinned memory."""

    def pinned(self, array: Any) -> Any:
        """A copy of an array of NumPy in memory that the device can read by itself."""
        raise RuntimeError(f"device {self.kind} has no use for pinned memory")

    def is_pinned(self, array: Any) -> bool:
        """Whether an array of NumPy lies in such memory."""
        return False


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


def is_array(value: Any) -> bool:
    """Whether ``value`` is an array of NumPy or of a device, told by its type alone: nothing that belongs to the user is asked."""
    kind = type(value)
    if issubclass(kind, np.ndarray):
        return True
    home = kind.__module__.partition(".")[0]
    return (
        hasattr(kind, "strides") and not issubclass(kind, np.generic) and any(b.name == home for b in BACKENDS.values())
    )


def on_device(array: Any) -> bool:
    """Whether ``array`` is one of a library whose devices are known."""
    name = type(array).__module__.partition(".")[0]
    return hasattr(array, "strides") and any(backend.name == name for backend in BACKENDS.values())


def on_host(array: Any) -> bool:
    """Whether the values of ``array`` can be read without waiting for a device."""
    return isinstance(array, np.ndarray | np.generic)


def scipy_for(array: Any, part: str) -> Any:
    """``scipy.<part>`` (``special``, ``linalg``, ``ndimage``) for arrays like ``array``."""
    return importlib.import_module(f"scipy.{part}") if on_host(array) else backend_of(array).scipy(part)

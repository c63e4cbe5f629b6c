"""``accelerator``: GPUs by PyTorch's names that name no kind; the one kind is ``cuda``."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from . import cuda
from .device import device
from .missing import lookup

if TYPE_CHECKING:
    from .streams import Stream

__all__ = [
    "current_accelerator", "current_device_index", "current_stream", "device_count", "device_index", "empty_cache", "is_available",
    "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats", "reset_peak_memory_stats",
    "set_device_index", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """Whether there is a GPU that can be used."""
    return cuda.is_available()


def device_count() -> int:
    """How many there are."""
    return cuda.device_count()


def current_accelerator(check_available: bool = False) -> device | None:
    """The kind of device, without a number; ``None`` without one."""
    return device("cuda") if is_available() else None


def _there() -> Any:
    if not is_available():
        raise RuntimeError("Cannot access accelerator device when none is available.")
    return cuda


def current_device_index() -> int:
    """The number of the device that is meant where no number is given."""
    return int(_there().current_device())


def set_device_index(device: Any) -> None:
    """Make ``device`` the current one of this thread."""
    _there().set_device(device)


def device_index(device: int | None) -> AbstractContextManager[Any]:
    """A context in which ``device`` is the current one."""
    found: AbstractContextManager[Any] = _there().device(device)
    return found


def synchronize(device: Any = None) -> None:
    """Wait until the device has done all that it was asked for."""
    _there().synchronize(device)


def current_stream(device: Any = None) -> Stream:
    """The stream that this thread's work on the device goes to."""
    found: Stream = _there().current_stream(device)
    return found


def empty_cache() -> None:
    """Give back to the device what is kept for later."""
    _there().empty_cache()


memory_allocated, memory_reserved, memory_stats = cuda.memory_allocated, cuda.memory_reserved, cuda.memory_stats
max_memory_allocated, max_memory_reserved = cuda.max_memory_allocated, cuda.max_memory_reserved
reset_peak_memory_stats = cuda.reset_peak_memory_stats

__getattr__ = lookup(__name__, dict.fromkeys(__all__))

"""GPUs by way of CuPy, as far as PyTorch's ``cuda`` module asks for them; CuPy is imported when the first device is used."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from .backend import BACKEND
from .memory import Memory, OutOfMemoryError

if TYPE_CHECKING:
    from .. import streams
    from ..random import Generator
    from ..tensor import Tensor

__all__ = [
    "Event", "OutOfMemoryError", "Stream", "current_device", "current_stream", "default_stream", "device_count",
    "empty_cache", "get_rng_state", "is_available", "is_initialized", "manual_seed", "manual_seed_all",
    "max_memory_allocated", "max_memory_reserved", "mem_get_info", "memory_allocated", "memory_reserved", "memory_stats",
    "memory_summary", "reset_peak_memory_stats", "set_rng_state", "stream", "synchronize",
]  # fmt: skip

# ----- devices -----


def is_available() -> bool:
    """Whether there is CuPy and a GPU that it can use."""
    return BACKEND.is_usable()


def is_initialized() -> bool:
    """Whether a GPU has been used."""
    return BACKEND.is_loaded()


def device_count() -> int:
    """How many GPUs there are; 0 without CuPy."""
    return BACKEND.count() if is_available() else 0


def current_device() -> int:
    """The number of the GPU that ``"cuda"`` without a number means."""
    return BACKEND.current()


def synchronize(device: Any = None) -> None:
    """Wait until the GPU has done all that it was asked for."""
    from ..device import device as Device

    BACKEND.synchronize(device if device is None or isinstance(device, int) else Device(device).index)


# ----- streams -----


def Stream(device: Any = None, priority: int = 0, **_: Any) -> streams.Stream:
    """A new queue of work beside the default one."""
    from .. import streams

    return streams.Stream(BACKEND, priority=priority)


def Event(enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> streams.Event:
    """A place in a stream, to wait for or to measure time between two of them."""
    from .. import streams

    return streams.Event(BACKEND, enable_timing, blocking)


def stream(stream: streams.Stream | None) -> AbstractContextManager[Any]:
    """A context in which this thread's work goes to ``stream``; nothing changes for ``None``."""
    return nullcontext() if stream is None else stream


def current_stream(device: Any = None) -> streams.Stream:
    """The stream that this thread's work goes to."""
    from .. import streams

    return streams.current(BACKEND)


def default_stream(device: Any = None) -> streams.Stream:
    """The stream that is current where nobody has chosen another."""
    from .. import streams

    return streams.default(BACKEND)


# ----- random numbers -----


def manual_seed(seed: int) -> None:
    """Seed the generator of the current GPU; nothing without one."""
    if is_available():
        _generator(None).manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all GPUs; nothing without one."""
    for index in range(device_count()):
        _generator(index).manual_seed(int(seed))


def get_rng_state(device: Any = "cuda") -> Tensor:
    """The state of a GPU's random numbers, for :func:`set_rng_state`."""
    return _generator(device).get_state()


def set_rng_state(new_state: Tensor, device: Any = "cuda") -> None:
    """Go on drawing from where a GPU's generator was when ``new_state`` was taken."""
    _generator(device).set_state(new_state)


def _generator(device: Any) -> Generator:
    from ..device import resolved
    from ..random import default_for

    return default_for(resolved("cuda" if device is None else f"cuda:{device}" if isinstance(device, int) else device))


# ----- memory -----

_memory = Memory(BACKEND, BACKEND.peaks)
memory_allocated, memory_reserved = _memory.memory_allocated, _memory.memory_reserved
max_memory_allocated, max_memory_reserved = _memory.max_memory_allocated, _memory.max_memory_reserved
reset_peak_memory_stats, mem_get_info = _memory.reset_peak_memory_stats, _memory.mem_get_info
memory_stats, memory_summary, empty_cache = _memory.memory_stats, _memory.memory_summary, _memory.empty_cache

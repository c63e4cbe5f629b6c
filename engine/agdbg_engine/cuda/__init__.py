"""GPUs by way of CuPy, as far as PyTorch's ``cuda`` module asks for them; CuPy is imported when the first device is used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..missing import public_names
from . import amp as amp
from . import nvtx as nvtx
from .backend import BACKEND
from .devices import Devices
from .memory import Memory, OutOfMemoryError
from .stream_types import StreamContext as StreamContext

if TYPE_CHECKING:
    from ..random import Generator
    from ..tensor import Tensor

__all__ = [
    "Event",
    "ExternalStream",
    "OutOfMemoryError",
    "Stream",
    "StreamContext",
    "can_device_access_peer",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "init",
    "initial_seed",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "is_tf32_supported",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "synchronize",
]  # fmt: skip

__getattr__ = public_names(__name__)

# ----- devices -----


def is_available() -> bool:
    """Whether there is CuPy and a GPU that it can use."""
    return BACKEND.is_usable()


def is_initialized() -> bool:
    """Whether a GPU has been used."""
    return BACKEND.is_loaded()


def init() -> None:
    """Make ready for use what the first use of a GPU would; :class:`RuntimeError` without one."""
    _ = BACKEND.module


def device_count() -> int:
    """How many GPUs there are; 0 without CuPy."""
    return BACKEND.count() if is_available() else 0


_devices = Devices(BACKEND)
current_device, set_device, synchronize = _devices.current_device, _devices.set_device, _devices.synchronize
device, device_of = _devices.device, _devices.device_of
get_device_name = _devices.get_device_name
get_device_properties, get_device_capability = _devices.get_device_properties, _devices.get_device_capability
Stream, ExternalStream, Event = _devices.Stream, _devices.ExternalStream, _devices.Event
stream, set_stream, can_device_access_peer = _devices.stream, _devices.set_stream, _devices.can_device_access_peer
current_stream, default_stream = _devices.current_stream, _devices.default_stream


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Never, since there is no such dtype here."""
    return False


def is_tf32_supported() -> bool:
    """Never: products of float32 are computed in float32."""
    return False


def is_current_stream_capturing() -> bool:
    """Never, since no graphs of CUDA calls are captured here."""
    return False


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


def get_rng_state_all() -> list[Tensor]:
    """The states of all GPUs, for :func:`set_rng_state_all`; none without one."""
    return [get_rng_state(index) for index in range(device_count())]


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """:func:`set_rng_state` for every GPU in turn."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


def seed() -> None:
    """Seed the generator of the current GPU with a number that nobody has chosen; nothing without one."""
    if is_available():
        _generator(None).seed()


def seed_all() -> None:
    """Seed the generators of all GPUs with one number that nobody has chosen; nothing without one."""
    if is_available():
        manual_seed_all(_generator(None).seed())


def initial_seed() -> int:
    """What the generator of the current GPU was seeded with."""
    return _generator(None).initial_seed()


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
memory_stats_as_nested_dict = _memory.memory_stats_as_nested_dict
memory_cached, max_memory_cached = _memory.memory_cached, _memory.max_memory_cached
reset_max_memory_allocated, reset_max_memory_cached = (
    _memory.reset_max_memory_allocated,
    _memory.reset_max_memory_cached,
)


def ipc_collect() -> None:
    """Nothing: no memory of a GPU is shared between processes here."""

"""How much memory a device has in use, by PyTorch's names; and the error when there is none left."""

from __future__ import annotations

import warnings
from typing import Any

from .. import errors
from ..backends import Backend, MemoryUse
from ..sites import user_stacklevel
from .devices import Devices

_LOOK = 1 << 20
"""Every allocation of so many bytes is looked at for the peak, and of smaller ones every :data:`_SMALL`-th."""
_SMALL = 64


class OutOfMemoryError(RuntimeError):
    """A device has not as much memory as was asked for."""


class Peaks:
    """The most that was in use on each device of a backend, since the program began or :meth:`reset`.

    Asking the pool takes time, so that small allocations are only sampled: a peak may be too low by what those hold,
    but not below a figure that was given to somebody.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._most: dict[int, tuple[int, int]] = {}
        self._small = 0

    def see(self, index: int, nbytes: int) -> None:
        """``nbytes`` have been allocated on device ``index``."""
        self._small += 1
        if nbytes >= _LOOK or self._small >= _SMALL:
            self.look(index)

    def use(self, index: int) -> MemoryUse:
        """What is in use now, which no peak that is asked for later falls short of."""
        self._small = 0
        now = self._backend.memory(index)
        most = self._most.get(index, (0, 0))
        self._most[index] = max(most[0], now.allocated), max(most[1], now.reserved)
        return now

    def look(self, index: int) -> tuple[int, int]:
        """The most so far, allocated and reserved, with what is in use now."""
        self.use(index)
        return self._most[index]

    def reset(self, index: int) -> None:
        """Begin anew with what is in use now."""
        self._most.pop(index, None)
        self.look(index)


def out_of_memory(backend: Backend, index: int, wanted: int) -> Exception:
    """The error of an allocation of ``wanted`` bytes that failed: PyTorch's, then what graphs hold on the device."""
    from ..held import report, size_text

    use = backend.memory(index)
    name = "CUDA" if backend.kind == "cuda" else backend.kind
    return errors.make(
        OutOfMemoryError,
        errors.Details("out-of-memory"),
        f"{name} out of memory. Tried to allocate {size_text(wanted)}. GPU {index} has a total capacity of {size_text(use.total)} "
        f"of which {size_text(use.free)} is free. Of the allocated memory {size_text(use.allocated)} is allocated by this "
        f"process, and {size_text(use.reserved - use.allocated)} is reserved but unallocated.",
        *report(f"{backend.kind}:{index}"),
    )


def _renamed(old: str, new: str) -> None:
    warnings.warn(
        f"`torch.cuda.{old}` has been renamed to `torch.cuda.{new}`", FutureWarning, stacklevel=user_stacklevel()
    )


def _resets(name: str) -> None:
    warnings.warn(
        f"torch.cuda.{name} now calls torch.cuda.reset_peak_memory_stats, which resets /all/ peak memory stats.",
        FutureWarning,
        stacklevel=user_stacklevel(),
    )


class Memory:
    """PyTorch's functions about the memory of the devices of one backend; ``device`` is the current one unless given."""

    def __init__(self, backend: Backend, peaks: Peaks) -> None:
        self._backend = backend
        self._peaks = peaks
        self._index = Devices(backend).index

    def _use(self, device: Any) -> MemoryUse:
        return self._peaks.use(self._index(device))

    def memory_allocated(self, device: Any = None) -> int:
        """Bytes in tensors that are alive; as the next three 0 where no device was ever used."""
        return self._use(device).allocated if self._backend.is_loaded() else 0

    def memory_reserved(self, device: Any = None) -> int:
        """Bytes taken from the device: those of tensors, and what is kept for later ones."""
        return self._use(device).reserved if self._backend.is_loaded() else 0

    def max_memory_allocated(self, device: Any = None) -> int:
        """The most bytes in tensors so far; see :class:`Peaks`."""
        return self._peaks.look(self._index(device))[0] if self._backend.is_loaded() else 0

    def max_memory_reserved(self, device: Any = None) -> int:
        """The most bytes taken from the device so far."""
        return self._peaks.look(self._index(device))[1] if self._backend.is_loaded() else 0

    def reset_peak_memory_stats(self, device: Any = None) -> None:
        """Let the peaks begin anew."""
        self._peaks.reset(self._index(device))

    def mem_get_info(self, device: Any = None) -> tuple[int, int]:
        """Bytes that are free on the device, and that it has."""
        use = self._use(device)
        return use.free, use.total

    def memory_stats(self, device: Any = None) -> dict[str, int]:
        """The figures of the other functions by PyTorch's keys, and what saved tensors hold (``saved_bytes.all.current``).

        Empty where no device was ever used.
        """
        from ..held import saved_bytes

        if not self._backend.is_loaded():
            return {}
        now, peak = self._use(device), self._peaks.look(self._index(device))
        return {
            "allocated_bytes.all.current": now.allocated, "allocated_bytes.all.peak": peak[0],
            "reserved_bytes.all.current": now.reserved, "reserved_bytes.all.peak": peak[1],
            "saved_bytes.all.current": saved_bytes(f"{self._backend.kind}:{self._index(device)}"),
        }  # fmt: skip

    def memory_summary(self, device: Any = None, abbreviated: bool = False) -> str:
        """The same for people; unless ``abbreviated`` with the largest saved tensors and who saved them."""
        from ..held import report, size_text

        name = f"{self._backend.kind}:{self._index(device)}"
        figures = [f"{key}: {size_text(value)}" for key, value in self.memory_stats(device).items()]
        return "\n".join([f"memory of {name}", *figures, *(() if abbreviated else report(name))])

    def memory_stats_as_nested_dict(self, device: Any = None) -> dict[str, Any]:
        """:meth:`memory_stats` by the parts of its keys, one in the other."""
        nested: dict[str, Any] = {}
        for key, value in self.memory_stats(device).items():
            *outer, last = key.split(".")
            inner = nested
            for part in outer:
                inner = inner.setdefault(part, {})
            inner[last] = value
        return nested

    def memory_cached(self, device: Any = None) -> int:
        """The old name of :meth:`memory_reserved`; warns as PyTorch."""
        _renamed("memory_cached", "memory_reserved")
        return self.memory_reserved(device)

    def max_memory_cached(self, device: Any = None) -> int:
        """The old name of :meth:`max_memory_reserved`; warns as PyTorch."""
        _renamed("max_memory_cached", "max_memory_reserved")
        return self.max_memory_reserved(device)

    def reset_max_memory_allocated(self, device: Any = None) -> None:
        """The old name of :meth:`reset_peak_memory_stats`, which resets more; warns as PyTorch."""
        _resets("reset_max_memory_allocated")
        self.reset_peak_memory_stats(device)

    def reset_max_memory_cached(self, device: Any = None) -> None:
        """As :meth:`reset_max_memory_allocated`."""
        _resets("reset_max_memory_cached")
        self.reset_peak_memory_stats(device)

    def empty_cache(self) -> None:
        """Give back to the device what is kept for later; nothing where the device was never used."""
        if self._backend.is_loaded():
            self._backend.free_cached()

"""The backend of ``cuda``: CuPy, imported when the first device is used, with its pool of memory."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from ..backends import Backend, MemoryUse, Properties, register
from ..rowwise import RowKernels
from .memory import Peaks, out_of_memory
from .spread import Spreads
from .summary import Summaries

if TYPE_CHECKING:
    from ..fused import Fused
    from ..rowwise import Layout, Rowwise

NEEDED = 14, 2
"""The oldest version of CuPy that has what is called here: see ``scripts/cupy_check.py``."""
EXTRAS = "pip install 'agdbg[cuda12]' (CUDA 12) or 'agdbg[cuda13]' (CUDA 13)"


class Cuda(Backend):
    """The devices of CuPy."""

    def __init__(self) -> None:
        super().__init__("cuda", "cupy", lambda part: importlib.import_module(f"cupyx.scipy.{part}"))
        self.peaks = Peaks(self)
        self._allocated: set[int] = set()
        """The GPUs on which memory was asked for: to look at another one would make a context there, which takes memory itself."""
        self._kernels: dict[str, Callable[..., Any]] = {}
        self._summaries: Summaries | None = None
        self._spreads: Spreads | None = None
        self._rows: RowKernels | None = None

    @property
    def module(self) -> Any:
        """CuPy; :class:`RuntimeError` where it or a GPU is missing."""
        return cupy()

    def is_loaded(self) -> bool:
        return cupy.cache_info().currsize > 0

    def count(self) -> int:
        return int(self.module.cuda.runtime.getDeviceCount())

    def current(self) -> int:
        return int(self.module.cuda.runtime.getDevice())

    def on(self, index: int) -> Any:
        return self.module.cuda.Device(index)

    def use(self, index: int) -> None:
        self.module.cuda.Device(index).use()

    def name_of(self, index: int) -> str:
        return self.properties_of(index).name

    def properties_of(self, index: int) -> Properties:
        told = self.module.cuda.runtime.getDeviceProperties(index)
        numbers = (int(told[key]) for key in ("major", "minor", "totalGlobalMem", "multiProcessorCount"))
        return Properties(told["name"].decode(), *numbers)

    def can_access(self, index: int, other: int) -> bool:
        return index != other and bool(self.module.cuda.runtime.deviceCanAccessPeer(index, other))

    def version(self) -> str | None:
        """That of CUDA's runtime, such as ``"12.4"``; ``None`` where no GPU can be used."""
        if not self.is_usable():
            return None
        number = int(self.module.cuda.runtime.runtimeGetVersion())
        return f"{number // 1000}.{number % 1000 // 10}"

    def synchronize(self, index: int | None = None) -> None:
        self.module.cuda.Device(index).synchronize()

    def to_host(self, array: Any, blocking: bool = True) -> Any:
        with self.on(self.index_of(array)):
            if blocking:
                return array.get(order="A")
            return array.get(out=self._pinned_empty(array.shape, array.dtype), blocking=False)

    def fetch(self, target: Any, array: Any) -> None:
        with self.on(self.index_of(array)):
            array.get(out=target, blocking=False)

    # ----- kernels and random numbers -----

    draws = True

    def rowwise(self, formula: Rowwise, place: Layout, arrays: tuple[Any, ...], by_row: tuple[Any, ...]) -> Any:
        if self._rows is None:
            self._rows = RowKernels(self.module)
        return self._rows(formula, place, arrays, by_row)

    def ask(self, array: Any) -> Any:
        if self._summaries is None:
            self._summaries = Summaries(self.module)
        with self.on(self.index_of(array)):
            return self._summaries(array)

    def ask_spread(self, array: Any, mean: float, edges: Any) -> Any:
        if self._spreads is None:
            self._spreads = Spreads(self.module)
        with self.on(self.index_of(array)):
            return self._spreads(array, mean, edges)

    def linalg_errors(self) -> Any:
        return importlib.import_module("cupyx").errstate(linalg="raise")

    def elementwise(self, formula: Fused) -> Callable[..., Any]:
        found = self._kernels.get(formula.name)
        if found is None:
            make = self.module.ElementwiseKernel
            found = self._kernels[formula.name] = make(formula.inputs, formula.outputs, formula.body, formula.name)
        return found

    # ----- memory -----

    def memory(self, index: int) -> MemoryUse:
        with self.on(index) as device:
            pool = self.module.get_default_memory_pool()
            free, total = device.mem_info
            return MemoryUse(pool.used_bytes(), pool.total_bytes(), free, total)

    def free_cached(self) -> None:
        for index in sorted(self._allocated):
            with self.on(index):  # CuPy frees what the pool keeps of the current device
                self.module.get_default_memory_pool().free_all_blocks()
        self.module.get_default_pinned_memory_pool().free_all_blocks()

    def malloc(self, nbytes: int) -> Any:
        """CuPy's allocator: its pool. Where that has nothing left, the error says what graphs hold."""
        pool = self.module.get_default_memory_pool()
        try:
            found = pool.malloc(nbytes)
        except self.module.cuda.memory.OutOfMemoryError as error:
            from ..stream_memory import release

            if release(wait=True):
                return self.malloc(nbytes)
            raise out_of_memory(self, self.current(), nbytes) from error
        index = self.current()
        self._allocated.add(index)
        self.peaks.see(index, nbytes)
        return found

    # ----- pinned memory -----

    pins = True

    def _pinned_empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        size = int(np.prod(shape, dtype=np.int64))
        memory = self.module.cuda.alloc_pinned_memory(size * dtype.itemsize)
        return np.frombuffer(memory, dtype, size).reshape(shape)

    def pinned(self, array: Any) -> Any:
        if array.flags.c_contiguous or not array.size:
            found = self._pinned_empty(array.shape, array.dtype)
        else:  # laid out as it is, as in PyTorch
            low, high = byte_bounds(array)
            room = self._pinned_empty((high - low,), np.dtype(np.uint8))
            found = np.ndarray(array.shape, array.dtype, room, array.ctypes.data - low, array.strides)
        found[...] = array
        return found

    def is_pinned(self, array: Any) -> bool:
        base = array
        while isinstance(base, np.ndarray):
            base = base.base
        held = base.obj if isinstance(base, memoryview) else base
        return self.is_loaded() and isinstance(held, self.module.cuda.PinnedMemoryPointer)


BACKEND = Cuda()
register(BACKEND)


@functools.cache
def cupy() -> Any:
    """CuPy with a usable GPU; the error says what to install and what was found."""
    if importlib.util.find_spec("cupy") is None:
        raise RuntimeError(f"device cuda needs CuPy, which is not installed: {EXTRAS}")
    try:
        found = importlib.import_module("cupy")
        version = tuple(map(int, re.findall(r"\d+", found.__version__)[:2]))
    except Exception as error:  # a library that does not load, no driver: whatever it is, it is to be told
        raise _unusable(error) from error
    if version < NEEDED:
        raise RuntimeError(
            f"device cuda needs CuPy {'.'.join(map(str, NEEDED))} or newer, and {found.__version__} is installed: {EXTRAS}"
        )
    try:
        count = found.cuda.runtime.getDeviceCount()
    except Exception as error:  # as above
        raise _unusable(error) from error
    if not count:
        raise RuntimeError(f"device cuda cannot be used: CuPy {found.__version__} is installed, but it finds no GPU")
    found.cuda.set_allocator(BACKEND.malloc)
    return found


def _unusable(error: Exception) -> Exception:
    """What is said where CuPy is there, but ``error`` came of it."""
    return RuntimeError(
        f"device cuda cannot be used: CuPy is installed, but {type(error).__name__}: {error}. CuPy must fit the "
        f"CUDA version of the driver: {EXTRAS}"
    )

"""What stands for CuPy where the way to a GPU is tried without one: arrays and functions of the strict device by CuPy's names.

With this folder on the path ``agdbg_engine.cuda`` finds two GPUs, and the tests that know of one run (``test_gpu_stand_in.py``). It reads
when it is asked, as CuPy does; kernels are the Python functions that they are compared with elsewhere.
"""

import importlib.util
import sys
import types
from pathlib import Path

import numpy as np

from agdbg_engine.backends import BACKENDS
from agdbg_engine.cuda.backend import Cuda
from agdbg_engine.fused import FUSED

__version__ = "14.2.0"
_HERE = Path(__file__).resolve().parents[2]


def _loaded(file, name):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, _HERE / f"{file}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


for _part in ("cupy_api", "strict_streams", "strict_words", "strict_refusals", "strict_manners"):
    _loaded(_part, f"agdbg_tests_{_part}")
_before = dict(BACKENDS)
_strict = _loaded("strict_device", "cupy_stand_in_device")
BACKENDS.clear()
BACKENDS.update(_before)  # there is no device `strict`
ndarray = _strict.ndarray
ndarray.__module__ = "cupy"
sys.modules["agdbg_tests_strict_refusals"].asks = lambda frame: True


def __getattr__(name):
    return getattr(_strict, name)


def _get(self, stream=None, order="C", out=None, blocking=True):
    if out is None:
        return self._host.copy("K")
    assert (out.shape, out.dtype) == (self.shape, self.dtype)
    assert out.flags.c_contiguous or out.flags.f_contiguous
    out[...] = self._host
    return out


def _refuses(self, *args, **kwargs):
    raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`.")


ndarray.get, ndarray.__array__ = _get, _refuses

# ----- memory -----


class _Pool:
    def used_bytes(self):
        return sum(a.nbytes for a in _strict._alive() if a.device.id == _strict.here())

    total_bytes = used_bytes

    def free_all_blocks(self):
        """Nothing is kept."""


class _Device(_strict.Device):
    mem_info = 1 << 40, 1 << 40


class _Pinned(bytearray):
    pass


_strict.BACKEND.peaks.see = lambda index, nbytes: None
get_default_memory_pool = get_default_pinned_memory_pool = _Pool
_told = {"major": 9, "minor": 0, "totalGlobalMem": 1 << 40, "multiProcessorCount": 7}
cuda = types.SimpleNamespace(
    **{**vars(_strict.cuda), "Device": _Device},
    PinnedMemoryPointer=_Pinned,
    alloc_pinned_memory=_Pinned,
    set_allocator=lambda allocator: None,
    memory=types.SimpleNamespace(OutOfMemoryError=MemoryError),
    runtime=types.SimpleNamespace(
        getDevice=_strict.here,
        getDeviceCount=lambda: 2,
        runtimeGetVersion=lambda: 12040,
        deviceCanAccessPeer=lambda a, b: 1,
        getDeviceProperties=lambda i: {"name": b"Stand-in %d" % i, **_told},
    ),
)

# ----- kernels -----


def ElementwiseKernel(inputs, outputs, body, name):  # CuPy's name
    """The function that stands for the kernel of that name."""
    formula = FUSED[name]

    def call(*args):
        found = formula.reference(*(a._host if isinstance(a, ndarray) else a for a in args))
        if formula.updates:
            return None
        results = tuple(ndarray(np.asarray(x)) for x in (found if isinstance(found, tuple) else (found,)))
        return results if isinstance(found, tuple) else results[0]

    return call


Cuda.rowwise = lambda self, formula, place, arrays, by_row: None
Cuda.ask_spread = lambda self, array, mean, edges: ndarray(_strict.spread_words(array._host.ravel(), mean, edges))


def _ask(self, array):
    with self.on(self.index_of(array)), np.errstate(all="ignore"):
        return ndarray(_strict.words(array._host.ravel()))


Cuda.ask = _ask

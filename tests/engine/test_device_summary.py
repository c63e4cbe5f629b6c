"""The summary of a tensor in one kernel, and its histogram in another: CUDA C, run here as C++ by threads that are played one after the other."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

from agdbg_engine import summaries
from agdbg_engine.cuda import spread, summary

COMPILER = shutil.which("g++") or shutil.which("clang++")

# What CUDA has and C++ has not. Threads of a block meet at __syncthreads: every one is a fiber, which goes on from there
# when all others have come there too. Here they are real threads with a barrier, one block after the other.
STAGE = r"""
#include <cmath>
#include <cstring>
#include <mutex>
#include <barrier>
#include <thread>
#include <vector>
using namespace std;
struct Place { unsigned int x; };
static thread_local Place threadIdx;
static Place blockIdx, gridDim;
static barrier<>* meeting;
static mutex one_at_a_time;
#define __global__
#define __device__
#define __shared__ static
#define __syncthreads() meeting->arrive_and_wait()
typedef unsigned long long ull;
static void atomicAdd(double* p, double v) { lock_guard<mutex> held(one_at_a_time); *p += v; }
static void atomicAdd(ull* p, ull v) { lock_guard<mutex> held(one_at_a_time); *p += v; }
static void atomicMax(ull* p, ull v) { lock_guard<mutex> held(one_at_a_time); if (v > *p) *p = v; }
static void atomicMin(ull* p, ull v) { lock_guard<mutex> held(one_at_a_time); if (v < *p) *p = v; }
static long long __double_as_longlong(double v) { long long bits; memcpy(&bits, &v, 8); return bits; }
"""
LAUNCH = r"""
extern "C" void launch(const NUMBER* x, ull n, ull* out, unsigned int blocks) {
    barrier<> here(THREADS); meeting = &here; gridDim.x = blocks;
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) {
        vector<thread> all;
        for (unsigned int i = 0; i < THREADS; i++) all.emplace_back([=] { threadIdx.x = i; summary(x, n, out); });
        for (auto& one : all) one.join();
    }
}
"""
SPREAD = r"""
extern "C" void launch_spread(const NUMBER* x, ull n, double mean, const double* edges, ull* out, unsigned int blocks) {
    barrier<> here(THREADS); meeting = &here; gridDim.x = blocks;
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) {
        vector<thread> all;
        for (unsigned int i = 0; i < THREADS; i++) all.emplace_back([=] { threadIdx.x = i; spread(x, n, mean, edges, out); });
        for (auto& one : all) one.join();
    }
}
"""
FEW = 8
"""Threads of a block."""
BINS = 24
KINDS = {f"-DNUMBER={number}": kind for kind, number in summary.NAMES.items()}
"""The type code by the compiler's option."""


def variant(suffix, source, **macros):
    """The source with macros of its own, and with names of its own for what it defines."""
    macros |= {name: f"{name}{suffix}" for name in ("summary", "launch", "spread", "launch_spread")}
    defined = "".join(f"#define {name} {value}\n" for name, value in macros.items())
    return f"{defined}namespace of{suffix} {{\n{source}\n}}\n" + "".join(f"#undef {name}\n" for name in macros)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The kernels and what launches them, for each dtype: compiled at once, for most of it is C++'s headers."""
    if COMPILER is None:
        pytest.skip("there is no C++ compiler")
    folder, source = tmp_path_factory.mktemp("kernels"), STAGE
    for kind, number in summary.NAMES.items():
        source += variant(f"_{kind}", summary.SOURCE + LAUNCH, NUMBER=number)
        for bins in (0, BINS):
            source += variant(f"_{kind}{bins}", spread.SOURCE + SPREAD, NUMBER=number, BINS=bins)
    (folder / "kernels.cpp").write_text(source)
    options = ["-std=c++20", "-O1", "-pthread", "-shared", "-fPIC", f"-DTHREADS={FEW}"]
    subprocess.run([COMPILER, *options, "-o", "kernels.so", "kernels.cpp"], cwd=folder, check=True, timeout=120)
    return ctypes.CDLL(str(folder / "kernels.so"))


class Played:
    """As much of CuPy as the summary asks for, on NumPy and the compiled kernel."""

    def __init__(self, library, blocks):
        self.library, self.blocks = library, blocks
        self.launches = 0

    ascontiguousarray = staticmethod(np.ascontiguousarray)

    def array(self, values):
        return values.copy()

    def RawKernel(self, source, name, options):
        assert (source, name) == (summary.SOURCE, "summary")
        assert options[1] == f"-DTHREADS={summary.THREADS}"

        def launch(grid, block, arguments):
            self.launches += 1
            x, n, out = arguments
            assert grid[0] * block[0] >= min(n, summary.MOST_BLOCKS * summary.THREADS)
            kernel = self.library[f"launch_{KINDS[options[0]]}"]
            pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (x, out)]
            kernel(pointers[0], ctypes.c_ulonglong(int(n)), pointers[1], ctypes.c_uint(self.blocks))

        return launch


def expected(array):
    values = np.abs(array).astype(np.float64).ravel()
    good = np.isfinite(values)
    finite = values[good]
    bad = np.flatnonzero(~good)
    nans = int(np.isnan(values).sum())
    numbers = (values if array.dtype.kind == "c" else array.astype(np.float64).ravel())[~np.isnan(values)]
    span = (numbers.min(), numbers.max()) if numbers.size else (np.nan, np.nan)
    return (
        np.sqrt((finite**2).sum()), finite.max(initial=0.0), nans, len(bad) - nans, int(bad[0]) if len(bad) else -1,
        *span, numbers.sum(),
    )  # fmt: skip


ARRAYS = {
    "plain": np.linspace(-3, 5, 100),
    "nan and inf": np.array([1.0, 2.0, np.inf, np.nan, -np.inf, np.nan, -7.0]),
    "first": np.array([np.nan, 1.0]),
    "last of many": np.concatenate([np.ones(1000), [np.inf]]),
    "all bad": np.full(37, np.nan),
    "one": np.array(-2.5),
    "none": np.zeros((0, 3)),
    "zeros": np.zeros(5),
    "strided": np.arange(24.0).reshape(4, 6).T[::2],
    "expanded": np.broadcast_to(np.array([1.0, np.nan]), (3, 2)),
    "small": np.full(9, 1e-300),
}


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("name", ARRAYS)
def test_as_numpy(library, name, dtype, blocks):
    array = (
        np.broadcast_to(ARRAYS[name].astype(dtype), ARRAYS[name].shape)
        if name == "expanded"
        else ARRAYS[name].astype(dtype)
    )
    played = Played(library, blocks)
    found = summaries.read(np.asarray(summary.Summaries(played)(array)))
    with np.errstate(invalid="ignore"):  # infinity less infinity
        norm, largest, *counts = expected(array)
    assert list(found[2:5]) == counts[:3]
    assert found[5:] == pytest.approx(tuple(counts[3:]), rel=1e-6, nan_ok=True)
    assert found.norm == pytest.approx(norm, rel=1e-6)
    assert found.largest == pytest.approx(largest, rel=1e-6)
    assert played.launches == 1


class PlayedSpread:
    """As much of CuPy as a spread asks for."""

    ascontiguousarray = staticmethod(np.ascontiguousarray)
    array = staticmethod(np.array)

    def __init__(self, library, blocks):
        self.library, self.blocks, self.launches = library, blocks, 0

    def RawKernel(self, source, name, options):
        assert (source, name, options[1]) == (spread.SOURCE, "spread", f"-DTHREADS={summary.THREADS}")
        kernel = self.library[f"launch_spread_{KINDS[options[0]]}{options[2].removeprefix('-DBINS=')}"]

        def launch(grid, block, arguments):
            self.launches += 1
            x, n, mean, edges, out = arguments
            pointer = [a.ctypes.data_as(ctypes.c_void_p) for a in (x, edges, out)]
            sizes = ctypes.c_ulonglong(int(n)), ctypes.c_double(float(mean))
            kernel(pointer[0], *sizes, *pointer[1:], ctypes.c_uint(self.blocks))

        return launch


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64, np.int64, np.bool_])
@pytest.mark.parametrize("name", [*ARRAYS, "tenths"])
def test_histograms_as_numpy(library, name, dtype, blocks):
    array = np.arange(-50, 51) / 10 if name == "tenths" else ARRAYS[name]
    with np.errstate(invalid="ignore"):
        array = array.astype(dtype)
    values = (np.abs(array) if array.dtype.kind == "c" else array).astype(np.float64).ravel()
    values = values[np.isfinite(values)]
    mean = float(values.mean()) if values.size else 0.0
    is_wide = values.size > 0 and values.max() > values.min()
    edges = np.linspace(values.min(), values.max(), BINS + 1) if is_wide else np.zeros(0)
    played = PlayedSpread(library, blocks)
    found = summaries.read_spread(spread.Spreads(played)(array, mean, edges))
    assert found.squares == pytest.approx(((values - mean) ** 2).sum(), rel=1e-9, abs=1e-300)
    assert found.zeros == (values == 0).sum()
    assert found.counts == (np.histogram(values, BINS)[0].tolist() if is_wide else [])
    assert played.launches == 1

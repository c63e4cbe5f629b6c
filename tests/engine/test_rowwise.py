"""Formulas along rows: CUDA C, run here as C++ by threads that wait for each other, against what NumPy computes."""

import ctypes
import shutil
import subprocess

import agdbg_tests_strict_device as strict
import numpy as np
import pytest

import agdbg_engine as ag
from agdbg_engine import rowwise
from agdbg_engine.rowwise import ROWWISE, Layout, RowKernels, layout

COMPILER = shutil.which("g++") or shutil.which("clang++")
FEW = 8
"""Threads of a block."""

STAGE = r"""
#include <cmath>
#include <barrier>
#include <thread>
#include <vector>
using namespace std;
typedef unsigned long long ull;
struct Place { unsigned int x; };
static thread_local Place threadIdx;
static Place blockIdx, gridDim;
static barrier<>* meeting;
#define __global__
#define __shared__ static
#define __syncthreads() meeting->arrive_and_wait()
"""
LAUNCH = r"""
extern "C" void launch_NAME(FORMALS, ull n, ull rows, ull inner, unsigned int blocks) {
    barrier<> here(THREADS); meeting = &here; gridDim.x = blocks;
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) {
        vector<thread> all;
        for (unsigned int i = 0; i < THREADS; i++) all.emplace_back([=] { threadIdx.x = i; NAME(ACTUALS, n, rows, inner); });
        for (auto& one : all) one.join();
    }
}
"""


def launcher(formula):
    names = [*formula.inputs.split(), *formula.by_row.split()]
    formals = ", ".join([*(f"const NUMBER* {n}" for n in names), "NUMBER* out"])
    return (
        LAUNCH.replace("FORMALS", formals).replace("ACTUALS", ", ".join([*names, "out"])).replace("NAME", formula.name)
    )


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    if COMPILER is None:
        pytest.skip("there is no C++ compiler")
    folder = tmp_path_factory.mktemp("rows")
    (folder / "rows.cpp").write_text(STAGE + "".join(f.source() + launcher(f) for f in ROWWISE.values()))
    made = {}
    for kind in ("float", "double"):
        options = [
            "-std=c++20",
            "-O1",
            "-pthread",
            f"-DNUMBER={kind}",
            f"-DTHREADS={FEW}",
        ]
        subprocess.run(
            [COMPILER, *options, "-shared", "-fPIC", "-o", f"{kind}.so", "rows.cpp"],
            cwd=folder,
            check=True,
            timeout=120,
        )
        made[kind] = ctypes.CDLL(str(folder / f"{kind}.so"))
    return made


class Played:
    """As much of CuPy as the kernels ask for, on the strict device and the compiled C."""

    def __init__(self, libraries):
        self.libraries, self.launches = libraries, []

    ascontiguousarray = staticmethod(lambda a: strict.ascontiguousarray(a))
    empty = staticmethod(lambda shape, dtype: strict.empty(shape, dtype))

    def RawKernel(self, source, name, options):
        assert source == ROWWISE[name].source()
        assert options[1] == f"-DTHREADS={rowwise.THREADS}"
        library = self.libraries[options[0].partition("=")[2]]

        def launch(grid, block, arguments):
            *arrays, n, rows, inner = arguments
            assert grid[0] <= rows
            self.launches.append(name)
            pointers = [ctypes.c_void_p(a.data.ptr) for a in arrays]
            sizes = [ctypes.c_ulonglong(int(x)) for x in (n, rows, inner)]
            getattr(library, f"launch_{name}")(*pointers, *sizes, ctypes.c_uint(min(grid[0], 3)))

        return launch


OPS = {
    "softmax": (lambda x: ag.softmax(x, -1), (4, 19), "softmax_grad"), "softmax 0": (lambda x: ag.softmax(x, 0), (19, 4), "softmax_grad"),
    "softmax of one": (lambda x: ag.softmax(x, 0), (5,), "softmax_grad"), "log_softmax": (lambda x: ag.log_softmax(x, 1), (4, 19), "log_softmax_grad"),
    "softmax between": (lambda x: ag.softmax(x, 1), (3, 4, 2), None), "layer norm": (lambda x: ag.nn.functional.layer_norm(x, (3, 5)), (2, 3, 5), "standard_grad"),
    "batch norm": (lambda x: ag.nn.functional.batch_norm(x, None, None, training=True), (4, 3, 5), "standard_grad"),
    "batch norm of rows": (lambda x: ag.nn.functional.batch_norm(x, None, None, training=True), (6, 3), "standard_grad"),
    "group norm": (lambda x: ag.nn.functional.group_norm(x, 2), (3, 4, 5), "standard_grad"),
    "rms norm": (lambda x: ag.nn.functional.rms_norm(x, (5,)), (2, 3, 5), "rms_grad"),
    "rms norm with weight": (lambda x: ag.nn.functional.rms_norm(x, (3, 5), ag.full((3, 5), 1.5, dtype=x.dtype, device=x.device)), (2, 3, 5), "rms_grad"),
    "turned": (lambda x: ag.softmax(x.T, -1), (19, 4), "softmax_grad"),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
@pytest.mark.parametrize("name", OPS)
def test_as_numpy(libraries, name, dtype, monkeypatch):
    function, shape, kernel = OPS[name]
    played = Played(libraries)
    monkeypatch.setattr(strict.BACKEND, "rowwise", RowKernels(played))
    values, weights = np.random.default_rng(0).standard_normal((2, *shape))

    def gradient(device):
        x = ag.tensor(values, dtype=dtype, device=device, requires_grad=True)
        out = function(x)
        weight = ag.tensor(weights.reshape(out.shape), dtype=dtype, device=device)
        (out * weight).sum().backward()
        return x.grad._a

    tolerance = 1e-5 if dtype == ag.float32 else 1e-12
    np.testing.assert_allclose(strict.host(gradient("strict")), gradient("cpu"), tolerance, tolerance)
    assert played.launches == ([] if kernel is None else [kernel])


def test_layouts():
    assert layout((2, 3, 5), (2,)) == (5, 6, 5)
    assert layout((2, 3, 5), (0, 2)) == (10, 3, 5)
    assert layout((2, 3, 5), (0,)) == (2, 15, 1)
    assert layout((2, 3, 5), (-2, -1)) == (15, 2, 15)
    assert layout((4,), (0,)) == Layout(4, 1, 4)
    assert layout((2, 3, 5), (1,)) is None
    assert layout((), (0,)) is None
    assert layout((0, 3), (1,)) is None


def test_the_cpu_asks_for_no_kernel_and_a_device_without_any_computes_as_before(monkeypatch):
    def gradient(device):
        x = ag.tensor([[0.5, -1.0, 3.0]], dtype=ag.float16, device=device, requires_grad=True)
        (ag.softmax(x, -1) * ag.tensor([1.0, 2.0, 3.0], dtype=ag.float16, device=device)).sum().backward()
        return x.grad._a

    there = strict.host(gradient("strict"))
    monkeypatch.setattr(type(strict.BACKEND), "rowwise", lambda *a: pytest.fail("asked for a kernel"))
    np.testing.assert_allclose(there, gradient("cpu"), rtol=2e-3)
    assert there.dtype == np.float16

"""The engine on a real GPU. Elsewhere all of this is skipped, and says what is missing.

The tests of devices, which elsewhere run on the strict device, run once more on CuPy, every file in a process of its own.
"""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import agdbg_engine as ag
from agdbg_engine import cuda
from agdbg_engine.fused import FUSED

ROOT = Path(__file__).resolve().parents[2]
SUITES = {
    "tests/engine/test_ops_device.py": "",
    "tests/engine/test_device_semantics.py": "",
    "tests/engine/test_optim_device.py": "",
    "tests/engine/test_nn_device.py": "",
    "tests/engine/test_pointwise_device.py": "",
    "tests/engine/test_reductions_device.py": "",
    "tests/engine/test_sampling_device.py": "",
    "tests/engine/test_examples_device.py": "",
    "tests/engine/test_device_faults.py": "",
    "tests/engine/test_device_arrays.py": "not find_the_memory",  # which looks at strides that are made up
    "tests/engine/test_device_linalg.py": "not strict_device_says_nothing",  # NaN there is anything on a GPU
    "tests/engine/test_semantics_on_device.py": "",
    "tests/engine/test_device_dtypes.py": "",
    "tests/engine/test_device_numbers.py": "",
    "tests/engine/test_devices.py": "not numpy_and_numbers",  # CuPy refuses what is not asked for by other exceptions
    "tests/engine/test_devices_mixes.py": "",
    "tests/engine/test_mixed_devices.py": "",
    "tests/engine/test_gradcheck_device.py": "not as_many_copies",  # CuPy does not note its reads
    # skipped where there is one GPU; what is left out looks at what the strict device notes, or at its name
    "tests/engine/test_several_devices.py": "not (the_current_device or copy_waits or streams_of_both or counted_by_device)",
    "tests/engine/test_repeated_index.py": "not cupy_does_not_join",  # of doubles CuPy joins what it should not
    "tests/engine/test_compositions_device.py": "not looked_at_unless",  # CuPy does not note its reads
    "tests/ops/test_op_db.py": "same_as_torch",
    "tests/ops/test_module_db_device.py": "",
}
"""Files of tests for a device, and what is left out of each (as pytest's ``-k``)."""


def _missing():
    try:
        cuda.synchronize()
    except RuntimeError as error:
        return str(error)
    return ""


MISSING = _missing()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(bool(MISSING), reason=MISSING)]
NUMBERS = np.array([0.5, -0.5, 1.0, -1.0, 3.0, -3.0, 2.5, -7.25, 0.0])


@pytest.mark.parametrize("file", SUITES)
def test_suite(file):
    command = [sys.executable, "-P", "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", "--tb=line", file]
    command += ["-k", SUITES[file]] if SUITES[file] else []
    command += ["-W", "default"]  # CuPy has warnings of its own
    if ("ops/" in file or "semantics_on" in file) and importlib.util.find_spec(
        "xdist"
    ):  # most of its time goes into compiling kernels
        command += ["-n", "6"]
    environment = {**os.environ, "AGDBG_TEST_DEVICE": "cuda"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=400, check=False)
    print(done.stdout[-4000:])
    assert done.returncode == 0, f"{file} on the GPU:\n{done.stdout[-12_000:]}{done.stderr[-2000:]}"
    assert re.search(r"\d+ passed" if "several" not in file else r"\d+ (passed|skipped)", done.stdout)


def test_cupy_is_strict_about_reads_and_mixes():
    """What the tests rest on: CuPy does not convert by itself."""
    x = ag.ones(3, device="cuda")._a
    with pytest.raises(TypeError):
        np.asarray(x)
    with pytest.raises(TypeError):
        _ = x + np.ones(3)


def test_devices():
    x = ag.ones(2, device="cuda")
    assert x.device == ag.device("cuda:0")
    assert x.is_cuda
    assert x.cpu().tolist() == [1, 1]
    assert ag.ones(2).cuda().device == ag.device("cuda:0")
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        x + ag.ones(2)
    assert (x * ag.tensor(2.0)).tolist() == [2, 2]
    y = ag.ones(2, requires_grad=True)
    (y.to("cuda") * 3).sum().backward()
    assert y.grad.device == ag.device("cpu")
    assert y.grad.tolist() == [3, 3]


@pytest.mark.parametrize("name", sorted(name for name, formula in FUSED.items() if not formula.updates))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernels_as_numpy(name, dtype):
    formula = FUSED[name]
    others = {
        "beta": 1.5,
        "threshold": 2.0,
        "alpha": 0.7,
        "scale": 1.2,
        "input_scale": 0.9,
        "is_result": False,
        "rate": np.array([0, 0.3, 2.5, 9.9, 10.0, 40.0, 1e4, 3.0, 77.0]),
        "seed": np.uint64(77),
        "delta": 0.8,
        "lambd": 0.6,
        "min_val": -1.0,
        "max_val": 2.0,
        "negative_slope": 0.1,
        "own": np.arange(9) % 3,
        "ignored": 1,
    }
    names = [part.split() for part in formula.inputs.split(", ")]
    given = [
        np.arange(9, dtype=np.uint64)
        if n == "n"
        else (NUMBERS[::-1] if n == "g" else NUMBERS).astype(dtype)
        if t == "T"
        else np.arange(9) // 3
        if (t, n) == ("int64", "target")
        else others[n]
        for t, n in names
    ]
    on_gpu = [ag.from_numpy(x).to("cuda")._a if isinstance(x, np.ndarray) else x for x in given]
    found = cuda.BACKEND.elementwise(formula)(*on_gpu).get()
    cancels = name == "gelu_tanh_grad"  # 1 - t * t for a tanh near 1
    tolerance = (1e-4 if cancels else 1e-5) if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(found, formula.reference(*given), tolerance, tolerance)


ROWS = {
    "softmax_grad": lambda t: ag.softmax(t, -1), "log_softmax_grad": lambda t: ag.log_softmax(t, 0),
    "rms norm": lambda t: ag.nn.functional.rms_norm(t, t.shape[-1:]), "layer norm": lambda t: ag.nn.functional.layer_norm(t, t.shape[-1:]), "batch norm": lambda t: ag.nn.functional.batch_norm(t, None, None, training=True),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("shape", [(3, 7), (40, 1000), (2, 3, 500)])
def test_row_kernels_as_numpy(name, shape):
    numbers, weights = np.random.default_rng(0).standard_normal((2, *shape))

    def gradient(device):
        x, w = (ag.from_numpy(a).to(device) for a in (numbers, weights))
        (ROWS[name](x.requires_grad_()) * w).sum().backward()
        return x.grad.cpu().numpy()

    np.testing.assert_allclose(gradient("cuda"), gradient("cpu"), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", ["Adam", "AdamW", "SGD", "Adagrad", "RMSprop", "NAdam", "RAdam", "Adamax", "Adadelta"])
def test_steps_of_optimizers_as_numpy(name):
    def after(device):
        p = ag.tensor(NUMBERS, device=device, requires_grad=True)
        optimizer = getattr(ag.optim, name)(
            [p], 0.1, weight_decay=0.1, **({"momentum": 0.9} if name in ("SGD", "RMSprop") else {})
        )
        for _ in range(3):
            optimizer.zero_grad()
            (p * p).sum().backward()
            optimizer.step()
        return p.detach().cpu().numpy()

    np.testing.assert_allclose(after("cuda"), after("cpu"), rtol=1e-10)


@pytest.mark.parametrize("size", [0, 1, 1000, 1_000_003])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_summary_kernel(size, dtype):
    array = np.random.default_rng(0).standard_normal(size).astype(dtype)
    if size > 10:
        array[7], array[9] = np.nan, np.inf
    found = cuda.BACKEND.summary(ag.from_numpy(array).to("cuda")._a)
    finite = array[np.isfinite(array)].astype(np.float64)
    assert found.norm == pytest.approx(np.sqrt((finite**2).sum()), rel=1e-9)
    assert found.largest == np.abs(finite).max(initial=0)
    assert found[2:5] == ((1, 1, 7) if size > 10 else (0, 0, -1))
    numbers = array[~np.isnan(array)]
    if numbers.size:
        assert (found.low, found.high) == (numbers.min(), numbers.max())
        assert found.total == pytest.approx(numbers.astype(np.float64).sum(), rel=1e-6, abs=1e-6)


def test_random_numbers_are_drawn_there():
    ag.manual_seed(3)
    x = ag.randn(100_000, device="cuda")
    assert abs(float(x.mean())) < 0.02
    assert abs(float(x.std()) - 1) < 0.02
    state = cuda.get_rng_state()
    first = ag.rand(5, device="cuda").tolist()
    cuda.set_rng_state(state)
    assert ag.rand(5, device="cuda").tolist() == first


def test_memory():
    cuda.empty_cache()
    before = cuda.memory_allocated()
    cuda.reset_peak_memory_stats()
    x = ag.ones(1 << 20, device="cuda", requires_grad=True)
    y = x.exp()
    assert cuda.memory_allocated() - before >= 2 * x.nbytes
    assert cuda.memory_reserved() >= cuda.memory_allocated()
    assert cuda.max_memory_allocated() >= cuda.memory_allocated()
    assert cuda.memory_stats()["saved_bytes.all.current"] >= x.nbytes
    assert "ExpBackward0 saved 'result'" in cuda.memory_summary()
    del x, y
    assert cuda.memory_allocated() == before


def test_memory_that_ran_out_says_what_graphs_hold():
    x = ag.ones(1 << 20, device="cuda", requires_grad=True)
    y = x.exp()
    with pytest.raises(cuda.OutOfMemoryError, match="CUDA out of memory") as found:
        ag.empty(1 << 45, dtype=ag.uint8, device="cuda")
    assert "ExpBackward0 saved 'result'" in str(found.value)
    assert y.requires_grad


def test_streams_events_and_pinned_memory():
    side = cuda.Stream()
    x = ag.randn(1 << 16).pin_memory()
    assert x.is_pinned()
    with cuda.stream(side):
        start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        start.record()
        there = x.to("cuda", non_blocking=True).requires_grad_()
        y = (there.sin() * 2).sum()
        end.record()
    end.synchronize()
    assert start.elapsed_time(end) >= 0
    cuda.current_stream().wait_stream(side)
    y.backward()
    np.testing.assert_allclose(there.grad.cpu().numpy(), 2 * np.cos(x.numpy()), rtol=1e-5)
    assert cuda.current_stream() == cuda.default_stream()


@pytest.mark.parametrize(
    "make", [lambda: ag.tensor(2.0), lambda: ag.ones(3, requires_grad=True), lambda: ag.ones(2, 3).T]
)
@pytest.mark.parametrize("dtype", [None, ag.float64])
def test_copies_to_the_host_that_nobody_waits_for(make, dtype):
    x = make()
    back = x.to("cuda").to("cpu", dtype, non_blocking=True)
    cuda.synchronize()
    assert back.tolist() == x.tolist()
    assert back.dtype == (dtype or ag.float32)
    assert back.requires_grad == x.requires_grad
    layer = ag.nn.Linear(2, 2)
    weight = layer.weight.tolist()
    layer.cuda().to("cpu", non_blocking=True)
    cuda.synchronize()
    assert layer.weight.tolist() == weight

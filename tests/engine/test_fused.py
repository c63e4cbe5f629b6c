"""Formulas in C against the same in Python: compiled for the CPU here, by CuPy on a GPU."""

import ctypes
import shutil
import subprocess

import agdbg_tests_strict_device as strict
import numpy as np
import pytest

import agdbg_engine as ag
import agdbg_engine.optim  # whose steps are formulas too
from agdbg_engine.fused import FUSED, fused

COMPILER = shutil.which("g++") or shutil.which("clang++")
C_TYPES = {"float64": "double", "int64": "long long", "uint64": "unsigned long long", "bool": "bool"}
NUMBERS = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.0,
    -1.0,
    3.0,
    -3.0,
    2.999,
    6.5,
    -7.25,
    19.5,
    20.5,
    80.0,
    -80.0,
    1e-30,
    np.inf,
    -np.inf,
    np.nan,
]


CANCELS = {"gelu_tanh_grad": 1e-4}
"""Tolerances in single precision where a formula, here and there, loses digits: ``1 - t * t`` for a tanh near 1."""


def declared(text):
    """Pairs of type and name."""
    return [tuple(part.split()) for part in text.split(", ")]


def in_c(formula, of_t):
    """A function over arrays in C++: ``T`` is ``of_t``."""
    parameters = declared(formula.inputs), declared(formula.outputs)
    kind = lambda name: C_TYPES.get(name, of_t)
    pointers = [f"const {kind(t)}* in_{n}" for t, n in parameters[0]] + [
        f"{kind(t)}* out_{n}" for t, n in parameters[1]
    ]
    reads = " ".join(f"const {kind(t)} {n} = in_{n}[k];" for t, n in parameters[0])
    writes = " ".join(f"{kind(t)}& {n} = out_{n}[k];" for t, n in parameters[1])
    return (
        f'extern "C" void {formula.name}_{of_t}(long size, {", ".join(pointers)}) {{ using T = {of_t};\n'
        f"  for (long k = 0; k < size; k++) {{ {reads} {writes} {formula.body} }} }}\n"
    )


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    if COMPILER is None:
        pytest.skip("there is no C++ compiler")
    folder = tmp_path_factory.mktemp("kernels")
    source = "#include <cmath>\nusing namespace std;\n" + "".join(
        in_c(formula, of_t) for formula in FUSED.values() for of_t in ("float", "double")
    )
    (folder / "kernels.cpp").write_text(source)
    subprocess.run(
        [COMPILER, "-O1", "-Wall", "-Werror", "-Wno-unused", "-shared", "-fPIC", "-o", "kernels.so", "kernels.cpp"],
        cwd=folder, check=True, timeout=120,
    )  # fmt: skip
    return ctypes.CDLL(str(folder / "kernels.so"))


def computed(library, formula, dtype, inputs):
    names = {np.dtype(np.float32): "float", np.dtype(np.float64): "double"}
    arrays = [np.ascontiguousarray(x) for x in np.broadcast_arrays(*inputs)]
    ((out_type, _),) = declared(formula.outputs)
    out = np.empty(arrays[0].shape, dtype if out_type == "T" else out_type)
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (*arrays, out)]
    getattr(library, f"{formula.name}_{names[np.dtype(dtype)]}")(ctypes.c_long(out.size), *pointers)
    return out


def inputs_of(formula, dtype):
    """Arrays for ``T``, every pair of numbers; each other parameter with two values."""
    n = len(NUMBERS)
    grids = {
        "x": np.tile(NUMBERS, n),
        "g": np.repeat(NUMBERS, n),
        "target": np.repeat(NUMBERS, n),
        "weight": np.full(n * n, -0.3),
    }
    others = {
        "beta": (1.0, 2.5), "threshold": (20.0, 0.25), "alpha": (1.0, 0.7), "scale": (1.0, 1.25), "input_scale": (1.0, 0.5),
        "delta": (1.0, 0.4), "lambd": (0.5, 2.0), "min_val": (-1.0, -3.0), "max_val": (1.0, 3.0), "negative_slope": (0.01, -0.3),
        "own": (np.arange(n * n) % 3, np.arange(n * n) % 3), "ignored": (-100, 1),
        "is_result": (False, True), "rate": (np.array([0, 0.3, 2.5, 9.9, 10.0, 40.0, 1e4]), np.array([np.nan, 5.0, 12.0, 33.0, 1e6])), "seed": (0, 2**64 - 5), "n": (np.arange(7, dtype=np.uint64), np.arange(2**63, 2**63 + 5, dtype=np.uint64)),
    }  # fmt: skip
    for i in range(2):
        yield [
            grids[name].astype(dtype)
            if kind == "T"
            else np.arange(n * n) // 3 % 3
            if (kind, name) == ("int64", "target")
            else np.asarray(others[name][i], None if name in ("n", "rate") else kind)
            for kind, name in declared(formula.inputs)
        ]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", sorted(name for name, formula in FUSED.items() if not formula.updates))
def test_in_c_as_in_python(library, name, dtype):
    formula = FUSED[name]
    for given in inputs_of(formula, dtype):
        plain = [x.item() if x.ndim == 0 else x for x in given]
        with np.errstate(all="ignore"):
            expected = formula.reference(*[x.copy() if isinstance(x, np.ndarray) else x for x in plain])
        found = computed(library, formula, dtype, given)
        if found.dtype.kind == "u":
            assert (found == expected).all()
            continue
        tolerance = CANCELS.get(name, 2e-6) if dtype == np.float32 else 1e-12
        np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape), tolerance, tolerance)


OF_STEPS = {
    "sign": -1.0, "decay": 0.1, "shrink": 0.98, "b1": 0.9, "b2": 0.99, "size": 0.01, "divisor": 0.8, "eps": 1e-8, "lr": 0.1, "momentum": 0.9,
    "fresh": 0.75, "rate": 0.05, "alpha": 0.95, "of_gradient": 0.02, "of_mean": 0.03, "rho": 0.9,
}  # fmt: skip


@pytest.mark.parametrize("plain", [False, True], ids=["all options", "no option"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", sorted(name for name, formula in FUSED.items() if formula.updates))
def test_steps_in_c_as_in_python(library, name, dtype, plain):
    formula, rng = FUSED[name], np.random.default_rng(0)
    inputs, outputs = declared(formula.inputs), declared(formula.outputs)
    g = rng.standard_normal(50).astype(dtype)
    numbers = {
        **OF_STEPS,
        "nesterov": not plain,
        "adaptive": not plain,
        **({"sign": 1.0, "decay": 0.0, "shrink": 1.0} if plain else {}),
    }
    given = [g if n == "g" else numbers[n] for _, n in inputs]
    before = [(rng.standard_normal(50) ** (1 if n in "pm" else 2)).astype(dtype) for _, n in outputs]
    before = [a / 10 if n == "mean" else a + 1 if n == "v" else a for a, (_, n) in zip(before, outputs, strict=True)]
    expected = [a.copy() for a in before]
    formula.reference(*given, *expected)
    whole = [
        np.ascontiguousarray(np.broadcast_to(np.asarray(x, dtype if t == "T" else t), 50))
        for (t, _), x in zip(inputs, given, strict=True)
    ]
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (*whole, *before)]
    kind = "float" if dtype == np.float32 else "double"
    getattr(library, f"{name}_{kind}")(ctypes.c_long(50), *pointers)
    for a, b in zip(before, expected, strict=True):
        np.testing.assert_allclose(a, b, *(2e-6,) * 2 if dtype == np.float32 else (1e-12,) * 2)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"amsgrad": True, "weight_decay": 0.1},
        {"maximize": True, "decoupled_weight_decay": True, "weight_decay": 0.1},
    ],
)
@pytest.mark.parametrize("momentum", [None, 0, 0.9])
def test_optimizers_on_a_device_take_one_kernel_a_parameter(momentum, options, monkeypatch):
    asked = []

    def elementwise(formula):
        asked.append(formula.name)
        return formula.reference

    monkeypatch.setattr(strict.BACKEND, "elementwise", elementwise)
    options = {k: v for k, v in options.items() if momentum is None or k in ("maximize", "weight_decay")}

    def steps(device):
        p = ag.tensor([[0.5, -1.0], [2.0, 3.0]], dtype=ag.float64, device=device, requires_grad=True)
        make = ag.optim.Adam if momentum is None else ag.optim.SGD
        optimizer = make(
            [p], lr=0.1, **options, **({} if momentum is None else {"momentum": momentum, "nesterov": momentum > 0})
        )
        for _ in range(3):
            optimizer.zero_grad()
            (p * p * p).sum().backward()
            optimizer.step()
        return p

    there = strict.host(steps("strict")._a)
    counted = [name for name in asked if name in ("adam", "amsgrad", "sgd", "sgd_momentum")]
    assert len(counted) == (2 if momentum else 3)  # momentum begins as a copy of the first gradient
    asked.clear()
    np.testing.assert_allclose(there, steps("cpu").numpy(force=True), rtol=1e-12)
    assert asked == []


def test_a_device_with_kernels_gets_them(monkeypatch):
    asked = []

    def elementwise(formula):
        asked.append(formula.name)
        return lambda *arrays: formula.reference(*arrays)

    monkeypatch.setattr(strict.BACKEND, "elementwise", elementwise)
    x = ag.tensor([0.5, -1.0], dtype=ag.float64, device="strict", requires_grad=True)
    ag.nn.functional.silu(x).sum().backward()
    ag.nn.functional.gelu(x).sum().backward()
    assert [name for name in asked if name != "sigmoid_elsewhere"] == ["silu", "silu_backward", "gelu", "gelu_backward"]
    y = ag.tensor([0.5, -1.0], dtype=ag.float64, requires_grad=True)
    ag.nn.functional.silu(y).sum().backward()
    ag.nn.functional.gelu(y).sum().backward()
    np.testing.assert_array_equal(strict.host(x.grad._a), y.grad.numpy())


def test_other_dtypes_and_numbers_are_computed_by_numpy(monkeypatch):
    monkeypatch.setattr(strict.BACKEND, "elementwise", lambda formula: pytest.fail("asked for a kernel"))
    x = ag.tensor([0.5, -1.0], dtype=ag.complex64, device="strict")
    assert ag.nn.functional.silu(x).dtype == ag.complex64
    assert ag.nn.functional.silu(ag.tensor(0.5)).shape == ()


def test_half_precision_gets_the_kernel_of_single(monkeypatch):
    asked = []

    def elementwise(formula):
        def kernel(*arrays):
            asked.append((formula.name, arrays[0].dtype.char))
            return formula.reference(*arrays)

        return kernel

    monkeypatch.setattr(strict.BACKEND, "elementwise", elementwise)
    x = ag.tensor([0.5, -1.0], dtype=ag.float16, device="strict")
    assert ag.nn.functional.silu(x).dtype == ag.float16
    assert ("silu", "f") in asked


def test_a_name_stands_for_one_formula():
    before = dict(FUSED)
    try:

        @fused("T x", "T out", "out = x;")
        def identity_of_test(x):
            """Itself."""
            return x

        assert FUSED["identity_of_test"].reference is identity_of_test.__wrapped__
        assert identity_of_test(np.ones(2)).tolist() == [1, 1]
        with pytest.raises(ValueError, match="identity_of_test"):
            fused("T x", "T out", "out = x;")(identity_of_test)
    finally:
        FUSED.clear()
        FUSED.update(before)

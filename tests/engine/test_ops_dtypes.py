"""Mixed dtypes: the dtype of every result, its value, or the error are those of PyTorch."""

import warnings

import pytest
from agdbg_tests_differential import error_of, facts

import agdbg_engine as ag
from agdbg_engine.nn import functional as ag_functional

DTYPES = ["float32", "float64", "int64", "int32", "int8", "uint8", "bool"]
OPERANDS = [(dtype, rank) for dtype in DTYPES for rank in (1, 0)]
NUMBERS = [2, 2.5, True, 0, -1]

LENIENT = {
    ("abs", "bool"), ("floor", "bool"), ("ceil", "bool"), ("round", "bool"), ("trunc", "bool"),
    ("relu", "bool"), ("clamp_min", "bool"), ("clamp_max", "bool"),
    *((name, dtype) for name in ("leaky_relu", "softplus", "silu", "gelu") for dtype in DTYPES),
}  # fmt: skip
"""Ops that PyTorch refuses for these dtypes and the engine does not."""


@pytest.fixture(scope="session")
def torch():
    """PyTorch, or a visible skip."""
    return pytest.importorskip("torch")


def operand(library, dtype, rank):
    return library.tensor([3, 1, 2] if rank else 2).to(getattr(library, dtype))


def outcome(function, library, *operands):
    """Facts of a result (a dict or a list of them), or the exception."""
    made = [operand(library, *o) if isinstance(o, tuple) else o for o in operands]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's about masks of bytes
        error = error_of(function, library, *made)
        return error if error != "nothing" else facts(function(library, *made))


def compare(torch, name, function, cases, excused=lambda case: False):
    found = []
    for case in cases:
        theirs, ours = outcome(function, torch, *case), outcome(function, ag, *case)
        if ours != theirs and not (excused(case) and not isinstance(theirs, dict)):
            found.append(f"{name}{case}\n  torch  {theirs}\n  engine {ours}")
    assert not found, f"{len(found)} of {len(cases)}\n" + "\n".join(found[:12])


TWO = {
    "add": lambda t, x, y: x + y,
    "sub": lambda t, x, y: x - y,
    "mul": lambda t, x, y: x * y,
    "div": lambda t, x, y: x / y,
    "pow": lambda t, x, y: x**y,
    "eq": lambda t, x, y: x == y,
    "lt": lambda t, x, y: x < y,
    "where": lambda t, x, y: t.where(t.tensor([True, False, True]), x, y),
    "add_": lambda t, x, y: x.add_(y),
    "mul_": lambda t, x, y: x.mul_(y),
    "div_": lambda t, x, y: x.div_(y),
    "pow_": lambda t, x, y: x.pow_(y),
}
ONLY_TENSORS = {
    "maximum": lambda t, x, y: t.maximum(x, y),
    "minimum": lambda t, x, y: t.minimum(x, y),
    "cat": lambda t, x, y: t.cat([x.reshape(-1), y.reshape(-1)]),
    "stack": lambda t, x, y: t.stack([x, y]) if x.shape == y.shape else None,
    "copy_": lambda t, x, y: x.copy_(y) if x.ndim >= y.ndim else None,
    "clamp": lambda t, x, y: t.clamp(x, max=y),
    "setitem": lambda t, x, y: x.__setitem__(..., y) or x if x.ndim >= y.ndim else None,
    "setitem by index": lambda t, x, y: x.__setitem__(t.tensor([0, 1, 2]), y) or x if x.ndim else None,
    "logical_and": lambda t, x, y: t.logical_and(x, y),
    "logical_xor": lambda t, x, y: t.logical_xor(x, y),
}
TENSOR_PAIRS = [(a, b) for a in OPERANDS for b in OPERANDS]
WITH_NUMBERS = [(a, n) for a in OPERANDS for n in NUMBERS]


@pytest.mark.parametrize("name", [*TWO, *ONLY_TENSORS])
def test_two_tensors(name, torch):
    pairs = [p for p in TENSOR_PAIRS if not (name in ("pow", "pow_") and p[0][0] == p[1][0] == "bool")]
    compare(torch, name, (TWO | ONLY_TENSORS)[name], pairs)


@pytest.mark.parametrize("name", TWO)
def test_a_tensor_and_a_number(name, torch):
    cases = [c for c in WITH_NUMBERS if not (c[0][0] == "uint8" and c[1] == -1)]
    compare(torch, name, TWO[name], cases, lambda case: name == "sub" and case[1] is True)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "pow"])
def test_a_number_and_a_tensor(name, torch):
    cases = [(n, a) for a, n in WITH_NUMBERS if not (a[0] == "uint8" and n == -1)]
    bools = ("sub", "pow")  # PyTorch refuses True - x, and powers of bools
    compare(torch, name, TWO[name], cases, lambda case: name in bools and case[0] is True)


BITS = {"and": lambda t, x, y: x & y, "or": lambda t, x, y: x | y, "xor": lambda t, x, y: x ^ y}


@pytest.mark.parametrize("name", BITS)
def test_bits(name, torch):
    """Floats are refused in words that name PyTorch's kernel."""
    integers = [(a, b) for a, b in TENSOR_PAIRS if "float" not in a[0] + b[0]]
    compare(torch, name, BITS[name], [*integers, (("float32", 1), ("float32", 1))])


ONE = {
    **{
        name: lambda t, x, name=name: getattr(t, name)(x)
        for name in [
            "neg",
            "exp",
            "expm1",
            "log",
            "log1p",
            "sqrt",
            "rsqrt",
            "reciprocal",
            "abs",
            "sign",
            "floor",
            "ceil",
            "round",
            "trunc",
            "sin",
            "cos",
            "tanh",
            "sigmoid",
            "relu",
            "square",
            "isnan",
            "isinf",
            "isfinite",
            "logical_not",
            "sum",
            "mean",
            "amax",
            "amin",
            "max",
            "min",
            "var",
            "std",
            "norm",
            "argmax",
            "argmin",
            "all",
        ]
    },
    "~": lambda t, x: ~x,
    "sum along": lambda t, x: x.sum(0),
    "mean along": lambda t, x: x.mean(0, True),
    "sum as": lambda t, x: x.sum(dtype=t.float64),
    "logsumexp": lambda t, x: x.logsumexp(0),
    "softmax": lambda t, x: x.softmax(0),
    "log_softmax": lambda t, x: x.log_softmax(0),
    "softmax as": lambda t, x: x.softmax(0, dtype=t.float64),
    "clamp": lambda t, x: x.clamp(0, 2),
    "clamp to floats": lambda t, x: x.clamp(0.5, 1.5),
    "clamp_min": lambda t, x: x.clamp_min(1),
    "clamp_max": lambda t, x: x.clamp_max(1.5),
    "masked_fill": lambda t, x: x.masked_fill(t.tensor([True, False, True]), 7.5),
    "masked_fill by a tensor": lambda t, x: x.masked_fill(t.tensor([True, False, True]), t.tensor(1.5)),
    "fill_": lambda t, x: x.fill_(1.5),
    "fill_ by a tensor": lambda t, x: x.fill_(t.tensor(1.5)),
    "zero_": lambda t, x: x.zero_(),
    "exp_": lambda t, x: x.exp_(),
    "neg_": lambda t, x: x.neg_(),
    "setitem of a number": lambda t, x: x.__setitem__(..., 1.5) or x,
    "index": lambda t, x: x[t.tensor([0, 1]).to(x.dtype)] if x.ndim else None,
    **{name: lambda t, x, name=name: getattr(x, name)() for name in ("float", "double", "half", "long", "int", "bool")},
    "type_as": lambda t, x: x.type_as(t.tensor(1.5)),
}
FUNCTIONAL = {
    "leaky_relu": lambda f, x: f.leaky_relu(x),
    "softplus": lambda f, x: f.softplus(x),
    "silu": lambda f, x: f.silu(x),
}


@pytest.mark.parametrize("name", ONE)
def test_one_tensor(name, torch):
    compare(torch, name, ONE[name], [(a,) for a in OPERANDS], lambda case: (name, case[0][0]) in LENIENT)


@pytest.mark.parametrize("name", FUNCTIONAL)
def test_one_tensor_in_nn(name, torch):
    def call(library, x):
        return FUNCTIONAL[name](ag_functional if library is ag else torch.nn.functional, x)

    compare(torch, name, call, [(a,) for a in OPERANDS], lambda case: (name, case[0][0]) in LENIENT)


def test_gelu(torch):
    def call(library, x):
        return library.nn.functional.gelu(x, approximate="tanh")

    compare(torch, "gelu", call, [(a,) for a in OPERANDS], lambda case: ("gelu", case[0][0]) in LENIENT)


MATRICES = {
    "mm": lambda t, x, y: x.reshape(1, -1) @ y.reshape(-1, 1),
    "mv": lambda t, x, y: x.reshape(1, -1) @ y.reshape(-1),
    "dot": lambda t, x, y: t.dot(x.reshape(-1), y.reshape(-1)),
    "bmm": lambda t, x, y: t.bmm(x.reshape(1, 1, -1), y.reshape(1, -1, 1)),
    "addmm": lambda t, x, y: t.addmm(x.reshape(-1)[:1], x.reshape(1, -1), y.reshape(-1, 1)),
    "outer": lambda t, x, y: t.outer(x.reshape(-1), y.reshape(-1)),
}


@pytest.mark.parametrize("name", MATRICES)
def test_products(name, torch):
    """Matrices do not promote; PyTorch also refuses products of bools, which the engine takes."""
    pairs = [(a, b) for a, b in TENSOR_PAIRS if a[1] == b[1] == 1 and a[0] != "bool"]
    compare(torch, name, MATRICES[name], pairs)


def test_another_default_dtype(torch):
    cases = [(a, n) for a, n in WITH_NUMBERS if n == 2.5]
    try:
        ag.set_default_dtype(ag.float64)
        torch.set_default_dtype(torch.float64)
        for name in ("add", "div", "pow"):
            compare(torch, name, TWO[name], cases)
        for name in ("exp", "reciprocal", "clamp to floats", "float"):
            compare(torch, name, ONE[name], [(a,) for a in OPERANDS], lambda case: case[0][0] == "bool")
    finally:
        ag.set_default_dtype(ag.float32)
        torch.set_default_dtype(torch.float32)


def test_gradients_have_the_dtype_of_their_tensor(torch):
    def program(library, x, y):
        x, y = x.to(library.float32).requires_grad_(), y.to(library.float64).requires_grad_()
        (x * y + y / x - x**y + library.where(x > y, x, y) + library.maximum(x, y)).sum().backward()
        library.cat([x, y]).sum().backward()
        return [x.grad, y.grad]

    cases = [(("int64", 1), ("int64", 1))]
    compare(torch, "gradients", program, cases)

"""Calls at the edge of what functions take: the same result as PyTorch's, or an error of the same type and words."""

import itertools
import math
import warnings

import pytest

import agdbg_engine as ag

torch = pytest.importorskip("torch", reason="PyTorch is the reference here")

CALLS = """
t.linalg.lstsq(t.ones(2, 3), t.ones(5))
t.linalg.lstsq(t.ones(2, 3), t.ones(2)).solution.shape
t.linalg.lstsq(t.ones(2, 3), t.ones(5, 2))
t.linalg.lstsq(t.eye(2).expand(4, 2, 2), t.ones(2))
t.linalg.lstsq(t.eye(2), t.ones(3, 2, 1))
F.conv1d(t.ones(1, 1, 3, dtype=t.complex64), t.ones(1, 1, 2))
F.conv2d(t.ones(1, 1, 3, 3, dtype=t.complex64), t.ones(1, 1, 2, 2, dtype=t.complex128))
F.conv_transpose1d(t.ones(1, 1, 3, dtype=t.complex64), t.ones(1, 1, 2))
F.conv1d(t.ones(1, 1, 3), t.ones(1, 1, 2, dtype=t.complex64))
t.multinomial(t.tensor([-1., 1.]), 1, True)
t.multinomial(t.tensor([-1., 1.]), 2, True)
t.multinomial(t.tensor([-1., 1.]), 1, False)
t.multinomial(t.tensor([math.nan, 1.]), 2, True)
t.multinomial(t.tensor([math.inf, 1.]), 2, True)
t.multinomial(t.tensor([[1., 1.], [-1., 1.]]), 2, True)
F.max_pool1d(t.ones(1, 1, 5), 2, padding=4)
F.max_pool1d(t.ones(1, 1, 5), 2, padding=4, return_indices=True)
F.max_pool1d(t.ones(1, 1, 5), 2, padding=-1, return_indices=True)
F.max_pool1d(t.ones(1, 1, 5), 0, return_indices=True)
F.max_pool1d(t.ones(1, 1, 5), 9, return_indices=True)
F.max_pool1d(t.ones(1, 1, 5), 2, 0, return_indices=True)
F.max_pool1d(t.ones(1, 1, 5), 2, dilation=0, return_indices=True)
F.max_pool1d(t.ones(1, 1, 0), 2, return_indices=True)
F.max_pool1d(t.ones(5), 2, return_indices=True)
F.max_pool1d(t.ones(1, 1, 5, dtype=t.bool), 2, return_indices=True)
F.max_pool1d(t.ones(1, 1, 5, dtype=t.int64), 2, return_indices=True)[0]
F.cross_entropy(t.tensor(1.), t.tensor(1.))
F.cross_entropy(t.tensor(1.), t.tensor(1))
F.cross_entropy(t.tensor(1.), t.tensor(1.), label_smoothing=.1)
t.arange(2, out=t.zeros(2, 1))
t.arange(6, out=t.zeros(3, 2).t())
t.arange(2, out=t.zeros(3))
t.arange(0, out=t.zeros(3))
t.arange(0, out=t.zeros(3, 0))
t.arange(0, 4, out=t.zeros(2, 2, dtype=t.int64))
t.linspace(0, 4, 3, out=t.zeros(3, 1))
t.linspace(0, 3, 4, out=t.zeros(2, 2).t())
t.linspace(0, 3, 4, out=t.zeros(3))
t.logspace(0, 3, 4, 2., out=t.zeros(2, 2))
t.randint(1, 2, (4,), out=t.zeros(2, 2, dtype=t.int64))
t.normal(1., 0., (4,), out=t.zeros(2, 2))
t.tensor([True]).conj_physical_()
t.tensor([3]).conj_physical_()
t.tensor([3 + 4j]).conj_physical_()
""".strip().split("\n")


def result(library, function):
    """What it computes and warns of, or the error."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = function(library)
        except Exception as error:
            return type(error).__name__, str(error).split("\n", 1)[0]
    if hasattr(found, "tolist"):
        found = str(found.dtype).rpartition(".")[2], found.tolist()
    return str(found).removeprefix("torch.Size(").removesuffix(")"), [_words(w) for w in told]


def _words(warning):
    return str(warning.message).partition(" (Triggered internally")[0]


@pytest.mark.parametrize("call", CALLS)
def test_same_as_torch(call):
    made = eval(f"lambda t, F, math: {call}")
    ours, theirs = (result(lib, lambda t: made(t, t.nn.functional, math)) for lib in (ag, torch))
    if ".shape" in call:
        assert ours[0].strip("()[],") == theirs[0].strip("()[],")
    else:
        assert ours == theirs


def test_what_no_mesh_is_made_of_is_not_printed():
    """PyTorch prints the tensor, which would be read from a device for that."""
    with pytest.raises(
        RuntimeError, match=r"Expected 0D or 1D tensor in the tensor list but got one of shape \[2, 3\]"
    ):
        ag.meshgrid(ag.ones(2, 3), indexing="ij")


# ----- Fourier transforms -----

ONE = [
    {}, *({"dim": d} for d in (0, 1, 2, -1, -2, -3)), *({"n": n} for n in (0, -1, 3)), {"n": 2, "dim": 5}, {"norm": "x"},
]  # fmt: skip
SEVERAL = [
    {}, {"norm": "x"}, {"s": (2,), "dim": (0, 1)}, {"s": (2, 3), "dim": (0, 1)}, {"s": (2, 0), "dim": (0, 7)},
    *({"dim": d} for d in ((0,), (1,), (0, 0), (0, -1), (0, 1), (0, 2), (-1, -2), (5, 5), (), (-3,), (1, 0, 2), 0, -1, 2)),
    *({"s": s} for s in ((2,), (2, 2), (2, 2, 2), (2, 2, 2, 2), (0,), (0, 1), (-1,), (-1, 2), (-2, 2), ())), {"s": (2, 2), "dim": (0, 0)},
]  # fmt: skip


@pytest.mark.parametrize("name", [f"{way}fft{n}" for way in ("", "i", "r", "ir", "h", "ih") for n in ("", "2", "n")])
def test_transforms_of_what_is_not_there(name):
    differ = []
    for shape, is_complex in itertools.product([(), (1,), (2,), (3, 4), (2, 3, 4)], [False, True]):
        for keywords in SEVERAL if name[-1] in "2n" else ONE:

            def call(t, shape=shape, is_complex=is_complex, keywords=keywords):
                made = getattr(t.fft, name)(t.ones(shape) + 0j if is_complex else t.ones(shape), **keywords)
                return str(made.dtype).rpartition(".")[2], *made.shape

            ours, theirs = result(ag, call), result(torch, call)
            if ours != theirs:
                differ.append((shape, is_complex, keywords, ours, theirs))
    assert not differ


# ----- powers -----


@pytest.mark.parametrize("function", ["pow", "float_power"])
def test_powers_by_tensors_are_no_roots(function):
    """With one element or without dimensions, in value and gradient."""
    differ = []
    shapes = [(), (1,), (2,)]
    bases = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, math.inf, -math.inf, math.nan]
    for kind, of_x, of_e in itertools.product(("float64", "float32"), shapes, shapes):
        for x, e in itertools.product(bases, [0.5, -0.5, 0.0, 1.0, 2.0, 1.5, -1.5]):
            ours, theirs = (str(_power(lib, function, kind, (of_x, x), (of_e, e))) for lib in (ag, torch))
            if ours != theirs:
                differ.append((kind, of_x, of_e, x, e, ours, theirs))
    assert not differ


def _power(t, function, kind, base, exponent):
    x, e = (t.full(shape, value, dtype=getattr(t, kind), requires_grad=True) for shape, value in (base, exponent))
    made = getattr(t, function)(x, e)
    made.sum().backward()
    return [[f"{v:.6g}" for v in tensor.detach().double().reshape(-1).tolist()] for tensor in (made, x.grad, e.grad)]

"""A NaN or an infinity that comes in as a gradient or a tangent reaches the same places as in PyTorch, in all ops of its list."""

import fnmatch
import itertools

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is the reference here")

import torch
from agdbg_tests_op_cases import Case, Report, Skip, attempt, drawn, leaves_of, run, seeded, settled
from agdbg_tests_op_compare import array_of
from agdbg_tests_op_convert import tensor
from agdbg_tests_op_db import OPS, present
from agdbg_tests_op_grads import differentiable, floating

import agdbg_engine as engine

LIBRARIES = (torch, engine)
COMING = [(np.nan, 0.0), (np.inf, 1.0)]
"""What is at one place, and by what the random numbers elsewhere are multiplied."""
MOST = 2
"""Samples of an op."""

_SUMS = "infinity minus infinity: the terms of a sum are put together otherwise"
_LAPACK = "NaN and infinities meet the zeros of a triangle, or not, as the routines of LAPACK and BLAS multiply"
_BLOCKS = "the steps of a Fourier transform mix the elements by the plan that the library makes"
DIFFERENT = {
    ("fft.*", "*"): _BLOCKS,
    ("stft", "*"): _BLOCKS,
    ("lu", "*"): _LAPACK,
    ("lu_solve", "*"): _LAPACK,
    ("linalg.lu*", "*"): _LAPACK,
    ("ormqr", "*"): _LAPACK,
    ("linalg.householder_product", "* inf"): _LAPACK,
    ("qr", "* inf"): _LAPACK,
    ("linalg.qr", "* inf"): _LAPACK,
    ("linalg.eigh", "* inf"): _LAPACK,
    ("nn.functional.[gil]*_norm", "* inf"): _SUMS,
    ("native_*_norm", "* inf"): _SUMS,
    ("nn.functional.linear_cross_entropy:chunked", "backward inf"): _SUMS,
    ("logcumsumexp", "forward inf"): "PyTorch multiplies by exp(x - max), which may be 0",
    ("as_strided_scatter", "backward *"): "PyTorch gives the gradient of the overwritten elements, not of the others",
}
"""Patterns of ops, and of a check with what comes in, which may differ: why."""


def covered(name, what):
    """Whether a difference is in the table."""
    return any(fnmatch.fnmatchcase(name, op) and fnmatch.fnmatchcase(what, check) for op, check in DIFFERENT)


def numbers(like, bad, rest):
    """Numbers in the shape and dtype of a tensor: ``bad`` in the middle, random ones times ``rest`` elsewhere."""
    made = np.asarray(np.random.default_rng(0).standard_normal(tuple(like.shape)) * rest)
    made.reshape(-1)[made.size // 2 : made.size // 2 + 1] = bad
    return torch.from_numpy(made).to(getattr(torch, str(like.dtype).removeprefix("torch.")))


def kinds(x):
    """Of each number: NaN, an infinity, or 0 for what is finite."""
    found = array_of(x)
    return np.where(np.isnan(found), np.nan, np.where(np.isinf(found), found, 0.0))


def compared(theirs, ours, where):
    """A line where two tensors, or None for zeros, are not finite at different places."""
    if theirs is None and ours is None:
        return
    a, b = (None if x is None else kinds(x) for x in (theirs, ours))
    a, b = (np.zeros_like(b) if a is None else a), (np.zeros_like(a) if b is None else b)
    if a.shape != b.shape:
        yield f"{where}: shape {a.shape} in torch, {b.shape} in the engine"
    elif not np.array_equal(a, b, equal_nan=True):
        at = np.flatnonzero((a != b) & ~((a != a) & (b != b)))[:4]
        yield f"{where}: at {at.tolist()} torch {a.ravel()[at].tolist()}, engine {b.ravel()[at].tolist()}"


def of_both(function):
    """By library what ``function`` gives; a skip where PyTorch draws numbers."""
    theirs, random = drawn(lambda: attempt(function, torch))
    if random:
        raise Skip("random")
    ours = attempt(function, engine)
    settled(theirs, ours)
    return {torch: theirs, engine: ours}


def backward(case):
    """Differences of gradients."""

    def recorded(library):
        args, kwargs, leaves = case.arguments(library)
        with library.enable_grad():
            return differentiable(case.wrapped(library)(*args, **kwargs)), leaves

    found = of_both(recorded)
    results = found[torch][0]
    if not results or len(results) != len(found[engine][0]):
        raise Skip("no gradient in torch")
    for bad, rest in COMING:
        coming = [numbers(x, bad, rest) for x in results]

        def gradients(library, coming=coming):
            seeds = [tensor(s, library) for s in coming]
            return library.autograd.grad(*found[library], seeds, allow_unused=True, retain_graph=True)

        grads = of_both(gradients)
        for i, (a, b) in enumerate(zip(grads[torch], grads[engine], strict=True)):
            yield from compared(a, b, f"backward {bad}: gradient of tensor {i}, beside {rest}")


def forward(case):
    """Differences of tangents."""
    if not case.op.supports_forward_ad:
        raise Skip("no forward mode in torch")
    for bad, rest in COMING:

        def pushed(library, bad=bad, rest=rest):
            mode = library.autograd.forward_ad
            with mode.dual_level():
                args, kwargs, _ = case.arguments(
                    library, leaf=lambda x: mode.make_dual(x, tensor(numbers(x, bad, rest), library))
                )
                results = [x for x in leaves_of(case.wrapped(library)(*args, **kwargs)) if floating(x)]
                return [mode.unpack_dual(x).tangent for x in results]

        found = of_both(pushed)
        for i, (a, b) in enumerate(zip(found[torch], found[engine], strict=True)):
            yield from compared(a, b, f"forward {bad}: tangent of result {i}, beside {rest}")


def cases(name):
    """The first samples of an op, in double precision."""
    op = OPS[name]
    with seeded(name):
        made = list(itertools.islice(op.sample_inputs_func(op, "cpu", torch.float64, True), MOST))
    return [Case(name, op, s) for s in made]


CHECKS = {"backward": backward, "forward": forward}
NAMES = [n for n in present() if torch.float64 in OPS[n].dtypes and OPS[n].supports_autograd]


def differences(name):
    """What differs, and is not in the table."""
    made = cases(name)
    found = [f for check in CHECKS for f in run(Report(name, check), made, CHECKS[check]).failures]
    return [str(f) for f in found if not covered(name, f.text.partition(":")[0])]


@pytest.mark.parametrize("name", NAMES)
def test_same_places_as_in_torch(name):
    told = differences(name)
    assert not told, "\n".join(told[:6])


def test_the_table_names_ops():
    assert all(any(fnmatch.fnmatchcase(n, op) for n in NAMES) for op, _ in DIFFERENT)

"""Every row of the op table at NaN, infinities and zeros: value, gradients and second derivatives are those of PyTorch."""

import warnings
from itertools import zip_longest

import numpy as np
import pytest
from agdbg_tests_differential import Numbers
from agdbg_tests_op_samples import SAMPLES, Raw

import agdbg_engine as ag
from agdbg_engine.ops import ROWS

SPECIAL = {
    "nan": [np.nan],
    "inf": [np.inf],
    "minus inf": [-np.inf],
    "zero": [0.0],
    "minus zero": [-0.0],
    "mixed": [0.0, 1.0, np.nan, -2.0, np.inf, 0.5, -np.inf, -0.0],
}
SKIPPED_BY_BLAS = ("mm-1", "mixed")
"""A number times a row: NumPy's BLAS does nothing when the number is 0, also where the row has NaN."""

CASES = [(s, v) for s in SAMPLES if s.floats for v in SPECIAL if (str(s), v) != SKIPPED_BY_BLAS]


@pytest.fixture(scope="session")
def torch():
    """PyTorch, or a visible skip."""
    return pytest.importorskip("torch")


def filled(sample, values):
    """The float arguments of a sample with the special values in them."""
    return [np.resize(np.roll(values, -n), sample.args[i].shape) for n, i in enumerate(sample.floats)]


def facts(library, function, sample, floats, raw, order):
    """Value, gradients and (``order`` 2) gradients of the sum of the gradients, ``None`` for those that are not there."""
    leaves = []

    def convert(array):
        t = library.from_numpy(np.array(array))
        if array.dtype == np.float64:
            leaves.append(t.requires_grad_())
        return t

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = function(*(raw(a) for a in sample.called(convert, floats)))
        found = [out]
        if out.requires_grad and out.dtype == library.float64:
            grads = library.autograd.grad(out.sum(), leaves, create_graph=order == 2, allow_unused=True)
            found += grads
            rest = [g.sum() for g in grads if g is not None and g.requires_grad]
            if order == 2 and rest:
                found += library.autograd.grad(sum(rest[1:], rest[0]), leaves, allow_unused=True)
    return [None if t is None else t.detach().numpy(force=True) for t in found]


def same(ours, theirs):
    """A gradient that is not there is one of zeros."""
    return all(
        (a is None or not a.any()) if b is None else (not b.any()) if a is None else Numbers(a) == Numbers(b)
        for a, b in zip_longest(ours, theirs)
    )


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(("sample", "values"), CASES, ids=str)
def test_values_and_derivatives(sample, values, order, torch):
    floats = filled(sample, SPECIAL[values])
    theirs = facts(torch, sample.torch, sample, floats, lambda a: a, order)
    ours = facts(ag, ROWS[sample.row], sample, floats, lambda a: a.value if isinstance(a, Raw) else a, order)
    assert same(ours, theirs), (floats, ours, theirs)

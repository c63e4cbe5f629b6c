"""Tangents of every row of the op table: against PyTorch, against differences, through backward and out of it, in place."""

import numpy as np
import pytest
from agdbg_tests_forward_tools import pytorch
from agdbg_tests_op_samples import F8, SAMPLES, Raw

import agdbg_engine as ag
from agdbg_engine.ops import METHODS, ROWS
from agdbg_engine.ops.inplace import inplace
from agdbg_engine.ops.table import TABLE

fw = ag.autograd.forward_ad
BY_NAME = {row.name: row for row in TABLE}


def differentiable(sample):
    """Positions of the float arguments that the row has tangents for."""
    return [i for i in sample.floats if BY_NAME[sample.row].args[i] in BY_NAME[sample.row].differentiable]


SAMPLES_WITH_TENSORS = [s for s in SAMPLES if differentiable(s) and s.row != "fw_primal"]
"""All but those of what takes the tangent away."""
every_sample = pytest.mark.parametrize("sample", SAMPLES_WITH_TENSORS, ids=str)


def samples_but(*rows):
    """A mark for all samples but those of rows that PyTorch cannot do."""
    return pytest.mark.parametrize("sample", [s for s in SAMPLES_WITH_TENSORS if s.row not in rows], ids=str)


@pytest.fixture(scope="session")
def torch():
    """PyTorch, or a visible skip."""
    return pytorch()


def numbers(shape, phase=0.3):
    """Fixed arbitrary numbers."""
    n = int(np.prod(shape))
    return np.asarray(np.cos(np.arange(n) * 1.7 + phase) * 0.5 + 0.3).reshape(shape)


def arguments(t, sample, make):
    """The arguments for namespace ``t``; the differentiable ones are ``make(position, tensor)``."""
    wanted = differentiable(sample)
    converted = []
    for i, a in enumerate(sample.args):
        if isinstance(a, np.ndarray):
            x = t.from_numpy(a)
            converted.append(make(i, x) if i in wanted else x)
        else:
            converted.append(a.value if isinstance(a, Raw) and t is ag else a)
    return converted


def function(t, sample):
    return ROWS[sample.row] if t is ag else sample.torch


def dual(t, i, x):
    """``x`` with a fixed tangent."""
    return t.autograd.forward_ad.make_dual(x, t.from_numpy(numbers(tuple(x.shape), i + 0.1)))


def tangent(t, sample, duals=None):
    """The tangent of the row when the arguments ``duals`` (all by default) have one."""
    wanted = differentiable(sample) if duals is None else duals
    with t.autograd.forward_ad.dual_level():
        args = arguments(t, sample, lambda i, x: dual(t, i, x) if i in wanted else x)
        out = t.autograd.forward_ad.unpack_dual(function(t, sample)(*args))
        return None if out.tangent is None else out.tangent.numpy(force=True)


def close(a, b, **tolerance):
    np.testing.assert_allclose(a, b, **({"rtol": 1e-9, "atol": 1e-11} | tolerance))


# ----- one tangent -----


@every_sample
def test_tangent_against_pytorch(sample, torch):
    ours, theirs = tangent(ag, sample), tangent(torch, sample)
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    close(ours, theirs)


@every_sample
def test_an_argument_without_tangent_counts_as_constant(sample, torch):
    for i in differentiable(sample):
        ours, theirs = tangent(ag, sample, [i]), tangent(torch, sample, [i])
        if theirs is None and not ours.any():  # an argument on which only the choice of a branch depends
            continue
        assert ours.shape == theirs.shape
        close(ours, theirs)


@every_sample
def test_tangent_against_differences(sample):
    found = tangent(ag, sample)

    def moved(step):
        args = arguments(ag, sample, lambda i, x: x + step * ag.from_numpy(numbers(x.shape, i + 0.1)))
        return ROWS[sample.row](*args).numpy()

    eps = 1e-6 if found.dtype == F8 else 1e-2
    coarse = {"rtol": 1e-3, "atol": 1e-3} if found.dtype != F8 else {"rtol": 1e-6, "atol": 1e-7}
    close(found, (moved(eps) - moved(-eps)) / (2 * eps), **coarse)


@every_sample
def test_the_value_is_that_without_tangents_and_nothing_is_shared_with_them(sample):
    with fw.dual_level():
        duals = []
        args = arguments(ag, sample, lambda i, x: duals.append(dual(ag, i, x)) or duals[-1])
        out = ROWS[sample.row](*args)
        expected = ROWS[sample.row](*arguments(ag, sample, lambda i, x: x))
        np.testing.assert_array_equal(out.numpy(), expected.numpy())
        primal, tangent = fw.unpack_dual(out)
        assert not np.shares_memory(primal.numpy(), tangent.numpy())
        assert tangent.stride() == primal.stride() or tangent.numel() < 2
        given = [fw.unpack_dual(d).tangent.numpy() for d in duals]
        sharing = any(np.shares_memory(tangent.numpy(), g) for g in given)
        assert sharing == (np.shares_memory(primal.numpy(), duals[0].numpy()) and out.numel() > 0)


# ----- with backward -----


def forward_over_reverse(t, sample, create_graph):
    """The tangents of the gradients: the second derivative applied to the tangents."""
    with t.autograd.forward_ad.dual_level():
        duals = []
        args = arguments(t, sample, lambda i, x: duals.append(dual(t, i, x).requires_grad_()) or duals[-1])
        out = function(t, sample)(*args)
        g = t.from_numpy(numbers(tuple(out.shape), 2.0).astype(str(out.dtype).removeprefix("torch.")))
        grads = t.autograd.grad(out, duals, g, create_graph=create_graph)
        pairs = [t.autograd.forward_ad.unpack_dual(x) for x in grads]
        return [[p.numpy(force=True), None if d is None else d.numpy(force=True)] for p, d in pairs]


@pytest.mark.parametrize("create_graph", [False, True])
@samples_but("silu")  # silu_backward, which is called without create_graph, has no forward mode
def test_forward_over_reverse_against_pytorch(sample, create_graph, torch):
    ours, theirs = (forward_over_reverse(t, sample, create_graph) for t in (ag, torch))
    for (p, d), (q, e) in zip(ours, theirs, strict=True):
        close(p, q)
        close(0 * p if d is None else d, 0 * q if e is None else e)


def reverse_over_forward(t, sample):
    """The gradients of the (weighted) tangent of the row in its arguments and their tangents."""
    with t.autograd.forward_ad.dual_level():
        leaves, duals = [], []

        def make(i, x):
            leaves.extend([x.clone().requires_grad_(), t.from_numpy(numbers(tuple(x.shape), i + 0.1)).requires_grad_()])
            duals.append(t.autograd.forward_ad.make_dual(*leaves[-2:]))
            return duals[-1]

        out = t.autograd.forward_ad.unpack_dual(function(t, sample)(*arguments(t, sample, make))).tangent
        if not out.requires_grad:
            return [np.zeros(tuple(x.shape)) for x in leaves]
        g = t.from_numpy(numbers(tuple(out.shape), 2.0).astype(str(out.dtype).removeprefix("torch.")))
        grads = t.autograd.grad(out, leaves, g, allow_unused=True, materialize_grads=True)
        return [x.numpy(force=True) for x in grads]


@samples_but("logsumexp", "softmax_dim", "log_softmax_dim")  # whose decompositions write to what they have saved
def test_reverse_over_forward_against_pytorch(sample, torch):
    for ours, theirs in zip(reverse_over_forward(ag, sample), reverse_over_forward(torch, sample), strict=True):
        close(ours, theirs)


@every_sample
def test_forward_over_reverse_is_reverse_over_reverse(sample):
    """Independent of PyTorch: the tangent of the gradient is the gradient of (gradient . tangent)."""
    found = forward_over_reverse(ag, sample, create_graph=False)
    leaves = []
    args = arguments(ag, sample, lambda i, x: leaves.append(x.clone().requires_grad_()) or leaves[-1])
    out = ROWS[sample.row](*args)
    g = ag.from_numpy(numbers(out.shape, 2.0).astype(out.dtype))
    grads = ag.autograd.grad(out, leaves, g, create_graph=True)
    ts = [ag.from_numpy(numbers(x.shape, i + 0.1)) for i, x in zip(differentiable(sample), leaves, strict=True)]
    total = sum(((x * t).sum() for x, t in zip(grads, ts, strict=True)), ag.tensor(0.0, dtype=ag.float64))
    if not total.requires_grad:
        expected = [np.zeros(x.shape) for x in leaves]
    else:
        expected = [x.numpy() for x in ag.autograd.grad(total, leaves, allow_unused=True, materialize_grads=True)]
    for (p, d), e in zip(found, expected, strict=True):
        close(0 * p if d is None else d, e)


# ----- at two levels -----


def second(t, sample):
    """The tangent of the tangent, for other tangents at the inner level."""
    with fw.nested_level() as outer:
        make = lambda i, x: fw.make_dual(x, ag.from_numpy(numbers(x.shape, i + 0.1)), level=outer)
        with fw.nested_level() as inner:
            args = arguments(
                ag, sample, lambda i, x: fw.make_dual(make(i, x), ag.from_numpy(numbers(x.shape, i + 1.1)), level=inner)
            )
            tangent = fw.unpack_dual(ROWS[sample.row](*args), level=inner).tangent
        found = fw.unpack_dual(tangent, level=outer).tangent
        return np.zeros(tangent.shape) if found is None else found.numpy()


@every_sample
def test_tangent_of_the_tangent_is_the_tangent_of_the_gradient(sample):
    """Both are the second derivative, applied to the two tangents and weighted."""
    found = second(ag, sample)
    weights = numbers(found.shape, 2.0).astype(found.dtype)
    with fw.nested_level() as level:
        leaves, duals = [], []

        def make(i, x):
            leaves.append(fw.make_dual(x, ag.from_numpy(numbers(x.shape, i + 0.1)), level=level).requires_grad_())
            duals.append(ag.from_numpy(numbers(x.shape, i + 1.1)))
            return leaves[-1]

        out = ROWS[sample.row](*arguments(ag, sample, make))
        grads = ag.autograd.grad(out, leaves, ag.from_numpy(weights.astype(out.dtype)))
        tangents = [fw.unpack_dual(g, level=level).tangent for g in grads]
        right = sum((t.numpy() * d.numpy()).sum() for t, d in zip(tangents, duals, strict=True) if t is not None)
    close((found * weights).sum(), right, **({} if found.dtype == F8 else {"rtol": 1e-5, "atol": 1e-6}))


# ----- in place -----

INPLACE = [s for s in SAMPLES_WITH_TENSORS if BY_NAME[s.row].inplace and isinstance(s.args[0], np.ndarray)]


@pytest.mark.parametrize("known", [True, False], ids=["tangent before", "no tangent before"])
@pytest.mark.parametrize("sample", INPLACE, ids=str)
def test_inplace_form_has_the_tangent_of_the_op(sample, known):
    duals = differentiable(sample) if known else [i for i in differentiable(sample) if i]
    expected = tangent(ag, sample, duals)
    with fw.dual_level():
        target, *rest = arguments(ag, sample, lambda i, x: dual(ag, i, x) if i in duals else x)
        if ROWS[sample.row](target, *rest).shape != target.shape:
            return
        target = fw.make_dual(*(x.clone() for x in fw.unpack_dual(target))) if known else target.clone()
        before = fw.unpack_dual(target).tangent
        name = sample.row + "_"
        if name in METHODS and name != "index_put_":
            METHODS[name](target, *rest)
        else:  # what is no method, and what as one wants index tensors
            inplace(target, name, ROWS[sample.row], tuple(rest))
        after = fw.unpack_dual(target).tangent
        assert after is before or not known
        assert (after is None) == (expected is None)
        if expected is not None:
            close(after.numpy(), expected)

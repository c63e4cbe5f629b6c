"""Every row of the op table: value, gradient, second gradient, tangent, in-place form; against PyTorch, NumPy and differences."""

import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from agdbg_tests_op_samples import F8, SAMPLES, Raw

import agdbg_engine as ag
from agdbg_engine.ops import METHODS, ROWS, _generated
from agdbg_engine.ops.table import TABLE

BY_NAME = {row.name: row for row in TABLE}
COMPLEX = {"complex_raw", "polar_raw", "view_as_real", "view_as_complex"}
"""Rows that take or give complex numbers: ``test_complex_ops.py`` has them."""
every_sample = pytest.mark.parametrize("sample", SAMPLES, ids=str)
TENSORS_ONLY = [
    s
    for s in SAMPLES
    if not {n for n, a in zip(BY_NAME[s.row].args, s.args, strict=False) if not isinstance(a, np.ndarray)}
    & set(BY_NAME[s.row].differentiable)
]
"""Tangent formulas are for tensors: no argument that has a gradient is a number."""


@pytest.fixture(scope="session")
def torch():
    """PyTorch, or a visible skip."""
    return pytest.importorskip("torch")


# ----- the same call in the engine, in PyTorch, on buffers -----


def differentiable(sample):
    """Positions of the float arguments that the row has gradients for."""
    row = BY_NAME[sample.row]
    return [i for i in sample.floats if row.args[i] in row.differentiable]


def leaves_of(sample, wanted=None):
    """Engine arguments: a leaf for every float argument (those of ``wanted`` require grad), and all arguments."""
    wanted = differentiable(sample) if wanted is None else wanted
    args = []
    for i, a in enumerate(sample.args):
        if isinstance(a, np.ndarray):
            t = ag.from_numpy(a)
            args.append(t.requires_grad_() if i in wanted else t)
        else:
            args.append(a.value if isinstance(a, Raw) else a)
    return [args[i] for i in wanted], args


def torch_leaves_of(torch, sample, wanted=None):
    wanted = differentiable(sample) if wanted is None else wanted
    args = []
    for i, a in enumerate(sample.args):
        if isinstance(a, np.ndarray):
            t = torch.from_numpy(a)
            args.append(t.requires_grad_() if i in wanted else t)
        else:
            args.append(a)
    return [args[i] for i in wanted], args


def call(sample, arrays):
    """The value of the row on buffers, the differentiable ones replaced by ``arrays``."""
    given = dict(zip(differentiable(sample), arrays, strict=True))
    args = []
    for i, a in enumerate(sample.args):
        a = given.get(i, a)
        args.append(ag.from_numpy(np.asarray(a)) if isinstance(a, np.ndarray) else a.value if isinstance(a, Raw) else a)
    return ROWS[sample.row](*args).numpy()


def cotangent(shape, dtype=F8):
    """A fixed arbitrary gradient."""
    n = int(np.prod(shape))
    return np.asarray(np.cos(np.arange(n) * 1.7 + 0.3) + 0.1, dtype).reshape(shape)


def tangents(sample):
    return [weights(sample.args[i].shape) for i in differentiable(sample)]


def weights(shape):
    """Other fixed arbitrary numbers."""
    return np.asarray(cotangent(shape) * 0.5 + 0.3)


def inputs(sample):
    return [sample.args[i] for i in differentiable(sample)]


def differences(function, arrays, g, eps=1e-6):
    """Central differences of ``sum(g * function(arrays))`` in every element of every array."""
    grads = []
    for k, array in enumerate(arrays):
        grad = np.zeros(array.shape)
        for at in np.ndindex(array.shape):
            sides = []
            for step in (eps, -eps):
                moved = [a.copy() for a in arrays]
                moved[k][at] += step
                sides.append((g * function(moved)).sum())
            grad[at] = (sides[0] - sides[1]) / (2 * eps)
        grads.append(grad)
    return grads


def close(ours, theirs, **tolerance):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, **({"rtol": 1e-9, "atol": 1e-11} | tolerance))


def gradients(sample, g=None):
    """Value and gradients by backward(): the fast path."""
    leaves, args = leaves_of(sample)
    out = ROWS[sample.row](*args)
    out.backward(ag.from_numpy(cotangent(out.shape, out.dtype) if g is None else g))
    return out, [x.grad.numpy() for x in leaves]


# ----- value -----


@every_sample
def test_value_against_numpy(sample):
    out = ROWS[sample.row](*leaves_of(sample)[1])
    expected = np.asarray(sample.numpy(*sample.args))
    assert out.shape == expected.shape
    np.testing.assert_allclose(out.detach().numpy(), expected, rtol=1e-7, atol=1e-12)


@every_sample
def test_value_name_and_dtype_against_pytorch(sample, torch):
    ours = ROWS[sample.row](*leaves_of(sample)[1])
    theirs = sample.torch(*torch_leaves_of(torch, sample)[1])
    assert ours.shape == tuple(theirs.shape)
    assert str(ours.dtype) == str(theirs.dtype).removeprefix("torch.")
    close([ours.detach().numpy()], [theirs.detach().numpy()])


# ----- first gradient -----


@every_sample
def test_gradient_against_differences(sample):
    out, grads = gradients(sample)
    g = cotangent(out.shape)
    tolerance = {"rtol": 1e-3, "atol": 1e-3} if out.dtype != F8 else {"rtol": 1e-6, "atol": 1e-7}
    eps = 1e-6 if out.dtype == F8 else 1e-2
    close(grads, differences(lambda a: call(sample, a), inputs(sample), g, eps), **tolerance)


@every_sample
def test_gradient_against_pytorch(sample, torch):
    out, grads = gradients(sample)
    leaves, args = torch_leaves_of(torch, sample)
    theirs = sample.torch(*args)
    theirs.backward(torch.from_numpy(cotangent(out.shape, out.dtype)))
    close(grads, [x.grad.numpy(force=True) for x in leaves])  # PyTorch has zeros without memory


def through_a_hook(sample):
    """The general path on buffers: a hook on the result."""
    leaves, args = leaves_of(sample)
    out = ROWS[sample.row](*args)
    seen = []
    out.register_hook(seen.append)
    out.backward(ag.from_numpy(cotangent(out.shape, out.dtype)))
    assert len(seen) == 1
    return [x.grad.numpy() for x in leaves]


def through_grad(sample):
    leaves, args = leaves_of(sample)
    out = ROWS[sample.row](*args)
    return [g.numpy() for g in ag.grad(out, leaves, ag.from_numpy(cotangent(out.shape, out.dtype)))]


def through_the_recorded_formulas(sample):
    leaves, args = leaves_of(sample)
    out = ROWS[sample.row](*args)
    grads = ag.grad(out, leaves, ag.from_numpy(cotangent(out.shape, out.dtype)), create_graph=True)
    return [g.detach().numpy() for g in grads]


def through_second_outputs(sample):
    """Inputs that are output 1 of their node, so that gradients go by number."""
    leaves, args = leaves_of(sample)
    wanted = differentiable(sample)
    for i, x in zip(wanted, leaves, strict=True):
        args[i] = ag.ops.unbind(ag.ops.stack([x.detach(), x]))[1]
    out = ROWS[sample.row](*args)
    out.backward(ag.from_numpy(cotangent(out.shape, out.dtype)))
    return [x.grad.numpy() for x in leaves]


def through_sums(sample):
    """The node runs twice into the same leaves: gradients are added up."""
    leaves, args = leaves_of(sample)
    for _ in range(2):
        out = ROWS[sample.row](*args)
        out.backward(ag.from_numpy(np.asarray(cotangent(out.shape, out.dtype) / 2, out.dtype)))
    return [x.grad.numpy() for x in leaves]


@pytest.mark.parametrize(
    "path",
    [through_a_hook, through_grad, through_the_recorded_formulas, through_second_outputs, through_sums],
    ids=lambda f: f.__name__,
)
@every_sample
def test_every_path_gives_the_same_gradient(sample, path):
    close(path(sample), gradients(sample)[1], rtol=1e-12, atol=1e-14)


@every_sample
def test_gradients_are_private(sample):
    """Two gradients of one pass, or a gradient and what was passed in, never share memory."""
    leaves, args = leaves_of(sample)
    out = ROWS[sample.row](*args)
    g = ag.from_numpy(cotangent(out.shape, out.dtype))
    out.backward(g)
    arrays = (
        [x.grad.numpy() for x in leaves]
        + [g.numpy()]
        + [x.numpy() for x in args if isinstance(x, ag.Tensor) and not x.requires_grad]
    )
    for a, b in itertools.combinations(arrays, 2):
        assert not np.shares_memory(a, b)
    for x in leaves:
        assert x.grad.shape == x.shape
        assert x.grad.dtype == x.dtype
        x.grad.numpy()[...] = 1  # writable and not broadcast
        assert (x.grad.numpy() == 1).all()


# ----- second gradient -----


def is_coarse(sample):
    """Whether the result is float32, too coarse for differences of gradients."""
    return sample.row == "to_copy" and sample.args[1] != F8


def engine_second(sample):
    leaves, args = leaves_of(sample)
    out = ROWS[sample.row](*args)
    g = ag.from_numpy(cotangent(out.shape, out.dtype)).requires_grad_()
    first = ag.grad(out, leaves, g, create_graph=True)
    weighted = [ag.ops.sum(f * ag.from_numpy(weights(f.shape))) for f in first]
    total = sum(weighted[1:], weighted[0])
    if not total.requires_grad:
        return [np.zeros(x.shape) for x in (*leaves, g)]
    found = ag.grad(total, [*leaves, g], allow_unused=True, materialize_grads=True)
    return [x.numpy() for x in found]


@pytest.mark.parametrize("sample", [s for s in SAMPLES if not is_coarse(s)], ids=str)
def test_second_gradient_against_differences(sample):
    leaves = inputs(sample)
    shape = call(sample, leaves).shape
    vs = [weights(x.shape) for x in leaves]

    def weighted_first(arrays):
        changed = with_inputs(sample, arrays[:-1])
        return sum((v * f).sum() for v, f in zip(vs, gradients(changed, arrays[-1])[1], strict=True))

    expected = differences(weighted_first, [*leaves, cotangent(shape)], np.array(1.0), 1e-5)
    close(engine_second(sample), expected, rtol=1e-5, atol=1e-6)


def with_inputs(sample, arrays):
    from dataclasses import replace

    args = list(sample.args)
    for i, a in zip(differentiable(sample), arrays, strict=True):
        args[i] = a
    return replace(sample, args=tuple(args))


@every_sample
def test_second_gradient_against_pytorch(sample, torch):
    leaves, args = torch_leaves_of(torch, sample)
    out = sample.torch(*args)
    g = torch.from_numpy(cotangent(tuple(out.shape), str(out.dtype).removeprefix("torch."))).requires_grad_()
    first = torch.autograd.grad(out, leaves, g, create_graph=True)
    total = sum((f * torch.from_numpy(weights(tuple(f.shape)))).sum() for f in first)
    expected = [torch.zeros_like(x) for x in (*leaves, g)]
    if total.requires_grad:
        expected = torch.autograd.grad(total, [*leaves, g], allow_unused=True, materialize_grads=True)
    close(engine_second(sample), [x.numpy(force=True) for x in expected])


# ----- tangents -----


@pytest.mark.parametrize("sample", TENSORS_ONLY, ids=str)
def test_tangent_against_differences_and_the_transpose(sample):
    row = BY_NAME[sample.row]
    arrays, ts = inputs(sample), tangents(sample)
    args = [a.value if isinstance(a, Raw) else a for a in sample.args]
    args += [eval(row.defaults[a]) for a in row.args[len(args) :]]
    result = call(sample, arrays)
    primals = [ag.from_numpy(a) if isinstance(a, np.ndarray) else a for a in args]
    formula = getattr(_generated, f"jvp_{row.name}")
    tangent = formula(*primals, ag.from_numpy(np.asarray(result)), *[ag.from_numpy(np.asarray(t)) for t in ts]).numpy()
    assert tangent.shape == result.shape
    eps = 1e-6 if result.dtype == F8 else 1e-2
    ahead, behind = (
        call(sample, [np.asarray(a + s * t) for a, t in zip(arrays, ts, strict=True)]) for s in (eps, -eps)
    )
    coarse = {"rtol": 1e-3, "atol": 1e-3} if result.dtype != F8 else {"rtol": 1e-6, "atol": 1e-7}
    close([tangent], [(ahead - behind) / (2 * eps)], **coarse)
    _, grads = gradients(sample)
    left = (cotangent(result.shape) * tangent).sum()
    right = sum((g * t).sum() for g, t in zip(grads, ts, strict=True))
    np.testing.assert_allclose(left, right, rtol=1e-10 if result.dtype == F8 else 1e-5, atol=1e-12)


# ----- in-place form -----

INPLACE = [s for s in SAMPLES if BY_NAME[s.row].inplace and isinstance(s.args[0], np.ndarray)]


@pytest.mark.parametrize("sample", INPLACE, ids=str)
def test_inplace_form_equals_the_op(sample):
    leaves, args = leaves_of(sample)
    expected, grads = gradients(sample)
    wanted = differentiable(sample)
    target = args[0] * 1
    before = target._version
    method = _inplace_method(sample.row)
    if expected.shape != target.shape:
        with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
            method(target, *args[1:])
        return
    out = method(target, *args[1:])
    assert out is target
    assert target._version == before + 1
    assert target.grad_fn.op_name in (BY_NAME[sample.row].node, *BY_NAME[sample.row].scalars.values())
    close([out.detach().numpy()], [expected.detach().numpy()])
    out.backward(ag.from_numpy(cotangent(out.shape)))
    close([x.grad.numpy() for x in leaves], grads, rtol=1e-12)
    assert wanted


def _inplace_method(name):
    from agdbg_engine.ops.inplace import inplace, method

    if name == "index_put":  # the public one wants index tensors
        return lambda t, *args: inplace(t, "index_put_", ROWS["index_put"], args)
    return METHODS.get(name + "_", method(name + "_", ROWS[name]))


# ----- the table itself -----


def test_every_row_has_samples():
    assert {s.row for s in SAMPLES} == {row.name for row in TABLE} - COMPLEX


def test_every_argument_has_a_sample_as_tensor_and_as_number():
    """Every gradient formula and every form with a number is run by some sample."""
    tensors = {(s.row, BY_NAME[s.row].args[i]) for s in SAMPLES for i in s.floats}
    numbers = {
        (s.row, BY_NAME[s.row].args[i]) for s in SAMPLES for i, a in enumerate(s.args) if not isinstance(a, np.ndarray)
    }
    for row in (r for r in TABLE if r.name not in COMPLEX):
        assert {(row.name, a) for a in row.differentiable} <= tensors
        assert {(row.name, a) for a in row.scalars} <= numbers


def test_generated_code_is_up_to_date():
    script = Path(__file__).parents[2] / "scripts" / "generate_ops.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr

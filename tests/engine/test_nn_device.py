"""Activations, normalisations, losses and attention on arrays of another library: same numbers, nothing copied to the host."""

import sys
import types

import agdbg_tests_strict_device as strict
import numpy as np
import pytest
import scipy.special

import agdbg_engine as ag
from agdbg_engine.ops.wide.declare import OPS
from agdbg_engine.tensor import wrap

X = np.sin(np.arange(24.0)).reshape(2, 4, 3) * 2
ROWS = X.reshape(6, 4)
LIKELY = 1 / (1 + np.exp(-ROWS))
CHANNELS = np.array([0.5, 1.5, -1.0, 2.0])
LAST = np.array([0.5, 1.5, -1.0])
CLASSES = np.array([1, 0, 3, 2, 2, 0])
HEADS = X.reshape(1, 2, 4, 3)
OPTIONS = {
    "elu": (1.0, 1.0, 1.0), "celu": (1.5,), "hardshrink": (0.5,), "softshrink": (0.5,), "hardtanh": (-1.0, 1.0), "glu": (1,),
    "threshold": (0.1, 0.2), "leaky_relu": (0.1,), "softplus": (1.0, 20.0), "safe_softmax": (1,), "softmax_dim": (1,),
}  # fmt: skip
CASES = [
    *((n, (ROWS, *OPTIONS.get(n, ()))) for n in (
        "gelu", "elu", "celu", "hardshrink", "softshrink", "hardtanh", "hardsigmoid", "hardswish", "threshold", "log_sigmoid",
        "mish", "glu", "safe_softmax",
    )),
    ("prelu_kernel", (ROWS, CHANNELS)),
    ("native_layer_norm", (X, (3,), LAST, LAST, 1e-5)),
    ("native_group_norm", (X, CHANNELS, CHANNELS, 2, 4, 3, 2, 1e-5)),
    ("native_batch_norm", (X, CHANNELS, CHANNELS, None, None, True, 1e-5)),
    ("native_batch_norm", (X, CHANNELS, CHANNELS, CHANNELS, CHANNELS**2, False, 1e-5)),
    *((n, (ROWS, LIKELY, *more, r)) for n, more in (
        ("smooth_l1_loss", (0.5,)), ("huber_loss", (0.5,)), ("binary_cross_entropy_with_logits", (CHANNELS, CHANNELS)),
        ("soft_margin_loss", ()),
    ) for r in ("mean", "none")),
    ("binary_cross_entropy", (LIKELY, LIKELY[::-1].copy(), None, "mean")),
    ("nll_loss_forward", (ROWS, CLASSES, CHANNELS, "mean", 2)),
    ("nll_loss2d_forward", (X, CLASSES.reshape(2, 3), None, "none", 1)),
    ("multi_margin_loss", (ROWS, CLASSES, 2, 1.0, CHANNELS, "mean")),
    ("embedding_raw", (ROWS, CLASSES, 2, False)),
    ("cdist_raw", (ROWS, ROWS + 1, 2.0)),
    ("euclidean_dist", (ROWS, ROWS + 1)),
    ("flash_attention", (HEADS, HEADS + 0.5, HEADS * 2, None, 0.6)),
]  # fmt: skip


@pytest.fixture(autouse=True)
def special_functions(monkeypatch):
    """SciPy's functions stand for those that CuPy has."""
    for name in ("cupyx", "cupyx.scipy"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "cupyx.scipy.special", scipy.special)


def run(name, args, put, create_graph):
    """Buffers of the value and of all gradients."""
    op = OPS[name]
    args = [wrap(put(a)) if isinstance(a, np.ndarray) else a for a in args]
    leaves = [args[i].requires_grad_() for i in op.inputs if isinstance(args[i], ag.Tensor)]
    out = op(*args)
    out = out[0] if op.several else out
    g = wrap(put(np.cos(np.arange(float(np.prod(out.shape, dtype=int)))).reshape(out.shape)))
    grads = ag.autograd.grad(out, leaves, g, create_graph=create_graph)
    return [out._a, *(x._a for x in grads)]


@pytest.mark.parametrize("create_graph", [False, True], ids=["buffers", "recorded"])
@pytest.mark.parametrize(("name", "args"), CASES, ids=[f"{n}{i}" for i, (n, _) in enumerate(CASES)])
def test_value_and_gradients(name, args, create_graph):
    ours = run(name, args, strict.put, create_graph)
    assert {type(a) for a in ours} == {strict.ndarray}
    for a, b in zip(ours, run(name, args, np.copy, create_graph), strict=True):
        np.testing.assert_allclose(strict.host(a), b, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
def test_rms_norm_is_one_op_there_and_its_derivatives_are_those_of_the_ops_on_the_cpu(weighted):
    values, factors, tangents = np.random.default_rng(0).standard_normal((3, 2, 3, 4))

    def computed(device):
        there = lambda a: ag.tensor(a, device=device)
        x, w = there(values).requires_grad_(), there(factors[0]).requires_grad_() if weighted else None
        inputs = (x, w) if weighted else (x,)
        norm = lambda *given: ag.nn.functional.rms_norm(given[0], (3, 4), given[1] if weighted else None)
        out = norm(*inputs)
        first = ag.autograd.grad((out * there(tangents)).sum(), inputs, create_graph=True)
        second = ag.autograd.grad(sum((g * g).sum() for g in first), inputs)
        given = [t.detach() for t in inputs]
        forward = ag.func.jvp(norm, tuple(given), tuple(there(tangents[0] if t.ndim == 2 else tangents) for t in given))
        found = [t.detach().cpu().numpy() for t in (out, *first, *second, *forward)]
        return out.grad_fn.name(), found

    with strict.allowed_host_reads():
        name, there = computed("strict")
    assert name == "FusedRmsNormBackward0"
    for a, b in zip(there, computed("cpu")[1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


INF, NAN = float("inf"), float("nan")
SCORES = [[0.1, 0.2, 0.3], [0.5, -1.0, 2.0]]


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("weight", [[1.0, INF, 2.0], [INF, INF, INF], [NAN, 1.0, 1.0], [0.0, INF, 0.0]], ids=str)
@pytest.mark.parametrize("targets", [[0, 1], [2, 2], [0, 0]], ids=str)
@pytest.mark.parametrize("loss", ["nll_loss", "cross_entropy", "multi_margin_loss"])
def test_weights_of_classes_that_are_not_finite(loss, targets, weight, reduction):
    torch = pytest.importorskip("torch", reason="values are compared with PyTorch's")

    def computed(t, device):
        x = t.tensor(SCORES, requires_grad=True, device=device)
        there = lambda values: t.tensor(values, device=device)
        out = getattr(t.nn.functional, loss)(x, there(targets), weight=there(weight), reduction=reduction)
        return [r.detach().cpu().numpy() for r in (out, *t.autograd.grad(out.sum(), x))]

    wanted = computed(torch, "cpu")
    with strict.allowed_host_reads():
        for place in ("cpu", "strict"):
            for ours, theirs in zip(computed(ag, place), wanted, strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-6, err_msg=place)


def test_a_score_that_is_nan_is_no_margin():
    for place in ("cpu", "strict"):
        x = ag.tensor([[0.1, NAN, 0.3]], device=place)
        with strict.allowed_host_reads():
            loss = ag.nn.functional.multi_margin_loss(x, ag.tensor([0], device=place)).cpu().item()
        assert abs(loss - 0.4) < 1e-6  # as in PyTorch


INITS = {
    "uniform_": (), "normal_": (), "ones_": (), "zeros_": (), "constant_": (0.5,), "eye_": (), "xavier_uniform_": (), "xavier_normal_": (), "kaiming_uniform_": (),
    "kaiming_normal_": (), "trunc_normal_": (), "orthogonal_": (), "sparse_": (0.5,), "dirac_": (),
}  # fmt: skip


@pytest.mark.parametrize("name", INITS)
def test_weights_are_made_where_they_lie(name):
    t = ag.empty(*(4, 4, 3) if name == "dirac_" else (4, 4), device=strict.PLACE)
    strict.refusals.clear()
    getattr(ag.nn.init, name)(t, *INITS[name])
    assert [text for text in strict.refusals if "of shape ()" not in text] == []
    assert str(t.device) == strict.PLACE
    if name in ("ones_", "zeros_", "constant_", "eye_", "dirac_"):
        wanted = getattr(ag.nn.init, name)(ag.empty(*t.shape), *INITS[name])
        np.testing.assert_array_equal(strict.host(t._a), wanted.numpy())

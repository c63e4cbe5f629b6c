"""Every row of the op table on complex numbers: value, gradient, second gradient and tangent are PyTorch's, or the refusal is."""

import warnings

import numpy as np
import pytest
from agdbg_tests_differential import raised
from agdbg_tests_op_samples import SAMPLES, Raw

import agdbg_engine as ag
from agdbg_engine.ops import ROWS, _generated
from agdbg_engine.ops.table import TABLE

torch = pytest.importorskip("torch")

REFUSED = {
    "maximum", "minimum", "sign", "floor", "ceil", "round", "trunc", "relu", "leaky_relu", "softplus", "gelu_tanh", "silu", "clamp",
    "clamp_min", "clamp_max", "clamp_min_tensor", "clamp_max_tensor", "amax", "amin", "max_all", "min_all", "nll_loss_raw",
    "nll_loss_raw_backward", "mse_loss_raw", "threshold_backward", "leaky_relu_backward",
}  # fmt: skip
"""What both refuse, in the same words."""
BY_USERS_FORM = {"softmax_dim", "log_softmax_dim", "max_dim", "min_dim"}
"""Rows where the form that users call refuses (below); the row alone computes something."""
SUPPORTED = [
    s
    for s in SAMPLES
    if s.floats and s.row not in REFUSED | BY_USERS_FORM and not any(isinstance(a, Raw) for a in s.args)
]


ARGUMENTS = {row.name: row.args for row in TABLE}


def complexes(sample):
    rng = np.random.default_rng(sample.number)
    return [np.asarray(sample.args[i] + 1j * rng.uniform(0.3, 1.2, sample.args[i].shape)) for i in sample.floats]


def on_torch(sample, values, grad=True):
    args = sample.called(lambda a: torch.from_numpy(np.array(a)).requires_grad_(grad and a.dtype.kind == "c"), values)
    return [args[i] for i in sample.floats], lambda: sample.torch(*args)


def on_engine(sample, values, grad=True):
    args = sample.called(lambda a: ag.tensor(np.array(a), requires_grad=grad and a.dtype.kind == "c"), values)
    return [args[i] for i in sample.floats], lambda: ROWS[sample.row](*args)


def weights(y):
    w = np.random.default_rng(5).standard_normal(tuple(y.shape))
    kind = str(y.dtype).removeprefix("torch.")
    return np.asarray(w * (1 + 0.5j) if "complex" in kind else w).astype(kind)


def second_order(t, leaves, y, convert):
    """The gradients, and those of the sum of their squared absolute values."""
    grads = t.autograd.grad(y, leaves, convert(weights(y)), create_graph=True, allow_unused=True)
    total = sum(((g.abs() ** 2).sum() for g in grads if g is not None and g.requires_grad), start=t.zeros(1).sum())
    if not total.requires_grad:
        return grads, [None] * len(leaves)
    return grads, t.autograd.grad(total, leaves, allow_unused=True)


def plain(x):
    return None if x is None else x.detach().resolve_conj().numpy()


def close(theirs, ours):
    if theirs is None or ours is None:  # a gradient of zeros may be none
        assert not np.any(0 if theirs is None else theirs) and not np.any(0 if ours is None else ours)
        return
    assert theirs.dtype == ours.dtype
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("sample", SUPPORTED, ids=str)
def test_value_and_gradients(sample):
    values = complexes(sample)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Casting complex values")
        leaves, call = on_torch(sample, values)
        y = call()
        theirs = second_order(torch, leaves, y, torch.from_numpy)
    leaves, call = on_engine(sample, values)
    z = call()
    ours = second_order(ag, leaves, z, ag.tensor)
    close(plain(y), plain(z))
    for first, second in zip(theirs, ours, strict=True):
        for a, b in zip(first, second, strict=True):
            close(plain(a), plain(b))


@pytest.mark.parametrize("sample", SUPPORTED, ids=str)
def test_gradients_without_create_graph(sample):
    values = complexes(sample)
    leaves, call = on_torch(sample, values)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Casting complex values")
        y = call()
        y.backward(torch.from_numpy(weights(y)))
    mine, call = on_engine(sample, values)
    z = call()
    z.backward(ag.tensor(weights(z)))
    for a, b in zip(leaves, mine, strict=True):
        close(plain(a.grad), plain(b.grad))


@pytest.mark.parametrize(
    "sample",
    [s for s in SUPPORTED if len(ARGUMENTS[s.row]) == len(_generated.JVPS[s.row][1]) == len(s.floats)],
    ids=str,
)
def test_tangent(sample):
    from torch.autograd import forward_ad

    values, tangents = complexes(sample), [np.asarray(v * (0.5 - 2j) + 1) for v in complexes(sample)]
    with forward_ad.dual_level(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, about its compiler
        args = [
            forward_ad.make_dual(torch.from_numpy(v), torch.from_numpy(d))
            for v, d in zip(values, tangents, strict=True)
        ]
        theirs = forward_ad.unpack_dual(sample.torch(*args)).tangent
    args = [ag.tensor(v) for v in values]
    jvp, _ = _generated.JVPS[sample.row]
    ours = jvp(*args, ROWS[sample.row](*args), *(ag.tensor(d) for d in tangents))
    close(plain(theirs), plain(ours))


def outcome(call):
    try:
        return call()
    except Exception as error:
        return raised(error)


@pytest.mark.parametrize("sample", {s.row: s for s in SAMPLES if s.row in REFUSED}.values(), ids=str)
def test_refusal(sample):
    values = complexes(sample)
    assert outcome(on_engine(sample, values)[1]) == outcome(on_torch(sample, values)[1])


FORMS = {
    "max": lambda t, z: z.max(0), "min": lambda t, z: z.min(0), "argmax": lambda t, z: z.argmax(), "argmin": lambda t, z: z.argmin(),
    "<": lambda t, z: z < z, "<=": lambda t, z: z <= 1, ">": lambda t, z: z.abs() > z, ">=": lambda t, z: z >= z, "abs_": lambda t, z: z.abs_(),
    "floor_": lambda t, z: z.floor_(), "softmax": lambda t, z: z.softmax(0), "last softmax": lambda t, z: z.softmax(1),
    "log_softmax": lambda t, z: z.log_softmax(0), "last log_softmax": lambda t, z: z.log_softmax(-1), "float": lambda t, z: float(z[0, 0]),
    "int": lambda t, z: int(z[0, 0]), "mm": lambda t, z: z.mm(z.real.T), "backward": lambda t, z: z.requires_grad_().sum().backward(),
    "real gradient": lambda t, z: z.requires_grad_().sum().backward(t.ones(())),
    "complex gradient": lambda t, z: z.requires_grad_().abs().sum().backward(t.tensor(1j)),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_refusal_of_a_form(name):
    said = [outcome(lambda t=t: FORMS[name](t, t.tensor([[1 + 2j, 3 - 1j]]))) for t in (torch, ag)]
    assert said[0] == said[1]
    assert said[0].first_line

"""Ties, zeros, bounds, infinities, NaN: values and gradients are those of PyTorch."""

import warnings

import numpy as np
import pytest
from agdbg_tests_differential import facts

import agdbg_engine as ag
from agdbg_engine.backward import QUIET
from agdbg_engine.nn import functional as ag_functional
from agdbg_engine.ops import prepare

SPECIAL = [-np.inf, -2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, np.inf, np.nan]
PAIRS = np.array([(a, b) for a in SPECIAL for b in SPECIAL]).T
NUMBERS = [-2, -1, 0, 1, 2, 3, -0.5, 0.0, 0.5, 1.0, 2.0, 2.5]


@pytest.fixture(scope="session")
def torch():
    """PyTorch, or a visible skip."""
    return pytest.importorskip("torch")


def outcome(library, function, *arrays):
    """Value and gradients of a function of leaves that hold ``arrays``."""
    leaves = [library.tensor(a.tolist(), dtype=library.float64, requires_grad=True) for a in arrays]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*degrees of freedom", UserWarning)  # PyTorch's var
        out = function(library, *leaves)
    out.backward(library.ones_like(out))
    return facts([out.detach(), *(x.grad for x in leaves)])


UNARY = [
    "neg",
    "exp",
    "expm1",
    "log",
    "log1p",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "sin",
    "cos",
    "tanh",
    "sigmoid",
    "relu",
    "abs",
    "sign",
    "floor",
    "ceil",
    "round",
    "trunc",
    "square",
]


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_tensor(name, torch):
    x = np.array(SPECIAL)

    def call(library, x):
        return getattr(library, name)(x)

    assert outcome(ag, call, x) == outcome(torch, call, x)


FUNCTIONAL = {
    "leaky_relu": lambda f, x: f.leaky_relu(x, 0.1),
    "leaky_relu of a slope 0": lambda f, x: f.leaky_relu(x, 0.0),
    "softplus": lambda f, x: f.softplus(x),
    "softplus at its threshold": lambda f, x: f.softplus(x, 1, 2),
    "silu": lambda f, x: f.silu(x),
    "softmax": lambda f, x: f.softmax(x, 0),
    "log_softmax": lambda f, x: f.log_softmax(x, 0),
}


@pytest.mark.parametrize("name", FUNCTIONAL)
@pytest.mark.parametrize(
    "values", [SPECIAL, SPECIAL[1:9], [-np.inf] * 3, [np.inf, 1.0], [-np.inf, 1.0], [800.0, -800.0]]
)
def test_functions_of_nn(name, values, torch):
    x = np.array(values)
    call = FUNCTIONAL[name]
    ours = outcome(ag, lambda library, x: call(ag_functional, x), x)
    assert ours == outcome(torch, lambda library, x: call(torch.nn.functional, x), x)


TWO = {
    "mul": lambda t, x, y: x * y,
    "div": lambda t, x, y: x / y,
    "pow": lambda t, x, y: x**y,
    "maximum": lambda t, x, y: t.maximum(x, y),
    "minimum": lambda t, x, y: t.minimum(x, y),
    "clamp from below": lambda t, x, y: t.clamp_min(x, y),
    "clamp from above": lambda t, x, y: x.clamp(max=y),
    "where": lambda t, x, y: t.where(x > y, x, y),
    "where beside a hole": lambda t, x, y: t.where(x > 0, t.sqrt(x), y),
    "where beside a division": lambda t, x, y: t.where(y == 0, x, x / y),
    "masked_fill": lambda t, x, y: (x * y).masked_fill(y == 0, 0),
}


@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_tensors(name, torch):
    assert outcome(ag, TWO[name], *PAIRS) == outcome(torch, TWO[name], *PAIRS)


@pytest.mark.parametrize("number", NUMBERS)
def test_powers(number, torch):
    x = np.array(SPECIAL)
    assert outcome(ag, lambda t, x: x**number, x) == outcome(torch, lambda t, x: x**number, x)
    if number >= 0:
        assert outcome(ag, lambda t, x: number**x, x) == outcome(torch, lambda t, x: number**x, x)


@pytest.mark.parametrize("bounds", [(-1, 1), (-1.0, None), (None, 1), (0, 0), (1, -1), (-np.inf, np.inf), (0.5, 2)])
def test_clamp_at_its_bounds(bounds, torch):
    x = np.array(SPECIAL)
    assert outcome(ag, lambda t, x: t.clamp(x, *bounds), x) == outcome(torch, lambda t, x: t.clamp(x, *bounds), x)


REDUCTIONS = {
    "amax": lambda t, x: t.amax(x, -1),
    "amin": lambda t, x: t.amin(x, 0),
    "amax of all": lambda t, x: t.amax(x),
    "max": lambda t, x: t.max(x),
    "min": lambda t, x: t.min(x),
    "max along": lambda t, x: t.max(x, 0).values,
    "min along": lambda t, x: t.min(x, 1)[0],
    "sum": lambda t, x: t.sum(x),
    "mean": lambda t, x: t.mean(x, 0),
    "var": lambda t, x: t.var(x, 0),
    "std": lambda t, x: t.std(x, 1),
    "std of all": lambda t, x: t.std(x, unbiased=False),
    "norm": lambda t, x: t.norm(x, dim=1),
    "logsumexp": lambda t, x: t.logsumexp(x, 1),
    "softmax": lambda t, x: t.softmax(x, 1),
    "log_softmax": lambda t, x: t.log_softmax(x, 0),
}
TABLES = {
    "ties": [[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]],
    "zeros": [[0.0, -0.0, 0.0], [0.0, 0.0, 0.0]],
    "infinities": [[np.inf, np.inf, 0.0], [-np.inf, -np.inf, -np.inf]],
    "nan": [[np.nan, 1.0, np.nan], [1.0, np.inf, 2.0]],
    "huge": [[1e300, -2e300, 1e290], [800.0, 801.0, -800.0]],
    "one by one": [[3.0]],
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, table, torch):
    x = np.array(TABLES[table])
    assert outcome(ag, REDUCTIONS[name], x) == outcome(torch, REDUCTIONS[name], x)


def test_a_division_by_zero_warns_nobody():
    """As in PyTorch: infinities and NaN come silently (warnings are errors in these tests)."""
    x = ag.tensor([0.0, 1.0], requires_grad=True)
    y = (x / 0.0 + x.log() + (x - 1).log() + x**-1 + (1000 * x).exp()).sum()
    y.backward()
    assert not np.isfinite(y.item())


@pytest.mark.parametrize("mode", ["raise", "warn"])
def test_what_the_user_asks_of_numpy_does_not_concern_the_engine(mode):
    """Overflow, division by zero, NaN and underflow, forward, in place, backward and recorded."""
    with np.errstate(all=mode):
        x = ag.tensor([0.0, 1000.0, -1.0], requires_grad=True)
        y = x.exp() * 1e30 / x + x.log() + (x * 1).div_(0.0) + (-x * 10).exp() * 1e-30 + x.to(ag.float16)
        (g,) = ag.grad(y.sum(), x, create_graph=True)
        g.sum().backward(retain_graph=True)
        z = y.sum()
        z.backward()
        assert np.geterr()["over"] == mode
    assert not np.isfinite(z.item())


def test_numpys_error_state_is_put_back_after_a_failure():
    def fail(g):
        raise KeyError("hook")

    x = ag.ones(1, requires_grad=True)
    y = x * 2
    y.register_hook(fail)
    before = np.geterr()
    with pytest.raises(KeyError):
        y.backward()
    assert np.geterr() == before


def test_another_warning_made_an_error_is_not_tried_again_and_again():
    def mul(self, other):
        calls.append(1)
        raise RuntimeWarning("not about numbers")

    calls = []
    with pytest.raises(RuntimeWarning, match="not about numbers"):
        prepare.failed(mul, RuntimeWarning("overflow"), {"self": 1, "other": 1}, {})
    assert len(calls) == 1
    with np.errstate(**QUIET), pytest.raises(RuntimeWarning, match="about something else"):
        prepare.failed(ag.mul, RuntimeWarning("about something else"), {"self": ag.ones(1), "other": ag.ones(1)}, {})

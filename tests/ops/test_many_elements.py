"""Ways that only many elements take: the same values and gradients as piece by piece, NaN and infinities included."""

import numpy as np
import pytest

import agdbg_engine as ag
import agdbg_engine.nn.functional as F

N, PIECE = 20000, 100
ONE = {
    "relu": ag.relu, "elu": F.elu, "selu": F.selu, "celu": lambda x: F.celu(x, 0.7), "silu": F.silu, "mish": F.mish,
    "gelu": F.gelu, "softplus": lambda x: F.softplus(x, 2.0, 1.5), "hardswish": F.hardswish, "hardsigmoid": F.hardsigmoid,
    "hardtanh": F.hardtanh, "leaky_relu": F.leaky_relu, "logsigmoid": F.logsigmoid, "softshrink": F.softshrink,
    "fmod by a number": lambda x: ag.fmod(x, 0.3), "remainder by a number": lambda x: x % -0.7,
}  # fmt: skip
TWO = {
    "fmod": ag.fmod, "remainder": ag.remainder, "floor": lambda x, y: ag.div(x, y, rounding_mode="floor"), "hypot": ag.hypot,
    "logaddexp": ag.logaddexp, "smooth_l1_loss": lambda x, y: F.smooth_l1_loss(x, y, reduction="none"),
    "huber_loss": lambda x, y: F.huber_loss(x, y, reduction="none", delta=0.6),
}  # fmt: skip


def numbers(seed, special):
    x = (np.random.default_rng(seed).standard_normal(N) * 4).astype(np.float32)
    if special:
        x[:N:977] = np.resize(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0], np.float32), len(x[:N:977]))
    return x


def outcome(function, arrays):
    leaves = [ag.tensor(a, requires_grad=True) for a in arrays]
    out = function(*leaves)
    out.sum().backward()
    return [out.detach().numpy(), *(x.grad.numpy() for x in leaves)]


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_many_elements_as_piece_by_piece(name, special):
    function = ONE.get(name) or TWO[name]
    arrays = [numbers(0, special)] if name in ONE else [numbers(0, special), np.roll(numbers(1, special), 3)]
    whole = outcome(function, arrays)
    pieces = [outcome(function, [a[i : i + PIECE] for a in arrays]) for i in range(0, N, PIECE)]
    for found, parts in zip(whole, zip(*pieces, strict=True), strict=True):
        np.testing.assert_allclose(found, np.concatenate(parts), rtol=3e-6, atol=1e-6)


@pytest.mark.parametrize("rows", [3, 40, 500])
@pytest.mark.parametrize("width", [4, 64])
def test_gradient_of_rows_looked_up_many_times(rows, width):
    rng = np.random.default_rng(2)
    index = rng.integers(-rows, rows, 300)
    g = rng.standard_normal((300, width))
    weight = ag.zeros(rows, width, dtype=ag.float64, requires_grad=True)
    weight[ag.tensor(index)].backward(ag.tensor(g))
    expected = np.zeros((rows, width))
    np.add.at(expected, index, g)
    np.testing.assert_allclose(weight.grad.numpy(), expected)


ROWS = {
    "softmax": lambda x: F.softmax(x, -1), "log_softmax": lambda x: F.log_softmax(x, 1), "amax": lambda x: x.amax(1),
    "softmax, kept": lambda x: F.softmax(x.unsqueeze(0), 2)[0] * ag.arange(x.shape[1]) / x.shape[1],
    "attention": lambda x: F.scaled_dot_product_attention(x, *[ag.ones(1, x.shape[1]).expand(20, -1) for _ in range(2)]),
}  # fmt: skip


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("width", [1, 10, 100])
def test_many_rows_as_few_at_a_time(name, width, special):
    x = numbers(1, special)[: 100 * width].reshape(-1, width)
    whole = outcome(ROWS[name], [x])
    pieces = [outcome(ROWS[name], [x[i : i + 20]]) for i in range(0, len(x), 20)]
    for found, *parts in zip(whole, *pieces, strict=True):
        np.testing.assert_allclose(found, np.concatenate(parts), rtol=1e-5, atol=1e-5)

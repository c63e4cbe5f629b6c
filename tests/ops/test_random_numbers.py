"""Random numbers: seeds and states, distributions, and the gradients of zero that they have."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is the reference here")

import torch

import agdbg_engine as engine

N = 40000


def test_a_seed_gives_the_same_numbers():
    engine.manual_seed(3)
    first = engine.randn(5), engine.randperm(7), engine.rand(2)
    assert engine.manual_seed(3).initial_seed() == engine.initial_seed() == 3
    again = engine.randn(5), engine.randperm(7), engine.rand(2)
    assert all(a.tolist() == b.tolist() for a, b in zip(first, again, strict=True))


def test_a_state_is_a_tensor_of_bytes_that_can_be_set():
    state = engine.get_rng_state()
    assert state.dtype == engine.uint8
    first = engine.rand(3).tolist()
    engine.set_rng_state(state)
    assert engine.rand(3).tolist() == first
    with engine.random.fork_rng():
        engine.rand(10)
        engine.manual_seed(0)
    after = engine.rand(1).item()
    engine.set_rng_state(state)
    assert engine.rand(4).tolist() == [*first, after]


def test_a_device_that_draws_no_more_leaves_the_state_of_the_cpu_alone(monkeypatch):
    from agdbg_engine import random

    monkeypatch.setitem(random._defaults, "cpu:7", engine.Generator().manual_seed(5))  # its backend is another now
    engine.manual_seed(1)
    with engine.random.fork_rng():
        engine.manual_seed(2)
    assert engine.rand(2).tolist() == engine.rand(2, generator=engine.Generator().manual_seed(1)).tolist()


def test_generators_are_apart():
    engine.manual_seed(1)
    one, two = engine.Generator().manual_seed(5), engine.Generator().manual_seed(5)
    a = engine.rand(3, generator=one)
    assert engine.Tensor.uniform_(engine.empty(3), generator=two).tolist() == a.tolist()
    copy = one.clone_state()
    assert engine.randn(2, generator=copy).tolist() == engine.randn(2, generator=one).tolist()
    assert two.seed() == two.initial_seed() != 5
    engine.manual_seed(1)
    assert engine.rand(3).tolist() != a.tolist()


@pytest.mark.parametrize("wrong", [[1.0], [1]])
def test_a_state_of_another_kind_is_refused(wrong):
    for library in (engine, torch):
        with pytest.raises(TypeError, match="RNG state must be a torch"):
            library.set_rng_state(library.tensor(wrong))


def drawn(function):
    engine.manual_seed(0)
    return function(engine.zeros(N, dtype=engine.float64)).numpy()


DISTRIBUTIONS = {
    "normal": (lambda x: x.normal_(2, 3), 2, 3),
    "uniform": (lambda x: x.uniform_(-1, 3), 1, 4 / 12**0.5),
    "exponential": (lambda x: x.exponential_(4), 0.25, 0.25),
    "geometric": (lambda x: x.geometric_(0.25), 4, 12**0.5),
    "log_normal": (lambda x: x.log_normal_(0, 0.5).log_(), 0, 0.5),
    "random": (lambda x: x.random_(2, 8), 4.5, (35 / 12) ** 0.5),
    "bernoulli_": (lambda x: x.bernoulli_(0.3), 0.3, 0.21**0.5),
    "bernoulli": (lambda x: (x + 0.3).bernoulli(), 0.3, 0.21**0.5),
    "poisson": (lambda x: engine.poisson(x + 5), 5, 5**0.5),
    "normal of tensors": (lambda x: engine.normal(x + 1, x + 2), 1, 2),
    "randint": (lambda x: engine.randint_like(x, 4), 1.5, 1.25**0.5),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_mean_and_deviation(name):
    function, mean, deviation = DISTRIBUTIONS[name]
    numbers = drawn(function)
    assert abs(numbers.mean() - mean) < 5 * deviation / N**0.5
    assert abs(numbers.std() / deviation - 1) < 0.05


def test_cauchy_has_its_quartiles():
    low, middle, high = np.quantile(drawn(lambda x: x.cauchy_(1, 2)), (0.25, 0.5, 0.75))
    assert (low, middle, high) == pytest.approx((-1, 1, 3), abs=0.1)


@pytest.mark.parametrize("replacement", [True, False])
def test_multinomial_draws_by_weight(replacement):
    engine.manual_seed(0)
    weights = engine.tensor([0.0, 1, 3, 0, 4, 0])
    rows = engine.multinomial(weights.expand(N // 4, 6), 2, replacement).numpy()
    shares = np.bincount(rows[:, 0], minlength=6) / len(rows)
    np.testing.assert_allclose(shares, [0, 0.125, 0.375, 0, 0.5, 0], atol=0.02)
    assert replacement == bool((rows[:, 0] == rows[:, 1]).any())
    second = np.bincount(rows[rows[:, 0] == 4, 1], minlength=6) / (rows[:, 0] == 4).sum()
    wanted = [0, 0.125, 0.375, 0, 0.5, 0] if replacement else [0, 0.25, 0.75, 0, 0, 0]
    np.testing.assert_allclose(second, wanted, atol=0.03)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_uniform_numbers_stay_below_one(dtype):
    engine.manual_seed(0)
    numbers = engine.rand(200000, dtype=getattr(engine, dtype))
    assert float(numbers.max()) < 1
    assert float(numbers.min()) >= 0


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "uint8", "int64", "bool"])
def test_random_takes_what_the_dtype_holds(dtype):
    mine, theirs = (
        library.zeros(N, dtype=getattr(library, dtype)).random_().to(library.float64) for library in (engine, torch)
    )
    assert mine.max().item() == pytest.approx(theirs.max().item(), rel=0.01)


WITHOUT_GRADIENT = {
    "normal_": lambda t, x: (x * 1).normal_(),
    "uniform_": lambda t, x: (x * 1).uniform_(),
    "exponential_": lambda t, x: (x * 1).exponential_(),
    "cauchy_": lambda t, x: (x * 1).cauchy_(),
    "log_normal_": lambda t, x: (x * 1).log_normal_(),
    "geometric_": lambda t, x: (x * 1).geometric_(0.5),
    "random_": lambda t, x: (x * 1).random_(),
    "random_ below": lambda t, x: (x * 1).random_(3),
    "random_ between": lambda t, x: (x * 1).random_(1, 3),
    "bernoulli_": lambda t, x: (x * 1).bernoulli_(0.5),
    "bernoulli_ by tensor": lambda t, x: (x * 1).bernoulli_(x),
    "bernoulli": lambda t, x: x.bernoulli(),
    "poisson": lambda t, x: t.poisson(x),
    "normal of means": lambda t, x: t.normal(x, 1.0),
    "normal of deviations": lambda t, x: t.normal(0.0, x),
    "normal of both": lambda t, x: t.normal(x, x),
}


@pytest.mark.parametrize("name", WITHOUT_GRADIENT)
def test_node_and_gradient_of_zero(name):
    found = []
    for library in (engine, torch):
        x = library.full((2, 3), 0.5, requires_grad=True)
        out = WITHOUT_GRADIENT[name](library, x)
        (g,) = library.autograd.grad(out.sum(), x)
        assert not g.numpy().any()
        found.append(out.grad_fn.name())
    assert found[0] == found[1]


ERRORS = """
x.bernoulli(1.5)
x.bernoulli()
x.clone().bernoulli_(L([.5, .5]))
torch.bernoulli(L([1]))
torch.normal(x, -1.)
torch.normal(x, -x)
torch.normal(0., -1., (2,))
x.long().normal_()
x.clone().uniform_(2, 1)
x.long().uniform_()
x.clone().exponential_(0)
x.long().exponential_()
x.clone().cauchy_(0, 0)
x.clone().geometric_(1)
x.clone().log_normal_(1, 0)
x.clone().random_(5, 2)
x.bool().random_(0, 3)
torch.multinomial(x + 1, 5)
torch.multinomial(x - 1, 1)
torch.multinomial(x * 0, 1)
torch.multinomial(x.long(), 1)
torch.multinomial(L(1.), 1)
torch.poisson(-x)
torch.poisson(x.long())
torch.randint_like(x, 3, 3)
torch.randint(0, 300, (2,), dtype=torch.uint8)
torch.randperm(300, dtype=torch.uint8)
torch.rand(2, dtype=torch.int64)
torch.Generator().manual_seed("a")
""".strip().split("\n")


@pytest.mark.parametrize("text", ERRORS)
def test_errors_are_in_the_words_of_pytorch(text):
    found = []
    for library in (engine, torch):
        x = library.arange(6, dtype=library.float32).reshape(2, 3)
        with pytest.raises(Exception) as caught:
            eval(text, {"L": library.tensor, "torch": library, "x": x})
        found.append((caught.type, str(caught.value).split("\n")[0]))
    assert found[0] == found[1]


@pytest.mark.parametrize("train", [True, None, False])
def test_native_dropout_scales_what_its_mask_keeps(train):
    x = engine.full((1000,), 2.0, requires_grad=True)
    out, mask = engine.native_dropout(x, 0.25, train)
    scale = 1 if train is False else 4 / 3
    np.testing.assert_allclose(out.detach().numpy(), 2 * scale * mask.numpy(), rtol=1e-6)
    out.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), scale * mask.numpy(), rtol=1e-6)

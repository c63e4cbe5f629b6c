"""Random numbers that a device draws itself: their distributions, seeds, states; and those that the host draws for it."""

import math

import agdbg_tests_strict_device as strict
import numpy as np
import pytest

import agdbg_engine as ag
from agdbg_engine import random
from agdbg_engine.device_numbers import DeviceNumbers, mixed

MANY = 20_000
PLACE = ag.device("strict:0")


@pytest.fixture
def drawing(monkeypatch):
    """The strict device draws by itself."""
    monkeypatch.setattr(strict.BACKEND, "draws", True)
    random._defaults.clear()
    yield
    random._defaults.clear()


def host(t):
    return strict.host(t._a)


def test_splitmix_has_the_published_numbers():
    """The first three of seed 1234567, as the authors' program prints them."""
    from agdbg_engine.device_numbers import hashed

    found = hashed(np.arange(3, dtype=np.uint64), np.uint64(1234567))
    assert found.tolist() == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def ks(found, distribution):
    """The largest distance between the shares below each number and what the distribution says."""
    found = np.sort(np.asarray(found, np.float64))
    shares = distribution(found)
    n = len(found)
    return max(np.abs(shares - np.arange(n) / n).max(), np.abs(shares - np.arange(1, n + 1) / n).max())


DISTRIBUTIONS = {
    "random": (lambda d: d.random((MANY,)), lambda x: x),
    "uniform": (lambda d: d.uniform(-2.0, 3.0, (MANY,)), lambda x: (x + 2) / 5),
    "standard_normal": (lambda d: d.standard_normal((MANY,)), lambda x: 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))),
    "standard_exponential": (lambda d: d.standard_exponential((MANY,)), lambda x: 1 - np.exp(-x)),
    "standard_cauchy": (lambda d: d.standard_cauchy((MANY,)), lambda x: 0.5 + np.arctan(x) / math.pi),
    "lognormal": (lambda d: d.lognormal(1.0, 2.0, (MANY,)), lambda x: 0.5 * (1 + np.vectorize(math.erf)((np.log(x) - 1) / 2 / math.sqrt(2)))),
    "gumbel": (lambda d: d.gumbel(size=(MANY,)), lambda x: np.exp(-np.exp(-x))),
}  # fmt: skip


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distribution(name):
    draw, distribution = DISTRIBUTIONS[name]
    found = strict.host(draw(DeviceNumbers(PLACE, 7)))
    assert ks(found, distribution) < 2 / math.sqrt(MANY)


def test_geometric_and_integers():
    numbers = DeviceNumbers(PLACE, 7)
    found = strict.host(numbers.geometric(0.3, (MANY,)))
    assert found.min() == 1
    assert np.mean(found == 1) == pytest.approx(0.3, abs=0.02)
    assert found.mean() == pytest.approx(1 / 0.3, rel=0.03)
    whole = strict.host(numbers.integers(-3, 4, (MANY,)))
    assert set(whole.tolist()) == set(range(-3, 4))
    assert np.bincount(whole + 3).min() > MANY / 7 * 0.9
    assert sorted(strict.host(numbers.permutation(100)).tolist()) == list(range(100))


@pytest.mark.parametrize("rate", [0.0, 0.4, 5.0, 9.99, 10.0, 25.0, 1000.0])
def test_poisson(rate):
    found = strict.host(DeviceNumbers(PLACE, 7).poisson(strict.put(np.full(4000, rate))))
    assert (found == np.floor(found)).all()
    assert found.min() >= 0
    assert found.mean() == pytest.approx(rate, abs=4 * math.sqrt(rate / 4000) + 1e-12)
    assert found.var() == pytest.approx(rate, rel=0.12, abs=1e-12)
    counted = np.bincount(found.astype(int), minlength=200)[:200] / len(found)
    log_of = -rate + np.arange(200) * math.log(rate or 1) - np.array([math.lgamma(k + 1) for k in range(200)])
    expected = np.exp(log_of) if rate else np.arange(200) == 0
    assert np.abs(np.cumsum(counted) - np.cumsum(expected)).max() < 2 / math.sqrt(4000)


def test_seeds_side_by_side_share_nothing():
    first, second = (set(strict.host(DeviceNumbers(PLACE, s).random((1000,))).tolist()) for s in (1, 2))
    assert not first & second
    assert len({mixed(s) for s in range(1000)}) == 1000


def test_a_seed_begins_anew_and_a_state_goes_on(drawing):
    ag.manual_seed(3)
    first = host(ag.rand(4, device="strict"))
    state = random.default_for(PLACE).get_state()
    second = host(ag.randn(4, device="strict"))
    ag.manual_seed(3)
    assert (host(ag.rand(4, device="strict")) == first).all()
    random.default_for(PLACE).set_state(state)
    assert (host(ag.randn(4, device="strict")) == second).all()
    with pytest.raises(RuntimeError, match="RNG state is wrong size"):
        random.default_for(PLACE).set_state(ag.get_rng_state())


def test_the_cpus_numbers_do_not_depend_on_it(drawing):
    ag.manual_seed(3)
    first = ag.rand(4).tolist()
    ag.manual_seed(3)
    ag.rand(4, device="strict")
    assert ag.rand(4).tolist() == first


def test_a_generator_of_the_device(drawing):
    mine = ag.Generator("strict").manual_seed(5)
    assert mine.device == PLACE
    first = host(ag.rand(3, device="strict", generator=mine))
    again = mine.clone_state()
    assert (
        host(ag.rand(3, device="strict", generator=mine)) == host(ag.rand(3, device="strict", generator=again))
    ).all()
    assert (host(ag.rand(3, device="strict", generator=mine.manual_seed(5))) == first).all()
    with pytest.raises(RuntimeError, match="Expected a 'cpu' device type for generator but found 'strict'"):
        ag.rand(3, generator=mine)
    with pytest.raises(RuntimeError, match="Expected a 'strict' device type for generator but found 'cpu'"):
        ag.rand(3, device="strict", generator=ag.Generator())


def test_a_generator_serves_every_device_of_its_kind(drawing):
    """PyTorch compares the kinds of devices only (``check_generator`` in ATen/core/Generator.h)."""
    mine, again = (ag.Generator("strict:1").manual_seed(5) for _ in range(2))
    there = [ag.rand(3, device="strict:0", generator=mine), ag.randn(2, device="strict:1", generator=mine)]
    assert [str(t.device) for t in there] == ["strict:0", "strict:1"]
    alone = [ag.rand(3, device="strict:1", generator=again), ag.randn(2, device="strict:1", generator=again)]
    assert [host(t).tolist() for t in there] == [host(t).tolist() for t in alone]
    assert mine.get_state().tolist() == again.get_state().tolist()


def test_a_generator_of_a_device_that_draws_on_the_host():
    for place in ("strict:0", "strict:1"):
        found = ag.rand(3, device=place, generator=ag.Generator("strict:1").manual_seed(5))
        assert str(found.device) == place
        assert host(found).tolist() == ag.rand(3, generator=ag.Generator().manual_seed(5)).tolist()


DRAWN = {
    "dropout": lambda x: ag.nn.functional.dropout(x, 0.5),
    "feature dropout": lambda x: ag.nn.functional.dropout1d(x.reshape(1, 50, 2), 0.5),
    "rrelu": lambda x: ag.nn.functional.rrelu(-x, training=True),
    "gumbel": lambda x: ag.nn.functional.gumbel_softmax(x),
    "normal_": lambda x: ag.empty_like(x).normal_(1, 2),
    "uniform_": lambda x: ag.empty_like(x).uniform_(1, 2),
    "exponential_": lambda x: ag.empty_like(x).exponential_(),
    "cauchy_": lambda x: ag.empty_like(x).cauchy_(),
    "log_normal_": lambda x: ag.empty_like(x).log_normal_(),
    "geometric_": lambda x: ag.empty_like(x).geometric_(0.5),
    "random_": lambda x: ag.empty_like(x).random_(5),
    "bernoulli": lambda x: ag.bernoulli(x * 0.5),
    "bernoulli_": lambda x: ag.empty_like(x).bernoulli_(0.3),
    "normal": lambda x: ag.normal(x, 0.5),
    "rand_like": ag.rand_like,
    "randint_like": lambda x: ag.randint_like(x, 7),
    "randperm": lambda x: ag.randperm(5, device="strict"),
    "poisson": lambda x: ag.poisson(x * 30),
    "multinomial": lambda x: ag.multinomial(x, 3),
    "multinomial with replacement": lambda x: ag.multinomial(x, 3, True),
    "native_dropout": lambda x: ag.native_dropout(x, 0.5, True)[0],
}


@pytest.mark.parametrize("own", [True, False], ids=["drawn there", "drawn on the host"])
@pytest.mark.parametrize("name", DRAWN)
def test_every_op_that_draws(name, own, monkeypatch):
    monkeypatch.setattr(strict.BACKEND, "draws", own)
    random._defaults.clear()
    x = ag.ones(100, dtype=ag.float32, device="strict")
    with strict.allowed_host_reads():  # checks of probabilities
        found = []
        for _ in range(2):
            ag.manual_seed(11)
            found.append(host(DRAWN[name](x)))
        other = host(DRAWN[name](x))
    assert (found[0] == found[1]).all()
    assert name.startswith(("multinomial", "randperm")) or (found[0] != other).any()
    random._defaults.clear()


def test_a_checkpoint_draws_the_same_again(drawing):
    x = ag.ones(200, dtype=ag.float64, device="strict", requires_grad=True)
    ag.manual_seed(1)
    plain = ag.autograd.grad(ag.nn.functional.dropout(x, 0.5).sum(), x)[0]
    ag.manual_seed(1)
    for reentrant in (True, False):
        ag.manual_seed(1)
        y = ag.utils.checkpoint.checkpoint(lambda x: ag.nn.functional.dropout(x, 0.5).sum(), x, use_reentrant=reentrant)
        ag.rand(3, device="strict")
        x.grad = None
        y.backward()
        assert (host(x.grad) == host(plain)).all()


def test_what_is_drawn_inside_a_fork_is_forgotten(drawing):
    ag.manual_seed(2)
    ag.rand(1, device="strict")
    with ag.random.fork_rng():
        inside = host(ag.rand(3, device="strict"))
    assert (host(ag.rand(3, device="strict")) == inside).all()


@pytest.mark.parametrize("reentrant", [True, False])
def test_a_checkpoint_with_the_first_draw_of_the_device_draws_the_same_again(drawing, reentrant):
    x = ag.ones(200, dtype=ag.float64, device="strict", requires_grad=True)
    y = ag.utils.checkpoint.checkpoint(lambda x: ag.nn.functional.dropout(x, 0.5), x, use_reentrant=reentrant)
    y.sum().backward()
    assert (host(x.grad) == host(y.detach())).all()


def test_the_first_draw_of_the_device_inside_a_fork_is_forgotten(drawing):
    ag.manual_seed(2)
    with ag.random.fork_rng():
        ag.manual_seed(3)
        other = host(ag.rand(3, device="strict"))
    first = host(ag.rand(3, device="strict"))
    ag.manual_seed(2)
    assert (host(ag.rand(3, device="strict")) == first).all()
    assert (first != other).all()


def test_a_seed_that_nobody_knows_is_that_of_every_device(drawing):
    ag.manual_seed(2)
    ag.rand(3, device="strict")
    assert ag.seed() == ag.initial_seed() == random.default_for(PLACE).initial_seed() != 2
    first = host(ag.rand(3, device="strict"))
    ag.manual_seed(ag.initial_seed())
    assert (host(ag.rand(3, device="strict")) == first).all()

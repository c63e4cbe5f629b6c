"""Samplers under a default device that draws itself, as CUDA does: on the device of their generator, fetched once."""

import agdbg_tests_strict_device as strict
import pytest

import agdbg_engine as ag
from agdbg_engine import random
from agdbg_engine.utils import data

ITEMS = list(range(100, 110))


@pytest.fixture
def drawing(monkeypatch):
    """``strict:1`` is the default device and draws by itself."""
    monkeypatch.setattr(strict.BACKEND, "draws", True)
    random._defaults.clear()
    ag.set_default_device("strict:1")
    yield
    ag.set_default_device(None)
    random._defaults.clear()


SAMPLED = {
    "random": lambda g: list(data.RandomSampler(ITEMS, generator=g)),
    "more than there are": lambda g: list(data.RandomSampler(ITEMS, num_samples=25, generator=g)),
    "with replacement": lambda g: list(data.RandomSampler(ITEMS, True, 40, g)),
    "subset": lambda g: list(data.SubsetRandomSampler(ITEMS, g)),
    "weighted": lambda g: list(data.WeightedRandomSampler([1.0, 2.0, 0.0, 4.0], 3, False, g)),
    "weighted with replacement": lambda g: list(data.WeightedRandomSampler([1.0, 2.0, 0.0, 4.0], 30, True, g)),
    "split": lambda g: [x for part in data.random_split(ITEMS, [3, 7], g) for x in part],
    "loader": lambda g: [int(x) for batch in data.DataLoader(ITEMS, 3, collate_fn=list, shuffle=True, generator=g) for x in batch],
}  # fmt: skip
OWN_SOURCE = ("random", "more than there are", "with replacement", "loader")
"""What draws from a generator of the CPU where none is given, as ``RandomSampler`` of torch makes one."""


def sampled(name, generator):
    with strict.allowed_host_reads():
        return SAMPLED[name](generator)


@pytest.mark.parametrize("name", SAMPLED)
def test_on_the_device_of_the_generator(name, drawing):
    mine = ag.Generator("strict:1").manual_seed(5)
    found = sampled(name, mine)
    assert found == sampled(name, ag.Generator("strict:1").manual_seed(5)) != sampled(name, mine)
    assert all(isinstance(x, int) for x in found)
    if name in ("subset", "split", "loader"):
        assert sorted(found) == ITEMS
    if "weighted" in name:
        assert set(found) <= {0, 1, 3}
    with pytest.raises(RuntimeError, match="Expected a 'strict' device type for generator but found 'cpu'"):
        sampled(name, ag.Generator())


@pytest.mark.parametrize("name", SAMPLED)
def test_without_a_generator(name, drawing):
    """As ``randperm`` draws from that of the device; ``RandomSampler`` makes one of the CPU, which is refused there, in torch too."""
    if name in OWN_SOURCE:
        with pytest.raises(RuntimeError, match="Expected a 'strict' device type for generator but found 'cpu'"):
            sampled(name, None)
        return
    before = ag.random.default_for(ag.device("strict:1")).get_state().tolist()
    sampled(name, None)
    assert ag.random.default_for(ag.device("strict:1")).get_state().tolist() != before


def test_a_split_draws_from_the_cpu_unless_told(drawing):
    with pytest.raises(RuntimeError, match="Expected a 'strict' device type for generator but found 'cpu'"):
        data.random_split(ITEMS, [3, 7])


def test_a_loader_asks_for_a_generator_of_the_default_device(monkeypatch):
    """Also one that shuffles nothing: torch draws the seed of workers from it."""
    monkeypatch.setattr(strict.BACKEND, "draws", True)
    with pytest.raises(RuntimeError, match="Expected a 'cpu' device type for generator but found 'strict'"):
        iter(data.DataLoader(ITEMS, generator=ag.Generator("strict")))
    assert len(list(data.DataLoader(ITEMS, 5, collate_fn=list, generator=ag.Generator()))) == 2


@pytest.mark.parametrize("name", ["random", "with replacement", "subset", "split"])
def test_fetched_once(name, drawing, monkeypatch):
    fetched = []
    get = strict.ndarray.get
    monkeypatch.setattr(strict.ndarray, "get", lambda self, **how: fetched.append(self.size) or get(self, **how))
    sampled(name, ag.Generator("strict:1"))
    assert fetched == [40 if name == "with replacement" else 10]

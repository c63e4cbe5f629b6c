"""The training scripts of `examples/` on the strict device: as on the CPU, and no value is read but by `loss.item()`."""

import contextlib

import agdbg_tests_strict_device as strict
import numpy as np
import pytest
from agdbg_tests_examples import SCRIPTS, default_dtype, load

import agdbg_engine as ag

STEPS = 4
READING = {"train_lbfgs"}
"""A line search decides by values, in PyTorch too."""


@pytest.fixture
def reading(monkeypatch):
    """What the scripts ask for is given: numbers of losses, and NumPy's arrays go to the device."""
    item, from_numpy = ag.Tensor.item, ag.from_numpy

    def read(t):
        with strict.allowed_host_reads():
            return item(t)

    monkeypatch.setattr(ag.Tensor, "item", read)
    monkeypatch.setattr(ag, "from_numpy", lambda a: from_numpy(a).to("strict"))


@pytest.mark.parametrize("name", SCRIPTS)
def test_it_trains_as_on_the_cpu(name, reading, monkeypatch):
    with default_dtype(ag, "float64"):
        ag.manual_seed(0)
        script = load(name, ag)
        model = script.Model()
        arrays = {key: value.detach().numpy().copy() for key, value in model.state_dict().items()}
        strict.refusals.clear()
        with ag.device("strict"):
            there = load(name, ag)
            moved = there.Model().to("strict")
            moved.load_state_dict({key: ag.tensor(array) for key, array in arrays.items()})
            ag.manual_seed(1)
            with strict.allowed_host_reads() if name in READING else contextlib.nullcontext():
                found = there.train(moved, STEPS)
        monkeypatch.undo()
        ag.manual_seed(1)
        expected = script.train(model, STEPS)
    assert strict.refusals == []
    assert {p.device.type for p in moved.parameters()} == {"strict"}
    np.testing.assert_allclose(found, expected, rtol=1e-9)

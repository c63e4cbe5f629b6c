"""The training scripts of `examples/`: each reaches its goal, and trains as the same source does with torch."""

import importlib
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from agdbg_tests_examples import EXAMPLES, SCRIPTS, default_dtype, load

import agdbg_engine

STEPS = 20
ROUNDING = {"float64": 1e-9, "float32": 1e-4}
FLIPS = 1e-3  # in float32 a ReLU may see 2e-7 here and -3e-7 there, and passes its gradient in one of them only


@pytest.fixture
def torch():
    """PyTorch on one thread: the scripts are too small for more."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield torch
    torch.set_num_threads(before)


def arrays(model):
    return {name: np.array(value.detach().numpy()) for name, value in model.state_dict().items()}


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("dtype", ROUNDING)
def test_it_trains_as_with_torch(torch, name, dtype):
    with default_dtype(agdbg_engine, dtype), default_dtype(torch, dtype):
        agdbg_engine.manual_seed(0)
        script, twin = load(name, agdbg_engine), load(name, torch)
        model, twin_model = script.Model(), twin.Model()
        assert list(model.state_dict()) == list(twin_model.state_dict())
        twin_model.load_state_dict({key: torch.from_numpy(array) for key, array in arrays(model).items()})
        losses = script.train(model, STEPS)
        expected = twin.train(twin_model, STEPS)
    assert all(p.dtype == getattr(agdbg_engine, dtype) for p in model.parameters())
    assert losses[-1] < losses[0]
    rounding = FLIPS if (name, dtype) == ("train_resnet", "float32") else ROUNDING[dtype]
    np.testing.assert_allclose(losses, expected, rtol=rounding, atol=0)


@pytest.mark.parametrize("name", SCRIPTS)
def test_it_reaches_the_goal_that_it_states(name, tmp_path):
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py")],
        cwd=tmp_path,
        env=one_thread,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    last = done.stdout.splitlines()[-1]
    assert last.startswith("Shows: ")
    result, goal = map(float, re.findall(r"\d+(?:\.\d+)?", last))
    assert result >= goal if name == "train_resnet" else result <= goal


def test_the_text_is_there_where_python_came_without_its_licence(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    python_text = importlib.import_module("python_text")
    licence = python_text.load_text(2_000)
    monkeypatch.setattr(python_text, "NAMES", ())
    other = python_text.load_text(12_000)
    assert len(licence.codes) == 2_000
    assert len(other.codes) == 12_000
    assert other.decode(other.codes[:3]) == "str"
    assert len(other.alphabet) == other.codes.max() + 1

"""The example scripts: what they print, what agdbg says about them, and that each ends by saying what it shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DATA = {"digits_data.py", "python_text.py"}
TRAINING = {p.name for p in EXAMPLES.glob("train_*.py")}  # they take the number of steps as their argument
SCRIPTS = sorted({p.name for p in EXAMPLES.glob("*.py")} - DATA - TRAINING)


def agdbg(*args, cwd):
    env = {**os.environ, "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, "-m", "agdbg", *args], cwd=cwd, env=env, capture_output=True, text=True, timeout=120
    )


class Runs:
    """Every example, run under agdbg when it is first asked for: ``runs[name]`` is (completed process, trace directory)."""

    def __init__(self, folder):
        self._folder = folder
        self._done = {}

    def __getitem__(self, name):
        if name not in self._done:
            trace = self._folder / name.removesuffix(".py")
            words = ["run", "--headless", "--trace", str(trace), str(EXAMPLES / name)]
            self._done[name] = agdbg(*words, cwd=self._folder), trace
        return self._done[name]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The examples under agdbg; a worker that has but few of these tests runs but few of them."""
    return Runs(tmp_path_factory.mktemp("examples"))


def line_of(name, text):
    """Number of the only line of an example that contains ``text``."""
    lines = (EXAMPLES / name).read_text().splitlines()
    (number,) = [i for i, line in enumerate(lines, 1) if text in line]
    return number


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_last_line_says_what_it_shows(runs, name):
    assert runs[name][0].stdout.splitlines()[-1].startswith("Shows: ")


@pytest.mark.parametrize("name", SCRIPTS)
def test_it_prints_and_exits_as_without_agdbg(runs, name, tmp_path):
    plain = subprocess.run(
        [sys.executable, str(EXAMPLES / name)], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    run = runs[name][0]
    assert (run.stdout, run.returncode) == (plain.stdout, plain.returncode)


@pytest.mark.parametrize(("name", "steps"), [("train_gpt.py", "3"), ("train_pinn.py", "12")])
def test_training_prints_the_same_digits_as_without_agdbg(name, steps, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # such small products only wait for each other's threads
    script = [str(EXAMPLES / name), steps]
    plain = subprocess.run([sys.executable, *script], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    run = agdbg("run", "--headless", "--trace", str(tmp_path / "trace"), *script, cwd=tmp_path)
    assert plain.stdout.splitlines()[-1].startswith("Shows: ")
    assert (run.stdout, run.returncode) == (plain.stdout, 0)


def test_the_digits_are_learnt_without_an_error(runs):
    run, _ = runs["digits_mlp.py"]
    (accuracy,) = re.findall(r"([\d.]+)% of the test digits", run.stdout)
    assert float(accuracy) >= 95
    assert run.returncode == 0
    assert "Traceback" not in run.stderr


EXPECTED = {
    "digits_backward_twice.py": (
        "backward-twice",
        ["class_loss.backward()", "image_loss.backward()", "features = model.encoder"],
        ["Pass retain_graph=True to the first call"],
    ),
    "rnn_carried_state.py": ("backward-twice", ["loss.backward()", "return ag.tanh"], ["etach"]),
    "inplace_saved.py": ("inplace-modified", ["y = ag.exp(a)", "signal *= 3"], ["signal = signal * 3"]),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_explanation_names_the_lines_and_the_fix(runs, name, warm_programs):
    kind, places, fixes = EXPECTED[name]
    run, trace = runs[name]
    assert run.returncode == 1
    again = warm_programs.run(warm_programs.command("explain", str(trace)), cwd=trace.parent)
    assert again.status == 0
    for text in (run.stderr, again.stdout):
        assert kind in text
        for place in places:
            assert f"{name}:{line_of(name, place)}" in text
            assert place in text
        for fix in fixes:
            assert fix in text


@pytest.mark.parametrize("suffix", ["svg", "dot", "json", "txt"])
def test_the_graph_of_the_error_can_be_drawn(runs, suffix, tmp_path, warm_programs):
    _, trace = runs["digits_backward_twice.py"]
    out = tmp_path / f"g.{suffix}"
    done = warm_programs.run(warm_programs.command("export", str(trace), "-o", str(out)))
    assert done.status == 0, done
    text = out.read_text()
    assert "ReluBackward0" in text
    assert "encoder.0.weight" in text


def test_the_trace_is_summed_up(runs, warm_programs):
    done = warm_programs.run(warm_programs.command("trace", "info", str(runs["digits_mlp.py"][1])))
    assert "agdbg_engine" in done.stdout
    assert "860 ok, 0 error" in done.stdout


def test_nan_behind_a_mask_and_before_it(runs):
    run, _ = runs["nan_where_sqrt.py"]
    assert "masked after sqrt:  tensor([0.2500,    nan,    nan])" in run.stdout
    assert "masked before sqrt: tensor([0.2500, 1.0000, 1.0000])" in run.stdout

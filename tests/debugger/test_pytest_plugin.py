"""`pytest --agdbg`: the finding under a failing test, and nothing anywhere else."""

import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

TWICE = """
import agdbg_engine as torch

def test_good():
    torch.ones(2, requires_grad=True).exp().sum().backward()

def test_twice():
    loss = torch.ones(2, requires_grad=True).exp().sum()
    loss.backward()
    loss.backward()
"""


@pytest.fixture
def run(pytester, monkeypatch, tmp_path):
    """A function that runs pytest with the plugin on a file; temporary files go to a directory of their own."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    installed = any(point.value == "agdbg.incode.pytest_plugin" for point in entry_points(group="pytest11"))

    def start(text, *words):
        pytester.makepyfile(test_file=text)
        plugin = () if installed else ("-p", "agdbg.incode.pytest_plugin")
        return pytester.runpytest_subprocess(*plugin, "-p", "no:cacheprovider", *words)

    start.traces = lambda: sorted(folder.glob("agdbg-pytest-*"))
    return start


def test_the_finding_stands_under_the_test_that_failed(run):
    done = run(TWICE, "--agdbg")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["*- agdbg -*", "1. `loss.backward()` at line 9 goes through the graph that*", "*fix *"])
    assert done.stdout.str().count("- agdbg -") == 1
    (kept,) = run.traces()
    said = re.search(r"^trace: (.*)$", done.stdout.str(), re.MULTILINE)
    assert Path(said[1]).parent.name == kept.name and (Path(said[1]) / "records.bin").exists()


def test_a_test_that_passes_leaves_nothing(run):
    done = run(TWICE, "--agdbg", "-k", "good")
    done.assert_outcomes(passed=1, deselected=1)
    assert run.traces() == [] and "agdbg -" not in done.stdout.str()


def test_without_the_option_nothing_is_recorded(run):
    text = TWICE + "\ndef test_off():\n    from agdbg_engine import events\n    assert events.sink is None\n"
    done = run(text)
    done.assert_outcomes(passed=2, failed=1)
    assert "- agdbg -" not in done.stdout.str() and run.traces() == []


def test_it_works_with_xdist(run):
    done = run(TWICE, "--agdbg", "-n", "2")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["*- agdbg -*", "1. `loss.backward()` at line 9 *"])
    assert len(run.traces()) == 1


def test_what_a_fixture_built_is_known(run):
    text = """
import pytest
import agdbg_engine as torch

@pytest.fixture(scope="module")
def loss():
    return torch.ones(2, requires_grad=True).exp().sum()

def test_one(loss):
    loss.backward()

def test_two(loss):
    loss.backward()
"""
    done = run(text, "--agdbg")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["*`backward()` at test_file.py:9 freed what ExpBackward0*", "*loss.backward()"])


def test_an_error_in_a_fixture_is_explained(run):
    text = """
import pytest
import agdbg_engine as torch

@pytest.fixture
def broken():
    x = torch.ones(2, requires_grad=True)
    x += 1

def test_one(broken):
    pass
"""
    done = run(text, "--agdbg")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*- agdbg -*", "*x += 1*"])


def test_another_failure_shows_what_was_found_besides(run):
    text = """
import pytest
import agdbg_engine as torch

def test_one():
    loss = torch.ones(2, requires_grad=True).exp().sum()
    loss.backward()
    with pytest.raises(RuntimeError):
        loss.backward()
    assert 1 == 2

def test_other():
    assert 1 == 2
"""
    done = run(text, "--agdbg")
    done.assert_outcomes(failed=2)
    done.stdout.fnmatch_lines(["found in this test, whether it is why the test fails or not:", "1. `loss.backward()`*"])
    done.stdout.fnmatch_lines(["nothing was found in*"])


def test_extras_can_be_asked_for(run):
    text = """
import agdbg_engine as torch
from agdbg.engines import native
from agdbg.events import Kind
from agdbg.record import Facts, Trace

def test_one():
    x = torch.ones(2, requires_grad=True)
    x.exp().sum().backward()
    recorder = native._sink.recorder
    recorder.flush()
    facts = Facts(Trace.open(recorder.path))
    assert facts.shape(int(facts.node_ids[1])).text == "float32[2]"
    assert facts.bad_summaries == [] and len(facts.rows(Kind.SUMMARY))
"""
    run(text, "--agdbg", "--agdbg-also", "shapes", "--agdbg-also", "values").assert_outcomes(passed=1)
    done = run(text, "--agdbg", "--agdbg-also", "colours")
    assert done.ret == 4 and "nothing called" in done.stderr.str()


def test_a_test_that_cannot_be_recorded_runs_all_the_same(run):
    text = """
import pytest
from agdbg_engine import events

@pytest.fixture(scope="module", autouse=True)
def other():
    events.remove()
    events.install(events.Sink())
    yield
    events.remove()

def test_one():
    pass

def test_two():
    assert type(events.sink) is events.Sink
"""
    done = run(text, "--agdbg")
    done.assert_outcomes(passed=2)
    assert "test_two is not recorded: RuntimeError" in done.stderr.str()
    assert run.traces() == []


def test_an_error_of_any_kind_is_told_at_the_line_of_the_test(run):
    text = """
import agdbg_engine as torch

def test_cut():
    x = torch.ones(3, requires_grad=True)
    (x.detach() * 2).sum().backward()

def test_unused():
    x, y = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    torch.autograd.grad((x * 2).sum(), y)
"""
    done = run(text, "--agdbg")
    done.assert_outcomes(failed=2)
    said = done.stdout.str().split("- agdbg -")
    assert "cut " in said[1] and "test_file.py:5 in test_cut" in said[1]
    assert "asks for the gradient of `y`" in said[2] and "test_file.py:9 in test_unused" in said[2]
    assert "runner.py" not in done.stdout.str()


def test_an_assertion_about_nan_is_told_what_else_can_be_recorded(run):
    text = """
import agdbg_engine as torch

def test_finite():
    x = torch.zeros(3, requires_grad=True)
    torch.sqrt(x * 0).sum().backward()
    assert torch.isfinite(x.grad).all()
"""
    hint = "hint: with --agdbg-also values*"
    run(text, "--agdbg").stdout.fnmatch_lines([hint])
    done = run(text, "--agdbg", "--agdbg-also", "values")
    done.stdout.no_fnmatch_line(hint)
    done.stdout.fnmatch_lines(["found in this test*", "*nan*"])

"""A batch that starts its program anew prints what every run has printed, each from its beginning to its end."""

import json
import subprocess
import sys

import pytest
from agdbg_tests_console_stage import PATIENCE_S

LINES = """\
import agdbg_engine as torch
for i in range(5):
    print("head", i)
x = torch.ones(3, requires_grad=True)
for i in range(3):
    (x * 2).sum().backward()
    print("it", i)
"""
ONCE = [f"head {i}" for i in range(5)] + [f"it {i}" for i in range(3)]

ASKED_TO_END = """\
import signal, sys
import agdbg_engine as torch
def end(*_):
    print("x" * 300_000 + "\\nlast words", end="")
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
print("begun")
x = torch.ones(3, requires_grad=True)
(x * 2).sum().backward()
print("done")
"""


@pytest.fixture
def batch(tmp_path):
    """Runs a program in a batch; the result has its status and output."""

    def run(text, *commands, as_json=False):
        (tmp_path / "script.py").write_text(text)
        words = [word for command in commands for word in ("-x", command)] + ["--json"] * as_json
        return subprocess.run(
            [sys.executable, "-m", "agdbg", "run", "--batch", *words, "script.py"],
            cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S,
        )  # fmt: skip

    return run


def printed(text):
    return [line for line in text.splitlines() if line.startswith(("head", "it"))]


@pytest.mark.parametrize("again", ["run", "restart"])
def test_a_run_after_the_end_prints_all_its_lines(batch, again):
    assert printed(batch(LINES, "run", again, again).stdout) == 3 * ONCE


def test_with_json_the_lines_of_both_runs_are_beside_the_answers(batch):
    done = batch(LINES, "run", "run", as_json=True)
    assert printed(done.stderr) == 2 * ONCE
    assert [json.loads(line)["ok"] for line in done.stdout.splitlines()] == [True, True]


def test_a_run_that_stands_prints_its_lines_up_to_there(batch):
    assert printed(batch(LINES, "start", "restart").stdout) == ONCE[:5] + ONCE


def test_the_last_words_of_a_run_that_is_ended_for_the_next_one_are_printed(batch):
    out = batch(ASKED_TO_END, "start", "restart").stdout
    assert (out.count("begun"), out.count("last words"), out.count("x" * 300_000), out.count("done")) == (2, 1, 1, 1)
    assert out.index("begun") < out.index("last words") < out.rindex("begun")

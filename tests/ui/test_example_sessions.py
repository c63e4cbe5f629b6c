"""Every script of examples/ in a session of its own in a real terminal: stopped, stepped, looked at, run on, left."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from agdbg_tests_tmux import AVAILABLE, PATIENCE, hubs

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="tmux is not installed")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
AGDBG = f"{sys.executable} -m agdbg"
#: What stands in the banner before the error of a script that fails.
FAILING = {
    "digits_backward_twice.py": "will fail: `class_loss.backward()`",
    "rnn_carried_state.py": "will fail: The graph reaches back into the previous iteration",
}
#: This one is told at its first stop that it will fail.
FAILING_FIRST = {"inplace_saved.py": "will fail: `y`"}
#: The trainings are told to take few steps; all of them run to their end.
STEPS = {
    "train_gpt.py": 2,
    "train_gru.py": 2,
    "train_lbfgs.py": 2,
    "train_maml.py": 2,
    "train_pinn.py": 2,
    "train_resnet.py": 2,
    "train_vae.py": 2,
}
OTHERS = ["nan_where_sqrt.py"]
#: A training of many epochs: it is stopped in the middle and left there.
LONG = "digits_mlp.py"
#: What the others import: they end at once when they are run themselves.
WITHOUT_AUTOGRAD = ["digits_data.py", "python_text.py"]

_CONTROL = re.compile(r"\x1b\[[0-9;]*m")
#: How a pass is run, by the engine or under the debugger, is not what a program says.
_ENGINE_FRAME = re.compile(r'  File "[^"]*/(?:agdbg_engine|agdbg/engines)/[^\n]*\n(?:    [^\n]*\n)*')


def plain_run(name, *words):
    """What a script says on a terminal without the debugger, and its exit status."""
    command = [sys.executable, "-u", str(EXAMPLES / name), *map(str, words)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE)
    return said(done.stdout), done.returncode


def said(text):
    return _CONTROL.sub("", _ENGINE_FRAME.sub("", "".join(f"{line}\n" for line in text.splitlines())))


class Session:
    """A script under the debugger, in a shell that tells its terminal's settings before and after."""

    def __init__(self, screen, name, *words):
        self.screen, self.name, self.folder = screen, name, screen.folder
        screen.enter("stty -g > before")
        line = " ".join(map(str, (AGDBG, "run", "--trace", "traced", EXAMPLES / name, *words)))
        screen.enter(f"{line}; echo status $?; stty -g > after; echo re''stored")

    def looks_around(self):
        """The first stop, a step, the panes of the node, the step taken back."""
        screen = self.screen
        first = self.stands_at(1)
        screen.keys("n")
        second = self.stands_at(2)
        screen.keys("1", "Down")
        screen.wait(f"{second}  #", "Gradients in  1", "runs next")
        screen.keys("2")
        line = re.search(rf"{self.name}:(\d+)", screen.wait("2 Source", f"{self.name}:"))[1]
        screen.wait(f" {line} ▶ ")  # the forward line of the node
        screen.keys("p")
        assert self.stands_at(1) == first
        screen.keys("0")

    def stands_at(self, position):
        """Wait for the stop before a node of the first pass; return its name."""
        shown = self.screen.wait("stopped before ", f" {position} of ", "Gradients in")
        return re.search(r"stopped before (\w+)", shown)[1]

    def fails(self):
        """The program ends with its error, of which it says what it says without the debugger."""
        self.screen.wait("ended with status 1")
        self.screen.keys("q")
        self.is_left(1)
        assert (self.said, 1) == plain_run(self.name)

    def is_left(self, status):
        """The debugger is gone with this status, and has left the terminal as it was and nothing running."""
        screen = self.screen
        screen.wait(f"status {status}", "restored", gone=["Inspector"])
        assert screen.fact("alternate_on") == "0"
        assert screen.fact("cursor_flag") == "1"
        assert screen.fact("mouse_any_flag") == "0"
        assert (self.folder / "before").read_text() == (self.folder / "after").read_text()
        assert hubs(self.folder) == []

    @property
    def said(self):
        return said((self.folder / "traced" / "output.log").read_text(encoding="utf-8"))


@pytest.fixture
def session(new_terminal):
    def start(name, *words):
        return Session(new_terminal(columns=120, rows=40), name, *words)

    return start


def test_every_example_is_here():
    here = [*FAILING, *FAILING_FIRST, *STEPS, *OTHERS, LONG, *WITHOUT_AUTOGRAD]
    assert sorted(here) == sorted(path.name for path in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("name", [*STEPS, *OTHERS])
def test_to_the_end(session, name):
    words = [STEPS[name]] if name in STEPS else []
    one = session(name, *words)
    one.looks_around()
    one.screen.keys("c")
    one.screen.wait("ended with status 0", "Shows:")
    one.screen.keys("q")
    one.is_left(0)
    assert (one.said, 0) == plain_run(name, *words)


@pytest.mark.parametrize("name", FAILING)
def test_to_the_error(session, name):
    one = session(name)
    one.looks_around()
    one.screen.keys("c")
    one.screen.wait(FAILING[name])
    one.screen.keys("c")
    one.fails()


@pytest.mark.parametrize("name", FAILING_FIRST)
def test_to_the_error_of_the_first_pass(session, name):
    one = session(name)
    one.screen.wait(FAILING_FIRST[name])
    one.looks_around()
    one.screen.keys("c")
    one.fails()


def test_to_the_middle_of_a_long_training(session):
    one = session(LONG)
    one.looks_around()
    one.screen.type(":")
    one.screen.wait("a command or Python")
    one.screen.enter("break digits_mlp.py:30 if epoch == 1")
    one.screen.wait("digits_mlp.py:30  if epoch == 1")
    one.screen.keys("Escape")
    one.screen.wait("n next", gone=["a command or Python"])
    one.screen.keys("c")
    one.screen.wait("epoch  1", "stopped")
    one.screen.keys("q")
    one.screen.wait("What becomes of it?")
    one.screen.keys("k")
    one.is_left(143)
    whole, status = plain_run(LONG)
    assert status == 0
    assert one.said.startswith("epoch  1")
    assert whole.startswith(one.said)


@pytest.mark.parametrize("name", WITHOUT_AUTOGRAD)
def test_without_autograd(session, name):
    one = session(name)
    one.screen.wait("ended with status 0", "no autograd graph was recorded")
    one.screen.keys("q")
    one.is_left(0)
    assert (one.said, 0) == plain_run(name)

"""A terminal that is hung up, where no signal says so, and one that does not know its size."""

import os
import pty
import select
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from agdbg_tests_tmux import PATIENCE

SCRIPT = """\
import agdbg_engine as ag

x = ag.ones(2, requires_grad=True)
x.exp().sum().backward()
open("ended", "w").close()
"""


@pytest.fixture
def started(tmp_path):
    """Starts the UI on a terminal of its own, which is that of no session: its end is told to nobody. Gives process and terminal."""
    (tmp_path / "train.py").write_text(SCRIPT)
    processes = []

    def start(*words):
        ours, theirs = pty.openpty()
        where = {"cwd": tmp_path, "env": {**os.environ, "TERM": "xterm-256color"}, "start_new_session": True}
        command = [sys.executable, "-m", "agdbg", *words]
        processes.append(subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, **where))
        os.close(theirs)
        return processes[-1], ours

    yield start
    for process in processes:
        process.kill()
        process.wait()


def read_until(terminal, text):
    seen, until = b"", time.monotonic() + PATIENCE
    while text not in seen:
        assert select.select([terminal], [], [], max(until - time.monotonic(), 0))[0], seen[-2000:]
        seen += os.read(terminal, 65536)
    return seen


@pytest.mark.parametrize("when", [b"\x1b[?1049h", b"SumBackward0"])
def test_a_terminal_that_is_gone_ends_the_ui(started, tmp_path, when):
    """From the first bytes on: whoever has not seen it yet reads the end of the terminal again and again."""
    process, terminal = started("run", "train.py")
    read_until(terminal, when)
    os.close(terminal)
    assert process.wait(PATIENCE) == 129
    until = time.monotonic() + PATIENCE
    while when == b"SumBackward0" and not (tmp_path / "ended").exists():  # it is told to go on, as after the signal
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_terminal_without_a_size(started):
    process, terminal = started("run", "train.py")
    assert b"SumBackward0" in read_until(terminal, b"SumBackward0")
    os.write(terminal, b"q")
    read_until(terminal, b"kill it")
    os.write(terminal, b"k")
    with suppress(OSError):  # the end of the terminal, when nobody has it open any more
        while os.read(terminal, 65536):
            pass
    os.close(terminal)
    assert process.wait(PATIENCE) == 143  # that of the program, which was asked to end

"""Whether a program waits for input is read off the system calls in which its threads stand."""

import os
import select
import subprocess
from time import monotonic

import pytest

from agdbg.hub.awaiting import _READS, _read_by, awaits_input

PATIENCE_S = 30.0
READS, SELECTS = ("0", "270") if 0 in _READS else ("63", "72")

pytestmark = pytest.mark.skipif(not _READS, reason="the system calls of this machine are not known")


@pytest.fixture
def on_terminal():
    """Run a shell command on a terminal; returns its process and the terminal's two sides."""
    master, slave = os.openpty()
    started = []

    def run(script):
        process = subprocess.Popen(
            ["sh", "-c", script], stdin=slave, stdout=slave, stderr=slave, start_new_session=True
        )
        started.append(process)
        return process, master, os.ttyname(slave)

    yield run
    for process in started:
        process.kill()
        process.wait()
    os.close(master)
    os.close(slave)


def until(condition):
    end = monotonic() + PATIENCE_S
    while not condition():
        assert monotonic() < end
        select.select([], [], [], 0.01)


def test_one_that_reads_its_terminal_waits_until_something_is_typed(on_terminal):
    process, master, path = on_terminal("read line; echo got; exec sleep 60")
    until(lambda: awaits_input(process.pid, path))
    assert not awaits_input(process.pid, "/dev/pts/another")
    os.write(master, b"x\n")
    until(lambda: b"got" in os.read(master, 100))
    assert not awaits_input(process.pid, path)


def test_one_that_reads_something_else_does_not_wait_for_input(on_terminal, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    process, master, path = on_terminal(f"exec 3<> {tmp_path}/pipe; echo ready; read line <&3")
    until(lambda: b"ready" in os.read(master, 100))
    assert not awaits_input(process.pid, path)


def test_one_that_is_gone_waits_for_nothing(on_terminal):
    process, _, path = on_terminal("exit")
    process.wait()
    assert not awaits_input(process.pid, path)


@pytest.mark.parametrize(
    ("call", "descriptor"),
    [
        ([READS, "0x7", "0x7facb1ff1b03"], 7),
        ([SELECTS, "0x1", "0x7ffd"], 0),
        ([SELECTS, "0x4", "0x7ffd"], -1),
        (["9999", "0x0"], -1),
        (["running"], -1),
        ([], -1),
    ],
    ids=["read", "a line editor", "several descriptors", "another call", "computes", "ended"],
)
def test_what_a_system_call_waits_for(call, descriptor):
    assert _read_by(call) == descriptor

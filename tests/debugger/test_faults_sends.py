"""A fault at every send of client, hub and program, and at every write of the hub: nothing hangs or is left, results stay.

Each fault is a session of three processes. So the kinds of faults take turns over the places: a kill at the first one, half of
a message at the second. AGDBG_EVERY_FAULT=1 tries each kind at each place.
"""

import json
import os
import select
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

from agdbg.record import Facts, Trace, TraceError

HERE = Path(__file__).parent
PATIENCE_S = 120.0
AT_ONCE = 4
EVERY_FAULT = os.environ.get("AGDBG_EVERY_FAULT") == "1"
SCRIPT = """\
import os
open("began", "w").close()
import agdbg_engine as ag

x = ag.tensor([1.0, 2.0], requires_grad=True)
w = ag.tensor([3.0, 5.0], requires_grad=True)
loss = (x * w).exp().sum()
loss.backward()
with open("result.new", "w") as file:
    file.write(str([x.grad.tolist(), w.grad.tolist()]))
os.rename("result.new", "result")
"""


class Run:
    """One session with one fault."""

    def __init__(self, directory, role, where, mode, number):
        self.directory, self.role, self.where, self.mode = directory, role, where, mode
        self.name = f"{role}-{where}-{mode}-{number}-{os.getpid()}"
        (directory / "run").mkdir(parents=True, mode=0o700)
        self.mark = directory / "hurt"
        self.script = directory / "train.py"
        self.script.write_text(SCRIPT)
        path = os.pathsep.join(filter(None, [str(HERE / "fault_site"), os.environ.get("PYTHONPATH")]))
        self.environment = {
            **os.environ,
            "PYTHONPATH": path,
            "XDG_RUNTIME_DIR": str(directory / "run"),
            "AGDBG_TEST_RUN": self.name,
            "AGDBG_TEST_FAULT": f"{role}:{where}:{mode}:{number}:{self.mark}",
        }

    def play(self):
        """The session to its end; what its client has seen, None when that was killed."""
        over = "tcp" if self.where == "tcp" else "unix"
        words = [sys.executable, str(HERE / "fault_session.py"), str(self.script), str(self.directory / "trace"), over]
        done = subprocess.run(
            words, env=self.environment, cwd=self.directory, capture_output=True, text=True, timeout=PATIENCE_S
        )
        self.await_rest()
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        return json.loads(done.stdout) if done.returncode == 0 else None

    def await_rest(self):
        """All processes of this session end by themselves, but for a hub for which nobody has started a program."""
        for pid in self.processes():
            try:
                fd = os.pidfd_open(pid)
            except ProcessLookupError:
                continue
            if not self.has_begun and "agdbg.hub" in command_of(pid):  # it waits a minute for another client
                signal.pidfd_send_signal(fd, signal.SIGTERM)
            assert select.select([fd], [], [], PATIENCE_S)[0], f"{self.name}: {pid} is left: {command_of(pid)}"
            os.close(fd)

    def processes(self):
        wanted = f"AGDBG_TEST_RUN={self.name}\0".encode()
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    if wanted in (entry / "environ").read_bytes() + b"\0":
                        yield int(entry.name)
                except OSError:
                    continue

    @property
    def has_begun(self):
        return (self.directory / "began").exists()

    @property
    def was_hurt(self):
        return self.mark.exists()

    @property
    def result(self):
        file = self.directory / "result"
        return file.read_text() if file.exists() else None


def command_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return "it is gone"


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The result of the program under python."""
    directory = tmp_path_factory.mktemp("plain")
    (directory / "train.py").write_text(SCRIPT)
    subprocess.run([sys.executable, "train.py"], cwd=directory, check=True, timeout=PATIENCE_S)
    return (directory / "result").read_text()


def played(directory, role, where, modes, check):
    """Sessions with a fault at the first, the second ... such place, until there are no more; how many places there were."""
    if EVERY_FAULT and len(modes) > 1:
        return min(played(directory / mode, role, where, [mode], check) for mode in modes)
    numbers = count(1)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        while True:
            runs = [
                Run(directory / f"{number}", role, where, modes[number % len(modes)], number)
                for number in [next(numbers) for _ in range(AT_ONCE)]
            ]
            seen = list(pool.map(Run.play, runs))
            for run, what in zip(runs, seen, strict=True):
                check(run, what)
                if not run.was_hurt:
                    return sum(1 for mark in directory.glob("*/hurt"))


def readable(run):
    """What was recorded before the fault can be read."""
    trace = run.directory / "trace"
    if (trace / "records.bin").exists():
        try:
            Facts(Trace.open(trace)).errors  # this reads all of it
        except TraceError as error:
            assert "nothing" in str(error) or "empty" in str(error), error


@pytest.mark.parametrize("role", ["client", "hub"])
@pytest.mark.parametrize(("where", "modes"), [("unix", ["kill", "half", "error"]), ("tcp", ["half", "error"])])
def test_without_its_debugger_the_program_goes_on(tmp_path, plain, role, where, modes):
    def check(run, seen):
        assert run.result == (plain if run.has_begun else None), run.name
        readable(run)
        if run.was_hurt and role == "hub" and run.mode != "error":
            assert seen in ("Disconnected", "HubFailed") or seen["exit"] == 0, run.name
        if not run.was_hurt:
            assert seen["exit"] == 0

    assert played(tmp_path, role, where, modes, check) >= 8


def test_a_program_that_is_killed_at_a_send_is_told_of(tmp_path, plain):
    def check(run, seen):
        readable(run)
        if run.was_hurt:
            assert (seen["exit"], seen["signal"]) == (None, "SIGKILL"), run.name
        else:
            assert (seen["exit"], run.result) == (0, plain)

    assert played(tmp_path, "program", "unix", ["kill"], check) >= 5


def test_a_program_whose_connection_breaks_goes_on(tmp_path, plain):
    def check(run, seen):
        readable(run)
        assert (run.result, seen["exit"]) == (plain, 0), (run.name, seen)

    assert played(tmp_path, "program", "unix", ["error"], check) >= 5


@pytest.mark.parametrize(("role", "where"), [("hub", "unix"), ("program", "unix"), ("hub", "tcp")])
def test_sends_that_take_one_byte_are_no_fault(tmp_path, plain, role, where):
    run = Run(tmp_path / "run", role, where, "short", 0)
    seen = run.play()
    assert run.was_hurt
    assert (run.result, seen["exit"]) == (plain, 0), seen
    readable(run)


def test_a_hub_that_is_hurt_at_a_write(tmp_path, plain):
    def check(run, seen):
        assert run.result == (plain if run.has_begun else None), run.name
        readable(run)
        if not run.was_hurt:
            assert seen["exit"] == 0
        if run.mode == "error" and run.was_hurt and not run.has_begun:
            assert seen == "HubFailed" or "No space left on device" in str(seen), (run.name, seen, run.mark.read_text())

    assert played(tmp_path, "hub", "write", ["kill", "error"], check) >= 8

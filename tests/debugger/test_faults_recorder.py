"""A fault at every call by which the recorder changes a file, in turn: the program does not notice, what was recorded is there."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PATIENCE_S = 280
SCRIPT = """\
import sys
import agdbg_engine as ag

x = ag.tensor([0.5, 0.25], requires_grad=True)
for turn in range(2):
    loss = (x * x * (turn + 1)).exp().sum()
    loss.backward()
    try:
        loss.backward()
    except RuntimeError as error:
        print(turn, type(error).__name__, flush=True)
print(x.grad.tolist())
sys.exit(7)
"""
CHANGES = {
    "open strings.jsonl", "write meta.json.new", "rename meta.json", "open records.bin", "write records.bin",
    "lseek strings.jsonl", "write strings.jsonl", "lseek records.bin", "close strings.jsonl", "close records.bin",
}  # fmt: skip
HARMLESS = ("records.bin: the last record is cut", "records.bin ends in its header", "strings.jsonl: line ")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the calls are told apart by /proc/self/fd")


class Runs:
    """All runs with one kind of fault; `plain` is what Python alone makes of the program, `whole` the run without a fault."""

    def __init__(self, directory, mode):
        self.mode = mode
        script = directory / "train.py"
        script.write_text(SCRIPT)
        (directory / "runs").mkdir()
        self.plain = self.result([str(script)])
        told = self.result([str(HERE / "fault_boundaries.py"), mode, str(script), str(directory / "runs")])
        assert told.returncode == 0, told.stderr
        *self.hurt, self.whole = map(json.loads, told.stdout.splitlines())

    def result(self, words):
        return subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=PATIENCE_S)

    def check_whole(self):
        """Without a fault all is there."""
        assert (
            (self.whole["status"], self.whole["out"])
            == (self.plain.returncode, self.plain.stdout)
            == (7, self.plain.stdout)
        )
        [trace] = self.whole["traces"]
        assert (trace["state"], trace["problems"], len(trace["errors"])) == ("closed", [], 2)

    def check_program(self, run):
        """Results and exit status are those of Python alone, and one line tells of the fault, but for a killed program."""
        if self.mode.startswith("kill"):
            assert run["status"] == -signal.SIGKILL, run
            assert self.plain.stdout.startswith(run["out"])
            return
        assert (run["status"], run["out"]) == (self.plain.returncode, self.plain.stdout), run
        lines = run["err"].splitlines()
        assert all(line.startswith("agdbg:") for line in lines) and "internal error" not in run["err"], run
        assert sum("recording stopped: " in line for line in lines) <= 1

    def check_trace(self, run, trace):
        """All that was recorded before the fault can be read, and what is missing is told."""
        [whole] = self.whole["traces"]
        if trace["status"]:
            assert (trace["status"], run["told"], "records.bin" in trace["files"]) == (2, "", False), run
            assert self.mode.startswith("kill"), "what could not be begun is taken away"
            return
        assert trace["records"] == whole["records"][: len(trace["records"])], run
        assert trace["errors"] == whole["errors"][: len(trace["errors"])], run
        assert trace["ops"] == whole["ops"][: len(trace["ops"])], run
        assert len(trace["errors"]) >= run["told"].count("RuntimeError"), "an error is in the trace before it is raised"
        assert all(problem.startswith(HARMLESS) for problem in trace["problems"]), run
        if trace["state"] == "closed":
            assert trace["records"] == whole["records"] and trace["problems"] == [], run
        else:
            assert trace["state"] == ("killed" if self.mode.startswith("kill") else trace["state"]) != "running"
            assert trace["ending"] and trace["ending"] in trace["text"], run


@pytest.fixture(scope="module")
def all_runs():
    return {}


@pytest.fixture
def runs(request, tmp_path, all_runs):
    if request.param not in all_runs:
        all_runs[request.param] = Runs(tmp_path, request.param)
    all_runs[request.param].check_whole()
    return all_runs[request.param]


@pytest.mark.parametrize("runs", ["ENOSPC", "EIO", "EBADF", "half", "forever", "kill", "kill-half"], indirect=True)
def test_a_fault_at_every_change_of_a_file(runs):
    assert len(runs.hurt) >= 8
    for run in runs.hurt:
        runs.check_program(run)
        assert len(run["traces"]) == 1 or (not run["traces"] and run["told"] == ""), run
        for trace in run["traces"]:
            runs.check_trace(run, trace)
    changed = {run["call"] for run in runs.hurt}
    assert changed >= (
        CHANGES if runs.mode in ("ENOSPC", "forever", "kill") else {"write strings.jsonl", "write records.bin"}
    )


@pytest.mark.parametrize("runs", ["ENOSPC"], indirect=True)
def test_an_error_is_told_once_and_in_the_trace(runs):
    """Where a trace could not be begun another place is found; from then on recording stops, and `explain` says why."""
    reason = "No space left on device"
    for run in runs.hurt:
        [trace] = run["traces"]
        if trace["place"] == "temporary":
            assert run["err"].startswith("agdbg: cannot write a trace to ") and reason in run["err"].splitlines()[0]
            assert trace["state"] == "closed" and run["told"] == ""
        elif trace["state"] == "stopped":
            assert run["err"].startswith(f"agdbg: recording stopped: {reason}; ")
            assert trace["ending"].startswith(f"recording stopped early ({reason})"), run
        else:  # nothing was lost: it is closed, or the files were, just then
            assert trace["state"] == "closed" and run["call"].startswith("close "), run


@pytest.mark.parametrize("runs", ["short"], indirect=True)
def test_a_short_write_is_no_fault(runs):
    assert len(runs.hurt) >= 6
    for run in runs.hurt:
        runs.check_program(run)
        assert run["traces"][0]["records"] == runs.whole["traces"][0]["records"]
        assert (run["traces"][0]["state"], run["traces"][0]["problems"]) == ("closed", []), run

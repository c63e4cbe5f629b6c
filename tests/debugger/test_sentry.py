"""Who says where the trace is when the program cannot: it was killed, has crashed, or ended without Python's help."""

import json
import os
import signal
import subprocess
import sys

import pytest

from agdbg.launch import sentry
from agdbg.record import Trace

SCRIPT = """\
import os, signal, sys
import agdbg_engine as ag
x = ag.ones(2, requires_grad=True)
(x * 2).sum().backward()
"""
#: Goes on until what was recorded so far is not only with the writer.
RECORDED = """\
while os.path.getsize("trace/records.bin") <= 4096:
    (x * 2).sum().backward()
"""
WORDS = "agdbg: the program was killed, or ended without a word to Python\nagdbg: trace: trace\n"
ENDS = {
    "killed": ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
    "terminated": ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
    "aborted": ("os.abort()", -signal.SIGABRT),
    "without exit handlers": ("os._exit(3)", 3),
    "replaced": ("os.execv('/bin/sh', ['sh', '-c', 'exit 4'])", 4),
    "its group killed": ("os.killpg(0, signal.SIGKILL)", -signal.SIGKILL),
}

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="without pidfds nobody is there to say it")


def ran(folder, text, *options, **more):
    """How the program ended, and all that was said on standard error until nobody has it open any more."""
    (folder / "script.py").write_text(SCRIPT + text)
    command = [sys.executable, "-m", "agdbg", "run", "--headless", *options, "script.py"]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, start_new_session=True, check=False, **more
    )


@pytest.mark.parametrize("how", ENDS)
def test_the_trace_is_named(tmp_path, how):
    end, status = ENDS[how]
    found = ran(tmp_path, RECORDED + end, "--trace", "trace")
    assert (found.returncode, found.stderr) == (status, WORDS)
    trace = Trace.open(tmp_path / "trace")
    assert (len(trace.records) > 0, trace.problems) == (True, [])


def test_one_that_has_ended_well_says_it_itself(tmp_path):
    found = ran(tmp_path, "", "--trace", "trace")
    assert found.stderr.count("trace: trace") == 1 and "without a word" not in found.stderr


def test_a_trace_that_nobody_wants_is_removed(tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    found = ran(tmp_path, "os._exit(0)", "--no-trace", env={**os.environ, "TMPDIR": str(temporary)})
    assert (found.stderr, list(temporary.iterdir())) == ("", [])


def test_a_trace_that_nobody_wants_is_removed_when_the_program_was_killed_after_its_end(tmp_path):
    found = ran(tmp_path, "", "--trace", "trace")
    assert found.returncode == 0 and (tmp_path / "trace" / "meta.json").is_file()
    for keep in (True, False):
        sentry._speak(json.dumps({"trace": str(tmp_path / "trace"), "shown": "trace", "keep": keep}).encode())
        assert (tmp_path / "trace").exists() == keep


def test_it_is_no_child_of_the_program(tmp_path):
    found = ran(tmp_path, "try:\n    os.wait()\nexcept ChildProcessError:\n    print('none')", "--trace", "trace")
    assert found.stdout == "none\n"


def test_a_program_that_has_recorded_nothing(tmp_path):
    (tmp_path / "bare.py").write_text("import os\nos._exit(5)")
    command = [sys.executable, "-m", "agdbg", "run", "--headless", "bare.py"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (found.returncode, found.stderr) == (5, "")


def test_a_program_that_closes_all_files(tmp_path):
    found = ran(tmp_path, "os.closerange(3, 4096)\nos._exit(6)", "--trace", "trace")
    assert (found.returncode, found.stderr) == (6, WORDS)


def test_its_output_is_at_its_end_when_the_program_closes_it(tmp_path):
    """Whoever reads the standard output does not wait for the sentry, which has not got it."""
    command = [sys.executable, "-m", "agdbg", "run", "--headless", "--trace", "trace", "script.py"]
    (tmp_path / "script.py").write_text(SCRIPT + "os.close(1)\nsys.stdin.read()")
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout.read() == b""
        program.stdin.close()
        assert program.wait(120) == 0

"""Disks that fill, places that cannot be written, traces that are taken by another or taken away: real ones, not pretended."""

import errno
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from agdbg.hub.tracedir import TraceDirectory
from agdbg.launch import place
from agdbg.record import Facts, Recorder, Trace, TraceError

SCRIPT = """\
import sys
import agdbg_engine as ag
{first}
x = ag.tensor([1.0, 2.0], requires_grad=True)
for turn in range(400):
    (x * x * 0.001).exp().sum().backward()
    if turn == 200:
        {middle}
print(x.grad.tolist())
sys.exit(7)
"""
PLAIN = SCRIPT.format(first="", middle="pass")
IN_OWN_MOUNTS = ["unshare", "--map-root-user", "--mount", "sh", "-ec"]


def may_mount():
    """Whether this machine lets us have a file system of our own."""
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return False
    probe = [*IN_OWN_MOUNTS, "mount -t tmpfs -o size=4k none /mnt"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


needs_mounts = pytest.mark.skipif(not may_mount(), reason="needs the right to mount a file system")


@pytest.fixture
def programs(warm_programs):
    """How agdbg starts is not what is tested here."""
    return warm_programs


def explained(programs, trace):
    return json.loads(programs.run(programs.command("explain", "--json", trace)).stdout)


def runs_as_under_python(programs, agdbg):
    python = programs.run(programs.python_command(["p.py"]))
    assert (agdbg.status, agdbg.stdout, agdbg.stderr) == (python.status, python.stdout, "") and python.status == 7, (
        agdbg
    )


def stopped_once(programs, agdbg, trace, reason):
    """One line says that recording stopped; what there was can be read, and says so too."""
    runs_as_under_python(programs, agdbg)
    (said,) = [line.split(";")[0] for line in agdbg.said if "recording stopped: " in line]
    assert said.startswith(f"agdbg: recording stopped: {reason}")
    facts = Facts(Trace.open(programs.directory / trace))
    assert 50 < len(facts.node_ids) < 1600 and facts.errors == []
    told = explained(programs, trace)
    assert told["state"] == "stopped" and reason in told["ending"]


@needs_mounts
def test_a_disk_that_is_full(programs):
    programs.write({"p.py": PLAIN, "small/x": "", "kept/x": ""})
    steps = 'mount -t tmpfs -o size=64k none small; set +e; "$@"; s=$?; cp -r small/t kept/t; exit $s'
    command = programs.agdbg_command(["p.py"], options=["--trace", "small/t"])
    agdbg = programs.run([*IN_OWN_MOUNTS, steps, "sh", *command])
    stopped_once(programs, agdbg, "kept/t", "No space left on device")


@pytest.mark.skipif(sys.platform == "win32", reason="needs ulimit")
def test_a_file_that_may_not_grow(programs):
    programs.write({"p.py": PLAIN})
    command = programs.agdbg_command(["p.py"], options=["--trace", "t"])
    agdbg = programs.run(["sh", "-c", 'ulimit -f 64; exec "$@"', "sh", *command])
    stopped_once(programs, agdbg, "t", "File too large: this process may write files of")


@pytest.mark.skipif(sys.platform == "win32", reason="needs ulimit")
def test_a_hub_that_may_not_write_its_file(programs):
    programs.write({"p.py": PLAIN})
    command = programs.agdbg_command(["p.py"], options=["--batch", "-x", "continue"])
    agdbg = programs.run(["sh", "-c", 'ulimit -f 16; exec "$@"', "sh", *command])
    assert agdbg.status == 2
    assert "Traceback" not in "".join(agdbg.said)
    assert "File too large: this process may write files of" in agdbg.said[1]


@needs_mounts
def test_a_disk_that_may_only_be_read(programs, tmp_path):
    (tmp_path / "temporary").mkdir()
    programs.write({"p.py": PLAIN, "fixed/x": ""})
    env = {"TMPDIR": str(tmp_path / "temporary")}
    steps = 'mount -t tmpfs -o ro none fixed; cp p.py /dev/null; cd fixed; "$@"'
    [script] = [str(programs.directory / "p.py")]
    agdbg = programs.run([*IN_OWN_MOUNTS, steps, "sh", *programs.agdbg_command([script])], env=env)
    runs_as_under_python(programs, agdbg)
    assert "(Read-only file system): the trace goes to " in agdbg.said[0]
    [trace] = (tmp_path / "temporary").iterdir()
    assert Trace.open(trace).closed
    named = programs.agdbg_command([script], options=["--trace", "t"])
    agdbg = programs.run([*IN_OWN_MOUNTS, steps, "sh", *named], env=env)
    assert (agdbg.status, agdbg.stdout) == (2, "") and "Read-only file system" in agdbg.said[0]


def test_of_many_recorders_that_begin_at_once_one_is_let_in(tmp_path):
    for turn in range(10):
        path, together, outcomes = tmp_path / f"{turn}", threading.Barrier(6), []

        def begin(number, path=path, together=together, outcomes=outcomes):
            together.wait()
            try:
                outcomes.append(Recorder(path, program={"argv": [str(number)]}, engine={}, sees={}))
            except TraceError as error:
                outcomes.append(str(error))

        threads = [threading.Thread(target=begin, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        [winner] = [each for each in outcomes if isinstance(each, Recorder)]
        assert all("holds a trace already" in each for each in outcomes if each is not winner)
        winner.close()
        trace = Trace.open(path)
        assert trace.closed and trace.problems == [] and trace.meta["program"] == winner._meta["program"]
        assert sorted(os.listdir(path)) == ["meta.json", "records.bin", "strings.jsonl"]


def test_a_second_run_into_a_trace_that_is_being_written(programs, tmp_path):
    """Refused when it is started; where both were started before either recorded, the second goes elsewhere and says so."""
    (tmp_path / "temporary").mkdir()
    waits = "print('ready', flush=True); input()\n"
    programs.write({"p.py": PLAIN, "late.py": waits + PLAIN, "early.py": PLAIN.replace("print(x", waits + "print(x")})
    env = programs.env | {"TMPDIR": str(tmp_path / "temporary")}
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    running = []
    for script in ("late.py", "early.py"):
        command = programs.agdbg_command([script], options=["--trace", "t"])
        running.append(subprocess.Popen(command, cwd=programs.directory, env=env, text=True, **pipes))
        assert running[-1].stdout.readline() == "ready\n"
    refused = programs.run(programs.agdbg_command(["p.py"], options=["--trace", "t"]))
    assert (refused.status, refused.stdout) == (2, "") and "there is a trace in it" in refused.said[0]
    told = [process.communicate("\n", timeout=120) for process in running]
    assert [process.returncode for process in running] == [7, 7] and told[0][0] == told[1][0] != ""
    assert "t holds a trace already (" in told[0][1] and "the trace goes to " in told[0][1]
    assert told[1][1].splitlines()[-1] == "agdbg: trace: t"
    [other] = (tmp_path / "temporary").iterdir()
    for path, name in ((programs.directory / "t", "early.py"), (other, "late.py")):
        trace = Trace.open(path)
        assert trace.closed and trace.problems == [] and len(Facts(trace).passes) == 400
        assert trace.meta["program"]["argv"] == [name]


def test_a_place_that_could_not_be_used_is_good_for_another_try(tmp_path, monkeypatch):
    real = os.write

    def full(fd, data):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(TraceError, match="No space left on device"):
        Recorder(tmp_path / "t", program={}, engine={}, sees={})
    assert os.listdir(tmp_path / "t") == []
    monkeypatch.setattr(os, "write", real)
    Recorder(tmp_path / "t", program={}, engine={}, sees={}).close()
    assert Trace.open(tmp_path / "t").closed


TAKEN_AWAY = {
    "removed": "shutil.rmtree('t')",
    "replaced": "shutil.rmtree('t'); os.mkdir('t')",
    "without-records": "os.remove('t/records.bin')",
    "moved": "os.rename('t', 'elsewhere')",
}


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("how", TAKEN_AWAY)
def test_a_trace_that_is_taken_away_while_it_is_written_goes_on_elsewhere(programs, tmp_path, how, batch):
    programs.write({"p.py": SCRIPT.format(first="import shutil, os", middle=TAKEN_AWAY[how])})
    (tmp_path / "temporary").mkdir()
    options = ["--trace", "t", *(["--batch", "-x", "start", "-x", "next"] if batch else [])]
    agdbg = programs.run(programs.agdbg_command(["p.py"], options=options), env={"TMPDIR": str(tmp_path / "temporary")})
    path = programs.directory / "elsewhere" if how == "moved" else next((tmp_path / "temporary").glob("agdbg-t-*"))
    what = "moved" if how == "moved" else "removed"
    line = f"the program has {what} the trace {programs.directory / 't'} while it was written: it goes on, whole, in {path}"
    assert sum(line in each for each in [*agdbg.said, *agdbg.stdout.splitlines()]) == 1
    assert agdbg.status == 7 and agdbg.said[-1].startswith("agdbg: trace: ")
    assert (programs.directory / agdbg.said[-1].removeprefix("agdbg: trace: ")).resolve() == path
    trace = Trace.open(path)
    assert trace.closed and trace.problems == [] and len(Facts(trace).passes) == 400
    if batch:
        assert "[" in (path / "output.log").read_text()
    else:  # Python alone makes no trace for the program to take away
        for left in ("elsewhere", "t"):
            shutil.rmtree(programs.directory / left, ignore_errors=True)
        programs.write({"t/records.bin": ""})
        runs_as_under_python(programs, agdbg)


def test_what_is_printed_after_the_trace_is_gone_is_shown(programs, tmp_path):
    """Nothing was printed before, so that nobody had opened the file of the output."""
    (tmp_path / "temporary").mkdir()
    programs.write({"p.py": "import shutil, agdbg_engine\nshutil.rmtree('t')\nprint('still here')\n"})
    command = programs.agdbg_command(["p.py"], options=["--trace", "t", "--batch"])
    assert "still here" in programs.run(command, env={"TMPDIR": str(tmp_path / "temporary")}).stdout


def test_a_full_disk_has_no_room_for_a_trace(tmp_path, monkeypatch):
    """Hub and program ask before they begin there: what the one found out later the other would not know."""

    def full(path, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    kept = place.reserved(tmp_path, "train", 0.0)
    assert list(kept.iterdir()) == []
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left on device"):
        place.reserved(tmp_path, "train", 0.0)
    assert [each.name for each in kept.parent.iterdir() if each.is_dir()] == [kept.name]
    moved = TraceDirectory.for_launch(tmp_path, "train", None)
    assert "No space left on device): the trace goes to" in moved.why_here and not moved.path.is_relative_to(tmp_path)
    moved.tidy()

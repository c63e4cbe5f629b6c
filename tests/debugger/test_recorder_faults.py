"""Faults while recording: the trace keeps what it has, the program sees one line on stderr and no more."""

import errno
import os
import shutil
import signal
import subprocess
import sys

import pytest

from agdbg.events import Kind, head
from agdbg.record import Trace


def born(recorder, number):
    recorder.emit(head(Kind.BORN), number, 0, 0, 0, 0, 0, 0)


def numbers(path):
    trace = Trace.open(path)
    return trace.records[trace.kinds == Kind.BORN, 1].tolist()


@pytest.fixture
def disk(monkeypatch):
    """The real `os.write` behind a function that a test may replace by assigning to `disk.write`."""

    class Disk:
        real = staticmethod(os.write)
        write = staticmethod(os.write)

    monkeypatch.setattr(os, "write", lambda fd, data: Disk.write(fd, data))
    return Disk


def full(fd, data):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_stops_the_recorder_and_is_told_once(new_recorder, disk, capfd):
    recorder = new_recorder()
    for number in range(100):
        born(recorder, number)
    recorder.flush()
    disk.write = full
    for number in range(100, 20_000):
        born(recorder, number)
        recorder.text(f"name {number}")
    recorder.flush()
    recorder.close()
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("agdbg: recording stopped: No space left on device; ")
    assert err.endswith(f"{recorder.path} keeps 101 records\n")
    assert recorder.stopped
    assert numbers(recorder.path) == list(range(100))
    assert not Trace.open(recorder.path).closed


@pytest.mark.parametrize("room", range(0, 400, 7))
def test_a_disk_that_fills_in_the_middle_of_a_batch(new_recorder, disk, capfd, room):
    recorder = new_recorder()
    left = room

    def small(fd, data):
        nonlocal left
        if not left:
            full(fd, data)
        size = min(left, len(data))
        left -= size
        return disk.real(fd, data[:size])

    disk.write = small
    for number in range(3):
        recorder.emit(head(Kind.TENSOR), number, 0, 0, recorder.text(f"name {number}"), 0, 0, 0)
    recorder.flush()
    trace = Trace.open(recorder.path)
    assert recorder.stopped == ("recording stopped" in capfd.readouterr().err)
    kept = trace.records[trace.kinds == Kind.TENSOR].tolist()
    assert [row[1] for row in kept] == list(range(len(kept)))
    assert [trace.text(row[4]) for row in kept] == [f"name {row[1]}" for row in kept]


def test_a_disk_that_fills_in_the_first_batch_counts_what_it_keeps(new_recorder, disk, capfd):
    recorder = new_recorder()
    left = 10_000

    def small(fd, data):
        nonlocal left
        size = min(left, len(data))
        left -= size
        return disk.real(fd, data[:size]) if size else full(fd, data)

    disk.write = small
    for number in range(1000):
        born(recorder, number)
    recorder.flush()
    kept = len(Trace.open(recorder.path).records)
    assert kept == 10_000 // 64 and f"keeps {kept} records" in capfd.readouterr().err
    assert Trace.open(recorder.path).meta["stopped"]["records"] == kept


def test_short_writes_are_continued(new_recorder, disk):
    recorder = new_recorder()
    disk.write = lambda fd, data: disk.real(fd, data[:5])
    for number in range(100):
        born(recorder, number)
    recorder.close()
    assert Trace.open(recorder.path).problems == []
    assert numbers(recorder.path) == list(range(100))


def test_a_write_that_does_nothing_is_an_error_and_no_endless_loop(new_recorder, disk, capfd):
    recorder = new_recorder()
    disk.write = lambda fd, data: 0
    born(recorder, 1)
    recorder.flush()
    assert "wrote nothing" in capfd.readouterr().err


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("call", range(4))
def test_ctrl_c_in_a_flush_neither_loses_nor_doubles(new_recorder, disk, before, call):
    recorder = new_recorder()
    calls = 0

    def interrupted(fd, data):
        nonlocal calls
        calls += 1
        if calls - 1 == call and before:
            raise KeyboardInterrupt
        written = disk.real(fd, data[:50])
        if calls - 1 == call:
            raise KeyboardInterrupt
        return written

    for number in range(3):
        recorder.emit(head(Kind.BORN), number, 0, recorder.text(f"name {number}"), 0, 0, 0, 0)
    disk.write = interrupted
    with pytest.raises(KeyboardInterrupt):
        recorder.flush()
    born(recorder, 3)
    recorder.close()
    trace = Trace.open(recorder.path)
    assert trace.problems == [] and trace.closed
    assert numbers(recorder.path) == [0, 1, 2, 3]
    assert [trace.text(number) for number in (1, 2, 3)] == ["name 0", "name 1", "name 2"]


def test_a_signal_handler_that_emits_during_a_flush(new_recorder, disk):
    recorder = new_recorder()

    def busy(fd, data):
        written = disk.real(fd, data)
        if data[0] == Kind.CLOCK:
            for number in range(1000, 1200):
                born(recorder, number)
            recorder.flush()
        return written

    born(recorder, 1)
    disk.write = busy
    recorder.flush()
    disk.write = disk.real
    recorder.close()
    assert numbers(recorder.path) == [1, *range(1000, 1200)]


def test_deep_recursion_does_not_stop_the_recorder(new_recorder, monkeypatch, capfd):
    recorder = new_recorder()

    def too_deep():
        raise RecursionError("maximum recursion depth exceeded")

    with monkeypatch.context() as patch:
        patch.setattr(recorder._table, "lines", too_deep)
        born(recorder, 1)
        recorder.flush()
    born(recorder, 2)
    recorder.close()
    assert numbers(recorder.path) == [1, 2]
    assert capfd.readouterr().err == ""


def test_an_error_of_our_own_is_told_and_not_raised(new_recorder, monkeypatch, capfd):
    recorder = new_recorder()
    monkeypatch.setattr(recorder._table, "lines", lambda: 1 / 0)
    born(recorder, 1)
    recorder.flush()
    assert "recording stopped: ZeroDivisionError('division by zero')" in capfd.readouterr().err
    assert recorder.stopped


def test_no_stderr_to_tell(new_recorder, disk, monkeypatch):
    recorder = new_recorder()
    monkeypatch.setattr(sys, "__stderr__", None)
    disk.write = full
    born(recorder, 1)
    recorder.flush()
    assert recorder.stopped


def test_meta_that_cannot_be_replaced_at_close(new_recorder, monkeypatch, capfd):
    recorder = new_recorder()
    born(recorder, 1)
    monkeypatch.setattr(os, "replace", full)
    recorder.close()
    assert "recording stopped: No space left on device" in capfd.readouterr().err
    trace = Trace.open(recorder.path)
    assert numbers(recorder.path) == [1] and not trace.closed and trace.problems == []
    assert sorted(file.name for file in recorder.path.iterdir()) == [
        "meta.json",
        "records.bin",
        "strings.jsonl",
    ]


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Where temporary directories go."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    return tmp_path / "temporary"


def test_a_trace_that_is_removed_while_it_is_written_is_kept_elsewhere(new_recorder, elsewhere, capfd):
    recorder, moved = new_recorder(), []
    recorder.on_moved, removed = moved.append, recorder.path
    for number in range(4):
        recorder.emit(head(Kind.BORN), number, 0, recorder.text(f"name {number}"), 0, 0, 0, 0)
        if number == 1:
            recorder.flush()
            shutil.rmtree(removed)
    recorder.close()
    assert moved == [recorder.path] and recorder.path.parent == elsewhere and not removed.exists()
    trace = Trace.open(recorder.path)
    assert trace.closed and trace.problems == [] and numbers(recorder.path) == [0, 1, 2, 3]
    assert [trace.text(number) for number in range(1, 5)] == [f"name {number}" for number in range(4)]
    assert capfd.readouterr().err == (
        f"agdbg: the program has removed the trace {removed} while it was written: it goes on, whole, in {recorder.path}\n"
    )


def test_a_trace_that_is_removed_and_has_no_other_place(new_recorder, elsewhere, capfd):
    recorder = new_recorder()
    shutil.rmtree(recorder.path)
    elsewhere.rmdir()
    born(recorder, 1)
    recorder.close()
    elsewhere.mkdir()  # pytest wants it
    said = capfd.readouterr().err
    assert said.startswith("agdbg: recording stopped: No such file or directory; the program has removed ")
    assert said.count("\n") == 1 and "keeps" not in said


LIMITED = """
import resource, sys
from agdbg.events import Kind, head
from agdbg.record import Recorder

recorder = Recorder(sys.argv[1], program={}, engine={}, sees={})
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
for number in range(20_000):
    recorder.emit(head(Kind.BORN), number, 0, 0, 0, 0, 0, 0)
recorder.close()
print("the program goes on")
"""


def test_a_real_write_error(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, tmp_path / "trace"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "the program goes on\n"
    reason = "File too large: this process may write files of 10,000 bytes at most (ulimit -f)"
    assert done.stderr.count("\n") == 1 and f"recording stopped: {reason}" in done.stderr
    kept = numbers(tmp_path / "trace")
    room = 10_000 // 64 - 1  # without the header
    assert kept == list(range(len(kept))) and room - 8 < len(kept) < room  # each batch has a record of its own
    assert Trace.open(tmp_path / "trace").problems == ["records.bin: the last record is cut after 16 bytes"]


INTERRUPTED = """
import signal, sys
from agdbg.events import Kind, head
from agdbg.record import Recorder

recorder = Recorder(sys.argv[1], program={}, engine={}, sees={})
done, number = [], 0
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
while number < 100_000:
    try:
        while number < 100_000:
            number += 1
            recorder.emit(head(Kind.BORN), number, 0, 0, 0, 0, 0, 0)
            done.append(number)
    except KeyboardInterrupt:
        continue
signal.signal(signal.SIGALRM, signal.SIG_IGN)  # first: one more may be on its way
signal.setitimer(signal.ITIMER_REAL, 0)
recorder.close()
print(*done)
"""


def test_interrupts_at_any_time_double_nothing_and_lose_nothing(tmp_path):
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, tmp_path / "trace"], capture_output=True, text=True)
    if done.returncode:  # the alarm came outside of the try block, which is the script's own affair
        assert done.returncode in (1, -signal.SIGINT, -signal.SIGALRM)  # the last: while Python was shutting down
        assert "KeyboardInterrupt" in done.stderr or not done.stderr
    kept = numbers(tmp_path / "trace")
    assert (sorted(set(kept)) == kept) and set(map(int, done.stdout.split())) <= set(kept)


def test_a_program_that_closes_our_files_and_opens_its_own_keeps_them_and_loses_no_record(tmp_path, new_recorder):
    recorder = new_recorder("t")
    own = tmp_path / "own"
    for number in range(3):
        recorder.emit(15, number, 0, 0, 0, 0, 0, 0)
        recorder.flush()
        if number == 0:
            for file in (recorder._records, recorder._strings):
                os.close(file._fd)
            fds = [os.open(own, os.O_WRONLY | os.O_CREAT, 0o600) for _ in range(2)]
            for file, fd in zip((recorder._records, recorder._strings), fds, strict=True):
                os.dup2(fd, file._fd)
    recorder.close()
    assert own.read_bytes() == b""
    trace = Trace.open(recorder.path)
    assert trace.closed
    assert len(trace.records) == 6


def test_a_full_disk_leaves_word_in_meta(new_recorder, monkeypatch):
    recorder = new_recorder("t")
    recorder.emit(15, 1, 0, 0, 0, 0, 0, 0)

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    monkeypatch.setattr("agdbg.record.metafile.write_meta", full)
    recorder.flush()
    monkeypatch.undo()
    meta = Trace.open(recorder.path).meta
    assert meta["stopped"] == {"reason": "No space left on device", "records": 0}


TORN = """
import os, time
import agdbg_engine as ag
w = ag.ones(40, requires_grad=True)
for i in range(3):
    y = w
    for k in range(40):
        y = (y * w).tanh()
        if k == 20: time.sleep(0.06)
    y.sum().backward()
time.sleep(0.1)
os.kill(os.getpid(), 9)
"""


def test_a_pass_of_which_a_part_was_written_is_whole(tmp_path):
    """What was killed while it waited for something, after its last pass, has lost nothing of that."""
    script = tmp_path / "torn.py"
    script.write_text(TORN)
    command = [sys.executable, "-m", "agdbg", "run", "--headless", "--trace", str(tmp_path / "t"), str(script)]
    assert subprocess.run(command, capture_output=True, timeout=60, cwd=tmp_path).returncode == -9
    trace = Trace.open(tmp_path / "t")
    started, finished = (int((trace.kinds == kind).sum()) for kind in (Kind.PASS_STARTED, Kind.PASS_FINISHED))
    assert (started, finished) == (3, 3)

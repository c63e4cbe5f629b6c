"""Processes that die or fork: what was flushed stays readable, a child leaves its parent's trace alone."""

import os
import signal
import subprocess
import sys

from agdbg.events import Kind
from agdbg.record import Trace


def run(script, *arguments):
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", HEAD + script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


def numbers(path):
    trace = Trace.open(path)
    return trace.records[trace.kinds == Kind.BORN, 1].tolist()


HEAD = """
import os, signal, sys, threading
from agdbg.events import Kind, head
from agdbg.record import Recorder

def record(path):
    return Recorder(path, program={}, engine={}, sees={})

def born(recorder, number):
    recorder.emit(head(Kind.BORN), number, 0, recorder.op(f"op {number}") << 32, 0, 0, 0, 0)

"""

KILLED = """
for count in range(12):
    pid = os.fork()
    if not pid:
        recorder = record(f"{sys.argv[1]}/{count}")
        for number in range(count):
            born(recorder, number)
        recorder.flush()
        born(recorder, 99)
        os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
"""


def test_a_killed_program_leaves_what_it_flushed(tmp_path):
    run(KILLED, tmp_path)
    for count in range(12):
        trace = Trace.open(tmp_path / str(count))
        assert trace.problems == [] and not trace.closed
        assert numbers(tmp_path / str(count)) == list(range(count))
        assert [trace.op(row[3] >> 32).name for row in trace.records[1:].tolist()] == [
            f"op {number}" for number in range(count)
        ]


ENDLESS = """
recorder, number = record(sys.argv[1]), 0
while True:
    born(recorder, number)
    number += 1
    if number == 20_000:
        print("busy", flush=True)
"""


def test_a_program_killed_while_it_emits(tmp_path):
    command = [sys.executable, "-c", HEAD + ENDLESS, tmp_path / "trace"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as program:
        assert program.stdout.readline() == b"busy\n"
        program.send_signal(signal.SIGKILL)
        program.wait()
    trace, kept = Trace.open(tmp_path / "trace"), numbers(tmp_path / "trace")
    assert len(kept) > 10_000 and kept == list(range(len(kept)))
    last = trace.records[trace.kinds == Kind.BORN][-1].tolist()
    assert trace.op(last[3] >> 32).name == f"op {kept[-1]}"


EXITS = """
recorder = record(sys.argv[1])
born(recorder, 1)
{end}
"""


def test_what_is_pending_is_written_at_exit(tmp_path):
    run(EXITS.format(end="sys.exit(0)"), tmp_path / "exit")
    assert numbers(tmp_path / "exit") == [1]
    assert not Trace.open(tmp_path / "exit").closed


FORKED = """
recorder = record(sys.argv[1])
born(recorder, 1)
pid = os.fork()
if not pid:
    for number in range(100, 10_000):
        born(recorder, number)
    recorder.flush()
    recorder.close({"status": "child"})
    os._exit(0 if recorder.stopped else 1)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
born(recorder, 2)
recorder.close({"status": "parent"})
"""


def test_a_child_does_not_write_into_its_parents_trace(tmp_path):
    run(FORKED, tmp_path / "trace")
    trace = Trace.open(tmp_path / "trace")
    assert numbers(tmp_path / "trace") == [1, 2]
    assert trace.problems == [] and trace.meta["exit"] == {"status": "parent"}


AT_FORK = """
recorder = record(sys.argv[1])
for number in range(5):
    born(recorder, number)
if not os.fork():
    os.kill(os.getpid(), signal.SIGKILL)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_fork_flushes_first(tmp_path):
    command = [sys.executable, "-c", HEAD + AT_FORK, tmp_path / "trace"]
    assert subprocess.run(command).returncode == -signal.SIGKILL
    assert numbers(tmp_path / "trace") == list(range(5))


THREADS = """
recorder = record(sys.argv[1])

def work(first):
    for number in range(first, first + 30_000):
        born(recorder, number)

threads = [threading.Thread(target=work, args=(first,)) for first in (0, 1_000_000)]
for thread in threads:
    thread.start()
for turn in range(5):
    pid = os.fork()
    if not pid:
        born(recorder, 2_000_000)
        recorder.op("a new one")
        recorder.close()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
for thread in threads:
    thread.join()
recorder.close()
"""


def test_forks_between_busy_threads(tmp_path):
    run(THREADS, tmp_path / "trace")
    assert sorted(numbers(tmp_path / "trace")) == [*range(30_000), *range(1_000_000, 1_030_000)]
    assert Trace.open(tmp_path / "trace").problems == []


GRANDCHILD = """
recorder = record(sys.argv[1] + "/parent")
born(recorder, 1)
pid = os.fork()
if not pid:
    own = record(sys.argv[1] + "/child")
    born(own, 2)
    born(recorder, 3)
    own.close()
    os._exit(0)
os.waitpid(pid, 0)
recorder.close()
"""


def test_a_child_may_record_its_own(tmp_path):
    run(GRANDCHILD, tmp_path)
    assert (numbers(tmp_path / "parent"), numbers(tmp_path / "child")) == ([1], [2])
    metas = [Trace.open(tmp_path / name).meta for name in ("parent", "child")]
    assert metas[0]["pid"] != metas[1]["pid"] and os.getpid() not in (meta["pid"] for meta in metas)

"""What a program that is killed loses of its records: what docs/running.md says, and not more.

The claim is about the program's own clock, so the program notes when it emitted what, in memory that outlives it.
"""

import mmap
import os
import signal
import struct
import sys
from time import perf_counter_ns

import pytest

import agdbg_engine as ag
from agdbg.engines import native
from agdbg.events import Kind, head
from agdbg.record import Facts, Recorder, Trace, writer

BETWEEN_LOOKS = 16
NOTE = struct.Struct("<QQ")
ROOM = 1 << 20

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")


def killed(path, program, also=()):
    """Run `program(note, recorder)` in a child that kills itself in the end; what it noted: pairs of a time and a number."""
    shared = mmap.mmap(-1, ROOM)
    pid = os.fork()
    if not pid:
        try:
            count = 0

            def note(number):
                nonlocal count
                count += 1
                NOTE.pack_into(shared, 16 * count, perf_counter_ns(), number)
                NOTE.pack_into(shared, 0, count, 0)

            recorder = Recorder(path, program={}, engine={"name": "test"}, sees={})
            program(note, recorder)
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    count, _ = NOTE.unpack_from(shared, 0)
    return [NOTE.unpack_from(shared, 16 * (1 + i)) for i in range(count)]


def emit(recorder, number):
    recorder.emit(head(Kind.TENSOR), number, 0, 0, 0, 0, 0, 0)


def kept(path, kind=Kind.TENSOR):
    trace = Trace.open(path)
    assert trace.problems == []
    return trace.records[trace.kinds == kind, 1].tolist()


def last_look(noted):
    """When the recorder looked at the clock for the last time, at the earliest: after the note of the record before."""
    return noted[-min(len(noted), BETWEEN_LOOKS + 1)][0]


@pytest.mark.parametrize("span_ns", [0, 10_000, 2_000_000, 30_000_000])
def test_a_busy_program_loses_what_it_recorded_in_the_last_50_ms(tmp_path, span_ns):
    """However much time lies between two records: but for the 15 since the clock was looked at, all older ones are there."""
    ends = perf_counter_ns() + 400_000_000

    def program(note, recorder):
        number = 0
        while perf_counter_ns() < ends and number < 60_000:
            until = perf_counter_ns() + span_ns
            number += 1
            emit(recorder, number)
            note(number)
            while perf_counter_ns() < until:
                pass

    noted = killed(tmp_path / "trace", program)
    there = kept(tmp_path / "trace")
    assert there == list(range(1, len(there) + 1))
    lost = [(when, number) for when, number in noted if number > len(there)]
    assert all(when >= last_look(noted) - writer.BATCH_NS for when, _ in lost)
    assert len(lost) <= writer.BATCH_RECORDS


def test_a_program_that_waits_loses_less_than_a_batch(tmp_path, monkeypatch):
    """No time goes by here: nothing but the number of records makes the recorder write."""
    monkeypatch.setattr(writer, "perf_counter_ns", lambda: 0)
    for count in (1, 4095, 4096, 4097, 10_000):
        path = tmp_path / str(count)
        killed(path, lambda note, recorder, count=count: [emit(recorder, number + 1) for number in range(count)])
        there = kept(path)
        assert there == list(range(1, len(there) + 1)) and count - len(there) <= writer.BATCH_RECORDS


@pytest.mark.parametrize("also", [(), ("shapes", "values", "checksums")], ids=["plain", "deep"])
def test_a_training_loses_what_it_did_in_the_last_50_ms(tmp_path, also):
    """What is told by the engine: nodes, of forward and of backward, are in the trace in time."""
    ends = perf_counter_ns() + 600_000_000

    def program(note, recorder):
        native.attach(recorder, also=also)
        x = ag.tensor([1.0, 2.0], requires_grad=True)
        number = 0
        while perf_counter_ns() < ends:
            (x * x).exp().sum().backward()
            number += 1
            note(number)

    noted = killed(tmp_path / "trace", program, also)
    facts = Facts(Trace.open(tmp_path / "trace"))
    done = [found for found in facts.passes if found.outcome == "ok"]
    lost = [(when, number) for when, number in noted if number > len(done)]
    assert len(noted) > 3 and len(done) > 0
    # the clock is looked at when a pass ends, which is before it is noted here and after the one before was
    assert all(when >= noted[-2][0] - writer.BATCH_NS for when, _ in lost)
    assert facts.trace.problems == []


def test_what_an_error_says_is_there_before_it_is_raised(tmp_path):
    """A program that is killed where it deals with an error has the error, and all before it, in its trace."""

    def program(note, recorder):
        native.attach(recorder)
        x = ag.tensor([1.0, 2.0], requires_grad=True)
        loss = (x * x).sum()
        loss.backward()
        try:
            loss.backward()
        except RuntimeError:
            os.kill(os.getpid(), signal.SIGKILL)

    killed(tmp_path / "trace", program)
    facts = Facts(Trace.open(tmp_path / "trace"))
    assert [error.kind for error in facts.errors] == ["backward-twice"]
    assert [facts.node(number).op.name for number in facts.node_ids] == [
        "AccumulateGrad",
        "MulBackward0",
        "SumBackward0",
    ]

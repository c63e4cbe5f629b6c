"""A flipped bit: what no program can have come to is left out, and told; all else of the recording stays."""

import subprocess
import sys

import numpy as np
import pytest

from agdbg.events import Kind
from agdbg.hub.history import History
from agdbg.record import Facts, Trace
from agdbg.record.follow import Follower
from agdbg.record.format import RECORD_SIZE

WORDS = {
    Kind.BORN: (1, 4, 5, 6, 7),
    Kind.RAN: (1, 2, 4, 5),
    Kind.PASS_STARTED: (1, 3, 5),
    Kind.PASS_FINISHED: (1, 4),
    Kind.BUMP: (1,),
}
"""The words with a number of something, or a time."""
PROGRAM = """
import sys
import agdbg
import agdbg_engine as ag

with agdbg.record(sys.argv[1]):
    x = ag.ones(3, requires_grad=True)
    for _ in range(5):
        h = x * 2
        (h * h).sum().backward()
        ag.zeros(3).add_(1)
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """By a process of its own: numbers go on through a process, and a bit of a high one may well be another."""
    path = tmp_path_factory.mktemp("recorded") / "t"
    subprocess.run([sys.executable, "-c", PROGRAM, str(path)], check=True, timeout=120)
    return path


def flipped(recorded, path, row, word, bit):
    """A copy with one bit that is another one."""
    path.mkdir()
    for file in recorded.iterdir():
        (path / file.name).write_bytes(file.read_bytes())
    content = bytearray((path / "records.bin").read_bytes())
    content[(1 + row) * RECORD_SIZE + 8 * word + bit // 8] ^= 1 << bit % 8
    (path / "records.bin").write_bytes(content)
    return path


@pytest.mark.parametrize("kind", WORDS)
def test_an_impossible_number_is_left_out_and_told(recorded, tmp_path, kind):
    whole = Trace.open(recorded)
    assert whole.problems == []
    rows = np.flatnonzero(whole.kinds == kind).tolist()
    for word in WORDS[kind]:
        row = next((row for row in rows if whole.records[row, word]), None)
        if row is None:
            continue
        for bit in (11, 30, 34):
            place = flipped(recorded, tmp_path / f"{word}-{bit}", row, word, bit)
            trace, (problem, *_) = Trace.open(place), Trace.open(place).problems
            is_time = (kind, word) in {(Kind.RAN, 4), (Kind.RAN, 5), (Kind.PASS_STARTED, 5), (Kind.PASS_FINISHED, 4)}
            if is_time and bit < 34:  # a second more or less may well be
                continue
            assert "; 1 of them cannot have been written by any program and is left out" in problem, (word, bit)
            assert not trace.records[row].any()
            left = np.delete(np.arange(len(whole.records)), row)
            assert (trace.records[left] == whole.records[left]).all()
            follower = Follower(place)
            follower.poll()
            assert (follower.records == trace.records).all()


def test_no_absurd_node_is_shown(recorded, tmp_path):
    whole = Trace.open(recorded)
    row = int(np.flatnonzero(whole.kinds == Kind.BORN)[2])
    place = flipped(recorded, tmp_path / "t", row, 1, 40)
    highest = int(Facts(whole).node_ids.max())
    assert int(Facts(Trace.open(place)).node_ids.max()) == highest
    assert History(place).nodes == len(Facts(whole).node_ids) - 1


def test_numbers_that_are_far_apart_are_left_alone_where_nothing_is_damaged(tmp_path, new_recorder):
    recorder = new_recorder()
    for number in (1, 2, 3, 1 << 40):
        recorder.emit(int(Kind.BORN), number, 0, 0, 0, 0, 0, 0)
    recorder.close()
    assert sorted(Facts(Trace.open(recorder.path)).node_ids.tolist()) == [1, 2, 3, 1 << 40]


def test_a_part_of_a_long_recording_keeps_its_high_numbers_when_it_is_damaged(tmp_path, new_recorder):
    recorder = new_recorder()
    for number in range(1 << 40, (1 << 40) + 100):
        recorder.emit(int(Kind.BORN), number, 0, 0, 0, 0, 0, 0)
    recorder.close()
    place = flipped(recorder.path, tmp_path / "copy", 50, 1, 45)
    assert len(Facts(Trace.open(place)).node_ids) == 99

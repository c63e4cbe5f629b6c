"""A trace is read while it grows: whole records only, strings with them, and whatever happens to the files."""

import shutil

import numpy as np
import pytest

from agdbg.events import Kind, head, pack_site_op
from agdbg.record import Trace, TraceError
from agdbg.record.follow import Follower
from agdbg.record.format import HEADER


def tell(recorder, number, op):
    recorder.emit(head(Kind.BORN, 1), number, 0, pack_site_op(0, recorder.op(op)), 0, 0, 0, 0)
    recorder.flush()


def births(records):
    return records[records[:, 0] & 255 == Kind.BORN]


def op_of(follower, words):
    return follower.strings.op(int(words[3]) >> 32).name


def test_each_look_gives_what_is_new(new_recorder):
    recorder = new_recorder()
    follower = Follower(recorder.path)
    assert len(follower.poll()) == 0
    tell(recorder, 1, "AddBackward0")
    first = births(follower.poll())
    tell(recorder, 2, "MulBackward0")
    tell(recorder, 3, "AddBackward0")
    second = births(follower.poll())
    assert [first[:, 1].tolist(), second[:, 1].tolist()] == [[1], [2, 3]]
    assert [op_of(follower, words) for words in (*first, *second)] == ["AddBackward0", "MulBackward0", "AddBackward0"]
    assert len(follower.poll()) == 0
    assert np.array_equal(follower.records, Trace.open(recorder.path).records)


def test_a_trace_that_is_not_there_yet(new_recorder, tmp_path):
    follower = Follower(tmp_path / "trace")
    assert len(follower.poll()) == 0 and follower.meta == {}
    recorder = new_recorder()
    tell(recorder, 1, "AddBackward0")
    assert len(births(follower.poll())) == 1
    assert follower.meta["program"]["argv"] == ["train.py"]


def test_a_record_is_read_when_it_is_whole(tmp_path):
    follower, file = Follower(tmp_path), tmp_path / "records.bin"
    content = HEADER + bytes(range(64)) + bytes(reversed(range(64)))
    read = []
    for size in (0, 5, 63, 64, 65, 127, 128, 150, 192):
        file.write_bytes(content[:size])
        read.append(len(follower.poll()))
    assert read == [0, 0, 0, 0, 0, 0, 1, 0, 1]
    assert follower.records.tobytes() == content[64:]


def test_a_line_of_strings_is_read_when_it_is_whole(tmp_path):
    records, strings = tmp_path / "records.bin", tmp_path / "strings.jsonl"
    line = b'{"id": 1, "k": "op", "s": "AddBackward0", "slots": []}\n'
    follower = Follower(tmp_path)
    seen = []
    for count, size in enumerate((0, 10, len(line)), 1):
        records.write_bytes(HEADER + bytes(64 * count))
        strings.write_bytes(line[:size])
        follower.poll()
        seen.append(follower.strings.op(1).name)
    assert seen == ["?1", "?1", "AddBackward0"]
    assert follower.strings.problems == []


def test_what_was_read_stays_when_the_trace_is_removed(new_recorder):
    recorder = new_recorder()
    tell(recorder, 1, "AddBackward0")
    follower = Follower(recorder.path)
    follower.poll()
    shutil.rmtree(recorder.path)
    assert len(follower.poll()) == 0
    (words,) = births(follower.trace().records)
    assert words[1] == 1 and follower.trace().op(int(words[3]) >> 32).name == "AddBackward0"


def test_another_file_in_its_place_is_not_followed(new_recorder, tmp_path):
    recorder = new_recorder()
    tell(recorder, 1, "AddBackward0")
    follower = Follower(recorder.path)
    before = follower.poll().tolist()
    (tmp_path / "other").write_bytes(HEADER + bytes(64 * 50))
    (tmp_path / "other").replace(recorder.path / "records.bin")
    assert len(follower.poll()) == 0
    assert follower.records.tolist() == before


def test_what_is_no_trace_is_refused(tmp_path):
    (tmp_path / "records.bin").write_bytes(b"something else entirely" * 10)
    with pytest.raises(TraceError, match="is not a trace"):
        Follower(tmp_path).poll()


def test_that_the_trace_was_closed_is_noticed(new_recorder):
    recorder = new_recorder()
    tell(recorder, 1, "AddBackward0")
    follower = Follower(recorder.path)
    follower.poll()
    assert not follower.trace().closed
    recorder.close({"status": 0})
    follower.poll()
    assert follower.trace().closed and follower.meta["exit"] == {"status": 0}


def test_a_snapshot_does_not_grow(new_recorder):
    recorder = new_recorder()
    tell(recorder, 1, "AddBackward0")
    follower = Follower(recorder.path)
    follower.poll()
    snapshot = follower.trace()
    tell(recorder, 2, "MulBackward0")
    follower.poll()
    assert len(births(snapshot.records)) == 1 and len(births(follower.trace().records)) == 2
    assert follower.trace().problems == []

"""Opening what is no trace, or no longer a whole one: a clear error, or all that is left and problems."""

import json
import shutil
import struct

import pytest

from agdbg.events import Kind, head
from agdbg.record import Facts, Recorder, Trace, TraceError
from agdbg.record.info import render, summary

MAGIC = b"AGDBGTRC"


def ask_everything(trace):
    """Ask all there is to ask; that no question raises is what the callers test."""
    facts = Facts(trace)
    for number in [*facts.node_ids.tolist(), 0, 2**48]:
        facts.node(number), facts.passes_of(number), facts.freed_by(number), facts.name_of_leaf(number)
    for found in facts.passes:
        facts.ran(found.id), facts.runs(found.id)
    for number in range(20):
        facts.bumps(number), facts.names(number)
    assert len(facts.errors) + len(facts.predicted) == len(facts.rows(Kind.ERROR))
    assert len(facts.tensors) == len(facts.rows(Kind.TENSOR))
    assert len(facts.cuts) <= len(facts.rows(Kind.CUT))
    assert json.loads(json.dumps(summary(trace)))["problems"] == trace.problems
    assert render(summary(trace)).endswith("\n")


@pytest.fixture(params=["torch_two_losses", "torch_optimizer_step"])
def small(request):
    """A whole trace with records of most kinds."""
    return request.getfixturevalue(request.param).path


def test_a_whole_trace_has_no_problems(small):
    trace = Trace.open(small)
    assert trace.problems == [] and trace.closed
    ask_everything(trace)
    assert Trace.open(str(small)).records.tolist() == trace.records.tolist()


def test_records_cut_at_every_byte(small):
    file = small / "records.bin"
    whole = file.read_bytes()
    expected = Trace.open(small).records.tolist()
    for size in range(len(whole)):
        file.write_bytes(whole[:size])
        trace = Trace.open(small)
        count = max(size - 64, 0) // 64
        assert trace.records.tolist() == expected[:count]
        cut_inside = size < 64 or size % 64 != 0
        assert any("cut" in line or "header" in line for line in trace.problems) == cut_inside
        assert f"records.bin holds {count} of the {len(expected)} records that were written" in trace.problems
        if size % 64 == 0:  # what is asked of is the whole records, which were compared above
            ask_everything(trace)


def test_strings_cut_at_every_byte(small):
    file = small / "strings.jsonl"
    whole, ids = file.read_bytes(), range(1, len(Trace.open(small).strings) + 1)
    expected = [Trace.open(small).text(number) for number in ids]
    for size in range(len(whole) - 1):
        file.write_bytes(whole[:size])
        trace = Trace.open(small)
        lines = whole[:size].count(b"\n") + (whole[size : size + 1] == b"\n")
        left = expected[:lines] + [f"?{number}" for number in ids[lines:]]
        assert [trace.text(number) for number in ids] == left
        assert f"strings.jsonl holds {lines} of the {len(ids)} strings that were written" in trace.problems
        if size % 40 == 0:
            ask_everything(trace)
    file.write_bytes(whole[:-1])
    assert Trace.open(small).problems == [], "only the last line end is lost"


def test_meta_cut_at_every_byte(small):
    file = small / "meta.json"
    whole = file.read_bytes().rstrip()
    for size in range(len(whole)):
        file.write_bytes(whole[:size])
        trace = Trace.open(small)
        (problem,) = trace.problems
        assert problem.startswith("meta.json is unreadable (") and trace.meta == {}
    ask_everything(trace)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "meta.json is missing: program and engine are unknown"),
        (b"[]", "meta.json does not hold an object: program and engine are unknown"),
        (b"\xff\xfe", "meta.json is unreadable ("),
        (b"[" * 100_000, "meta.json is unreadable ("),
    ],
)
def test_meta_that_is_lost(small, content, problem):
    (small / "meta.json").unlink()
    if content is not None:
        (small / "meta.json").write_bytes(content)
    trace = Trace.open(small)
    assert [line[: len(problem)] for line in trace.problems] == [problem]
    ask_everything(trace)


def test_meta_with_values_of_other_types(small):
    (small / "meta.json").write_text('{"program": [], "engine": 3, "counts": {"records": "x"}, "closed": 0}')
    trace = Trace.open(small)
    assert trace.problems == []
    ask_everything(trace)


def test_strings_that_are_missing(small):
    (small / "strings.jsonl").unlink()
    trace = Trace.open(small)
    assert trace.problems[0] == "strings.jsonl is missing: names and lines read as ?id"
    assert (trace.text(12), trace.op(12).name, trace.site(12).file) == ("?12", "?12", "?12")
    assert trace.op(12).slot(1) == "saved[1]"
    ask_everything(trace)


def test_strings_that_are_missing_from_a_trace_that_was_not_closed(new_recorder):
    recorder = new_recorder()
    for name in ("a", "b"):
        recorder.emit(head(Kind.TENSOR), 1, 0, 0, recorder.text(name), 0, 0, 0)
    recorder.flush()
    file = recorder.path / "strings.jsonl"
    file.write_bytes(file.read_bytes().splitlines(keepends=True)[0])
    assert Trace.open(recorder.path).problems == ["strings.jsonl ends at string 1; the records use 2"]


@pytest.mark.parametrize("junk", [b"{}", b"3", b'{"id": "1"}', b'{"id": 0}', b"\xff", b"\x00", b""])
def test_a_junk_line_in_strings_loses_that_line_only(small, junk):
    file = small / "strings.jsonl"
    lines = file.read_bytes().splitlines()
    expected = json.loads(lines[3])
    lines[2] = junk
    file.write_bytes(b"\n".join(lines) + b"\n")
    trace = Trace.open(small)
    assert "strings.jsonl: line 3 is cut or unreadable" in trace.problems
    assert trace.text(3) == "?3" and trace.text(4) == expected.get("text", expected.get("s"))
    ask_everything(trace)


def test_strings_of_other_types_read_as_empty(small):
    (small / "strings.jsonl").write_text(
        '{"id": 1, "k": "op", "s": 5, "slots": 7}\n{"id": 2, "k": "site", "file": null}\n'
    )
    trace = Trace.open(small)
    assert trace.op(1).name == "" and trace.op(1).slots == () and trace.site(2).line == 0
    ask_everything(trace)


def test_kinds_that_a_later_version_may_add(new_recorder):
    recorder = new_recorder()
    for kind in (200, 200, 0, Kind.BORN):
        recorder.emit(head(kind), 5, 0, 0, 0, 0, 0, 0)
    recorder.close()
    trace = Trace.open(recorder.path)
    assert trace.problems == [
        "records.bin: kind 0 is not known, records skipped: 1",
        "records.bin: kind 200 is not known, records skipped: 2",
    ]
    assert Facts(trace).node_ids.tolist() == [5]
    ask_everything(trace)


def test_records_of_nonsense_do_not_stop_the_reader(new_recorder):
    recorder = new_recorder()
    for kind in Kind:
        for word in (2**64 - 1, 2**63, 0):
            recorder.emit(head(kind, 2**32 - 1, 255, 255, 255), *[word] * 7)
    recorder.close()
    ask_everything(Trace.open(recorder.path))


# ----- what is refused -----


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04" + bytes(200), r"records\.bin is not a trace: it starts with b'PK"),
        (b"short", r"records\.bin is not a trace: it starts with b'short', not b'AGDBGTRC'"),
        (
            MAGIC + struct.pack("<II", 2, 64) + bytes(48),
            "has trace format version 2; this agdbg reads version 1",
        ),
        (MAGIC + struct.pack("<II", 1, 32) + bytes(48), "says records of 32 bytes; version 1 has 64"),
        (MAGIC + struct.pack("<II", 1, 65), r"records\.bin is not a trace: it starts with b'AGDBGTRC'"),
    ],
)
def test_a_foreign_records_file(small, content, message):
    (small / "records.bin").write_bytes(content)
    with pytest.raises(TraceError, match=message):
        Trace.open(small)


def test_what_is_not_there(tmp_path):
    with pytest.raises(TraceError, match="nowhere does not exist"):
        Trace.open(tmp_path / "nowhere")


def test_an_empty_directory(tmp_path):
    with pytest.raises(TraceError, match=r"is not a trace: there is no records\.bin in it"):
        Trace.open(tmp_path)


def test_a_plain_file(small):
    with pytest.raises(TraceError, match=r"records\.bin is a file: a trace is a directory"):
        Trace.open(small / "records.bin")


def test_a_program_in_place_of_its_trace(tmp_path):
    (tmp_path / "train.py").touch()
    with pytest.raises(TraceError, match=r"`agdbg lint .*train\.py` runs a program and explains it"):
        Trace.open(tmp_path / "train.py")


def test_records_that_are_a_directory(small):
    (small / "records.bin").unlink()
    (small / "records.bin").mkdir()
    with pytest.raises(TraceError, match=r"there is no records\.bin in it"):
        Trace.open(small)


def test_a_copy_reads_the_same(small, tmp_path):
    copy = shutil.copytree(small, tmp_path / "copy")
    assert Trace.open(copy).records.tolist() == Trace.open(small).records.tolist()


def test_reading_changes_nothing(small):
    before = {file.name: file.read_bytes() for file in small.iterdir()}
    trace = Trace.open(small)
    ask_everything(trace)
    with pytest.raises(ValueError, match="read-only"):
        trace.records[0, 0] = 1
    assert {file.name: file.read_bytes() for file in small.iterdir()} == before


# ----- other bytes than those that were written -----


@pytest.mark.parametrize("file", ["records.bin", "strings.jsonl"])
def test_a_byte_that_was_changed_anywhere_is_a_problem(small, file):
    path = small / file
    whole = path.read_bytes()
    for at in range(64 if file == "records.bin" else 0, len(whole), 37):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x01]) + whole[at + 1 :])
        assert any(problem.startswith(f"{file}") for problem in Trace.open(small).problems), at
    path.write_bytes(whole)
    assert Trace.open(small).problems == []


def test_a_byte_that_was_changed_in_a_trace_that_was_not_closed_is_a_problem(tmp_path):
    recorder = Recorder(tmp_path / "t", program={}, engine={}, sees={})
    for batch in range(3):
        for number in range(5):
            recorder.emit(head(Kind.HOOK), 5 * batch + number + 1, 0, 0, 0, 0, 0, 0)
        recorder.flush()
    path = tmp_path / "t" / "records.bin"
    whole = path.read_bytes()
    for at in range(64, len(whole), 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x01]) + whole[at + 1 :])
        (problem, *_) = Trace.open(tmp_path / "t").problems
        assert problem.startswith("records.bin"), at
    last = len(whole) - 6 * 64
    for at in range(last + 16, last + 56):  # its head: a length that was changed is not taken for a cut
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x02]) + whole[at + 1 :])
        assert Trace.open(tmp_path / "t").problems[0].startswith("records.bin"), at
    row = 64 + 64 * 8
    path.write_bytes(whole[:row] + b"\x00" * 8 + whole[row + 8 :])
    assert "records.bin: of 18 records those from 7 to 12 are not as written" in Trace.open(tmp_path / "t").problems[0]
    for end in range(64, len(whole), 64):  # cut: what is left is as it was written
        path.write_bytes(whole[:end])
        assert Trace.open(tmp_path / "t").problems == [], end
    recorder.close()


def test_strings_that_were_changed_in_a_trace_that_was_not_closed_are_a_problem(tmp_path):
    recorder = Recorder(tmp_path / "t", program={}, engine={}, sees={})
    for name in ("a", "bc", "def"):
        recorder.emit(head(Kind.TENSOR), 1, 0, 0, recorder.text(name), 0, 0, 0)
        recorder.flush()
    path = tmp_path / "t" / "strings.jsonl"
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x01]) + whole[at + 1 :])
        assert any(problem.startswith("strings.jsonl") for problem in Trace.open(tmp_path / "t").problems), at
    path.write_bytes(whole)
    recorder.text("later than the last batch")
    recorder.flush()
    assert path.stat().st_size > len(whole)
    assert Trace.open(tmp_path / "t").problems == []
    recorder.close()


def test_a_trace_without_checksums_is_read_as_it_is(small):
    meta = json.loads((small / "meta.json").read_text())
    for sums in ({}, None, {"records.bin": "x"}, {"other": 1}):
        (small / "meta.json").write_text(json.dumps({**meta, "crc32": sums}))
        assert Trace.open(small).problems == []

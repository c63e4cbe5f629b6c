"""The recorder: what is emitted is what is read, in batches, strings before the records that use them."""

import itertools
import json
import struct
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agdbg.events import Kind, head, pack_save
from agdbg.record import Recorder, Trace, TraceError
from agdbg.record.format import RAN_RECORD, born_record
from agdbg.record.strings import StringTable
from agdbg.record.writer import BATCH_RECORDS

WORD = st.integers(0, 2**64 - 1)
RECORD = st.tuples(*[WORD] * 8).filter(lambda record: record[0] & 0xFF != Kind.CLOCK)
"""Those of clocks are the recorder's own: others would be the heads of batches that nobody wrote."""


def without_clocks(trace):
    return trace.records[trace.kinds != Kind.CLOCK]


def here():
    frame = sys._getframe(1)
    return frame.f_code, frame.f_lasti


@settings(max_examples=50)
@given(st.lists(RECORD, max_size=40))
def test_every_record_is_read_back(tmp_path_factory, records):
    recorder = Recorder(tmp_path_factory.mktemp("t") / "trace", program={}, engine={}, sees={})
    for record in records:
        recorder.emit(*record)
    recorder.close()
    trace = Trace.open(recorder.path)
    own = [row for row in trace.records.tolist() if not is_clock_of_ours(row)]
    assert own == [list(record) for record in records]


def test_records_in_halves_are_records():
    big, word0 = 2**64 - 1, head(Kind.BORN, 3, a=2, b=2)
    save = pack_save(2**35 + 7, 9, 1)
    low, high = save & 2**32 - 1, save >> 32
    for edges, saves in itertools.product(range(3), repeat=2):
        made = born_record(edges, saves).pack(
            word0 & 2**32 - 1, 3, 5, big, 11, 12, *[big - 1] * edges, *[low, high] * saves
        )
        words = [
            word0,
            5,
            big,
            11 | 12 << 32,
            *[big - 1] * edges,
            *[0] * (2 - edges),
            *[save] * saves,
            *[0] * (2 - saves),
        ]
        assert made == struct.pack("<8Q", *words)
    ran = RAN_RECORD.pack(int(Kind.RAN), 3, 5, 1, 2, big, 4, 1)
    assert ran == struct.pack("<8Q", head(Kind.RAN, 3), 5, 1, 2, big, 4, 1, 0)


def is_clock_of_ours(row):
    return row[0] == head(Kind.CLOCK)


def test_a_batch_begins_with_a_clock_and_is_not_too_long(new_recorder):
    recorder = new_recorder()
    for number in range(3 * BATCH_RECORDS):
        recorder.emit(head(Kind.BORN), number, 0, 0, 0, 0, 0, 0)
    recorder.close()
    trace = Trace.open(recorder.path)
    clocks = np.flatnonzero(trace.kinds == Kind.CLOCK)
    assert clocks[0] == 0 and len(clocks) >= 3
    assert np.diff(clocks).max() <= BATCH_RECORDS
    assert trace.records[clocks, 1].tolist() == list(range(1, len(clocks) + 1))
    assert (np.diff(trace.records[clocks, 2].astype(np.int64)) >= 0).all()
    assert without_clocks(trace)[:, 1].tolist() == list(range(3 * BATCH_RECORDS))


def test_an_old_batch_is_written_at_the_next_look(new_recorder, monkeypatch):
    recorder = new_recorder()
    later = recorder.start_ns + 60_000_000
    monkeypatch.setattr("agdbg.record.writer.perf_counter_ns", lambda: later)
    for number in range(16):
        recorder.emit(head(Kind.BORN), number, 0, 0, 0, 0, 0, 0)
    assert len(without_clocks(Trace.open(recorder.path))) == 16


def test_a_young_batch_waits(new_recorder, monkeypatch):
    recorder = new_recorder()
    monkeypatch.setattr("agdbg.record.writer.perf_counter_ns", lambda: recorder.start_ns + 10_000_000)
    for number in range(100):
        recorder.emit(head(Kind.BORN), number, 0, 0, 0, 0, 0, 0)
    assert len(Trace.open(recorder.path).records) == 0
    recorder.flush()
    assert len(without_clocks(Trace.open(recorder.path))) == 100


@pytest.mark.parametrize("word", [-1, 2**64, 1.0, "1", None])
def test_only_words_are_taken(new_recorder, word):
    recorder = new_recorder()
    with pytest.raises(struct.error):
        recorder.emit(head(Kind.BORN), word, 0, 0, 0, 0, 0, 0)
    recorder.close()
    assert len(without_clocks(Trace.open(recorder.path))) == 0


def test_strings_are_interned_and_read_back(new_recorder):
    recorder = new_recorder()
    op = recorder.op("MulBackward0", ("self", "other"))
    assert recorder.op("MulBackward0", ("self", "other")) == op
    assert recorder.op("MulBackward0", ("self",)) != op
    text = recorder.text("Gewicht 1: größer\n\u2028\ud800")
    assert recorder.text("Gewicht 1: größer\n\u2028\ud800") == text
    recorder.close()
    trace = Trace.open(recorder.path)
    assert trace.op(op).name == "MulBackward0" and trace.op(op).slots == ("self", "other")
    assert [trace.op(op).slot(i) for i in range(3)] == ["self", "other", "saved[2]"]
    assert trace.text(text) == "Gewicht 1: größer\n\u2028\ud800"
    assert trace.text(0) == "" and trace.op(0).name == "" and trace.site(0).line == 0


def test_a_site_is_file_line_columns_and_text(new_recorder):
    recorder = new_recorder()
    site = recorder.site(*here())
    line = sys._getframe().f_lineno - 1
    recorder.close()
    found = Trace.open(recorder.path).site(site)
    assert (found.file, found.line, found.end_line) == (__file__, line, line)
    assert found.func == "test_a_site_is_file_line_columns_and_text"
    assert found.text == "    site = recorder.site(*here())"
    assert found.text[found.col : found.end_col] == "here()"


def test_a_site_is_interned_by_code_and_instruction(new_recorder):
    recorder = new_recorder()
    sites = [recorder.site(*here()) for _ in range(3)]
    assert len(set(sites)) == 1
    assert recorder.site(*here()) not in sites


def test_code_that_is_gone_is_not_mixed_up(new_recorder):
    recorder = new_recorder()
    sites = []
    for number in range(50):  # the ids of these code objects would be reused if nobody kept them
        code = compile("x = 1", f"<made {number}>", "exec")
        sites.append(recorder.site(code, 0))
        recorder.flush()
        del code
    recorder.close()
    trace = Trace.open(recorder.path)
    assert [trace.site(site).file for site in sites] == [f"<made {number}>" for number in range(50)]


@pytest.mark.parametrize("lasti", [-1, 0, 10**6])
def test_a_site_outside_the_code_is_its_first_line_or_better(new_recorder, lasti):
    recorder = new_recorder()
    site = recorder.site(compile("\n\nx = 1", "<made>", "exec"), lasti)
    recorder.close()
    assert Trace.open(recorder.path).site(site).file == "<made>"


def test_a_site_by_its_line_takes_the_text_from_the_file(new_recorder, tmp_path):
    script = tmp_path / "train.py"
    script.write_text("a = 1\nb = a + 1\n")
    recorder = new_recorder()
    read, given = recorder.site_at(str(script), 2), recorder.site_at(str(script), 2, "f", "b = 2")
    assert recorder.site_at(str(script), 2) == read != given
    recorder.close()
    trace = Trace.open(recorder.path)
    assert (trace.site(read).text, trace.site(read).col) == ("b = a + 1", -1)
    assert (trace.site(given).text, trace.site(given).func) == ("b = 2", "f")


def test_long_source_lines_are_cut(new_recorder):
    recorder = new_recorder()
    site = recorder.site_at("generated.py", 1, "f", "x" * 10_000)
    recorder.close()
    assert Trace.open(recorder.path).site(site).text == "x" * 1000


def test_strings_are_there_before_the_records_that_use_them(new_recorder):
    recorder = new_recorder()
    for number in range(20_000):
        text = recorder.text(f"name {number % 700}")
        recorder.emit(head(Kind.TENSOR), number, 0, 0, text, 0, 0, 0)
        if number % 1000 == 0:
            assert Trace.open(recorder.path).problems == []


def test_what_comes_while_strings_are_written_waits_for_the_next_batch(new_recorder, monkeypatch):
    recorder = new_recorder()
    lines = recorder._table.lines

    def meanwhile():  # as another thread does between the strings and the records of a batch
        found = lines()
        recorder.emit(head(Kind.TENSOR), 2, 0, 0, recorder.text("late"), 0, 0, 0)
        return found

    recorder.emit(head(Kind.TENSOR), 1, 0, 0, recorder.text("early"), 0, 0, 0)
    with monkeypatch.context() as patch:
        patch.setattr(recorder._table, "lines", meanwhile)
        recorder.flush()
    trace = Trace.open(recorder.path)
    assert without_clocks(trace)[:, 1].tolist() == [1] and trace.problems == []
    recorder.close()
    assert without_clocks(Trace.open(recorder.path))[:, 1].tolist() == [1, 2]


def test_a_string_that_two_threads_intern_at_once_has_one_id():
    table = StringTable()
    first = table.text("w")
    assert table._add(table._texts, "w", dict) == first, "the second thread, which had not found it, adds it"
    assert len(table.waiting) == 1


def test_ids_start_at_one_and_are_never_given_twice(new_recorder):
    recorder = new_recorder()
    for new in (recorder.new_node, recorder.new_storage, recorder.new_tensor, recorder.new_pass):
        assert [new(), new(), new()] == [1, 2, 3]


def test_threads_lose_nothing_and_tear_nothing(new_recorder):
    recorder, each = new_recorder(), 20_000
    assert recorder.thread() == 1, "the thread that made the recorder"

    def work():
        thread = recorder.thread()
        for number in range(each):
            text = recorder.text(f"name {number % 300}")
            recorder.emit(head(Kind.TENSOR, thread), number, number, ~number & 2**64 - 1, text, 7, 8, 9)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recorder.close()
    trace = Trace.open(recorder.path)
    assert trace.problems == []
    records = without_clocks(trace)
    assert (records[:, 2] == ~records[:, 3]).all() and (records[:, 5:] == [7, 8, 9]).all()
    ordinals = records[:, 0] >> np.uint64(32)
    assert sorted(set(ordinals.tolist())) == [2, 3, 4, 5]
    for ordinal in (2, 3, 4, 5):
        assert records[ordinals == ordinal, 1].tolist() == list(range(each))
    assert len({trace.text(number) for number in range(1, 301)}) == len(trace.strings) == 300


def test_meta_is_complete_at_once_and_closed_at_the_end(new_recorder):
    recorder = new_recorder()
    meta = json.loads((recorder.path / "meta.json").read_text())
    assert (meta["format"], meta["version"], meta["parent"]) == ("agdbg-trace", 1, None)
    assert meta["engine"]["name"] == "test" and meta["program"]["argv"] == ["train.py"]
    assert set(meta["program"]) == {"argv", "cwd", "python", "started"}
    assert "closed" not in meta and not Trace.open(recorder.path).closed
    recorder.emit(head(Kind.TENSOR), 1, 0, 0, recorder.text("w"), 0, 0, 0)
    recorder.close({"status": 3})
    meta = json.loads((recorder.path / "meta.json").read_text())
    assert meta["closed"] and meta["exit"] == {"status": 3}
    assert meta["counts"] == {"records": 2, "strings": 1, "batches": 1}
    assert Trace.open(recorder.path).closed


def test_a_directory_may_be_there_but_not_a_trace(new_recorder, tmp_path):
    (tmp_path / "trace").mkdir()
    (tmp_path / "trace" / "notes.txt").write_text("mine")
    new_recorder()
    with pytest.raises(TraceError, match=r"trace holds a trace already \(records\.bin\): name another"):
        new_recorder()


def test_a_place_that_cannot_be_written(new_recorder, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(TraceError, match="file is a file: a trace is a directory"):
        new_recorder("file")
    with pytest.raises(TraceError, match=r"cannot write a trace to .*Not a directory"):
        new_recorder("file/below")
    assert (tmp_path / "file").read_text() == "mine"


def test_after_close_nothing_happens(new_recorder):
    recorder = new_recorder()
    recorder.close()
    size = (recorder.path / "records.bin").stat().st_size
    for number in range(10_000):
        recorder.emit(head(Kind.BORN), number, 0, 0, 0, 0, 0, 0)
    recorder.flush()
    recorder.close()
    assert recorder.stopped
    assert (recorder.path / "records.bin").stat().st_size == size
    assert len(recorder._pending) < 20, "what is emitted after the end does not pile up"

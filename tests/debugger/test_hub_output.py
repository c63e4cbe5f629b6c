"""The log of the output, read as bytes and as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agdbg.hub.output import OutputLog, OutputReader


@pytest.fixture
def log(tmp_path):
    made = OutputLog(tmp_path / "output.log")
    yield made
    made.close()


def append(log, data):
    with open(log.path, "ab") as file:
        file.write(data)


def test_a_log_that_is_not_there_is_empty(log):
    assert (log.size, log.read(0, 10), log.text(0, 10)) == (0, b"", (0, "", 0))
    append(log, b"x")  # now it is
    assert (log.size, log.read(0, 10), log.text(0, 10)) == (1, b"x", (0, "x", 1))


def test_bytes_are_read_from_any_offset(log):
    append(log, b"0123456789")
    assert [log.read(3, 4), log.read(8, 100), log.read(10, 5), log.read(99, 5), log.read(-5, 2), log.read(0, -1)] == [
        b"3456",
        b"89",
        b"",
        b"",
        b"01",
        b"",
    ]
    append(log, b"AB")
    assert log.read(8, 100) == b"89AB"


def test_it_can_be_read_when_the_trace_was_removed(log):
    append(log, b"before")
    assert log.size == 6
    log.path.unlink()
    assert log.read(0, 10) == b"before"


def test_a_reader_holds_a_split_character_back(log):
    reader = OutputReader(log)
    append(log, "aü".encode()[:2])
    assert (reader.read(100), reader.position) == ("a", 1)
    assert reader.read(100) == ""
    append(log, "aü".encode()[2:] + b"b")
    assert (reader.read(100), reader.position) == ("üb", 4)


def test_what_is_no_utf8_is_shown_as_such(log):
    append(log, b"a\xff\xfeb\xc3")
    assert log.text(0, 100) == (0, "a��b", 4)
    append(log, b"c")
    assert log.text(0, 100)[1] == "a��b�c"


@pytest.mark.parametrize("start", range(5))
def test_a_page_begins_with_a_whole_character(log, start):
    append(log, "€uro".encode())
    begun = (0, 3, 3, 3, 4)[start]
    assert log.text(start, 100) == (begun, "€uro".encode()[begun:].decode(), 6)


def test_stray_bytes_are_no_rest_of_a_character(log):
    append(log, b"a\x80\x80b")
    assert log.text(1, 100) == (1, "��b", 4)


def test_a_page_behind_the_end_begins_at_the_end(log):
    append(log, b"abc")
    assert log.text(50, 10) == (3, "", 3)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.integers(1, 9))
def test_pages_put_together_are_the_text(tmp_path_factory, text, length):
    log = OutputLog(tmp_path_factory.mktemp("log") / "output.log")
    append(log, text.encode())
    start, pages = 0, []
    while start < log.size:
        begun, page, start = log.text(start, length)
        pages.append(page)
        assert begun + len(page.encode()) == start
    log.close()
    assert "".join(pages) == text


@given(st.binary(), st.integers(1, 9))
def test_any_bytes_can_be_read_in_any_pieces(tmp_path_factory, data, length):
    log = OutputLog(tmp_path_factory.mktemp("log") / "output.log")
    append(log, data)
    reader = OutputReader(log)
    pieces = [reader.read(length) for _ in range(len(data) + 1)]
    assert "".join(pieces) == data[: reader.position].decode(errors="replace")
    assert len(data) - reader.position <= 3
    log.close()


@given(st.binary(min_size=1), st.data())
def test_a_page_may_begin_anywhere(tmp_path_factory, data, draw):
    start = draw.draw(st.integers(0, len(data)))
    log = OutputLog(tmp_path_factory.mktemp("log") / "output.log")
    append(log, data)
    begun, text, end = log.text(start, len(data))
    assert start <= begun <= start + 3
    assert text == data[begun:end].decode(errors="replace")
    log.close()

"""The line discipline: what a stream of output makes of lines, however it is cut."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agdbg_ui.ink import PLAIN, Ink
from agdbg_ui.terminal import COLUMNS, Line, TerminalLines
from agdbg_ui.text import cells

BITS = [
    "a", "bc", "漢", "é", "\u0301", "❤\ufe0f", "👍🏽", "ｱﾞ", "\u3164", "\n", "\r\n", "\r", "\b", "\t", "\x07", "\x0c", "\x1b", "[", "]", "0;t", "m", "K", "\\", ";", "31", "?2004h",
    "\x1b[31m", "\x1b[0m", "\x1b[K", "\x1b[2K", "\x1b[1K", "\x1b[5A", "\x1b[?2004h", "\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\", "\x1b(B", "\x9b", "\u202e", "\x1bP1$r",
]  # fmt: skip
STREAMS = st.lists(st.sampled_from(BITS), max_size=30).map("".join) | st.text(max_size=30)


def fed(*pieces, **options):
    terminal = TerminalLines(**options)
    for piece in pieces:
        terminal.feed(piece)
    return terminal


def state(terminal):
    return [*terminal.lines, terminal.partial], terminal.total


def texts(*pieces, **options):
    terminal = fed(*pieces, **options)
    return [line.text for line in terminal.lines] + [terminal.partial.text]


@given(STREAMS, st.data())
@example("\x1b]0;title\x1b\\x", None)
@example("\t\n", None)
def test_any_split_of_a_stream_gives_the_same_lines(stream, data):
    whole = state(fed(stream))
    assert state(fed(*stream)) == whole
    if data is not None:
        cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=4)))
        pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
        assert state(fed(*pieces)) == whole


@given(STREAMS)
def test_lines_are_fit_to_show_and_their_runs_cover_them(stream):
    terminal = fed(stream)
    for line in [*terminal.lines, terminal.partial]:
        assert line.text.isprintable()
        assert sum(length for length, _ in line.runs) == len(line.text)


@given(STREAMS)
def test_columns_are_those_of_cells(stream):
    terminal = fed(stream + "\x18\r" + 200 * "x")
    assert cells(terminal.partial.text) == 200


@pytest.mark.parametrize(
    ("stream", "lines"),
    [
        ("one\ntwo", ["one", "two"]),
        ("one\r\ntwo\r\n", ["one", "two", ""]),
        ("  0%\r 50%\r100%\n", ["100%", ""]),
        ("longer\rshort", ["shortr"]),
        ("漢字\rab", ["ab字"]),
        ("漢字\ra", ["a 字"]),
        ("ab字\r漢", ["漢字"]),
        ("a漢\r字", ["字 "]),
        ("漢\b\x1b[K", [" "]),
        ("漢\ta\n1234\ta", ["漢      a", "1234    a"]),
        ("e\u0301\ta", ["e\u0301       a"]),
        ("e\r\n\u0301e\u0301", ["e", "e\u0301"]),
        ("漢\u0301\rb", ["b "]),
        ("e" + 20 * "\u0301", ["e" + 8 * "\u0301"]),
        ("longer\r\x1b[Kshort", ["short"]),
        ("longer\x1b[2K\rshort", ["short"]),
        ("abcd\b\bX", ["abXd"]),
        ("\b\bX", ["X"]),
        ("a\tb", ["a       b"]),
        ("\x1b]0;title\x07ok", ["ok"]),
        ("\x1b]0;title\x1b\\ok", ["ok"]),
        ("\x1b]never ended\nok", ["", "ok"]),
        ("\x1b[?2004hok\x1b[?2004l", ["ok"]),
        ("\x1b[2J\x1b[10;20Hok\x1b[3A", ["ok"]),
        ("\x1b(Bok\x1b7\x1b8", ["ok"]),
        ("\x1b[12\x07ok", ["ok"]),
        ("\x1b[31", [""]),
        ("a\x00b\x7fc\x9bd", ["abcd"]),
        ("x\u202ey\udc80", ["x\ufffdy\ufffd"]),
        ("(Pdb) ", ["(Pdb) "]),
        ("", [""]),
    ],
)
def test_controls(stream, lines):
    assert texts(stream) == lines


@pytest.mark.parametrize(
    ("codes", "ink"),
    [
        ("31", Ink(foreground=1)),
        ("1;91;44", Ink(foreground=9, background=4, bold=True)),
        ("38;5;208", Ink(foreground=208)),
        ("38;5;208;1", Ink(foreground=208, bold=True)),
        ("48;2;1;2;3;4", Ink(background=(1, 2, 3), underline=True)),
        ("38:2::1:2:3", Ink(foreground=(1, 2, 3))),
        ("38:5:9", Ink(foreground=9)),
        ("4:3", Ink(underline=True)),
        ("1;2;22;3", Ink(italic=True)),
        ("31;39", PLAIN),
        ("7;0", PLAIN),
        ("7;", PLAIN),
        ("38;5;999", PLAIN),
        ("38;9;1", Ink(bold=True)),
        ("?31", PLAIN),
        ("107", Ink(background=15)),
    ],
)
def test_colours(codes, ink):
    assert fed(f"\x1b[{codes}mx").partial == Line("x", ((1, ink),))


def test_colours_go_on_in_the_next_line():
    terminal = fed("a\x1b[31mb\nc\x1b[mdd")
    red = Ink(foreground=1)
    assert list(terminal.lines) == [Line("ab", ((1, PLAIN), (1, red)))]
    assert terminal.partial == Line("cdd", ((1, red), (2, PLAIN)))


def test_old_lines_are_dropped_and_counted():
    terminal = fed("".join(f"{n}\n" for n in range(25)), limit=10)
    assert [line.text for line in terminal.lines] == [str(n) for n in range(15, 25)]
    assert (terminal.dropped, terminal.total) == (15, 25)


def test_of_a_piece_far_beyond_the_limit_only_the_end_is_read():
    line = "x" * 79 + "\n"
    terminal = fed("begun", "\x1b[31m" + line * 10_000 + "\x1b[32mlast", limit=10)
    assert (terminal.total, terminal.dropped) == (10_000, 9_990)
    assert {line.text for line in terminal.lines} == {"x" * 79}
    assert terminal.partial == Line("last", ((4, Ink(foreground=2)),))


def test_a_line_without_end_is_broken():
    terminal = fed("x" * (2 * COLUMNS + 5))
    assert [len(line.text) for line in terminal.lines] == [COLUMNS, COLUMNS]
    assert terminal.partial.text == "xxxxx"
    assert len(fed("\t" * COLUMNS + "x" * 10).lines[0].text) == COLUMNS


def test_a_sequence_without_end_does_not_pile_up():
    terminal = TerminalLines()
    terminal.feed("\x1b]52;c;")
    for _ in range(100):
        terminal.feed("A" * 10_000)
    assert len(terminal._pending) < 10
    terminal.feed("\x07ok")
    assert terminal.partial.text == "ok"

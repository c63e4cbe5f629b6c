"""Text cut to cells: never wider than asked, never dangerous."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agdbg.render.clean import ELLIPSIS
from agdbg_ui.text import (
    apart,
    cells,
    crop,
    expand,
    fair_share,
    fit,
    pad,
    safe,
    shorten,
    shorten_name,
    shorten_start,
    width_of,
    wrap,
    wrap_hanging,
    wrap_phrases,
)
from agdbg_ui.themes import ALERT, FAINT, lifted

WIDTHS = st.integers(0, 30)


@given(st.text(), WIDTHS)
def test_nothing_is_wider_than_asked(text, width):
    for made in (shorten(text, width), shorten_start(text, width), crop(safe(text), width)):
        assert cells(made) <= width
        assert made.isprintable()


@given(st.text(alphabet="ab.漢"), WIDTHS)
def test_names_are_cut_in_the_middle(name, width):
    made = shorten_name(name, width)
    assert cells(made) <= width and made.isprintable()
    assert made == name if cells(name) <= width else width < 6 or (made[0] == name[0] and made[-1] == name[-1])


def test_the_last_parts_of_a_name_stay_and_its_beginning():
    name = "encoder.layers.0.attn.q_proj.weight"
    assert shorten_name(name, 35) == name
    assert shorten_name(name, 32) == "encoder.layers.0.….q_proj.weight"
    assert shorten_name(name, 18) == "enc….q_proj.weight"
    assert shorten_name(name, 12) == "enco….weight"
    assert shorten_name("activation_checkpoint", 10) == "acti…point"


def test_a_number_in_a_name_stays_where_there_is_room():
    name = "transformer_stack.3.feed_forward_projection.weight"
    assert shorten_name(name, 40) == "transformer_st….3.feed_forward_p….weight"
    assert shorten_name(name, 30) == "transformer_stack.3.fe….weight"
    assert shorten_name(name, 16) == "tra….3.fee….wei…"


def test_texts_that_would_look_alike_show_what_tells_them_apart():
    names = [f"`encoder.layers.{at}.feed_forward.weight` is frozen" for at in (0, 1, 1, 12)]
    assert apart(names, 60) == names
    for width in (12, 20, 40):
        made = apart(names, width)
        assert all(cells(each) <= width for each in made)
        assert len({*made}) == 3 and made[1] == made[2]
    longer = [f"the same words before {letter}, and behind" for letter in "ab"]
    assert apart(longer, 20) == ["the sa…a, and behind", "the sa…b, and behind"]


@given(st.lists(st.text(alphabet="ab1 .漢"), max_size=6), WIDTHS)
def test_what_is_told_apart_fits_and_is_cut_no_more_than_it_must(texts, width):
    made = apart(texts, width)
    assert [cells(each) <= width for each in made] == [True] * len(texts)
    assert all(each == text for each, text in zip(made, texts, strict=True) if cells(text) <= width)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=6), st.integers(0, 100))
def test_what_is_shared_fairly_fits(lengths, room):
    most = fair_share(lengths, room)
    assert sum(min(each, most) for each in lengths) <= room or most == 0
    assert most == max(lengths) or sum(min(each, most + 1) for each in lengths) > room


#: What is wide, stands on what is before it, or takes other cells beside others.
WIDE = st.text(alphabet="ab.\t 漢ｱﾞ👍🏽❤⌚\ufe0f\ufe0e\u0301\u20e3็ก1👩\u200d🇩🇪\u3164\u1112\u1161\u11ab\u202e\x1b")


@given(WIDE, WIDE)
def test_beside_other_text_it_is_as_wide_as_alone(text, other):
    assert cells(safe(text + other)) == cells(safe(text)) + cells(safe(other))
    assert safe(text + other) == safe(text) + safe(other)


@given(WIDE, st.integers(1, 30))
def test_no_mark_is_cut_from_what_it_stands_on(text, width):
    line = safe("a" + text)
    for made in (shorten(line, width), shorten_start(line, width), shorten_name(line, width)):
        assert made == line or made.count(ELLIPSIS) == 1
        before, cut, after = made.partition(ELLIPSIS)
        assert line.startswith(before) and line.endswith(after)
        assert not cut or not after or cells(after[0])
        assert not cut or cells(line[len(before)])
    assert all(cells(part[0]) for part in wrap(line, max(width, 2)))


@given(WIDE, st.integers(1, 8))
def test_after_a_tab_columns_line_up(text, tab):
    *parts, last = text.split("\t")
    shown = safe(expand(text, tab))
    assert not parts or not (cells(shown) - cells(safe(last))) % tab
    assert "\t" not in shown and len(shown.split()) == len(safe(text).replace("␉", " ").split())


@given(st.text(), WIDTHS)
def test_padded_text_is_exactly_as_wide_as_asked(text, width):
    assert cells(pad(text, width)) == width


@given(st.text(), st.integers(2, 30))
def test_wrapped_lines_hold_all_that_takes_room(text, width):
    line = safe(text)
    lines = wrap(line, width)
    assert all(cells(part) <= width for part in lines)
    assert line.startswith("".join(lines))


@given(st.text(), st.integers(2, 30), st.integers(2, 30))
def test_phrases_lose_nothing_but_blanks(text, first, other):
    line = safe(text)
    lines = wrap_phrases(line, first, other)
    assert cells(lines[0]) <= first
    assert all(cells(part) <= other for part in lines[1:])
    assert "".join("".join(lines).split()) == "".join(line.split())


def test_phrases_are_kept_together_where_a_line_has_room_for_them():
    text = "float32 [3, 4]  min -1.2  max 3.4"
    assert wrap_phrases(text, 99, 99) == [text]
    assert wrap_phrases(text, 22, 20) == ["float32 [3, 4]", "min -1.2  max 3.4"]
    assert wrap_phrases("freed by pass 1  x", 10, 30) == ["freed by", "pass 1  x"]


@given(st.lists(st.tuples(st.text(), st.just(""))), WIDTHS)
def test_a_line_of_pieces_is_cut_to_the_width(pieces, width):
    safe_pieces = [(safe(text), style) for text, style in pieces]
    fitted = fit(safe_pieces, width)
    assert width_of(fitted) <= width
    if width_of(safe_pieces) <= width and all(text for text, _ in safe_pieces):
        assert fitted == safe_pieces


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 4, "abc…"),
        ("漢字漢字", 5, "漢字…"),
        ("漢字漢字", 4, "漢…"),
        ("a\x1b[31mb\nc", 20, "a␛[31mb␊c"),
        ("\u202eevil\udc80", 20, "\ufffdevil\ufffd"),
    ],
)
def test_the_end_is_cut(text, width, shown):
    assert shorten(text, width) == shown


def test_the_beginning_is_cut():
    assert shorten_start("/home/me/train/model.py:14", 12) == "…model.py:14"
    assert shorten_start("漢字漢字", 5) == "…漢字"
    assert shorten_start("กกก็", 2) == "…ก็"


def test_a_cut_is_marked_in_the_style_of_what_it_cuts():
    assert fit([("abc", "bold"), ("def", "dim")], 5) == [("abc", "bold"), ("d…", "dim")]
    assert fit([("abc", "bold"), ("def", "dim")], 3) == [("ab…", "bold")]


def test_grey_text_is_lifted_on_a_coloured_line_and_nothing_else_is():
    assert lifted(FAINT) == "$foreground 80%"
    assert lifted("italic $foreground 90%") == "italic $foreground 100%"
    assert lifted(ALERT) == ALERT
    assert lifted("") == ""


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("short", ["short"]),
        ("  next   run the next node of it", ["  next   run the next", "         node of it"]),
        ("    all that is said of it here", ["    all that is said of", "    it here"]),
        ("a_name_that_leaves_nothing  of the row", ["a_name_that_leaves_nothin", "g  of the row"]),
        ("", [""]),
    ],
)
def test_what_is_wrapped_hangs_below_what_the_first_line_says(text, lines):
    assert wrap_hanging(text, 25) == lines

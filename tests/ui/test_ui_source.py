"""The source pane: the current line, marks, breakpoints, big and missing files."""

from agdbg_tests_driving import PaneHost, drive_pane, seen

from agdbg_ui.highlight import COLUMNS, STRETCH, Highlighter
from agdbg_ui.spots import Spot, call_of_pass, evidence_line
from agdbg_ui.widgets.source import BREAKPOINT, SourcePane

SOURCE = "".join(f"def function_{n}(x):\n    return x * {n}\n\n" for n in range(100))


class Host(PaneHost):
    def on_source_pane_breakpoint_toggled(self, message):
        self.got.append((message.path, message.line))


def drive(pane, script, size=(60, 20)):
    drive_pane(Host(pane), script, size)


def test_the_current_line_is_in_the_middle_with_an_arrow():
    async def script(app, pilot):
        app.pane.show(Spot("/a/b/model.py", 150), SOURCE, {})
        await pilot.pause()
        lines = seen(app.pane)
        assert lines[0] == "/a/b/model.py:150"
        assert [at for at, line in enumerate(lines) if "▶" in line] == [10]
        assert lines[10].split()[:2] == ["150", "▶"]

    drive(SourcePane(), script)


def test_marks_and_notes_are_shown():
    async def script(app, pilot):
        app.pane.show(
            Spot("/m.py", 1), SOURCE, {1: f"{BREAKPOINT}\nbackward() called here", 2: BREAKPOINT, 4: "a note"}
        )
        lines = seen(app.pane)
        assert lines[1].startswith("●   1 ▶ def function_0(x):")
        assert lines[1].endswith("◆ backward() called here")
        assert lines[2].startswith("●   2   ")
        assert lines[4].startswith("◆   4 ") and lines[4].endswith("◆ a note")
        app.pane.set_marks({})
        assert not any("●" in line or "◆" in line for line in seen(app.pane))

    drive(SourcePane(), script)


def test_b_and_a_click_on_the_number_toggle_a_breakpoint():
    async def script(app, pilot):
        app.pane.show(Spot("/m.py", 1), SOURCE, {})
        await pilot.press("down", "down", "b")
        await pilot.click(SourcePane, offset=(3, 5))
        await pilot.click(SourcePane, offset=(20, 7))
        await pilot.pause()
        assert app.got == [("/m.py", 3), ("/m.py", 5)]
        assert app.pane.cursor == 6

    drive(SourcePane(), script)


def test_the_same_place_again_leaves_the_view_alone():
    async def script(app, pilot):
        app.pane.show(Spot("/m.py", 150), SOURCE, {})
        await pilot.press("pageup", "pageup")
        cursor, top = app.pane.cursor, app.pane.top_row
        app.pane.show(Spot("/m.py", 150), SOURCE, {150: BREAKPOINT})
        assert (app.pane.cursor, app.pane.top_row) == (cursor, top)
        app.pane.show(Spot("/m.py", 151), SOURCE, {150: BREAKPOINT})
        assert app.pane.cursor == 150

    drive(SourcePane(), script)


def test_of_a_missing_file_the_recorded_line_is_shown():
    async def script(app, pilot):
        app.pane.show(Spot("/gone/model.py", 14, "y = x * w"), None, {14: BREAKPOINT})
        lines = seen(app.pane)
        assert lines[0] == "/gone/model.py:14"
        assert lines[1].startswith("the file cannot be read")
        assert lines[2] == "● 14 ▶ y = x * w"
        await pilot.press("b")
        await pilot.pause()
        assert app.got == [("/gone/model.py", 14)]
        app.pane.show(Spot("/gone/model.py", 15), None, {})
        assert seen(app.pane)[2] == "the source line of this is not known"
        app.pane.show(Spot("", 0), None, {})
        assert seen(app.pane)[0] == "the source line of this is not known"

    drive(SourcePane(), script)


def test_that_a_file_has_another_line_than_was_recorded_is_said():
    async def script(app, pilot):
        spot = Spot("/srv/model.py", 2, "    y = x * w")
        app.pane.show(spot, "# new\nimport os\ny = x * w\n", {})
        assert app.pane.is_changed
        assert seen(app.pane)[1] == "the file was changed since; the line was: y = x * w"
        app.pane.show(spot, "x = 1\n\ty = x * w\n", {})
        assert not app.pane.is_changed
        assert seen(app.pane)[1].endswith("x = 1")
        app.pane.show(spot, "one line\n", {})
        assert app.pane.is_changed

    drive(SourcePane(), script)


def test_nothing_is_said_of_the_line_of_a_pass_whose_text_is_not_known():
    async def script(app, pilot):
        body = {"pass": 1, "call": "backward", "file": "/srv/model.py", "line": 2}  # the function that was called
        app.pane.show(*call_of_pass(body), "import os\nloss.backward()\n", {})
        assert not app.pane.is_changed
        assert not any("changed since" in line for line in seen(app.pane))

    drive(SourcePane(), script)


def test_the_work_for_a_big_file_is_bounded(monkeypatch):
    lexed = []
    coloured = Highlighter._coloured
    monkeypatch.setattr(
        Highlighter, "_coloured", lambda self, lexer, start: lexed.append(start) or coloured(self, lexer, start)
    )

    async def script(app, pilot):
        app.pane.show(Spot("/big.py", 15_000), "x = [1, 2]\n" * 20_000, {})
        await pilot.pause()
        await pilot.press("home")
        await pilot.pause()
        assert "x = [1, 2]" in seen(app.pane)[1]
        assert 0 < len(lexed) <= 4

    drive(SourcePane(), script)


def test_a_very_long_line_and_hostile_text_do_no_harm():
    async def script(app, pilot):
        app.pane.show(Spot("/m.py", 2), "x = 1\ny = '" + "(" * 5_000_000 + "'\nz\x1b[31m\x00\u202e\tq\r\n", {})
        lines = seen(app.pane)
        assert all(line.isprintable() and len(line) <= 38 for line in lines)
        assert lines[2].endswith("…")
        assert "z␛[31m␀\ufffd" in lines[3]

    drive(SourcePane(), script, size=(38, 5))


def test_left_and_right_show_more_of_long_lines():
    async def script(app, pilot):
        app.pane.show(Spot("/m.py", 1), "value = '" + "abcdefgh" * 10 + "'\nshort\n", {})
        await pilot.press("right")
        assert seen(app.pane)[1].startswith("  1 ▶ 'abcdefgh")
        await pilot.press("left", "left")
        assert seen(app.pane)[1].startswith("  1 ▶ value = ")

    drive(SourcePane(), script, size=(38, 5))


def text_of(pieces):
    return "".join(text for text, _ in pieces)


def test_a_highlighter_gives_back_every_line():
    lines = [
        '"""A string',
        "over lines",
        '"""',
        "",
        "def f():",
        "\treturn 1  # one",
        "",
        *["x = 1"] * 2 * STRETCH,
        "",
        "'open",
    ]
    highlighter = Highlighter(lines)
    assert [text_of(highlighter.line(at)) for at in range(len(lines))] == [line.expandtabs(4) for line in lines]


def test_a_string_that_began_in_an_earlier_stretch_is_still_a_string():
    lines = ["def f():", '    """Doc', *["    text"] * (STRETCH + 20), '    """', "    return 1"]
    pieces = Highlighter(lines).line(STRETCH + 5)
    assert [style for text, style in pieces if text.strip()] == ["$text-success"]


def test_only_python_is_coloured_and_lines_are_cut():
    assert Highlighter(["def f():"], python=False).line(0) == [("def f():", "")]
    assert len(text_of(Highlighter(["x" * (COLUMNS + 1)]).line(0))) == COLUMNS


def test_what_is_shown_before_the_pane_is_mounted_is_in_the_middle():
    pane = SourcePane()
    pane.show(Spot("/m.py", 150), SOURCE, {})

    async def script(app, pilot):
        assert "▶" in seen(pane)[10]

    drive(pane, script)


def test_the_scroll_bar_stands_where_the_pane_does():
    async def script(app, pilot):
        app.pane.show(Spot("/a.py", 150), "x = 1\n" * 300, {})
        await pilot.pause()
        await pilot.pause()
        assert app.pane.top_row > 100
        assert app.pane.vertical_scrollbar.position == app.pane.scroll_y

    drive(SourcePane(), script)


def meant(pane, line):
    """The text on a line of the screen that is marked as what is meant."""
    underlined = [each.text for each in pane.render_line(line) if each.style is not None and each.style.underline]
    return "".join(underlined)


def test_the_expression_is_marked_by_columns_of_utf_16():
    text = "    z = (h.exp() + '𝛼漢' + h.sigmoid())*h.tanh()\n\ty = 漢.exp(\n        x)\n"

    async def script(app, pilot):
        app.pane.show(Spot("/m.py", 1, column=28, end_line=1, end_column=39), text, {})
        assert meant(app.pane, 1) == "h.sigmoid()"
        app.pane.show(Spot("/m.py", 2, column=6, end_line=3, end_column=11), text, {})
        assert [meant(app.pane, line) for line in (1, 2, 3)] == ["", "漢.exp(", "x)"]
        app.pane.show(Spot("/m.py", 2), text, {})
        assert meant(app.pane, 2) == ""

    drive(SourcePane(), script)


def test_without_colours_the_expression_is_underlined(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")

    async def script(app, pilot):
        assert app.no_color
        app.pane.show(Spot("/m.py", 1, column=5, end_line=1, end_column=12), "y = x.exp() + 1\n", {})
        assert meant(app.pane, 1) == "x.exp()"

    drive(SourcePane(), script)


def test_an_expression_beyond_the_pane_is_shifted_into_it():
    line = "z = " + "aaaa + " * 12 + "h.sigmoid() + 1"
    text = f"{line}\nbelow = {line}"
    at = line.index("h.sig") + 1

    async def script(app, pilot):
        app.pane.show(Spot("/m.py", 1, column=at, end_line=1, end_column=at + 11), text, {})
        assert meant(app.pane, 1) == "h.sigmoid()"
        assert seen(app.pane)[1].startswith("  1 ▶ …")
        assert seen(app.pane)[2].startswith("  2   below = z")  # only the current line is shifted
        app.pane.show(Spot("/m.py", 1, column=1, end_line=1, end_column=2), text, {})
        assert seen(app.pane)[1].startswith("  1 ▶ z = aaaa")
        app.pane.show(Spot("/m.py", 1, column=5, end_line=1, end_column=at + 11), text, {})
        assert seen(app.pane)[1].startswith("  1 ▶ …aaaa + aaaa")

    drive(SourcePane(), script, size=(38, 5))


def test_keys_shift_all_lines_from_where_the_current_one_is():
    line = "z = " + "aaaa + " * 12 + "h.sigmoid() + 1"
    at = line.index("h.sig") + 1

    async def script(app, pilot):
        app.pane.show(Spot("/m.py", 1, column=at, end_line=1, end_column=at + 11), f"{line}\n{line}", {})
        reached = line.index(seen(app.pane)[1].partition("…")[2].rstrip())
        await pilot.press("right")
        assert seen(app.pane)[1].endswith(seen(app.pane)[2][6:])
        shifted = line.index(seen(app.pane)[2][6:].rstrip())
        assert reached < shifted <= len(line) - 8
        await pilot.press("left")
        assert line.index(seen(app.pane)[2][6:].rstrip()) == shifted - 8

    drive(SourcePane(), script, size=(38, 5))


def test_lines_with_tabs_are_shifted_to_their_end():
    async def script(app, pilot):
        app.pane.show(Spot("/m.txt", 1), "\t" * 12 + "x = 1\n", {})
        assert "x = 1" not in seen(app.pane)[1]
        for _ in range(6):
            await pilot.press("right")
        assert "x = 1" in seen(app.pane)[1]

    drive(SourcePane(), script, size=(38, 5))


def test_a_piece_of_evidence_counts_bytes():
    evidence = {"file": "/m.py", "line": 3, "end_line": 3, "col": 6, "end_col": 9, "text": "漢 + h.e"}
    assert evidence_line(evidence).part_of(3, evidence["text"]) == (4, 7)
    assert evidence_line(evidence | {"col": -1, "end_col": -1}).part_of(3, "x") == (0, 0)

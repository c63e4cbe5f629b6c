"""The output pane: wrapping, following the end, dropping old lines, and the input mode."""

from agdbg_tests_driving import PaneHost, drive_pane, seen
from rich.color import Color
from textual.widgets import Input

from agdbg_ui.terminal import TerminalLines
from agdbg_ui.widgets import output_lines
from agdbg_ui.widgets.output import LABEL, OutputPane
from agdbg_ui.widgets.output_lines import OutputLines


class Host(PaneHost):
    def on_output_pane_submitted(self, message):
        self.got.append(message.text)

    def on_output_pane_input_mode_changed(self, message):
        self.got.append(message.active)


def drive(pane, script, size=(60, 20)):
    drive_pane(Host(pane), script, size)


def lines_of(pane):
    return pane.query_one(OutputLines)


def test_it_says_when_there_is_nothing_yet():
    async def script(app, pilot):
        assert seen(lines_of(app.pane))[0] == "the program has written nothing yet"
        app.pane.feed("")
        app.pane.feed("x")
        assert seen(lines_of(app.pane))[0] == "x"

    drive(OutputPane(), script)


def test_what_comes_before_the_pane_is_shown_is_kept():
    pane = OutputPane()
    pane.feed("early\r\n")

    async def script(app, pilot):
        assert seen(lines_of(pane))[0] == "early"

    drive(pane, script)


def test_long_lines_are_wrapped_and_wrapped_anew_when_the_size_changes():
    async def script(app, pilot):
        app.pane.feed("0123456789" * 5 + "\n漢字漢字\n")
        assert seen(lines_of(app.pane))[:4] == [
            "0123456789012345678",
            "9012345678901234567",
            "890123456789",
            "漢字漢字",
        ]
        await pilot.resize_terminal(31, 10)
        await pilot.pause()
        assert seen(lines_of(app.pane))[:3] == ["0123456789" * 3, "0123456789" * 2, "漢字漢字"]

    drive(OutputPane(), script, size=(20, 10))


def test_it_follows_the_end_unless_someone_scrolled_up():
    async def script(app, pilot):
        lines = lines_of(app.pane)
        app.pane.feed("".join(f"line {n}\n" for n in range(50)))
        await pilot.pause()
        assert seen(lines)[-1] == "line 49"
        lines.scroll_to(y=10, animate=False, immediate=True)
        before = seen(lines)
        app.pane.feed("more\n" * 20)
        assert seen(lines) == before
        lines.scroll_to(y=lines.max_scroll_y, animate=False, immediate=True)
        app.pane.feed("last")
        assert seen(lines)[-1] == "last"

    drive(OutputPane(), script, size=(60, 10))


def test_it_stays_at_the_end_when_the_pane_gets_smaller():
    async def script(app, pilot):
        app.pane.feed("".join(f"line {n}\n" for n in range(50)))
        await pilot.resize_terminal(60, 6)
        await pilot.pause()
        assert seen(lines_of(app.pane))[-1] == "line 49"

    drive(OutputPane(), script, size=(60, 20))


def test_dropped_lines_are_counted_and_the_file_is_named():
    async def script(app, pilot):
        app.pane.set_log_path("/tmp/trace/output.log")
        app.pane.feed("".join(f"line {n}\n" for n in range(1500)))
        lines = lines_of(app.pane)
        await pilot.pause()
        lines.scroll_to(y=0, animate=False, immediate=True)
        assert seen(lines)[:3] == [
            "1,490 earlier lines are not shown; Ctrl+E opens all",
            "all is in /tmp/trace/output.log",
            "line 1490",
        ]

    drive(OutputPane(limit=10), script, size=(60, 8))


def test_who_scrolled_up_keeps_the_lines_in_sight_while_others_are_dropped():
    async def script(app, pilot):
        lines = lines_of(app.pane)
        app.pane.feed("".join(f"line {n}\n" for n in range(100)))
        await pilot.pause()
        lines.scroll_to(y=50, animate=False, immediate=True)
        before = seen(lines)
        app.pane.feed("".join(f"more {n}\n" for n in range(30)))
        assert seen(lines) == before

    drive(OutputPane(limit=100), script, size=(60, 10))


def test_piece_by_piece_gives_the_same_rows_as_all_at_once():
    text = "".join(f"\x1b[3{n % 8}mline {n} " + "漢x" * (n % 40) + "\x1b[0m\r\n" for n in range(200)) + "end"
    shown = []
    for size in (7, 1000, len(text)):

        async def script(app, pilot, size=size):
            for at in range(0, len(text), size):
                app.pane.feed(text[at : at + size])
            lines = lines_of(app.pane)
            lines.scroll_end(animate=False, immediate=True)
            shown.append((seen(lines), lines.virtual_size))

        drive(OutputPane(limit=50), script, size=(38, 12))
    assert shown[0] == shown[1] == shown[2]


def test_home_goes_to_the_first_line_while_more_is_printed_and_dropped():
    async def script(app, pilot):
        app.pane.feed("".join(f"{number}\n" for number in range(200)))
        await pilot.pause()
        await pilot.press("home")
        app.pane.feed("".join(f"{number}\n" for number in range(200, 205)))
        await pilot.pause()
        assert seen(lines_of(app.pane))[0] == "105 earlier lines are not shown"
        await pilot.press("pagedown", "pageup")
        assert seen(lines_of(app.pane))[0] == "105 earlier lines are not shown"
        await pilot.press("end")
        app.pane.feed("last\n")
        await pilot.pause()
        assert seen(lines_of(app.pane))[-1] == "last"

    drive(OutputPane(limit=100), script)


def test_what_is_said_while_there_is_nothing_is_whole_in_a_narrow_pane():
    async def script(app, pilot):
        app.pane.set_nothing("it was not recorded, since it went elsewhere")
        assert [line for line in seen(lines_of(app.pane)) if line] == [
            "it was not recorded,",
            "since it went",
            "elsewhere",
        ]

    drive(OutputPane(), script, (22, 8))


def test_colours_are_those_of_the_program():
    async def script(app, pilot):
        app.pane.feed("a\x1b[38;2;1;2;3mb")
        segments = list(lines_of(app.pane).render_line(0))
        assert segments[1].text == "b"
        assert segments[1].style.color == Color.from_rgb(1, 2, 3)

    drive(OutputPane(), script)


def test_of_much_output_only_the_end_is_kept():
    async def script(app, pilot):
        app.pane.feed("x" * 99 + "\n" + ("y" * 99 + "\n") * 100_000 + "(Pdb) ")
        assert seen(lines_of(app.pane))[-1] == "(Pdb)"
        assert len(app.pane.lines) == 10_001
        app.pane.feed("z" * 10_000_000)
        lines_of(app.pane).flush()
        assert seen(lines_of(app.pane))[-1].startswith("z")
        app.pane.forget()
        assert app.pane.lines == [""]

    drive(OutputPane(), script)


def test_input_mode_sends_lines_and_shows_the_prompt():
    async def script(app, pilot):
        app.pane.feed("".join(f"line {n}\n" for n in range(50)) + "(Pdb) ")
        lines_of(app.pane).scroll_to(y=0, animate=False, immediate=True)
        await pilot.press("i")
        await pilot.pause()
        assert app.pane.input_mode
        assert seen(lines_of(app.pane))[-1] == "(Pdb)"
        await pilot.press("p", "space", "x", "enter", "enter")
        await pilot.pause()
        assert app.got == [True, "p x\n", "\n"]
        await pilot.press("escape")
        await pilot.pause()
        assert app.got[3:] == [False]
        assert not app.pane.input_mode
        assert app.focused is lines_of(app.pane)

    drive(OutputPane(), script, size=(60, 8))


def test_the_label_says_how_to_leave():
    async def script(app, pilot):
        app.pane.enter_input_mode()
        await pilot.pause()
        text = app.export_screenshot().replace("&#160;", " ")
        assert LABEL in text

    drive(OutputPane(), script, size=(38, 5))


def test_control_keys_go_to_the_program():
    async def script(app, pilot):
        app.pane.enter_input_mode()
        await pilot.press("a", "ctrl+d", "ctrl+c")
        await pilot.pause()
        assert app.got == [True, "\x04", "\x03"]
        assert app.pane.query_one(Input).value == ""

    drive(OutputPane(), script)


def test_up_and_down_go_through_what_was_typed():
    async def script(app, pilot):
        app.pane.enter_input_mode()
        await pilot.press("a", "enter", "b", "enter", "b", "enter", "c")
        field = app.pane.query_one(Input)
        values = []
        for key in ("up", "up", "up", "down", "down", "down"):
            await pilot.press(key)
            values.append(field.value)
        assert values == ["b", "a", "a", "b", "c", "c"]

    drive(OutputPane(), script)


def test_what_was_begun_is_there_when_the_input_is_opened_again():
    async def script(app, pilot):
        app.pane.enter_input_mode()
        await pilot.press("a", "escape")
        await pilot.pause()
        app.pane.enter_input_mode()
        await pilot.press("b", "enter")
        await pilot.pause()
        assert "ab\n" in app.got

    drive(OutputPane(), script)


def test_of_a_flood_only_the_end_is_read_and_nothing_is_lost_from_the_count(monkeypatch):
    monkeypatch.setattr(output_lines, "_WINDOW", 60.0)  # however slow the machine is, this is a flood
    fed = []
    feed = TerminalLines.feed
    monkeypatch.setattr(TerminalLines, "feed", lambda self, text: fed.append(len(text)) or feed(self, text))

    async def script(app, pilot):
        piece = ("y" * 63 + "\n") * 1024
        for _ in range(200):
            app.pane.feed(piece)
        app.pane.feed("(Pdb) ")
        lines = lines_of(app.pane)
        lines.flush()
        assert seen(lines)[-1] == "(Pdb)"
        assert lines.terminal.total == 200 * 1024
        assert len(fed) < 100

    drive(OutputPane(), script)

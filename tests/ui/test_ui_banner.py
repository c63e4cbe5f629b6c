"""The banner: why the program stands still, in one to three lines, or nothing."""

import pytest
from agdbg_tests_driving import PaneHost, drive_pane

from agdbg_ui.text import width_of
from agdbg_ui.themes import BANNER, banner_look
from agdbg_ui.widgets.banner import Banner, banner_lines


class Host(PaneHost):
    def on_banner_opened(self, message):
        self.got.append(message.kind)


def drive(pane, script, size=(60, 20)):
    drive_pane(Host(pane), script, size)


def text(kind, headline, detail, hint, width):
    lines = banner_lines(banner_look(kind), headline, detail, hint, width)
    return ["".join(part for part, _ in line).rstrip() for line in lines]


def test_it_takes_no_room_while_there_is_nothing_to_say():
    async def script(app, pilot):
        assert not app.pane.display
        app.pane.show("stop", "before MulBackward0")
        await pilot.pause()
        assert app.pane.display and app.pane.size.height == 1
        app.pane.clear()
        await pilot.pause()
        assert not app.pane.display

    drive(Banner(), script)


def test_enter_and_a_click_open_the_full_text():
    async def script(app, pilot):
        app.pane.show("error", "the graph was freed", "by the first pass")
        await pilot.pause()
        app.pane.focus()
        await pilot.press("enter")
        await pilot.click(Banner)
        await pilot.pause()
        assert app.got == ["error", "error"]
        assert app.pane.has_class("-error")
        app.pane.show("something else", "x")
        assert app.pane.has_class("-info") and not app.pane.has_class("-error")

    drive(Banner(), script)


def test_kinds_differ_without_colour():
    assert len({look.mark for look in BANNER.values()}) == len(BANNER)
    assert len({look.word for look in BANNER.values()}) == len(BANNER)


def test_the_hint_is_at_the_right_and_never_alone():
    assert text("stop", "breakpoint 1", "", "E: more", 40) == ["■ stopped: breakpoint 1         E: more"]
    assert text("stop", "breakpoint 1, at AddBackward0", "", "E: more", 42) == [
        "■ stopped: breakpoint 1, at",
        "  AddBackward0                    E: more",
    ]


def test_a_long_headline_is_broken_at_a_blank():
    lines = text("error", "the graph of this loss was freed by the first pass", "train.py:31", "E: more", 38)
    assert lines == [
        "✗ error: the graph of this loss was",
        "  freed by the first pass",
        "  train.py:31                 E: more",
    ]


def test_a_headline_that_needs_them_takes_all_lines():
    lines = text(
        "error",
        "the graph of this loss was freed by the first pass, at train.py:31, with all it saved",
        "more",
        "E: more",
        38,
    )
    assert lines == [
        "✗ error: the graph of this loss was",
        "  freed by the first pass, at",
        "  train.py:31, with all it …  E: more",
    ]


@pytest.mark.parametrize("width", [10, 20, 38, 80, 120])
@pytest.mark.parametrize("headline", ["", "x", "word " * 100, "x" * 10_000, "漢字" * 100, "\x1b[31m\n\x00" * 40])
@pytest.mark.parametrize("detail", ["", "one", "many " * 50])
def test_never_more_than_three_lines_nor_wider_than_the_pane(width, headline, detail):
    lines = banner_lines(banner_look("error"), headline, detail, "E: more", width)
    assert 1 <= len(lines) <= 3
    for line in lines:
        assert width_of(line) <= width
        assert all(part.isprintable() for part, _ in line)


def test_what_is_said_before_it_is_mounted_is_there():
    pane = Banner()
    pane.show("stop", "before MulBackward0")

    async def script(app, pilot):
        assert pane.size.height == 1

    drive(pane, script)

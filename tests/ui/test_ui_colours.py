"""Few colours or none: NO_COLOR leaves none of any theme, and sixteen colours can be read on the usual palettes."""

import itertools
import re

import pytest
from agdbg_tests_driving import drive
from textual.color import Color

from agdbg_ui import palettes
from agdbg_ui.memory import Memory
from agdbg_ui.sixteen import READABLE, VGA, XTERM, contrast, pair
from agdbg_ui.widgets.prompt import Prompt

SGR = re.compile(r"\x1b\[([0-9;:]*)m")
GROUNDS = ("background", "surface", "panel")
#: Keys that open something over the main screen, and those that close it.
pytestmark = pytest.mark.painted

SCREENS = [
    ((), ()), (("question_mark",), ("escape",)), (("q",), ("escape",)), (("E",), ("escape",)), (("e",), ("escape",)),
    (("ctrl+p",), ("escape",)), (("colon", "x", "enter"), ("escape",)), (("B",), ("escape",)), (("1", "Z"), ("Z", "0")),
    (("5", "6", "7", "8", "v"), ("v", "v", "0")),
]  # fmt: skip


def notes(screen):
    return [note.message for note in screen.app._notifications]


def written(screen):
    """What is sent to the terminal for the whole screen."""
    app = screen.app
    return app.screen._compositor.render_update(full=True).render_segments(app.console)


def codes(text):
    """All numbers of all SGR sequences."""
    return {int(each) for params in SGR.findall(text) for each in re.split("[;:]", params) if each}


async def show_all(screen, look):
    """Put each screen there is on, with a stop, output in colours, a banner and notes, and look at it."""
    screen.hub.send("output", category="stdout", output="\x1b[31mred\x1b[0m \x1b[1;38;5;99mviolet\x1b[0m\n")
    await screen.stop(6, reason="exception", text="RuntimeError: again")
    for keys, back in SCREENS:
        await screen.press(*keys)
        look()
        await screen.press(*back)


def test_no_colour_leaves_the_terminal_under_no_color(shown, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")

    async def script(screen):
        def look():
            found = codes(written(screen))
            assert found <= {0, 1, 2, 3, 4, 7, 9}, found
            assert 7 in found, "what is chosen is reversed"

        screen.app.theme = "textual-light"
        await show_all(screen, look)
        for theme in palettes.ORDER:
            screen.app.theme = theme
            await screen.settle()
            look()

    drive(shown, script)


def test_a_no_color_that_is_empty_is_none(shown, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "")

    async def script(screen):
        assert 38 in codes(written(screen))

    drive(shown, script)


@pytest.mark.parametrize("term", ["xterm-16color", "screen", "linux"])
def test_a_terminal_of_sixteen_colours_gets_the_theme_of_sixteen(shown, monkeypatch, term):
    monkeypatch.setenv("TERM", term)
    monkeypatch.delenv("COLORTERM")

    async def script(screen):
        assert screen.app.theme == "agdbg-16" and not codes(written(screen)) & {38, 48}

    drive(shown, script)


@pytest.mark.parametrize("theme", ["agdbg-16", "textual-light"])
def test_sixteen_colours_can_be_read(shown, monkeypatch, theme):
    monkeypatch.setenv("TERM", "linux")
    monkeypatch.delenv("COLORTERM")

    async def script(screen):
        screen.app.theme = theme

        def look():
            found = codes(written(screen))
            assert found <= {0, 1, 3, 4, 7, 9, *range(30, 38), *range(90, 98), *range(40, 48)}, found
            for strip in screen.app.screen._compositor.render_strips():
                for text, style, _ in strip:
                    if text.strip():
                        numbers = (style.color.number, style.bgcolor.number)
                        for palette in (VGA, XTERM):
                            assert contrast(*(palette[each] for each in numbers)) >= READABLE, (text, numbers)

        await show_all(screen, look)

    drive(shown, script)


def test_every_colour_has_a_pair_that_can_be_read():
    steps = (0, 51, 102, 153, 204, 255)
    colours = list(itertools.product(steps, repeat=3))
    for text, ground in itertools.product(colours[::5], colours):
        numbers = pair(text, ground)
        assert numbers[1] < 8 and all(contrast(p[numbers[0]], p[numbers[1]]) >= READABLE for p in (VGA, XTERM))


def test_the_row_of_the_cursor_stands_out_in_sixteen_colours(shown, monkeypatch):
    monkeypatch.setenv("TERM", "linux")
    monkeypatch.delenv("COLORTERM")

    async def script(screen):
        await screen.stop(6)
        await screen.press("0", "home", "down")
        lanes = screen.app.lanes
        grounds = [{style.bgcolor.number for _, style, _ in strip} for strip in _strips(screen, lanes)]
        assert grounds[1].isdisjoint(grounds[2]) and grounds[2] == grounds[3]

    drive(shown, script)


def _strips(screen, widget):
    region = widget.region
    strips = screen.app.screen._compositor.render_strips()[region.y : region.bottom]
    return [strip.crop(region.x, region.right - 1) for strip in strips]


def test_the_theme_of_a_full_terminal_is_kept_when_a_plain_one_is_used(shown, monkeypatch, tmp_path):
    memory = Memory(tmp_path / "ui.json")
    memory.save({"theme": "agdbg-safe"})
    monkeypatch.setenv("TERM", "screen")
    monkeypatch.delenv("COLORTERM")

    async def script(screen):
        assert screen.app.theme == "agdbg-16"

    drive(shown, script, memory=memory)
    assert memory.load()["theme"] == "agdbg-safe"


def test_colours_are_chosen_by_name(shown):
    async def script(screen):
        await screen.press("colon", *"colours 16", "enter")
        assert screen.app.theme == "agdbg-16" and screen.app.prompt.answered == "colours: 16 colours"
        assert not codes(written(screen)) & {38, 48}
        await screen.press("colon", *"colours light", "enter")
        assert screen.app.theme == "textual-light" and 38 in codes(written(screen))
        await screen.press("colon", *"colours ", "tab")
        assert screen.app.query_one(Prompt).answered.split() == ["16", "contrast", "dark", "light", "safe"]

    drive(shown, script)


@pytest.mark.parametrize("theme", palettes.ORDER)
def test_coloured_text_can_be_read_on_every_ground(shown, theme):
    """4.5 to 1 is what WCAG 2.1 asks of text."""

    async def script(screen):
        screen.app.theme = theme
        colours = screen.app.get_css_variables()
        for text, ground in itertools.product(("success", "warning", "error", "primary", "accent"), GROUNDS):
            pair_of = (Color.parse(colours[f"text-{text}"]).rgb, Color.parse(colours[ground]).rgb)
            assert contrast(*pair_of) >= 4.5, (text, ground, round(contrast(*pair_of), 2))

    drive(shown, script)

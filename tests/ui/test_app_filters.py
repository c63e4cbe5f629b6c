"""The errors to stop at: what is on at first, switching, and what the hub says against it."""

import asyncio

import pytest
from agdbg_tests_driving import drive

from agdbg.protocol.errors import RequestFailed
from agdbg_ui.screens.filters import HINT, FiltersScreen

DEFAULT = ["backward-twice", "inplace-modified"]


def marks(screen):
    """The marks of the list, from above."""
    return [line[line.index("[") + 1] for line in screen.lines() if "[✓]" in line or "[ ]" in line]


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
def test_those_that_are_on_have_a_check_mark(shown, size):
    async def script(screen):
        assert screen.hub.filters == DEFAULT
        await screen.press("E")
        assert isinstance(screen.app.screen, FiltersScreen)
        assert marks(screen) == ["✓", "✓", " ", " "][: len(marks(screen))]
        assert "Backward through a freed graph" in screen.text
        assert HINT.split("   ")[0] in screen.text  # however long the list is
        await screen.press("escape")
        assert not isinstance(screen.app.screen, FiltersScreen)
        assert screen.app.focused.id == "lanes"

    drive(shown, script, size=size)


def test_space_and_enter_switch(shown):
    async def script(screen):
        await screen.press("E", "space")
        assert screen.hub.filters == ["inplace-modified"]
        assert marks(screen) == [" ", "✓", " ", " "]
        await screen.press("end", "enter")
        assert screen.hub.filters == ["inplace-modified", "any"]
        assert marks(screen) == [" ", "✓", " ", "✓"]
        await screen.press("escape", "E")
        assert marks(screen) == [" ", "✓", " ", "✓"]

    drive(shown, script)


def test_what_a_filter_was_too_late_for_is_said(shown):
    async def script(screen):
        screen.hub.late = "what was built before now was not looked at"
        await screen.press("E", "end", "enter")
        assert "not looked at" in screen.text
        await screen.press("enter")  # off again
        assert "not looked at" not in screen.text

    drive(shown, script)


def test_switches_that_are_pressed_at_once_all_count(shown):
    async def script(screen):
        await screen.press("E")
        await screen.at_once("space", "down", "space", "down", "space", "space", "space", "escape")
        await screen.until(lambda: len(screen.hub.asked("setExceptionBreakpoints")) == 6)
        await screen.until(lambda: screen.hub.filters == ["leaf-inplace"])

    drive(shown, script)


def test_what_is_refused_after_the_list_was_closed_is_said_too(shown):
    async def script(screen):
        screen.hub.held["setExceptionBreakpoints"] = asyncio.Event()
        screen.hub.refuse["setExceptionBreakpoints"] = RequestFailed("no room")
        await screen.press("E", "space", "escape")
        screen.hub.held["setExceptionBreakpoints"].set()
        await screen.until(lambda: "no room" in screen.text)

    drive(shown, script)


def test_what_the_hub_refuses_stays_as_it_was_and_is_said(shown):
    async def script(screen):
        screen.hub.refuse["setExceptionBreakpoints"] = RequestFailed("no room for [another] filter")
        await screen.press("E", "down", "down", "space")
        assert "no room for [another] filter" in screen.text
        assert marks(screen) == ["✓", "✓", " ", " "]
        del screen.hub.refuse["setExceptionBreakpoints"]
        await screen.press("space")
        assert "no room" not in screen.text
        assert marks(screen) == ["✓", "✓", "✓", " "]

    drive(shown, script)

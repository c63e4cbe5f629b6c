"""How every state of the screen looks, at three sizes. After a wanted change: pytest tests/ui --snapshot-update, and look.

`states.py` has the table; a screen, pane or theme that is in no state of it fails a test below.
"""

import pytest
from agdbg_tests_classes import all_of_the_ui
from agdbg_tests_states import STATES
from textual.widget import Widget

from agdbg_ui.palettes import ORDER
from agdbg_ui.panes import Panes
from agdbg_ui.screens.main import MainScreen
from agdbg_ui.screens.modal import Modal
from agdbg_ui.widgets.pane_tabs import PaneTabs
from agdbg_ui.widgets.prompt import PromptLine
from agdbg_ui.widgets.rows import Rows
from agdbg_ui.widgets.too_small import TooSmall
from agdbg_ui.widgets.typed_line import TypedLine

SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40), (220, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
#: What only others are made of, and what is seen at some sizes only.
ELSEWHERE = {Rows, Modal, TooSmall, PaneTabs, MainScreen, PromptLine, TypedLine}


@SIZES
@pytest.mark.parametrize("name", STATES)
def test_state(looks, monkeypatch, size, name):
    state = STATES[name]
    for variable, value in state.environment.items():
        monkeypatch.setenv(variable, value)

    async def script(screen):
        await state.script(screen)
        await screen.settle()
        here = seen(screen.app)
        assert [cls for cls in state.shows if not any(type(each) is cls for each in here)] == []

    assert looks(script, size, prepare=state.prepare, **state.how)


@pytest.mark.parametrize("size", [(20, 5), (40, 10), (60, 14), (110, 12)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_small(looks, size):
    async def script(screen):
        await STATES["stopped"].script(screen)
        assert any(isinstance(each, TooSmall) for each in seen(screen.app)) == (size == (20, 5))

    assert looks(script, size)


def seen(app):
    """The screen, and the widgets that it has room for."""
    return [each for each in app.screen.walk_children(Widget, with_self=True) if each.display and each.size.width]


def test_every_class_of_screen_and_widget_is_in_some_state():
    """A new pane, dialog or page needs a state that says that it is seen there."""
    there = {cls for state in STATES.values() for cls in state.shows}
    assert {each.__name__ for each in all_of_the_ui() - there - ELSEWHERE} == set()


def test_every_pane_has_the_keys_in_some_state_that_is_named_after_it():
    assert set(Panes.ALL) - set(STATES) == set()


def test_every_theme_is_in_the_table():
    words = {"textual-dark": "stopped", "textual-light": "theme_light", "agdbg-contrast": "theme_contrast"}
    words |= {"agdbg-safe": "theme_safe", "agdbg-16": "theme_sixteen"}
    assert set(words) == set(ORDER)
    assert set(words.values()) <= set(STATES)

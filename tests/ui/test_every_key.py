"""Every key of the app does what it is for; a key that is not in the table fails."""

from contextlib import nullcontext

import pytest
from agdbg_tests_driving import drive
from agdbg_tests_states import STATES, found

from agdbg_ui import editor, keymap
from agdbg_ui.app import AgdbgApp
from agdbg_ui.panes import Panes
from agdbg_ui.screens.export import ExportScreen
from agdbg_ui.screens.filters import FiltersScreen
from agdbg_ui.screens.help import HelpScreen
from agdbg_ui.screens.page import Page
from agdbg_ui.screens.palette import Palette
from agdbg_ui.screens.question import Question
from agdbg_ui.widgets.boxes import Boxes

pytestmark = pytest.mark.painted


def over(cls):
    return lambda screen: isinstance(screen.app.screen, cls)


def asked(command):
    return lambda screen: screen.hub.asked(command)


def asks(kind):
    return lambda screen: screen.app.prompt.asks_for(kind)


def counter(row):
    return lambda screen: screen.app.lanes.pages.counter == row


def cursor(row):
    return lambda screen: screen.app.lanes.cursor == row


def pane(name):
    return lambda screen: screen.app.panes.has_focus(name)


def folds(depth):
    return lambda screen: screen.app.lanes.folds["depth"] == depth


def moved(axis):
    """A divider of the wide screen stands elsewhere."""
    return lambda screen: axis in str(screen.app.panes.remembered()["dividers"])


#: What a key of the app does to a program that is stopped at row 6 of its graph, after some other keys.
APP = {
    "n": ((), counter(5)),
    "p": ((), counter(7)),
    "s": ((), asked("stepIn")),
    "o": ((), counter(0)),
    "c": ((), asked("continue")),
    "r": ((), counter(11)),
    "z": (("c",), asked("pause")),
    "b": ((), asked("setBreakpoints")),
    "B": ((), asks("break")),
    "E": ((), over(FiltersScreen)),
    "t": ((), lambda screen: "no other thread is stopped" in screen.text),
    "P": ((), lambda screen: "no process of a parallel program" in screen.text),
    "C": ((), lambda screen: screen.hub.holder == "me" and "in control" in screen.text),
    "slash": ((), asks("find")),
    "full_stop": (("home",), cursor(6)),
    "g": (("home",), cursor(6)),
    "x": ((), over(Page)),
    "colon": ((), asks("console")),
    "v": ((), lambda screen: isinstance(screen.app.focused, Boxes)),
    "left_square_bracket": ((), lambda screen: screen.app.lanes.is_folded),
    "right_square_bracket": (("{", "home"), lambda screen: screen.app.lanes.row_count == 6),
    "left_curly_bracket": ((), lambda screen: screen.app.lanes.row_count == 5),
    "right_curly_bracket": (("{",), lambda screen: not screen.app.lanes.is_folded),
    "greater_than_sign": (("{",), folds(2)),
    "less_than_sign": (("{", ">"), folds(1)),
    "u": ((), cursor(5)),
    "d": ((), cursor(7)),
    "R": ((), cursor(11)),
    "exclamation_mark": ((), cursor(2)),
    "m": ((), lambda screen: screen.app.lanes.marked),
    "f": (("5",), lambda screen: screen.app.panes.findings.cursor == 2),
    "F": (("5", "f", "f"), lambda screen: screen.app.panes.findings.cursor == 2),
    "e": ((), over(ExportScreen)),
    "tab": ((), lambda screen: not screen.app.panes.has_focus("lanes")),
    **{key: ((), pane(name)) for name, (key, _) in Panes.ALL.items()},
    "0": (("1",), pane("lanes")),
    "escape": (("1",), pane("lanes")),
    "plus": ((), moved("rows")),
    "minus": ((), moved("rows")),
    "right_parenthesis": ((), moved("columns")),
    "left_parenthesis": ((), moved("columns")),
    "Z": ((), lambda screen: screen.app.panes.is_zoomed),
    "i": ((), lambda screen: screen.app.output.input_mode),
    "y": ((), lambda screen: screen.app.clipboard == "/srv/train.py:10"),
    "T": ((), lambda screen: screen.app.theme == "textual-light"),
    "ctrl+e": ((), lambda screen: screen.edited),
    "ctrl+p": ((), over(Palette)),
    "question_mark": ((), over(HelpScreen)),
    "q": ((), over(Question)),
}


def test_every_key_of_the_app_is_in_the_table():
    keys = {key for binding in keymap.bindings() for key in binding.key.split(",")}
    assert keys == set(APP)


@pytest.mark.parametrize("key", APP)
def test_a_key_of_the_app(shown, monkeypatch, key):
    edited = []
    monkeypatch.setattr(editor, "command", lambda path, line: ["true"])
    monkeypatch.setattr(editor, "run", lambda path, line: edited.append(path))
    monkeypatch.setattr(AgdbgApp, "suspend", lambda self: nullcontext())
    before, is_done = APP[key]

    async def script(screen):
        screen.edited = edited
        await STATES["stopped"].script(screen)
        await screen.until(lambda: screen.app.panes.source.path)
        await screen.press(*before)
        assert not is_done(screen)
        await screen.press(key)
        await screen.until(lambda: is_done(screen))

    drive(shown, script, size=(120, 40), prepare=found)


@pytest.mark.parametrize("state", ["stopped", "ended"])
def test_the_keys_of_flow_control_do_nothing(shown, state):
    async def script(screen):
        await STATES["stopped"].script(screen)
        if state == "ended":
            screen.hub.end()
            await screen.settle()
        before = screen.text
        await screen.press("ctrl+q", "ctrl+s", "ctrl+q")
        assert screen.app.is_running and screen.text == before

    drive(shown, script)

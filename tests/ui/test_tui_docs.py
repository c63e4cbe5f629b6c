"""docs/tui.md has every key of the UI, with the words of the help screen."""

import re
from pathlib import Path

import pytest

from agdbg_ui import keymap
from agdbg_ui.pane_keys import IN_PANES
from agdbg_ui.screens.filters import FiltersScreen
from agdbg_ui.screens.page import Page
from agdbg_ui.screens.tensor import TensorScreen
from agdbg_ui.widgets.boxes import Boxes
from agdbg_ui.widgets.findings import FindingsPane
from agdbg_ui.widgets.inspector import Inspector
from agdbg_ui.widgets.lanes import Lanes
from agdbg_ui.widgets.output import OutputPane
from agdbg_ui.widgets.program_input import ProgramInput
from agdbg_ui.widgets.prompt import Prompt
from agdbg_ui.widgets.source import SourcePane
from agdbg_ui.widgets.stops import StopsPane
from agdbg_ui.widgets.timeline import TimelinePane
from agdbg_ui.widgets.tree import TreeView

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "tui.md").read_text("utf-8")
NAMES = {"left": "←", "right": "→", "up": "↑", "down": "↓", "escape": "Esc", "enter": "Enter", "space": "Space"}
NAMES |= {
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
}
NAMES |= {
    "tab": "Tab",
    "delete": "Delete",
    "home": "Home",
    "plus": "+",
    "minus": "-",
    "right_parenthesis": ")",
    "left_parenthesis": "(",
    "equals_sign": "=",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "exclamation_mark": "!",
    "less_than_sign": "<",
    "greater_than_sign": ">",
}
NAMES |= {f"shift+{key}": f"Shift+{NAMES[key]}" for key in ("left", "right", "up", "down")}


PANES = [Lanes, Inspector, SourcePane, OutputPane, ProgramInput, Prompt, Page, FiltersScreen]
PANES += [TensorScreen, Boxes, FindingsPane, StopsPane, TimelinePane, TreeView]


def section(heading):
    """The text of a section, without what comes after it."""
    _, _, rest = PAGE.partition(f"### {heading}\n")
    return re.split(r"^##", rest, maxsplit=1, flags=re.MULTILINE)[0]


def rows(heading):
    """The rows of the table in a section, as keys and words."""
    return re.findall(r"^\| (`.*`) \| (.*) \|$", section(heading), re.MULTILINE)


def written(key):
    return " ".join(f"`{each}`" for each in key.shown.split())


@pytest.mark.parametrize("group", keymap.groups())
def test_the_page_has_the_keys_of_the_table_and_no_others(group):
    assert rows(group) == [(written(key), key.help) for key in keymap.groups()[group]]


def test_every_binding_of_the_app_is_a_key_of_the_page():
    named = re.findall(r"`([^`]+)`", PAGE)
    shown = {
        "slash": "/",
        "full_stop": ".",
        "colon": ":",
        "question_mark": "?",
        "tab": "Tab",
        "ctrl+p": "Ctrl+P",
        "ctrl+e": "Ctrl+E",
        **NAMES,
    }
    keys = [each for binding in keymap.bindings() for each in binding.key.split(",")]
    assert [key for key in keys if shown.get(key, key) not in named] == []


def test_the_page_and_the_help_screen_have_the_same_keys_of_panes():
    told = [(where, keys, what) for where, rows in IN_PANES.items() for keys, what in rows]
    table = re.findall(r"^\| ([^|]+) \| ([^|]+) \| (.*) \|$", section("In one pane"), re.MULTILINE)[2:]
    assert told == [tuple(cell.replace("`", "") for cell in row) for row in table]


@pytest.mark.parametrize("pane", PANES)
def test_the_page_names_the_keys_of_a_pane(pane):
    text = section("In one pane") + PAGE.partition("## Input mode")[2]
    named = re.findall(r"`([^`]+)`", text)
    keys = [each for binding in pane.BINDINGS for each in binding.key.split(",")]
    assert keys
    assert [key for key in keys if NAMES.get(key, key.title() if "+" in key else key) not in named] == []

"""Every key of a single pane or dialog does something; a binding of a class of the UI that is not in the table fails.

The keys of the app are in `test_every_key.py`.
"""

import pytest
from agdbg_tests_classes import all_of_the_ui
from agdbg_tests_driving import drive
from agdbg_tests_states import STATES, found
from textual.binding import Binding
from textual.containers import VerticalScroll

from agdbg_ui.screens.export import ExportScreen
from agdbg_ui.screens.filters import FiltersScreen
from agdbg_ui.screens.page import Page
from agdbg_ui.screens.question import Question
from agdbg_ui.screens.tensor import TensorScreen
from agdbg_ui.widgets.banner import Banner
from agdbg_ui.widgets.boxes import Boxes
from agdbg_ui.widgets.findings import FindingsPane
from agdbg_ui.widgets.inspector import Inspector
from agdbg_ui.widgets.lanes import Lanes
from agdbg_ui.widgets.output import OutputPane
from agdbg_ui.widgets.program_input import ProgramInput
from agdbg_ui.widgets.prompt import Prompt
from agdbg_ui.widgets.rows import Rows
from agdbg_ui.widgets.source import SourcePane
from agdbg_ui.widgets.stops import StopsPane
from agdbg_ui.widgets.timeline import TimelinePane
from agdbg_ui.widgets.tree import TreeView

# ----- what a key is to change -----


def cursor(screen):
    return screen.app.lanes.cursor


def rows(screen):
    return screen.app.lanes.row_count


def top_screen(screen):
    return type(screen.app.screen)


def picture(screen):
    return screen.text


def asked(command):
    return lambda screen: len(screen.hub.asked(command))


def of_focused(attribute):
    return lambda screen: getattr(screen.app.focused, attribute)


def view_of_tensor(screen):
    body = screen.app.screen.view.body
    return body["row"], body["column"], body["index"], screen.app.screen.view.mode, screen.app.screen.view.compares


def dimension(screen):
    return screen.app.screen.view.dimension


def typed(screen):
    return screen.app.prompt.line.value


def answered(screen):
    return screen.app.prompt.answered


def scroll_of_page(screen):
    return screen.app.screen.query_one(VerticalScroll).scroll_offset


def marks(screen):
    return screen.app.session.filters.on


def four_dimensions(hub):
    import numpy as np

    found(hub)
    hub.tensor = np.arange(2 * 3 * 60 * 40.0).reshape(2, 3, 60, 40)
    hub.tensor[1, 2, 30, 20] = np.nan


def two_in_a_layer(hub):
    """The neighbourhood has all but the newest node side by side, on a sheet that is larger than the pane."""

    def box(node, layer):
        return type(hub).box(hub, node, 0 if layer < 4 else 1) | {"x": layer % 4 * 24}

    def neighbourhood(**wanted):
        return type(hub).do_neighbourhood(hub, **wanted) | {"width": 400, "layers": 60}

    hub.box, hub.do_neighbourhood = box, neighbourhood


#: By class: the state in which it has the keys, what is done to the hub before, and by key what is pressed before it and
#: what must be something else after it.
KEYS = {
    Rows: (
        "stopped",
        found,
        dict.fromkeys(("up", "k", "down", "j", "pageup", "pagedown", "home", "end"), ((), cursor))
        | {"enter": (("{", "home"), rows)},
    ),
    Lanes: (
        "stopped",
        found,
        dict.fromkeys(("left", "h"), ((), rows)) | dict.fromkeys(("right", "l"), (("{", "home"), rows)),
    ),
    Inspector: (
        "inspector",
        found,
        {
            "left": ((), of_focused("row_count")),
            "right": (("left",), of_focused("row_count")),
            "space": (("down",), picture),
        },
    ),
    SourcePane: (
        "source",
        found,
        {
            "b": ((), asked("setBreakpoints")),
            "space": ((), of_focused("spot")),
            "left": (("right",), picture),
            "right": ((), picture),
        },
    ),
    OutputPane: ("output", found, {key: ((), lambda screen: screen.app.output.input_mode) for key in ("i", "enter")}),
    ProgramInput: (
        "input_mode",
        found,
        {
            "ctrl+c": ((), asked("agdbg/input")),
            "ctrl+d": ((), asked("agdbg/input")),
            "up": (("enter",), of_focused("value")),
            "down": (("enter", "up"), of_focused("value")),
            "escape": ((), lambda screen: screen.app.output.input_mode),
        },
    ),
    Prompt: (
        "prompt_empty",
        found,
        {
            "escape": ((), lambda screen: screen.app.prompt.asks_for("console")),
            "up": ((*"x.y", "enter"), typed),
            "down": ((*"x.y", "enter", "up"), typed),
            "tab": ((*"contr",), typed),
            "pageup": ((*"help", "enter", "pagedown"), answered),
            "pagedown": ((*"help", "enter"), answered),
        },
    ),
    FindingsPane: ("findings", found, {"a": ((), of_focused("with_lints"))}),
    StopsPane: (
        "stops",
        found,
        {
            "space": (("end", "up", "up", "up"), marks),
            "d": ((), of_focused("row_count")),
            "delete": ((), of_focused("row_count")),
            "equals_sign": ((), lambda screen: screen.app.prompt.asks_for("console")),
        },
    ),
    TimelinePane: (
        "timeline",
        found,
        {
            "left": (("right",), of_focused("pass_id")),
            "right": ((), of_focused("pass_id")),
            "l": ((), of_focused("by_layer")),
        },
    ),
    TreeView: (
        "modules",
        found,
        {key: (("home",), of_focused("row_count")) for key in ("left", "h")}
        | {key: (("home", "left"), of_focused("row_count")) for key in ("right", "l")},
    ),
    Banner: ("stopped_at_an_error", found, {"enter": ((), top_screen)}),
    Boxes: (
        "boxes",
        two_in_a_layer,
        {key: (("left",), of_focused("selected")) for key in ("right", "l")}
        | {key: ((), of_focused("selected")) for key in ("left", "h", "up", "k")}
        | {key: (("up",), of_focused("selected")) for key in ("down", "j")}
        | {"shift+left": (("shift+right",), picture), "shift+right": ((), picture)}
        | {"shift+up": (("shift+down",), picture), "shift+down": ((), picture)}
        | {key: ((), of_focused("hops")) for key in ("plus", "equals_sign", "minus")}
        | {"enter": (("up",), asked("agdbg/neighbourhood")), "space": ((), of_focused("depth"))},
    ),
    Page: (
        "help_page",
        found,
        dict.fromkeys(("escape", "q", "enter"), ((), top_screen)) | {"space": ((), scroll_of_page)},
    ),
    Question: ("quit_question", found, dict.fromkeys(("escape", "q"), ((), top_screen))),
    FiltersScreen: (
        "filters",
        found,
        dict.fromkeys(("escape", "q", "E"), ((), top_screen)) | {"space": ((), marks)},
    ),
    ExportScreen: ("export", found, {"escape": ((), top_screen)}),
    TensorScreen: (
        "tensor",
        four_dimensions,
        dict.fromkeys(("escape", "q", "enter"), ((), top_screen))
        | dict.fromkeys(("tab", "left_square_bracket", "right_square_bracket", "b", "d"), ((), view_of_tensor))
        | dict.fromkeys(("left_curly_bracket", "right_curly_bracket"), ((), dimension))
        | dict.fromkeys(("up", "k", "down", "j", "left", "h", "right", "l", "home"), (("b",), view_of_tensor))
        | dict.fromkeys(("pageup", "pagedown"), (("b",), view_of_tensor)),
    ),
}


def keys_of(cls):
    """The keys that a class binds itself."""
    bindings = [each if isinstance(each, Binding) else Binding(*each) for each in vars(cls).get("BINDINGS", ())]
    return {key for each in bindings for key in each.key.split(",")}


def test_every_binding_of_the_ui_is_in_a_table():
    missing = {cls.__name__: keys_of(cls) ^ set(KEYS.get(cls, (0, 0, {}))[2]) for cls in all_of_the_ui()}
    assert {name: keys for name, keys in missing.items() if keys} == {}


@pytest.mark.parametrize(
    ("cls", "key"),
    [(cls, key) for cls, (_, _, keys) in KEYS.items() for key in keys],
    ids=lambda each: getattr(each, "__name__", each),
)
def test_a_key(shown, cls, key):
    state, prepare, keys = KEYS[cls]
    before, look = keys[key]

    async def script(screen):
        await STATES[state].script(screen)
        await screen.until(lambda: screen.app.panes.source.path)
        focused = screen.app.query_one(Banner) if cls is Banner else None
        if focused is not None:
            focused.focus()
            await screen.settle()
        await screen.press(*before)
        was = look(screen)
        await screen.press(key)
        await screen.until(lambda: look(screen) != was)

    drive(shown, script, size=(120, 40), prepare=prepare)

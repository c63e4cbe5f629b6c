"""Panes grow and shrink, by keys, by words and by the mouse, on every layout."""

from itertools import pairwise

import pytest
from agdbg_tests_driving import drive
from textual import events

from agdbg.protocol.errors import RequestFailed
from agdbg_ui.dividing import DIVIDERS, LEAST, Dividers
from agdbg_ui.panes import Panes

LAYOUTS = pytest.mark.parametrize("size", [(80, 24), (120, 40), (220, 60)], ids=["narrow", "wide", "huge"])
KEYS = {"columns": ("right_parenthesis", "left_parenthesis"), "rows": ("plus", "minus")}


def notes(screen):
    return [note.message for note in screen.app._notifications]


def room(pane):
    return {"columns": pane.outer_size.width, "rows": pane.outer_size.height}


@pytest.mark.parametrize(
    ("size", "pane", "axis"),
    [
        ((80, 24), "inspector", "rows"),
        ((120, 40), "lanes", "columns"),
        ((120, 40), "source", "rows"),
        ((220, 60), "console", "rows"),
    ],
)
def test_a_pane_grows_and_shrinks(shown, size, pane, axis):
    async def script(screen):
        screen.app.panes.focus(pane)
        await screen.settle()
        widget, (more, less) = screen.app.panes._widget(pane), KEYS[axis]
        before = room(widget)[axis]
        await screen.press(more, more)
        assert room(widget)[axis] > before
        await screen.press(less, less, less, less)
        assert room(widget)[axis] < before
        screen.app.panes.resize(axis, -100)
        await screen.settle()
        assert 1 <= room(widget)[axis] < before

    drive(shown, script, size=size)


def test_where_there_is_nothing_beside_it_a_pane_says_so(shown):
    async def script(screen):
        await screen.press("right_parenthesis")
        assert notes(screen) == ["panes are as wide as the screen here"]

    drive(shown, script)


@pytest.mark.parametrize("layout", ["narrow", "wide", "huge"])
@pytest.mark.parametrize("pane", ["graph", *Panes.ALL])
def test_every_pane_has_a_divider_on_each_axis_that_has_some(layout, pane):
    spans_all = {"narrow": [*Panes.ALL, "graph"], "wide": Panes.BOTTOM, "huge": ()}[layout]
    for axis in KEYS:
        dividers = Dividers()
        is_alone = axis == "columns" and pane in spans_all
        assert dividers.resize(layout, axis, pane, 5) is (None if is_alone else True)
        assert dividers.resize(layout, axis, pane, -1000) is (None if is_alone else True)
        assert dividers.resize(layout, axis, pane, -1) is (None if is_alone else False)
        at = [0, *dividers.at(layout, axis), 100]
        assert all(end - start >= LEAST for start, end in pairwise(at))


def test_words_do_what_the_keys_do(shown):
    async def script(screen):
        await screen.press("colon", *"view wider", "enter")
        assert screen.app.panes.workspace.dividers.remembered() == {"wide.columns.graph": 65}
        await screen.press("colon", *"view lower", "enter")
        assert screen.app.panes.workspace.dividers.at("wide", "rows") == [46, 71]

    drive(shown, script, size=(120, 40))


def test_one_pane_with_all_the_room_stays_as_it_is(shown):
    async def script(screen):
        await screen.press("Z", "plus")
        assert notes(screen)[-1] == "this pane has all the room; Z gives the others theirs back"
        assert screen.app.panes.workspace.dividers.remembered() == {}
        await screen.press("Z")
        assert notes(screen)[-1] == "all panes"

    drive(shown, script)


@LAYOUTS
def test_a_divider_is_dragged(shown, size):
    async def script(screen):
        workspace, focused = screen.app.panes.workspace, screen.app.focused
        for axis in ("columns", "rows"):
            for name, divider in DIVIDERS[workspace.form, axis].items():
                behind = screen.app.query_one(f"#{divider.behind}")
                x, y = behind.region.offset
                ahead = (x - 4, y) if axis == "columns" else (x + 3, y - 2)
                x += 3 if axis == "rows" else 0
                y += 2 if axis == "columns" else 0
                before = workspace.dividers.at(workspace.form, axis)
                for kind, at, button in (
                    (events.MouseDown, (x, y), 1),
                    (events.MouseMove, ahead, 1),
                    (events.MouseUp, ahead, 1),
                ):
                    mouse = {"delta_x": 0, "delta_y": 0, "button": button, "shift": False, "meta": False, "ctrl": False}
                    screen.app.screen._forward_event(kind(None, *at, **mouse, screen_x=at[0], screen_y=at[1]))
                    await screen.settle()
                number = list(DIVIDERS[workspace.form, axis]).index(name)
                assert workspace.dividers.at(workspace.form, axis)[number] < before[number], (axis, name)
                assert screen.app.mouse_captured is None
                assert screen.app.focused is focused, "the keys stay where they were"
                moved = behind.region.x if axis == "columns" else behind.region.y
                assert abs(moved - ahead[axis == "rows"]) <= 1

    drive(shown, script, size=size)


def test_a_program_whose_size_cannot_be_changed_is_no_fault(shown):
    async def script(screen):
        await screen.until(lambda: screen.hub.asked("agdbg/resize"))
        await screen.settle()
        assert notes(screen) == []

    def refuse(hub):
        hub.refuse["agdbg/resize"] = RequestFailed("cannot make it 46 x 14: the program was not started by this hub")

    drive(shown, script, command="attach", prepare=refuse)


def test_dividers_stay_apart_and_what_makes_no_sense_is_not_restored():
    dividers = Dividers()
    assert dividers.move("huge", "columns", "timeline", 0) and dividers.at("huge", "columns") == [42, 42 + LEAST, 75]
    dividers = Dividers()
    dividers.restore({"wide.columns.graph": "far", "wide.rows.bottom": 500, "other": 3, "narrow.rows.graph": 20})
    assert dividers.remembered() == {"narrow.rows.graph": 20, "wide.rows.bottom": 100 - LEAST}


def test_a_layout_that_is_told_when_the_app_has_left_does_no_harm(shown):
    async def script(screen):
        apps.append(screen.app)

    apps = []
    drive(shown, script)
    assert apps[0].screen_stack == []
    apps[0]._on_laid_out()

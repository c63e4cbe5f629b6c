"""The graph by modules, jumps, and the ways between two marked nodes."""

import pytest
from agdbg_tests_driving import drive

from agdbg_ui.text import cells
from agdbg_ui.widgets.tree import TreeView


def notes(screen):
    return [note.message for note in screen.app._notifications]


async def tree(screen):
    await screen.stop(6)
    await screen.press("v", "v")
    await screen.until(lambda: "Sequential" in screen.text)


@pytest.mark.parametrize("size", [(50, 20), (80, 24), (220, 60)])
def test_modules_and_parameters_are_shown_with_totals(shown, size):
    async def script(screen):
        await tree(screen)
        assert isinstance(screen.app.focused, TreeView)
        for part in ("Linear", "[weight]", "5 nodes", "1 node", "200 µs"):
            assert part in screen.text
        assert all(cells(line) <= size[0] for line in screen.lines())
        if size[0] >= 80:
            assert "float64[48, 64]" in screen.text and "24.0 KiB" in screen.text and "█" in screen.text

    drive(shown, script, size=size)


def test_modules_fold_and_lead_to_their_nodes(shown):
    async def script(screen):
        await tree(screen)
        pane = screen.app.panes.tree
        await screen.press("down", "left")
        assert pane.row_count == 6 and "▸" in screen.text
        await screen.press("right")
        assert pane.row_count == 8
        await screen.press("down", "down", "left")
        assert pane.row_count == 6 and pane.cursor == 1
        await screen.press("right", "j", "enter")
        await screen.until(lambda: screen.app.lanes.cursor == 2)
        await screen.press("v", "v", "home", "left")
        assert pane.row_count == 1

    drive(shown, script)


def test_enter_unfolds_a_module_and_goes_to_the_rows_of_one_that_is_open(shown):
    async def script(screen):
        await tree(screen)
        pane = screen.app.panes.tree
        await screen.press("down", "left", "enter")
        assert pane.row_count == 8 and screen.app.panes.has_focus("tree")
        await screen.press("enter")
        await screen.until(lambda: screen.app.panes.has_focus("lanes") and screen.app.lanes.cursor == 1)

    drive(shown, script)


def test_the_keys_of_folds_act_on_what_is_shown(shown):
    async def script(screen):
        await tree(screen)
        shows = screen.app.panes.tree
        rows = shows.row_count
        await screen.press("{")
        assert shows.row_count < rows
        assert notes(screen) == ["modules folded at depth 1 of 1"]
        await screen.press("}")
        assert shows.row_count == rows
        assert notes(screen)[-1] == "all modules are unfolded"
        await screen.press("home", "down", "[")
        assert shows.row_count == rows - 2
        await screen.press("]")
        assert shows.row_count == rows
        await screen.press("]")
        assert notes(screen)[-1] == "there is nothing to unfold here"
        await screen.press(">", "<")
        assert shows.row_count == rows
        await screen.press("0", "colon", *"view boxes", "enter", "{")
        assert notes(screen)[-1].startswith("boxes are not folded")
        assert screen.hub.asked("agdbg/fold") == []

    drive(shown, script)


def test_jumps_along_edges(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.press("u")
        await screen.until(lambda: screen.app.lanes.cursor == 5)
        await screen.press("d")
        await screen.until(lambda: screen.app.lanes.cursor == 6)
        assert notes(screen) == ["the first consumer of 2; others: #8"]
        await screen.press("home", "u")
        await screen.until(lambda: notes(screen)[-1:] == ["node 1 has no producer but leaves"])

    drive(shown, script)


def test_jumps_to_the_root_and_to_what_is_bad(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.press("R")
        await screen.until(lambda: screen.app.lanes.cursor == 11)
        await screen.press("exclamation_mark")
        await screen.until(lambda: screen.app.lanes.cursor == 2)
        assert notes(screen) == ["#3: 2 NaN, 0 Inf in its output"]

    drive(shown, script)


def test_the_ways_between_two_marked_nodes_are_shown(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.press("m")
        assert screen.app.lanes.marked == {7}
        await screen.press("up", "up", "up", "m")
        await screen.until(lambda: screen.app.lanes.marked == {4, 5, 6, 7})
        assert notes(screen)[-1:] == ["from #7 to #4: 4 nodes on all ways, 3 edges on the shortest"]
        assert screen.text.count("◆") == 4 and "▶◆" in screen.text
        await screen.press("m")
        assert screen.app.lanes.marked == frozenset()
        await screen.press("m", "home", "m")
        await screen.until(lambda: "no gradient goes between" in notes(screen)[-1])

    drive(shown, script)

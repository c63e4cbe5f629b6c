"""Folding rows of the graph by keys, by the console and with the mouse; jumps and the program counter with folded rows."""

import asyncio

import pytest
from agdbg_tests_driving import drive

from agdbg_ui.text import fit
from agdbg_ui.widgets.lane_columns import Columns
from agdbg_ui.widgets.lane_row import row_pieces, widen
from agdbg_ui.widgets.lanes import Lanes

PATIENCE_S = 30.0


async def folded(screen):
    """The graph of which all that can be is folded, with the cursor on the last row."""
    await screen.until(lambda: screen.app.lanes.selected is not None)
    await screen.press("{")
    await screen.until(lambda: screen.app.lanes.row_count == 5 and screen.app.lanes.selected is not None)


def ops(screen):
    lanes = screen.app.lanes
    rows = [lanes.pages.row(at) for at in range(lanes.row_count)]
    return [row["op"].removesuffix("Backward0") if row else None for row in rows]


def at(screen):
    row = screen.app.lanes.selected
    return row and row["row"]


ALL = ["0 (Linear)", "Relu", "2 (Linear)", "Sub", "3 \N{MULTIPLICATION SIGN} 2 nodes"]


def test_all_is_folded_and_unfolded_where_the_cursor_is(shown):
    async def script(screen):
        await folded(screen)
        assert ops(screen) == ALL
        assert at(screen) == 6
        assert "▸ 3 \N{MULTIPLICATION SIGN} 2 nodes  6 nodes" in screen.text
        await screen.press("home", "right_square_bracket")
        await screen.until(lambda: screen.app.lanes.row_count == 6 and at(screen) == 0)
        assert ops(screen)[:3] == ["T", "Addmm", "Relu"]
        await screen.press("j", "left_square_bracket")
        await screen.until(lambda: screen.app.lanes.row_count == 5 and at(screen) == 0)
        await screen.press("}")
        await screen.until(lambda: screen.app.lanes.row_count == 12 and at(screen) == 1)  # on the node that it was on
        assert not screen.app.lanes.is_folded
        assert "folds" not in screen.hub.asked("agdbg/rows")[-1]

    drive(shown, script)


def test_arrows_and_enter_in_the_graph(shown):
    async def script(screen):
        await folded(screen)
        await screen.press("home", "right")
        await screen.until(lambda: screen.app.lanes.row_count == 6)
        await screen.press("h")
        await screen.until(lambda: screen.app.lanes.row_count == 5)
        await screen.press("enter")
        await screen.until(lambda: screen.app.lanes.row_count == 6)
        await screen.press("left")
        await screen.until(lambda: screen.app.lanes.row_count == 5)
        await screen.press("l")
        await screen.until(lambda: screen.app.lanes.row_count == 6)

    drive(shown, script)


def test_what_cannot_be_folded_is_said(shown):
    async def script(screen):
        await folded(screen)
        await screen.press("home", "down", "right_square_bracket")
        await screen.until(lambda: "this row is one node" in screen.text)
        await screen.press("left_square_bracket")
        await screen.until(lambda: "nothing around this row can be folded" in screen.text)
        assert ops(screen) == ALL

    drive(shown, script)


def test_one_module_is_folded_alone(shown):
    async def script(screen):
        await screen.until(lambda: screen.app.lanes.selected is not None)
        screen.app.lanes.go_to(4)
        await screen.press("left_square_bracket")
        await screen.until(lambda: screen.app.lanes.row_count == 11)
        assert ops(screen)[3] == "2 (Linear)"
        assert screen.app.lanes.folds["closed"] == [{"row": 3, "depth": 2}]

    drive(shown, script)


def test_the_depth_goes_as_far_as_modules_call_one_another(shown):
    async def script(screen):
        await folded(screen)
        for _ in range(3):
            await screen.press(">")
        await screen.until(lambda: screen.app.lanes.folds["depth"] == 2 and at(screen) is not None)
        assert "folded at depth 2 of 2" in screen.text
        await screen.press("<", "<", "<")
        await screen.until(lambda: not screen.app.lanes.is_folded and at(screen) is not None)
        assert "all is unfolded" in screen.text
        await screen.press("}")
        await screen.until(lambda: "nothing was folded" in screen.text)

    drive(shown, script)


def test_the_cursor_stays_on_the_node_of_the_program(shown):
    async def script(screen):
        lanes = screen.app.lanes
        await screen.stop(7)
        await folded(screen)
        assert lanes.cursor == lanes.pages.counter == 4
        await screen.press("}")
        await screen.until(lambda: lanes.row_count == 12 and lanes.selected is not None)
        assert lanes.cursor == 7

    drive(shown, script)


def test_a_fold_asked_for_while_the_recording_is_read_is_made_when_it_is_there(shown):
    async def script(screen):
        app, lanes = screen.app, screen.app.lanes
        await screen.until(lambda: "reading the recording …" in screen.text)
        screen.hub.send("progressStart", progressId="1", title="Reading the recording", percentage=40.0)
        await screen.until(lambda: "reading the recording … 40 %" in screen.text)
        await screen.press("slash")
        app.prompt.line.value = "addmm"
        await screen.press("enter")
        assert not screen.hub.asked("agdbg/find")
        await screen.press("escape", "{")
        screen.hub.held.pop("agdbg/rows").set()
        await screen.until(lambda: lanes.is_folded and lanes.selected is not None)
        assert len(screen.hub.asked("agdbg/find")) == 1

    def hold(hub):
        hub.state = "trace"
        hub.held["agdbg/rows"] = asyncio.Event()

    drive(shown, script, command="attach", arguments={"trace": "/t"}, prepare=hold)


def test_the_console_has_the_same_words(shown):
    async def script(screen):
        await screen.until(lambda: screen.app.lanes.selected is not None)
        for line, count in (("fold all", 5), ("unfold", 10), ("fold", 5), ("unfold all", 12)):
            await screen.press("colon")
            screen.app.prompt.line.value = line
            await screen.press("enter")
            await screen.until(lambda count=count: screen.app.lanes.row_count == count)
            await screen.until(lambda: screen.app.lanes.selected is not None)

    drive(shown, script)


def test_a_search_opens_what_its_match_is_folded_in(shown):
    async def script(screen):
        await folded(screen)
        await screen.press("home", "slash")
        screen.app.prompt.line.value = "addmm"
        await screen.press("enter")
        await screen.until(lambda: at(screen) == 4)
        assert screen.app.lanes.folds["opened"] == [3]
        assert "row 5" in screen.text and "row 5 of" not in screen.text
        await screen.press("slash", "up")
        await screen.until(lambda: at(screen) == 1)
        assert [each["start"] for each in screen.hub.asked("agdbg/find")] == [2, 3]

    drive(shown, script)


def test_a_search_backwards_from_the_first_row_begins_at_the_end(shown):
    async def script(screen):
        await folded(screen)
        await screen.press("home")
        await screen.app.prompts.find("relu", backwards=True)
        assert screen.hub.asked("agdbg/find")[-1]["start"] > 12

    drive(shown, script)


def test_a_jump_opens_what_its_node_is_folded_in(shown):
    async def script(screen):
        await folded(screen)
        await screen.press("exclamation_mark")  # node 3
        await screen.until(lambda: at(screen) == 2)
        assert not screen.app.lanes.folds["opened"]
        await screen.app.go_to_node(8)
        await screen.until(lambda: at(screen) == 7)
        assert screen.app.lanes.folds["opened"] == [6]

    drive(shown, script)


def test_the_counter_goes_through_folds(shown):
    async def script(screen):
        await screen.stop(9)
        await screen.press("{")
        await screen.until(lambda: screen.app.lanes.pages.counter == 4)
        screen.hub.stop(8)
        await screen.until(lambda: screen.app.lanes.pages.counter_node == 9)
        assert screen.app.lanes.cursor == 4
        assert " ▶ " in next(line for line in screen.lines() if "3 \N{MULTIPLICATION SIGN} 2 nodes" in line)
        screen.hub.stop(4)
        await screen.until(lambda: screen.app.lanes.pages.counter == 2 and screen.app.lanes.cursor == 2)

    drive(shown, script)


def test_a_fold_does_not_take_the_cursor_to_the_counter(shown):
    async def script(screen):
        await screen.stop(9)
        await screen.press("home", "{")
        await screen.until(lambda: screen.app.lanes.pages.counter == 4)
        await screen.settle()
        assert at(screen) == 0

    drive(shown, script)


def test_rows_that_were_asked_for_before_a_fold_are_not_shown(shown):
    async def script(screen):
        await screen.until(lambda: screen.app.lanes.selected is not None)
        screen.hub.held["agdbg/rows"] = asyncio.Event()
        screen.app._refreshing.all()
        await screen.press("{")
        await screen.until(lambda: screen.app.lanes.is_folded)
        screen.hub.held.pop("agdbg/rows").set()
        await screen.until(lambda: screen.app.lanes.selected is not None)
        assert ops(screen) == ALL

    drive(shown, script)


@pytest.mark.painted
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (220, 60)], ids=str)
@pytest.mark.parametrize("nodes", [12, 5000])
def test_what_is_folded_or_unfolded_is_painted_once_with_all_that_its_rows_say(shown, monkeypatch, size, nodes):
    painted = []
    row = Lanes.row
    monkeypatch.setattr("agdbg_ui.folding._SOON_S", PATIENCE_S)
    monkeypatch.setattr(
        Lanes, "row", lambda lanes, index, width: painted.append(lanes.pages.row(index)) or row(lanes, index, width)
    )

    async def script(screen):
        lanes = screen.app.lanes
        await screen.until(lambda: lanes.selected is not None)
        for key in ("home", "end", "{", "right_square_bracket", "}", "home", "{", "}"):
            await screen.press(key)
            await screen.until(lambda: lanes.selected is not None)
            known = screen.hub.asked("agdbg/rows")
            if key in "{}right_square_bracket":
                assert None not in painted, key
                await screen.settle()
                assert screen.hub.asked("agdbg/rows") == known, "nothing is asked for twice"
            painted.clear()

    drive(shown, script, size=size, nodes=nodes, state="trace", command="attach", arguments={"trace": "/t"})


def test_folding_costs_the_same_on_a_million_rows(shown):
    async def script(screen):
        await screen.until(lambda: screen.app.lanes.selected is not None)
        before = len(screen.hub.asked("agdbg/rows"))
        await screen.press("{")
        await screen.until(lambda: screen.app.lanes.is_folded and screen.app.lanes.selected is not None)
        assert len(screen.hub.asked("agdbg/rows")) - before <= 3
        assert len(screen.hub.asked("agdbg/fold")) == 1

    drive(shown, script, nodes=1_000_000)


def test_a_folded_row_in_any_width():
    row = {
        "row": 3, "node": 9, "op": "150 \N{MULTIPLICATION SIGN} blocks.0.attention (Attention), …", "cells": "│ ●", "undrawn": [], "file": "/w/a.py",
        "line": 3, "text": "y = x", "badges": [], "shape": "float32[3]", "module": "blocks.0", "saved": None, "gradient": None,
        "bad": False, "state": "ran", "order": None, "pass": 0, "breakpoint": False, "count": 10_050, "times": 150,
    }  # fmt: skip
    columns = Columns()
    widen(columns, row)
    for width in (40, 68, 80, 120, 200):
        text = "".join(text for text, _ in fit(row_pieces(row, None, False, columns, width), width))
        assert text.startswith("   │ ● ▸ 150 \N{MULTIPLICATION SIGN}" + (" b" if width > 40 else "")), text
        assert ".0." in text  # the number tells the layers apart
        assert ":3" in text


def test_deeper_a_loop_that_is_one_row_is_opened(shown):
    """Also at the next depth what the loop repeats is one row, under another name."""
    all_of_it, each = [(0, 12, 2, "twice GPT")], [(0, 6, 0, "GPT"), (6, 12, 0, "GPT")]

    def stretches(folds):
        return None if not folds or not folds["depth"] else each if 0 in folds["opened"] else all_of_it

    async def script(screen):
        screen.hub.stretches = stretches
        await screen.until(lambda: screen.app.lanes.selected is not None)
        await screen.press("{")
        await screen.until(lambda: screen.app.lanes.row_count == 1)
        for _ in range(3):  # at the deepest it stays open, or is opened further
            await screen.press(">")
            await screen.until(lambda: screen.app.lanes.row_count >= 2)
        await screen.press("<")
        await screen.until(lambda: screen.app.lanes.row_count == 1)

    drive(shown, script)

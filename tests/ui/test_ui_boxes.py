"""The boxes around a node: lines lead from box to box, keys select, pan and change how far it goes."""

import re

import pytest
from agdbg_tests_driving import drive
from hypothesis import given, settings
from hypothesis import strategies as st

from agdbg_ui.canvas import Canvas
from agdbg_ui.widgets.boxes import Boxes

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8


def layered(widths, links):
    """A body of ``agdbg/neighbourhood`` with so many boxes in each layer, and lines from each layer to the one above."""
    boxes, lines, at = [], [], {}
    for layer, many in enumerate(widths):
        for place in range(many):
            node = len(boxes) + 1
            at[layer, place] = node
            boxes.append(
                {
                    "node": node,
                    "op": "Op",
                    "words": [f"Op #{node}", ""],
                    "x": place * 16,
                    "width": 14,
                    "layer": layer,
                    "state": "ran",
                }
            )
    for lower, low, span, high in links:
        lower = 1 + lower % (len(widths) - 1) if len(widths) > 1 else 0
        upper = max(lower - 1 - span, 0)
        if lower == upper:
            continue
        low, high = low % widths[lower], high % widths[upper]
        between = [16 * max(widths) + 3 * len(lines) + 2] * (lower - upper - 1)
        xs = [low * 16 + 7, *between, high * 16 + 7]
        lines.append({"consumer": at[lower, low], "producer": at[upper, high], "output": 0, "input": 0, "xs": xs})
    return {
        "node": 1,
        "hops": 2,
        "depth": 0,
        "total": len(boxes),
        "cut": False,
        "width": 16 * max(widths),
        "layers": len(widths),
        "boxes": boxes,
        "lines": lines,
        "ports": [],
    }


numbers = st.integers(0, 9)


@settings(deadline=None)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=5),
    st.lists(st.tuples(numbers, numbers, st.integers(0, 2), numbers), max_size=8),
)
def test_every_line_can_be_followed_from_the_consumer_to_the_producer(widths, links):
    body = layered(widths, links)
    canvas = Canvas(body)
    for line in body["lines"]:
        x, y, width, _ = canvas.area(line["consumer"])
        end_x, end_y, end_width, height = canvas.area(line["producer"])
        start = (line["xs"][0], y - 1)
        goal = (line["xs"][-1], end_y + height)
        assert x <= start[0] < x + width and end_x <= goal[0] < end_x + end_width
        assert goal in reached(canvas, start)
    for y in range(canvas.height):
        for x, character, _ in canvas.lines_in(y):
            assert character != " "
            assert not canvas.at(x, y) or x >= body["width"]


def reached(canvas, start):
    """The cells that lines lead to."""
    seen, todo = set(), [start]
    steps = {UP: (0, -1), DOWN: (0, 1), LEFT: (-1, 0), RIGHT: (1, 0)}
    while todo:
        cell = todo.pop()
        if cell in seen or cell not in canvas._ways:
            continue
        seen.add(cell)
        todo += [(cell[0] + x, cell[1] + y) for way, (x, y) in steps.items() if canvas._ways[cell] & way]
    return seen


async def show(screen, row=6):
    await screen.stop(row)
    await screen.press("v")
    await screen.until(lambda: screen.app.panes.boxes._canvas is not None)
    await screen.settle()


def test_the_boxes_around_the_selected_node_are_shown(shown):
    async def script(screen):
        await show(screen)
        assert isinstance(screen.app.focused, Boxes)
        assert screen.hub.asked("agdbg/neighbourhood")[-1] == {"node": 7, "hops": 2}
        assert "MulBackward0 #7" in screen.text and "┏" in screen.text and "▲" in screen.text

    drive(shown, script)


def test_keys_select_and_the_inspector_follows(shown):
    async def script(screen):
        await show(screen)
        await screen.press("up")
        await screen.until(lambda: screen.app.lanes.cursor == 5)
        assert screen.app.panes.boxes.selected == 6
        await screen.press("down", "down")
        await screen.until(lambda: screen.app.lanes.cursor == 7)
        await screen.until(lambda: (screen.app.panes.inspector.body or {}).get("node") == 8)

    drive(shown, script)


def test_the_radius_changes_and_another_node_comes_into_the_middle(shown):
    async def script(screen):
        await show(screen)
        await screen.press("plus", "plus", "minus")
        await screen.until(lambda: screen.hub.asked("agdbg/neighbourhood")[-1] == {"node": 7, "hops": 3})
        await screen.press("up", "enter")
        await screen.until(lambda: screen.hub.asked("agdbg/neighbourhood")[-1] == {"node": 6, "hops": 3})
        await screen.press(*["minus"] * 5)
        await screen.until(lambda: screen.hub.asked("agdbg/neighbourhood")[-1]["hops"] == 1)

    drive(shown, script)


def test_what_does_not_fit_is_said():
    boxes, body = Boxes(), layered([1, 2], [])
    boxes._body = body
    assert boxes.note == "0 Boxes  3 nodes within 2 edges of #1"
    boxes._body = body | {"hops": 1, "cut": True}
    assert boxes.note == "0 Boxes  3 nodes within 1 edge of #1: within 2 more than fit"
    boxes._body = body | {"hops": 1, "cut": True, "total": 1301}
    assert boxes.note == "0 Boxes  3 of 1,301 nodes within 1 edge of #1: no room for more"
    boxes.depth = 1
    boxes._body = body | {"depth": 1}
    assert boxes.note == "0 Boxes  3 by modules, 1 deep, that hang together with #1"
    boxes._body = body | {"depth": 1, "cut": True, "total": 241}
    assert boxes.note == "0 Boxes  3 of 241 or more: only near #1 was looked at; by modules, 1 deep"


def test_the_sheet_moves(shown):
    async def script(screen):
        await show(screen)
        await screen.press("plus", "plus", "plus")
        before = screen.app.panes.boxes.scroll_offset.y
        await screen.press("shift+up")
        assert screen.app.panes.boxes.scroll_offset.y == max(before - 3, 0)

    drive(shown, script)


def test_a_step_is_followed(shown):
    async def script(screen):
        await show(screen)
        await screen.press("n", "n", "n")
        await screen.until(lambda: screen.app.lanes.pages.counter == 3)
        await screen.until(lambda: screen.app.panes.boxes.selected == 4)
        assert re.search(r"▶.*\n.*AddmmBackward0 #4|▶━", screen.text)

    drive(shown, script)


def test_a_box_that_is_clicked_is_selected(shown):
    async def script(screen):
        await show(screen)
        boxes = screen.app.panes.boxes
        x, y, _, _ = boxes._canvas.area(6)
        offset = (x + 3 - boxes.scroll_offset.x, y + 1 - boxes.scroll_offset.y)
        await screen.pilot.click(boxes, offset=offset)
        await screen.until(lambda: screen.app.lanes.cursor == 5)

    drive(shown, script)


def test_again_turns_back_to_the_lanes(shown):
    async def script(screen):
        await show(screen)
        await screen.press("v", "v")
        while screen.app.focused is not screen.app.lanes:
            await screen.press("v")
        await screen.press("1", "0")
        assert screen.app.focused is screen.app.lanes

    drive(shown, script)


def test_by_modules_and_back(shown):
    async def script(screen):
        await show(screen)
        boxes, asked = screen.app.panes.boxes, lambda: screen.hub.asked("agdbg/neighbourhood")[-1]
        await screen.press("space")
        await screen.until(lambda: asked() == {"node": 7, "hops": 2, "depth": 1} and "by modules, 1 deep" in boxes.note)
        for key, depth in (("plus", 2), ("plus", 3), ("plus", 3), ("minus", 2)):
            await screen.press(key)
            await screen.until(lambda depth=depth: f"{depth} deep" in boxes.note)
        await screen.press("up")
        await screen.until(lambda: screen.app.lanes.cursor == 5)
        assert boxes.selected == 6 and boxes.display
        await screen.press("minus", "minus", "minus")
        await screen.until(lambda: boxes.depth == 1 == asked()["depth"] and "1 deep" in boxes.note)
        await screen.press("space")
        await screen.until(lambda: asked() == {"node": 6, "hops": 2} and "within 2 edges" in boxes.note)

    drive(shown, script)


def test_from_a_box_by_modules_to_its_rows(shown):
    async def script(screen):
        await show(screen)
        await screen.press("space", "up", "enter")
        await screen.until(lambda: screen.app.lanes.display and screen.app.lanes.cursor == 5)
        assert screen.app.focused is screen.app.lanes and not screen.app.panes.boxes.display

    drive(shown, script)


@pytest.mark.parametrize("size", [(80, 24), (160, 50)], ids=str)
def test_stops_are_followed_beyond_the_rows_that_the_hidden_lanes_have_seen(shown, size):
    async def script(screen):
        await show(screen, 60)
        for row in (*range(61, 80), 130, 200, 256):
            screen.hub.size = row + 1  # it stops where the graph has just grown
            screen.hub.send("agdbg/grew", nodes=row + 1, records=9 * row)
            await screen.stop(row)
            await screen.until(lambda row=row: screen.app.panes.boxes.selected == row + 1)
            assert screen.app.lanes.pages.counter == row and f"#{row + 1}" in screen.text

    drive(shown, script, size=size, nodes=61)


def stands(screen):
    """Whether the box of the row where the program stands is selected, marked, and all of it in sight."""
    boxes, row = screen.app.panes.boxes, screen.app.lanes.pages.row(screen.app.lanes.pages.counter)
    if boxes._canvas is None or boxes.selected not in boxes._canvas.boxes:
        return False
    x, y, width, height = boxes._canvas.area(boxes.selected)
    left, top = boxes.scroll_offset
    is_seen = left <= x and x + width <= left + boxes.size.width and top <= y and y + height <= top + boxes.size.height
    return is_seen and boxes.selected == row["node"] and "┏▶" in screen.text


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)], ids=str)
def test_a_leaf_that_runs_next_is_at_the_box_of_a_node_that_uses_it(shown, size):
    async def script(screen):
        rows = screen.hub.do_rows
        await show(screen, 4)
        screen.hub.do_rows = lambda **how: rows(**how) | {"pcNode": 102}
        await screen.stop(1)
        await screen.until(lambda: stands(screen))
        await screen.press("up")
        await screen.until(lambda: screen.app.panes.boxes.selected == screen.app.lanes.selected_node == 1)

    drive(shown, script, size=size)


@pytest.mark.parametrize("depth", [0, 1])
def test_a_step_in_a_node_leads_back_to_it(shown, depth):
    async def script(screen):
        await show(screen)
        boxes = screen.app.panes.boxes
        for _ in range(depth):
            await screen.press("space")
            await screen.until(lambda: boxes.depth == 1)
        await screen.press("up", "up", *["shift+down"] * 5)
        await screen.until(lambda: screen.app.lanes.cursor == 4)
        await screen.press("s")
        await screen.stop(6)
        await screen.until(lambda: stands(screen))

    drive(shown, script)


def test_jumps_are_followed_and_keys_stay_with_the_boxes(shown):
    async def script(screen):
        await show(screen, 8)
        boxes, lanes = screen.app.panes.boxes, screen.app.lanes
        await screen.press("exclamation_mark")
        await screen.until(lambda: lanes.cursor != 8)
        await screen.until(lambda: boxes.selected == lanes.selected_node)
        await screen.press("full_stop")
        await screen.until(lambda: stands(screen))
        assert screen.app.focused is boxes
        await screen.press("slash", *"Relu", "enter")
        await screen.until(lambda: lanes.cursor == 2 and boxes.selected == 3)

    drive(shown, script)


def test_what_was_asked_for_before_does_not_lead_away_from_where_the_program_stands(shown):
    async def script(screen):
        await show(screen, 500)
        boxes = screen.app.panes.boxes
        old, asked = dict(boxes._body), boxes._asked
        boxes.follow(100, 100)
        boxes.put(old | {"cut": True}, asked)
        assert boxes.selected == 100
        boxes.outdate()
        assert boxes._asked == 100
        boxes.put(screen.hub.do_neighbourhood(100, 2), 100)
        assert boxes.selected == 100 and boxes.selected in boxes._canvas.boxes

    drive(shown, script, nodes=1000)


def test_fast_keys_go_on_from_the_box_that_they_have_led_to(shown):
    async def script(screen):
        await show(screen)
        boxes = screen.app.panes.boxes
        boxes.action_linked(-1)
        boxes.action_linked(-1)
        assert boxes.selected == 5
        for node in (7, 6):
            boxes.follow(node, 7)
            assert boxes.selected == 5
        boxes.follow(5, 7)
        boxes.follow(6, 7)
        assert boxes.selected == 6

    drive(shown, script)

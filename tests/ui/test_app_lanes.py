"""The lane view: rows on demand at a flat cost, following the program counter, and no work while nothing happens."""

import asyncio
from typing import get_args

import pytest
from agdbg_tests_driving import drive
from hypothesis import given
from hypothesis import strategies as st

from agdbg.protocol.errors import RequestFailed
from agdbg.protocol.vendor import State
from agdbg_ui.pages import PAGE, Pages
from agdbg_ui.text import cells, fit
from agdbg_ui.themes import node_look
from agdbg_ui.widgets.lane_columns import Columns
from agdbg_ui.widgets.lane_row import row_pieces, widen
from agdbg_ui.widgets.pass_profile import PassProfile

MILLION = 1_000_000


def row(index=0, **changes):
    made = {
        "row": index,
        "node": index + 1,
        "op": "MulBackward0",
        "cells": "├─●",
        "undrawn": [],
        "file": "/w/a.py",
        "line": 3,
        "text": "  y = x * w",
        "badges": [],
        "shape": "",
        "module": "",
        "saved": None,
        "gradient": None,
        "bad": False,
        "state": "pending",
        "order": None,
        "pass": 0,
        "breakpoint": False,
        "count": 1,
        "times": 0,
    }
    return made | changes


def text_of(made, counter_node=None, is_next=False, width=100):
    return texts_of([made], counter_node, is_next, width)[0]


def texts_of(rows, counter_node=None, is_next=False, width=100, script=""):
    """What rows on one screen show."""
    columns = Columns()
    columns.script = script
    for each in rows:
        widen(columns, each)
    shown = [fit(row_pieces(each, counter_node, is_next, columns, width), width) for each in rows]
    return ["".join(text for text, _ in pieces) for pieces in shown]


# ----- a row -----


def test_a_row_says_all_without_colour():
    states = get_args(State)
    marks = {text_of(row(state=state))[5] for state in states}
    assert len(marks) == len({node_look(state).word for state in states}) == len(states) and "?" not in marks
    assert text_of(row()).startswith("   ├─○ #1 MulBackward0")
    assert text_of(row(state="next"), is_next=True).startswith(" ▶ ├─▶ ")
    assert text_of(row(breakpoint=True)).startswith("●  ")
    assert text_of(row()).endswith("a.py:3 y = x * w")


def test_a_parameter_is_marked_when_its_gradient_was_added_and_when_it_is_next():
    badges = [
        {"text": "w", "node": 7, "state": "ran"},
        {"text": "b", "node": 8, "state": "pending"},
        {"text": "c", "node": 9, "state": "pending"},
    ]
    assert "[●w] [b] [▶c] " in text_of(row(badges=badges), counter_node=9, is_next=True)
    states = ("waiting", "ready", "running")
    waiting, ready, running = ([{"text": "w", "node": 7, "state": state}] for state in states)
    assert [text_of(row(badges=each)).split()[3] for each in (waiting, ready, running)] == ["[w]", "[◕w]", "[◉w]"]
    assert "[w0] [w1] [w2] [w3] +2 " in text_of(
        row(badges=[{"text": f"w{i}", "node": i, "state": "pending"} for i in range(6)])
    )


def test_producers_without_a_lane_are_named_by_their_rows():
    assert "↥1,8 +1 " in text_of(row(undrawn=[0, 7, 9]))


def test_a_row_of_an_unknown_place_has_none():
    assert text_of(row(file="", line=0, text="")).rstrip().endswith("MulBackward0")


def test_hostile_names_stay_on_their_line():
    text = text_of(row(op="a\nb\x1b[0m", cells="●", text="x\ty\r", badges=[{"text": "\u202e", "node": 1, "state": ""}]))
    assert text.isprintable()


@pytest.mark.parametrize("width", [44, 50, 60, 71, 80, 120, 200])
def test_the_number_of_a_line_is_never_cut(width):
    badges = [{"text": "from_input.weight", "node": 7, "state": "ran"}]
    file, text = "/home/me/digits_backward_twice.py", "features = model.encoder(images)"
    rows = [row(op="LogSoftmaxBackward0", file=file, line=line, text=text, badges=badges) for line in (7, 113)]
    short, long = texts_of(rows, width=width)
    assert ":113" in long
    assert short.index(":7 ") == long.index(":113") + 2  # numbers are right-aligned
    assert width < 80 or "#1 " in long  # the name of the file comes first
    assert width < 120 or "features" in long


@pytest.mark.parametrize("script", ["/w/a.py", "a.py", "./a.py", "../w/a.py"])
def test_the_programs_own_file_is_not_named(script):
    rows = [row(line=3), row(line=14), row(file="/w/layers.py"), row(file="/w/aa.py")]
    texts = texts_of(rows, script=script)
    assert [text.split("Backward0")[1].split()[0] for text in texts] == [":3", ":14", "layers.py:3", "aa.py:3"]
    assert len({text.index("y = x * w") for text in texts}) == 1
    assert "a.py:3" in texts_of(rows[:1])[0]


def test_parameters_yield_to_the_number_of_the_line():
    badges = [{"text": f"encoder.{name}.weight", "node": name, "state": "ran"} for name in range(9)]
    text = text_of(row(badges=badges, op="AddmmBackward0"), width=60)
    assert "[●encoder.0.weight] +8" in text
    assert "a.py:3" in text


SHAPE = {"shape": "float32[4]"}
KNOWN = {"shape": "float32[512, 48]", "module": "blocks.1.net", "saved": 3 << 20, "gradient": 2.5e-4}
WEIGHT = [{"text": "blocks.1.net.weight", "node": 9, "state": "ran"}]


@pytest.mark.parametrize("norm", ["nan", "inf"])
def test_a_norm_that_is_no_number_is_told_with_its_mark(norm):
    text = text_of(row(**{**KNOWN, "gradient": norm}), width=220)
    assert f"|g| {norm} !" in text and text.count("!") == 2
    profile = PassProfile()
    layer = {"name": "a", "node": 1, "parameters": 1, "largest": 1.0, "nans": 1, "infs": 0}
    profile.body = {"layers": [{**layer, "norm": norm}, {**layer, "norm": 1.0}]}
    shown = ["".join(text for text, _ in profile.layer(at, 60)) for at in range(2)]
    assert "!" in shown[0] and norm in shown[0] and "█" in shown[1]


def test_what_is_not_known_takes_no_room():
    assert text_of(row(), width=220).split() == ["├─○", "#1", "MulBackward0", "a.py:3", "y", "=", "x", "*", "w"]


@pytest.mark.parametrize(
    ("width", "there", "missing"),
    [
        (40, [":3"], ["[512, 48]", "|g|", "saves"]),
        (68, ["▃", "[512, 48]", "blocks.1.net", "[●weight]", ":3"], ["|g|", "saves", "float32"]),
        (118, ["▃", "[512, 48]", "blocks.1.net", "[●weight]", "|g| 0.00025", "y = x * w"], ["float32"]),
        (200, ["▃", "float32[512, 48]", "blocks.1.net", "[●weight]", "|g| 0.00025", "saves 3.0 MiB", "y = x * w"], []),
    ],
)
def test_columns_come_with_the_width_at_hand(width, there, missing):
    text = text_of(row(badges=WEIGHT, **KNOWN), width=width)
    assert [each for each in there if each not in text] == []
    assert [each for each in missing if each in text] == []


def test_the_number_of_a_node_takes_no_room_from_its_op():
    known = row(badges=WEIGHT, **KNOWN) | {"node": 1234, "op": "NativeLayerNormBackward0", "line": 10}
    others = [row(badges=WEIGHT, **KNOWN) | {"node": 7}, row() | {"count": 5, "op": "blocks.1 (Block)"}]
    ops = {width: text_of(known, width=width) for width in range(60, 221)}
    assert all("NativeLayerNormBackwa" in text for text in ops.values() if "#1234" in text)
    assert "#1234" not in ops[64] and all("#1234" in ops[width] for width in range(80, 221))
    full, short, fold = texts_of([known, *others], width=90)
    assert full.index("Native") == short.index("MulBackward0") and "#" not in fold


def test_a_parameter_is_named_in_full_where_its_module_is_not():
    assert "[●blocks.1" in text_of(row(badges=WEIGHT, **KNOWN | {"module": ""}), width=80)
    others = [{"text": "blocks.10.weight", "node": 9, "state": "ran"}]
    assert "blocks.1 " in text_of(row(badges=others, module="blocks.1"), width=100)
    assert "[●blocks.10.weight]" in text_of(row(badges=others, module="blocks.1"), width=100)


def test_the_height_of_a_norm_tells_its_power_of_ten():
    norms = [0.0, 1e-9, 2e-5, 2e-4, 2e-3, 2e-2, 0.2, 2.0, 2e5]
    texts = texts_of([row(gradient=norm) for norm in norms] + [row(gradient=1.0, bad=True), row()], width=60)
    assert [text.split()[3] for text in texts] == [*"0▁▂▃▄▅▆▇█!", "a.py:3"]


def test_a_long_op_is_whole_where_nothing_else_takes_the_room():
    long = "NearestNeighbourUpsampleBackward"
    assert f" {long} " in text_of(row(op=long), width=80)
    assert f" {long} " not in text_of(row(op=long), width=44)
    assert "a.py:3 y = x * w" in text_of(row(op=long), width=68)


WIDE = st.text(alphabet="a.漢👍🏽❤\ufe0f\u0301็ \t[b]\x1b", max_size=30)


@given(ops=st.lists(WIDE, min_size=2, max_size=4), module=WIDE, name=WIDE, text=WIDE, width=st.integers(40, 220))
def test_columns_stand_below_each_other_whatever_is_in_them(ops, module, name, text, width):
    badges = [{"text": name, "node": 9, "state": "ran"}]
    shown = texts_of([row(op=op, module=module, badges=badges, text=text, **SHAPE) for op in ops], width=width)
    assert all(cells(line) <= width for line in shown)
    assert len({cells(line.partition(":3")[0]) for line in shown}) == 1


def test_columns_stand_below_each_other():
    rows = [row(badges=WEIGHT, **KNOWN), row(), row(file="", line=0, text="", **KNOWN)]
    for width in (68, 80, 118, 200):
        full, bare, placeless = texts_of(rows, width=width)
        assert bare.index("a.py:3") == full.index("a.py:3")
        assert placeless.index("[512, 48]") == full.index("[512, 48]")


def test_long_names_have_the_width_that_is_free_and_keep_their_ends():
    names = ("encoder.layers.0.attn.q_proj.weight", "encoder.layers.0.attn.q_proj.bias")
    badges = [{"text": name, "node": at, "state": "pending"} for at, name in enumerate(names)]
    wide, narrow = (
        text_of(row(badges=badges, op="AddmmBackward0", text="q = f(x)"), width=width) for width in (160, 90)
    )
    assert all(f"[{name}]" in wide for name in names)
    assert ".weight] [enc" in narrow and ".q_proj.bias]" in narrow and "a.py:3 q = f(x)" in narrow


@pytest.mark.parametrize("width", [74, 78, 84])
def test_badges_take_what_nothing_else_takes(width):
    badges = [
        {"text": name, "node": at, "state": "ran"} for at, name in enumerate(["blocks.0.weight", "blocks.0.bias"])
    ]
    text = text_of(row(badges=badges, text="y = m(x)"), width=width)
    assert "[●blocks.0.weight] [●blocks.0.bias]" in text and text.endswith("a.py:3 y = m(x)")


def test_the_view_learns_which_file_is_the_programs_own(shown):
    async def script(screen):
        await screen.stop(6)
        assert " :10 loss = (error" in screen.text
        assert " :8 scores" in screen.text or "  :8 scores" in screen.text

    drive(shown, script, size=(160, 48))


# ----- pages -----


def body(start, count, total=1000, pc=None):
    rows = [row(index) for index in range(start, min(start + count, total))]
    return {"total": total, "start": start, "rows": rows, "pc": pc, "pcNode": None}


def test_pages_ask_once_for_what_is_seen():
    pages = Pages()
    assert pages.wanted(0, 20) == (0, PAGE)
    pages.put(body(0, PAGE), pages.age)
    assert pages.wanted(0, 20) is None
    assert pages.wanted(PAGE - 1, PAGE) == (PAGE, PAGE)
    pages.outdate()
    assert pages.row(3)["row"] == 3
    assert pages.wanted(0, 20) == (0, PAGE)


def test_an_answer_that_is_older_than_the_last_change_is_asked_for_again():
    pages = Pages()
    age = pages.age
    pages.outdate()
    pages.put(body(0, PAGE), age)
    assert pages.wanted(0, 20) == (0, PAGE)


def test_an_empty_graph_is_asked_for_once():
    pages = Pages()
    pages.put(body(0, 0, total=0), pages.age)
    assert pages.wanted(0, 20) is None
    pages.outdate()
    assert pages.wanted(0, 20) == (0, PAGE)


def test_an_answer_that_is_shorter_than_it_should_be_is_not_asked_for_again():
    pages = Pages()
    pages.put({**body(0, 5), "total": 1000}, pages.age)
    assert pages.wanted(0, 20) is None
    assert pages.row(7) is None


def test_pages_forget_what_was_seen_long_ago():
    pages = Pages()
    for start in range(0, MILLION, PAGE):
        pages.put({"total": MILLION, "start": start, "rows": [], "pc": None, "pcNode": None}, pages.age)
    assert len(pages._pages) < 1000


# ----- the view -----


def test_a_million_rows_scroll_with_few_requests(shown):
    async def script(screen):
        lanes = screen.app.lanes
        await screen.press("home")
        before = len(screen.hub.asked("agdbg/rows"))
        jumps = 40
        for at in range(jumps):
            lanes.scroll_to(y=at * (MILLION // jumps), animate=False, immediate=True)
            await screen.pilot.pause(0)
        await screen.until(lambda: lanes.wanted is None)
        asked = screen.hub.asked("agdbg/rows")[before:]
        assert len(asked) <= 2 * jumps
        assert all(each["count"] <= 3 * PAGE for each in asked)
        assert f"Op{lanes.top_row}Backward0" in screen.text

    drive(shown, script, nodes=MILLION)


def test_while_an_answer_is_awaited_only_the_newest_place_is_asked_for(shown):
    async def script(screen):
        lanes = screen.app.lanes
        await screen.press("home")
        gate = screen.hub.held["agdbg/rows"] = asyncio.Event()
        before = len(screen.hub.asked("agdbg/rows"))
        for at in range(1, 50):
            lanes.scroll_to(y=at * 10_000, animate=False, immediate=True)
            await screen.pilot.pause(0)
        assert "row 490,001" in screen.text  # its place is shown meanwhile
        assert len(screen.hub.asked("agdbg/rows")) - before == 1
        gate.set()
        await screen.until(lambda: lanes.wanted is None)
        assert len(screen.hub.asked("agdbg/rows")) - before <= 3

    drive(shown, script, nodes=MILLION)


def test_keys_move_the_cursor_from_end_to_end(shown):
    async def script(screen):
        lanes = screen.app.lanes
        await screen.press("end")
        assert lanes.cursor == MILLION - 1
        await screen.press("pageup", "up")
        assert MILLION - 40 < lanes.cursor < MILLION - 2
        await screen.press("home", "down", "down", "pagedown", "pageup")
        assert lanes.cursor == 2
        await screen.until(lambda: lanes.selected is not None)

    drive(shown, script, nodes=MILLION)


def test_a_click_selects_a_row_and_the_inspector_shows_it(shown):
    async def script(screen):
        await screen.stop(11)
        await screen.pilot.click("#lanes", offset=(20, 3))
        await screen.settle()
        lanes = screen.app.lanes
        assert lanes.cursor == lanes.top_row + 3
        assert f"#{lanes.cursor + 1}" in screen.text

    drive(shown, script)


def test_the_view_follows_the_counter_over_a_long_way(shown):
    async def script(screen):
        lanes = screen.app.lanes
        for at in (500_000, 499_999, 10):
            await screen.stop(at)
            assert lanes.cursor == at
            assert lanes.top_row <= at < lanes.top_row + lanes.visible_rows
            assert f"Op{at}Backward0" in screen.text

    drive(shown, script, nodes=MILLION)


def test_what_runs_next_is_in_sight_above_the_counter_as_it_climbs(shown):
    async def script(screen):
        lanes = screen.app.lanes
        await screen.stop(500)
        for _ in range(30):
            screen.app.action_step("next")
            await screen.settle()
            assert lanes.cursor > lanes.top_row

    drive(shown, script, nodes=1000)


def test_whoever_scrolls_away_is_left_in_peace_and_told_the_way_back(shown):
    async def script(screen):
        lanes = screen.app.lanes
        await screen.stop(500)
        await screen.press("home")
        assert "stands at row 501: . " in screen.text
        await screen.stop(499)  # without a step: another client's
        assert lanes.top_row == 0
        assert "stands at row 500: . " in screen.text
        await screen.press("end")
        assert "↑ stands at row 500: . " in screen.text
        await screen.press("full_stop")
        assert lanes.cursor == 499
        assert "stands at row" not in screen.text

    drive(shown, script, nodes=1000)


def test_a_step_leads_back_to_where_the_program_stands_until_something_else_is_selected(shown):
    async def script(screen):
        lanes = screen.app.lanes
        await screen.stop(500)
        await screen.press("home")
        for counter in (499, 498):
            await screen.press("n")
            await screen.until(lambda at=counter: lanes.cursor == at)
        await screen.until(lambda: "#499" in screen.text)  # so does the inspector
        await screen.press("home")
        screen.app.lanes.outdate()
        await screen.until(lambda: lanes.wanted is None)
        assert lanes.cursor == 0
        screen.hub.refuse["next"] = RequestFailed("no")
        await screen.press("n")
        screen.app.lanes.outdate()
        await screen.until(lambda: lanes.wanted is None)
        assert lanes.cursor == 0

    drive(shown, script, nodes=1000)


def test_rows_of_a_program_that_outruns_the_screen_are_real(shown):
    async def script(screen):
        hub, lanes = screen.hub, screen.app.lanes
        answer, tops = hub.do_rows, set()

        def grown(**wanted):
            body = answer(**wanted)
            hub.size += 1000
            return body | {"total": hub.size}

        hub.do_rows = grown
        while len(tops) < 4:
            hub.send("agdbg/grew", nodes=hub.size, records=hub.size)
            await screen.pilot.pause()
            assert "· row" not in screen.text
            tops.add(lanes.top_row)
        del hub.do_rows
        await screen.until(lambda: lanes.cursor == hub.size - 1)  # the newest, once it comes to rest
        assert f"Op{hub.size - 1}Backward0" in screen.text

    drive(shown, script, nodes=100)


def test_a_running_program_shows_its_newest_nodes_until_one_looks_elsewhere(shown):
    async def script(screen):
        lanes = screen.app.lanes
        for size in (100, 5000):
            screen.hub.size = size
            screen.hub.send("agdbg/grew", nodes=size, records=2 * size)
            await screen.until(lambda: lanes.row_count == screen.hub.size)
            await screen.settle()
            assert f"Op{size - 1}Backward0" in screen.text
        await screen.press("home")
        screen.hub.size = 9000
        screen.hub.send("agdbg/grew", nodes=9000, records=18000)
        await screen.until(lambda: lanes.row_count == 9000)
        assert lanes.cursor == 0

    drive(shown, script, nodes=10)


def test_a_node_that_is_marked_and_runs_next_has_both_marks(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.press("m")
        await screen.until(lambda: screen.app.lanes.marked)
        assert next(line for line in screen.lines() if "▶" in line).startswith(" ▶◆")
        await screen.press("m", "up", "m")
        assert "▶ " in screen.text

    drive(shown, script)


def test_a_leaf_that_runs_next_is_inspected_and_marked_on_its_row(shown):
    async def script(screen):
        rows = screen.hub.do_rows
        screen.hub.do_rows = lambda **how: rows(**how) | {"pcNode": 102}
        screen.hub.do_node = lambda node, threadId=None: {
            "node": node,
            "op": "AccumulateGrad",
            "row": None,
            "file": "",
            "line": 0,
            "text": "",
            "state": "pending",
            "pass": 0,
            "gradient": None,
            "sections": [],
        }
        await screen.stop(1)
        await screen.until(lambda: "AccumulateGrad  #102" in screen.text)
        assert "[▶bias]" in screen.text

    drive(shown, script)


def test_a_gradient_that_is_seen_at_a_stop_stays_in_its_row(shown):
    async def script(screen):
        inside = screen.hub.do_node
        screen.hub.do_node = lambda **how: inside(**how) | {"gradient": 0.02 if how["node"] == 7 else None}
        rows = screen.hub.do_rows
        screen.hub.do_rows = lambda **how: (
            (body := rows(**how)) | {"rows": [row | {"gradient": None} for row in body["rows"]]}
        )
        await screen.stop(6)
        await screen.until(lambda: screen.app.lanes.selected["gradient"] == 0.02)
        for changed in (0.5, "nan", 0.02):
            screen.app.lanes.note_gradient(7, changed, pass_id=1)
            assert screen.app.lanes.selected["gradient"] == changed
        await screen.until(lambda: "▅" in next(line for line in screen.lines() if "▶ │ ▶" in line))
        await screen.stop(5)
        await screen.until(lambda: screen.app.lanes.pages.row(6)["gradient"] == 0.02)
        assert screen.app.lanes.pages.row(5)["gradient"] is None

    drive(shown, script)


@pytest.mark.parametrize("taken", [{"state": "waiting"}, {"state": "pending", "pass": 0}, {"pass": 2}])
def test_a_gradient_that_was_taken_back_or_is_of_another_pass_is_not_in_its_row(shown, taken):
    async def script(screen):
        inside, rows, more = screen.hub.do_node, screen.hub.do_rows, {}
        screen.hub.do_node = lambda **how: inside(**how) | {"gradient": 0.02 if how["node"] == 7 else None, "bad": True}
        screen.hub.do_rows = lambda **how: (
            (body := rows(**how))
            | {"rows": [row | {"gradient": None} | (more if row["node"] == 7 else {}) for row in body["rows"]]}
        )
        await screen.stop(6)
        await screen.until(lambda: screen.app.lanes.selected["gradient"] == 0.02)
        more.update(taken)
        await screen.stop(5)
        await screen.until(lambda: screen.app.lanes.cursor == 5)
        row = screen.app.lanes.pages.row(6)
        assert (row["gradient"], row["bad"]) == (None, False)
        more.clear()
        await screen.stop(4)
        await screen.until(lambda: screen.app.lanes.cursor == 4)
        assert screen.app.lanes.pages.row(6)["gradient"] == 0.02

    drive(shown, script)


def test_what_is_seen_to_go_out_of_a_node_marks_its_row(shown):
    async def script(screen):
        inside = screen.hub.do_node
        screen.hub.do_node = lambda **how: inside(**how) | {"gradient": 1.0, "bad": how["node"] == 7}
        rows = screen.hub.do_rows
        screen.hub.do_rows = lambda **how: (
            (body := rows(**how)) | {"rows": [row | {"gradient": None} for row in body["rows"]]}
        )
        await screen.stop(6)
        await screen.until(lambda: screen.app.lanes.selected["bad"])
        await screen.until(lambda: "!" in next(line for line in screen.lines() if "▶ │ ▶" in line))
        await screen.stop(5)
        await screen.until(lambda: screen.app.lanes.pages.row(6)["bad"])
        assert not screen.app.lanes.pages.row(5)["bad"]

    drive(shown, script)


def test_many_events_make_few_requests(shown):
    async def script(screen):
        before = len(screen.hub.requests)
        for number in range(500):
            screen.hub.send("agdbg/grew", nodes=number, records=number)
        await screen.settle()
        assert len(screen.hub.requests) - before < 12

    drive(shown, script)


@pytest.mark.painted
@pytest.mark.parametrize("state", ["stopped", "ended"])
def test_nothing_is_drawn_or_asked_while_nothing_happens(shown, state):
    async def script(screen):
        await screen.stop(6)
        if state == "ended":
            screen.hub.end(0)
        await screen.settle()
        await screen.pilot.pause(0.3)
        drawn = []
        display = screen.app._display
        screen.app._display = lambda *how: (drawn.append(how), display(*how))
        before = len(screen.hub.requests)
        await asyncio.wait([asyncio.create_task(asyncio.Event().wait())], timeout=1.5)
        assert drawn == []
        assert len(screen.hub.requests) == before

    drive(shown, script)

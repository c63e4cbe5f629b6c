"""The inspector: what it shows of a node, folding, and what Enter asks for."""

import pytest
from agdbg_tests_driving import PaneHost, drive_pane, seen

from agdbg_ui.widgets.inspector import Inspector


class Host(PaneHost):
    def __init__(self, pane):
        super().__init__(pane)
        pane.on_set = lambda entry: self.got.append(("set", entry["name"]))

    def on_inspector_goto(self, message):
        self.got.append(("goto", message.node))

    def on_inspector_value_wanted(self, message):
        self.got.append(("value", message.entry["name"]))


def drive(pane, script, size=(60, 20)):
    drive_pane(Host(pane), script, size)


def entry(name, value, state="", reference=0):
    return {"name": name, "value": value, "type": "", "reference": reference, "state": state}


def body(node=12, state="next", **sections):
    made = {
        "Gradients in": [entry("grad 0", "float64 [3, 4]  min -1.2  max 3.4  mean 0.1  norm 5.6", reference=7)],
        "Gradients out": [],
        "Saved tensors": [
            entry("self", "modified: version 0 saved, 1 now  float64 [3, 4]", "modified"),
            entry("result", "float64 [3, 4]", "freed"),
        ],
        "Next edges": [entry("0", "AddBackward0 #11, input 0"), entry("1", "none")],
        "Node": [entry("thread", "MainThread")],
    } | sections
    return {
        "node": node,
        "op": "MulBackward0",
        "row": 11,
        "file": "/home/me/model.py",
        "line": 14,
        "text": "    y = x * w",
        "state": state,
        "sections": [{"name": name, "entries": entries} for name, entries in made.items()],
    }


def test_what_is_copied_of_a_value_is_all_of_it_however_it_is_wrapped():
    async def script(app, pilot):
        app.pane.show(body())
        for _ in range(2):
            texts = [app.pane.row_text(at) for at in range(app.pane.row_count)]
            assert "grad 0  float64 [3, 4]  min -1.2  max 3.4  mean 0.1  norm 5.6" in texts
            assert "self  modified: version 0 saved, 1 now  float64 [3, 4]" in texts
            await pilot.press("down", "right")

    drive(Inspector(), script, size=(30, 20))


def test_it_says_when_there_is_nothing():
    async def script(app, pilot):
        assert seen(app.pane)[0] == "no node is selected"
        await pilot.press("enter", "left", "right", "down", "end", "pageup")
        app.pane.show(body())
        app.pane.show(None)
        assert seen(app.pane)[0] == "no node is selected"
        assert app.got == []

    drive(Inspector(), script)


def test_it_shows_the_node_and_marks_what_was_modified_or_freed():
    async def script(app, pilot):
        app.pane.show(body())
        lines = seen(app.pane)
        assert lines[0] == "MulBackward0  #12  ▶ runs next"
        assert lines[1] == "model.py:14  y = x * w"
        assert lines[2] == "▾ Gradients in  1"
        assert lines[4] == "▾ Gradients out  none"
        assert lines[6].startswith("  ≠ self    modified: version 0 saved, 1 now  float64 [3, 4]")
        assert lines[7].startswith("  ✗ result  freed  float64 [3, 4]")

    drive(Inspector(), script, size=(80, 20))


def test_the_versions_are_seen_in_a_narrow_pane():
    async def script(app, pilot):
        app.pane.show(body())
        lines = seen(app.pane)
        at = lines.index("  ≠ self    modified: version 0")
        assert lines[at + 1] == "      saved, 1 now  float64 [3, 4]"
        assert all(len(line) <= 38 for line in seen(app.pane))

    drive(Inspector(), script, size=(38, 20))


def test_a_value_goes_on_below_where_its_line_has_no_room():
    async def script(app, pilot):
        app.pane.show(body())
        lines = seen(app.pane)
        assert lines[3:5] == ["    grad 0  float64 [3, 4]  min -1.2 ✎", "      max 3.4  mean 0.1  norm 5.6"]
        await pilot.press("down", "down")
        assert seen(app.pane)[app.pane.cursor + 2].startswith("▾ Gradients out")  # one entry is one step
        for _ in range(2):
            await pilot.click(Inspector, offset=(8, 4))
        await pilot.pause()
        assert app.got == [("set", "grad 0")]  # on its second line, too
        await pilot.resize_terminal(80, 20)
        await pilot.pause()
        assert seen(app.pane)[3] == "    grad 0  float64 [3, 4]  min -1.2  max 3.4  mean 0.1  norm 5.6 ✎"

    drive(Inspector(), script, size=(46, 20))


def test_a_value_below_is_bounded_and_edges_stay_on_one_line():
    long = "  ".join(f"part {number}" for number in range(100))
    saved, edges = [entry("a", long, "ok")], [entry("0", "AddmmBackward0 #462 at " + "x" * 50)]

    async def script(app, pilot):
        app.pane.show(body(**{"Saved tensors": saved, "Next edges": edges}))
        lines = seen(app.pane)
        at = lines.index("▾ Saved tensors  1")
        assert lines[at + 4].endswith("…") and not lines[at + 4].endswith("……")
        assert lines[at + 5] == "▾ Next edges  1"
        assert lines[at + 7] == "▾ Node  1"

    drive(Inspector(), script, size=(46, 20))


def test_the_title_stays_while_the_rest_scrolls():
    async def script(app, pilot):
        app.pane.show(body())
        await pilot.press("end")
        await pilot.pause()
        assert seen(app.pane)[0].startswith("MulBackward0")
        assert "MainThread" in seen(app.pane)[-1]

    drive(Inspector(), script, size=(60, 5))


def test_enter_asks_to_change_a_gradient_only_of_the_node_that_runs_next():
    async def script(app, pilot):
        app.pane.show(body())
        await pilot.press("down", "enter")
        await pilot.pause()
        assert app.got == [("set", "grad 0")]
        app.pane.show(body(state="ran"))
        await pilot.press("enter")
        await pilot.pause()
        assert app.got == [("set", "grad 0"), ("value", "grad 0")]

    drive(Inspector(), script)


def test_enter_on_an_edge_goes_to_its_node_and_to_none_where_it_ends():
    async def script(app, pilot):
        app.pane.show(body())
        for _ in range(7):
            await pilot.press("down")
        await pilot.press("enter", "down", "enter")
        await pilot.pause()
        assert app.got == [("goto", 11)]

    drive(Inspector(), script)


@pytest.mark.parametrize("key", ["enter", "left"])
def test_a_folded_section_stays_folded_for_the_next_node(key):
    async def script(app, pilot):
        app.pane.show(body())
        await pilot.press("down", "down", "down", key)
        assert not any("self" in line for line in seen(app.pane))
        app.pane.show(body(node=13))
        assert "▸ Saved tensors  2" in seen(app.pane)
        await pilot.press("right")
        assert any("self" in line for line in seen(app.pane))

    drive(Inspector(), script)


def test_the_cursor_stays_on_its_entry_from_node_to_node():
    async def script(app, pilot):
        app.pane.show(body())
        for _ in range(5):
            await pilot.press("down")
        app.pane.show(body(node=13, **{"Gradients in": []}))
        await pilot.press("right")
        assert "result" in seen(app.pane)[app.pane.cursor + 2]

    drive(Inspector(), script)


def test_a_long_value_unfolds_over_several_lines_and_is_bounded():
    async def script(app, pilot):
        app.pane.show(body(**{"Node": [entry("big", "0123456789" * 100_000)]}))
        folded = app.pane.row_count
        await pilot.press("end", "right")
        lines = [line for line in seen(app.pane) if line.strip().startswith("0123456789")]
        assert len(lines) >= 1
        assert app.pane.row_count < 40
        await pilot.press("left")
        assert app.pane.row_count == folded

    drive(Inspector(), script)


def test_hostile_text_is_shown_harmlessly():
    async def script(app, pilot):
        app.pane.show(
            body(**{"Node": [entry("[bold]\x1b[31m", "a\nb\x00\u202e[/]漢字" * 50)]})
            | {"op": "[red]\n\x1b]0;x\x07" * 20}
        )
        assert all(line.isprintable() for line in seen(app.pane))
        assert "[red]␊" in seen(app.pane)[0]

    drive(Inspector(), script, size=(38, 20))


def test_a_node_at_an_unknown_place_and_an_unknown_state():
    async def script(app, pilot):
        app.pane.show(body(state="strange") | {"file": "", "line": 0, "text": ""})
        assert seen(app.pane)[:2] == ["MulBackward0  #12  ? strange", "made at an unknown line"]

    drive(Inspector(), script)


def test_a_gradient_that_is_not_there_is_not_offered_for_a_change():
    async def script(app, pilot):
        app.pane.show(body(**{"Gradients in": [entry("0", "not captured")]}))
        assert seen(app.pane)[3] == "    0  not captured"
        await pilot.press("down", "enter")
        assert app.got == [("value", "0")], "who is asked for it says why there is none"

    drive(Inspector(), script)


def test_a_click_moves_the_cursor_and_a_second_one_chooses():
    async def script(app, pilot):
        app.pane.show(body())
        await pilot.click(Inspector, offset=(5, 3))
        assert app.got == []
        await pilot.click(Inspector, offset=(5, 3))
        await pilot.pause()
        assert app.got == [("set", "grad 0")]

    drive(Inspector(), script)


def test_what_is_shown_before_the_pane_is_mounted_is_there():
    pane = Inspector()
    pane.show(body())

    async def script(app, pilot):
        assert seen(pane)[0].startswith("MulBackward0")

    drive(pane, script)

"""Keys that are pressed faster than the screen follows: nothing breaks, and nothing is done twice."""

import asyncio
import os

import pytest
from agdbg_tests_driving import drive
from textual.command import CommandList

from agdbg.protocol.errors import RequestFailed
from agdbg_ui.screens.export import ExportScreen
from agdbg_ui.screens.help import HelpScreen
from agdbg_ui.screens.question import Question
from agdbg_ui.widgets.program_input import ProgramInput

pytestmark = pytest.mark.painted


def stack(screen):
    return [type(each) for each in screen.app.screen_stack[1:]]


def barrier():
    details = {"id": 1, "format": "{text}", "variables": {"text": "hooks", "code": "barrier"}}
    return RequestFailed("ReluBackward0 has user hooks", "stepBack", {"error": details})


@pytest.mark.parametrize(
    ("key", "answers"),
    [
        ("q", ["s", "s"]),
        ("q", ["s", "k", "k"]),
        ("q", ["enter", "enter"]),
        ("q", ["escape", "s", "enter", "escape"]),
        ("e", ["escape", "escape"]),
        ("x", ["escape", "escape"]),
        ("x", ["q", "enter", "escape"]),
        ("E", ["E", "escape", "escape"]),
        ("question_mark", ["enter", "escape", "enter"]),
    ],
    ids="-".join,
)
def test_what_lies_over_the_screen_is_left_once(shown, key, answers):
    async def script(screen):
        await screen.stop(6)
        await screen.press(key)
        assert len(stack(screen)) == 1
        await screen.at_once(*answers)
        assert screen.app.is_running
        assert stack(screen) == []
        assert screen.hub.asked("disconnect") == []

    drive(shown, script)


@pytest.mark.parametrize(
    "keys",
    ["q q", "q s s", "q escape escape", "x escape escape", "x x x", "e escape escape", "E E", "E space space escape"]
    + [
        "question_mark question_mark",
        "question_mark q q",
        "colon escape escape",
        "B enter escape escape",
        "i escape n",
    ],
    ids=lambda keys: keys.replace(" ", "-"),
)
def test_keys_that_come_while_a_screen_is_made(shown, keys):
    async def script(screen):
        await screen.stop(6)
        await screen.at_once(*keys.split())
        assert screen.app.is_running
        assert len(stack(screen)) <= 1
        await screen.press("escape", "escape")
        assert stack(screen) == []

    drive(shown, script)


@pytest.mark.parametrize("first", ["colon", "slash", "B", "i", "full_stop"])
@pytest.mark.parametrize("then", ["colon", "slash", "B", "i"])
def test_a_line_that_opens_at_once_behind_another_one_has_the_keys(shown, first, then):
    async def script(screen):
        await screen.stop(6)
        await screen.at_once(first, *([] if first == "full_stop" else ["escape"]), then, *"nsq")
        line = screen.app.output.query_one(ProgramInput) if then == "i" else screen.app.prompt.line
        assert line.value == "nsq"
        assert screen.app.focused is line
        assert screen.hub.asked("next") == [] and stack(screen) == []
        await screen.press("escape")
        assert not screen.app.prompt.has_class("-open") and not screen.app.output.input_mode

    drive(shown, script)


@pytest.mark.parametrize("pane", ["stops", "inspector"])
def test_what_is_typed_behind_a_key_of_a_pane_that_opens_a_line_goes_into_that_line(shown, pane):
    async def script(screen):
        await screen.stop(6)
        panes = screen.app.panes
        if pane == "stops":
            await screen.press("b", "7")
            await screen.until(lambda: panes.stops.items)
            panes.stops.cursor = next(at for at, each in enumerate(panes.stops.items) if each.number)
            await screen.at_once("equals_sign", *"nsq")
        else:
            await screen.press("1")
            await screen.until(lambda: panes.inspector.body is not None)
            inspector = panes.inspector
            inspector.cursor = next(
                at for at, row in enumerate(inspector._list) if row.entry is not None and inspector.editable(row)
            )
            await screen.at_once("enter", *"nsq")
        assert screen.app.prompt.line.value.endswith("nsq")
        assert screen.hub.asked("next") == [] and stack(screen) == []

    drive(shown, script)


def test_a_search_that_is_answered_late_does_not_close_the_next_one(shown):
    async def script(screen):
        await screen.stop(6)
        screen.hub.held["agdbg/find"] = asyncio.Event()
        await screen.press("slash", *"relu", "enter", "escape", "slash", "n")
        screen.hub.held["agdbg/find"].set()
        await screen.until(lambda: screen.app.lanes.cursor == 2)
        await screen.press("s")
        assert screen.app.prompt.line.value == "ns"
        assert screen.app.focused is screen.app.prompt.line

    drive(shown, script)


@pytest.mark.parametrize("keys", ["colon", "slash", "B"])
def test_what_is_typed_behind_the_end_of_a_line_is_a_key(shown, keys):
    async def script(screen):
        await screen.stop(6)
        await screen.at_once(keys, "x", "escape", "n")
        await screen.until(lambda: screen.hub.asked("next"))
        assert "x" in screen.app.prompt.line.value

    drive(shown, script)


def test_a_mark_behind_a_jump_is_set_where_the_jump_has_led(shown):
    async def script(screen):
        await screen.stop(6)
        here = screen.app.lanes.selected_node
        await screen.at_once("m", "u", "m")
        await screen.until(lambda: len(screen.app.lanes.marked) > 1)
        assert here in screen.app.lanes.marked and screen.app.lanes.selected_node in screen.app.lanes.marked

    drive(shown, script)


def test_a_jump_or_a_search_shows_the_node_where_the_graph_was_a_tree_of_modules(shown):
    async def script(screen):
        await screen.stop(6)
        for keys in (("u",), ("slash", *"relu", "enter")):
            await screen.press("v", "v")
            assert screen.app.panes.tree.display
            await screen.press(*keys)
            await screen.until(lambda: screen.app.lanes.display)
            assert screen.app.focused is screen.app.lanes

    drive(shown, script)


def test_the_first_answer_to_quitting_counts(shown):
    async def script(screen):
        await screen.stop(6)
        screen.hub.held["disconnect"] = asyncio.Event()
        await screen.press("q")
        await screen.at_once("k", "l", "k")
        await screen.press("q", "s")
        screen.hub.held["disconnect"].set()
        await screen.until(lambda: screen.app.return_value is not None)
        assert len(screen.hub.asked("terminate")) == 1
        assert screen.hub.asked("disconnect") == [{"terminateDebuggee": True}]

    result = drive(shown, script)
    assert (result.status, result.left_running) == (143, False)


@pytest.mark.parametrize("key", ["colon", "slash"])
def test_what_is_typed_behind_a_key_that_opens_a_line_goes_into_that_line(shown, key):
    async def script(screen):
        await screen.stop(6)
        await screen.at_once(key, *"next:e/it")
        assert screen.app.prompt.line.value == "next:e/it"
        assert screen.hub.asked("next") == []
        assert stack(screen) == []

    drive(shown, script)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
def test_what_is_typed_behind_the_number_of_a_pane_goes_to_that_pane(shown, size):
    async def script(screen):
        await screen.stop(6)
        panes = screen.app.panes
        await screen.at_once("4", "home", "1", "down", "down", "2", "up", "0", "up", "4", "down")
        assert panes.events.cursor == 1
        assert panes.inspector.cursor > 0
        assert screen.app.lanes.cursor == 5

    drive(shown, script, size=size)


def test_a_key_that_opens_a_line_is_a_letter_in_a_line_and_nothing_over_the_screen(shown):
    async def script(screen):
        await screen.press("i", "colon", "slash")
        assert screen.app.output.query_one(ProgramInput).value == ":/"
        await screen.press("escape", "question_mark", "colon")
        assert stack(screen) == [HelpScreen]
        await screen.press("escape")
        assert not screen.app.prompt.has_class("-open")

    drive(shown, script)


def test_an_export_is_written_once(shown, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def script(screen):
        await screen.press("e")
        await screen.at_once("enter", "enter", "enter")
        await screen.until(lambda: stack(screen) == [])
        assert os.listdir() == ["train-graph.svg"]
        assert len(screen.hub.asked("agdbg/export")) == 1

    drive(shown, script)


@pytest.mark.parametrize("leaving", ["enter", "escape"])
def test_the_palette_is_left_once(shown, leaving):
    async def script(screen):
        await screen.stop(6)
        before = len(screen.hub.asked("next"))
        await screen.press("ctrl+p")
        await screen.until(lambda: screen.app.screen.query_one(CommandList).highlighted is not None)
        await screen.at_once(leaving, leaving, leaving)
        await screen.until(lambda: stack(screen) == [])
        assert screen.app.is_running
        assert len(screen.hub.asked("next")) == before + (leaving == "enter")

    drive(shown, script)


@pytest.mark.parametrize("fails", [False, True])
def test_an_export_that_is_left_while_it_writes(shown, tmp_path, monkeypatch, fails):
    monkeypatch.chdir(tmp_path)

    async def script(screen):
        screen.hub.held["agdbg/export"] = asyncio.Event()
        if fails:
            screen.hub.refuse["agdbg/export"] = RequestFailed("no space left")
        await screen.press("e", "enter")
        await screen.at_once("escape", "escape", "question_mark")  # the first one cancels
        screen.hub.held["agdbg/export"].set()
        await screen.settle()
        assert ExportScreen not in stack(screen)
        assert screen.app.is_running
        assert os.listdir() == []

    drive(shown, script)


def test_stepping_back_twice_across_a_barrier_asks_once(shown):
    async def script(screen):
        await screen.stop(6)
        screen.hub.refuse["stepBack"] = barrier()
        await screen.at_once("p", "p", "p")
        await screen.until(lambda: len(screen.hub.asked("stepBack")) == 3)
        await screen.settle()
        assert stack(screen) == [Question]
        await screen.at_once("s", "s")
        assert stack(screen) == []

    drive(shown, script)


def test_an_explanation_that_comes_late_does_not_cover_a_question(shown):
    async def script(screen):
        await screen.stop(6)
        screen.hub.held["agdbg/findings"] = asyncio.Event()
        await screen.press("x", "q")
        screen.hub.held["agdbg/findings"].set()
        await screen.settle()
        assert stack(screen) == [Question]

    drive(shown, script)


def test_two_breakpoints_set_at_once_are_both_set(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.at_once("b", "up", "b")
        await screen.until(lambda: len(screen.hub.asked("setBreakpoints")) == 2)
        await screen.settle()
        assert sorted(screen.hub.lines["/srv/train.py"]) == [9, 10]

    drive(shown, script)


def test_a_page_that_is_opened_before_the_hub_has_answered(new_app, on_screen):
    async def main():
        gate = asyncio.Event()
        app = new_app()
        connect = app._connect

        async def late():
            await gate.wait()
            return await connect()

        app._connect = late
        async with app.run_test(size=(80, 24)) as pilot:
            screen = on_screen(app, pilot)
            await screen.at_once("question_mark", "E", "e")
            gate.set()
            await screen.ready()
            assert stack(screen) == [HelpScreen]
            await screen.press("escape")
            await screen.stop(6)
            assert "stopped before" in screen.title

    asyncio.run(main())

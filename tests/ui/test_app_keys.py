"""Every key of the table does what the help says."""

import os

import pytest
from agdbg_tests_driving import drive
from textual.widgets import Input

from agdbg.protocol.errors import RequestFailed
from agdbg_ui.keymap import KEYS, bindings, footer, footer_width
from agdbg_ui.panes import ZOOMED
from agdbg_ui.screens.export import ExportScreen
from agdbg_ui.screens.help import HelpScreen, help_text
from agdbg_ui.screens.page import Page
from agdbg_ui.screens.question import Question
from agdbg_ui.view import Stop, View
from agdbg_ui.widgets.key_line import KeyLine, keys_of
from agdbg_ui.widgets.output import OutputPane
from agdbg_ui.widgets.prompt import Prompt


def barrier():
    details = {"id": 1, "format": "{text}", "variables": {"text": "hooks", "code": "barrier"}}
    return RequestFailed(
        "ReluBackward0 has user hooks: what they did is not taken back", "stepBack", {"error": details}
    )


STEPS = {
    "n": "next",
    "p": "stepBack",
    "s": "stepIn",
    "o": "stepOut",
    "c": "continue",
    "r": "reverseContinue",
}


@pytest.mark.parametrize("key", STEPS)
def test_a_step_key_sends_its_request_for_the_thread(shown, key):
    async def script(screen):
        await screen.stop(6)
        await screen.press(key)
        assert screen.hub.asked(STEPS[key]) == [{"threadId": 1}]

    drive(shown, script)


def test_next_moves_the_counter_up_and_back_moves_it_down(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.press("n")
        await screen.until(lambda: screen.app.lanes.pages.counter == 5)
        assert screen.app.lanes.cursor == 5
        assert "stopped before SubBackward0" in screen.title
        assert "7 of 12" in screen.title
        await screen.press("p", "p")
        await screen.until(lambda: screen.app.lanes.pages.counter == 7)
        assert "stopped before MeanBackward0" in screen.title

    drive(shown, script)


def test_keys_pressed_faster_than_the_program_stops_all_count(shown):
    async def script(screen):
        await screen.stop(9)
        for _ in range(4):
            screen.app.action_step("next")
        await screen.until(lambda: screen.app.lanes.pages.counter == 5)
        assert len(screen.hub.asked("next")) == 4

    drive(shown, script)


def test_a_step_while_the_program_runs_is_not_sent(shown):
    async def script(screen):
        await screen.press("n")
        assert screen.hub.asked("next") == []
        assert "z stops it" in screen.text
        await screen.stop(9)
        assert "z stops it" not in screen.text  # it does not run any more

    drive(shown, script)


def test_pause_stops_a_running_program(shown):
    async def script(screen):
        await screen.press("z")
        await screen.until(lambda: screen.app.session.view.stop is not None)
        assert "stopped" in screen.title

    drive(shown, script)


def test_stepping_back_across_a_barrier_asks_first(shown):
    async def script(screen):
        await screen.stop(6)
        screen.hub.refuse["stepBack"] = barrier()
        await screen.press("p")
        assert isinstance(screen.app.screen, Question)
        assert "what they did is not taken back" in screen.text
        del screen.hub.refuse["stepBack"]
        await screen.press("enter")  # what is selected at first changes nothing
        assert screen.app.lanes.pages.counter == 6
        screen.hub.refuse["stepBack"] = barrier()
        await screen.press("p")
        del screen.hub.refuse["stepBack"]
        await screen.press("b")
        await screen.until(lambda: screen.app.lanes.pages.counter == 7)
        assert screen.hub.asked("stepBack")[-1] == {"threadId": 1, "force": True}

    drive(shown, script)


def test_a_breakpoint_is_set_on_the_line_of_the_selected_node_and_removed_again(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.press("up", "b")
        await screen.until(lambda: (screen.app.lanes.selected or {}).get("breakpoint"))
        path = screen.app.lanes.selected["file"]
        assert screen.hub.asked("setBreakpoints") == [{"source": {"path": path}, "breakpoints": [{"line": 9}]}]
        await screen.press("b")
        await screen.until(lambda: not screen.app.lanes.selected["breakpoint"])
        assert screen.hub.lines[path] == []

    drive(shown, script)


def test_a_breakpoint_on_a_name(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.press("B")
        assert screen.app.query_one(Prompt).line.value == "MulBackward0"
        await screen.press("enter")
        assert screen.hub.names == ["MulBackward0"]
        await screen.press("B", "enter")
        assert screen.hub.names == []

    drive(shown, script)


def test_search_goes_from_match_to_match_and_letters_are_text(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.press("slash", *"mean", "enter")
        assert screen.app.lanes.cursor == 7
        assert "row 8 of 12;" in screen.text
        await screen.press("slash", "enter")
        assert screen.app.lanes.cursor == 9
        await screen.press("slash", "down")
        assert screen.app.lanes.cursor == 7
        assert "row 8 of 12, round the end" in screen.text
        await screen.press("up")
        assert screen.app.lanes.cursor == 9
        assert "row 10 of 12, round the beginning" in screen.text
        await screen.press("escape", "g")
        assert screen.app.lanes.cursor == 6
        assert screen.hub.asked("next") == []

    drive(shown, script)


def test_a_search_without_a_match_says_so_and_stays(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.press("slash", *"conv", "enter")
        assert "no match for conv" in screen.text
        assert screen.app.lanes.cursor == 6

    drive(shown, script)


def test_evaluate_shows_results_and_errors_and_remembers(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.press("colon", *"loss", "enter")
        assert "str: <loss>" in screen.text
        assert screen.hub.asked("evaluate")[0]["frameId"] == 10000
        screen.app.query_one(Prompt).line.value = "boom"
        await screen.press("enter")
        assert "NameError: name 'boom'" in screen.text
        await screen.press("up", "up")
        assert screen.app.query_one(Prompt).line.value == "loss"

    drive(shown, script)


def test_evaluate_needs_a_stop(shown):
    async def script(screen):
        await screen.press("colon", *"loss", "enter")
        assert "the program runs; z stops it at its next node, where it can be evaluated" in screen.text
        assert screen.hub.asked("evaluate") == []

    drive(shown, script)


def test_a_gradient_is_replaced_from_the_inspector(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.press("1", "down", "enter", *"g*2", "enter")
        assert screen.hub.asked("setVariable") == [{"variablesReference": 77, "name": "input 0", "value": "g*2"}]
        assert "input 0 is now float64 [] g*2" in screen.text

    drive(shown, script)


def test_an_edge_in_the_inspector_leads_to_its_node(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.press("1", *["down"] * 7, "enter")
        assert screen.app.lanes.cursor == 5

    drive(shown, script)


def test_an_event_leads_to_its_node(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.press("4", "end", "up", "enter")
        assert screen.app.lanes.cursor == 5

    drive(shown, script)


def test_explain_shows_the_whole_diagnosis(shown):
    async def script(screen):
        await screen.stop(11, reason="exception", text="freed")
        await screen.until(lambda: "headline" in screen.text)
        await screen.press("x")
        assert isinstance(screen.app.screen, Page)
        assert "and the whole story" in screen.text
        await screen.press("escape")
        assert not isinstance(screen.app.screen, Page)

    drive(shown, script)


def test_what_failed_without_a_text_is_named(shown):
    async def script(screen):
        screen.hub.refuse["agdbg/findings"] = TimeoutError()
        await screen.press("x")
        await screen.until(lambda: "TimeoutError" in screen.text)
        assert not isinstance(screen.app.screen, Page)

    drive(shown, script)


def test_export_writes_and_asks_before_it_replaces(shown, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def script(screen):
        await screen.press("e", *"a.dot")
        assert screen.app.screen.query_one(Input).value == "a.dot"  # what is typed replaces the name
        await screen.press("escape", "e")
        assert isinstance(screen.app.screen, ExportScreen)
        await screen.press("enter")
        await screen.until(lambda: not isinstance(screen.app.screen, ExportScreen))
        assert os.listdir() == ["train-graph.svg"]
        await screen.press("e", "enter")
        assert "exists" in screen.app.screen.said
        assert len(screen.hub.asked("agdbg/export")) == 1
        await screen.press("enter")
        await screen.until(lambda: not isinstance(screen.app.screen, ExportScreen))
        assert screen.hub.asked("agdbg/export")[-1] == {"path": str(tmp_path / "train-graph.svg"), "overwrite": True}

    drive(shown, script)


def test_an_export_that_fails_says_why_and_can_be_tried_again(shown):
    async def script(screen):
        screen.hub.refuse["agdbg/export"] = RequestFailed("cannot write: no space left")
        await screen.press("e", "enter")
        await screen.until(lambda: "no space left" in screen.app.screen.said)
        await screen.press("escape")
        assert not isinstance(screen.app.screen, ExportScreen)

    drive(shown, script)


def test_numbers_and_tab_move_between_panes(shown):
    async def script(screen):
        for key, pane in (("1", "inspector"), ("2", "source"), ("4", "events"), ("0", "lanes")):
            await screen.press(key)
            assert screen.app.focused.id == pane
        await screen.press("3")
        assert screen.app.query_one(OutputPane) in screen.app.focused.ancestors
        await screen.press("escape")
        assert screen.app.focused.id == "lanes"
        await screen.press("tab")
        assert screen.app.focused.id != "lanes"
        await screen.press("shift+tab")
        assert screen.app.focused.id == "lanes"

    drive(shown, script)


def test_input_mode_types_letters_and_escape_leaves_it(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.press("i", *"nqb", "enter")
        assert screen.hub.asked("agdbg/input") == [{"text": "nqb\n"}]
        assert screen.hub.asked("next") == []
        await screen.press("ctrl+c")
        assert screen.hub.asked("agdbg/input")[-1] == {"text": "\x03"}
        await screen.press("escape", "n")
        await screen.until(lambda: screen.hub.asked("next"))

    drive(shown, script)


def test_ctrl_c_does_not_end_the_debugger(shown):
    async def script(screen):
        await screen.press("ctrl+c")
        assert screen.app.is_running
        assert "q quits" in screen.text

    drive(shown, script)


def test_help_shows_every_key(shown):
    async def script(screen):
        await screen.press("question_mark")
        assert isinstance(screen.app.screen, HelpScreen)
        assert "run the next node" in screen.text
        await screen.press("q")
        assert not isinstance(screen.app.screen, HelpScreen)

    text = help_text(200).plain
    assert all(key.help in text for key in KEYS)
    drive(shown, script)


def test_every_action_of_the_table_exists(shown):
    async def script(screen):
        for binding in bindings():
            name = binding.action.removeprefix("app.").partition("(")[0]
            assert hasattr(screen.app, f"action_{name}"), binding.action

    drive(shown, script)


def test_no_key_is_there_twice_and_none_is_one_that_tmux_or_a_shell_takes():
    keys = [key for binding in bindings() for key in binding.key.split(",")]
    assert len(keys) == len(set(keys))
    taken = {
        "ctrl+b",
        "ctrl+a",
        "ctrl+s",
        "ctrl+c",
        "ctrl+z",
        "ctrl+d",
        "ctrl+q",
        "ctrl+j",
        "ctrl+m",
        "ctrl+i",
        "ctrl+h",
    }
    assert not taken.intersection(keys)
    assert not any(key.startswith("alt") for key in keys)


@pytest.mark.parametrize("width", [20, 40, 80, 160])
def test_the_footer_fits(width):
    assert sum(map(footer_width, footer(KEYS, width))) <= width


def test_the_footer_of_a_usual_terminal_has_what_one_needs():
    assert {"n", "p", "c", "b", "/", "?", "q"} <= {key.shown for key in footer(KEYS, 80)}


def shown_keys(screen):
    return {key.shown for key in screen.app.query_one(KeyLine).keys}


def test_the_footer_offers_what_does_something_now(shown):
    steps = {"n", "p", "s", "o", "c"}

    async def script(screen):
        assert not shown_keys(screen) & steps
        assert {"z", "b", "i", ":", "?", "q"} <= shown_keys(screen)
        assert " z pause" in screen.lines()[-1]
        await screen.stop(6)
        assert steps <= shown_keys(screen)
        assert not shown_keys(screen) & {"z", "i"}
        screen.hub.end(0)
        await screen.until(lambda: screen.app.session.view.life == "ended")
        await screen.settle()
        assert shown_keys(screen) & (steps | {"b"}) == steps - {
            "c"
        }  # in the recording; nothing comes that could stop at b
        assert ":" in shown_keys(screen)
        screen.hub.die()
        await screen.until(lambda: screen.app.session.view.life == "lost")
        await screen.settle()
        assert shown_keys(screen) == {"x", "?", "q"}

    drive(shown, script, size=(160, 48))


def test_the_footer_of_the_input_line_has_its_keys_and_a_click_on_one_does_it(shown):
    async def script(screen):
        await screen.press("i", "a")
        assert screen.lines()[-1].split() == (
            ["Enter", "send", "Esc", "close", "^C", "interrupt", "^D", "end", "of", "input", "↑", "↓", "history"]
        )
        await screen.pilot.click("#keys", offset=(2, 0))
        await screen.until(lambda: screen.hub.asked("agdbg/input"))
        assert screen.hub.asked("agdbg/input") == [{"text": "a\n"}]
        await screen.pilot.click("#keys", offset=(screen.lines()[-1].index("^C"), 0))
        await screen.until(lambda: len(screen.hub.asked("agdbg/input")) == 2)
        await screen.pilot.click("#keys", offset=(screen.lines()[-1].index("Esc"), 0))
        await screen.settle()
        assert "Enter send" not in screen.lines()[-1]
        assert "z" in shown_keys(screen)

    drive(shown, script)


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120])
def test_the_keys_of_every_state_fit(width):
    for life in ("starting", "running", "stopped", "ended", "trace", "lost"):
        for stop in (None, Stop(1, "step", "")):
            assert sum(map(footer_width, keys_of(View(life, stop=stop), width))) <= width


@pytest.mark.parametrize("key", ["full_stop", "g"])
def test_back_to_where_the_program_stands_also_leaves_the_recording(shown, key):
    async def script(screen):
        screen.hub.stop(3)
        await screen.settle()
        screen.hub.stop(8, recorded=True)
        await screen.settle()
        assert screen.app.session.view.stop.is_recorded
        await screen.press("7")
        assert "; looked at: in the recording" in screen.app.session.where(1)
        await screen.press(key)
        assert screen.hub.asked("agdbg/goto") == [{}]
        screen.hub.stop(3)
        await screen.settle()
        assert screen.app.lanes.selected["row"] == 3
        assert "recording" not in screen.app.session.where(1)
        await screen.press(key)
        assert screen.hub.asked("agdbg/goto") == [{}]

    drive(shown, script)


def test_without_a_program_it_is_the_place_in_the_recording(shown):
    async def script(screen):
        screen.hub.end()
        await screen.settle()
        screen.hub.stop(8, recorded=True)
        await screen.settle()
        await screen.press("up", "up", "full_stop")
        assert screen.hub.asked("agdbg/goto") == []
        assert screen.app.lanes.selected["row"] == 8

    drive(shown, script)


def test_when_the_program_has_ended_nothing_is_offered_that_is_about_what_comes():
    def offered(life, stop):
        return {key.label for key in keys_of(View(life, stop=stop), 500)}

    place = Stop(1, "step", "in the recording: its end, after pass 1")
    assert {"next", "continue", "break", "pause"} - offered("ended", None) == {"continue", "break", "pause"}
    for life in ("ended", "trace", "stopped"):
        assert {"next", "back", "continue", "break"} <= offered(life, place)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_a_note_does_not_hide_the_line_of_keys(shown, size):
    async def script(screen):
        await screen.stop(6)
        last = screen.lines()[-1]
        assert "next" in last
        screen.app.say("a note")
        await screen.until(lambda: "a note" in screen.text)
        assert screen.lines()[-1] == last

    drive(shown, script, size=size)


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)], ids=str)
def test_a_note_does_not_hide_the_line_that_is_typed_to_the_program(shown, size, is_first):
    note = "a note of some lines " * 12

    async def script(screen):
        output = screen.app.output
        if is_first:
            screen.app.say(note)
            await screen.settle()
        await screen.press("i", *"typed")
        if not is_first:
            screen.app.say(note)
        await screen.until(lambda: "a note of some lines" in screen.text)
        line = output.typed_into.region
        row = screen.lines()[line.y]
        assert "typed" in row and "a note" not in row and "▌" not in row
        await screen.press("escape")
        await screen.until(lambda: "a note of some lines" in screen.text)
        assert "▌" in screen.lines()[-2]  # where they always are

    drive(shown, script, size=size)


def test_a_note_about_room_takes_the_place_of_the_one_before(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.press("Z")
        assert [note.message for note in screen.app._notifications] == [ZOOMED]
        await screen.press("Z")
        assert [note.message for note in screen.app._notifications] == ["all panes"]

    drive(shown, script)


def test_a_source_file_that_is_gone_is_not_opened_in_an_editor(shown, monkeypatch):
    monkeypatch.setenv("EDITOR", "false")

    async def script(screen):
        await screen.stop(6)
        await screen.until(lambda: screen.app.panes.source.path)
        await screen.press("ctrl+e")
        assert "is gone: there is nothing to edit" in " ".join(note.message for note in screen.app._notifications)

    drive(shown, script)

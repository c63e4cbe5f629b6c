"""The line `:`: commands of the console, commands of the keys, and Python; what they do is known to the rest of the screen."""

import asyncio

import pytest
from agdbg_tests_driving import drive
from textual.command import CommandPalette

from agdbg.console.table import COMMANDS, in_order
from agdbg.protocol.errors import RequestFailed
from agdbg_ui.commands import WITHOUT_KEY, common, completions, key_commands, meaning
from agdbg_ui.keymap import KEYS
from agdbg_ui.palette import KeyCommands
from agdbg_ui.widgets.prompt import Prompt


def prompt(screen):
    return screen.app.query_one(Prompt)


async def say(screen, line):
    await screen.press("colon")
    prompt(screen).line.value = line
    await screen.press("enter")
    await screen.until(lambda: not screen.app.commander.is_busy)
    await screen.settle()


@pytest.mark.parametrize(
    ("line", "kind", "what"),
    [
        ("next", "key", "step('next')"),
        ("n", "key", "step('next')"),
        (" view  output ", "key", "pane('output')"),
        ("next 3", "console", "next 3"),
        ("b Mul*", "console", "b Mul*"),
        ("brea Mul*", "console", "brea Mul*"),
        ("loss", "python", "loss"),
        ("loss.item()", "python", "loss.item()"),
        ("print(x)", "python", "print(x)"),
        ("n = 3", "python", "n = 3"),
        ("list(range(3))", "python", "list(range(3))"),
        ("!n", "python", "n"),
        ("x", "python", "x"),
        ("e", "python", "e"),
        ("3 + 4", "python", "3 + 4"),
        ("co 3", "console", "co 3"),
    ],
)
def test_a_line_is_a_key_a_command_or_python(line, kind, what):
    assert meaning(line) == (kind, what)


def test_every_key_that_acts_is_a_command_of_its_own():
    acting = [key for key in KEYS if key.action]
    assert [key.keys for key in acting if not key.command] == []
    assert len(key_commands()) == len(acting) + len(WITHOUT_KEY)
    assert [meaning(key.command) for key in acting] == [("key", key.action) for key in acting]


@pytest.mark.parametrize(
    ("line", "kind", "told"),
    [
        ("colours pink", "bad", "colours takes dark, light, contrast, safe or 16"),
        ("view boxs", "bad", "events, findings"),
        ("view + 1", "python", ""),
        ("view in boxes", "python", ""),
    ],
)
def test_words_that_a_command_does_not_take(line, kind, told):
    found, what = meaning(line)
    assert found == kind and told in what


def test_a_beginning_is_completed():
    assert completions("tbr", []) == ["tbreak"]
    assert completions("view e", []) == ["view events"]
    assert completions("info p", []) == ["info passes", "info program"]
    assert completions("break m", ["MeanBackward0", "MulBackward0"]) == ["break MeanBackward0", "break MulBackward0"]
    assert completions("help hel", []) == ["help help"]
    assert completions("nothing like this", []) == []
    assert common(["view events", "view errors"]) == "view e"
    assert set(COMMANDS) <= set(completions("", []))


def test_tab_completes_or_shows_what_there_is(shown):
    async def script(screen):
        await screen.press("colon", *"tbr", "tab")
        assert prompt(screen).line.value == "tbreak "
        await screen.press(*"Mu", "tab")
        assert prompt(screen).line.value == "tbreak MulBackward0 "
        prompt(screen).line.value = "info p"
        await screen.press("tab")
        assert prompt(screen).line.value == "info p"
        assert prompt(screen).answered == "passes  program"

    drive(shown, script)


def test_a_command_answers_above_the_line_and_in_the_console_pane(shown):
    async def script(screen):
        await screen.stop(6)
        await say(screen, "where")
        assert "MulBackward0" in prompt(screen).answered
        assert screen.app.panes.transcript.lines[0] == ": where"
        assert any("MulBackward0" in line for line in screen.app.panes.transcript.lines[1:])
        await screen.press("escape", "8")
        assert ": where" in screen.text

    drive(shown, script)


def test_a_long_answer_is_wrapped_at_words_and_scrolls(shown):
    async def script(screen):
        await screen.stop(6)
        await say(screen, "help")
        first, *_, last = prompt(screen).answered.split("\n")
        assert last.startswith("… ") and last.endswith(" more lines; PgUp PgDn scroll, 8 has all that was said")
        assert last in screen.text
        seen = []
        while "… the end" not in prompt(screen).answered:
            seen += prompt(screen).answered.split("\n")[:-1]
            await screen.press("pagedown")
        seen += prompt(screen).answered.split("\n")[:-1]
        assert "  help       List all commands, or say how one is written and what it does" in seen
        assert all(line.startswith("  ") for line in seen if not line.endswith(":") and line != seen[-1])
        await screen.press(*["pageup"] * len(seen))
        assert prompt(screen).answered.split("\n")[0] == first
        await screen.press("escape", "8")
        words = " ".join(screen.app.panes.transcript.lines).split()
        assert [word for line, _ in screen.app.panes.transcript._lines for word in line.split()] == words

    drive(shown, script)


def test_what_cannot_be_done_is_said_and_the_line_stays_open(shown):
    async def script(screen):
        await screen.stop(6)
        await say(screen, "delete 77")
        assert "there is no breakpoint 77" in prompt(screen).answered
        assert prompt(screen).has_class("-open")

    drive(shown, script)


def test_a_command_that_is_misspelt_is_named(shown):
    async def script(screen):
        await screen.stop(6)
        screen.hub.refuse["evaluate"] = RequestFailed("NameError: name 'contniue' is not defined")
        await say(screen, "contniue")
        assert prompt(screen).answered.endswith("is not defined; the command continue is near")

    drive(shown, script)


def test_a_count_moves_so_many_times(shown):
    async def script(screen):
        await screen.stop(9)
        await say(screen, "next 3")
        await screen.until(lambda: screen.app.lanes.pages.counter == 6)
        assert len(screen.hub.asked("next")) == 3

    drive(shown, script)


def test_the_words_of_a_key_do_what_the_key_does(shown):
    async def script(screen):
        await screen.stop(6)
        await say(screen, "back")
        await screen.until(lambda: screen.app.lanes.pages.counter == 7)
        await say(screen, "view events")
        assert screen.app.focused is screen.app.panes.events

    drive(shown, script)


def test_a_line_that_has_no_value_stays_in_the_console_pane_with_the_reason(shown):
    async def script(screen):
        transcript = screen.app.panes.transcript
        await say(screen, "1+1")
        why = "the program runs; z stops it at its next node, where it can be evaluated"
        assert prompt(screen).answered == f"1+1  →  {why}"
        assert transcript.lines == [": 1+1", why]
        screen.hub.send("stopped", reason="pause", threadId=2, description="before MulBackward0", text="")
        await screen.until(lambda: screen.app.session.view.stop is not None)
        screen.hub.end()
        await screen.until(lambda: screen.app.session.view.life == "ended")
        await say(screen, "2+2")
        assert transcript.lines[2:] == [": 2+2", "no program runs any more in which it could be evaluated"]

    drive(shown, script)


def test_what_a_key_says_is_the_answer_to_its_words_once(shown):
    async def script(screen):
        await screen.stop(6)
        await say(screen, "colours light")
        assert prompt(screen).answered == "colours: light"
        assert screen.app.panes.transcript.lines == [": colours light", "colours: light"]
        assert not [*screen.app._notifications]
        assert screen.text.count("colours: light") == 1
        await screen.press("escape", "T")
        assert [note.message for note in screen.app._notifications] == ["colours: high contrast"]

    drive(shown, script)


def test_the_line_stays_for_the_next_command_of_a_key(shown):
    async def script(screen):
        await screen.stop(9)
        await screen.at_once("colon", *"next", "enter", *"next", "enter")
        await screen.until(lambda: screen.app.lanes.pages.counter == 7)
        assert len(screen.hub.asked("next")) == 2
        assert screen.app.focused is prompt(screen).line
        assert (prompt(screen).line.value, prompt(screen).answered) == ("", "next: run the next node")
        await screen.press("escape")
        assert screen.app.focused is screen.app.lanes

    drive(shown, script)


def test_a_command_that_leads_to_a_pane_leaves_the_line_unless_more_is_typed(shown):
    async def script(screen):
        await screen.stop(9)
        await screen.at_once("colon", *"view events", "enter", *"next", "enter", *"view output", "enter", *"nxt")
        await screen.until(lambda: screen.app.lanes.pages.counter == 8)
        assert len(screen.app.screen_stack) == 1
        assert (screen.app.focused, prompt(screen).line.value) == (prompt(screen).line, "nxt")
        await screen.press("escape")
        assert screen.app.focused is screen.app.output.typed_into
        await say(screen, "view events")
        assert screen.app.focused is screen.app.panes.events

    drive(shown, script)


def test_what_is_typed_behind_the_words_of_a_key_is_no_key(shown):
    async def script(screen):
        await screen.stop(9)
        for command in sorted({*key_commands()} - {"edit"}, key="quit".__eq__):
            await screen.at_once("colon", *command, "enter", *"xqn")
            assert (command, prompt(screen).line.value) == (command, "xqn")
            assert len(screen.app.screen_stack) <= 2
            while len(screen.app.screen_stack) > 1:
                await screen.press("escape")
            await screen.press("escape")
            assert not prompt(screen).has_class("-open")
        assert (
            len(screen.hub.asked("next")) <= 1
        )  # of the command that is called so, unless the program still runs then

    drive(shown, script)


def test_escape_leaves_a_command_that_waits(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.press("colon", *"continue 2", "enter")
        await screen.until(lambda: screen.app.commander.is_busy and screen.hub.asked("continue"))
        await screen.press("escape")
        await screen.until(lambda: not screen.app.commander.is_busy)
        await screen.until(lambda: "runs on" in "\n".join(screen.app.panes.transcript.lines))

    drive(shown, script)


def test_the_screen_can_be_left_while_a_command_waits(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.press("colon", *"continue 2", "enter")
        await screen.until(lambda: screen.app.commander.is_busy and screen.hub.asked("continue"))
        screen.app._finish("leave")
        await screen.until(lambda: screen.app.return_value is not None)
        await screen.until(lambda: not screen.app.commander.is_busy)

    drive(shown, script)


def test_breakpoints_of_the_console_and_of_the_keys_are_the_same(shown):
    async def script(screen):
        await screen.stop(6)
        await say(screen, "break Mul* if x > 3")
        assert screen.hub.asked("setFunctionBreakpoints")[-1]["breakpoints"] == [{"name": "Mul*", "condition": "x > 3"}]
        assert screen.app.session.breakpoints.names == ["Mul*"]
        await screen.app.session.breakpoints.toggle_name("Add*")
        sent = screen.hub.asked("setFunctionBreakpoints")[-1]["breakpoints"]
        assert sent == [{"name": "Mul*", "condition": "x > 3"}, {"name": "Add*"}]
        await say(screen, "info breakpoints")
        assert "Add*" in prompt(screen).answered
        assert "if x > 3" in prompt(screen).answered
        await screen.app.session.breakpoints.toggle_name("Mul*")
        await say(screen, "info breakpoints")
        assert "Mul*" not in prompt(screen).answered

    drive(shown, script)


def test_errors_to_stop_at_are_the_same_too(shown):
    async def script(screen):
        await screen.stop(6)
        await say(screen, "catch leaf-inplace")
        assert screen.app.session.filters.on == {"backward-twice", "inplace-modified", "leaf-inplace"}
        await screen.app.session.filters.toggle("inplace-modified")
        await say(screen, "info breakpoints")
        assert "leaf-inplace" in prompt(screen).answered
        assert "errors: inplace-modified  off" in prompt(screen).answered

    drive(shown, script)


def test_errors_that_are_switched_off_stay_with_their_numbers(shown):
    async def script(screen):
        filters = screen.app.session.filters
        await screen.stop(6)
        await say(screen, "catch any if x > 3")
        await say(screen, "info breakpoints")
        there = prompt(screen).answered.split("\n")
        numbers = [line.split()[0] for line in there]
        await say(screen, "disable")
        assert not filters.on
        await say(screen, "info breakpoints")
        assert [line.removesuffix("  off") for line in prompt(screen).answered.split("\n")] == there
        await say(screen, f"enable {numbers[1]}")
        assert filters.on == {"inplace-modified"}
        await filters.toggle("any")  # with the condition that it had
        assert screen.hub.asked("setExceptionBreakpoints")[-1]["filterOptions"][0]["condition"] == "x > 3"
        await say(screen, "enable")
        assert filters.on == {"backward-twice", "inplace-modified", "any"}
        await say(screen, "info breakpoints")
        assert prompt(screen).answered.split("\n") == there

    drive(shown, script)


def test_what_a_key_has_let_go_on_stands_for_the_console_no_more(shown):
    async def script(screen):
        def goes_on(threadId):  # the one that has asked is told by the answer alone
            hub.state, hub.counter = "running", None
            return {"allThreadsContinued": False}

        def frames(threadId, levels=0):
            if hub.counter is None:
                raise RequestFailed("stackTrace: thread 1 has not stopped")
            return told(threadId, levels)

        hub = screen.hub
        told, hub.do_stackTrace, hub.do_continue = hub.do_stackTrace, frames, goes_on
        hub.do_dataBreakpointInfo = lambda name, **_: {"dataId": f"name:{name}", "description": f"those called {name}"}
        hub.do_setDataBreakpoints = lambda breakpoints: {
            "breakpoints": [{**each, "id": 1, "verified": True} for each in breakpoints]
        }
        await screen.stop(6)
        await say(screen, "info threads")
        await screen.press("escape", "c")
        await screen.until(lambda: screen.app.session.view.life == "running")
        await say(screen, "info threads")
        assert "running" in prompt(screen).answered
        await say(screen, "watch w")
        assert prompt(screen).answered.startswith("1  writes to those called w (by name, as the program does not stand")
        assert "frameId" not in hub.asked("dataBreakpointInfo")[-1]

    drive(shown, script)


def test_a_thread_that_goes_on_while_a_command_asks_for_its_frames_stands_no_more(shown):
    async def script(screen):
        def frames(threadId, levels=0):
            if not screen.app.commander.is_busy:
                return told(threadId, levels)
            hub.send("continued", threadId=1)
            raise RequestFailed("stackTrace: thread 1 has not stopped")

        hub = screen.hub
        told, hub.do_stackTrace = hub.do_stackTrace, frames
        hub.do_dataBreakpointInfo = lambda name, **_: {"dataId": None, "description": f"{name} cannot be watched"}
        await screen.stop(6)
        await say(screen, "watch w")
        assert hub.asked("dataBreakpointInfo") == [{"name": "w"}]

    drive(shown, script)


def test_quit_asks_as_the_key_does(shown):
    async def script(screen):
        await screen.stop(6)
        await say(screen, "quit")
        assert "What becomes of it?" in screen.text

    drive(shown, script)


def test_the_palette_has_every_key_and_does_it(shown):
    async def script(screen):
        await screen.stop(6)
        await screen.press("ctrl+p")
        assert isinstance(screen.app.screen, CommandPalette)
        await screen.press(*"view events")
        await screen.until(lambda: "view events" in screen.text)
        await asyncio.sleep(0)
        await screen.press("enter")
        await screen.until(lambda: screen.app.focused is screen.app.panes.events)

    drive(shown, script)


def test_each_way_to_show_the_graph_has_a_word(shown):
    async def script(screen):
        await screen.stop(6)
        for word, pane in (("modules", "tree"), ("boxes", "boxes"), ("lanes", "lanes")):
            await say(screen, f"view {word}")
            await screen.until(lambda pane=pane: screen.app.query_one(f"#{pane}").has_focus)

    drive(shown, script)


def test_the_palette_offers_all(shown):
    async def script(screen):
        provider = KeyCommands(screen.app.screen)
        offered = [hit.help async for hit in provider.discover()]
        keys = [key.help for key in KEYS if key.command and key.action != "command_palette"]
        typed = [each.summary for each in in_order() if each.name not in key_commands()]
        assert offered == [*keys, *(key.help for key in WITHOUT_KEY), *typed]

    drive(shown, script)


def test_a_command_of_the_console_in_the_palette_is_begun_at_the_prompt(shown):
    async def script(screen):
        hits = [hit async for hit in KeyCommands(screen.app.screen).search("watch")]
        next(hit for hit in hits if hit.text.startswith("watch ")).command()
        assert prompt(screen).asks_for("console")
        assert prompt(screen).line.value == "watch "

    drive(shown, script)


def test_the_key_that_opens_the_line_does_nothing_in_an_empty_one(shown):
    async def script(screen):
        await screen.press("colon", *"x.y", "enter")
        await screen.press("colon", *"d[1:]")
        assert screen.app.prompt.line.value == "d[1:]"
        await screen.press("escape", "slash", *"::a")
        assert screen.app.prompt.line.value == "::a"

    drive(shown, script)

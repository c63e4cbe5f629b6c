"""The lines one types into: what becomes of them after Enter, and what is said."""

import asyncio
import os

import pytest
from textual.widgets._toast import Toast

from agdbg.protocol.errors import RequestFailed
from agdbg_ui.evaluations import HOW
from agdbg_ui.losing import GONE
from agdbg_ui.prompts import EVALUATING
from agdbg_ui.screens.export import ExportScreen
from agdbg_ui.widgets.prompt import Prompt


def drive(shown, script, **how):
    async def main():
        async with shown(**how) as screen:
            await screen.stop(6)
            await script(screen)

    asyncio.run(main())


def prompt(screen):
    return screen.app.query_one(Prompt)


def notes(screen):
    return [note.message for note in screen.app._notifications]


def test_each_expression_begins_on_an_empty_line(shown):
    async def script(screen):
        await screen.press("colon", *"boom", "enter")
        assert prompt(screen).answered == "boom  →  NameError: name 'boom' is not defined"
        await screen.press(*"x", "enter")
        assert [each["expression"] for each in screen.hub.asked("evaluate")] == ["boom", "x"]
        assert prompt(screen).answered == "x  →  str: <x>"
        await screen.press("up", "up")
        assert prompt(screen).line.value == "boom"

    drive(shown, script)


def test_what_is_typed_after_a_search_replaces_it(shown):
    async def script(screen):
        await screen.press(
            "slash",
            *"mean",
            "enter",
            "slash",
            "enter",
            "slash",
            *"relu",
            "enter",
            "slash",
            *"exp",
            "enter",
            *"sub",
            "enter",
        )
        assert [each["text"] for each in screen.hub.asked("agdbg/find")] == ["mean", "mean", "relu", "exp", "sub"]


def test_a_search_closes_when_it_has_found_something(shown):
    async def script(screen):
        await screen.press("slash", *"mean", "enter")
        assert not prompt(screen).has_class("-open") and screen.app.focused is screen.app.lanes
        assert notes(screen) == ["mean: row 8 of 12; / Enter goes to the next match"]
        await screen.press("slash", *"exp", "enter")
        assert prompt(screen).has_class("-open") and prompt(screen).answered == "no match for exp"
        await screen.press(*"relu", "down")
        assert prompt(screen).answered == "row 3 of 12, round the end"


@pytest.mark.parametrize(("size", "rows"), [((80, 24), 23), ((120, 40), 39)])
def test_notes_do_not_lie_over_the_line_that_is_typed(shown, size, rows):
    async def script(screen):
        screen.app.say("a note\nof two lines")
        await screen.press("colon", *"boom", "enter")
        await screen.until(lambda: prompt(screen).answered)
        toast = screen.app.screen.query_one(Toast).region
        assert toast.bottom <= prompt(screen).region.y, (toast, prompt(screen).region)
        await screen.press("escape")
        assert screen.app.screen.query_one(Toast).region.bottom == rows

    drive(shown, script, size=size)


def test_a_name_that_can_be_none_is_refused_at_once_and_not_kept(shown):
    async def script(screen):
        real = screen.hub.on_name
        screen.hub.on_name = lambda name: {
            **real(name),
            **({"verified": False, "message": "no name"} if name == "foo(" else {}),
        }
        await screen.press("B", *"Mul*", "enter", "B", *"foo(", "enter")
        await screen.until(lambda: prompt(screen).answered == "no name")
        assert prompt(screen).line.value == "foo(" and screen.hub.names == ["Mul*"]
        assert screen.app.session.breakpoints.names == ["Mul*"]

    drive(shown, script)


def test_a_line_that_can_have_no_breakpoint_is_refused(shown):
    async def script(screen):
        real = screen.hub.on_line
        screen.hub.on_line = lambda path, line, **facts: {
            **real(path, line, **facts),
            "verified": False,
            "message": "no file",
        }
        await screen.press("b")
        await screen.until(lambda: notes(screen))
        assert notes(screen) == ["no file"] and screen.hub.lines["/srv/train.py"] == []
        assert screen.app.session.breakpoints.all == []

    drive(shown, script)


def test_a_name_that_is_taken_closes_the_line_before_the_next_key(shown):
    async def script(screen):
        await screen.press("B", *"Mul*")
        screen.hub.held["setFunctionBreakpoints"] = asyncio.Event()
        await screen.press("enter", "n")
        screen.hub.held["setFunctionBreakpoints"].set()
        await screen.until(lambda: notes(screen))
        assert notes(screen) == ["breakpoint on Mul* added"]
        assert len(screen.hub.asked("next")) == 1

    drive(shown, script)


def test_a_name_that_is_refused_can_be_mended(shown):
    async def script(screen):
        screen.hub.refuse["setFunctionBreakpoints"] = RequestFailed("no such pattern")
        await screen.press("B", *"[", "enter")
        await screen.until(lambda: prompt(screen).answered == "no such pattern")
        assert prompt(screen).line.value == "["
        del screen.hub.refuse["setFunctionBreakpoints"]
        await screen.press(*"Add", "enter")
        assert screen.hub.names == ["Add"]

    drive(shown, script)


@pytest.mark.parametrize(
    ("name", "is_there"),
    [
        ("Exp*", False),
        ("ean", False),
        ("Mean", True),
        ("mean", True),
        ("?.weight", True),
        ("*", True),
        ("[R]elu", True),
    ],
)
def test_a_name_that_matches_nothing_is_said_to(shown, name, is_there):
    async def script(screen):
        if name == "?.weight":
            screen.hub.do_find = lambda text, start, backwards: {"row": 0 if text == ".weight" else None, "node": 1}
        await screen.press("B", *name, "enter")
        await screen.until(lambda: notes(screen))
        assert ("it matches nothing so far" in notes(screen)[0]) is not is_there
        assert screen.hub.names == [name]

    drive(shown, script)


def test_a_gradient_that_is_refused_can_be_mended(shown):
    async def script(screen):
        screen.hub.refuse["setVariable"] = RequestFailed("wrong shape")
        await screen.press("1", "down", "enter", *"g*2", "enter")
        await screen.until(lambda: prompt(screen).answered == "wrong shape")
        del screen.hub.refuse["setVariable"]
        await screen.press("g", "enter")
        assert screen.hub.asked("setVariable")[-1]["value"] == "g"
        assert not prompt(screen).has_class("-open")
        assert notes(screen) == ["input 0 is now float64 [] g"]

    drive(shown, script)


def test_a_long_evaluation_says_that_it_goes_on_and_is_told_late(shown):
    now = [0.0]

    async def script(screen):
        await screen.press("colon", *"x", "enter")
        screen.hub.held["evaluate"] = asyncio.Event()
        await screen.press(*"y", "enter")
        assert prompt(screen).answered == EVALUATING
        await screen.press(*"z", "enter")
        assert len(screen.hub.asked("evaluate")) == 2
        assert (
            prompt(screen).answered
            == f"z  →  not asked for, as one expression runs at a time: y has run for 0 s ({HOW})"
        )
        now[0] += 7
        await screen.press("escape", "colon")
        assert prompt(screen).answered == f"y has run for 7 s ({HOW})"
        await screen.press("escape")
        screen.hub.held["evaluate"].set()
        await screen.until(lambda: notes(screen))
        assert notes(screen) == ["y  →  str: <y>"]

    drive(shown, script, clock=lambda: now[0])


def test_a_command_of_the_console_that_evaluates_is_left_and_others_are_answered(shown):
    """It goes on in the program, and its value is told when it comes."""

    async def script(screen):
        await screen.stop(6)
        screen.hub.held["evaluate"] = asyncio.Event()
        await screen.press("colon", *"print y", "enter")
        await screen.until(lambda: screen.hub.asked("evaluate"))
        await screen.press("escape")
        await screen.until(lambda: notes(screen) == ["print y: not waited for any more; it goes on in the program"])
        await screen.press("colon", *"where", "enter")
        await screen.until(lambda: "MulBackward0" in prompt(screen).answered)
        await screen.press("escape", "ctrl+c")
        assert screen.hub.asked("agdbg/input")[-1] == {"text": "\x03"}
        screen.hub.held["evaluate"].set()
        await screen.until(lambda: "y  →  str: <y>" in notes(screen))
        await screen.press("ctrl+c")
        assert len(screen.hub.asked("agdbg/input")) == 1

    drive(shown, script)


def test_a_statement_is_done_and_notes_stand_beside_it(shown):
    async def script(screen):
        screen.hub.notes = ["a running function keeps its locals: k is forgotten again"]
        await screen.press("colon", *"k=1", "enter")
        assert prompt(screen).answered == "k=1  →  done\n(a running function keeps its locals: k is forgotten again)"
        await screen.press("escape", "3")
        assert "forgotten" not in screen.text

    drive(shown, script)


def test_a_hub_that_is_gone_is_named_by_every_key(shown):
    async def script(screen):
        screen.hub.die("cut")
        await screen.until(lambda: screen.app.session.view.life == "lost")
        assert screen.app.session.view.why.startswith(
            "the program (pid 4242) goes on without a debugger; output in /srv/"
        )
        for key in ("n", "z", "i", "b"):
            await screen.press(key)
            assert notes(screen) == [GONE]
            screen.app.clear_notifications()
        await screen.press("colon", "x", "enter")
        assert prompt(screen).answered == f"x  →  {GONE}"

    drive(shown, script)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "name a file"),
        ("directory", "it is a directory"),
        ("victim.py", "no earlier export"),
        ("a.svg", "Enter again"),
    ],
)
def test_an_export_says_at_once_what_is_there(shown, tmp_path, monkeypatch, name, said):
    monkeypatch.chdir(tmp_path)
    os.mkdir("directory")
    (tmp_path / "victim.py").write_text("import this\n")
    (tmp_path / "a.svg").write_text('<svg width="9">agdbg</svg>')

    async def script(screen):
        await screen.press("e")
        await screen.until(lambda: isinstance(screen.app.screen, ExportScreen))
        screen.app.screen.query_one("Input").value = name
        await screen.settle()
        await screen.press("enter")
        assert said in screen.app.screen.said
        assert "-o " not in screen.app.screen.said
        assert screen.hub.asked("agdbg/export") == []

    drive(shown, script)


def test_an_export_that_is_refused_does_not_name_the_protocol(shown, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def script(screen):
        screen.hub.refuse["agdbg/export"] = RequestFailed("agdbg/export: no space left")
        await screen.press("e", "enter")
        await screen.until(lambda: screen.app.screen.said == "no space left")

    drive(shown, script)


def test_two_notes_at_most(shown):
    async def script(screen):
        for text in ("one", "two", "three", "three"):
            screen.app.say(text)
            await screen.settle()
            assert len(notes(screen)) <= 2
        assert notes(screen) == ["two", "three"]
        screen.app.say("four")
        await screen.settle()
        assert notes(screen) == ["three", "four"]

    drive(shown, script)

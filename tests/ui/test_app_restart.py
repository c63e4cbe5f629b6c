"""The program is started anew: nothing that the screen shows, marks or has selected is of the run before."""

import asyncio

import pytest
from agdbg_tests_driving import drive, seen

from agdbg_ui.screens.question import Question
from agdbg_ui.screens.tensor import TensorScreen

ASKED = ("rows", "node", "findings", "events", "timeline", "profile", "neighbourhood", "tree", "processes")
FINDING = {
    "cause": "the old error",
    "kind": "InplaceModified",
    "certainty": "certain",
    "nodes": [3],
    "evidence": [],
    "fix": "",
}


def lines_of(app):
    """What every pane shows; the console has what the person has typed."""
    return {
        name: "\n".join(seen(pane)) for name, pane in app.panes._widgets.items() if name not in ("console", "output")
    }


async def fill(screen):
    """Have something of the run in every pane."""
    screen.hub.findings = [FINDING]
    screen.hub.stop(3, reason="exception", text="wrong")
    await screen.settle()
    screen.app.output.feed("printed before\n")
    await screen.press("5", "6", "end", "0", "m", "up", "up", "{")
    await screen.settle()


def hold(hub):
    """No answer comes until the event is set: the program only starts."""
    let = asyncio.Event()
    hub.held.update({f"agdbg/{name}": let for name in ASKED})
    return let


@pytest.mark.parametrize("graph", ["lanes", "boxes", "tree"])
def test_every_pane_is_as_at_the_beginning_until_the_new_run_has_told_something(shown, graph):
    found = {}

    async def afresh(screen):
        screen.app.panes.focus(graph)
        await screen.settle()
        found.update(lines_of(screen.app))

    async def again(screen):
        await screen.ready()
        await fill(screen)
        screen.app.panes.focus(graph)
        await screen.settle()
        app, full = screen.app, lines_of(screen.app)
        let = hold(screen.hub)
        screen.hub.restart()
        await screen.settle()
        empty = lines_of(app)
        told = {name for name in found if name != "stops" and app.panes._widgets[name].display}
        assert not {name for name in told if empty[name] == full[name]}
        assert {name: empty[name] for name in told} == {name: found[name] for name in told}
        assert "MainThread" not in empty["stops"]
        assert "printed before" not in "\n".join(app.output.lines)
        assert app.lanes.selected is None and not app.lanes.marked and not app.panes.boxes.selected
        assert app.lanes.folds["closed"] == [] and app.lanes.folds["opened"] == []
        assert app.panes.source.path == "" and app.panes.inspector.body is None
        let.set()
        await screen.settle()

    def held(hub):
        hold(hub)
        hub.state = "running"

    drive(shown, afresh, size=(220, 60), prepare=held)
    drive(shown, again, size=(220, 60))


def test_findings_of_the_run_before_are_not_those_of_the_new_one(shown):
    async def script(screen):
        await fill(screen)
        await screen.press("5")
        assert "the old error" in screen.text
        screen.hub.findings = []
        screen.hub.restart()
        await screen.settle()
        screen.hub.stop(5, reason="entry")
        await screen.settle()
        assert "the old error" not in screen.text
        assert "nobody has looked yet" in screen.text
        assert screen.app.lanes.selected["row"] == 5

    drive(shown, script)


def test_a_pane_that_an_error_has_brought_goes_with_it(shown):
    async def script(screen):
        screen.hub.findings = [FINDING]
        screen.hub.stop(3, reason="exception", text="wrong")
        await screen.settle()
        assert "▸5" in screen.text
        screen.hub.restart()
        await screen.settle()
        assert "▸1" in screen.text

    drive(shown, script)


def test_an_answer_about_the_run_before_comes_too_late(shown):
    async def script(screen):
        screen.hub.findings = [FINDING]
        let = asyncio.Event()
        screen.hub.held["agdbg/findings"] = let
        screen.hub.stop(3, reason="exception", text="wrong")
        await screen.settle()
        screen.hub.restart()
        await screen.settle()
        let.set()
        await screen.settle()
        assert not screen.app.panes.findings.findings

    drive(shown, script)


def test_stops_at_breakpoints_are_counted_anew(shown):
    async def script(screen):
        screen.app.session.hits[1] = 3
        screen.hub.restart()
        await screen.settle()
        assert screen.app.session.hits == {}

    drive(shown, script)


@pytest.mark.parametrize("opens", ["value", "barrier", "explanation", "help"])
def test_what_lies_over_the_screen_goes_if_it_is_about_the_run_before(shown, opens):
    async def script(screen):
        screen.hub.stop(3)
        await screen.settle()
        app = screen.app
        if opens == "value":
            app.push_screen(TensorScreen("old", lambda wanted: app.session.ask.tensor(1, wanted)))
        elif opens == "barrier":
            from agdbg_ui.messages import Barrier

            app.post_message(Barrier("stepBack", "files were written"))
        elif opens == "explanation":
            await screen.press("x")
        else:
            app.action_help()
        await screen.settle()
        assert len(app.screen_stack) == 2
        screen.hub.restart()
        await screen.settle()
        assert len(app.screen_stack) == (2 if opens == "help" else 1)
        assert not isinstance(app.screen, TensorScreen | Question)

    drive(shown, script)


def test_the_recording_of_the_run_before_is_another_process_in_the_list(shown):
    async def script(screen):
        app = screen.app
        app.turning._known["/old"] = app.session
        screen.hub.restart()
        await screen.settle()
        assert app.turning._known == {}

    drive(shown, script)

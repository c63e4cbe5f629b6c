"""Breakpoints of several clients: what the hub tells of is shown and kept."""

import asyncio

import pytest
from agdbg_tests_driving import drive
from agdbg_tests_fake_hub import SOURCE
from textual.events import AppFocus

from agdbg.sources import WRITTEN_TO
from agdbg_ui.breakpoints import Breakpoints
from agdbg_ui.widgets.prompt import Prompt

PATH = "/srv/train.py"


def shared(hub):
    """Another client has been here."""
    hub.lines[PATH], hub.names = [7], ["Relu*"]
    hub.at_joining = [hub.on_line(PATH, 7), hub.on_name("Relu*")]


@pytest.mark.parametrize(("command", "arguments"), [("launch", {"program": PATH}), ("attach", {})])
def test_those_that_are_there_at_the_beginning_are_kept(shown, command, arguments):
    async def script(screen):
        await screen.stop(6)
        await screen.press("b")
        assert screen.hub.lines[PATH] == [7, 10]
        await screen.press("B")
        assert screen.app.query_one(Prompt).answered == "breakpoints: Relu*, train.py:7, train.py:10"
        await screen.press("enter")
        assert screen.hub.names == ["Relu*", "MulBackward0"]
        assert "breakpoints on names: Relu*, MulBackward0" in " ".join(screen.text.split())

    drive(shown, script, prepare=shared, command=command, arguments=arguments)


def test_a_file_that_was_written_to_after_the_program_began_is_read_again_and_said_to_be(shown):
    async def script(screen):
        await screen.stop(6)
        source = screen.app.panes.source
        assert "import os" not in source.row_text(11)
        screen.hub.source = f"{SOURCE}\nimport os"
        await screen.press("2")
        assert source.row_text(12) == "import os"
        assert "the file was written to after the program began" in screen.text
        screen.hub.source = SOURCE
        screen.app.post_message(AppFocus())
        await screen.settle()
        assert "the file was written to" not in screen.text
        screen.hub.source = f"{SOURCE}\nimport os"
        await screen.press("0", "b")
        assert f"breakpoint at train.py:10 set; {WRITTEN_TO}" in [each.message for each in screen.app._notifications]

    drive(shown, script)


def test_one_of_another_client_can_be_removed(shown):
    async def script(screen):
        await screen.stop(2)
        assert screen.app.lanes.selected["breakpoint"]
        await screen.press("b")
        assert screen.hub.lines[PATH] == []
        assert screen.app.session.breakpoints.all == ["Relu*"]

    drive(shown, script, prepare=shared)


def test_what_another_client_sets_and_removes_is_followed(shown):
    async def script(screen):
        await screen.stop(6)
        screen.hub.send("breakpoint", reason="new", breakpoint=screen.hub.on_line(PATH, 9))
        screen.hub.send("breakpoint", reason="new", breakpoint=screen.hub.on_line(PATH, 8))
        screen.hub.send("breakpoint", reason="removed", breakpoint=screen.hub.on_line(PATH, 9))
        await screen.press("2")
        await screen.until(lambda: [line for line in screen.lines() if "●" in line and "scores = model[2]" in line])
        await screen.press("0", "b")
        assert screen.hub.lines[PATH] == [8, 10]

    drive(shown, script)


def test_a_row_that_matches_a_name_gets_a_breakpoint_on_its_line(shown):
    async def script(screen):
        await screen.stop(6)
        screen.app.lanes.selected["breakpoint"] = True  # by the name
        await screen.press("b")
        assert screen.hub.lines[PATH] == [10]

    drive(shown, script)


class Recorder:
    """A connection that keeps what it is asked, and answers as a hub would."""

    def __init__(self):
        self.asked = []

    async def request(self, command, /, **arguments):
        self.asked.append(arguments["breakpoints"])
        await asyncio.sleep(0)
        numbered = enumerate(arguments["breakpoints"], 1)
        return {"breakpoints": [{**each, "id": n, "verified": "condition" not in each} for n, each in numbered]}


def test_one_that_the_hub_has_refused_does_not_become_one_that_stops():
    hub = Recorder()
    breakpoints = Breakpoints(hub)
    refused = {"id": 1, "verified": False, "message": "no conditions", "source": {"path": PATH}, "line": 4}
    breakpoints.follow("new", refused)
    assert asyncio.run(breakpoints.toggle_line(PATH, 3))
    assert hub.asked == [[{"line": 3}, {"line": 4, "condition": "no conditions"}]]


def test_a_breakpoint_that_changes_is_the_same_one():
    breakpoints = Breakpoints(Recorder())
    for reason, line in (("new", 4), ("changed", 5)):
        body = {"id": 1, "verified": True, "source": {"path": PATH}, "line": line}
        breakpoints.follow(reason, body)
    breakpoints.follow("changed", {"verified": True})  # one without an id is nobody's
    assert breakpoints.lines(PATH) == [5]
    assert breakpoints.all == ["train.py:5"]


def test_changes_at_the_same_time_all_count():
    async def main():
        hub = Recorder()
        breakpoints = Breakpoints(hub)
        await asyncio.gather(*(breakpoints.toggle_line(PATH, line) for line in (1, 2, 3)))
        await asyncio.gather(*(breakpoints.toggle_name(name) for name in ("a", "b", "a")))
        return hub.asked[2], hub.asked[-1]

    assert asyncio.run(main()) == ([{"line": 1}, {"line": 2}, {"line": 3}], [{"name": "b"}])

"""What the hub works at for long is shown, and Esc ends it."""

import asyncio

from agdbg_tests_driving import drive
from agdbg_tests_states import RECORDING

from agdbg.protocol.errors import RequestFailed
from agdbg_ui.work import Work, Works


def begins(hub, number="1", **more):
    hub.send("progressStart", **{"progressId": number, "title": "Writing the graph", "cancellable": True} | more)


def test_esc_is_not_said_to_cancel_while_it_closes_a_line(shown):
    async def script(screen):
        await screen.stop(6)
        begins(screen.hub)
        await screen.press("i")
        await screen.until(lambda: "Writing the graph" in screen.lines()[-1])
        assert "Esc cancels" not in screen.text and "input to the program, Esc closes" in screen.text
        await screen.press("escape")
        assert "Esc cancels" in screen.lines()[-1] and screen.hub.asked("cancel") == []

    drive(shown, script)


def test_the_last_line_says_how_far_it_is_until_it_ends(shown):
    async def script(screen):
        await screen.stop(6)
        begins(screen.hub)
        await screen.until(lambda: "Writing the graph   Esc cancels" in screen.lines()[-1])
        screen.hub.send("progressUpdate", progressId="1", message="laying out", percentage=40.0)
        await screen.until(lambda: "Writing the graph: laying out 40%" in screen.lines()[-1])
        await screen.press("down")
        assert screen.hub.asked("cancel") == []
        screen.hub.send("progressEnd", progressId="1")
        await screen.until(lambda: "n next" in screen.lines()[-1])

    drive(shown, script)


def test_esc_cancels_the_newest_and_else_goes_back_to_the_graph(shown):
    async def script(screen):
        await screen.stop(6)
        begins(screen.hub)
        begins(screen.hub, "2", title="Searching")
        await screen.until(lambda: "Searching" in screen.lines()[-1])
        await screen.press("1", "escape")
        await screen.until(lambda: screen.hub.asked("cancel") == [{"progressId": "2"}])
        assert screen.app.focused is screen.app.panes.inspector
        assert (
            "cancelled: Searching" in screen.text and "Writing the graph   Esc" in screen.lines()[-1]
        )  # which goes on
        await screen.press("escape")
        await screen.until(lambda: screen.hub.asked("cancel") == [{"progressId": "2"}, {"progressId": "1"}])
        await screen.until(lambda: "n next" in screen.lines()[-1])
        await screen.press("escape")
        assert screen.app.focused is screen.app.lanes
        assert len(screen.hub.asked("cancel")) == 2

    drive(shown, script)


def test_what_is_cancelled_is_shown_until_the_hub_has_broken_it_off(shown):
    async def script(screen):
        await screen.stop(6)
        screen.hub.do_cancel = lambda progressId: {}  # a step of its work takes long
        begins(screen.hub)
        await screen.until(lambda: "Writing the graph   Esc cancels" in screen.lines()[-1])
        await screen.press("1", "escape")
        await screen.until(lambda: "Writing the graph   is being cancelled …" in screen.lines()[-1])
        await screen.press("escape")
        assert len(screen.hub.asked("cancel")) == 1 and screen.app.focused is screen.app.lanes
        screen.hub.send("progressEnd", progressId="1")
        await screen.until(lambda: "n next" in screen.lines()[-1])

    drive(shown, script)


def test_reading_a_recording_can_be_cancelled_and_begun_again(shown):
    def prepare(hub):
        for command in ("agdbg/rows", "agdbg/findings"):
            why = {"id": 1, "format": "cancelled", "variables": {"code": "cancelled"}}
            hub.refuse[command] = RequestFailed("cancelled", command, {"error": why})

    async def script(screen):
        await screen.until(lambda: "the recording was not read: that was cancelled; . reads it" in screen.text)
        await screen.press("5")
        await screen.until(lambda: "that was cancelled; 5 looks again" in screen.text)
        assert not screen.app._notifications  # whoever has cancelled it need not be told
        screen.hub.refuse.clear()
        await screen.press(".")
        await screen.until(lambda: screen.app.lanes.row_count == 12)

    drive(shown, script, prepare=prepare, **RECORDING)


def test_a_recording_that_is_not_read_in_time_is_no_busy_program(shown):
    async def script(screen):
        screen.hub.refuse["reverseContinue"] = TimeoutError("the program may be busy")
        await screen.press("r")
        await screen.until(lambda: "the hub is busy with the recording" in screen.text)

    drive(shown, script, **RECORDING)


def test_what_cannot_be_cancelled_is_not(shown):
    async def script(screen):
        await screen.stop(6)
        begins(screen.hub, cancellable=False)
        await screen.until(lambda: "Writing the graph" in screen.lines()[-1])
        assert "Esc" not in screen.lines()[-1]
        await screen.press("1", "escape")
        assert screen.app.focused is screen.app.lanes
        assert screen.hub.asked("cancel") == []

    drive(shown, script)


def test_a_graph_that_is_being_written_can_be_given_up(shown, tmp_path):
    async def script(screen):
        held = screen.hub.held["agdbg/export"] = asyncio.Event()
        await screen.stop(6)
        await screen.press("e")
        screen.app.screen.query_one("Input").value = str(tmp_path / "graph.svg")
        await screen.press("enter")
        await screen.until(lambda: "writing …" in screen.text)
        begins(screen.hub)
        await screen.until(lambda: "Writing the graph   Esc cancels" in screen.text)
        await screen.press("x", "1")
        assert screen.app.screen.query_one("Input").value == str(tmp_path / "graph.svg")
        await screen.press("escape")
        await screen.until(lambda: "cancelled: nothing was written" in screen.text)
        assert len(screen.app.screen_stack) == 1
        held.set()
        await screen.settle()
        assert list(tmp_path.iterdir()) == []


def test_quitting_while_a_graph_is_written(shown, tmp_path):
    async def script(screen):
        screen.hub.held["agdbg/export"] = asyncio.Event()
        await screen.stop(6)
        await screen.press("e")
        screen.app.screen.query_one("Input").value = str(tmp_path / "graph.svg")
        await screen.press("enter")
        await screen.until(lambda: "writing …" in screen.text)
        await screen.press("escape", "q")
        await screen.until(lambda: "What becomes of it?" in screen.text)
        assert list(tmp_path.iterdir()) == []

    drive(shown, script)


def test_when_the_hub_dies_nothing_is_worked_at(shown):
    async def script(screen):
        await screen.stop(6)
        begins(screen.hub)
        await screen.until(lambda: "Writing the graph" in screen.lines()[-1])
        screen.hub.die()
        await screen.until(lambda: "Writing the graph" not in screen.lines()[-1])

    drive(shown, script)


def test_works_as_they_come_and_go():
    works = Works()
    assert works.newest is None
    works.start({"progressId": "1", "title": "Reading\x1b[2J", "percentage": 3.4})
    assert works.newest == Work("1", "Reading\x1b[2J", "", 3.4, False)
    assert "\x1b" not in works.newest.words and works.newest.words.endswith(" 3%")
    works.update({"progressId": "1", "message": "records"})
    assert works.newest.percentage is None
    works.update({"progressId": "9", "message": "nobody's"})
    works.end({"progressId": "9"})
    assert works.newest.message == "records"
    works.end({"progressId": "1"})
    assert works.newest is None

"""What the graph follows while the program runs on from a stop, and where jumps lead of which the hub knows nothing."""

from agdbg_tests_driving import drive
from agdbg_tests_states import RECORDING

from agdbg.protocol.errors import RequestFailed


async def _let_go(screen):
    """The program stood, and runs on."""
    await screen.stop(500)
    await screen.press("c")
    return screen.app.lanes


async def _grow(screen, nodes):
    screen.hub.size = nodes
    screen.hub.send("agdbg/grew", nodes=nodes, records=2 * nodes)
    await screen.until(lambda: screen.app.lanes.pages.newest == nodes)


def test_a_program_that_goes_on_from_a_stop_shows_its_newest_nodes(shown):
    async def script(screen):
        lanes = await _let_go(screen)
        await screen.until(lambda: lanes.cursor == 999)
        await _grow(screen, 5000)
        await screen.until(lambda: lanes.cursor == 4999)
        await screen.settle()
        assert "Op4999Backward0" in screen.text
        await screen.stop(600)
        assert lanes.cursor == 600

    drive(shown, script, nodes=1000)


def test_whoever_looks_elsewhere_while_it_runs_stays_there_until_a_key_leads_to_the_newest_nodes(shown):
    async def script(screen):
        lanes = await _let_go(screen)
        await screen.until(lambda: lanes.cursor == 999)
        await screen.press("home")
        await _grow(screen, 5000)
        assert lanes.cursor == 0
        await screen.press("full_stop")
        await screen.until(lambda: lanes.cursor == 4999)
        await _grow(screen, 9000)
        await screen.until(lambda: lanes.cursor == 8999)

    drive(shown, script, nodes=1000)


def test_a_cursor_that_was_moved_since_the_program_went_on_is_left_where_it_is(shown, monkeypatch):
    monkeypatch.setattr("agdbg_ui.moving.HUSH_S", 1000.0)

    async def script(screen):
        lanes = await _let_go(screen)
        await screen.press("k")
        screen.app.session._say_running(screen.app.session.thread)
        await screen.until(lambda: lanes.pages.counter is None)
        await _grow(screen, 5000)
        assert lanes.cursor == 499

    drive(shown, script, nodes=1000)


def test_a_node_that_is_marked_is_jumped_to_where_the_hub_knows_of_none(shown):
    async def script(screen):
        inside, rows = screen.hub.do_node, screen.hub.do_rows
        screen.hub.do_node = lambda **how: inside(**how) | {"gradient": 1.0, "bad": how["node"] == 7}
        screen.hub.do_rows = lambda **how: (
            (body := rows(**how)) | {"rows": [row | {"gradient": None} for row in body["rows"]]}
        )
        screen.hub.do_firstBad = lambda: {"node": None, "row": None, "why": "no node has failed"}
        lanes = screen.app.lanes
        await screen.stop(6)
        await screen.until(lambda: lanes.selected["bad"])
        await screen.press("home", "exclamation_mark")
        await screen.until(lambda: lanes.cursor == 6)
        await screen.until(lambda: "#7: a NaN or an Inf was seen there" in screen.text)

    drive(shown, script)


def test_boxes_of_a_recording_of_which_the_reading_was_cancelled_have_it_read(shown):
    def cancelled(hub):
        why = {"id": 1, "format": "cancelled", "variables": {"code": "cancelled"}}
        hub.refuse["agdbg/rows"] = RequestFailed("cancelled", "agdbg/rows", {"error": why})

    async def script(screen):
        await screen.until(lambda: screen.app._refreshing.is_unread)
        await screen.press("v")
        await screen.until(lambda: "the recording was not read" in screen.text)
        screen.hub.refuse.clear()
        await screen.press("space")
        await screen.until(lambda: screen.app.panes.boxes.selected)
        await screen.until(lambda: screen.hub.asked("agdbg/neighbourhood")[-1].get("depth"))

    drive(shown, script, prepare=cancelled, **RECORDING)

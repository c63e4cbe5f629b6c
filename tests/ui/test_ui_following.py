"""What the graph follows while the program runs on from a stop."""

from agdbg_tests_driving import drive


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
    monkeypatch.setattr("agdbg_ui.session.HUSH_S", 1000.0)

    async def script(screen):
        lanes = await _let_go(screen)
        await screen.press("k")
        screen.app.session._say_running()
        await screen.until(lambda: lanes.pages.counter is None)
        await _grow(screen, 5000)
        assert lanes.cursor == 499

    drive(shown, script, nodes=1000)

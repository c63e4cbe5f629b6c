"""Processes of a parallel program: the screen turns from one to the other, and back."""

import asyncio

import pytest
from agdbg_tests_driving import drive
from agdbg_tests_fake_hub import SCRIPT, FakeHub

from agdbg.protocol.errors import RequestFailed
from agdbg_ui.turning import ALONE, FAR, NO_OTHER

TRACES = ("/t/rank0", "/t/rank1", "/t/rank2")


def process(rank, here):
    runs = rank < 2
    address = f"/run/{rank}/client.sock" if runs and rank != here else ""
    mine = {
        "rank": rank,
        "world": 3,
        "pid": 4242 if runs else None,
        "stopped": rank == 1,
        "argv": [SCRIPT],
        "trace": TRACES[rank],
    }
    return {**mine, "address": address, "isHere": rank == here}


def rank_hub(rank, **how):
    found = FakeHub(**how)
    found.trace, found.rank = TRACES[rank], f"rank {rank} of 3"
    found.processes = [process(each, rank) for each in range(3)]
    return found


@pytest.fixture
def ranks(shown):
    """The app on rank 0 of three: another one runs, of the third there is a recording."""
    made = {}

    def show(script, *, size=(120, 40), is_far=False):
        def prepare(hub):
            made[0] = hub
            hub.trace, hub.rank = TRACES[0], "rank 0 of 3"
            hub.processes = [process(each, 0) for each in range(3)]

        async def reach(address):
            rank = 1 if address else 2
            made[rank] = rank_hub(rank) if address else rank_hub(rank, state="trace")
            return made[rank]

        async def run(screen):
            screen.app.turning._reach = None if is_far else reach
            await script(screen, made)

        return drive(shown, run, size=size, prepare=prepare)

    return show


def notes(screen):
    return [note.message for note in screen.app._notifications]


def test_the_screen_turns_to_each_process_and_back(ranks):
    async def script(screen, made):
        await screen.stop(6)
        assert "rank 0 of 3" in screen.title
        made[0].send("output", category="stdout", output="from rank 0\n")
        await screen.until(lambda: screen.app.output.lines)
        await screen.press("2", "plus")
        kept = screen.app.panes.remembered()
        for rank in (1, 2, 0, 1):
            await screen.press("P")
            await screen.until(lambda rank=rank: f"rank {rank} of 3" in screen.title)
            await screen.settle()
            assert screen.app.panes.remembered() == kept and screen.app.focused is screen.app.panes.source
        assert sorted(made) == [0, 1, 2] and not made[0].closed.done()
        assert made[1].asked("attach") == [{}] and made[2].asked("attach") == [{"trace": TRACES[2]}]
        assert made[0].asked("disconnect") == made[1].asked("disconnect") == []

    ranks(script)


def test_keys_go_to_the_process_that_is_seen(ranks):
    async def script(screen, made):
        await screen.stop(6)
        await screen.press("P")
        await screen.until(lambda: "rank 1 of 3" in screen.title)
        made[1].stop(4)
        await screen.until(lambda: screen.app.lanes.pages.counter == 4)
        await screen.press("n")
        await screen.until(lambda: made[1].asked("next"))
        assert made[0].asked("next") == []
        made[0].stop(3)  # nobody sees it
        made[0].send("output", category="stdout", output="from rank 0\n")
        made[1].send("output", category="stdout", output="from rank 1\n")
        await screen.until(lambda: "from rank 1" in screen.app.output.lines)
        await screen.until(lambda: screen.app.turning.home.view.stop)
        assert "from rank 0" not in screen.app.output.lines
        assert "rank 1 of 3" in screen.title and screen.app.session.view.trace == TRACES[1]
        await screen.press("P", "P")
        await screen.until(lambda: "rank 0 of 3" in screen.title)
        await screen.until(lambda: screen.app.lanes.pages.counter == 3)

    ranks(script)


def test_the_pane_of_stops_lists_them_and_enter_turns(ranks):
    async def script(screen, made):
        await screen.press("7")
        await screen.until(lambda: "rank 2 of 3" in screen.text)
        assert "Processes  3" in screen.text and "its recording; Enter turns to it" in screen.text
        items = screen.app.panes.stops.items
        at = next(at for at, each in enumerate(items) if "rank 2" in each.text)
        for _ in range(at):
            await screen.press("down")
        await screen.press("enter")
        await screen.until(lambda: "rank 2 of 3" in screen.title)
        assert screen.app.panes.has_focus("stops") or screen.app.panes.stops.display

    ranks(script)


def test_quitting_is_about_the_process_that_the_screen_was_started_for(ranks):
    async def script(screen, made):
        await screen.stop(6)
        await screen.press("P")
        await screen.until(lambda: "rank 1 of 3" in screen.title)
        await screen.press("q")
        assert "train.py rank 0 of 3 has not ended" in screen.text
        await screen.press("k")
        await screen.until(lambda: screen.app.return_value is not None)
        assert made[0].asked("disconnect") == [{"terminateDebuggee": True}]
        assert made[1].asked("disconnect") == [{"terminateDebuggee": False}]

    result = ranks(script)
    assert result.trace == TRACES[0] and result.killed


def test_a_process_that_cannot_be_reached_is_told_and_nothing_changes(ranks):
    async def script(screen, made):
        async def refuse(address):
            raise RequestFailed("nobody listens there", "attach", {})

        screen.app.turning._reach = refuse
        await screen.press("P")
        await screen.until(lambda: notes(screen))
        assert "nobody listens there" in notes(screen)[-1] and "rank 0 of 3" in screen.title
        await asyncio.sleep(0)
        await screen.press("n")

    ranks(script)


def test_those_of_another_machine_are_only_named(ranks):
    async def script(screen, made):
        await screen.press("P")
        await screen.until(lambda: notes(screen))
        assert notes(screen) == [FAR]

    ranks(script, is_far=True)


def test_a_program_that_is_alone_says_so(shown):
    async def script(screen):
        await screen.press("P")
        await screen.until(lambda: notes(screen))
        assert notes(screen) == [ALONE]
        screen.hub.processes = [process(0, 0)]
        await screen.press("P")
        await screen.until(lambda: notes(screen)[-1:] == [NO_OTHER])

    drive(shown, script)

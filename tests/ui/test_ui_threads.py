"""Several threads: the one that is looked at is left for no other while it stands, and `continue` is for all."""

import asyncio

import pytest
from agdbg_tests_driving import drive

from agdbg_ui.looking import Looking


def stop_of(screen, thread, reason="breakpoint"):
    where = f"before MeanBackward0, node {thread} of 12 of backward()"
    screen.hub.send("stopped", reason=reason, threadId=thread, description=where, text="")


def test_a_stop_of_another_thread_leaves_the_one_that_is_looked_at(shown):
    async def script(screen):
        session = screen.app.session
        await screen.stop(6)
        stop_of(screen, 2)
        await screen.until(lambda: session.view.stopped == (1, 2))
        await screen.until(lambda: "thread 2 stopped: before MeanBackward0" in screen.text)
        assert session.thread == 1 and "thread 1, one of 2 stopped (t)" in screen.title
        await screen.press("n")
        await screen.until(lambda: screen.hub.asked("next"))
        assert screen.hub.asked("next") == [{"threadId": 1}]
        await screen.press("t")
        assert session.thread == 2
        await screen.until(lambda: session.view.stop.thread == 2 and session.view.stop.frames)

    drive(shown, script)


def test_a_step_that_lasts_shows_who_stands_and_comes_back(shown):
    async def script(screen):
        hub, session = screen.hub, screen.app.session
        await screen.stop(6)
        hub.do_next = lambda threadId: {}
        await screen.press("n")
        await screen.until(lambda: hub.asked("next"))
        stop_of(screen, 2)
        await screen.until(lambda: session.thread == 2)
        await screen.until(lambda: session.view.stop is not None and session.view.stop.thread == 2)
        hub.stop(5)
        await screen.until(lambda: session.thread == 1 and session.view.stop.thread == 1)

    drive(shown, script)


def test_who_runs_is_left_for_the_one_that_stops(shown):
    async def script(screen):
        session = screen.app.session
        await screen.stop(6)
        await screen.press("c")
        await screen.until(lambda: session.view.life == "running")
        stop_of(screen, 3)
        await screen.until(lambda: session.thread == 3)
        stop_of(screen, 1)
        await screen.until(lambda: session.view.stopped == (1, 3))
        assert session.thread == 3

    drive(shown, script)


@pytest.mark.parametrize("how", ["key", "console"])
def test_continue_is_for_all_threads_that_stand(shown, how):
    async def script(screen):
        hub, session = screen.hub, screen.app.session
        hub.do_continue = lambda threadId: hub.send("continued", threadId=threadId) or {"allThreadsContinued": False}
        await screen.stop(6)
        for thread in (2, 3):
            stop_of(screen, thread)
        await screen.until(lambda: session.view.stopped == (1, 2, 3))
        await screen.press(*("c" if how == "key" else ["colon", *"continue", "enter"]))
        await screen.until(lambda: session.view.life == "running" and not session.view.stopped)
        assert sorted(asked["threadId"] for asked in hub.asked("continue")) == [1, 2, 3]

    drive(shown, script)


def test_others_that_stand_are_told_and_let_go_while_the_one_that_is_looked_at_runs(shown):
    async def script(screen):
        hub, session = screen.hub, screen.app.session
        await screen.stop(6)
        stop_of(screen, 2)
        await screen.until(lambda: session.view.stopped == (1, 2))
        hub.do_next = lambda threadId: {}
        await screen.press("n")
        await screen.until(lambda: session.view.life == "running")
        await screen.until(lambda: "1 other thread stopped (t)" in screen.title)
        await screen.press("c")
        await screen.until(lambda: hub.asked("continue") == [{"threadId": 2}])

    drive(shown, script)


def test_a_thread_that_has_ended_is_left(shown):
    async def script(screen):
        session = screen.app.session
        await screen.stop(6)
        stop_of(screen, 2)
        await screen.until(lambda: session.view.stopped == (1, 2))
        screen.hub.send("thread", reason="exited", threadId=1)
        await screen.until(lambda: session.thread == 2 and session.view.stopped == (2,))

    drive(shown, script)


def test_the_console_looks_at_the_thread_of_the_screen_and_turns_it(shown):
    async def script(screen):
        hub, session = screen.hub, screen.app.session
        await screen.stop(6)
        stop_of(screen, 2)
        await screen.until(lambda: session.view.stopped == (1, 2))
        await asyncio.wait_for(screen.app.commander.execute("skip"), 30)
        assert hub.asked("agdbg/skip") == [{"threadId": 1}]

    async def turns(screen):
        session = screen.app.session
        await screen.stop(6)
        stop_of(screen, 2)
        await screen.until(lambda: session.view.stopped == (1, 2))
        await asyncio.wait_for(screen.app.commander.execute("thread 2"), 30)
        assert session.thread == 2

    def skips(hub):
        hub.do_skip = lambda threadId: asyncio.get_running_loop().call_soon(hub.stop, 5) and {}

    drive(shown, script, prepare=skips)
    drive(shown, turns)


def test_who_stops_during_a_step_is_looked_at_only_when_the_step_lasts():
    looking = Looking()
    looking.has_begun = True
    looking.moves(1, "next")
    assert not looking.takes(2, True, True) and looking.runs_on() == 2
    assert looking.takes(1, True, True) and looking.thread == 1
    looking.moves(1, "continue")
    assert looking.takes(2, True, True) and looking.thread == 2
    assert not looking.takes(1, True, False)


def test_of_the_stops_that_are_told_to_a_client_that_joins_the_last_is_looked_at():
    looking = Looking()
    assert looking.takes(1, False, False) and looking.takes(3, True, False) and looking.thread == 3
    looking.has_begun = True
    assert not looking.takes(2, True, False) and looking.thread == 3


def test_a_stop_that_is_asked_for_where_one_thread_stands_is_for_the_others(shown):
    async def script(screen):
        hub = screen.hub
        hub.do_pause = lambda threadId: {}
        await screen.stop(6)
        await screen.press("z")
        await screen.until(lambda: "the program stands already; n runs the next node, c lets it go on" in screen.text)
        assert not hub.asked("pause")
        told = hub.do_status()
        hub.do_status = lambda: {**told, "threads": [*told["threads"], {"id": 2, "name": "loader", "stopped": False}]}
        await screen.press("z")
        await screen.until(lambda: "z has asked: the other thread stops at its next node" in screen.text)
        assert hub.asked("pause") == [{"threadId": 2}]
        others = [{"id": each, "name": f"loader {each}", "stopped": False} for each in (2, 3, 4)]
        hub.do_status = lambda: {**told, "threads": [*told["threads"], *others]}
        await screen.press("z")
        await screen.until(lambda: "z has asked: the next of 3 other threads at a node stops" in screen.text)
        assert hub.asked("pause") == 2 * [{"threadId": 2}]

    drive(shown, script)

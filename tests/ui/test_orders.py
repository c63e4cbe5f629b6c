"""Answers and events come in any order: what the screen says of a program that goes on or is to stop is right all the same."""

import asyncio

import pytest
from agdbg_tests_driving import drive

from agdbg.protocol.errors import RequestFailed
from agdbg_ui.moving import Moving


def stop_then_answer(hub):
    def pause(threadId):
        hub.stop(6, "pause")
        return {}

    hub.do_pause = pause


def answer_then_stop(hub):
    def pause(threadId):
        asyncio.get_running_loop().call_later(
            0.05, hub.stop, 6, "pause"
        )  # when it is said already that it is waited for
        return {}

    hub.do_pause = pause


@pytest.mark.parametrize("order", [stop_then_answer, answer_then_stop])
def test_a_pause_is_over_with_the_stop(shown, monkeypatch, order):
    monkeypatch.setattr("agdbg_ui.pausing.PAUSE_S", 0)

    async def script(screen):
        for turn in (1, 2, 3):
            await screen.press("z")
            await screen.until(lambda: screen.app.session.view.stop and screen.app.session.view.stop.frames)
            await screen.settle()
            assert not screen.app.session.view.pausing
            await screen.press("c")
            await screen.until(lambda: screen.app.session.view.life == "running" and not screen.app.session.view.stop)
            await screen.settle()
            assert "to stop at its next node" not in screen.title
            assert len(screen.hub.asked("pause")) == turn

    drive(shown, script, prepare=order)


def test_an_answer_to_a_pause_that_comes_after_the_program_goes_on_again(shown, monkeypatch):
    monkeypatch.setattr("agdbg_ui.pausing.PAUSE_S", 0)

    async def script(screen):
        hub, gate = screen.hub, asyncio.Event()
        hub.held["pause"], hub.do_pause = gate, lambda threadId: {}
        await screen.press("z")
        await screen.stop(6)
        await screen.press("c")
        await screen.until(lambda: screen.app.session.view.stop is None)
        gate.set()
        await screen.settle()
        assert not screen.app.session.view.pausing
        await screen.press("z")
        await screen.until(lambda: screen.app.session.view.pausing)
        assert len(hub.asked("pause")) == 2

    drive(shown, script)


def test_a_step_that_is_refused_while_the_program_goes_on_leaves_it_running(shown):
    async def script(screen):
        hub = screen.hub
        await screen.stop(6)
        hub.refuse["next"] = RequestFailed("thread 1 is not stopped")
        hub.state, hub.counter = "running", None
        hub.send("continued", threadId=1)  # another client has done that
        screen.app.session.step("next")
        await screen.until(lambda: screen.app.session.view.life == "running")

    drive(shown, script)


def test_a_thread_that_goes_on_stands_no_more_when_another_one_stops_at_once(shown):
    async def script(screen):
        hub, session = screen.hub, screen.app.session
        await screen.stop(6)
        hub.do_continue = lambda threadId: (
            hub.send("stopped", reason="breakpoint", threadId=2, description="", text="") or {}
        )
        await screen.press("c")
        await screen.until(lambda: session.view.stopped == (2,))
        assert session.stopped_thread == 2

    drive(shown, script)


def test_an_answer_behind_the_stop_it_has_led_to_and_one_that_is_refused():
    async def main():
        said = []
        moving = Moving(said.append)
        with moving.asks(1):
            assert moving.has(1) and not moving.has(2)
            moving.stopped(1)
        assert not moving.has(1)
        with moving.asks(1):
            moving.stopped(2)
        moving.goes(2)
        with pytest.raises(RequestFailed), moving.asks(1):
            raise RequestFailed("it is not stopped")
        assert moving.has(1) and moving.has(2)
        moving.stopped()
        assert not moving.has(1) and not moving.has(2) and not said

    asyncio.run(main())


def test_reading_is_said_of_a_program_that_runs_and_of_which_nothing_is_known_yet(shown):
    async def script(screen):
        await screen.until(lambda: "reading the recording …" in screen.app.lanes.note)
        screen.hub.send("progressStart", progressId="1", title="Reading the recording", percentage=40)
        await screen.until(lambda: "reading the recording … 40 %" in screen.app.lanes.note)
        screen.app.session.view = screen.app.session.view._replace(idle_from=-9.0)
        screen.app._tick()
        assert "reading the recording … 40 %" in screen.app.lanes.note
        screen.hub.held["agdbg/rows"].set()
        await screen.until(lambda: "no autograd recorded yet" in screen.app.lanes.note)

    def held(hub):
        hub.size, hub.held["agdbg/rows"] = 0, asyncio.Event()

    drive(shown, script, prepare=held, command="attach")


def test_an_answer_that_is_older_than_the_end_of_the_program_is_not_what_it_is(shown):
    async def script(screen):
        hub, session = screen.hub, screen.app.session
        status = hub.do_status

        def older():
            body, hub.do_status = status(), status
            hub.end(3)
            return body

        hub.do_status = older
        await session.fetch_status()
        assert (session.view.life, session.view.exit) == ("ended", 3)

    drive(shown, script)


def test_an_answer_about_control_that_is_older_than_what_an_event_tells(shown):
    async def script(screen):
        hub, control = screen.hub, screen.app.session.control
        answer = hub.do_control

        def older(**arguments):
            body, hub.do_control = answer(**arguments), answer
            hub.take_away()
            return body

        hub.do_control = older
        await control.look()
        assert screen.app.session.view.hands == "watching"
        hub.holder, hub.do_control = "", lambda take=False: older(take=True) if take else answer()
        await control.take()
        assert screen.app.session.view.hands == "watching"

    drive(shown, script)

"""Two screens at one program on a real hub: one moves it, the other watches until it takes control."""

import asyncio
import os
import signal
from contextlib import suppress

import pytest
from agdbg_tests_driving import drive
from agdbg_tests_states import STATES

from agdbg.hub.starting import start_hub
from agdbg.protocol.async_client import AsyncClient
from agdbg_ui.app import AgdbgApp

PATIENCE_S = 60.0
SCRIPT = """\
import agdbg_engine as ag

x = ag.tensor([3.0, 4.0], requires_grad=True)
y = (x * x).exp().sum()
y.backward()
"""


@pytest.fixture
def hub(tmp_path, monkeypatch):
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    (tmp_path / "train.py").write_text(SCRIPT)
    started = start_hub()
    fd = os.pidfd_open(started.pid)
    yield started.client_socket
    with suppress(ProcessLookupError):  # it has ended with its last client
        signal.pidfd_send_signal(fd, signal.SIGTERM)
    os.close(fd)


def screen_at(hub, command, **arguments):
    async def connect():
        return await AsyncClient.connect(hub)

    return AgdbgApp(connect, command, arguments)


async def until(pilot, condition):
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await pilot.pause(0.01)


def title(app):
    return app.query_one("#title").text


def notes(app):
    return " ".join(each.message for each in app._notifications)


def test_the_other_screen_takes_control_and_the_first_is_told(hub, tmp_path):
    async def main():
        first = screen_at(hub, "launch", program="train.py", cwd=str(tmp_path), stopOnEntry=True)
        async with first.run_test(size=(120, 40), notifications=True) as one:
            await until(one, lambda: "stopped" in title(first))
            await one.press("n")
            await until(one, lambda: "stopped before ExpBackward0" in title(first))
            assert "control" not in title(first)  # nobody else is there
            second = screen_at(hub, "attach")
            async with second.run_test(size=(120, 40), notifications=True) as other:
                await until(other, lambda: "watching (C)" in title(second) and "Exp" in title(second))
                await other.press("n")
                await until(other, lambda: "has control" in notes(second))
                assert notes(second).endswith("since it moved the program last; C takes it over")
                assert "ExpBackward0" in title(first)
                await other.press("C")
                await until(other, lambda: "in control" in title(second))
                await until(other, lambda: "watching (C)" in title(first))
                assert "has taken control: C takes it back" in notes(first)
                await other.press("n")
                await until(other, lambda: "before MulBackward0" in title(second))
                await until(other, lambda: "before MulBackward0" in title(first))
                await one.press("n")
                await until(one, lambda: "C takes it over" in notes(first))
                await one.press("C")
                await until(one, lambda: "in control" in title(first) and "watching (C)" in title(second))
                await one.press("C")
                await until(one, lambda: "this screen has control already" in notes(first))
                second.session.close()
            await first.session.part(True, PATIENCE_S)
            first.session.close()

    asyncio.run(main())


def norm_at_counter(app):
    """The norm in the row of the node that runs next."""
    pages = app.lanes.pages
    row = pages.row(pages.counter)
    return row["gradient"] if row["op"] == "ExpBackward0" else None


@pytest.mark.parametrize("before", [(), ("home",)], ids=["selected", "elsewhere"])
def test_the_graph_follows_a_gradient_that_was_changed_by_hand(hub, tmp_path, before):
    """The gradient of sum() is 1; of both elements plus one the norm is sqrt(8)."""

    async def main():
        app = screen_at(hub, "launch", program="train.py", cwd=str(tmp_path), stopOnEntry=True)
        async with app.run_test(size=(220, 60), notifications=True) as pilot:
            await until(pilot, lambda: "stopped before SumBackward0" in title(app))
            await pilot.press("n")
            await until(pilot, lambda: "stopped before ExpBackward0" in title(app))
            await until(pilot, lambda: norm_at_counter(app) == pytest.approx(2**0.5, rel=1e-3))
            await pilot.press(*before, "colon")
            app.prompt.line.value = "set grad[0] = grads[0] + 1"
            await pilot.press("enter")
            await until(pilot, lambda: norm_at_counter(app) == pytest.approx(8**0.5, rel=1e-3))
            await until(pilot, lambda: not app.commander.is_busy)
            await app.session.part(True, PATIENCE_S)
            app.commander.close()
            app.session.close()

    asyncio.run(main())


def test_the_title_says_that_an_expression_is_evaluated(shown):
    async def script(screen):
        await STATES["evaluating"].script(screen)
        screen.hub.held.pop("evaluate").set()
        await screen.until(lambda: "evaluating" not in screen.title)

    drive(shown, script)


def test_a_screen_says_at_once_that_another_client_has_begun_to_move_the_program(shown):
    async def script(screen):
        await STATES["stopped"].script(screen)
        screen.hub.take_away(lost=False)
        await screen.until(lambda: "watching (C)" in screen.title)
        assert "has taken control" not in screen.text  # this one did not have it
        screen.hub.holder = ""
        screen.hub.send("agdbg/controlChanged", holder="", lost=False)
        await screen.until(lambda: "watching" not in screen.title)

    drive(shown, script)

"""Any sequence of keys: the screen never ends by a mistake of its own, and the program's result is the same."""

import asyncio
import os
import signal
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agdbg.hub.starting import start_hub
from agdbg.protocol.async_client import AsyncClient
from agdbg_ui.app import AgdbgApp
from agdbg_ui.keymap import bindings
from agdbg_ui.widgets.boxes import Boxes
from agdbg_ui.widgets.findings import FindingsPane
from agdbg_ui.widgets.inspector import Inspector
from agdbg_ui.widgets.rows import Rows
from agdbg_ui.widgets.source import SourcePane
from agdbg_ui.widgets.stops import StopsPane

pytestmark = pytest.mark.painted

PATIENCE_S = 60.0
PANES = (Rows, Inspector, SourcePane, FindingsPane, StopsPane, Boxes)
KEYS = sorted(
    {key for binding in bindings() for key in binding.key.split(",")}
    | {key for pane in PANES for binding in pane.BINDINGS for key in binding.key.split(",")}
)
#: Keys that are all there before the first of them is handled; the palette lies over the screen before those that follow.
BURSTS = [("ctrl+p", *keys) for keys in (("enter", "enter"), ("escape", "escape"), ("enter", "escape", "n"))]
#: Leaving ends the run early, and what these type goes to the program.
LEAVING = {"q", "ctrl+q", "i", "ctrl+e"}
SCRIPT = """\
import agdbg_engine as ag

x = ag.tensor([1.0, 2.0], requires_grad=True)
w = ag.tensor([3.0, 5.0], requires_grad=True)
for _ in range(3):
    loss = ((x * w).exp() + x.sin()).sum()
    loss.backward()
with open("result", "w") as file:
    file.write(f"{x.grad.tolist()} {w.grad.tolist()}")
"""
settled = settings(
    deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


async def burst(screen, keys):
    await screen.press(keys[0])
    await screen.at_once(*keys[1:])


@settled
@given(
    st.lists(st.sampled_from([*KEYS, *BURSTS]), min_size=5, max_size=30),
    st.sampled_from([(80, 24), (220, 60), (41, 11)]),
)
def test_no_keys_end_it_by_a_mistake(new_app, on_screen, tmp_path, monkeypatch, keys, size):
    monkeypatch.chdir(tmp_path)

    async def main():
        app = new_app()
        async with app.run_test(size=size, notifications=True) as pilot:
            screen = on_screen(app, pilot)
            await screen.ready()
            screen.hub.stop(6)
            for key in keys:
                if not app.is_running:
                    break
                await (pilot.press(key) if isinstance(key, str) else burst(screen, key))
            await pilot.pause()
        return app

    app = asyncio.run(main())
    assert app.return_code in (None, 0)
    assert app.return_value is None or not app.return_value.error


@pytest.fixture
def runtime(tmp_path, monkeypatch):
    path = tmp_path / "run"
    path.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@settings(parent=settled, max_examples=5)
@given(st.lists(st.sampled_from([key for key in KEYS if key not in LEAVING]), min_size=10, max_size=40))
def test_no_keys_change_the_result_of_the_program(runtime, keys):
    (runtime / "train.py").write_text(SCRIPT)
    (runtime / "result").unlink(missing_ok=True)
    started = start_hub()
    fd = os.pidfd_open(started.pid)

    async def connect():
        return await AsyncClient.connect(started.client_socket)

    async def main():
        arguments = {"program": str(runtime / "train.py"), "cwd": str(runtime), "stopOnEntry": True}
        app = AgdbgApp(connect, "launch", arguments)
        async with app.run_test(size=(120, 40), notifications=True) as pilot:
            async with asyncio.timeout(PATIENCE_S):
                while app.session is None or app.session.view.stop is None:
                    await pilot.pause(0.01)
            for key in keys:
                await pilot.press(key)
            assert app.is_running
            async with asyncio.timeout(PATIENCE_S):
                await app.session._backend.request("agdbg/control", take=True)
                await go_on(app, pilot)
            app.commander.close()
            app.session.close()
            await pilot.pause()
        return app

    try:
        app = asyncio.run(main())
    finally:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(fd, signal.SIGTERM)
        os.close(fd)
    assert app.return_code in (None, 0)
    x = [3 * (3 * 2.718281828459045**3 + 0.5403023058681398), 3 * (5 * 2.718281828459045**10 - 0.4161468365471424)]
    w = [3 * 2.718281828459045**3, 3 * 2 * 2.718281828459045**10]
    found = (runtime / "result").read_text().replace("[", "").replace("]", "").replace(",", "").split()
    assert [float(each) for each in found] == pytest.approx([*x, *w], rel=1e-5)


async def go_on(app, pilot):
    """Let the program run to its end, whatever stops it."""
    await app.session._backend.request("setExceptionBreakpoints", filters=[])
    await app.session._backend.request("setFunctionBreakpoints", breakpoints=[])
    while app.session.view.life not in ("ended", "lost"):
        for thread in list(app.session._stops):
            with suppress(Exception):
                await app.session._backend.request("continue", threadId=thread)
        await pilot.pause(0.02)

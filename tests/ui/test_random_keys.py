"""Any sequence of keys: the screen never ends by a mistake of its own, and the program's result is the same."""

import asyncio
import os
import signal
from contextlib import nullcontext, suppress

import pytest
from agdbg_tests_classes import all_of_the_ui
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual.binding import Binding
from textual.keys import _character_to_key

from agdbg.hub.starting import start_hub
from agdbg.protocol.async_client import AsyncClient
from agdbg_ui import editor
from agdbg_ui.app import AgdbgApp
from agdbg_ui.widgets.program_input import ProgramInput

pytestmark = pytest.mark.painted

PATIENCE_S = 60.0


def keys_of(cls):
    """The keys that a class of the UI binds itself."""
    own = vars(cls).get("BINDINGS", ())
    keys = [each.key if isinstance(each, Binding) else each[0] for each in own]
    return {key for each in keys for key in each.split(",")}


#: All that the app, its screens and its panes bind, however many there are.
KEYS = sorted(set().union(*map(keys_of, {AgdbgApp, *all_of_the_ui()})))
#: What is typed where there is a line for it, and is keys elsewhere: of commands, of Python, of none of them.
TEXTS = ["help", "1 + 1", "grad * 0", "break *", "view boxes", "(", "ü漢", "17"]
#: Keys that are all there before the first of them is handled; the palette lies over the screen before those that follow.
BURSTS = [("ctrl+p", *keys) for keys in (("enter", "enter"), ("escape", "escape"), ("enter", "escape", "n"))]
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


@pytest.fixture(autouse=True)
def no_editor(monkeypatch):
    """ctrl+e: the editor ends at once."""
    monkeypatch.setattr(editor, "command", lambda path, line: ["true"])
    monkeypatch.setattr(editor, "run", lambda path, line: "")
    monkeypatch.setattr(AgdbgApp, "suspend", lambda self: nullcontext())


def typed(text):
    return [_character_to_key(each) for each in text]


def test_the_keys_are_those_of_all_screens_and_panes():
    assert {"q", "i", "ctrl+e", "tab", "l", "a", "space", "question_mark", "equals_sign"} <= set(KEYS)
    assert keys_of(ProgramInput) <= set(KEYS) and len(KEYS) > 60


@settled
@given(
    st.lists(st.sampled_from([*KEYS, *BURSTS, *map(typed, TEXTS)]), min_size=5, max_size=30),
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
                if isinstance(key, tuple):
                    await burst(screen, key)
                else:
                    await pilot.press(*([key] if isinstance(key, str) else key))
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
@given(st.lists(st.sampled_from([*([key] for key in KEYS), *map(typed, TEXTS)]), min_size=10, max_size=40))
def test_no_keys_change_the_result_of_the_program(runtime, monkeypatch, keys):
    """But those that ask for that: to kill it, to interrupt it, to set a gradient."""
    monkeypatch.setattr(AgdbgApp, "_finish", lambda app, answer: None)  # whoever leaves stays here
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
            for key in (each for group in keys for each in group):
                interrupts = key == "ctrl+c" and isinstance(app.focused, ProgramInput)
                sets = key == "enter" and app.prompt.asks_for("set")
                await pilot.press("escape" if interrupts or sets else key)
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

"""Fixtures for the tests of the terminal UI: a made-up hub, and the app on it."""

import asyncio
import importlib.util
import os
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual import events
from textual._context import visible_screen_stack
from textual.widgets import Input

from agdbg_ui.app import AgdbgApp

HERE = Path(__file__).parent
PATIENCE_S = 30.0


def _load(name):
    """Load a helper module that lies beside this file; tests import it as ``agdbg_tests_<name>``."""
    spec = importlib.util.spec_from_file_location(f"agdbg_tests_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


fake_hub = _load("fake_hub")
tmux = _load("tmux")
idle = _load("idle")
_load("textual_memo").install()
_load("classes")
_load("driving")
_load("states")
_load("states_tensor")  # which adds its own


@pytest.fixture(autouse=True)
def idle_at_once(monkeypatch):
    """A pilot knows when the app is idle from its event loop; Textual guesses it from the process, in 20 ms or many of them."""
    monkeypatch.setattr("textual.pilot.wait_for_idle", idle.until_idle)
    monkeypatch.setattr("textual.app.wait_for_idle", idle.until_idle)
    monkeypatch.setattr("textual.pilot.Pilot._wait_for_screen", idle.until_handled)


@pytest.fixture(autouse=True)
def nobody_looks(request, monkeypatch):
    """What has changed is laid out but not painted, which is half of the time of a test: whoever looks at the screen has all
    of it rendered then. Tests with the mark ``painted`` have every change painted at once, as in a terminal.
    """

    def compositor_refresh(screen):
        screen._dirty_widgets.clear()
        screen._compositor._dirty_regions.clear()
        screen.app._update_mouse_over(screen)

    if request.node.get_closest_marker("painted") is None:
        monkeypatch.setattr("textual.screen.Screen._compositor_refresh", compositor_refresh)


@pytest.fixture(autouse=True)
def colourful_terminal(monkeypatch):
    """Whatever terminal the tests run on, the app is shown on one that has all colours."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("TMUX", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")


class Screen:
    """The app on a made-up hub, and how to wait for it."""

    def __init__(self, app, pilot):
        self.app, self.pilot = app, pilot

    @property
    def hub(self):
        return self.app.hub

    async def until(self, condition, what=""):
        """Wait until something is so."""
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                await self.pilot.pause()
                await asyncio.sleep(idle.GLANCE_S)

    async def ready(self):
        """Wait until the app has connected. However slow the machine is, a step is then waited for until it has stopped."""
        await self.until(lambda: self.app.session is not None and self.app.session.view.life != "starting")
        self.app.session._steps.patience = PATIENCE_S
        await self.settle()

    async def settle(self):
        """Wait until nothing is in flight any more, as far as the screen knows."""
        for _ in range(5):
            await self.pilot.pause()

    async def press(self, *keys):
        await self.pilot.press(*keys)
        await self.settle()

    async def at_once(self, *keys):
        """Press keys so fast that all are there before the first is handled."""
        for key in keys:
            self.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await self.settle()

    async def stop(self, row, **how):
        self.hub.stop(row, **how)
        await self.until(lambda: self.app.session.view.stop and self.app.session.view.stop.frames)
        await self.until(lambda: self.app.lanes.pages.counter == row)
        await self.settle()

    @property
    def title(self):
        return self.app.query_one("#title").text

    def lines(self):
        """What the terminal shows, line by line.

        What a dialog lets through of the screen below it is rendered with it, and kept: it has to know what that is.
        """
        visible_screen_stack.set(self.app._background_screens)
        strips = self.app.screen._compositor.render_strips()
        return ["".join(segment.text for segment in strip) for strip in strips]

    @property
    def text(self):
        return "\n".join(self.lines())


def make_app(command="launch", arguments=None, clock=lambda: 0.0, memory=None, **hub):
    """An app whose hub is made up; `app.hub` is there once it has connected."""

    async def connect():
        app.hub = fake_hub.FakeHub(**hub)
        for change in app.prepare:
            change(app.hub)
        return app.hub

    app = AgdbgApp(connect, command, arguments or {"program": fake_hub.SCRIPT}, clock, memory)
    app.prepare = []
    return app


@pytest.fixture
def new_app():
    """Make an app on a made-up hub."""
    return make_app


@pytest.fixture
def on_screen():
    """What waits for an app and reads its screen."""
    return Screen


@pytest.fixture
def shown():
    """Run the app without a terminal; it has connected when the block begins."""

    @asynccontextmanager
    async def show(size=(80, 24), prepare=None, **how):
        app = make_app(**how)
        if prepare is not None:
            app.prepare.append(prepare)
        async with app.run_test(size=size, notifications=True) as pilot:
            screen = Screen(app, pilot)
            await screen.ready()
            yield screen

    return show


@pytest.fixture
def looks(snap_compare, new_app, on_screen, monkeypatch):
    """Compare the screen after a script; the script gets a `Screen`. No cursor blinks."""
    monkeypatch.setattr(Input, "_toggle_cursor", lambda self: None)

    def compare(script, size, prepare=None, **how):
        app = new_app(**how)
        if prepare is not None:
            app.prepare.append(prepare)

        async def run_before(pilot):
            screen = on_screen(app, pilot)
            await screen.ready()
            await script(screen)
            await screen.settle()

        return snap_compare(app, terminal_size=size, run_before=run_before)

    return compare


@pytest.fixture
def new_terminal(tmp_path):
    """Open terminals in a folder of the test's own; the hubs that are left there are killed in the end."""
    made = []

    def start(**size):
        made.append(tmux.Tmux(tmp_path, **size))
        return made[-1]

    yield start
    for hub in tmux.hubs(tmp_path):
        os.kill(hub, signal.SIGKILL)
    for each in made:
        each.close()

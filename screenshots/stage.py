"""A real session to be photographed: the app, without a terminal, on a hub of its own that runs a real program."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from picture import lines, stable
from relabel import Relabelled
from textual.pilot import Pilot

from agdbg.hub.starting import start_hub
from agdbg.protocol.async_client import AsyncClient
from agdbg_ui.app import AgdbgApp
from agdbg_ui.messages import Moved

ROOT = Path(__file__).resolve().parent.parent
#: What the screen says instead of the name of the temporary directory.
SHOWN = "/home/user/agdbg"
#: Stands for the directory that a run makes: its real name has the time in it.
STAMP = "20260102-030405"
#: Seconds that anything may take.
PATIENCE_S = 60.0
#: Looks at the screen between which nothing may happen until it counts as settled.
_LOOKS = 5


class Screen:
    """The app on its hub: press keys, wait for what the screen then says, take a picture."""

    def __init__(self, app: AgdbgApp, pilot: Pilot[Any], backend: Callable[[], Relabelled | None]) -> None:
        self.app = app
        self._pilot, self._backend = pilot, backend

    async def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        await self._pilot.press(*keys)

    async def type(self, text: str) -> None:
        """Press the keys of a text."""
        await self._pilot.press(*({" ": "space", ".": "full_stop", "*": "asterisk"}.get(key, key) for key in text))

    async def sees(self, *texts: str) -> None:
        """Wait until the screen says all of that.

        Raises:
            TimeoutError: it does not; the message has what it says instead.
        """
        await self._until(lambda: all(text in self.text for text in texts), f"the screen does not say {texts}")

    async def settle(self) -> None:
        """Wait until no request is in flight and the screen has stopped changing."""
        looks: list[str] = []

        def is_still() -> bool:
            backend = self._backend()
            looks.append("" if backend is None or backend.in_flight else self._svg())
            return len(looks) > _LOOKS and looks[-1] != "" and len(set(looks[-_LOOKS:])) == 1

        await self._until(is_still, "the screen does not come to rest")

    async def picture(self) -> str:
        """The screen as SVG, with the newest state in all panes and without the notes that go away by themselves."""
        self.app.post_message(Moved())
        self.app.clear_notifications()
        await self.settle()
        return stable(self._svg())

    @property
    def text(self) -> str:
        """What the screen says, line by line."""
        return "\n".join(lines(stable(self._svg())))

    def _svg(self) -> str:
        return self.app.export_screenshot(title="agdbg")

    async def _until(self, condition: Callable[[], bool], complaint: str) -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not condition():
                    await self._pilot.pause()
        except TimeoutError:
            raise TimeoutError(f"{complaint} within {PATIENCE_S:g} s, but\n{self.text}") from None


class Stage:
    """A temporary directory in which programs run and leave their recordings."""

    def __init__(self, directory: str) -> None:
        self._real = os.path.realpath(directory)

    def launch(self, program: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
        """The request that runs a program, stopped before its first node, as ``agdbg run`` does."""
        place = {"program": f"{SHOWN}/{program}", "cwd": SHOWN, "trace": _trace(program), "env": _ENVIRONMENT}
        return "launch", {**place, "stopOnEntry": True, **arguments}

    def edit(self, program: str, old: str, new: str) -> None:
        """Change a program that has not run yet, as a person would; ``old`` stands in it once."""
        file = Path(self._real) / program
        before, found, after = file.read_text(encoding="utf-8").partition(old)
        if not found or old in after:
            raise ValueError(f"{program} does not have this once: {old}")
        file.write_text(before + new + after, encoding="utf-8")

    def open(self, program: str) -> tuple[str, dict[str, Any]]:
        """The request that shows the recording of a program that ran here, as ``agdbg open`` does."""
        return "attach", {"trace": _trace(program)}

    @asynccontextmanager
    async def screen(self, size: tuple[int, int], request: tuple[str, dict[str, Any]]) -> AsyncIterator[Screen]:
        """The app on a screen of so many columns and rows; in the end its program and its hub are ended."""
        backend: Relabelled | None = None

        async def connect() -> Relabelled:
            nonlocal backend
            client = await AsyncClient.connect(address, timeout=PATIENCE_S)
            backend = Relabelled(client, self._real, SHOWN)
            return backend

        address = start_hub().client_socket
        app = AgdbgApp(connect, *request, clock=lambda: 0.0)
        async with app.run_test(size=size, notifications=True) as pilot:
            try:
                yield Screen(app, pilot, lambda: backend)
            finally:
                if app.session is not None:
                    await app.session.part(kill=True, patience=PATIENCE_S)
                    app.session.close()


#: The programs' surroundings are the same everywhere.
_ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def _trace(program: str) -> str:
    return f"{SHOWN}/.agdbg/{program.removesuffix('.py')}-{STAMP}"


@asynccontextmanager
async def new_stage() -> AsyncIterator[Stage]:
    """A stage with a copy of the examples, which is gone afterwards."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        for programs in (ROOT / "examples", ROOT / "screenshots" / "programs"):
            shutil.copytree(programs, directory, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        yield Stage(directory)

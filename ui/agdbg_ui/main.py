"""The ways into the UI: run a program, open a trace, attach to a hub."""

import gc
import os
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from agdbg_ui.result import TuiResult

if TYPE_CHECKING:
    from agdbg_ui.app import AgdbgApp
    from agdbg_ui.backend import Backend

#: How long after Esc the rest of a key's sequence may come, in milliseconds: people type the next key later than that.
ESCAPE_MS = 40
#: Frames a second at most: what a key changes waits for half a frame, twice where something is asked for.
FRAMES = 120

__all__ = ["TuiResult", "attach", "open_trace", "run_tui"]


def run_tui(launch_arguments: dict[str, Any], *, address: str | None = None) -> TuiResult:
    """Run a program in the debugger on this terminal, until the user quits.

    Args:
        launch_arguments: those of the protocol's ``launch``.
        address: of a hub that waits for a program; None starts one.
    """
    return _show("launch", launch_arguments, address)


def open_trace(path: str | os.PathLike[str]) -> TuiResult:
    """Show a recording: the same screen, without a program."""
    return _show("attach", {"trace": os.path.abspath(path)}, None)


def attach(address: str, token: str = "") -> TuiResult:
    """Join what a hub runs; one at a port wants its token."""
    return _show("attach", {"token": token} if token else {}, address)


def _show(command: str, arguments: dict[str, Any], address: str | None) -> TuiResult:
    """A hub takes as long to start as the UI to be loaded, so both are done at once."""
    with ThreadPoolExecutor(1) as beside:
        found = beside.submit(_address, address, str(arguments["trace"]) if command == "attach" and not address else "")
        os.environ.setdefault("ESCDELAY", str(ESCAPE_MS))  # Textual reads these once, when it is loaded
        os.environ.setdefault("TEXTUAL_FPS", str(FRAMES))
        gc.disable()  # nothing of what is loaded is garbage, and looking for some takes a tenth of the time to the first frame
        from agdbg_ui.app import AgdbgApp
        from agdbg_ui.driver import TerminalDriver
        from agdbg_ui.memory import Memory

        reach = _reach if address is None or "/" in address else None
        app = AgdbgApp(_connector(found), command, arguments, memory=Memory.of_person(), reach=reach)
        app.driver_class = TerminalDriver
        return app.run() or _crash(app)


def _address(address: str | None, trace: str = "") -> str:
    """That of a hub; of a new one that begins to read a trace at once, where there is none."""
    if address is not None:
        return address
    from agdbg.hub.starting import start_hub

    return start_hub(["--foresee", trace] if trace else []).client_socket


def _connector(found: "Future[str]") -> "Callable[[], Awaitable[Backend]]":
    async def connect() -> "Backend":
        from asyncio import wrap_future

        from agdbg.protocol.async_client import AsyncClient

        address: str = await wrap_future(found)
        gc.freeze()  # what is there stays: to go through all of it again and again would take longer than a frame
        gc.enable()
        return await AsyncClient.connect(address)

    return connect


async def _reach(address: str) -> "Backend":
    """The hub at an address; without one a new hub."""
    from asyncio import to_thread

    from agdbg.protocol.async_client import AsyncClient

    return await AsyncClient.connect(address or await to_thread(_address, None))


def _crash(app: "AgdbgApp") -> TuiResult:
    """The UI has ended without a result: by an error of which Textual has told, if it says so."""
    if not app.return_code:
        return TuiResult()
    error = f"the terminal UI ended by a mistake of its own (code {app.return_code})"
    if app.turning.home is None:
        return TuiResult(error=error, is_crash=True)
    view = app.turning.home.view
    return TuiResult(
        error=error, is_crash=True, trace=view.trace, left_running=view.alive, program=view.script, pid=view.pid
    )

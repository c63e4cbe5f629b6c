"""The terminal UI, for the commands that can show it. It lies above the debugger, so it is looked up by its name."""

import os
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from agdbg import interrupts, status
from agdbg.commands import farewell
from agdbg.errors import InputError
from agdbg.launch import place
from agdbg.record.children import children_of
from agdbg.tell import tell


def is_possible() -> bool:
    """True when this process speaks with a person at a terminal that can show it."""
    return _at_a_terminal() and not _is_dumb()


def mention_dumb() -> None:
    """Say why it is not shown at a terminal that cannot: the person may not know."""
    if _at_a_terminal() and _is_dumb():
        tell("TERM is dumb or not set, so there is no UI: the script runs as with --headless")


def _at_a_terminal() -> bool:
    streams = (sys.stdin, sys.stdout)
    if not hasattr(os, "pidfd_open"):  # the hub needs it: Linux
        return False
    return all(stream is not None and not stream.closed and stream.isatty() for stream in streams)


def _is_dumb() -> bool:
    return os.environ.get("TERM", "dumb") == "dumb"


def require(command: str, otherwise: str) -> None:
    """Refuse to go on without a terminal.

    Raises:
        InputError: there is none; ``otherwise`` says what works without.
    """
    if not is_possible():
        raise InputError(f"agdbg {command} needs a terminal (standard input and output, TERM not dumb); {otherwise}")


def run(arguments: dict[str, Any], *, keep: bool = True) -> int:
    """Run a program on the screen; ``arguments`` are those of the protocol's ``launch``. Return the exit status.

    Without ``keep`` the trace is removed, unless the program still runs.
    """

    def tidy() -> None:
        if not keep:
            place.remove(arguments["trace"])

    with interrupts.tidied(tidy):
        result = _ui().run_tui(arguments)
    exit_status = _concluded(result, keep=keep)
    if not keep and not result.left_running:
        place.remove(arguments["trace"])
    return exit_status


def open_trace(path: str) -> int:
    """Show a recording."""
    return _concluded(_ui().open_trace(path), mention=False)


def attach(address: str, token: str = "") -> int:
    """Join what a hub runs; one at a port wants its token."""
    return _concluded(_ui().attach(address, token))


def _ui() -> Any:
    """The UI, which Ctrl-C may keep from being loaded; the hub that is started meanwhile ends with this process."""
    interrupts.hush()
    return import_module("agdbg_ui.main")


def _concluded(result: Any, *, mention: bool = True, keep: bool = True) -> int:
    """Say what is to be said once the terminal is the shell's again; the exit status is the program's.

    Without ``mention`` a recording was looked at, and how its program has ended is no matter; without
    ``keep`` its directory is about to go, unless the program runs.
    """
    if result.error:
        tell(f"error: {result.error}")
    if mention and (said := farewell.ending(result, keep=keep)):
        tell(said)
    if result.trace and mention and (keep or result.left_running):
        mention_trace(Path(result.trace))
    if result.signal is not None:
        return int(status.BY_SIGNAL + result.signal)
    if result.is_crash:
        return status.INTERNAL
    if result.status is not None and mention:
        return int(result.status)
    if result.killed:  # the hub sees to it
        return int(status.BY_SIGNAL + signal.SIGKILL)
    if result.error:
        return status.INTERNAL if result.program else status.BAD_INPUT  # the hub is gone, or it never began
    return status.OK


def mention_trace(directory: Path) -> None:
    """Say where the trace is; where a program has used no autograd engine, there may be only what it printed."""
    output = directory / place.OUTPUT_FILE
    if place.holds_trace(directory):
        if unrecorded := str(children_of(directory)):
            tell(unrecorded)
        tell(f"trace: {_short(str(directory))}")
    elif output.is_file() and output.stat().st_size:
        tell(f"output: {_short(str(output))}")


def _short(path: str) -> str:
    """``path`` from here, when it is below."""
    try:
        found = os.path.relpath(path)
    except (OSError, ValueError):
        return path
    return path if found.startswith(os.pardir) else found

"""How a client introduces itself to a hub, and what it has to catch up with."""

import asyncio
import os
import sys
from typing import Any

from agdbg_ui.backend import Backend
from agdbg_ui.filters import Filters
from agdbg_ui.queries import Queries

#: Output fetched when joining a program that has printed already, in bytes.
HISTORY = 262_144


async def begin(
    backend: Backend, command: str, arguments: dict[str, Any], initialized: asyncio.Event, filters: Filters
) -> None:
    """Initialize, launch or attach, switch on the filters that are the default, and let the program start.

    Args:
        backend: the connection.
        command: ``launch`` or ``attach``.
        arguments: its arguments; the hub refuses those that are no good.
        initialized: set when the hub takes breakpoints.
        filters: those of errors.
    """
    request = backend.request
    who = {"clientID": "agdbg", "clientName": f"agdbg{terminal()}", "adapterID": "agdbg", "pathFormat": "path"}
    abilities = await request("initialize", **who, supportsProgressReporting=True, supportsInvalidatedEvent=True)
    await request(command, **arguments)
    await initialized.wait()
    await filters.begin(abilities)
    await request("configurationDone")


def terminal() -> str:
    """`` on pts/3``: the terminal of this screen, by which others tell it from theirs; "" without one."""
    try:
        return f" on {os.ttyname(sys.__stdin__.fileno()).removeprefix('/dev/')}" if sys.__stdin__ is not None else ""
    except (OSError, ValueError):  # no terminal, or a standard input that is no file
        return ""


async def printed_before(ask: Queries) -> tuple[str, bool]:
    """The end of what the program has printed until now, and whether that is kept at all."""
    there = await ask.output(0, 0)
    total, kept = there["total"], there["kept"]
    text = (await ask.output(max(0, total - HISTORY), HISTORY))["text"] if total else ""
    return text, kept

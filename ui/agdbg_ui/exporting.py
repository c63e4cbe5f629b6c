"""Asks for a file, and lets the hub write the graph to it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.app import App

from agdbg.counted import counted
from agdbg.errors import InputError
from agdbg.protocol.errors import RequestFailed
from agdbg_ui.screens.export import ExportScreen

if TYPE_CHECKING:
    from agdbg_ui.session import Session


def export(app: App[Any], session: Session, say: Callable[[str], object]) -> None:
    """Show the page that asks for the file; `say` tells what was written in the end."""

    async def write(path: str, overwrite: bool) -> str:
        try:
            body = await session.ask.export(path, overwrite)
        except RequestFailed as error:
            raise InputError(str(error).removeprefix("agdbg/export: ")) from None
        return f"{counted(body['nodes'], 'node')} written to {body['path']}"

    def written(said: str | None) -> None:
        if said is not None:
            say(said)

    script = os.path.splitext(session.view.script)[0] or "agdbg"
    app.push_screen(ExportScreen(f"{script}-graph.svg", write), written)

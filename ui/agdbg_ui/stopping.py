"""Keeps the pane of breakpoints and threads up to date, and does what is chosen in it."""

import os
from typing import TYPE_CHECKING, Any

from agdbg_ui.backend import FAILURES
from agdbg_ui.newest import Newest
from agdbg_ui.session import Session
from agdbg_ui.spots import Spot
from agdbg_ui.widgets.stops import Item, items_of

if TYPE_CHECKING:
    from agdbg_ui.app import AgdbgApp

#: Said of the one thread that a recording has.
NO_THREAD = "no program runs; n and p walk through its recording"
#: Said of the one process that there is.
OTHER_PROCESSES = (
    "each rank, child and other program that is recorded has a hub of its own: agdbg attach --list names those that run"
)


class Stopping:
    """What is behind the pane."""

    def __init__(self, app: "AgdbgApp", session: Session) -> None:
        self._app, self._session = app, session
        self._pane = app.panes.stops
        self._fetching = Newest(self._fetch, session.keep)

    def ask(self) -> None:
        """Fetch what there is."""
        self._fetching.ask()

    async def _fetch(self) -> None:
        session = self._session
        try:
            status = await session.ask.status()
        except FAILURES:
            status = {"threads": []}  # a hub that is gone: what it was told of stays
        threads = status["threads"]
        told = [self._told(each) for each in threads]
        filters = session.filters
        self._pane.show(
            items_of(session.breakpoints.bodies, session.hits, filters.known, filters.on, told, self._processes(status))
        )

    def _processes(self, status: dict[str, Any]) -> list[dict[str, Any]]:
        """A hub has one program, in one process; ranks and other programs have hubs of their own."""
        view = self._session.view
        if view.life == "trace":
            return [{"id": "", "name": os.path.basename(view.trace), "told": "the recording of one process"}]
        told = "the only one of this hub" if view.alive else f"{view.ending()}; it was the only one of this hub"
        return [{"id": status.get("pid") or view.pid or "", "name": view.script, "told": told}]

    def _told(self, thread: dict[str, Any]) -> dict[str, Any]:
        """A thread with where it stands; without a program one stands for the recording."""
        session, number = self._session, thread["id"]
        if session.view.alive:
            return {**thread, "where": session.where(number), "stopped": session.stands(number)}
        return {**thread, "where": session.where(number) or NO_THREAD, "stopped": True}

    async def choose(self, item: Item) -> None:
        """Go to the line or the name, turn to the thread, or switch the error."""
        if item.sort == "filter":
            if note := await self._session.filters.toggle(item.name):
                self._app.say(note)
        elif item.sort == "thread":
            if not self._session.turn_to(item.number):
                is_alive = self._session.view.alive
                self._app.say(f"thread {item.number} is not stopped" if is_alive else NO_THREAD)
        elif item.sort == "process":
            self._app.say(OTHER_PROCESSES)
        elif item.file:
            self._app.panes.show_beside("source")
            await self._app.show_source(Spot(item.file, item.line))
        elif item.name:
            await self._find(item.name)
        self.ask()

    async def remove(self, number: int) -> None:
        """Remove a breakpoint."""
        await self._session.breakpoints.remove(number)
        self.ask()

    async def _find(self, name: str) -> None:
        row = await self._session.ask.find(name.strip("*?").strip("*"), 0, False)
        if row is None:
            self._app.say(f"{name} matches nothing so far")
        else:
            await self._app.go_to_row(row)

"""Keeps the pane of breakpoints and threads up to date, and does what is chosen in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agdbg_ui.backend import FAILURES
from agdbg_ui.losing import NOT_KNOWN
from agdbg_ui.newest import Newest
from agdbg_ui.spots import Spot
from agdbg_ui.turning import name_of, told_of
from agdbg_ui.widgets.stops import Item, items_of

if TYPE_CHECKING:
    from agdbg_ui.app import AgdbgApp
    from agdbg_ui.session import Session

#: Said of the one thread that a recording has.
NO_THREAD = "no program runs; n and p walk through its recording"
#: Said of the process that is seen.
OTHER_PROCESSES = "this one is seen; a child or another program has a hub of its own: agdbg attach --list names those"


class Stopping:
    """What is behind the pane."""

    def __init__(self, app: AgdbgApp, session: Session) -> None:
        self._app, self._session = app, session
        self._pane = app.panes.stops
        self._fetching = Newest(self._fetch, session.keep)
        self._processes: list[dict[str, Any]] = []
        self._threads: list[dict[str, Any]] = []
        self._is_known = False
        self._life = ""

    def follow(self) -> None:
        """The program is elsewhere: where it is gone, or its hub is, no thread runs any more."""
        before, self._life = self._life, self._session.view.life
        if before != self._life and self._life in ("ended", "lost"):
            self.ask()

    def ask(self) -> None:
        """Fetch what there is."""
        self._fetching.ask()

    async def _fetch(self) -> None:
        session = self._session
        try:
            self._threads = (await session.ask.status())["threads"]
            self._processes = await session.ask.processes()
            self._is_known = True
        except FAILURES:
            pass  # a hub that is gone: what it was told of stays
        told = [self._told(each) for each in self._threads]
        filters = session.filters
        ending = "" if session.view.alive or session.view.life == "trace" else session.view.ending()
        there = [
            {
                "number": at,
                "mark": "▶" if each["isHere"] and len(self._processes) > 1 else " ",
                "name": " ".join(filter(None, (str(each["pid"] or ""), name_of(each)))),
                "told": told_of(each, ending),
            }
            for at, each in enumerate(self._processes)
        ]
        off = session.breakpoints.off
        breakpoints = sorted([*session.breakpoints.bodies, *off.values()], key=lambda each: int(each["id"]))
        nothing = "none" if self._is_known else NOT_KNOWN
        self._pane.show(items_of(breakpoints, session.hits, filters.known, filters.on, told, there, off, nothing))

    def _told(self, thread: dict[str, Any]) -> dict[str, Any]:
        """A thread with where it stands; without a program one stands for the recording."""
        session, number = self._session, thread["id"]
        if session.view.life == "lost":
            return {**thread, "where": NOT_KNOWN, "stopped": True}
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
            process = self._processes[item.number]
            if process["isHere"]:
                self._app.say(OTHER_PROCESSES)
            else:
                await self._app.turning.to(process)
                return
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

    async def switch(self, number: int) -> None:
        """Switch a breakpoint off, or on again."""
        is_on = await self._session.breakpoints.switch(number)
        self._app.say(f"breakpoint {number} is {'on again' if is_on else 'off; Space switches it on again'}")
        self._app.breakpoints_changed()
        self.ask()

    async def _find(self, name: str) -> None:
        row = await self._session.ask.find(name.strip("*?").strip("*"), 0, False)
        if row is None:
            self._app.say(f"{name} matches nothing so far")
        else:
            await self._app.go_to_row(row)

"""Keeps the panes up to date: each has one request in flight, and the newest wish wins."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from textual.message import Message

from agdbg.protocol.errors import RequestFailed
from agdbg_ui.backend import FAILURES
from agdbg_ui.messages import Progressed, Refused
from agdbg_ui.newest import Newest
from agdbg_ui.panes import Panes
from agdbg_ui.spots import NOWHERE, Spot, call_of_pass, line_of_stop, own_line, place_that_runs, places_of
from agdbg_ui.text import reason_of
from agdbg_ui.widgets.lanes import Lanes
from agdbg_ui.widgets.pass_profile import POINTS
from agdbg_ui.widgets.source import BREAKPOINT, OFF
from agdbg_ui.work import was_cancelled

if TYPE_CHECKING:
    from agdbg_ui.session import Session

#: Modules and parameters that are shown; of more, the last are left out.
BRANCHES = 20_000
#: Texts of source files that are kept.
_FILES = 50
#: A file that is shown is read again when so many seconds have gone: an editor may have written to it.
_READ_AGAIN_S = 1.0


class Refreshing:
    """Fetches rows, the selected node with its source, and events for the panes.

    Args:
        post: takes the messages for the app: what failed.
        session: whom to ask.
        lanes: the graph.
        panes: the other panes.
    """

    def __init__(self, post: Callable[[Message], object], session: Session, lanes: Lanes, panes: Panes) -> None:
        self._post, self._session, self._lanes = post, session, lanes
        self._inspector, self._source, self._events = panes.inspector, panes.source, panes.events
        self._timeline, self._boxes, self._tree = panes.timeline, panes.boxes, panes.tree
        self._counter = 0  # the node at which the thread stood last
        self._meant = (0, NOWHERE)  # a node, and the line that is shown of it in place of its own
        self._line_shown = (0, 0)  # the stop whose own line is shown, and the node that was selected then
        self._texts: dict[str, tuple[str | None, bool]] = {}  # as they were read, and whether that is not what runs
        self._read_at: dict[str, float] = {}
        self.is_unread = False  # the last rows that were asked for were not wanted any more
        self.rows = Newest(self._told(self._fetch_rows), session.keep)
        self.node = Newest(self._told(self._fetch_node), session.keep)
        self.arrived = Newest(self._told(self._fetch_arrived), session.keep)
        self.runs = Newest(self._told(self._fetch_runs), session.keep)
        self.profile = Newest(self._told(self._fetch_profile), session.keep)
        self.around = Newest(self._told(self._fetch_around), session.keep)
        self.branches = Newest(self._told(self._fetch_branches), session.keep)
        self._wanted_around = (0, 0, 0)
        self.total = Newest(self._told(self._fetch_total), session.keep)
        self.file = Newest(self._told(self._fetch_file), session.keep)

    def all(self, moved: bool = True) -> None:
        """Everything may be different now."""
        self._lanes.outdate()
        self.rows.ask()
        self.total.ask()
        self._timeline.outdate(moved)
        if moved:
            self._meant = 0, NOWHERE
            self._boxes.outdate()
            self._tree.outdate()

    def neighbourhood(self, node: int, hops: int, depth: int) -> None:
        """The boxes around a node are wanted; at a depth in calls of modules, unless that is 0."""
        self._wanted_around = node, hops, depth
        self.around.ask()

    async def events(self, start: int, count: int) -> None:
        """A page of events."""
        body = await self._session.ask.events(start, count)
        self._events.set_events(body["start"], body["events"])

    async def show_source(self, spot: Spot) -> None:
        """A line of a file, or what is known of it."""
        path = spot.file
        text, is_changed = await self._text_of(path) if path else (None, False)
        breakpoints = self._session.breakpoints
        marks = dict.fromkeys(breakpoints.lines_off(path), OFF) | dict.fromkeys(breakpoints.lines(path), BREAKPOINT)
        if (row := self._lanes.selected) is not None and row["breakpoint"] and row["file"] == path:
            marks[row["line"]] = BREAKPOINT
        self._source.show(spot, text, marks, is_changed)
        if path and self._session.clock() - self._read_at.get(path, 0.0) >= _READ_AGAIN_S:
            self.file.ask()

    async def show_meant(self, spot: Spot, node: int) -> None:
        """A line that says something about a node: it stays while that is selected and nothing moves."""
        self._meant = node, spot
        await self.show_source(spot)

    def selected(self) -> None:
        """Another row is selected, maybe."""
        if self._lanes.selected_node not in (None, self._meant[0]):
            self._meant = 0, NOWHERE
        self.node.ask()

    async def _fetch_rows(self) -> None:
        if (wanted := self._lanes.wanted) is not None:
            start, count, age = wanted
            self._lanes.set_script(next(iter(self._session.view.argv), ""))
            folds = self._lanes.folds if self._lanes.is_folded else None
            self.is_unread = False
            try:
                body = await self._session.ask.rows(start, count, self._session.stopped_thread, folds)
            except RequestFailed as error:
                self.is_unread = was_cancelled(error)
                raise
            is_off = self._session.breakpoints.is_off_at
            for row in body["rows"]:
                names = [row["op"], row["module"], *(badge["text"] for badge in row["badges"])]
                row["off"] = not row["breakpoint"] and is_off(row["file"], row["line"], names, row["node"])
            self._lanes.put(body, age)

    async def _fetch_node(self) -> None:
        node = self._lanes.selected_node
        if node is not None:
            self._boxes.follow(node, self._lanes.pages.counter_node)
        if node is None:
            self._inspector.show(None)
            return
        body = await self._session.ask.node(node, self._session.stopped_thread)
        stop = self._session.view.stop
        is_counter = node == self._lanes.pages.counter_node
        is_next = is_counter and stop is not None and stop.runs_next and not stop.is_recorded
        if is_next:
            body = {**body, "state": "next"}
        if is_counter and stop is not None:
            self._counter = node
        phase, runs = self._part_of(node)
        if phase:
            body = {**body, "doing": f"runs its {phase}" if runs else f"runs: {phase} next"}
        self._inspector.show(body)
        self._lanes.note_gradient(node, body["gradient"], body["bad"], is_next, body["pass"])
        if self._meant[0] == node:
            await self.show_source(self._meant[1])
        elif not self._holds_line(node):
            await self.show_source(place_that_runs(body, phase, runs))

    async def _fetch_arrived(self) -> None:
        """The gradient that has arrived where the program stands may have been changed, whatever node is selected."""
        node, stop = self._lanes.pages.counter_node, self._session.view.stop
        if node is not None and stop is not None and stop.runs_next and not stop.is_recorded:
            body = await self._session.ask.node(node, self._session.stopped_thread)
            self._lanes.note_gradient(node, body["gradient"], body["bad"], True, body["pass"])

    def follow_stop(self) -> None:
        """It is known where the thread stands: where that is at no node, show the line, until another node is selected."""
        stop = self._session.view.stop
        spot = line_of_stop(stop)
        if stop is not None and spot is not None and self._line_shown[0] != stop.serial:
            self._line_shown = stop.serial, self._lanes.selected_node or 0
            self._session.keep(asyncio.get_running_loop().create_task(self.show_source(spot)))

    def _holds_line(self, node: int) -> bool:
        """Whether the line of the stop stays: nobody has selected another node since, which newer ones do by themselves."""
        stop = self._session.view.stop
        if stop is None or stop.serial != self._line_shown[0] or line_of_stop(stop) is None:
            return False
        if self._lanes.at_end and self._lanes.cursor == self._lanes.row_count - 1:
            self._line_shown = stop.serial, node
        return self._line_shown[1] == node

    def _part_of(self, node: int) -> tuple[str, bool]:
        """The part of a node before which the thread stands, or "", and whether it runs just now."""
        stepping, stop = self._session.view.stepping, self._session.view.stop
        at = stepping or stop
        return ("" if at is None or node != self._counter else at.phase), stepping is not None

    async def other_place(self, end: Spot | None = None) -> bool:
        """Show the next place of the node: its forward line, its hooks, the call of the pass, and at an error the line that
        led to it, which is ``end`` where the program has ended with one; False: there is one.
        """
        self._meant = 0, NOWHERE
        stop = self._session.view.stop
        stands, own = line_of_stop(stop), own_line(stop) or end
        places = [*([stands] if stands else []), *(await self._places_of_node())]
        if own is not None and (own.file, own.line) not in [(each.file, each.line) for each in places]:
            places.insert(1 if stands or own is end else 0, own)
        if not places:
            return False
        here = places.index(self._source.spot) if self._source.spot in places else -1
        await self.show_source(places[(here + 1) % len(places)])
        return len(places) > 1 or here < 0

    async def _places_of_node(self) -> list[Spot]:
        """Those of the selected node; none where none is."""
        if (body := self._inspector.body) is None:
            return []
        call = call_of_pass(await self._session.ask.pass_of(body["node"], self._session.stopped_thread))
        return [*places_of(body, *self._part_of(body["node"])), *call]

    async def _fetch_runs(self) -> None:
        if (wanted := self._timeline.wanted) is not None:
            start, count, age = wanted
            thread = self._session.stopped_thread
            self._timeline.put(await self._session.ask.timeline(start, count, self._timeline.pass_id, thread), age)

        self.profile.ask()

    async def _fetch_profile(self) -> None:
        if (wanted := self._timeline.profile_wanted) is not None:
            shown, start, count, age = wanted
            self._timeline.put_profile(await self._session.ask.profile(shown, start, count, POINTS), age)

    async def _fetch_around(self) -> None:
        node, hops, depth = self._wanted_around
        if node:
            self._boxes.put(await self._session.ask.neighbourhood(node, hops, depth), node)

    async def _fetch_branches(self) -> None:
        found: list[Any] = []
        total = 1
        while len(found) < min(total, BRANCHES):
            body = await self._session.ask.tree(len(found), 1000)
            total = body["total"]
            found += body["branches"]
            if not body["branches"]:
                break
        self._tree.put(found, total)

    async def _fetch_total(self) -> None:
        self._events.set_total((await self._session.ask.events(0, 0))["total"])

    def forget(self, path: str) -> None:
        """A file may have changed."""
        self._texts.pop(path, None)
        self.node.ask()

    async def is_changed(self, path: str) -> bool:
        """Whether a file was written to after the program began."""
        return (await self._read(path))[1]

    async def _fetch_file(self) -> None:
        """Somebody may have written to the file that is shown."""
        spot = self._source.spot
        before = self._texts.get(spot.file)
        if spot.file and await self._read(spot.file) != before and self._source.spot == spot:
            await self.show_source(spot)

    async def _text_of(self, path: str) -> tuple[str | None, bool]:
        return self._texts[path] if path in self._texts else await self._read(path)

    async def _read(self, path: str) -> tuple[str | None, bool]:
        found: tuple[str | None, bool] = None, False
        with suppress(*FAILURES):  # the pane says that the file cannot be read
            found = await self._session.ask.source(path)
        if path not in self._texts and len(self._texts) >= _FILES:
            self._texts.pop(next(iter(self._texts)))
        self._texts[path], self._read_at[path] = found, self._session.clock()
        return found

    def _told(self, job: Callable[[], Any]) -> Callable[[], Any]:
        async def run() -> None:
            moment = self._session.moment
            try:
                await job()
            except Exception as error:  # whatever goes wrong in a job is told, and the screen goes on
                if was_cancelled(error):
                    self._post(Progressed())
                elif self._session.connected and moment is not None and moment == self._session.moment:
                    self._post(Refused(reason_of(error)))  # else it was about a stop that is over

        return run

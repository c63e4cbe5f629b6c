"""Folding rows of the graph: what a module has built is one row, and what repeats itself."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agdbg.protocol.vendor import Folds
    from agdbg_ui.pane_app import PaneApp
    from agdbg_ui.session import Session

#: So long the graph stays as it was until the rows are there that are to be seen in it, in seconds.
_SOON_S = 0.1
_NOTHING = {
    "fold": "nothing around this row can be folded: it was built in no module, and no open fold is around it",
    "unfold": "this row is one node",
}


def folds_at(depth: int) -> Folds:
    """All folded at a depth; 0: nothing."""
    return {"depth": depth, "opened": [], "closed": []}


class Folding:
    """Asks the hub what is folded after a move, and lets the graph show it."""

    def __init__(self, app: PaneApp, session: Session) -> None:
        self._app, self._session = app, session
        self._deepest = 1
        self._from = 0  # the row that the cursor was on before it was on a fold

    async def move(self, how: str) -> None:
        """``fold`` or ``unfold`` what the cursor is on; ``all`` or ``none``; ``wider`` or ``deeper`` by a depth."""
        lanes = self._app.lanes
        if not lanes.pages.is_answered:
            self._app.say(lanes.note)
            await lanes.first_answer()
        if not lanes.row_count:
            self._app.say("there is nothing to fold yet")
        elif how in _NOTHING:
            row = lanes.selected
            if row is None:
                self._app.say("no node is selected")
            else:
                self._from = row["row"] if row["count"] == 1 else self._from
                if not await self._ask(row["row"], how, lanes.folds):
                    self._app.say(_NOTHING[how])
        else:
            depth = {"all": 1, "none": 0, "wider": lanes.folds["depth"] - 1, "deeper": lanes.folds["depth"] + 1}[how]
            await self._to_depth(max(depth, 0))

    async def show(self, row: int) -> None:
        """Select a row; what it is folded in opens."""
        lanes = self._app.lanes
        if lanes.is_folded:
            await self._ask(row, "show", lanes.folds)
        else:
            lanes.go_to(row)

    async def _to_depth(self, depth: int) -> None:
        lanes = self._app.lanes
        was_folded, rows, was_at = lanes.is_folded, lanes.row_count, lanes.folds["depth"]
        row = await self._row_of_cursor()
        await self._ask(row, "keep", folds_at(depth))
        before = 0
        while depth > was_at > 0 and before < lanes.row_count <= rows:
            before = lanes.row_count  # deeper is to show more, and what repeats itself is one row again at each depth
            await self._ask(row, "unfold", lanes.folds)
        now = lanes.folds["depth"]
        unfolded = "all is unfolded" if was_folded else "nothing was folded"
        self._app.say(f"folded at depth {now} of {self._deepest}" if now else unfolded)

    async def _row_of_cursor(self) -> int:
        """The row, by the count of unfolded ones, of the node that the cursor is on.

        In a fold that is the node where the program stands, else the one that the cursor was on before it was folded, else
        the one that the fold tells.
        """
        lanes, session = self._app.lanes, self._session
        row = lanes.selected
        if row is None:
            return 0
        first, end = row["row"], row["row"] + row["count"]
        if row["count"] == 1:
            self._from = first
        elif lanes.cursor == lanes.pages.counter and lanes.pages.counter_node is not None:
            at = await session.ask.locate(lanes.pages.counter_node)
            self._from = at if at is not None else end - 1
        elif not first <= self._from < end:
            self._from = end - 1
        return self._from

    async def _ask(self, row: int, how: str, folds: Folds) -> bool:
        lanes, ask = self._app.lanes, self._session.ask
        body = await ask.fold(row, how, folds)
        self._deepest = body["deepest"]
        if body["folds"] == lanes.folds:
            return lanes.fold(body["folds"], body["at"], body["total"])
        folded = body["folds"] if body["folds"]["depth"] or body["folds"]["closed"] else None
        span = lanes.span_after(body["at"], body["total"])
        rows = asyncio.create_task(ask.rows(*span, self._session.stopped_thread, folded))
        self._session.keep(rows)
        is_there = await asyncio.wait({rows}, timeout=_SOON_S)
        lanes.fold(body["folds"], body["at"], body["total"])
        if is_there[0]:  # else they are asked for as all others, and painted twice, first without what they say
            lanes.put(rows.result(), lanes.pages.age)
        return True

"""Folding rows of the graph: what a module has built is one row, and what repeats itself."""

from typing import TYPE_CHECKING

from agdbg.protocol.vendor import Folds
from agdbg_ui.session import Session

if TYPE_CHECKING:
    from agdbg_ui.pane_app import PaneApp

_NOTHING = {
    "fold": "nothing around this row can be folded: it was built in no module, and no open fold is around it",
    "unfold": "this row is one node",
}


def folds_at(depth: int) -> Folds:
    """All folded at a depth; 0: nothing."""
    return {"depth": depth, "opened": [], "closed": []}


class Folding:
    """Asks the hub what is folded after a move, and lets the graph show it."""

    def __init__(self, app: "PaneApp", session: Session) -> None:
        self._app, self._session = app, session
        self._deepest = 1

    async def move(self, how: str) -> None:
        """``fold`` or ``unfold`` what the cursor is on; ``all`` or ``none``; ``wider`` or ``deeper`` by a depth."""
        lanes = self._app.lanes
        if not lanes.row_count:
            self._app.say("there is nothing to fold yet")
        elif how in _NOTHING:
            row = lanes.selected
            if row is None:
                self._app.say("no node is selected")
            elif not await self._ask(row["row"], how, lanes.folds):
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
        row = lanes.selected
        await self._ask(row["row"] if row is not None else 0, "keep", folds_at(depth))
        now = lanes.folds["depth"]
        self._app.say(f"folded at depth {now} of {self._deepest}" if now else "nothing is folded")

    async def _ask(self, row: int, how: str, folds: Folds) -> bool:
        body = await self._session.ask.fold(row, how, folds)
        self._deepest = body["deepest"]
        return self._app.lanes.fold(body["folds"], body["at"], body["total"])

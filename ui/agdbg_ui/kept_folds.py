"""What was folded the last time, of each recording, and how deep of each program."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from agdbg_ui.view import View

if TYPE_CHECKING:
    from agdbg.protocol.vendor import Folds

#: Recordings and programs that are remembered, the newest.
MOST = 50


def name_of(view: View) -> str:
    """Under which name the folds of what is on the screen are kept; "" while that is not known."""
    if view.life == "trace":
        return os.path.realpath(view.trace) if view.trace else ""
    return os.path.abspath(view.argv[0]) if view.argv and view.argv[0] else ""


def found(kept: dict[str, Any], view: View) -> Folds | None:
    """What was folded when this was on the screen; None: nothing that makes sense is known."""
    if (folds := kept.get(name_of(view))) is None:
        return None
    from agdbg.protocol.checkers import checker
    from agdbg.protocol.vendor import Folds  # descriptions of all requests are of no use until now

    known: Folds | None = folds if checker(Folds, closed=True).problem(folds) is None else None
    return known


def with_folds(kept: dict[str, Any], view: View, folds: Folds) -> dict[str, Any]:
    """What to keep from now on. Rows of a program are others when it runs again: of that it is the depth alone."""
    name = name_of(view)
    others = {each: value for each, value in kept.items() if each != name}
    told: Folds = folds if view.life == "trace" else {"depth": folds["depth"], "opened": [], "closed": []}
    if name and (told["depth"] or told["closed"]):
        others[name] = told
    return dict(list(others.items())[-MOST:])

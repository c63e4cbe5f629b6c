"""What the app uses once the first frame is there, which waits for none of it: what serves the panes and lies over them.

A name is loaded when it is first asked for, and all of them by :func:`load` while the hub starts, so that no key waits either.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agdbg_ui.console import ConsoleRunner as ConsoleRunner
    from agdbg_ui.explaining import Explaining as Explaining
    from agdbg_ui.exporting import export as export
    from agdbg_ui.finding import Findings as Findings
    from agdbg_ui.folding import Folding as Folding
    from agdbg_ui.jumping import Jumps as Jumps
    from agdbg_ui.refreshing import Refreshing as Refreshing
    from agdbg_ui.screens.export import ExportScreen as ExportScreen
    from agdbg_ui.screens.filters import FiltersScreen as FiltersScreen
    from agdbg_ui.screens.help import HelpScreen as HelpScreen
    from agdbg_ui.screens.page import Page as Page
    from agdbg_ui.screens.palette import Palette as Palette
    from agdbg_ui.screens.question import Question as Question
    from agdbg_ui.screens.question import barrier_question as barrier_question
    from agdbg_ui.screens.question import quit_question as quit_question
    from agdbg_ui.screens.tensor import TensorScreen as TensorScreen
    from agdbg_ui.session import GRACE_S as GRACE_S
    from agdbg_ui.session import Session as Session
    from agdbg_ui.stopping import Stopping as Stopping

_MODULES = {
    "ConsoleRunner": "console",
    "ExportScreen": "screens.export",
    "Explaining": "explaining",
    "FiltersScreen": "screens.filters",
    "Findings": "finding",
    "Folding": "folding",
    "GRACE_S": "session",
    "HelpScreen": "screens.help",
    "Jumps": "jumping",
    "Page": "screens.page",
    "Palette": "screens.palette",
    "Question": "screens.question",
    "Refreshing": "refreshing",
    "Session": "session",
    "Stopping": "stopping",
    "TensorScreen": "screens.tensor",
    "barrier_question": "screens.question",
    "export": "exporting",
    "quit_question": "screens.question",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"agdbg_ui.{_MODULES[name]}"), name)
    return found


def load() -> None:
    """Load all of it."""
    for name in _MODULES:
        __getattr__(name)

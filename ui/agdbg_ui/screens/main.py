"""The screen with the panes."""

from typing import Any

from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget


class MainScreen(Screen[None]):
    """Draws only what looks different when another pane gets the keys; Textual's own draws all of it anew."""

    focused: Reactive[Widget | None] = Reactive(None, repaint=False)


def fit(screen: Screen[Any]) -> None:
    """Give a screen the classes of its size, as each change of that will, so that the first frame is laid out once."""
    app = screen.app
    for breakpoints, size in zip((app.HORIZONTAL_BREAKPOINTS, app.VERTICAL_BREAKPOINTS), app.size, strict=True):
        screen.add_class(next(name for least, name in reversed(breakpoints or []) if size >= least))

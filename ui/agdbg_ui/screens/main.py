"""The screen with the panes."""

from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget


class MainScreen(Screen[None]):
    """Draws only what looks different when another pane gets the keys; Textual's own draws all of it anew."""

    focused: Reactive[Widget | None] = Reactive(None, repaint=False)

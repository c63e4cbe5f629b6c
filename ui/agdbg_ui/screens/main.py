"""The screen with the panes."""

from typing import Any

from textual import events
from textual.app import App
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget

from agdbg_ui.panes import Workspace


class MainScreen(Screen[None]):
    """Draws only what looks different when another pane gets the keys; Textual's own draws all of it anew."""

    focused: Reactive[Widget | None] = Reactive(None, repaint=False)

    def get_focusable_widget_at(self, x: int, y: int) -> Widget | None:
        """What gets the keys when the mouse is pressed there: nothing new where that takes hold of a divider."""
        workspaces = self.query(Workspace)
        return None if workspaces and workspaces.first().divider_at(x, y) else super().get_focusable_widget_at(x, y)

    def _on_screen_resume(self, event: events.ScreenResume) -> None:
        """It is shown: the first time every widget has got its styles a moment ago, when it was mounted."""
        if not self.stack_updates:
            event.refresh_styles = False


def classes_for(app: App[Any]) -> str:
    """The classes of a screen of the size of the terminal, as each change of that gives them: the first frame is laid out once."""
    lines = zip((app.HORIZONTAL_BREAKPOINTS, app.VERTICAL_BREAKPOINTS), app.size, strict=True)
    return " ".join(next(name for least, name in reversed(each or []) if size >= least) for each, size in lines)

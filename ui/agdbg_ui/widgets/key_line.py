"""The last line of the screen: the keys used most."""

from textual import events
from textual.strip import Strip
from textual.widget import Widget

from agdbg_ui.keymap import footer, footer_width
from agdbg_ui.text import Pieces
from agdbg_ui.themes import ASIDE
from agdbg_ui.widgets.painting import paint

_KEY = "bold $text-accent"


class KeyLine(Widget):
    """As many keys as there is room for; a click on one does what it does."""

    DEFAULT_CSS = """
    KeyLine { height: 1; background: $panel; color: $foreground; }
    """

    def render_line(self, y: int) -> Strip:
        """The line."""
        pieces: Pieces = []
        for key in footer(self.size.width):
            pieces += [(f" {key.shown} ", _KEY), (f"{key.label} ", ASIDE)]
        return paint(self, pieces, self.size.width)

    async def on_click(self, event: events.Click) -> None:
        """Do what the key does."""
        at = 0
        for key in footer(self.size.width):
            at += footer_width(key)
            if event.x < at:
                await self.app.run_action(key.action)
                return

"""The line above panes of which one is seen: their numbers and names."""

from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from agdbg_ui.text import Pieces
from agdbg_ui.themes import ASIDE
from agdbg_ui.widgets.painting import paint


class PaneTabs(Widget):
    """Names of panes; the one that is seen stands out, more so when it has the focus.

    Args:
        panes: key and name of each pane, by its id.
    """

    DEFAULT_CSS = """
    PaneTabs { height: 1; background: $panel; color: $foreground; }
    """

    class Chosen(Message):
        """A name was clicked."""

        def __init__(self, pane: str) -> None:
            super().__init__()
            self.pane = pane

    def __init__(self, panes: dict[str, tuple[str, str]], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._panes = panes
        self._state = ("", False, "")

    def show(self, seen: str, has_focus: bool, note: str = "") -> None:
        """Say which pane is seen; a note stands behind the names."""
        if self._state != (seen, has_focus, note):
            self._state = seen, has_focus, note
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The line."""
        seen, has_focus, note = self._state
        pieces: Pieces = []
        for pane, text in self._names():
            if pane != seen:
                pieces.append((text, ASIDE))
            else:
                style = "bold reverse $text-accent" if has_focus else "bold on $surface"
                pieces.append((text.replace(" ", "▸", 1) if text[1:2] != " " else text.replace("  ", " ▸", 1), style))
        if note:
            pieces.append((f"  {note}", ASIDE))
        return paint(self, pieces, self.size.width)

    def _names(self) -> list[tuple[str, str]]:
        """The panes and what is written of each: where there is no room less around the names, then only the key."""
        seen = self._state[0]
        names = [(pane, f"  {key} {name}  ") for pane, (key, name) in self._panes.items()]
        if sum(len(text) for _, text in names) > self.size.width:
            names = [(pane, f" {key} {name}") for pane, (key, name) in self._panes.items()]
        if sum(len(text) for _, text in names) > self.size.width:
            names = [
                (pane, f" {key} {name}" if pane == seen else f" {key}") for pane, (key, name) in self._panes.items()
            ]
        return names

    def on_click(self, event: events.Click) -> None:
        """Tell which name was clicked."""
        at = 0
        for pane, text in self._names():
            at += len(text)
            if event.x < at:
                self.post_message(self.Chosen(pane))
                return

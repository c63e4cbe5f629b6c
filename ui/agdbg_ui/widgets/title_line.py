"""The first line of the screen."""

from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from agdbg_ui.view import View
from agdbg_ui.widgets.painting import paint
from agdbg_ui.wording import title


class TitleLine(Widget):
    """Says how the program is; drawn again only when what it says is something else."""

    DEFAULT_CSS = """
    TitleLine { height: 1; background: $panel; color: $foreground; }
    """

    view: reactive[View] = reactive(View, repaint=False)
    """How the program is; others may watch it."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._now = 0.0
        self._shown: object = None

    def show(self, view: View, now: float) -> None:
        """Show a state at a time on the session's clock."""
        self.view, self._now = view, now
        if self._shown != (pieces := title(view, now, self.size.width)):
            self._shown = pieces
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The line."""
        return paint(self, title(self.view, self._now, self.size.width), self.size.width)

    @property
    def text(self) -> str:
        """What it says."""
        return "".join(text for text, _ in title(self.view, self._now, self.size.width))

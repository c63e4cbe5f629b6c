"""Which panes are seen, and which has the focus."""

from typing import Any, ClassVar

from textual.app import App
from textual.containers import Container
from textual.message import Message
from textual.widget import Widget

from agdbg_ui.widgets.events import EventsPane
from agdbg_ui.widgets.inspector import Inspector
from agdbg_ui.widgets.pane_tabs import PaneTabs
from agdbg_ui.widgets.source import SourcePane


class Workspace(Container):
    """Holds the panes."""

    class LaidOut(Message):
        """The panes have other sizes now."""

    def on_resize(self) -> None:
        """Tell."""
        self.post_message(self.LaidOut())


class Panes:
    """The panes by their ids. On a narrow screen one of four is seen, on a wide one two and one of the other two."""

    ALL: ClassVar[dict[str, tuple[str, str]]] = {
        "inspector": ("1", "Inspector"),
        "source": ("2", "Source"),
        "output": ("3", "Output"),
        "events": ("4", "Events"),
    }
    BOTTOM: ClassVar[dict[str, tuple[str, str]]] = {"output": ALL["output"], "events": ALL["events"]}

    def __init__(self, app: App[Any], lanes: Widget, output: Widget) -> None:
        self._app = app
        self.inspector, self.source, self.events = (
            Inspector(id="inspector"),
            SourcePane(id="source"),
            EventsPane(id="events"),
        )
        self._widgets: dict[str, Widget] = {
            "lanes": lanes,
            "inspector": self.inspector,
            "source": self.source,
            "output": output,
            "events": self.events,
        }
        self._tabs, self._bottom_tabs = PaneTabs(self.ALL, id="tabs"), PaneTabs(self.BOTTOM, id="bottom-tabs")
        self.workspace = Workspace(
            lanes, self._tabs, self.inspector, self.source, self._bottom_tabs, output, self.events, id="workspace"
        )
        for pane, title in (("lanes", "0 Graph"), ("inspector", "1 Inspector"), ("source", "2 Source")):
            self._widget(pane).border_title = title
        self._seen, self._bottom, self._last = "inspector", "output", "lanes"
        self.show("inspector")

    def show(self, pane: str) -> None:
        """Make a pane the one that is seen."""
        if pane in self.ALL:
            self._seen = pane
        if pane in self.BOTTOM:
            self._bottom = pane
        for each in self.ALL:
            self.workspace.set_class(each == self._seen, f"-see-{each}")
            self.workspace.set_class(each == self._bottom, f"-bottom-{each}")
        self.show_tabs()

    def focus(self, pane: str) -> None:
        """Make a pane seen and give it the keys."""
        self.show(pane)
        self._last = pane
        self._app.call_after_refresh(self._widget(pane).focus)

    def focus_last(self) -> None:
        """Give the keys back to the pane that had them."""
        if self._last == "lanes" or self._widget(self._last).display:
            self._widget(self._last).focus()
        else:
            self._widget("lanes").focus()

    def show_tabs(self) -> None:
        """Show what is seen and what has the focus."""
        focused = self._focused()
        if focused:
            self._last = focused
        self._tabs.show(self._seen, focused == self._seen)
        self._bottom_tabs.show(self._bottom, focused == self._bottom)

    def terminal_size(self) -> tuple[int, int]:
        """Columns and rows of the program's terminal: those of the output pane, or of the pane in its place."""
        pane = self._widget("output")
        if not pane.size.width:
            pane = next((self._widget(each) for each in self.ALL if self._widget(each).size.width), pane)
        size = pane.size if pane.size.width else self._app.size
        return max(size.width - 1, 1), max(size.height, 1)

    def _focused(self) -> str:
        widget = self._app.screen.focused if self._app.screen_stack else None
        while widget is not None and widget.id not in self.ALL and widget.id != "lanes":
            parent = widget.parent
            widget = parent if isinstance(parent, Widget) else None
        return (widget.id or "") if widget is not None else ""

    def _widget(self, pane: str) -> Widget:
        return self._widgets[pane]

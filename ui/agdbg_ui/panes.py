"""Which panes are seen, and which has the focus."""

from typing import Any, ClassVar

from textual import events
from textual.app import App
from textual.containers import Container
from textual.message import Message
from textual.widget import Widget

from agdbg_ui.dividing import DIVIDERS, Axis, Dividers, Layout
from agdbg_ui.widgets.boxes import Boxes
from agdbg_ui.widgets.events import EventsPane
from agdbg_ui.widgets.findings import FindingsPane
from agdbg_ui.widgets.inspector import Inspector
from agdbg_ui.widgets.lanes import Lanes
from agdbg_ui.widgets.output import OutputPane
from agdbg_ui.widgets.pane_tabs import PaneTabs
from agdbg_ui.widgets.rows import Rows
from agdbg_ui.widgets.source import SourcePane
from agdbg_ui.widgets.stops import StopsPane
from agdbg_ui.widgets.timeline import TimelinePane
from agdbg_ui.widgets.transcript import Transcript
from agdbg_ui.widgets.tree import TreeView

#: Said of one pane that has the room of all.
ZOOMED = "this pane has all the room; Z gives the others theirs back"
#: From this size on every pane is seen.
HUGE = (200, 50)
#: The panes in the order of the grid where all are seen.
_HUGE_ORDER = (
    "lanes",
    "boxes",
    "tree",
    "inspector",
    "findings",
    "source",
    "stops",
    "timeline",
    "output",
    "console",
    "events",
)
_AXES: tuple[Axis, Axis] = ("columns", "rows")


def has_room_for_all(app: App[Any]) -> bool:
    """Whether the terminal is so big that every pane is seen."""
    return app.size.width >= HUGE[0] and app.size.height >= HUGE[1]


class Workspace(Container):
    """Holds the panes."""

    class LaidOut(Message):
        """The panes have other sizes now."""

    def __init__(self, *children: Widget, id: str) -> None:
        super().__init__(*children, id=id)
        self.dividers = Dividers()
        self._held: tuple[Axis, str] | None = None

    @property
    def form(self) -> Layout:
        """How the panes stand."""
        return "huge" if self.has_class("-huge") else "wide" if self.screen.has_class("-wide") else "narrow"

    def on_resize(self) -> None:
        """Lay all panes out where there is room for them; tell."""
        is_huge = has_room_for_all(self.app)
        if is_huge != self.has_class("-huge"):
            self.set_class(is_huge, "-huge")
            self.sort_children(key=_huge_place if is_huge else _usual_place)
        self.divide()
        self.post_message(self.LaidOut())

    def divide(self) -> None:
        """Put the dividers where they were moved to; one pane that has all the room has none."""
        columns, rows = ("" if self.has_class("-zoom") else self.dividers.rule(self.form, axis) for axis in _AXES)
        if columns:
            self.styles.grid_columns = columns
        else:
            self.styles.clear_rule("grid_columns")
        if rows:
            self.styles.grid_rows = rows
        else:
            self.styles.clear_rule("grid_rows")

    # ----- dragging -----

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold of the divider under the mouse."""
        self._held = self.divider_at(event.screen_x, event.screen_y)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Move it."""
        if self._held is None:
            return
        if not event.button:
            self.on_mouse_up()
            return
        self.capture_mouse()
        axis, name = self._held
        start, size = (self.region.x, self.region.width) if axis == "columns" else (self.region.y, self.region.height)
        here = event.screen_x if axis == "columns" else event.screen_y
        if self.dividers.move(self.form, axis, name, round(100 * (here - start) / max(size, 1))):
            self.divide()

    def on_mouse_up(self) -> None:
        """Let go of it."""
        if self._held is not None:
            self._held = None
            self.release_mouse()

    def divider_at(self, x: int, y: int) -> tuple[Axis, str] | None:
        """The axis and the name of the divider there; one pane that has all the room has none."""
        if self.has_class("-zoom"):
            return None
        for axis in _AXES:
            for name, divider in DIVIDERS[self.form, axis].items():
                begins = self.query_one(f"#{divider.behind}").region
                on_it = x == begins.x if axis == "columns" else y == begins.y and begins.x <= x < begins.right
                if on_it and (axis == "rows" or begins.y <= y < begins.bottom):
                    return axis, name
        return None


class Panes:
    """The panes by their ids.

    On a narrow screen one of them is seen below the graph, on a wide one inspector and source and one of the others,
    on a very wide and high one all.

    Attributes:
        last: the one that has the keys, or had them last.
    """

    ALL: ClassVar[dict[str, tuple[str, str]]] = {
        "inspector": ("1", "Inspector"),
        "source": ("2", "Source"),
        "output": ("3", "Output"),
        "events": ("4", "Events"),
        "findings": ("5", "Findings"),
        "timeline": ("6", "Timeline"),
        "stops": ("7", "Stops"),
        "console": ("8", "Console"),
    }
    BOTTOM: ClassVar[dict[str, tuple[str, str]]] = {
        pane: told for pane, told in ALL.items() if pane not in ("inspector", "source")
    }

    def __init__(self, app: App[Any], lanes: Widget, output: Widget) -> None:
        self._app = app
        self.inspector, self.source, self.events, self.transcript = (
            Inspector(id="inspector"),
            SourcePane(id="source"),
            EventsPane(id="events"),
            Transcript(id="console"),
        )
        self.findings = FindingsPane(id="findings")
        self.timeline, self.boxes = TimelinePane(id="timeline"), Boxes(id="boxes")
        self.stops = StopsPane(id="stops")
        self.tree = TreeView(id="tree")
        self._graphs: dict[str, Widget] = {"lanes": lanes, "boxes": self.boxes, "tree": self.tree}
        self._widgets: dict[str, Widget] = {
            **self._graphs,
            "inspector": self.inspector,
            "source": self.source,
            "output": output,
            "events": self.events,
            "findings": self.findings,
            "timeline": self.timeline,
            "stops": self.stops,
            "console": self.transcript,
        }
        self._tabs, self._bottom_tabs = PaneTabs(self.ALL, id="tabs"), PaneTabs(self.BOTTOM, id="bottom-tabs")
        graphs, bottom = self._graphs.values(), [self._widgets[pane] for pane in self.BOTTOM]
        usual = [*graphs, self._tabs, self.inspector, self.source, self._bottom_tabs, *bottom]
        _USUAL.update({str(widget.id): at for at, widget in enumerate(usual)})
        is_huge = has_room_for_all(app)  # known before the first frame, which is laid out once
        self.workspace = Workspace(*(sorted(usual, key=_huge_place) if is_huge else usual), id="workspace")
        self.workspace.set_class(is_huge, "-huge", update=False)
        self._name_all()
        self._seen, self._bottom, self.last, self._graph = "inspector", "output", "lanes", "lanes"
        self._chosen: dict[str, str] = {}
        self.is_zoomed = False
        self.show("inspector")

    def _name_all(self) -> None:
        """Give the panes their places, titles and classes."""
        self._widget("lanes").border_title = "0 Graph"
        self.boxes.border_title, self.tree.border_title = "0 Boxes", "0 Modules"
        for pane, (key, title) in self.ALL.items():
            self._widget(pane).border_title = f"{key} {title}"
            self._widget(pane).add_class("pane", "bottom" if pane in self.BOTTOM else "side", update=False)
        for widget in self._graphs.values():
            widget.add_class("graph", update=False)

    def show(self, pane: str) -> None:
        """Make a pane the one that is seen, and that is to be seen the next time."""
        self.bring(pane)
        self._chosen = {"pane": self._seen, "bottom": self._bottom, "graph": self._graph}

    def bring(self, pane: str) -> None:
        """Make a pane the one that is seen, because of what has happened: the next time it need not be."""
        if pane in self.ALL:
            self._seen = pane
        if pane in self.BOTTOM:
            self._bottom = pane
        if pane in self._graphs:
            self._graph = pane
        for each, widget in self._widgets.items():
            is_seen, is_zoomed = each in (self._seen, self._graph), self.is_zoomed and each == pane
            classes = {"-seen": is_seen, "-bottom": each == self._bottom, "-zoomed": is_zoomed}
            widget.update_classes(classes, update=widget.is_attached)
        self.show_tabs()

    def focus(self, pane: str) -> None:
        """Make a pane seen and give it the keys; ``graph`` is whatever the graph is shown as."""
        pane = self._graph if pane == "graph" else pane
        self.show(pane)
        self.last = pane
        self._give_keys(pane)

    def _give_keys(self, pane: str) -> None:
        """Now, and not in a later turn of the loop: the next key may be there, or may have opened a line to type in by then."""
        widget = self._widget(pane)
        widget.screen.set_focus(widget.typed_into if isinstance(widget, OutputPane) else widget)

    def forget(self) -> None:
        """Another run of the program begins: no pane knows anything of it, and none is seen because of what has happened."""
        for widget in self._widgets.values():
            if isinstance(widget, Rows | Boxes | OutputPane) and not isinstance(widget, Transcript):
                widget.forget()
        for pane in (self._chosen.get("bottom", "output"), self._chosen.get("pane", "inspector")):
            self.bring(pane)

    def lose(self, why: str) -> None:
        """The hub is gone: what was not fetched will not come."""
        for widget in self._widgets.values():
            if isinstance(widget, Rows | Boxes):
                widget.lose(why)

    def show_beside(self, pane: str) -> None:
        """Make a pane seen where that does not hide the one with the focus."""
        if self._app.screen.has_class("-wide") or self.last == self._graph:
            self.show(pane)

    def focus_last(self) -> None:
        """Give the keys back to the pane that had them."""
        self._give_keys(self.last if self.last == self._graph or self._widget(self.last).display else self._graph)

    def show_nodes(self) -> None:
        """Show the graph in a way in which the selected node is seen: a tree of modules has none."""
        if self._graph == "tree":
            self.focus("lanes") if self.has_focus("tree") else self.bring("lanes")

    def keys_to_nodes(self) -> None:
        """Give the keys to the graph, in a way in which the selected node is seen."""
        self.show_nodes()
        self._give_keys(self._graph)

    def turn_graph(self) -> None:
        """Show the graph in the next of its ways."""
        ways = list(self._graphs)
        self.focus(ways[(ways.index(self._graph) + 1) % len(ways)])

    def fold(self, how: str) -> str | None:
        """Fold or unfold what the graph is shown as, and say what is to be said of it; None: rows, which are the hub's to fold."""
        if self._graph == "tree":
            return self.tree.fold(how)
        return None if self._graph == "lanes" else "boxes are not folded: Space draws by modules, v shows other ways"

    def zoom(self) -> None:
        """Let the pane with the focus have all the room, or give the others theirs back."""
        self.is_zoomed = not self.is_zoomed
        self.workspace.set_class(self.is_zoomed, "-zoom")
        self.workspace.divide()
        self.focus(self.last)

    def resize(self, axis: Axis, by: int) -> str:
        """Give the pane with the focus more room on an axis, or less, in percent; say why it stays as it is."""
        if self.is_zoomed:
            return ZOOMED
        pane = "graph" if self.last == self._graph else self.last
        moved = self.workspace.dividers.resize(self.workspace.form, axis, pane, by)
        self.workspace.divide()
        if moved is None:
            return f"panes are as {'wide' if axis == 'columns' else 'high'} as the screen here"
        if moved:
            return ""
        return "the panes beside it would have no room" if by > 0 else "it has as little room as it can have"

    def text_at_cursor(self) -> str:
        """What the cursor of the pane with the focus is on: in the graph the place of the node."""
        widget = self._widget(self.last)
        if isinstance(widget, Lanes):
            row = widget.selected
            return "" if row is None else f"{row['file']}:{row['line']}" if row["file"] else f"#{row['node']}"
        if isinstance(widget, Boxes):
            return f"#{widget.selected}" if widget.selected else ""
        return widget.row_text(widget.cursor) if isinstance(widget, Rows) and widget.row_count else ""

    def remembered(self) -> dict[str, Any]:
        """What is to be the same the next time."""
        return {
            "dividers": self.workspace.dividers.remembered(),
            **self._chosen,
        }

    def restore(self, known: dict[str, Any]) -> None:
        """Look as the last time, as far as that makes sense."""
        self.workspace.dividers.restore(known.get("dividers", {}))
        for name, there in (("bottom", self.BOTTOM), ("pane", self.ALL), ("graph", self._graphs)):
            if known.get(name) in there:
                self.show(known[name])
        self.last = self._graph

    def show_tabs(self) -> None:
        """Show what is seen and what has the focus."""
        focused = self._focused()
        if focused:
            self.last = focused
        self._tabs.show(self._seen, focused == self._seen)
        self._bottom_tabs.show(self._bottom, focused == self._bottom)

    def has_focus(self, pane: str) -> bool:
        """Whether a pane has the keys."""
        return self._focused() == pane

    def terminal_size(self) -> tuple[int, int]:
        """Columns and rows of the program's terminal: those of the output pane, or of the pane in its place."""
        pane = self._widget("output")
        if not pane.size.width:
            pane = next((self._widget(each) for each in self.ALL if self._widget(each).size.width), pane)
        size = pane.size if pane.size.width else self._app.size
        return max(size.width - 1, 1), max(size.height, 1)

    def _focused(self) -> str:
        widget = self._app.screen.focused if self._app.screen_stack else None
        while widget is not None and widget.id not in self._widgets:
            parent = widget.parent
            widget = parent if isinstance(parent, Widget) else None
        return (widget.id or "") if widget is not None else ""

    def _widget(self, pane: str) -> Widget:
        return self._widgets[pane]


_USUAL: dict[str, int] = {}


def _usual_place(widget: Widget) -> int:
    return _USUAL[str(widget.id)]


def _huge_place(widget: Widget) -> int:
    return _HUGE_ORDER.index(widget.id) if widget.id in _HUGE_ORDER else len(_HUGE_ORDER)

"""The nodes around one as boxes in layers, with lines between them."""

from collections.abc import Mapping
from typing import Any, ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from agdbg_ui.canvas import Canvas
from agdbg_ui.text import pad_name
from agdbg_ui.themes import ASIDE, CURSOR, HERE, LABEL, TITLE, node_look
from agdbg_ui.widgets.painting import colour

MOST_HOPS = 30
#: Said while the graph is empty: as soon as it has a node one is selected.
NOTHING = "there is no node yet"
_PAN_X, _PAN_Y = 8, 3


class Boxes(ScrollView, can_focus=True):
    """The neighbourhood of a node, or all around it at a depth in calls of modules; the owner answers `Boxes.Wanted` with `put`.

    | Key | Does |
    | --- | --- |
    | left, right, h, l | to the next box of the layer |
    | up, down, k, j | to the producer, to the consumer |
    | shift with an arrow, mouse wheel | moves the sheet |
    | plus, minus | further around, less far; by modules: deeper, less deep |
    | space | by modules, node by node |
    | enter | puts the selected node into the middle; by modules: to its rows |
    """

    DEFAULT_CSS = """
    Boxes {
        background: $surface; color: $foreground; scrollbar-size: 1 1; overflow: auto auto;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "beside(-1)", "Left", show=False),
        Binding("right,l", "beside(1)", "Right", show=False),
        Binding("up,k", "linked(-1)", "Producer", show=False),
        Binding("down,j", "linked(1)", "Consumer", show=False),
        Binding("shift+left", "pan(-1, 0)", "Move left", show=False),
        Binding("shift+right", "pan(1, 0)", "Move right", show=False),
        Binding("shift+up", "pan(0, -1)", "Move up", show=False),
        Binding("shift+down", "pan(0, 1)", "Move down", show=False),
        Binding("plus,equals_sign", "radius(1)", "Further", show=False),
        Binding("minus", "radius(-1)", "Less far", show=False),
        Binding("enter", "centre", "Into the middle", show=False),
        Binding("space", "level", "By modules", show=False),
    ]

    class Wanted(Message):
        """The neighbourhood of `node` is to be shown."""

        def __init__(self, node: int, hops: int, depth: int) -> None:
            super().__init__()
            self.node, self.hops, self.depth = node, hops, depth

    class AnyWanted(Message):
        """No node is known yet that could be selected."""

    class RowsWanted(Message):
        """The rows of a module are to be seen."""

        def __init__(self, node: int) -> None:
            super().__init__()
            self.node = node

    class Selected(Message):
        """Another box is selected."""

        def __init__(self, node: int) -> None:
            super().__init__()
            self.node = node

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.hops = 2
        self.nothing, self.lost = NOTHING, ""
        self._strips: dict[int, Strip] = {}
        self._begin()

    def _begin(self) -> None:
        self.depth = self.selected = 0
        self.counter: int | None = None
        self._led: int | None = None  # the node that was selected elsewhere last
        self._chose: set[int] = set()  # those that were selected here, of which `follow` has still to tell
        self._asked = 0
        self._canvas: Canvas | None = None
        self._body: Mapping[str, Any] = {}

    # ----- data -----

    def forget(self) -> None:
        """Another run of the program begins: there is no node yet; how far around one is shown stays."""
        self._begin()
        self.virtual_size = Size(0, 0)
        self._redraw()

    def set_nothing(self, why: str) -> None:
        """What is said while no node is known: that they are read, say."""
        if why != self.nothing:
            self.nothing = why or NOTHING
            self.refresh()

    def lose(self, why: str) -> None:
        """What is known stays; nothing else will come."""
        self.lost = why
        self.refresh()

    def follow(self, node: int, counter: int | None) -> None:
        """`node` is selected in the graph, and `counter` runs next: show it, with those around it when it is not here.

        What was selected here stays until the graph has come there, or another one is selected elsewhere.
        """
        has_moved, self.counter = counter != self.counter, counter
        is_news, self._led = node != self._led, node
        if not self.display:
            self.selected = node
        elif node == self.selected:
            self._chose.clear()
        elif is_news and node in self._chose:
            return  # from where the person has gone on by now
        elif is_news or has_moved:
            self._chose.clear()
            self._go_to(node)
        if has_moved:
            self._redraw()

    def follow_step(self) -> None:
        """The person lets the program go on: where it stands next is gone to, also when that is where it stood."""
        self._led = None
        self._chose.clear()

    def _go_to(self, node: int) -> None:
        if self._canvas is not None and node in self._canvas.boxes:
            self._select(node)
        else:
            self.selected = node
            self._want(node)

    def outdate(self) -> None:
        """States may be others now."""
        if self.display and (self._body or self.selected):
            is_here = self._canvas is None or self.selected in self._canvas.boxes
            self._want(int((self._body.get("node") if is_here else 0) or self.selected))

    def put(self, body: Mapping[str, Any], asked: int) -> None:
        """Take in the body of ``agdbg/neighbourhood`` of the node `asked`; the box of a leaf is that of a node that uses it."""
        self.depth = body["depth"]  # the deepest there is, when it was to be deeper
        if body != self._body:
            self._body = body
            self._canvas = Canvas(body)
            self.virtual_size = Size(self._canvas.width, self._canvas.height)
        elif self._canvas is not None and self.selected in self._canvas.boxes:
            self._redraw()  # wherever the sheet was moved to
            return
        if self._canvas is not None and self.selected not in self._canvas.boxes and asked == self._asked:
            self.selected = body["node"]  # else another answer is on its way
        self._redraw()
        self._show_selected()

    @property
    def note(self) -> str:
        """What the border says: how far around, how many."""
        if not self._body:
            return "0 Boxes"
        total, hops, shown = self._body["total"], self._body["hops"], len(self._body["boxes"])
        if self.depth:
            boxes = f"{total:,}" if shown == total else f"{shown:,} of {total:,}"
            if self._body["cut"]:  # the number is that of those that were looked at
                return f"0 Boxes  {boxes} or more: only near #{self._body['node']} was looked at; by modules, {self.depth} deep"
            return f"0 Boxes  {boxes} by modules, {self.depth} deep, that hang together with #{self._body['node']}"
        within = f"nodes within {hops} {'edge' if hops == 1 else 'edges'} of #{self._body['node']}"
        if shown < total:
            return f"0 Boxes  {shown} of {total:,} {within}: no room for more"
        more = f": within {hops + 1} more than fit" if self._body["cut"] else ""
        return f"0 Boxes  {total} {within}{more}"

    # ----- drawing -----

    def render_line(self, y: int) -> Strip:
        """A row of the sheet."""
        left, top = self.scroll_offset
        width = self.size.width
        if self._canvas is None:
            note = (self.lost or "…" if self.selected else self.nothing) if y == 0 else ""
            return Strip([Segment(note, colour(self, ASIDE))]).adjust_cell_length(width, colour(self))
        row = top + y
        if (strip := self._strips.get(row)) is None:
            strip = self._strips[row] = self._row(self._canvas, row)
        return strip.crop(left, left + width).adjust_cell_length(width, colour(self))

    def _row(self, canvas: Canvas, y: int) -> Strip:
        """All of a row; lines lie below boxes."""
        pieces: list[tuple[int, str, tuple[str, ...]]] = []
        for x, character, ends in canvas.lines_in(y):
            pieces.append((x, character, (LABEL if self.selected in ends else ASIDE,)))
        boxes = [(box, line) for box, line in canvas.boxes_in(y)]
        taken = [(box["x"], box["x"] + box["width"]) for box, _ in boxes]
        pieces = [each for each in pieces if not any(start <= each[0] < end for start, end in taken)]
        for box, line in boxes:
            pieces += self._box(canvas, box, line)
        segments: list[Segment] = []
        at = 0
        for x, text, styles in sorted(pieces, key=lambda piece: piece[0]):
            if x > at:
                segments.append(Segment(" " * (x - at), colour(self)))
            segments.append(Segment(text, colour(self, *styles)))
            at = x + Strip([segments[-1]]).cell_length
        return Strip(segments).adjust_cell_length(max(canvas.width, self.size.width), colour(self))

    def _box(self, canvas: Canvas, box: Mapping[str, Any], line: int) -> list[tuple[int, str, tuple[str, ...]]]:
        x, room = box["x"], box["width"] - 2
        is_next = box["node"] == self.counter if self.counter in canvas.boxes else box["state"] == "next"
        look = node_look("next" if is_next else box["state"])
        is_selected = box["node"] == self.selected
        under = CURSOR if is_selected else HERE if is_next else ""
        edge = "┏┓┗┛━┃" if is_selected else "┌┐└┘─│"
        frame = (under, LABEL if is_selected else ASIDE)
        if line == 0:
            return [
                (x, edge[0], frame),
                (x + 1, look.mark, (under, look.style)),
                (x + 2, edge[4] * (room - 1) + edge[1], frame),
            ]
        if line == 3:
            return [(x, edge[2] + edge[4] * room + edge[3], frame)]
        words = pad_name(str(box["words"][line - 1]), room)
        style = TITLE if line == 1 else LABEL if words.startswith("[") else ASIDE
        return [(x, edge[5], frame), (x + 1, words, (under, style)), (x + 1 + room, edge[5], frame)]

    def _redraw(self) -> None:
        self._strips.clear()
        self.border_title = self.note
        self.refresh()

    def notify_style_update(self) -> None:
        """The theme or the size of the terminal is another one."""
        super().notify_style_update()
        self._strips.clear()

    @property
    def place_of_cursor(self) -> Offset:
        """Where on the screen the words of the selected box begin, or the pane."""
        if self._canvas is None or self.selected not in self._canvas.boxes:
            return self.content_region.offset
        x, y, _, _ = self._canvas.area(self.selected)
        return self.content_region.offset + Offset(x + 1, y + 1) - self.scroll_offset

    # ----- acting -----

    def action_beside(self, by: int) -> None:
        """To the next box of the layer."""
        if self._canvas is not None and self.selected:
            self._chosen(self._canvas.beside(self.selected, by))

    def action_linked(self, by: int) -> None:
        """To the producer or the consumer that stands nearest."""
        if self._canvas is not None and self.selected:
            self._chosen(self._canvas.linked(self.selected, by))

    def action_pan(self, x: int, y: int) -> None:
        """Move the sheet."""
        self.scroll_relative(x * _PAN_X, y * _PAN_Y, animate=False, force=True, immediate=True)

    def action_radius(self, by: int) -> None:
        """Show more or fewer nodes around."""
        is_cut, shown = self._body.get("cut", False), self._body.get("hops", self.hops)
        if self.depth:
            self.depth = max(self.depth + by, 1)
        else:
            wanted = (min(self.hops, shown) if is_cut else self.hops) + by
            self.hops = max(1, min(wanted, MOST_HOPS))
        if self.selected:
            self._want(self.selected)

    def action_level(self) -> None:
        """By modules, or node by node again."""
        self.depth = 0 if self.depth else 1
        if self.selected:
            self._want(self.selected)
        else:
            self.post_message(self.AnyWanted())

    def action_centre(self) -> None:
        """Show what is around the selected node; of a module its rows."""
        if self.selected and self.depth:
            self.post_message(self.RowsWanted(self.selected))
        elif self.selected:
            self._want(self.selected)

    def on_click(self, event: events.Click) -> None:
        """Select the box that was clicked."""
        offset = event.get_content_offset(self)
        if offset is None or self._canvas is None:
            return
        if node := self._canvas.at(offset.x + self.scroll_offset.x, offset.y + self.scroll_offset.y):
            self._chosen(node)

    def on_show(self) -> None:
        """It is seen: ask."""
        if not self.selected:
            self.post_message(self.AnyWanted())
        elif self._canvas is None or self.selected not in self._canvas.boxes:
            self._want(self.selected)
        else:
            self.outdate()
            self._show_selected()

    def on_resize(self) -> None:
        """Keep the selected box in sight."""
        self._show_selected()

    def _want(self, node: int) -> None:
        self._asked = node
        self.post_message(self.Wanted(node, self.hops, self.depth))

    def _chosen(self, node: int) -> None:
        if node != self.selected:
            self._chose.add(node)
            self._select(node)
            self.post_message(self.Selected(node))

    def _select(self, node: int) -> None:
        self.selected = node
        self._redraw()
        self._show_selected()

    def _show_selected(self) -> None:
        if self._canvas is not None and self.selected in self._canvas.boxes and self.is_attached:
            x, y, width, height = self._canvas.area(self.selected)
            self.scroll_to_region(Region(x, y, width, height), animate=False, force=True, immediate=True, center=False)

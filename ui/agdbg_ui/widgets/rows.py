"""A list of lines that are drawn when they are seen: what the panes share."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Offset, Region, Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style

from agdbg_ui.copying import plain
from agdbg_ui.text import Pieces, safe, wrap_phrases
from agdbg_ui.themes import ASIDE, CURSOR, CURSOR_BLURRED
from agdbg_ui.widgets.painting import paint


class Rows(ScrollView, can_focus=True):
    """Lines with a cursor and, above them, lines that do not scroll.

    A subclass says how many there are (`row_count`, then `rows_changed` when it is another number or other
    content) and what one looks like (`row`, and `header_row` for the first `header` lines of the pane). Cost follows
    the height of the pane, not the number of rows; nothing is drawn again until something changes.

    | Key | Does |
    | --- | --- |
    | up, down, k, j, page up, page down, home, end | move the cursor |
    | enter, click on the line of the cursor | `on_row_chosen` |
    """

    DEFAULT_CSS = """
    Rows {
        background: $surface;
        color: $foreground;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home", "jump(0)", "First", show=False),
        Binding("end", "jump(-1)", "Last", show=False),
        Binding("enter", "choose", "Choose", show=False),
    ]

    cursor: reactive[int] = reactive(0, repaint=False)
    """The row that keys act on."""
    lost = ""
    """Why what is not known will not come; "" while it may."""

    def __init__(
        self, *, name: str | None = None, id: str | None = None, classes: str | None = None, header: int = 0
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.header = header
        self._strips: LRUCache[tuple[int, int, bool, bool], Strip] = LRUCache(1024)
        self._look: tuple[str, Style] | None = None

    # ----- what a subclass says -----

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        return 0

    def row(self, index: int, width: int) -> Pieces:
        """What row `index` shows in `width` cells; what is too long is cut."""
        raise NotImplementedError

    def header_row(self, index: int, width: int) -> Pieces:
        """What line `index` of those that do not scroll shows."""
        return []

    def row_background(self, index: int) -> str:
        """A style under the whole row, or ""; that of the cursor goes over it."""
        return ""

    @property
    def empty_text(self) -> str:
        """What is said when there are no rows."""
        return ""

    def on_row_chosen(self, index: int) -> None:
        """Enter was pressed on a row, or it was clicked when the cursor was there."""

    def on_row_clicked(self, index: int, x: int) -> bool:
        """A row was clicked at column `x`; True: that is all, the cursor stays."""
        return False

    # ----- what a subclass calls -----

    def lose(self, why: str) -> None:
        """What is known stays; nothing else will come."""
        if why != self.lost:
            self.lost = why
            self.rows_changed()

    def rows_changed(self) -> None:
        """Draw anew: rows came, went or changed."""
        self._strips.clear()
        self.virtual_size = Size(0, self.row_count + self.header)
        self.set_reactive(Rows.cursor, self.validate_cursor(self.cursor))
        self.refresh()

    def forget(self) -> None:
        """Another run of the program begins: a subclass knows nothing of it, and the cursor is on the first row."""
        self.set_reactive(Rows.cursor, 0)
        self.rows_changed()
        self._show_from(0)

    def row_text(self, index: int) -> str:
        """What a row says, however wide the pane is, without what is only drawn."""
        return plain("".join(text for text, _ in self.row(index, 1000)))

    def middle(self, index: int) -> None:
        """Scroll so that a row is in the middle."""
        self._show_from(index - self.visible_rows // 2)

    def show_row(self, index: int) -> None:
        """Scroll no further than needed to see a row."""
        top, height = self.top_row, self.visible_rows
        if index < top:
            self._show_from(index)
        elif index >= top + height:
            self._show_from(index - height + 1)

    @property
    def top_row(self) -> int:
        """The first row that is seen."""
        return self.scroll_offset.y

    @property
    def visible_rows(self) -> int:
        """How many rows can be seen at once, at least one."""
        return max(self.size.height - self.header, 1)

    @property
    def inner_width(self) -> int:
        """Cells of a row: the pane without its scrollbar, for which there always is room."""
        return self.scrollable_content_region.width

    @property
    def at_end(self) -> bool:
        """Whether the last row is seen, or would be once the pane has a size."""
        return self.top_row + self.visible_rows >= self.row_count

    # ----- drawing -----

    def render_line(self, y: int) -> Strip:
        """One line of the pane."""
        width = self.inner_width
        if y < self.header:
            return paint(self, self.header_row(y, width), width)
        index = self.top_row + y - self.header
        if index >= self.row_count:
            return paint(self, [("" if self.row_count else self._empty_line(y - self.header, width), ASIDE)], width)
        is_cursor = index == self.cursor
        key = (index, width, is_cursor, is_cursor and self.has_focus)
        if (strip := self._strips.get(key)) is None:
            strip = self._strips[key] = paint(self, self.row(index, width), width, self._under(index))
        return strip

    def _empty_line(self, line: int, width: int) -> str:
        """A line of what is said when there are no rows; a very short pane has only the first."""
        lines = wrap_phrases(safe(self.empty_text), width, width)
        return lines[line] if line < len(lines) else ""

    def _under(self, index: int) -> str:
        if index != self.cursor:
            return self.row_background(index)
        return CURSOR if self.has_focus else self.row_background(index) or CURSOR_BLURRED

    def notify_style_update(self) -> None:
        """The theme or another style is another one; one of the border alone, as with the focus, leaves the rows as they are."""
        super().notify_style_update()
        look = (self.app.theme, self.visual_style)
        if look != self._look:
            self._look = look
            self._strips.clear()

    # ----- the cursor -----

    @property
    def place_of_cursor(self) -> Offset:
        """Where on the screen the row of the cursor begins, or the nearest line of the pane."""
        y = self.cursor - self.top_row + self.header if self.row_count else 0
        return self.content_region.offset + Offset(0, max(0, min(y, self.size.height - 1)))

    def validate_cursor(self, cursor: int) -> int:
        """Keep it on a row."""
        return max(0, min(cursor, self.row_count - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        """Show it."""
        self._refresh_row(old)
        self._refresh_row(new)
        self.show_row(new)

    def action_move(self, by: int) -> None:
        """Move the cursor by rows."""
        self.cursor += by

    def action_page(self, by: int) -> None:
        """Move the cursor by pages."""
        self.cursor += by * max(self.visible_rows - 1, 1)

    def action_jump(self, to: int) -> None:
        """Move the cursor to a row, counted from the end when negative."""
        self.cursor = to if to >= 0 else self.row_count + to

    def action_choose(self) -> None:
        """Act on the row of the cursor."""
        if self.row_count:
            self.on_row_chosen(self.cursor)

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to what was clicked, or choose it."""
        offset = event.get_content_offset(self)
        if offset is None or offset.y < self.header:
            return
        index = self.top_row + offset.y - self.header
        if index >= self.row_count or self.on_row_clicked(index, offset.x):
            return
        if index == self.cursor:
            self.on_row_chosen(index)
        else:
            self.cursor = index

    def on_resize(self) -> None:
        """Keep the cursor in sight."""
        self._strips.clear()
        self.show_row(self.cursor)

    def on_focus(self) -> None:
        """Show the cursor strongly."""
        self._refresh_row(self.cursor)

    def on_blur(self) -> None:
        """Show the cursor faintly."""
        self._refresh_row(self.cursor)

    def _refresh_row(self, index: int) -> None:
        y = index - self.top_row + self.header
        if self.is_attached and self.header <= y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))

    def watch_show_vertical_scrollbar(self, shown: bool) -> None:
        """A scroll bar that comes after the scrolling stands where the pane does."""
        if shown:
            self.vertical_scrollbar.position = self.scroll_y

    def _show_from(self, row: int) -> None:
        if not self.is_attached:  # once it has a size the row of the cursor is shown
            return
        self.scroll_to(y=max(row, 0), animate=False, immediate=True, force=True)

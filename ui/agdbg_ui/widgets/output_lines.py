"""The lines of the program's output, wrapped to the width of the pane."""

from collections import deque
from collections.abc import Iterator
from itertools import islice
from time import monotonic

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer

from agdbg_ui.terminal import LINES, Line, TerminalLines
from agdbg_ui.text import crop, wrap, wrap_phrases

#: A piece of a line that is one row of the screen: the line, its first character and the one after its last.
_Row = tuple[Line, int, int]
#: Characters that are read at once as they come; more within so many seconds wait for their end.
_BURST = 256 * 1024
_WINDOW = 0.05
_EMPTY = "the program has written nothing yet"


class OutputLines(ScrollView, can_focus=True):
    """Draws a `TerminalLines`; stays at its end unless someone scrolled up.

    Args:
        limit: lines that are kept.
    """

    DEFAULT_CSS = """
    OutputLines {
        height: 1fr;
        background: $surface;
        color: $foreground;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
    }
    """

    def __init__(self, limit: int = LINES) -> None:
        super().__init__()
        self.terminal = TerminalLines(limit)
        self.log_path = ""
        self.nothing = _EMPTY
        self._waiting: list[str] = []
        self._window = 0.0  # when the pieces began that are counted
        self._taken = 0  # characters since then
        self._flushing: Timer | None = None
        self._rows: deque[_Row] = deque()
        self._heights: deque[int] = deque()  # rows of each finished line
        self._unfinished = 0  # rows of the line that is being written
        self._shown_note_rows = 0
        self._seen = 0  # finished lines that have rows, or had them
        self._wrapped_to = 0
        self._stick = True

    def feed(self, text: str) -> None:
        """Take a piece of the output; of a flood only what comes last is read, a few times a second."""
        now = monotonic()
        if now - self._window > _WINDOW:
            self._window, self._taken = now, 0
        flood = self._taken > 0 and self._taken + len(text) > _BURST
        self._taken += len(text)
        self._waiting.append(text)
        if not flood or not self.is_attached:
            self.flush()
        elif self._flushing is None:
            self._flushing = self.set_timer(_WINDOW, self.flush)

    def flush(self) -> None:
        """Read what came in a flood."""
        if self._flushing is not None:
            self._flushing.stop()
            self._flushing = None
        if self._waiting:
            text = "".join(self._waiting)
            self._waiting.clear()
            self.terminal.feed(text)
            self._follow()

    def clear(self) -> None:
        """Forget everything."""
        self._waiting.clear()
        self.terminal = TerminalLines(self.terminal.limit)
        self._seen = 0
        self._stick = True
        self._follow()

    def to_end(self) -> None:
        """Scroll to the end, and stay there."""
        self._stick = True
        self._show_from(len(self._rows) + self._note_rows - self.size.height)

    def action_scroll_home(self) -> None:
        """To the first line that is kept, at once: on the way there, lines that are dropped would end the journey."""
        self.scroll_home(animate=False, immediate=True, force=True)

    def action_scroll_end(self) -> None:
        """To the end, and stay there."""
        self.to_end()

    def action_page_up(self) -> None:
        """A page up, at once as well."""
        self.scroll_page_up(animate=False, force=True)

    def action_page_down(self) -> None:
        """A page down."""
        self.scroll_page_down(animate=False, force=True)

    def watch_show_vertical_scrollbar(self, shown: bool) -> None:
        """A scroll bar that comes after the scrolling stands where the pane does."""
        if shown:
            self.vertical_scrollbar.position = self.scroll_y

    def _show_from(self, row: int) -> None:
        self.scroll_to(y=max(row, 0), animate=False, immediate=True, force=True)

    # ----- rows -----

    def _follow(self) -> None:
        """Rows for the lines that are new, none for those that are dropped."""
        if not self.is_attached:  # there is no width to wrap to yet
            return
        terminal = self.terminal
        new = terminal.total - self._seen
        if new >= len(terminal.lines) or not self._wrapped_to:
            self._rewrap()
            return
        had_note = self._shown_note_rows
        for _ in range(self._unfinished):
            self._rows.pop()
        for line in reversed(list(islice(reversed(terminal.lines), new))):
            self._heights.append(self._add(line))
        gone = self._trim()
        self._finish()
        if not self._stick and (gone := gone + had_note - self._note_rows):
            self._show_from(self.scroll_offset.y - gone)

    def _trim(self) -> int:
        """Drop the rows of dropped lines; returns how many."""
        gone = 0
        while len(self._heights) > len(self.terminal.lines):
            height = self._heights.popleft()
            gone += height
            for _ in range(height):
                self._rows.popleft()
        return gone

    def _rewrap(self) -> None:
        self._rows.clear()
        self._wrapped_to = self.scrollable_content_region.width
        self._heights = deque(self._add(line) for line in self.terminal.lines)
        self._finish()

    def _finish(self) -> None:
        """Add the line that is being written, and draw."""
        self._seen = self.terminal.total
        self._shown_note_rows = self._note_rows
        partial = self.terminal.partial
        self._unfinished = self._add(partial) if partial.text else 0
        self.virtual_size = Size(0, len(self._rows) + self._note_rows)
        if self._stick:
            self.to_end()
        self.refresh()

    def _add(self, line: Line) -> int:
        width = self._wrapped_to or 80
        text = line.text
        if len(text) <= width and text.isascii():
            self._rows.append((line, 0, len(text)))
            return 1
        pieces = wrap(text, width)
        start = 0
        for piece in pieces:
            self._rows.append((line, start, start + len(piece)))
            start += len(piece)
        return len(pieces)

    # ----- drawing -----

    @property
    def _note_rows(self) -> int:
        return len(self._note) if self.terminal.dropped else 0

    @property
    def _note(self) -> list[str]:
        """What stands above the lines when older ones are no longer kept; the path is whole, to be copied."""
        width = self._wrapped_to or 80
        how = "; Ctrl+E opens all" if self.log_path else ""
        where = wrap(f"all is in {self.log_path}", width) if self.log_path else [""]
        return [crop(f"{self.terminal.dropped:,} earlier lines are not shown{how}", width), *where]

    def _wrapped_nothing(self, row: int, width: int) -> str:
        lines = wrap_phrases(self.nothing, width, width)
        return lines[row] if row < len(lines) else ""

    def render_line(self, y: int) -> Strip:
        """One row of the pane."""
        width = self.scrollable_content_region.width
        base = self.visual_style.rich_style
        row = self.scroll_offset.y + y
        if not self._rows:
            return self._aside(self._wrapped_nothing(y, width), width)
        if row < (note_rows := self._note_rows):
            return self._aside(self._note[row], width)
        row -= note_rows
        if row >= len(self._rows):
            return Strip.blank(width, base)
        return Strip(list(_segments(*self._rows[row], base))).adjust_cell_length(width, base)

    def _aside(self, text: str, width: int) -> Strip:
        style = (self.visual_style + self.app.stylesheet.parse_style("italic $foreground 60%")).rich_style
        return Strip([Segment(crop(text, width), style)]).adjust_cell_length(width, self.visual_style.rich_style)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Whoever scrolls up stays there, and follows again from the end."""
        super().watch_scroll_y(old_value, new_value)
        self._stick = round(new_value) >= self.max_scroll_y

    def on_resize(self) -> None:
        """Wrap anew."""
        if self.scrollable_content_region.width != self._wrapped_to:
            self._rewrap()
        elif self._stick:
            self.to_end()


def _segments(line: Line, start: int, end: int, base: RichStyle) -> Iterator[Segment]:
    """The characters from `start` to `end`, in their inks."""
    at = 0
    for length, ink in line.runs:
        first, last = max(at, start), min(at + length, end)
        if first < last:
            yield Segment(line.text[first:last], base + ink.style())
        at += length

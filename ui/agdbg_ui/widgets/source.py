"""The source file of a node, with the line that the program stands at, and the expression in it."""

from collections.abc import Mapping
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from agdbg.render.clean import ELLIPSIS
from agdbg.sources import WRITTEN_TO
from agdbg_ui.highlight import Highlighter
from agdbg_ui.spots import NOWHERE, Spot
from agdbg_ui.text import Pieces, cells, fit, safe, shorten, shorten_start, width_of, wrap_phrases
from agdbg_ui.themes import (
    ARROW,
    BREAKPOINT_MARK,
    BREAKPOINT_STYLE,
    FAINT,
    HERE,
    HERE_PART,
    NOTE_MARK,
    NOTE_STYLE,
    NOTICE,
    OFF_MARK,
    OFF_STYLE,
    TITLE,
)
from agdbg_ui.widgets.rows import Rows

#: The mark of a line with a breakpoint; any other mark is a note that is shown at the end of the line.
BREAKPOINT = "breakpoint"
#: That of a line with one that is switched off.
OFF = "breakpoint off"
_SHIFT = 8
#: Lines for what is said of a line above it.
_NOTE_LINES = 3
#: Said before the line that was recorded, of a file that has another one there now.
_CHANGED = "the file was changed since; the line was"
#: Recorded lines that are longer may be cut.
_LONGEST = 400
_UNREADABLE = "the file cannot be read; this is from the recording"


class SourcePane(Rows):
    """A source file; the current line is in the middle, with an arrow.

    | Key | Does |
    | --- | --- |
    | b, click on the line number | toggle a breakpoint at the line of the cursor |
    | space | the next place of the node: its forward line, its hooks, the call of the pass |
    | left, right | see more of long lines |
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "toggle_breakpoint", "Breakpoint", show=False),
        Binding("space", "other", "Other place", show=False),
        Binding("left", "shift(-1)", "Left", show=False),
        Binding("right", "shift(1)", "Right", show=False),
    ]

    class BreakpointToggled(Message):
        """The user wants a breakpoint at a line, or wants it no longer."""

        def __init__(self, path: str, line: int) -> None:
            super().__init__()
            self.path, self.line = path, line

    class OtherWanted(Message):
        """The user wants to see another place of the same node."""

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.spot = NOWHERE
        self._text: str | None = None
        self._said: list[str] = []
        self._is_written = False
        self._lines: list[str] = []
        self._first = 1  # the number of the first line: of a file that is missing only one line is known
        self._marks: dict[int, str] = {}
        self._highlighter = Highlighter([], python=False)
        self._shifted = 0
        self._reached = 0  # how far the current line alone is shifted
        self._reached_for = 0  # the width of the pane for which it was

    @property
    def path(self) -> str:
        """The file; "" when it is not known."""
        return self.spot.file

    @property
    def line(self) -> int:
        """The current line, from 1; 0: none."""
        return self.spot.line

    @property
    def is_changed(self) -> bool:
        """Whether the file has another line there than was recorded."""
        known, at = self.spot.known.strip(), self.line - self._first
        if self._text is None or not known or not self.line or len(known) >= _LONGEST:
            return False
        return not 0 <= at < len(self._lines) or self._lines[at].strip() != known

    def show(self, spot: Spot, text: str | None, marks: Mapping[int, str], is_written: bool = False) -> None:
        """Show a line of a file.

        Args:
            spot: the line, and the expression in it.
            text: the content of the file; None when it cannot be read.
            marks: by line number, `BREAKPOINT`, `OFF`, a note, or several of them on lines of their own.
            is_written: the file was written to after the program began.
        """
        self._is_written = is_written and text is not None
        moved = spot != self.spot
        if spot.file != self.path or text != self._text or text is None:
            self._load(spot, text)
        self.spot, self._marks = spot, dict(marks)
        self._head()
        self.rows_changed()
        if moved and spot.line:
            self._reach()
            self.set_reactive(Rows.cursor, self.validate_cursor(spot.line - self._first))
            self.middle(spot.line - self._first)

    def forget(self) -> None:
        """Show no file."""
        self.show(NOWHERE, None, {})
        super().forget()

    @property
    def current_line(self) -> int:
        """The number of the line of the cursor."""
        return self._first + self.cursor

    def row_text(self, index: int) -> str:
        """The line, without its number."""
        return self._lines[index] if index < len(self._lines) else ""

    def set_marks(self, marks: Mapping[int, str]) -> None:
        """Other marks in the same file."""
        if dict(marks) != self._marks:
            self._marks = dict(marks)
            self.rows_changed()

    def _load(self, spot: Spot, text: str | None) -> None:
        self._text = text
        self._shifted = self._reached = 0
        self._first = 1 if text is not None else max(spot.line, 1)
        self._lines = text.split("\n") if text is not None else [spot.known] if spot.known else []
        if text is not None and text.endswith("\n"):
            self._lines.pop()
        self._lines = [line.removesuffix("\r") for line in self._lines]
        self._highlighter = Highlighter(self._lines, python=spot.file.endswith((".py", ".pyi", ".pyw")))

    # ----- drawing -----

    @property
    def row_count(self) -> int:
        """The lines of the file, or the one that is known of it."""
        return len(self._lines)

    @property
    def empty_text(self) -> str:
        """What is said when no line can be shown."""
        return "the source line of this is not known" if not self.path or self._text is None else "the file is empty"

    def header_row(self, index: int, width: int) -> Pieces:
        """The file, and that it is missing; what more is to be said of the line."""
        if index:
            return [(self._said[index - 1], NOTICE)]
        place = f"{self.path}:{self.line}" if self.line else self.path
        role = shorten(f"  {self.spot.role}", max(width // 2, width - cells(safe(place)))) if self.spot.role else ""
        return [(shorten_start(place, width - cells(role)), TITLE), (role, NOTICE)]

    def _head(self) -> None:
        """What stands above the lines, which scroll below it."""
        width = max(self.inner_width, 20)
        self._said = [] if self._text is not None else [shorten(_UNREADABLE, width)]
        if self.is_changed:
            self._said.append(shorten(f"{_CHANGED}: {safe(self.spot.known.strip())}", width))
        elif self._is_written:
            self._said += wrap_phrases(WRITTEN_TO, width, width)[:_NOTE_LINES]
        if self.spot.note:
            lines = wrap_phrases(safe(self.spot.note), width, width)
            self._said += [*lines[: _NOTE_LINES - 1], shorten(" ".join(lines[_NOTE_LINES - 1 :]), width)][: len(lines)]
        self.header = 1 + len(self._said) if self.spot.file else 0

    def row(self, index: int, width: int) -> Pieces:
        """Mark, number, arrow and code; notes at the right."""
        number = index + self._first
        gutter = self._gutter(number)
        code = self._in_sight(index)
        note = self._note(number, width)
        return [*_cut(gutter + code, width - width_of(note)), *note] if note else [*gutter, *code]

    def _in_sight(self, index: int) -> Pieces:
        """The line from where it is shown; the current one from what is meant of it."""
        if index + self._first == self.line and self._reached:
            return [(ELLIPSIS, FAINT), *_shifted(self._marked(index), self._reached + 1)]
        return _shifted(self._marked(index), self._shifted)

    def _note(self, number: int, width: int) -> Pieces:
        note = "".join(f"  {NOTE_MARK} {safe(text)}" for text in self._notes(number))
        return [(shorten(note, max(width // 2, 12)), NOTE_STYLE)] if note else []

    def _marked(self, index: int) -> Pieces:
        """The line, and what is meant of it marked."""
        start, end = self._part(index)
        return _styled(self._highlighter.line(index), start, end, HERE_PART)

    def _part(self, index: int) -> tuple[int, int]:
        """Where in the line, as it is shown, stands what is meant; the same twice: nowhere."""
        part = self.spot.part_of(index + self._first, self._lines[index])
        return self._highlighter.shown_part(index, part) if any(part) else part

    def _reach(self) -> None:
        """Shift the current line no further than needed to see what is meant; its beginning where it is longer than the pane."""
        index, width = self.line - self._first, self.inner_width
        self._shifted, self._reached, self._reached_for = 0, 0, width
        if not width or not 0 <= index < len(self._lines):
            return
        start, end = self._part(index)
        room = width - width_of(self._gutter(self.line)) - width_of(self._note(self.line, width))
        shown = _shown_of(self._highlighter.line(index))
        last = start - 1  # the character before it makes room for the ellipsis
        while self._reached < last and cells(shown[self._reached : end]) >= room:
            self._reached += min(_SHIFT, last - self._reached)

    def row_background(self, index: int) -> str:
        """The current line stands out."""
        return HERE if index + self._first == self.line else ""

    def _gutter(self, number: int) -> Pieces:
        marks = self._marks.get(number, "").split("\n")
        if BREAKPOINT in marks:
            mark = (f"{BREAKPOINT_MARK} ", BREAKPOINT_STYLE)
        elif OFF in marks:
            mark = (f"{OFF_MARK} ", OFF_STYLE)
        else:
            mark = (f"{NOTE_MARK} " if self._notes(number) else "  ", NOTE_STYLE)
        here = number == self.line
        digits = f"{number:>{self._digits}} "
        return [mark, (digits, NOTICE if here else FAINT), (f"{ARROW} " if here else "  ", NOTICE)]

    @property
    def _digits(self) -> int:
        return len(str(len(self._lines) + self._first - 1))

    def _notes(self, number: int) -> list[str]:
        return [text for text in self._marks.get(number, "").split("\n") if text not in ("", BREAKPOINT, OFF)]

    # ----- acting -----

    def action_toggle_breakpoint(self) -> None:
        """A breakpoint at the line of the cursor, or none."""
        if self._lines:
            self.post_message(self.BreakpointToggled(self.path, self.cursor + self._first))

    def action_other(self) -> None:
        """Another place of the same node."""
        self.post_message(self.OtherWanted())

    def action_shift(self, by: int) -> None:
        """See more of long lines: of all from where the current one is, when that alone was shifted."""
        longest = max((len(_shown_of(self._highlighter.line(index))) for index in self._seen()), default=0)
        start = max(self._shifted, self._reached)
        self._shifted, self._reached = max(0, min(start + by * _SHIFT, longest - _SHIFT)), 0
        self.rows_changed()

    def _seen(self) -> range:
        return range(self.top_row, min(self.top_row + self.visible_rows, len(self._lines)))

    def on_row_clicked(self, index: int, x: int) -> bool:
        """A click on the gutter toggles."""
        if x >= 2 + self._digits + 1:
            return False
        self.cursor = index
        self.action_toggle_breakpoint()
        return True

    def on_resize(self) -> None:
        """Keep the current line in the middle while the cursor is on it."""
        super().on_resize()
        self._head()
        if self._reached_for != self.inner_width:  # nobody has shifted the lines for this width
            self._reach()
            self.rows_changed()
        if self._lines and self.cursor + self._first == self.line:
            self.middle(self.cursor)


def _shown_of(pieces: Pieces) -> str:
    """A line without its styles."""
    return "".join(text for text, _ in pieces)


def _shifted(pieces: Pieces, by: int) -> Pieces:
    """A line without its first `by` characters."""
    if not by:
        return pieces
    shown: Pieces = []
    for text, style in pieces:
        shown.append((text[by:], style))
        by = max(by - len(text), 0)
    return shown


def _styled(pieces: Pieces, start: int, end: int, style: str) -> Pieces:
    """A line with another style laid on its characters from `start` to `end`."""
    if start >= end:
        return pieces
    shown: Pieces = []
    at = 0
    for text, own in pieces:
        low, high = (min(max(edge - at, 0), len(text)) for edge in (start, end))
        shown += [(text[:low], own), (text[low:high], f"{own} {style}".strip()), (text[high:], own)]
        at += len(text)
    return [piece for piece in shown if piece[0]]


def _cut(pieces: Pieces, width: int) -> Pieces:
    """A line of exactly `width` cells."""
    pieces = fit(pieces, width)
    return [*pieces, (" " * (width - width_of(pieces)), "")]

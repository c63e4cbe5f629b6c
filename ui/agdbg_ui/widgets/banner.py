"""Why the program stands still, in one to three lines."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from agdbg.render.clean import ELLIPSIS
from agdbg_ui.text import Piece, Pieces, cells, crop, fit, safe, shorten, width_of
from agdbg_ui.themes import ASIDE, BANNER, TITLE, Look, banner_look
from agdbg_ui.widgets.painting import paint

HINT = "Enter: all of it"
_LINES = 3
_CLASSES = [f"-{kind}" for kind in BANNER]


class Banner(Widget, can_focus=True):
    """The reason of the stop, the headline of its explanation, and the key that opens the full text.

    It takes no room while there is nothing to say. What it is about shows in its mark and its word as well as in
    its colour. Enter, or a click, posts `Banner.Opened`.

    Args:
        hint: names the key that opens the full text.
    """

    DEFAULT_CSS = """
    Banner {
        height: auto;
        display: none;
        color: $foreground;
        background: $panel;
        &.-shown { display: block; }
        &.-stop { background: $warning 20%; }
        &.-error { background: $error 25%; }
        &.-found { background: $warning 20%; }
        &.-predicted { background: $error 12%; }
        &.-ended { background: $primary 20%; }
        &.-recorded { background: $accent 15%; }
        &.-info { background: $success 15%; }
        &:focus { text-style: bold; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "open", "All of it", show=False)]

    class Opened(Message):
        """The user wants the full text."""

        def __init__(self, kind: str) -> None:
            super().__init__()
            self.kind = kind

    def __init__(
        self, *, hint: str = HINT, name: str | None = None, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.hint = hint
        self.kind = ""
        self.headline = ""
        self.detail = ""

    def show(self, kind: str, headline: str, detail: str = "") -> None:
        """Say something.

        Args:
            kind: "stop", "error", "predicted", "found", "ended", "recorded" or "info".
            headline: what happened; it takes up to three lines where it must.
            detail: more about it, one line, if there is room; may be empty.
        """
        self.kind, self.headline, self.detail = kind, headline, detail
        self.remove_class(*_CLASSES)
        self.add_class("-shown", f"-{kind}" if kind in BANNER else "-info")
        self.refresh(layout=True)

    def clear(self) -> None:
        """Say nothing and take no room."""
        self.kind = self.headline = self.detail = ""
        self.remove_class("-shown", *_CLASSES)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many lines as there are."""
        return len(self._lines(width))

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """All there is."""
        return container.width

    def render_line(self, y: int) -> Strip:
        """One line."""
        width = self.size.width
        lines = self._lines(width)
        return paint(self, lines[y] if y < len(lines) else [], width)

    def action_open(self) -> None:
        """Ask for the full text."""
        self.post_message(self.Opened(self.kind))

    def on_click(self, event: events.Click) -> None:
        """Ask for the full text."""
        self.action_open()

    def _lines(self, width: int) -> list[Pieces]:
        return banner_lines(banner_look(self.kind), self.headline, self.detail, self.hint, width)


def banner_lines(look: Look, headline: str, detail: str, hint: str, width: int) -> list[Pieces]:
    """What a banner shows in `width` cells: one to three lines."""
    told = f"{hint} " if hint else ""
    lines = _told(look, headline, detail, width, 0)
    if told and width - width_of(lines[-1]) - cells(told) < 2:
        narrower = _told(look, headline, detail, width, cells(told) + 2)
        lines = narrower if not _is_cut(narrower[-1]) or _is_cut(lines[-1]) else lines
    return [fit(line, width) for line in (_with_hint(lines, (told, ASIDE), width) if told else lines)]


def _told(look: Look, headline: str, detail: str, width: int, less: int) -> list[Pieces]:
    """The headline, and the detail where there is room for it, in lines that leave `less` cells free."""
    lead: Piece = (f"{look.mark} {look.word}: ", look.style)
    first, *more = _broken(safe(headline[: 8 * width]), width - cells(lead[0]) - less, width - 2 - less)
    lines: list[Pieces] = [[lead, (first, TITLE)], *([("  " + text, TITLE)] for text in more)]
    if detail and len(lines) < _LINES:
        lines.append([("  " + shorten(detail, width - 2 - less), "")])
    return lines


def _is_cut(line: Pieces) -> bool:
    return line[-1][0].endswith(ELLIPSIS)


def _broken(text: str, first: int, other: int) -> list[str]:
    """Safe text broken at blanks into at most three lines: one of `first` cells, and others of `other` cells."""
    lines: list[str] = []
    room = first
    while cells(text) > room and len(lines) < _LINES - 1 and other > 0:
        fitting = crop(text, room)
        at = text.rfind(" ", 0, len(fitting) + 1) if fitting and text[len(fitting)] != " " else len(fitting)
        at = at if at > 0 else len(fitting)
        lines.append(text[:at].rstrip())
        text, room = text[at:].lstrip(), other
    return [*lines, shorten(text, room)]


def _with_hint(lines: list[Pieces], hint: Piece, width: int) -> list[Pieces]:
    """The hint at the right of the last line, which is cut where it has no room for it."""
    last = fit(lines[-1], max(width - cells(hint[0]) - 2, 0))
    gap = " " * (width - width_of(last) - cells(hint[0]))
    return [*lines[:-1], [*last, (gap, ""), hint]]

"""The rare events of a recording, page by page."""

from collections.abc import Mapping, Sequence
from typing import Any

from textual.message import Message

from agdbg_ui.text import Pieces, cells, pad, shorten_start
from agdbg_ui.themes import ALERT, ASIDE, FAINT, LABEL, banner_look
from agdbg_ui.widgets.rows import Rows

#: The kind of an error that was foreseen.
AHEAD = "error ahead"
#: Events that are asked for at once.
PAGE = 200
#: Pages that are kept.
_PAGES = 50
_KIND_CELLS = 14
_TIME_CELLS = 11
_PLACE_CELLS = 28

Event = Mapping[str, Any]


class EventsPane(Rows):
    """A list of events, of which only those near what is seen are here; others are asked for.

    The owner says how many there are (`set_total`), gets `EventsPane.Wanted` and answers with `set_events`. The
    list follows its end while the cursor is on the last event. Enter posts `EventsPane.Selected`.
    """

    class Wanted(Message):
        """Events that would be seen and are not here."""

        def __init__(self, start: int, count: int) -> None:
            super().__init__()
            self.start, self.count = start, count

    class Selected(Message):
        """The user chose an event."""

        def __init__(self, event: Event) -> None:
            super().__init__()
            self.event = event

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._total, self._is_known = 0, False
        self._pages: dict[int, list[Event]] = {}
        self._asked: dict[int, int] = {}  # page: how many of its events were there to ask for

    def forget(self) -> None:
        """Another recording follows."""
        self._total, self._is_known = 0, False
        self._pages.clear()
        self._asked.clear()
        super().forget()

    def set_total(self, total: int) -> None:
        """Say how many events there are."""
        if total == self._total and self._is_known:
            return
        self._is_known = True
        follow = self.cursor >= self._total - 1
        self._total = total
        self.rows_changed()
        if follow:
            self.cursor = total - 1
        self._want()

    def set_events(self, start: int, events: Sequence[Event]) -> None:
        """Take events, of which `start` is the index of the first."""
        for index, event in enumerate(events, start):
            page = self._pages.setdefault(index // PAGE, [])
            at = index % PAGE
            if at < len(page):
                page[at] = event
            elif at == len(page):
                page.append(event)
        self._forget_far_pages()
        if start + len(events) > self._total:
            self.set_total(start + len(events))
        self.rows_changed()

    def ask_again(self) -> None:
        """A request failed: ask for what is missing once more."""
        self._asked.clear()
        self._want()

    # ----- which events are here -----

    def event_at(self, index: int) -> Event | None:
        """An event, or None when it is not here yet."""
        page = self._pages.get(index // PAGE, ())
        return page[index % PAGE] if index % PAGE < len(page) else None

    def _want(self) -> None:
        """Ask for the pages that are seen, and that reach a screen beyond, once."""
        if not self._total or not self.size.height:
            return
        margin = self.visible_rows
        first = max(self.top_row - margin, 0)
        last = min(self.top_row + 2 * margin, self._total - 1)
        for page in range(first // PAGE, last // PAGE + 1):
            self._want_page(page)

    def _want_page(self, page: int) -> None:
        there = min(self._total - page * PAGE, PAGE)
        here = len(self._pages.get(page, ()))
        if here < there and self._asked.get(page, 0) < there:
            here = max(here, self._asked.get(page, 0))
            self._asked[page] = there
            self.post_message(self.Wanted(page * PAGE + here, there - here))

    def _forget_far_pages(self) -> None:
        middle = self.top_row // PAGE
        for page in sorted(self._pages, key=lambda page: abs(page - middle))[_PAGES:]:
            del self._pages[page]
            self._asked.pop(page, None)

    # ----- the list -----

    @property
    def row_count(self) -> int:
        """All events, here or not."""
        return self._total

    @property
    def empty_text(self) -> str:
        """What is said when there are no events."""
        return "no events yet" if self._is_known else self.lost or "…"

    def row(self, index: int, width: int) -> Pieces:
        """Time where it has one of its own, kind, text and place; in a narrow pane no place, and in a very narrow one no time."""
        event = self.event_at(index)
        if event is None:
            return [(self.lost or "…", FAINT)]
        return event_row(event, width)

    def on_row_chosen(self, index: int) -> None:
        """Tell which event."""
        if event := self.event_at(index):
            self.post_message(self.Selected(event))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Ask for what comes into sight."""
        super().watch_scroll_y(old_value, new_value)
        self._want()

    def on_resize(self) -> None:
        """Ask for what comes into sight."""
        super().on_resize()
        self._want()


def event_row(event: Event, width: int) -> Pieces:
    """What an event shows in `width` cells."""
    mark, style = _look(event)
    pieces: Pieces = [(f"{mark} ", style)]
    if width >= 50:
        when = seconds(event["time_ns"]) if event["timed"] else ""
        pieces.append((f"{when:>{_TIME_CELLS}}  ", FAINT))
    kind = _KIND_CELLS if width >= 60 else _KIND_CELLS - 2
    pieces.append((f"{pad(str(event['kind']), kind)} ", style or LABEL))
    place = _place(event) if width >= 70 else ""
    room = width - sum(cells(text) for text, _ in pieces) - (cells(place) + 2 if place else 0)
    pieces.append((pad(str(event["text"]), room), style))
    return [*pieces, (f"  {place}", ASIDE)] if place else pieces


def is_error(event: Event) -> bool:
    """Whether an event is about something that went wrong, or would have."""
    return "error" in str(event["kind"]).lower() or "failed" in str(event["kind"]).lower()


def _look(event: Event) -> tuple[str, str]:
    """Mark and style; an error that was only foreseen has not happened."""
    if event["kind"] == AHEAD:
        foreseen = banner_look("predicted")
        return foreseen.mark, foreseen.style
    return ("✗", ALERT) if is_error(event) else (" ", "")


def seconds(time_ns: int) -> str:
    """A time since the trace began."""
    return f"{time_ns / 1e9:.4f} s" if time_ns < 10_000 * 10**9 else f"{time_ns // 10**9} s"


def _place(event: Event) -> str:
    if not event.get("file"):
        return ""
    return shorten_start(f"{str(event['file']).rsplit('/', 1)[-1]}:{event['line']}", _PLACE_CELLS)

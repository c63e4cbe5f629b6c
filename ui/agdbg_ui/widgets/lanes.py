"""The graph as lanes: one row a node, and an arrow where backward stands."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer

from agdbg.norm import Norm
from agdbg_ui.amounts import is_bad
from agdbg_ui.pages import Pages, span
from agdbg_ui.text import Pieces, cells
from agdbg_ui.themes import ARROW, HERE, MARKED, NOTICE
from agdbg_ui.widgets.lane_columns import Columns
from agdbg_ui.widgets.lane_row import row_pieces, row_placeholder, widen
from agdbg_ui.widgets.painting import colour
from agdbg_ui.widgets.rows import Rows

if TYPE_CHECKING:
    from agdbg.protocol.vendor import Folds, Row

#: Rows that stay in sight above and below the program counter.
MARGIN = 2
#: Seconds between two windows of a graph that grows: rows that pass faster than that are not read by anybody.
_PACE_S = 0.1
#: Norms that were seen at stops, and are kept.
_GRADIENTS = 10_000


class _Seen(NamedTuple):
    """What arrived at a node in a pass, and whether that, or what went out, was bad."""

    norm: Norm | None
    bad: bool
    pass_id: int


_NOT_SEEN = _Seen(None, False, 0)
#: States of nodes at which not all of a pass has arrived.
_NOT_ARRIVED = ("pending", "waiting")


class Lanes(Rows):
    """Rows are asked for when they are seen, by `Lanes.Wanted`; `put` takes the answers.

    The view follows the program counter, or the newest node while the program runs, as long as that is in sight; whoever
    scrolls away is left in peace until the next step, and told where the program stands and which key leads there. A
    window is left for a newer one only when the rows of that are there.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "fold('fold')", "Fold", show=False),
        Binding("right,l", "fold('unfold')", "Unfold", show=False),
    ]

    class Wanted(Message):
        """Rows are seen that are not known, or that may have changed: see `Lanes.wanted`."""

    class Selected(Message):
        """The cursor is on another row, or on one that has become known."""

    class Emptied(Message):
        """It has become known that there are no rows."""

    class FoldWanted(Message):
        """Fold or unfold what the cursor is on."""

        def __init__(self, how: str) -> None:
            super().__init__()
            self.how = how

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.pages = Pages()
        self.note = ""
        self._folded_at = 0
        self._went_on = 0.0
        self._pace: Timer | None = None
        self._begin()

    def _begin(self) -> None:
        self._followed: int | None = None
        self._columns = Columns()
        self._said: tuple[int, int] | None = None
        self.marked: frozenset[int] = frozenset()
        self.folds: Folds = {"depth": 0, "opened": [], "closed": []}
        self._is_refolded = False
        self._seen: dict[int, _Seen] = {}
        self._stepped_at: int | None = None
        self._left: int | None = None  # the row of the cursor when the person let the program go on
        self._runs = self._is_late = False  # it runs and stands nowhere; the newest rows are to be gone to
        self._answered = asyncio.Event()

    # ----- data -----

    def forget(self) -> None:
        """Another graph follows: no row of this one is selected, marked or folded, and answers about it come too late."""
        self.pages.begin()
        self._folded_at = self.pages.age
        self._begin()
        super().forget()

    @property
    def wanted(self) -> tuple[int, int, int] | None:
        """Start, count and age of the rows that are seen and not known, or None."""
        top = min(self.top_row, max(self.pages.total - 1, 0))
        last = top + self.visible_rows - 1
        if not self.display:  # nothing is seen or scrolled, but others show the node of the cursor
            top = last = self.cursor
        if self._grows:
            last = max(self.pages.newest - 1, last)
            top = max(last - self.visible_rows + 1, 0)
        span = self.pages.wanted(top, last)
        return (*span, self.pages.age) if span is not None else None

    def outdate(self) -> None:
        """What is known may have changed: ask again for what is seen, and show the old until it comes."""
        self.pages.outdate()
        self.post_message(self.Wanted())

    def put(self, body: dict[str, Any], age: int) -> None:
        """Take in the body of ``agdbg/rows``, asked for at `age`."""
        if age < self._folded_at:
            return  # rows as they were folded before
        grows = self._grows and body["pc"] is None
        stepped = self._stepped_at is not None and age > self._stepped_at
        followed = stepped or (self._is_followed() and not self._is_refolded)
        if body["total"] < self.pages.total:
            self._seen.clear()  # another recording
        self.pages.put(body, age, grows)
        self._answered.set()
        if not body["total"]:
            self.post_message(self.Emptied())
        for row in body["rows"]:
            norm, bad, _ = self._seen_of(row)
            if row["gradient"] is None or (row["state"] == "next" and norm is not None):
                row["gradient"] = norm
            row["bad"] |= bad
            widen(self._columns, row)
        self.rows_changed()
        counter = self.pages.counter
        if counter is not None:
            if followed and (stepped or counter != self._followed):
                self.go_to(counter)
            self._followed = counter
            self._stepped_at = None if stepped else self._stepped_at
        elif grows and self.pages.total and body["start"] + len(body["rows"]) >= self.pages.total:
            self._is_late = False
            self.cursor = self.pages.total - 1
        self._is_refolded = False
        self._go_on() if self._grows and self.pages.newest > self.pages.total else self._want()
        self._say_selected()

    def follow_step(self, goes: bool = True) -> None:
        """The person lets the program go on: where it stands next is gone to, wherever the cursor is; unless it does not go."""
        self._stepped_at, self._left = (self.pages.age, self.cursor) if goes else (None, None)

    def runs(self) -> None:
        """The program runs, and not just the node at which it stood: from now on the newest rows are followed, unless the cursor
        was moved since it stood.
        """
        if not self._runs:
            self._runs = True
            if self.cursor == (self._followed if self._stepped_at is None else self._left):
                self.to_newest()

    def stands(self) -> None:
        """The program stands somewhere."""
        self._runs = self._is_late = False

    def to_newest(self) -> None:
        """Go to the newest rows, and follow them while the program runs."""
        self._is_late = True
        if self.wanted is None and self.pages.counter is None:  # all of them are there
            self._is_late = False
            self.go_to(self.pages.total - 1)
        self._want()

    @property
    def _grows(self) -> bool:
        """Whether the newest rows are followed: there is no counter, as the program runs or never stood, and the last row is in
        sight, or is gone to.
        """
        if self._is_refolded or not (self._runs or self._followed is None):
            return False
        return self._is_late or (self.pages.counter is None and self.at_end)

    def _go_on(self) -> None:
        """Ask for newer rows than those that are shown, now or when it is time."""
        if self._pace is None:
            wait = max(self._went_on + _PACE_S - monotonic(), 0.0)
            self._pace = self.set_timer(wait, self._ask_on) if wait else None
            if not wait:
                self._ask_on()

    def _ask_on(self) -> None:
        self._pace, self._went_on = None, monotonic()
        self._want()

    async def first_answer(self) -> None:
        """Wait until something is known of the graph: a recording that is opened is read first."""
        await self._answered.wait()

    def note_gradient(
        self, node: int, norm: Norm | None, bad: bool = False, stands: bool = False, pass_id: int = 0
    ) -> None:
        """The gradient that arrives at the selected node in a pass is known, in a recording that has none of it, and whether it, or
        what goes out, is `bad`. It is of that pass alone, and as long as it was not taken back.

        Where the program `stands` before the node that is so of it wherever the cursor is, and it may have been changed since
        it was recorded.
        """
        pages = self.pages
        row = pages.row(pages.counter) if stands and pages.counter is not None else self.selected
        if row is None or row["node"] != node or (row["gradient"], row["bad"]) == (norm, bad):
            return
        if norm is None and not bad:
            return
        is_recorded = row["gradient"] is not None and self._seen_of(row) is _NOT_SEEN
        if is_recorded and not stands and not is_bad(norm):
            if not bad:
                return
            norm = row["gradient"]
        while len(self._seen) >= _GRADIENTS:
            del self._seen[next(iter(self._seen))]
        row["gradient"], row["bad"] = norm, bad
        self._seen[node] = _Seen(norm, bad, pass_id)
        widen(self._columns, row)
        self.rows_changed()

    def _seen_of(self, row: Row) -> _Seen:
        """What was seen of a row in the pass that the row tells of, unless that has not come to it, or was taken back."""
        seen = self._seen.get(row["node"], _NOT_SEEN)
        return seen if seen.pass_id == row["pass"] and row["state"] not in _NOT_ARRIVED else _NOT_SEEN

    @property
    def bad_node(self) -> int | None:
        """Of the rows that are known and marked for a NaN or an Inf the one that ran first, or that was seen before it ran."""
        bad = [row for row in self.pages.known if row["bad"] or is_bad(row["gradient"])]
        first = min(
            bad, key=lambda row: (row["order"] is None, row["pass"], row["order"] or 0, -row["row"]), default=None
        )
        return None if first is None else first["node"]

    @property
    def is_folded(self) -> bool:
        """Whether some rows are folded."""
        return bool(self.folds["depth"] or self.folds["closed"])

    def fold(self, folds: Folds, at: int, total: int) -> bool:
        """Show what is folded now, with the cursor on row `at` of `total`; False when nothing else is folded than before."""
        if folds == self.folds:
            self.go_to(at)
            return False
        self.folds = folds
        self.pages.forget(total)
        self._folded_at, self._is_refolded = self.pages.age, True
        script, self._columns = self._columns.script, Columns()
        self._columns.script = script
        self.rows_changed()
        self.go_to(at)
        return True

    def to_counter(self) -> bool:
        """Go where the program stands; False when it stands nowhere."""
        if self.pages.counter is None:
            return False
        self.go_to(self.pages.counter)
        return True

    def go_to(self, row: int) -> None:
        """Select a row and show it, in the middle if it was out of sight."""
        if row >= self.pages.total:  # newer rows than those that are shown are on their way
            self.pages.total = self.pages.newest
            self.rows_changed()
        row = max(0, min(row, self.pages.total - 1))
        if self._top_for(row, self.top_row, self.pages.total) != self.top_row:
            self.middle(row)
        self.cursor = row
        self._want()

    def _top_for(self, row: int, top: int, total: int) -> int:
        """The first row that is seen when a row of so many is gone to from where another one was the first."""
        height = self.visible_rows
        margin = MARGIN if height > 2 * MARGIN + 1 else 0
        is_above = row < top + margin and top > 0
        is_below = row >= top + height - margin and top + height < total
        return max(0, min(row - height // 2, total - height)) if is_above or is_below else top

    def span_after(self, at: int, total: int) -> tuple[int, int]:
        """Start and count of the rows that are seen once other rows are folded, of so many, and one of them is gone to."""
        top = self._top_for(at, min(self.top_row, max(total - self.visible_rows, 0)), total)
        return span(top, min(top + self.visible_rows, total) - 1)

    @property
    def selected(self) -> Row | None:
        """The row of the cursor, if it is known."""
        return self.pages.row(self.cursor)

    @property
    def selected_node(self) -> int | None:
        """The node of the cursor: the leaf that runs next, where the program counter is at one of the row's leaves."""
        row = self.selected
        if row is None:
            return None
        return self.pages.counter_node if self.cursor == self.pages.counter else row["node"]

    @property
    def names(self) -> list[str]:
        """Ops and parameters of the rows that are known."""
        rows = self.pages.known
        return sorted({*(row["op"] for row in rows), *(badge["text"] for row in rows for badge in row["badges"])})

    def set_script(self, path: str) -> None:
        """The program's own file, which is not named in its rows."""
        self._columns.script = path

    def set_note(self, note: str) -> None:
        """What is said while there are no rows."""
        if note != self.note:
            self.note = note
            if not self.row_count:
                self.refresh()

    # ----- rows -----

    @property
    def row_count(self) -> int:
        """One a node that is no leaf."""
        return self.pages.total

    @property
    def empty_text(self) -> str:
        """Why there are no rows."""
        return self.note

    def row(self, index: int, width: int) -> Pieces:
        """A node, or its place."""
        row = self.pages.row(index)
        if row is None:
            return row_placeholder(index)
        is_next = index == self.pages.counter
        pieces = row_pieces(row, self.pages.counter_node, is_next, self._columns, width)
        if row["node"] in self.marked:
            return [pieces[0], (f"{ARROW if is_next else ''}◆".ljust(2), NOTICE), *pieces[2:]]
        return pieces

    def row_background(self, index: int) -> str:
        """The line of the program counter; the nodes that are marked, or between those."""
        if index == self.pages.counter:
            return HERE
        row = self.pages.row(index) if self.marked else None
        return MARKED if row is not None and row["node"] in self.marked else ""

    def mark(self, nodes: frozenset[int]) -> None:
        """Show these as marked, and no others."""
        self.marked = nodes
        self.rows_changed()

    def render_line(self, y: int) -> Strip:
        """A row; where the program counter is out of sight, the edge towards it says so."""
        strip = super().render_line(y)
        counter, last = self.pages.counter, self.visible_rows - 1
        if counter is None or y not in (0, last):
            return strip
        where = "there" if self.is_folded else f"at row {counter + 1:,}"
        if y == 0 and counter < self.top_row:
            return self._pointed(strip, f" \N{UPWARDS ARROW} stands {where}: . ")
        if y == last and counter > self.top_row + last:
            return self._pointed(strip, f" \N{DOWNWARDS ARROW} stands {where}: . ")
        return strip

    def _pointed(self, strip: Strip, text: str) -> Strip:
        width = self.size.width
        if cells(text) > width:
            return strip
        sign = Segment(text, colour(self, f"{NOTICE} {HERE}"))
        return Strip.join([strip.crop(0, width - cells(text)), Strip([sign])])

    # ----- moving -----

    def on_row_chosen(self, index: int) -> None:
        """Enter: unfold; back to where the program stands is another key, and a row that is one node is told once more."""
        row = self.pages.row(index)
        self.post_message(self.FoldWanted("unfold") if row is not None and row["count"] > 1 else self.Selected())

    def action_fold(self, how: str) -> None:
        """Fold what the cursor is in, or unfold what it is on."""
        self.post_message(self.FoldWanted(how))

    def watch_cursor(self, old: int, new: int) -> None:
        """Show it and tell."""
        super().watch_cursor(old, new)
        self._say_selected()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Ask for what came into sight."""
        super().watch_scroll_y(old_value, new_value)
        self._want()

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        """Keep the cursor in sight: Textual sends no `Resize` when a scroll comes between a new layout and its reflow."""
        changed = super()._size_updated(size, virtual_size, container_size, layout)
        if changed:
            self.call_later(self._fit)
        return changed

    def _fit(self) -> None:
        self.show_row(self.cursor)
        self._want()

    def _is_followed(self) -> bool:
        at = self._followed
        return at is None or not self.display or self.top_row <= at < self.top_row + self.visible_rows

    def _want(self) -> None:
        if self.wanted is not None:
            self.post_message(self.Wanted())

    def _say_selected(self) -> None:
        """Tell of the cursor's row once for each state of it."""
        node = self.selected_node
        said = None if node is None else (node, self.pages.age)
        if said is not None and said != self._said:
            self._said = said
            self.post_message(self.Selected())

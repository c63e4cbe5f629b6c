"""The runs of a pass in the order of time: a bar for how long each took, and the norm of what arrived at it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from agdbg_ui.pages import Pages
from agdbg_ui.text import Pieces, cells, pad, safe, shorten, shorten_start
from agdbg_ui.themes import ALERT, ASIDE, FAINT, HERE, LABEL, TITLE
from agdbg_ui.widgets.rows import Rows

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_OP_CELLS, _TIME_CELLS, _NORM_CELLS, _HOOKS_CELLS, _PLACE_CELLS, _LEAST_BAR = 22, 9, 13, 7, 18, 8
_MARKS = {"ok": " ", "error": "✗", "skipped": "-"}


class TimelinePane(Rows):
    """Rows are asked for when they are seen, by `TimelinePane.Wanted`; `put` takes the answers.

    | Key | Does |
    | --- | --- |
    | up, down | along the pass: selects the node |
    | enter | looks at the recording as it was then |
    | left, right | the pass before, the pass after |
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "turn('before')", "Pass before", show=False),
        Binding("right", "turn('after')", "Pass after", show=False),
    ]

    @dataclass
    class Wanted(Message):
        """Runs are seen that are not known."""

    @dataclass
    class Selected(Message):
        """The cursor is on another run; `go` looks at the recording as it was then."""

        run: Mapping[str, Any]
        go: bool

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, header=1)
        self.pages = Pages()
        self.pass_id: int | None = None
        self._body: Mapping[str, Any] = {}
        self._at: int | None = None
        self._columns: frozenset[str] = frozenset()

    # ----- data -----

    @property
    def wanted(self) -> tuple[int, int, int] | None:
        """Start, count and age of the runs that are seen and not known, or None."""
        if not self.display or not self.size.height:
            return None
        top = min(self.top_row, max(self.pages.total - 1, 0))
        span = self.pages.wanted(top, top + self.visible_rows - 1)
        return (*span, self.pages.age) if span is not None else None

    def outdate(self, moved: bool) -> None:
        """There may be more; where somebody `moved`, the pass in which he stands now is shown."""
        self.pages.outdate()
        if moved:
            self.pass_id = None
        self._want()

    def put(self, body: Mapping[str, Any], age: int) -> None:
        """Take in the body of ``agdbg/timeline``, asked for at `age`."""
        if body["pass"] != self._body.get("pass"):
            self.pages = Pages()
            age = 0
            self.set_reactive(Rows.cursor, 0)
        self._body = body
        self._columns |= {column for column in ("gradient", "hooks") if any(run[column] for run in body["runs"])}
        told = {"total": body["total"], "pc": body["at"], "pcNode": None, "start": body["start"], "rows": body["runs"]}
        self.pages.put(told, age)
        self.rows_changed()
        if body["at"] is not None and body["at"] != self._at and not self.has_focus:
            self.set_reactive(Rows.cursor, self.validate_cursor(body["at"]))
            self.show_row(self.cursor)
        self._at = body["at"]
        self._want()

    # ----- rows -----

    @property
    def row_count(self) -> int:
        """One a run."""
        return self.pages.total

    @property
    def empty_text(self) -> str:
        """That there is no pass, or that nothing has run in it."""
        return "no node has run in this pass yet" if self._body.get("pass") else "no backward pass yet"

    def header_row(self, index: int, width: int) -> Pieces:
        """The pass, its call, how it ended and how long its nodes took."""
        body = self._body
        if not body.get("pass"):
            return [("no pass", ASIDE)]
        turn = ("◂" if body["before"] is not None else " ") + ("▸" if body["after"] is not None else " ")
        place = f"{str(body['file']).rsplit('/', 1)[-1]}:{body['line']}" if body["file"] else ""
        said = f"{body['total']:,} runs  {duration(body['wholeNs'])}  {body['outcome']}"
        pieces: Pieces = [(f"{turn} pass {body['pass']}  ", LABEL), (f"{said}  ", "")]
        room = width - sum(cells(text) for text, _ in pieces)
        return [*pieces, (shorten(f"{safe(str(body['call']))}  {place}", room), ASIDE)]

    def row(self, index: int, width: int) -> Pieces:
        """Place, op, bar, duration, norm."""
        run: Any = self.pages.row(index)
        if run is None:
            return [(f"\N{MIDDLE DOT} run {index + 1:,}", FAINT)]
        longest, digits = max(int(self._body["longestNs"]), 1), len(str(self.pages.total))
        return run_pieces(run, longest, digits, width, self._columns)

    def row_background(self, index: int) -> str:
        """The run at which somebody stands."""
        return HERE if index == self.pages.counter else ""

    # ----- moving -----

    def on_row_chosen(self, index: int) -> None:
        """Look at the recording as it was then."""
        self._say(go=True)

    def watch_cursor(self, old: int, new: int) -> None:
        """Show it and tell."""
        super().watch_cursor(old, new)
        self._say(go=False)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Ask for what came into sight."""
        super().watch_scroll_y(old_value, new_value)
        self._want()

    def on_resize(self) -> None:
        """Ask for what came into sight."""
        super().on_resize()
        self._want()

    def on_show(self) -> None:
        """It is seen: ask."""
        self._want()

    def action_turn(self, where: str) -> None:
        """To another pass."""
        if (other := self._body.get(where)) is not None:
            self.pass_id = other
            self.pages.outdate()
            self._want()

    def _say(self, go: bool) -> None:
        if (run := self.pages.row(self.cursor)) is not None and (go or self.has_focus):
            self.post_message(self.Selected(run, go))

    def _want(self) -> None:
        if self.wanted is not None:
            self.post_message(self.Wanted())


def run_pieces(run: Mapping[str, Any], longest: int, digits: int, width: int, columns: frozenset[str]) -> Pieces:
    """A run in `width` cells: what says least is left out where there is no room for it beside a bar."""
    name = f"[{run['name']}]" if run["name"] else str(run["op"])
    op = min(_OP_CELLS, max(width - digits - _TIME_CELLS - 2 * _LEAST_BAR, 6))
    failed = run["outcome"] == "error"
    pieces: Pieces = [
        (f"{run['order'] + 1:>{digits}} ", FAINT),
        (_MARKS[run["outcome"]], ALERT if failed else ASIDE),
        (pad(name, op), ALERT if failed else TITLE),
        (" ", ""),
    ]
    tail = f" {duration(run['durationNs']):>{_TIME_CELLS}}"
    room = width - sum(cells(text) for text, _ in pieces) - cells(tail)
    for more in _more(run, columns):
        if more and room - cells(more) >= _LEAST_BAR:
            tail, room = tail + more, room - cells(more)
    room = max(min(room, width // 3), 0)
    return [*pieces, (pad(bar(run["durationNs"] / longest, room), room), LABEL), (tail, "")]


def _more(run: Mapping[str, Any], columns: frozenset[str]) -> list[str]:
    """What else there is to say, what says most first; a column that any run needs is there in all."""
    norm = f"|g| {run['gradient']:.3g}" if run["gradient"] is not None else ""
    hooks = f"{run['hooks']} {'hook' if run['hooks'] == 1 else 'hooks'}" if run["hooks"] else ""
    place = f"{str(run['file']).rsplit('/', 1)[-1]}:{run['line']}" if run["file"] else ""
    told = {"gradient": pad(norm, _NORM_CELLS), "hooks": pad(hooks, _HOOKS_CELLS)}
    kept = [text for column, text in told.items() if column in columns]
    return [f"  {text}" for text in [*kept, pad(shorten_start(place, _PLACE_CELLS), _PLACE_CELLS)]]


def bar(part: float, width: int) -> str:
    """A bar that takes a part of `width` cells, to an eighth of one; what is there at all is seen."""
    eighths = max(round(min(part, 1.0) * width * 8), 1 if part > 0 else 0)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")


def duration(ns: int) -> str:
    """A duration in words."""
    for unit, factor in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if ns >= factor:
            return f"{ns / factor:.1f} {unit}" if ns < 100 * factor else f"{ns / factor:,.0f} {unit}"
    return f"{ns} ns"

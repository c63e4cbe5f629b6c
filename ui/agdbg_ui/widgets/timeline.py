"""The runs of a pass in the order of time: how long each took, what saved tensors held, what arrived; or its layers."""

from collections.abc import Mapping
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from agdbg.counted import counted
from agdbg_ui.amounts import bar, duration, norm_words, share
from agdbg_ui.pages import Pages
from agdbg_ui.text import Pieces, cells, pad, pad_name, safe, shorten, shorten_start
from agdbg_ui.themes import ALERT, ASIDE, FAINT, HERE, LABEL, TITLE
from agdbg_ui.widgets.pass_profile import PassProfile
from agdbg_ui.widgets.rows import Rows

_OP_CELLS, _TIME_CELLS, _NORM_CELLS, _HELD_CELLS, _HOOKS_CELLS, _PLACE_CELLS, _LEAST_BAR = 22, 9, 13, 12, 12, 18, 8
_MARKS = {"ok": " ", "error": "✗", "skipped": "-"}


class TimelinePane(Rows):
    """Rows are asked for when they are seen, by `TimelinePane.Wanted`; `put` takes the answers.

    | Key | Does |
    | --- | --- |
    | up, down | along the pass: selects the node |
    | enter | looks at the recording as it was then |
    | left, right | the pass before, the pass after |
    | l | the norm of the gradient by layer; again the runs |
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "turn('before')", "Pass before", show=False),
        Binding("right", "turn('after')", "Pass after", show=False),
        Binding("l", "layers", "Layers", show=False),
    ]

    class Wanted(Message):
        """Runs are seen that are not known."""

    class Selected(Message):
        """The cursor is on another run; `go` looks at the recording as it was then."""

        def __init__(self, run: Mapping[str, Any], go: bool) -> None:
            super().__init__()
            self.run, self.go = run, go

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, header=2)
        self.by_layer = False
        self._begin()

    def _begin(self) -> None:
        self.pages = Pages()
        self.pass_id: int | None = None
        self.profile = PassProfile()
        self._run_cursor = 0
        self._body: Mapping[str, Any] = {}
        self._at: int | None = None
        self._columns: frozenset[str] = frozenset()

    def forget(self) -> None:
        """No pass is known; whether layers are shown stays."""
        self._begin()
        super().forget()

    # ----- data -----

    @property
    def wanted(self) -> tuple[int, int, int] | None:
        """Start, count and age of the runs that are seen and not known, or None."""
        if not self.display or not self.size.height:
            return None
        top = min(self.top_row, max(self.pages.total - 1, 0))
        span = self.pages.wanted(top, top + self.visible_rows - 1)
        return (*span, self.pages.age) if span is not None else None

    @property
    def profile_wanted(self) -> tuple[int, int, int, int] | None:
        """The pass, start, count and age of what is not known of the pass as a whole, or None."""
        shown = self._body.get("pass")
        if not shown or not self.display or not self.size.height:
            return None
        top = 0 if self.by_layer else self.top_row
        span = self.profile.wanted(shown, top, top + self.visible_rows - 1, self.pages.age)
        return (shown, *span) if span is not None else None

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
            self._at = None
            age = 0
            self.set_reactive(Rows.cursor, 0)
        self._body = body
        self._columns |= {column for column in ("gradient", "hooks") if any(run[column] for run in body["runs"])}
        told = {"total": body["total"], "pc": body["at"], "pcNode": None, "start": body["start"], "rows": body["runs"]}
        self.pages.put(told, age)
        self.rows_changed()
        if body["at"] is not None and body["at"] != self._at and not self.has_focus and not self.by_layer:
            self.set_reactive(Rows.cursor, self.validate_cursor(body["at"]))
            self.show_row(self.cursor)
        self._at = body["at"]
        self._want()

    def put_profile(self, body: Mapping[str, Any], age: int) -> None:
        """Take in the body of ``agdbg/profile``, asked for at `age`."""
        self.profile.put(body, age)
        if self.profile.tells_memory:
            self._columns |= {"held"}
        self.rows_changed()

    # ----- rows -----

    @property
    def row_count(self) -> int:
        """One a run, or one a layer."""
        return len(self.profile.layers) if self.by_layer else self.pages.total

    @property
    def empty_text(self) -> str:
        """That there is no pass, or that nothing has run in it."""
        if self.by_layer and self._body.get("pass"):
            return (
                "no gradients of parameters recorded: run with --also values" if self.profile.body else self.lost or "…"
            )
        if not self._body:  # nobody has answered
            return self.lost or "…"
        return "no node has run in this pass yet" if self._body.get("pass") else "no backward pass yet"

    def header_row(self, index: int, width: int) -> Pieces:
        """The pass, its call, how it ended and how long its nodes took; then its memory and hooks."""
        body = self._body
        if index:
            line = self.profile.layer_line() if self.by_layer else []
            return line or self.profile.line(body.get("pass", 0), width)
        if not body.get("pass"):
            return [("no pass" if body else "", ASIDE)]
        turn = ("◂" if body["before"] is not None else " ") + ("▸" if body["after"] is not None else " ")
        place = f"{str(body['file']).rsplit('/', 1)[-1]}:{body['line']}" if body["file"] else ""
        said = f"{counted(body['total'], 'run')}  {duration(body['wholeNs'])}  {body['outcome']}"
        pieces: Pieces = [(f"{turn} pass {body['pass']}  ", LABEL), (f"{said}  ", "")]
        room = width - sum(cells(text) for text, _ in pieces)
        return [*pieces, (shorten(f"{safe(str(body['call']))}  {place}", room), ASIDE)]

    def row(self, index: int, width: int) -> Pieces:
        """Place, op, bar, duration, norm, what is held, hooks; or a layer."""
        if self.by_layer:
            return self.profile.layer(index, width)
        run: Any = self.pages.row(index)
        if run is None:
            return [(f"\N{MIDDLE DOT} run {index + 1:,}", FAINT)]
        longest, digits = max(int(self._body["longestNs"]), 1), len(str(self.pages.total))
        return run_pieces(run, self.profile.held(run["order"]), longest, digits, width, self._columns)

    def row_background(self, index: int) -> str:
        """The run at which somebody stands."""
        return HERE if index == self.pages.counter and not self.by_layer else ""

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

    def action_layers(self) -> None:
        """The layers in place of the runs, or the runs again."""
        self.by_layer = not self.by_layer
        if self.by_layer:
            self._run_cursor = self.cursor
        self.set_reactive(Rows.cursor, 0 if self.by_layer else self._run_cursor)
        self.rows_changed()
        self.show_row(self.cursor)
        self._want()

    def _say(self, go: bool) -> None:
        if self.by_layer:
            layers = self.profile.layers
            if self.cursor < len(layers) and (go or self.has_focus):
                self.post_message(self.Selected(layers[self.cursor], go=False))
            return
        if (run := self.pages.row(self.cursor)) is not None and (go or self.has_focus):
            self.post_message(self.Selected(run, go))

    def _want(self) -> None:
        if self.wanted is not None or self.profile_wanted is not None:
            self.post_message(self.Wanted())


def run_pieces(
    run: Mapping[str, Any], held: str, longest: int, digits: int, width: int, columns: frozenset[str]
) -> Pieces:
    """A run in `width` cells: what says least is left out where there is no room for it beside a bar."""
    name = f"[{run['name']}]" if run["name"] else str(run["op"])
    op = min(_OP_CELLS, max(width - digits - _TIME_CELLS - 2 * _LEAST_BAR, 6))
    failed = run["outcome"] == "error"
    pieces: Pieces = [
        (f"{run['order'] + 1:>{digits}} ", FAINT),
        (_MARKS[run["outcome"]], ALERT if failed else ASIDE),
        (pad_name(name, op), ALERT if failed else TITLE),
        (" ", ""),
    ]
    tail = f" {duration(run['durationNs']):>{_TIME_CELLS}}"
    room = width - sum(cells(text) for text, _ in pieces) - cells(tail)
    for more in _more(run, held, columns):
        if more and room - cells(more) >= _LEAST_BAR:
            tail, room = tail + more, room - cells(more)
    room = max(min(room, width // 3), 0)
    return [*pieces, (pad(bar(run["durationNs"] / longest, room), room), LABEL), (tail, "")]


def _more(run: Mapping[str, Any], held: str, columns: frozenset[str]) -> list[str]:
    """What else there is to say, what says most first; a column that any run needs is there in all."""
    hooks = f"{run['hooks']} {'hook' if run['hooks'] == 1 else 'hooks'}" if run["hooks"] else ""
    if run["hooks"] and run["hooksNs"] is not None:
        hooks += f" {share(run['hooksNs'], run['durationNs'])}"
    place = f"{str(run['file']).rsplit('/', 1)[-1]}:{run['line']}" if run["file"] else ""
    told = {
        "gradient": pad(norm_words(run["gradient"]), _NORM_CELLS),
        "held": pad(held.rjust(_HELD_CELLS), _HELD_CELLS),
        "hooks": pad(hooks, _HOOKS_CELLS),
    }
    kept = [text for column, text in told.items() if column in columns]
    return [f"  {text}" for text in [*kept, pad(shorten_start(place, _PLACE_CELLS), _PLACE_CELLS)]]

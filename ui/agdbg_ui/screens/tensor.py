"""A tensor on a page of its own: a heat map or numbers, what its elements are like, a slice of more dimensions."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from math import prod
from typing import Any, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Label

from agdbg.counted import counted
from agdbg.sizes import size
from agdbg_ui.amounts import HEIGHTS, share
from agdbg_ui.backend import FAILURES
from agdbg_ui.heat import HALF, colour_of, greatest, half_block, shade_of
from agdbg_ui.newest import Newest
from agdbg_ui.palettes import has_all_colours
from agdbg_ui.screens.modal import Modal
from agdbg_ui.text import Pieces, cells, pad, reason_of, safe, width_of, wrap_phrases
from agdbg_ui.themes import ALERT, ASIDE, FAINT, LABEL, NOTICE
from agdbg_ui.widgets.painting import colour, paint

HINT = "Tab mode  arrows move  [ ] slice  { } dimension  b NaN  d change  Esc closes"
MODES = ("heat", "shades", "numbers")
_BARS = f" {HEIGHTS}"
#: Cells of a number: five digits, their signs and exponent, and a blank before them; longer ones, as complex ones, have more.
_CELL = 13
#: Lines about all elements, until they are known.
_HEAD = 3
#: Cells of the words before them, and from which width on there are such.
_LABEL_CELLS, _WIDE = 8, 60
_MODE_WORDS = {
    "heat": "heat map, blue below zero, orange above",
    "shades": "shades of |x|, from blank (0) to █ ({most:.5g})",
    "numbers": "numbers",
}
#: What is said until the first answer, which is soon there unless there are very many elements.
_LOADING = "the program looks at all elements: statistics, histogram, what is not finite …"
#: Rows and columns in one answer at most.
_SIDE = 200
#: Cells that an element of a small matrix takes in a line at most.
_STRETCH = 4

Body = Mapping[str, Any]
Fetch = Callable[[dict[str, Any]], Awaitable[Body]]


class TensorView(Widget, can_focus=True):
    """The page: a few lines about all elements, then the matrix."""

    DEFAULT_CSS = "TensorView { height: 1fr; background: $surface; color: $foreground; }"

    def __init__(self) -> None:
        super().__init__()
        self.body: Body = {}
        self.mode = "heat"
        self.compares = False
        self.dimension = 0
        self.problem = ""

    @property
    def room(self) -> tuple[int, int]:
        """Rows and columns of the matrix that can be seen."""
        above = (len(self._head) or _HEAD) + (self.mode == "numbers")
        height, width = max(self.size.height - above, 1), max(self.size.width, 1)
        if self.mode == "numbers":
            return min(height, _SIDE), min(max((width - 7) // self._cell, 1), _SIDE)
        return min(height * (2 if self.mode == "heat" else 1), _SIDE), min(width, _SIDE)

    @property
    def _cell(self) -> int:
        """Cells of a number."""
        longest = max((len(text) for line in self.body.get("values", ()) for text in line), default=0)
        return max(_CELL, longest + 2)

    def render_line(self, y: int) -> Strip:
        """A line of the page."""
        width = self.size.width
        if self.problem or not self.body:
            said: Pieces = [(self.problem, ALERT)] if self.problem else [(_LOADING, ASIDE)]
            return paint(self, said if y == 0 else [], width)
        if y < len(head := self._head):
            return paint(self, head[y], width)
        draw = {"heat": self._heat, "shades": self._shades, "numbers": self._numbers}[self.mode]
        return draw(y - len(head), width)

    # ----- about all -----

    @property
    def _head(self) -> list[Pieces]:
        """What is known of all elements, and which of them are shown: each under its word, wrapped where it must be."""
        if not self.body:
            return []
        width = max(self.size.width, 1)
        indent = _LABEL_CELLS if width >= _WIDE else 0
        lines: list[Pieces] = []
        for label, pieces in (("values", self._values()), ("spread", self._spread()), ("shown", self._shown())):
            lines += _labelled(label, pieces, indent, width)
        return lines

    def _values(self) -> Pieces:
        if self.body.get("compared") is not None:
            return change_pieces(self.body)
        told = "  ".join(f"{each['name']} {each['value']}" for each in self.body["stats"])
        of = "of the finite ones  " if told and self.body["nans"] + self.body["infs"] else ""
        return [(of, NOTICE), (told or "no finite elements", "")]

    def _spread(self) -> Pieces:
        """The histogram between its ends, and what is not finite."""
        body, bars = self.body, histogram(self.body["histogram"])
        bad = (
            f"{body['nans']:,} NaN, {body['infs']:,} Inf, the first at {body['firstBad']} (b)"
            if body["firstBad"]
            else "all finite"
        )
        drawn: Pieces = [(f"{body['low']} ", ASIDE), (bars, LABEL), (f" {body['high']}  ", ASIDE)] if bars else []
        return [*drawn, (bad, NOTICE if body["firstBad"] else ASIDE)]

    def _shown(self) -> Pieces:
        """Which elements the matrix below shows, and how."""
        body = self.body
        index = [str(at) for at in body["index"]]
        if len(index) > 1:  # the one that [ and ] change
            index[self.dimension] = f"<{index[self.dimension]}>"
        slices = [*index, ":", ":"][: len(body["shape"])]
        part = f" of the slice [{', '.join(slices)}]" if len(body["shape"]) > 2 else ""
        which = elements_shown(body) if len(body["shape"]) < 2 else part_shown(body)
        compared = body.get("compared")
        kept = kept_words(compared) if compared is not None else ""
        what = "change, " if compared is not None and compared["before"] is not None else ""
        return [
            (f"{what}{_MODE_WORDS[self.mode].format(most=greatest(body['values']))}:  ", LABEL),
            (f"{which}{part}{kept}", ASIDE),
        ]

    # ----- the matrix -----

    def _heat(self, y: int, width: int) -> Strip:
        values, most = self.body["values"], greatest(self.body["values"])
        rows = (at // self._tall(_STRETCH) for at in (2 * y, 2 * y + 1))
        upper, lower = (values[at] if at < len(values) else [] for at in rows)
        under = colour(self)
        segments = []
        for at, text in enumerate(upper):
            below = colour_of(lower[at], most) if at < len(lower) else None
            above = colour_of(text, most)
            style = half_block(above, below) if above else Style(color=below)
            block = HALF if above else " " if below is None else "▄"
            segments.append(Segment(block * self._stretch, under + style))
        return Strip(segments).adjust_cell_length(width, under)

    @property
    def _stretch(self) -> int:
        """Cells of an element in a line."""
        longest = max((len(line) for line in self.body["values"]), default=1)
        return max(1, min(self.size.width // max(longest, 1), _STRETCH))

    def _tall(self, most: int) -> int:
        """How often a row of a small matrix is drawn, so that its elements are about as high as wide."""
        return max(1, min(self.room[0] // max(len(self.body["values"]), 1), self._stretch, most))

    def _shades(self, y: int, width: int) -> Strip:
        values, most = self.body["values"], greatest(self.body["values"])
        y //= self._tall(_STRETCH // 2)
        shades = [shade_of(text, most) * self._stretch for text in values[y]] if y < len(values) else []
        line = "".join(shades)
        return paint(self, [(line, "")], width)

    def _numbers(self, y: int, width: int) -> Strip:
        values, body, cell = self.body["values"], self.body, self._cell
        if y == 0:
            names = [
                f"{body['column'] + at * body['columnStep']:>{cell}}" for at in range(len(values[0]) if values else 0)
            ]
            return paint(self, [(" " * 7, ""), ("".join(names), FAINT)], width)
        if y > len(values):
            return paint(self, [], width)
        first = (body["row"] + (y - 1) * body["rowStep"]) * (body["width"] if len(body["shape"]) < 2 else 1)
        pieces: Pieces = [(f"{first:>6} ", FAINT)]
        for text in values[y - 1]:
            is_bad = text.strip("+-") in ("nan", "inf")
            pieces.append((pad(safe(text).rjust(cell), cell), ALERT if is_bad else ""))
        return paint(self, pieces, width)


class TensorScreen(Modal[None]):
    """Shows the tensor behind a reference.

    | Key | Does |
    | --- | --- |
    | arrows, page up, page down, home | move through it |
    | tab | heat map, shades, numbers |
    | brackets | the slice before, the next slice |
    | braces | which dimension they are along |
    | b | to the first element that is not finite |
    | d | keeps the value, and shows what it has changed by since an earlier pass; again the value |
    | escape, q, enter | close |

    Args:
        heading: what it is.
        fetch: takes what is wanted of a page, and gives the body of ``agdbg/tensor``.
    """

    is_of_run = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss", "Close", show=False),
        Binding("tab", "mode", "Mode", show=False),
        Binding("up,k", "scroll(-1, 0)", "Up", show=False),
        Binding("down,j", "scroll(1, 0)", "Down", show=False),
        Binding("left,h", "scroll(0, -1)", "Left", show=False),
        Binding("right,l", "scroll(0, 1)", "Right", show=False),
        Binding("pageup", "scroll(-20, 0)", "Page up", show=False),
        Binding("pagedown", "scroll(20, 0)", "Page down", show=False),
        Binding("home", "home", "Beginning", show=False),
        Binding("left_square_bracket", "slice(-1)", "Slice before", show=False),
        Binding("right_square_bracket", "slice(1)", "Next slice", show=False),
        Binding("left_curly_bracket", "dimension(-1)", "Dimension before", show=False),
        Binding("right_curly_bracket", "dimension(1)", "Next dimension", show=False),
        Binding("b", "bad", "First NaN", show=False),
        Binding("d", "compare", "Change", show=False),
    ]

    DEFAULT_CSS = """
    TensorScreen { align: center middle; }
    TensorScreen > Vertical { width: 100%; height: 100%; background: $surface; border: round $primary; padding: 0 1; }
    TensorScreen .heading { width: 100%; height: 1; text-style: bold; background: $panel; }
    TensorScreen .hint { width: 100%; height: auto; color: $text-muted; }
    """

    def __init__(self, heading: str, fetch: Fetch) -> None:
        super().__init__()
        self._heading, self._fetch = safe(heading), fetch
        self._view = TensorView()
        self._index: list[int] = []
        self._row = self._column = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._fetching = Newest(self._load, self._keep)

    def compose(self) -> ComposeResult:
        """Heading, page and keys."""
        with Vertical():
            yield Label(self._heading, classes="heading", markup=False)
            yield self._view
            yield Label(HINT, classes="hint", markup=False)

    def on_mount(self) -> None:
        """Keys are for the page; without colours for it there is no heat map."""
        if not has_all_colours(self.app):
            self._view.mode = "shades"
        self._view.focus()

    def on_resize(self) -> None:
        """As much as fits is asked for."""
        self.call_after_refresh(self._fetching.ask)

    @property
    def view(self) -> TensorView:
        """The page."""
        return self._view

    def _keep(self, task: "asyncio.Task[None]") -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _stay_inside(self) -> None:
        """Numbers fill the page as far as there are any."""
        (rows, columns), shape = self._view.room, self._view.body.get("shape") or [1]
        height, width = shape[-2:] if len(shape) >= 2 else (-(-shape[0] // columns), min(columns, shape[0]))
        self._row = max(0, min(self._row, height - rows))
        self._column = max(0, min(self._column, width - columns))

    async def _load(self, is_again: bool = False) -> None:
        self._stay_inside()
        rows, columns = self._view.room
        wanted = {"index": self._index, "row": self._row, "column": self._column, "rows": rows, "columns": columns}
        if self._view.compares:
            wanted["compare"] = True
        try:
            body = await self._fetch({**wanted, "step": 1 if self._view.mode == "numbers" else 0})
        except FAILURES as error:
            self._view.problem = safe(reason_of(error))
        else:
            self._view.problem = ""
            self._view.body = body
            self._index = list(body["index"])
        self._view.refresh()
        if self._view.room != (rows, columns) and not is_again:
            await self._load(is_again=True)  # what is said of it above leaves more or less room than was thought

    def action_mode(self) -> None:
        """Another way to see it."""
        modes = MODES if has_all_colours(self.app) else MODES[1:]
        self._view.mode = modes[(modes.index(self._view.mode) + 1) % len(modes)]
        self._fetching.ask()

    def action_compare(self) -> None:
        """What it has changed by since an earlier pass, or the value again."""
        self._view.compares = not self._view.compares
        self._fetching.ask()

    def action_scroll(self, rows: int, columns: int) -> None:
        """Move; a heat map is whole already."""
        if self._view.mode == "numbers" and self._view.body:
            self._row, self._column = self._row + rows, self._column + columns
            self._fetching.ask()

    def action_home(self) -> None:
        """To the beginning."""
        self._row = self._column = 0
        self._fetching.ask()

    def action_slice(self, by: int) -> None:
        """Another slice along the chosen dimension."""
        if self._index:
            along = self._view.dimension
            self._index[along] = (self._index[along] + by) % self._view.body["shape"][along]
            self._fetching.ask()

    def action_dimension(self, by: int) -> None:
        """Slices are along another dimension."""
        if self._index:
            self._view.dimension = (self._view.dimension + by) % len(self._index)
            self._view.refresh()

    def action_bad(self) -> None:
        """To the first element that is not finite."""
        bad = self._view.body.get("firstBad")
        if not bad:
            self.app.notify("all elements are finite", timeout=2, markup=False)
            return
        self._view.mode = "numbers"
        self._index = list(bad[:-2])
        rows, columns = self._view.room
        row, column = bad[-2:] if len(bad) >= 2 else divmod(bad[0] if bad else 0, columns)
        self._row, self._column = row - rows // 2, column - columns // 2
        self._fetching.ask()


def change_pieces(body: Body) -> Pieces:
    """What has changed since an earlier pass, or why nobody knows."""
    told = body["compared"]
    if told["before"] is None:
        return [(told["why"], NOTICE)]
    elements = prod(body["shape"])
    changed = f"{share(told['changed'], elements)} changed ({told['changed']:,} of {elements:,})"
    sizes = f"  |Δ| max {told['largest']} mean {told['mean']}" if told["largest"] else ""
    why = f"  {told['why']}" if told["why"] else ""
    return [(f"pass {told['now']} - pass {told['before']}  ", LABEL), (changed + sizes, ""), (why, NOTICE)]


def kept_words(told: Body) -> str:
    """How much the program keeps for comparing."""
    dropped = f", {told['dropped']:,} others dropped" if told["dropped"] else ""
    return f"  kept {size(told['keptBytes'])} of {size(told['limitBytes'])}{dropped}"


def histogram(counts: list[int]) -> str:
    """Bars as high as the counts; what is there at all is seen."""
    most = max(counts, default=0)
    return "".join(_BARS[max(round(each / most * 8), 1) if each else 0] for each in counts)


def part_shown(body: Body) -> str:
    """Which part of a matrix is shown."""
    rows, columns = len(body["values"]), len(body["values"][0]) if body["values"] else 0
    if (rows, columns) == (body["height"], body["width"]):
        return f"all of {rows:,} x {columns:,}"
    down, along = body["rowStep"], body["columnStep"]
    return (
        f"{_range('rows', body['row'], rows, down)} of {body['height']:,}, "
        f"{_range('columns', body['column'], columns, along)} of {body['width']:,}"
    )


def elements_shown(body: Body) -> str:
    """Which elements of a vector are shown, or of a number; a vector goes on in the next line."""
    total, width, rows = prod(body["shape"]), body["width"], len(body["values"])
    if not body["shape"]:
        return "its only element"
    lines = f"{width:,} in a line" if width < total else "in one line"
    if rows == body["height"]:
        return f"all {counted(total, 'element')}, {lines}"
    if body["rowStep"] != 1:
        return f"{_range('lines', body['row'], rows, body['rowStep'])} of {body['height']:,}: {counted(total, 'element')}, {lines}"
    first = body["row"] * width
    return f"elements {first:,} to {min(first + rows * width, total) - 1:,} of {total:,}, {lines}"


def _range(what: str, start: int, count: int, step: float) -> str:
    """``rows 0 to 31``, ``every 3rd of rows 0 to 93``, or ``40 evenly spread rows`` where the distances are no whole number."""
    if step != int(step):
        return f"{count:,} evenly spread {what}"
    step = int(step)
    if step == 1:
        return f"{what} {start:,} to {start + max(count - 1, 0):,}"
    ending = {1: "st", 2: "nd", 3: "rd"}.get(step % 10 if step % 100 not in (11, 12, 13) else 0, "th")
    return f"every {step:,}{ending} of {what} {start:,} to {start + (count - 1) * step:,}"


def _labelled(label: str, pieces: Pieces, indent: int, width: int) -> list[Pieces]:
    """Pieces behind a word of `indent` cells; where one line has no room for them the later ones go on below."""
    head = label.ljust(indent)[:indent]
    lines: list[Pieces] = [[(head, FAINT)] if head else []]
    for text, style in pieces:
        room = max(width - width_of(lines[-1]), 0)
        if cells(text.rstrip()) <= room:
            lines[-1].append((text, style))
            continue
        first, *more = wrap_phrases(text.strip(), room, width - indent)
        lines[-1].append((first, style))
        lines += [[(" " * indent, ""), (line, style)] for line in more]
        lines[-1].append((text[len(text.rstrip()) :], style))
    return lines

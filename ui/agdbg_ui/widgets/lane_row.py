"""One row of the lane view as pieces of text: marks, lanes, op, badges, place, source."""

import os.path
import re

from agdbg.protocol.vendor import Row
from agdbg_ui.text import Piece, Pieces, cells, fit, pad, safe, shorten, width_of
from agdbg_ui.themes import (
    ARROW,
    ASIDE,
    BREAKPOINT_MARK,
    BREAKPOINT_STYLE,
    FAINT,
    LABEL,
    NOTICE,
    TITLE,
    node_look,
)

NODE_IN_CELLS = "\N{BLACK CIRCLE}"
"""What stands for the node in `Row.cells`."""

_SUFFIX = re.compile(r"Backward\d*$")
_LANES = "$foreground 60%"
_DIM = "$foreground 55%"
_BADGES_SHOWN = 4
#: States of a parameter that its badge shows by a mark.
_MARKED = ("ran", "next", "failed")
_MOST_NAME = 18
_MOST_TEXT = 200
_MOST_OP, _LEAST_OP, _MOST_BADGES = 22, 12, 24
#: Cells of the source text for which file names are shortened, and those with which it says nothing any more.
_WANTED_TEXT, _LEAST_TEXT = 20, 5
_LEAST_NAME = 6


class Columns:
    """Widths of columns: they only grow, so that scrolling does not make them jump.

    Attributes:
        script: the program's own file, which its lines do without.
    """

    def __init__(self) -> None:
        self.lanes, self.ops, self.badges = 1, _LEAST_OP, 0
        self._names = self._digits = 0
        self.script = ""

    def widen(self, row: Row) -> None:
        """Make room for a row."""
        self.lanes = max(self.lanes, len(row["cells"]))
        self.ops = max(self.ops, min(len(row["op"]), _MOST_OP))
        self.badges = max(self.badges, width_of(badge_pieces(row, None)) + _unmarked(row))
        if row["file"]:
            self._names = max(self._names, min(cells(safe(self.name_of(row))), _MOST_NAME))
            self._digits = max(self._digits, len(str(row["line"])))

    def name_of(self, row: Row) -> str:
        """The file of a row as it is shown: none for the program's own."""
        return "" if self._is_script(row["file"]) else row["file"].rsplit("/", 1)[-1]

    def _is_script(self, file: str) -> bool:
        """Whether this is the program's file, which it may have been told by a relative path."""
        path = os.path.normpath(self.script).removeprefix("../") if self.script else ""
        while path.startswith("../"):
            path = path.removeprefix("../")
        return bool(path) and (file == path or file.endswith(f"/{path}"))

    def shares(self, width: int) -> tuple[int, int]:
        """Cells for badges and for file names in a row of `width` cells: numbers of lines are never cut for them."""
        room = width - 3 - (self.lanes + 1) - (self.ops + 1) - (self._digits + 2)
        badges = max(min(self.badges, max(_MOST_BADGES, width // 3), room), 0)
        rest = room - badges
        names = min(self._names, max(rest - _WANTED_TEXT, _LEAST_NAME), max(rest, 0))
        return badges, names

    def place(self, row: Row, names: int) -> str:
        """``train.py:12``, or ``:12`` of the program's own file, with the name in `names` cells."""
        name = shorten(self.name_of(row), names)
        text = f"{name}:{row['line']}"
        return " " * (names + 1 + self._digits - cells(text)) + text


def row_pieces(row: Row, counter_node: int | None, is_next: bool, columns: Columns, width: int) -> Pieces:
    """A row.

    Args:
        row: what the hub says.
        counter_node: the node that runs next, to mark it when it is a leaf of this row.
        is_next: whether the program counter is at this row.
        columns: how wide they are.
        width: cells of the whole row.
    """
    badges, names = columns.shares(width)
    pieces = [
        (BREAKPOINT_MARK if row["breakpoint"] else " ", BREAKPOINT_STYLE),
        (f"{ARROW} " if is_next else "  ", NOTICE),
        *_lanes(row, columns.lanes),
        *_op(row, columns.ops, is_next),
        *_padded(badge_pieces(row, counter_node if is_next else None), badges),
    ]
    if not row["file"]:
        return pieces
    pieces.append((f"{columns.place(row, names)} ", ASIDE))
    room = width - width_of(pieces)
    text = shorten(row["text"].strip(), min(room, _MOST_TEXT)) if room >= _LEAST_TEXT else ""
    return [*pieces, (text, _DIM)]


def row_placeholder(index: int) -> Pieces:
    """A row that is on its way."""
    return [("   ", ""), (f"\N{MIDDLE DOT} row {index + 1:,}", FAINT)]


def _lanes(row: Row, width: int) -> Pieces:
    before, _, after = safe(row["cells"]).partition(NODE_IN_CELLS)
    look = node_look(row["state"])
    taken = cells(before) + 1 + cells(after)
    return [(before, _LANES), (look.mark, look.style), (after, _LANES), (" " * max(width - taken, 0) + " ", "")]


def _op(row: Row, width: int, is_next: bool) -> Pieces:
    """The name as torch has it; the suffix that all have is dimmed."""
    op = pad(row["op"], width)
    found = _SUFFIX.search(op.rstrip())
    at = found.start() if found and found.start() else len(op)
    style = TITLE if is_next or row["state"] != "freed" else ASIDE
    return [(op[:at], style), (op[at:], _DIM), (" ", "")]


def badge_pieces(row: Row, next_node: int | None) -> Pieces:
    """The parameters of a node, and the producers that no lane shows."""
    badges = row["badges"]
    pieces: Pieces = []
    for badge in badges[:_BADGES_SHOWN]:
        state = "next" if badge["node"] == next_node else badge["state"]
        pieces.append(_badge(badge["text"], state))
        pieces.append((" ", ""))
    if len(badges) > _BADGES_SHOWN:
        pieces.append((f"+{len(badges) - _BADGES_SHOWN} ", ASIDE))
    return pieces + _undrawn(row["undrawn"])


def _padded(pieces: Pieces, width: int) -> Pieces:
    """Pieces in exactly `width` cells, with a blank at the end."""
    if width_of(pieces) > width:
        pieces = fit(pieces, max(width - 1, 0))
    return [*pieces, (" " * (width - width_of(pieces)), "")]


def _badge(text: str, state: str) -> Piece:
    """A parameter; one whose gradient was accumulated, or is next, has the mark of that."""
    name = shorten(text, _MOST_NAME)
    if state in _MARKED:
        look = node_look(state)
        return f"[{look.mark}{name}]", look.style
    return f"[{name}]", LABEL


def _unmarked(row: Row) -> int:
    """Badges that have no mark yet, for which there is to be room."""
    return sum(badge["state"] not in _MARKED for badge in row["badges"][:_BADGES_SHOWN])


def _undrawn(rows: list[int]) -> Pieces:
    """Producers whose lane has no room."""
    if not rows:
        return []
    more = f" +{len(rows) - 2}" if len(rows) > 2 else ""
    return [("\N{UPWARDS ARROW FROM BAR}" + ",".join(f"{row + 1:,}" for row in rows[:2]) + more + " ", ASIDE)]

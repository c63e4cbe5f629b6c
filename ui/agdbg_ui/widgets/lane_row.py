"""One row of the lane view as pieces of text: marks, lanes, op, badges, place, source."""

import re

from agdbg.protocol.vendor import Row
from agdbg_ui.text import Piece, Pieces, cells, pad, safe, shorten, width_of
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
_LANES = "$foreground 55%"
_DIM = "$foreground 50%"
_BADGES_SHOWN = 4
_MOST_NAME = 18
_MOST_TEXT = 200
_MOST_OP, _LEAST_OP, _MOST_BADGES = 22, 12, 24


class Columns:
    """Widths of columns: they only grow, so that scrolling does not make them jump."""

    def __init__(self) -> None:
        self.lanes, self.ops, self.badges = 1, _LEAST_OP, 0

    def widen(self, row: Row) -> None:
        """Make room for a row, within reason; what is wider pushes the rest of its row aside."""
        self.lanes = max(self.lanes, len(row["cells"]))
        self.ops = max(self.ops, min(len(row["op"]), _MOST_OP))
        self.badges = max(self.badges, min(width_of(badge_pieces(row, None)), _MOST_BADGES))


def row_pieces(row: Row, counter_node: int | None, is_next: bool, columns: Columns) -> Pieces:
    """A row.

    Args:
        row: what the hub says.
        counter_node: the node that runs next, to mark it when it is a leaf of this row.
        is_next: whether the program counter is at this row.
        columns: how wide they are.
    """
    return [
        (BREAKPOINT_MARK if row["breakpoint"] else " ", BREAKPOINT_STYLE),
        (f"{ARROW} " if is_next else "  ", NOTICE),
        *_lanes(row, columns.lanes),
        *_op(row, columns.ops, is_next),
        *_padded(badge_pieces(row, counter_node if is_next else None), columns.badges),
        *_place(row),
    ]


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
    return [*pieces, (" " * (width - width_of(pieces)), "")]


def _badge(text: str, state: str) -> Piece:
    """A parameter; one whose gradient was accumulated, or is next, has the mark of that."""
    name = shorten(text, _MOST_NAME)
    if state in ("ran", "next", "failed"):
        look = node_look(state)
        return f"[{look.mark}{name}]", look.style
    return f"[{name}]", LABEL


def _undrawn(rows: list[int]) -> Pieces:
    """Producers whose lane has no room."""
    if not rows:
        return []
    more = f" +{len(rows) - 2}" if len(rows) > 2 else ""
    return [("\N{UPWARDS ARROW FROM BAR}" + ",".join(f"{row + 1:,}" for row in rows[:2]) + more + " ", ASIDE)]


def _place(row: Row) -> Pieces:
    if not row["file"]:
        return []
    name = shorten(row["file"].rsplit("/", 1)[-1], _MOST_NAME)
    return [(f"{name}:{row['line']} ", ASIDE), (shorten(row["text"].strip(), _MOST_TEXT), _DIM)]

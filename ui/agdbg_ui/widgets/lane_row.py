"""One row of the lane view as pieces of text: marks, lanes, op, badges, place, source."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from agdbg.counted import counted
from agdbg_ui.amounts import HEIGHTS, is_bad, norm_words
from agdbg_ui.text import (
    Piece,
    Pieces,
    cells,
    fair_share,
    fit,
    pad,
    safe,
    shorten,
    shorten_name,
    shorten_start,
    width_of,
)
from agdbg_ui.themes import (
    ALERT,
    ARROW,
    ASIDE,
    BREAKPOINT_MARK,
    BREAKPOINT_STYLE,
    FAINT,
    LABEL,
    NOTICE,
    OFF_MARK,
    OFF_STYLE,
    TITLE,
    node_look,
)
from agdbg_ui.widgets.lane_columns import SUFFIX, UNFOLDS, Columns, Shares, node_words, saved_words

if TYPE_CHECKING:
    from agdbg.protocol.vendor import Badge, Row

NODE_IN_CELLS = "\N{BLACK CIRCLE}"
"""What stands for the node in `Row.cells`."""

_LANES = "$foreground 60%"
_DIM = "$foreground 55%"
_BADGES_SHOWN = 4
#: States of a parameter that its badge shows by a mark.
_MARKED = ("ready", "running", "ran", "next", "failed", "skipped")
_MOST_NAME, _LEAST_NAME = 60, 3
#: Cells that a name of several needs, or fewer of them are shown.
_LEAST_NAME_OF_SEVERAL = 12
_MOST_TEXT = 200
#: Cells with which the source text says nothing any more.
_LEAST_TEXT = 8
#: The power of ten from which on a norm has the second height; each further power has one more.
_LOWEST = -5


def row_pieces(row: Row, counter_node: int | None, is_next: bool, columns: Columns, width: int) -> Pieces:
    """A row.

    Args:
        row: what the hub says.
        counter_node: the node that runs next, to mark it when it is a leaf of this row.
        is_next: whether the program counter is at this row.
        columns: how wide they are.
        width: cells of the whole row.
    """
    share = columns.shares(width)
    pieces = [
        (OFF_MARK, OFF_STYLE) if row.get("off") else (BREAKPOINT_MARK if row["breakpoint"] else " ", BREAKPOINT_STYLE),
        (f"{ARROW} " if is_next else "  ", NOTICE),
        *_lanes(row, columns.lanes),
        *(_fold if row["count"] > 1 else _node)(row, counter_node if is_next else None, share),
        *_cell(*_spark(row), share.spark),
        *_cell(columns.shape(row, width), LABEL if is_next else ASIDE, share.shape),
        *_cell(norm_words(row["gradient"]), ASIDE, share.norm),
        *_cell(saved_words(row), FAINT if row["state"] == "freed" else ASIDE, share.saved),
        (f"{columns.place(row, share.names)} ", ASIDE),
    ]
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


def _node(row: Row, next_node: int | None, share: Shares) -> Pieces:
    """Number, op, module and parameters of one node."""
    return [
        *_cell(node_words(row), FAINT, share.node),
        *_op(row, share.ops, next_node is not None),
        *_cell(shorten_start(row["module"], max(share.module - 1, 0)), _DIM, share.module),
        *_padded(badge_pieces(row, next_node, share.module > 0, share.badges), share.badges),
    ]


def _fold(row: Row, next_node: int | None, share: Shares) -> Pieces:
    """What is folded, in the same cells."""
    width = share.node + share.ops + 1 + share.module + share.badges
    room = width - len(UNFOLDS) - 1
    count = _count(row)
    title = shorten_name(row["op"], max(room - cells(count), min(room, share.ops)))
    style = NOTICE if next_node is not None else TITLE
    pieces: Pieces = [(UNFOLDS, FAINT), (title, style)]
    if cells(title) + cells(count) <= room:
        pieces.append((count, ASIDE))
    return _padded(pieces, width)


def _count(row: Row) -> str:
    return f"  {counted(row['count'], 'node')}"


def _op(row: Row, width: int, is_next: bool) -> Pieces:
    """The name as torch has it; the suffix that all have is dimmed."""
    op = pad(row["op"], width)
    found = SUFFIX.search(op.rstrip())
    at = found.start() if found and found.start() else len(op)
    style = TITLE if is_next or row["state"] != "freed" else ASIDE
    return [(op[:at], style), (op[at:], _DIM), (" ", "")]


def badge_pieces(row: Row, next_node: int | None, by_module: bool = False, room: int = 1000) -> Pieces:
    """The parameters of a node, and the producers that no lane shows.

    Args:
        row: what the hub says.
        next_node: the node that runs next, when it is at this row.
        by_module: they stand beside the name of the module.
        room: cells for all; in little room there are fewer, with names that say something.
    """
    own = f"{row['module']}." if by_module and row["module"] else ""
    named = [(badge["text"].removeprefix(own), _state(badge, next_node)) for badge in row["badges"]]
    shown = min(len(named), _BADGES_SHOWN)
    while shown > 1 and _most_name(row, named[:shown], room) < _LEAST_NAME_OF_SEVERAL:
        shown -= 1
    most = max(_most_name(row, named[:shown], room), _LEAST_NAME)
    pieces: Pieces = []
    for name, state in named[:shown]:
        pieces += [_badge(name, state, most), (" ", "")]
    return pieces + _rest(row, shown)


def _most_name(row: Row, named: list[tuple[str, str]], room: int) -> int:
    """Cells for each name when these badges are shown; a great number where all fit."""
    around = sum(3 + (state in _MARKED) for _, state in named)
    lengths = [min(cells(safe(name)), _MOST_NAME) for name, _ in named]
    free = room - around - width_of(_rest(row, len(named)))
    return _MOST_NAME if sum(lengths) <= free else fair_share(lengths, free)


def _state(badge: Badge, next_node: int | None) -> str:
    return "next" if badge["node"] == next_node else badge["state"]


def _rest(row: Row, shown: int) -> Pieces:
    more = len(row["badges"]) - shown
    return ([(f"+{more} ", ASIDE)] if more else []) + _undrawn(row["undrawn"])


def _cell(text: str, style: str, width: int) -> Pieces:
    """Text in exactly `width` cells, with a blank at the end; nothing where there is no room for the column."""
    return [(pad(text, width - 1), style), (" ", "")] if width else []


def _spark(row: Row) -> Piece:
    """How large the gradient was that arrived, as a height for each power of ten; a NaN or an Inf is a mark."""
    if row["bad"] or is_bad(row["gradient"]):
        return "!", ALERT
    if row["gradient"] is None:
        return "", ""
    norm = float(row["gradient"])
    if not norm:
        return "0", ASIDE
    return HEIGHTS[min(max(math.floor(math.log10(norm)) - _LOWEST + 1, 0), len(HEIGHTS) - 1)], LABEL


def widen(columns: Columns, row: Row) -> None:
    """Make room for a row: also for the marks of badges that have none yet."""
    if row["count"] > 1:
        columns.widen(row, cells(_count(row)), cells(_count(row)))
        return
    marks = _unmarked(row)
    full, own = badge_pieces(row, None), badge_pieces(row, None, by_module=True)
    columns.widen(row, width_of(full) + marks, width_of(own) + marks)


def _padded(pieces: Pieces, width: int) -> Pieces:
    """Pieces in exactly `width` cells, with a blank at the end."""
    if width_of(pieces) > width:
        pieces = fit(pieces, max(width - 1, 0))
    return [*pieces, (" " * (width - width_of(pieces)), "")]


def _badge(text: str, state: str, most: int) -> Piece:
    """A parameter; one whose gradient was accumulated, or is next, has the mark of that."""
    name = shorten_name(text, most)
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

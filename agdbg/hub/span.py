"""Where in its lines an expression stands, in the columns of the Debug Adapter Protocol.

A site counts bytes of UTF-8 from 0, as Python's code objects do; the protocol counts code units of UTF-16 from 1.
"""

import linecache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from agdbg.record.lookup import Site


class Span(NamedTuple):
    """The columns at which an expression begins and behind which it ends; 0: not known."""

    column: int = 0
    end_line: int = 0
    end_column: int = 0


NOWHERE = Span()


def span_of(site: "Site") -> Span:
    """Where the expression of a site stands. Where it ends on a later line, that line is looked up in the file."""
    if site.line <= 0 or site.col < 0 or (column := _column(site.text, site.col)) == 0:
        return NOWHERE
    end_line = max(site.end_line, site.line)
    text = site.text if end_line == site.line else linecache.getline(site.file, end_line).rstrip("\r\n")
    end_column = _column(text, site.end_col) if site.end_col >= 0 else 0
    is_empty = end_line == site.line and end_column <= column
    return NOWHERE if is_empty else Span(column, end_line, end_column)


def _column(text: str, offset: int) -> int:
    """The column of a byte of a line; 0 when the line is not that long, or the offset is inside a character."""
    line = text.encode("utf-8", "surrogatepass")
    if offset > len(line):
        return 0
    try:
        before = line[:offset].decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return 0
    return len(before.encode("utf-16-le", "surrogatepass")) // 2 + 1

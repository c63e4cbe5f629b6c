"""Small tables as text: columns as wide as what is in them, numbers to the right."""

from collections.abc import Sequence
from os.path import basename

from agdbg.record.lookup import Site
from agdbg.render.clean import shorten
from agdbg.sizes import size

_WIDEST = 60


def table(titles: Sequence[str], rows: Sequence[Sequence[str | int]], indent: str = "") -> list[str]:
    """The lines of a table; columns of ints stand to the right, and the last column is as wide as it likes."""
    last = len(titles) - 1
    cells = [
        [
            f"{each:,}" if isinstance(each, int) else each if i == last else shorten(each, _WIDEST)
            for i, each in enumerate(row)
        ]
        for row in rows
    ]
    right = [bool(rows) and all(isinstance(row[i], int) for row in rows) for i in range(len(titles))]
    widths = [
        max(len(title), *(len(row[i]) for row in cells)) if cells else len(title) for i, title in enumerate(titles)
    ]
    lines = [[*titles], *cells]
    made = [
        "  ".join(
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(line, widths, right, strict=True)
        )
        for line in lines
    ]
    return [(indent + line).rstrip() for line in made]


def where(site: Site) -> str:
    """``train.py:12``; empty when a line is not known."""
    return f"{basename(site.file)}:{site.line}" if site.line else ""


def size_if_known(nbytes: int | None) -> str:
    """Bytes as people read them; ``unknown`` for None."""
    return "unknown" if nbytes is None else size(nbytes)

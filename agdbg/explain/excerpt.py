"""A source line as it is quoted: fit to print, not indented, and underlined where an expression stands."""

from agdbg.explain.palette import Palette
from agdbg.record.lookup import Site
from agdbg.render.clean import columns, printable

#: Columns of a source line that are shown; of a longer one, the part around the expression.
WIDTH = 120
_BEFORE = 30
_TAB = 4


def excerpt(site: Site, palette: Palette | None = None) -> tuple[str, str]:
    """The line and the carets to print under it; the carets are empty when the columns are not known.

    Columns in a site count bytes of UTF-8, as Python's code objects do.

    Args:
        site: where.
        palette: the stream that it is for; None: one that has all characters.
    """
    written = (palette or Palette()).written
    before, marked, after = _parts(site)
    before = before.lstrip()
    if not before:  # the line starts with the expression, or no expression is known
        marked, after = (marked.lstrip(), after) if marked.strip() else ("", after.lstrip())
    before, marked, after = (written(printable(part.expandtabs(_TAB))) for part in (before, marked, after.rstrip()))
    if columns(before + marked + after) > WIDTH:
        before, marked, after = _window(before, marked, after)
    return before + marked + after, " " * columns(before) + "^" * columns(marked)


def _parts(site: Site) -> tuple[str, str, str]:
    """The line before, in and after the expression; one that ends on a later line goes on to the end."""
    line = site.text.encode("utf-8", "surrogatepass")
    if site.col < 0 or site.col >= len(line):
        return "", "", site.text
    end = site.end_col if site.end_line in (0, site.line) and site.end_col > site.col else len(line.rstrip())
    parts = line[: site.col], line[site.col : end], line[end:]
    before, marked, after = (part.decode("utf-8", "replace") for part in parts)
    return before, marked, after


def _window(before: str, marked: str, after: str) -> tuple[str, str, str]:
    """The same, cut to about ``WIDTH`` characters."""
    if len(before) > _BEFORE:
        before = "..." + before[-_BEFORE:]
    room = WIDTH - len(before)
    if len(marked) > room:
        return before, marked[: room - 3] + "...", ""
    room -= len(marked)
    return before, marked, after if len(after) <= room else after[: max(room - 3, 0)] + "..."

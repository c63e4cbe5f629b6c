"""Explanations fitted to the screen: prose is wrapped under itself, code above its carets is cut."""

import re
from textwrap import wrap

from rich.table import Table
from rich.text import Text

from agdbg_ui.text import cells, expand, safe, shorten

#: A label and the blanks behind it, or a list's number, or just the indent: what follows is wrapped under its beginning.
_LEAD = re.compile(r" *(?:[\w ]{1,12}?  +|\d+\. )?")
_RULE = re.compile("\N{BOX DRAWINGS LIGHT HORIZONTAL}+")
_CARETS = re.compile(r"\s*\^+\s*")


def fitted(text: str, width: int) -> str:
    """Text of the program or about it, made harmless, in lines of at most `width` cells where words allow."""
    lines = [safe(line) for line in expand(text).split("\n")]
    following = [*lines[1:], ""]
    return "\n".join(
        _fit(line, width, bool(_CARETS.fullmatch(after))) for line, after in zip(lines, following, strict=True)
    )


def beside(mark: str, words: str | Text) -> Table:
    """A mark, and words at its right that are wrapped under one another."""
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_row(Text(mark), Text(words) if isinstance(words, str) else words)
    return table


def hanging(text: str, indent: int, width: int) -> str:
    """Safe text that begins behind `indent` cells, with its further lines under its beginning."""
    return f"\n{' ' * indent}".join(wrap(text, max(width - indent, 1), break_on_hyphens=False) or [""])


def _fit(line: str, width: int, is_code: bool) -> str:
    if cells(line) <= width:
        return line
    if _RULE.fullmatch(line):
        return line[:width]
    if is_code or _CARETS.fullmatch(line):
        return shorten(line, width)
    lead = _LEAD.match(line)
    indent = min(lead.end() if lead else 0, width // 2)
    return line[:indent] + hanging(line[indent:], indent, width)

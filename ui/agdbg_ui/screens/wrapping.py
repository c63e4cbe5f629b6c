"""Explanations fitted to the screen: prose is wrapped under itself, code above its carets is cut."""

import re
from textwrap import wrap

from agdbg_ui.text import cells, safe, shorten

#: A label and the blanks behind it, or a list's number, or just the indent: what follows is wrapped under its beginning.
_LEAD = re.compile(r" *(?:[\w ]{1,12}?  +|\d+\. )?")
_CARETS = re.compile(r"\s*\^+\s*")


def fitted(text: str, width: int) -> str:
    """Text of the program or about it, made harmless, in lines of at most `width` cells where words allow."""
    lines = [safe(line) for line in text.expandtabs().split("\n")]
    following = [*lines[1:], ""]
    return "\n".join(
        _fit(line, width, bool(_CARETS.fullmatch(after))) for line, after in zip(lines, following, strict=True)
    )


def _fit(line: str, width: int, is_code: bool) -> str:
    if cells(line) <= width:
        return line
    if is_code or _CARETS.fullmatch(line):
        return shorten(line, width)
    lead = _LEAD.match(line)
    indent = min(lead.end() if lead else 0, width // 2)
    rest = wrap(line[indent:], max(width - indent, 1), break_on_hyphens=False)
    return line[:indent] + f"\n{' ' * indent}".join(rest)

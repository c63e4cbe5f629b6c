"""Whether a breakpoint on a name matches a node that is there."""

import re

from agdbg.breakpoints import matches, names_of_op
from agdbg_ui.queries import Queries

#: Rows looked at: each takes two requests, and the first is nearly always right.
_MOST = 20
_WILD = re.compile(r"\[[^\]]*\]|[*?]")


async def matches_something(ask: Queries, pattern: str) -> bool | None:
    """Whether a recorded node answers to a pattern; None when that is not found out soon."""
    literal = max(_WILD.split(pattern), key=len)
    if not literal:
        return None
    start, seen = 0, set[int]()
    while len(seen) < _MOST:
        row = await ask.find(literal, start, False)
        if row is None or row in seen:
            return False
        if await _is_named(ask, row, pattern):
            return True
        seen.add(row)
        start = row + 1
    return None


async def _is_named(ask: Queries, row: int, pattern: str) -> bool:
    """Whether a row's node, or a leaf beside it, answers to a pattern."""
    rows = (await ask.rows(row, 1))["rows"]
    names = [name for each in rows for name in (*names_of_op(each["op"]), *(leaf["text"] for leaf in each["badges"]))]
    return matches(pattern, names)

"""Syntax colours of a source file, a stretch of it at a time: cost follows what is seen, not the length of the file."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from textual.cache import LRUCache

from agdbg_ui.text import Pieces, expand, safe

if TYPE_CHECKING:
    from pygments.lexer import Lexer  # type: ignore[import-untyped]  # it has no types
    from pygments.token import _TokenType  # type: ignore[import-untyped]  # it has no types

#: Characters of a line that are shown; more make no line of code readable, and lexers are slow on them.
COLUMNS = 2000
#: Lines that are coloured at once, and lines before them that are read to know what they are part of.
STRETCH = 128
_BEFORE = 384
_TAB = 4
_TOP = re.compile(r"(?:async def|def|class) |@")

#: By the name of a kind of token.
_STYLES = {
    "Comment": "italic $foreground 55%",
    "Keyword": "$text-accent",
    "Keyword.Constant": "$text-warning",
    "Literal.Number": "$text-warning",
    "Literal.String": "$text-success",
    "Literal.String.Interpol": "",
    "Name.Builtin": "$text-primary",
    "Name.Builtin.Pseudo": "italic",
    "Name.Class": "bold $text-primary",
    "Name.Decorator": "$text-primary",
    "Name.Function": "bold $text-primary",
    "Name.Exception": "$text-error",
    "Operator.Word": "$text-accent",
}


class Highlighter:
    """The lines of a text in pieces of one style.

    Args:
        lines: the lines of the text, without line ends.
        python: whether it is Python; other text stays plain.
    """

    def __init__(self, lines: Sequence[str], python: bool = True) -> None:
        self._lines = lines
        self._is_python = python
        self._stretches: LRUCache[int, list[Pieces]] = LRUCache(64)

    def line(self, index: int) -> Pieces:
        """Line `index`, counted from 0, safe to show, tabs expanded."""
        if not self._is_python:
            return [(_shown(self._lines[index]), "")]
        number = index // STRETCH
        if (stretch := self._stretches.get(number)) is None:
            stretch = self._stretches[number] = self._coloured(self._lexer, number * STRETCH)
        return stretch[index % STRETCH]

    def shown_part(self, index: int, part: tuple[int, int]) -> tuple[int, int]:
        """Where characters of line `index` are in what is shown of it."""
        start, end = (len(_shown(self._lines[index][:at])) for at in part)
        return start, end

    @cached_property
    def _lexer(self) -> "Lexer":
        """Loaded when a line is seen first, so that the first frame does not wait for it."""
        from pygments.lexers.python import PythonLexer  # type: ignore[import-untyped]  # it has no types

        return PythonLexer(stripnl=False, ensurenl=True)

    def _coloured(self, lexer: "Lexer", start: int) -> list[Pieces]:
        stop = min(start + STRETCH, len(self._lines))
        begin = self._top_level(start)
        text = "\n".join(map(_shown, self._lines[begin:stop]))
        return list(_by_line(lexer.get_tokens(text), stop - begin))[start - begin :]

    def _top_level(self, start: int) -> int:
        """A line at or before `start` where a statement surely begins, so that no string is cut in two."""
        limit = max(start - _BEFORE, 0)
        tops = (at for at in range(start, limit, -1) if _TOP.match(self._lines[at]))
        return next(tops, limit)


def _shown(line: str) -> str:
    return safe(expand(line[:COLUMNS], _TAB))


def _by_line(tokens: "Iterator[tuple[_TokenType, str]]", count: int) -> Iterator[Pieces]:
    """Tokens as lines, `count` of them."""
    line: Pieces = []
    for kind, text in tokens:
        style = _style(kind)
        *ended, rest = text.split("\n")
        for part in ended:
            yield [*line, (part, style)]
            line = []
            count -= 1
        if rest:
            line.append((rest, style))
    for _ in range(count):  # a lexer gives back what it got; were it less, lines would be missing
        yield line
        line = []


def _style(kind: "_TokenType") -> str:
    name = str(kind).removeprefix("Token.")
    while name and name not in _STYLES:
        name = name.rpartition(".")[0]
    return _STYLES.get(name, "")

"""A screenshot as SVG: made the same each time, and read back as words with their looks."""

from __future__ import annotations

import difflib
import html
import re

#: Columns of a cell in Rich's drawings.
CELL = 12.2
_ID = re.compile(r"\bterminal-\d+-")
_STYLE = re.compile(r"^\s*\.picture-(r\d+) \{ ([^}]*?);? \}", re.MULTILINE)
_TEXT = re.compile(
    r'<text class="picture-(r\d+)" x="([\d.]+)"[^>]* clip-path="url\(#picture-line-(\d+)\)">([^<]*)</text>'
)
#: Ends of scroll bars, to an eighth of a row: they depend on how often the layout was made.
_SCROLL_BAR = str.maketrans("", "", "▁▂▃▄▅▆▇█▔")
#: A number that is computed: BLAS libraries differ in its last digits. Numbers of nodes, lines and shapes have no point.
_COMPUTED = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?|-?\d+e[-+]\d+")

Word = tuple[int, str, str]


def stable(svg: str) -> str:
    """Replace the number that Rich derives from the whole content, so that a change of a word is a change of a line."""
    lines = _ID.sub("picture-", svg).splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


def words(svg: str) -> list[Word]:
    """What a picture says: line, look and text of each piece in reading order, without computed numbers and scroll bars.

    Positions within a line are left out, because a longer number moves what is behind it.
    """
    styles = dict(_STYLE.findall(svg))
    pieces = [(int(line), float(x), styles[style], text) for style, x, line, text in _TEXT.findall(svg)]
    said = [(line, style, _squeezed(text)) for line, _, style, text in sorted(pieces)]
    return [word for word in said if word[2]]


def lines(svg: str) -> list[str]:
    """The lines as they are on the terminal."""
    rows: dict[int, str] = {}
    for _, x, line, text in sorted(_TEXT.findall(svg), key=lambda found: (int(found[2]), float(found[1]))):
        row = rows.get(int(line), "").ljust(round(float(x) / CELL))
        rows[int(line)] = row + _plain(text)
    return [rows.get(number, "").rstrip() for number in range(max(rows, default=-1) + 1)]


def differences(old: str, new: str) -> list[str]:
    """How the second picture says something else than the first; empty when it does not."""
    return list(difflib.unified_diff(_listing(old), _listing(new), "committed", "fresh", lineterm="", n=0))


def _listing(svg: str) -> list[str]:
    return [f"line {line + 1}: {text}   [{style}]" for line, style, text in words(svg)]


def _squeezed(text: str) -> str:
    return " ".join(_COMPUTED.sub("#", _plain(text)).translate(_SCROLL_BAR).split())


def _plain(text: str) -> str:
    return html.unescape(text).replace("\N{NO-BREAK SPACE}", " ").rstrip("\n")

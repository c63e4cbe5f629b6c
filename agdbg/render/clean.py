"""Hostile text made fit to draw: source lines, op and file names may hold anything."""

from functools import lru_cache
from unicodedata import category, east_asian_width

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
_UNSHOWABLE = "\N{REPLACEMENT CHARACTER}"
_CONTROL_PICTURES = 0x2400


@lru_cache(maxsize=16384)
def printable(text: str) -> str:
    """Replace what cannot be shown: controls by their pictures, surrogates, bidi marks and such by U+FFFD.

    The result is one line that XML 1.0 and UTF-8 can carry.
    """
    return text if text.isprintable() else "".join(map(_printable_character, text))


def _printable_character(character: str) -> str:
    if character.isprintable():
        return character
    if character < " ":
        return chr(_CONTROL_PICTURES + ord(character))
    return " " if category(character) == "Zs" else _UNSHOWABLE


def columns(text: str) -> int:
    """How many terminal columns printable text takes: wide characters two, combining ones none."""
    return len(text) if text.isascii() else sum(map(_columns_of, text))


def _columns_of(character: str) -> int:
    if category(character) in ("Mn", "Me") or "\N{HANGUL JUNGSEONG FILLER}" <= character < "\u1200":
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


@lru_cache(maxsize=16384)
def shorten(text: str, limit: int) -> str:
    """One printable line of at most `limit` columns; runs of blanks become one, an ellipsis marks a cut."""
    return fit(printable(" ".join(text.split())), limit)


def fit(line: str, limit: int) -> str:
    """A printable line as it is, or its beginning and an ellipsis when it takes more than `limit` columns."""
    return line if columns(line) <= limit else cut(line, limit - 1) + ELLIPSIS


def cut(line: str, limit: int) -> str:
    """The longest beginning of `line` that takes at most `limit` columns."""
    if line.isascii():
        return line[: max(limit, 0)]
    taken = 0
    for at, character in enumerate(line):
        taken += _columns_of(character)
        if taken > limit:
            return line[:at]
    return line


def shorten_start(text: str, limit: int) -> str:
    """As `shorten`, but what is cut is the beginning: the end of a path says most."""
    line = printable(" ".join(text.split()))
    if columns(line) <= limit:
        return line
    tail = cut(line[::-1], limit - 1)[::-1]
    while tail and not columns(tail[0]):  # no mark without what it stands on
        tail = tail[1:]
    return ELLIPSIS + tail

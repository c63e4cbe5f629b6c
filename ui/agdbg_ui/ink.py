"""The colours of terminal output: the codes of "select graphic rendition"."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from rich.color import Color
from rich.style import Style

_ON = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse", 9: "strike", 21: "underline"}
_OFF = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("reverse",), 29: ("strike",)}


class Ink(NamedTuple):
    """Colours and attributes of a piece of output. A colour is a number of the palette, an RGB triple, or None."""

    foreground: int | tuple[int, int, int] | None = None
    background: int | tuple[int, int, int] | None = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    reverse: bool = False
    strike: bool = False

    def changed(self, params: str) -> "Ink":
        """The ink after ``ESC [ params m``; what is not understood changes nothing."""
        return _changed(self, params)

    def style(self) -> Style:
        """As a Rich style, to lay over the pane's own."""
        return _style(self)


PLAIN = Ink()


@lru_cache(maxsize=1024)
def _changed(ink: Ink, params: str) -> Ink:
    if params[:1] in "<=>?" and params:  # private: not about colours
        return ink
    codes = _codes(params)
    for code in codes:
        ink = _with(ink, code, codes)
    return ink


def _codes(params: str) -> Iterator[int]:
    for group in params.split(";"):
        parts = [part for part in group.split(":") if part.isdigit()] or ["0"]
        if ":" not in group or parts[0] in ("38", "48"):
            rgb = parts[:2] + parts[-3:] if parts[1:2] == ["2"] else parts  # 38:2:colour space:r:g:b
            yield from map(int, rgb)
        elif parts[0] == "4":
            yield 24 if parts[1:] == ["0"] else 4


def _with(ink: Ink, code: int, rest: Iterator[int]) -> Ink:
    if code == 0:
        return PLAIN
    if code in _ON:
        return ink._replace(**{_ON[code]: True})
    if code in _OFF:
        return ink._replace(**dict.fromkeys(_OFF[code], False))
    if code in (38, 48):
        colour = _extended(rest)
        if colour is None:
            return ink
        return ink._replace(foreground=colour) if code == 38 else ink._replace(background=colour)
    return _palette(ink, code)


def _palette(ink: Ink, code: int) -> Ink:
    tens, digit = divmod(code, 10)
    bright = 8 if tens in (9, 10) else 0
    if digit < 8 and tens in (3, 9):
        return ink._replace(foreground=digit + bright)
    if digit < 8 and tens in (4, 10):
        return ink._replace(background=digit + bright)
    if code == 39:
        return ink._replace(foreground=None)
    return ink._replace(background=None) if code == 49 else ink


def _extended(rest: Iterator[int]) -> int | tuple[int, int, int] | None:
    """The colour of ``38;5;n`` or ``38;2;r;g;b``."""
    kind = next(rest, None)
    wanted = {5: 1, 2: 3}.get(kind or 0, 0)
    numbers = [number for _, number in zip(range(wanted), rest, strict=False)]
    if len(numbers) != wanted or not wanted or any(number > 255 for number in numbers):
        return None
    return numbers[0] if wanted == 1 else (numbers[0], numbers[1], numbers[2])


@lru_cache(maxsize=1024)
def _style(ink: Ink) -> Style:
    return Style(
        color=_colour(ink.foreground),
        bgcolor=_colour(ink.background),
        bold=ink.bold or None,
        dim=ink.dim or None,
        italic=ink.italic or None,
        underline=ink.underline or None,
        reverse=ink.reverse or None,
        strike=ink.strike or None,
    )


def _colour(colour: int | tuple[int, int, int] | None) -> Color | None:
    if colour is None:
        return None
    return Color.from_ansi(colour) if isinstance(colour, int) else Color.from_rgb(*colour)

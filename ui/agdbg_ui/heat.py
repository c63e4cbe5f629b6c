"""Colours and shades for the elements of a tensor: blue below zero, orange above, so that nobody has to tell red from green."""

import math
from collections.abc import Sequence

from rich.style import Style

#: From most negative over zero to most positive.
_SCALE = ["#2166ac", "#4393c3", "#92c5de", "#303236", "#fdb863", "#e08214", "#b35806"]
_BAD = "#ff5fd7"
_SHADES = " ·░▒▓█"
HALF = "▀"

Grid = Sequence[Sequence[str]]


def number(text: str) -> float | None:
    """What an element is; None where there is none."""
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        return _magnitude(text)


def _magnitude(text: str) -> float | None:
    try:
        return abs(complex(text))
    except ValueError:
        return None


def greatest(values: Grid) -> float:
    """The greatest magnitude that is finite, or 1."""
    found = [
        abs(each) for line in values for text in line if (each := number(text)) is not None and math.isfinite(each)
    ]
    return max(found, default=0.0) or 1.0


def colour_of(text: str, most: float) -> str | None:
    """The colour of an element; None where there is none."""
    value = number(text)
    if value is None:
        return None
    if not math.isfinite(value):
        return _BAD
    at = (value / most + 1) / 2 * (len(_SCALE) - 1)
    low = min(int(at), len(_SCALE) - 2)
    return _mixed(_SCALE[low], _SCALE[low + 1], at - low)


def shade_of(text: str, most: float) -> str:
    """A character that is the fuller the greater the magnitude; a letter for what is not finite."""
    value = number(text)
    if value is None:
        return " "
    if math.isnan(value):
        return "N"
    if math.isinf(value):
        return "I"
    return _SHADES[min(math.ceil(abs(value) / most * (len(_SHADES) - 1)), len(_SHADES) - 1)]


def half_block(upper: str | None, lower: str | None) -> Style:
    """The style of a half block whose upper and lower halves have these colours."""
    return Style(color=upper or "default", bgcolor=lower)


def _mixed(first: str, second: str, part: float) -> str:
    ends = [[int(each[at : at + 2], 16) for at in (1, 3, 5)] for each in (first, second)]
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in zip(*ends, strict=True))

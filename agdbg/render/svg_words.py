"""Text and numbers for SVG: escaped, and measured without a font at hand."""

from functools import lru_cache
from html import escape

from agdbg.render.clean import columns, printable

MONO = 0.602
"""Width of a character in the usual monospace fonts, as a part of the font size."""

_UNITS = {chr(code): 0.7 if 64 < code < 91 else 0.6 for code in range(128)}
_UNITS |= dict.fromkeys("iljtfrI.,:;'|!()[]{} `", 0.36)
_UNITS |= dict.fromkeys("mwMWQO@%&", 0.92)
"""Rough widths of ASCII characters in sans-serif fonts, as parts of the font size."""


@lru_cache(maxsize=16384)
def escaped(text: str) -> str:
    """Text for between tags: printable, and with nothing in it that means anything to XML."""
    return escape(printable(text), quote=False)


def attribute(text: str) -> str:
    """Text for between double quotes."""
    return escape(printable(text), quote=True)


def number(value: float) -> str:
    """A length with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def mono_width(text: str, size: float) -> float:
    """Width of text in a monospace font of this size."""
    return columns(text) * MONO * size


@lru_cache(maxsize=16384)
def sans_width(text: str, size: float, bold: bool = False) -> float:
    """Width of text in a sans-serif font of this size; rather too wide than too narrow."""
    units = sum([_UNITS[character] for character in text]) if text.isascii() else 0.66 * columns(text)
    return units * size * (1.1 if bold else 1.0)

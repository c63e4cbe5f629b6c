"""Colours of the theme as the sixteen of a plain terminal, or as none: what is drawn goes through one of these filters last.

Which red a terminal shows for "red" is its own business, so pairs of text and background are chosen that can be read with the
palettes of the Linux console (VGA) and of xterm alike. Text takes colours 0 to 15, backgrounds only 0 to 7, as eight-colour
terminals have no others.
"""

import colorsys
from functools import lru_cache

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

Triple = tuple[int, int, int]

VGA: tuple[Triple, ...] = (
    (0, 0, 0), (170, 0, 0), (0, 170, 0), (170, 85, 0), (0, 0, 170), (170, 0, 170), (0, 170, 170), (170, 170, 170),
    (85, 85, 85), (255, 85, 85), (85, 255, 85), (255, 255, 85), (85, 85, 255), (255, 85, 255), (85, 255, 255), (255, 255, 255),
)  # fmt: skip
XTERM: tuple[Triple, ...] = (
    (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229),
    (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0), (92, 92, 255), (255, 0, 255), (0, 255, 255), (255, 255, 255),
)  # fmt: skip
#: What text needs against its background (WCAG 2, level AA).
READABLE = 4.5
_BLACK, _RED, _BLUE, _MAGENTA, _CYAN, _WHITE, _BRIGHT_WHITE = 0, 1, 4, 5, 6, 7, 15
#: Chroma below which a colour is a grey, as text and as a background.
_GREY_TEXT, _GREY_GROUND = 60, 24
#: Hues in degrees, up to which a colour is this one: as a background, and as text on a dark one.
_GROUNDS = ((20, _RED), (200, _CYAN), (270, _BLUE), (335, _MAGENTA), (360, _RED))
_TEXTS = ((20, 9), (75, 11), (165, 10), (265, 14), (335, 13), (360, 9))


def contrast(one: Triple, other: Triple) -> float:
    """How much two colours stand out from each other: from 1 to 21."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(colour: Triple) -> float:
    """How light a colour is, from 0 to 1."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (each / 255 for each in colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@lru_cache(1024)
def pair(text: Triple, ground: Triple) -> tuple[int, int]:
    """The numbers of the colours that stand for a text on a background, which can be read everywhere."""
    under = _ground(ground)
    wanted = _text(text)
    for each in (wanted, _BRIGHT_WHITE, _BLACK):
        if all(contrast(palette[each], palette[under]) >= READABLE for palette in (VGA, XTERM)):
            return each, under
    raise AssertionError(f"no text can be read on colour {under}")


def _ground(colour: Triple) -> int:
    if max(colour) - min(colour) < _GREY_GROUND:
        return _WHITE if luminance(colour) > 0.3 else _BLACK
    return _of_hue(colour, _GROUNDS)


def _text(colour: Triple) -> int:
    if max(colour) - min(colour) < _GREY_TEXT:
        return _BLACK if luminance(colour) < 0.1 else _WHITE if luminance(colour) < 0.6 else _BRIGHT_WHITE
    return _of_hue(colour, _TEXTS)


def _of_hue(colour: Triple, ends: tuple[tuple[int, int], ...]) -> int:
    hue = 360 * colorsys.rgb_to_hsv(*(each / 255 for each in colour))[0]
    return next(number for end, number in ends if hue <= end)


class Sixteen(LineFilter):
    """Puts the sixteen colours in the place of all others."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Each piece in a pair of colours that can be read."""
        return [Segment(text, _sixteen(style or Style(), background.rgb), control) for text, style, control in segments]


class NoColours(LineFilter):
    """Leaves bold, reverse and underlined as they are, and takes all colours away."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Each piece without colours."""
        return [Segment(text, style and _plain(style), control) for text, style, control in segments]


@lru_cache(4096)
def _sixteen(style: Style, background: Triple) -> Style:
    text, ground = pair(_triple(style.color) or (255, 255, 255), _triple(style.bgcolor) or background)
    numbers = Style.from_color(RichColor.from_ansi(text), RichColor.from_ansi(ground))
    # Consoles show bold black as dark grey, and dim text as something that cannot be read.
    return style + numbers + Style(dim=False, bold=bool(style.bold) and text != _BLACK)


@lru_cache(4096)
def _plain(style: Style) -> Style:
    return style.without_color


def _triple(colour: RichColor | None) -> Triple | None:
    return None if colour is None or colour.is_default else tuple(colour.get_truecolor())  # type: ignore[return-value]  # three numbers

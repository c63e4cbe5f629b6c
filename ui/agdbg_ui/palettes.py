"""The themes: dark, light, high contrast, one in colours that are told apart by nearly everybody, one of sixteen colours.

``NO_COLOR`` takes the colours of every theme away, and a terminal that has only eight or sixteen shows every theme in those.
"""

import os
from dataclasses import replace
from typing import Any

from textual.app import App
from textual.filter import LineFilter, Monochrome
from textual.theme import BUILTIN_THEMES, Theme

from agdbg_ui.sixteen import NoColours, Sixteen


def _dark(
    name: str,
    background: str,
    surface: str,
    panel: str,
    foreground: str,
    marks: tuple[str, str, str],
    states: tuple[str, str, str],
) -> Theme:
    """A dark theme; ``marks`` are its primary, secondary and accent, ``states`` success, warning and error."""
    primary, secondary, accent = marks
    success, warning, error = states
    return Theme(
        name, primary, secondary, warning, error, success, accent, foreground, background, surface, panel, dark=True
    )


#: Textual's own, with an orange and a green that are dark enough to be read as text on its grey.
LIGHT = replace(BUILTIN_THEMES["textual-light"], warning="#b86e00", success="#2a8f4a", accent="#b86e00")
#: Black and white, and colours that stand out on black.
CONTRAST = _dark(
    "agdbg-contrast", "#000000", "#000000", "#262626", "#ffffff",
    ("#5fd7ff", "#ffffff", "#ffff00"), ("#00ff87", "#ffff00", "#ff8787"),
)  # fmt: skip
#: Blue, orange, yellow and vermilion of Okabe and Ito.
SAFE = _dark(
    "agdbg-safe", "#121212", "#1a1a1a", "#2a2a2a", "#f0f0f0",
    ("#56b4e9", "#cc79a7", "#e69f00"), ("#56b4e9", "#f0e442", "#d55e00"),
)  # fmt: skip
#: The sixteen colours that every terminal has, on black.
SIXTEEN = _dark(
    "agdbg-16", "#000000", "#000000", "#000000", "#ffffff",
    ("#5555ff", "#55ffff", "#ff55ff"), ("#55ff55", "#ffff55", "#ff5555"),
)  # fmt: skip
#: The word that chooses a theme, the theme, and what is said of it, in the order in which a key goes through them.
_CHOICES = (
    ("dark", "textual-dark", "dark"),
    ("light", LIGHT.name, "light"),
    ("contrast", CONTRAST.name, "high contrast"),
    ("safe", SAFE.name, "safe for the colour-blind"),
    ("16", SIXTEEN.name, "16 colours"),
)
NAMES = {word: theme for word, theme, _ in _CHOICES}
WORDS = {theme: told for _, theme, told in _CHOICES}
ORDER = tuple(WORDS)


def register(app: App[Any]) -> None:
    """Make them known."""
    for theme in (LIGHT, CONTRAST, SAFE, SIXTEEN):
        app.register_theme(theme)


def is_colourless() -> bool:
    """Whether the person or the terminal wants no colours: NO_COLOR set to anything, or a terminal that has none."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") in ("dumb", "vt100", "vt220")


def has_sixteen(app: App[Any]) -> bool:
    """Whether the terminal says by TERM and COLORTERM that it has no more than sixteen colours."""
    return app.console.color_system == "standard"


def filters(app: App[Any], others: list[LineFilter]) -> list[LineFilter]:
    """What is drawn goes through these: Textual's own, without its greys, and those for few colours or none."""
    kept = [each for each in others if not isinstance(each, Monochrome)]
    if app.no_color:
        return [*kept, NoColours()]
    return [*kept, Sixteen(enabled=has_sixteen(app))]


def has_all_colours(app: App[Any]) -> bool:
    """Whether shades of a colour can be told apart."""
    return not app.no_color and not any(isinstance(each, Sixteen) for each in app.get_line_filters())


def adapt(app: App[Any], filters: list[LineFilter]) -> None:
    """The theme is another one: that of sixteen colours is shown in just these, on any terminal."""
    for each in filters:
        if isinstance(each, Sixteen):
            each.enabled = has_sixteen(app) or app.theme == SIXTEEN.name


def after(theme: str) -> str:
    """The next theme."""
    return ORDER[(ORDER.index(theme) + 1) % len(ORDER)] if theme in ORDER else ORDER[0]

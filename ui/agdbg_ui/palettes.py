"""The themes: dark, light, high contrast, one in colours that are told apart by nearly everybody, one of sixteen colours.

``NO_COLOR`` takes the colours of every theme away, and a terminal that has only eight or sixteen shows every theme in those.
"""

import os
from typing import Any

from textual.app import App
from textual.filter import LineFilter, Monochrome
from textual.theme import Theme

from agdbg_ui.sixteen import NoColours, Sixteen

#: Black and white, and colours that stand out on black.
CONTRAST = Theme(
    name="agdbg-contrast",
    primary="#5fd7ff",
    secondary="#ffffff",
    accent="#ffff00",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#262626",
    success="#00ff87",
    warning="#ffff00",
    error="#ff8787",
    dark=True,
)
#: Blue, orange, yellow and vermilion of Okabe and Ito.
SAFE = Theme(
    name="agdbg-safe",
    primary="#56b4e9",
    secondary="#cc79a7",
    accent="#e69f00",
    foreground="#f0f0f0",
    background="#121212",
    surface="#1a1a1a",
    panel="#2a2a2a",
    success="#56b4e9",
    warning="#f0e442",
    error="#d55e00",
    dark=True,
)
#: The sixteen colours that every terminal has, on black.
SIXTEEN = Theme(
    name="agdbg-16",
    primary="#5555ff",
    secondary="#55ffff",
    accent="#ff55ff",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#000000",
    success="#55ff55",
    warning="#ffff55",
    error="#ff5555",
    dark=True,
)
#: In the order in which a key goes through them.
ORDER = ("textual-dark", "textual-light", "agdbg-contrast", "agdbg-safe", "agdbg-16")
WORDS = {
    "textual-dark": "dark",
    "textual-light": "light",
    "agdbg-contrast": "high contrast",
    "agdbg-safe": "safe for the colour-blind",
    "agdbg-16": "16 colours",
}
#: By the word that chooses one by name.
NAMES = {
    "dark": "textual-dark",
    "light": "textual-light",
    "contrast": "agdbg-contrast",
    "safe": "agdbg-safe",
    "16": "agdbg-16",
}


def register(app: App[Any]) -> None:
    """Make them known."""
    app.register_theme(CONTRAST)
    app.register_theme(SAFE)
    app.register_theme(SIXTEEN)


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

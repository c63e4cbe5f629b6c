"""The themes: dark, light, high contrast, and one in colours that are told apart by nearly everybody."""

from typing import Any

from textual.app import App
from textual.theme import Theme

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
#: In the order in which a key goes through them.
ORDER = ("textual-dark", "textual-light", "agdbg-contrast", "agdbg-safe")
WORDS = {
    "textual-dark": "dark",
    "textual-light": "light",
    "agdbg-contrast": "high contrast",
    "agdbg-safe": "safe for the colour-blind",
}


def register(app: App[Any]) -> None:
    """Make them known."""
    app.register_theme(CONTRAST)
    app.register_theme(SAFE)


def after(theme: str) -> str:
    """The next theme."""
    return ORDER[(ORDER.index(theme) + 1) % len(ORDER)] if theme in ORDER else ORDER[0]

"""All keys, out of the table of keys."""

from rich.text import Text

from agdbg_ui.keymap import groups
from agdbg_ui.screens.page import Page
from agdbg_ui.themes import NODE

_KEY_CELLS = 9


class HelpScreen(Page):
    """The keys and the marks."""

    def __init__(self) -> None:
        super().__init__("Keys", help_text())


def help_text() -> Text:
    """The help as text."""
    text = Text()
    for group, keys in groups().items():
        text.append(f"{group}\n", "bold underline")
        for key in keys:
            text.append(f"  {key.shown:<{_KEY_CELLS}}", "bold")
            text.append(f"{key.help}\n")
        text.append("\n")
    text.append("Marks of nodes\n", "bold underline")
    for look in NODE.values():
        text.append(f"  {look.mark:<{_KEY_CELLS}}{look.word}\n")
    for mark, meaning in (
        ("[weight]", "a parameter that the node uses"),
        ("↥ 12", "uses row 12; its lane has no room"),
    ):
        text.append(f"  {mark:<{_KEY_CELLS}}{meaning}\n")
    return text

"""All keys, out of the table of keys."""

from rich.text import Text

from agdbg_ui.keymap import groups
from agdbg_ui.pane_keys import IN_PANES
from agdbg_ui.screens.page import Page
from agdbg_ui.screens.wrapping import hanging
from agdbg_ui.text import cells
from agdbg_ui.themes import NODE

_KEY_CELLS = 9


class HelpScreen(Page):
    """The keys and the marks."""

    def __init__(self) -> None:
        super().__init__("Keys", help_text)


def help_text(width: int) -> Text:
    """The help as text in lines of at most `width` cells where words allow."""
    text = Text()
    for group, keys in groups().items():
        text.append(f"{group}\n", "bold underline")
        for key in keys:
            _row(text, key.shown, key.help, width)
        text.append("\n")
    text.append("In one pane\n", "bold underline")
    for pane, rows in IN_PANES.items():
        text.append(f"  {pane}\n", "italic")
        for keys_there, meaning in rows:
            _row(text, keys_there, meaning, width)
    text.append("\nMarks of nodes\n", "bold underline")
    marks = [(look.mark, look.word) for look in NODE.values()]
    marks += [("[weight]", "a parameter that the node uses"), ("↥ 12", "uses row 12; its lane has no room")]
    for mark, meaning in marks:
        _row(text, mark, meaning, width)
    return text


def _row(text: Text, mark: str, words: str, width: int) -> None:
    """What stands at the left, and the words under one another at its right; above them, where there are many keys."""
    text.append(f"  {hanging(mark, 2, width):<{_KEY_CELLS}}", "bold")
    if cells(mark) >= _KEY_CELLS:
        text.append("\n" + " " * (_KEY_CELLS + 2))
    text.append(hanging(words, _KEY_CELLS + 2, width) + "\n")

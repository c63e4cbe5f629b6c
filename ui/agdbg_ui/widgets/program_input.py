"""One line of input to the program, with a history."""

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from agdbg_ui.widgets.typed_line import TypedLine, make_compact

_HISTORY = 1000


#: The character for which a terminal interrupts the program.
INTERRUPT = "\x03"


class ProgramInput(TypedLine):
    """Sends what is typed, as a terminal would: whole lines, an interrupt, an end of file.

    Args:
        on_leave: called when no more is typed for now.

    | Key | Does |
    | --- | --- |
    | enter | sends the line |
    | ctrl+c, ctrl+d | send the character that interrupts the program, or ends its input |
    | up, down | earlier and later lines |
    | escape | leaves the input |
    """

    DEFAULT_CSS = """
    ProgramInput {
        height: 1;
        border: none;
        padding: 0;
        background: $panel;
        &:focus { border: none; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "send('\\x03')", "Interrupt", show=False),
        Binding("ctrl+d", "send('\\x04')", "End of input", show=False),
        Binding("up", "recall(-1)", "Earlier line", show=False),
        Binding("down", "recall(1)", "Later line", show=False),
        Binding("escape", "leave", "Leave the input", show=False),
    ]

    class Sent(Message):
        """This is for the program."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, on_leave: Callable[[], object] = lambda: None) -> None:
        super().__init__(select_on_focus=False)
        self._give_keys_back = on_leave
        make_compact(self)
        self.cursor_blink = False  # nothing is drawn while nothing happens
        self._history: list[str] = []
        self._at = 0
        self._typed = ""

    async def action_submit(self) -> None:
        """Send the line."""
        line, self.value = self.value, ""
        if line and self._history[-1:] != [line]:
            self._history = [*self._history[1 - _HISTORY :], line]
        self._at, self._typed = len(self._history), ""
        self.post_message(self.Sent(line + "\n"))

    def action_send(self, text: str) -> None:
        """Send a control character; the line that was begun is dropped after an interrupt, as a terminal does."""
        if text == INTERRUPT:
            self.value = ""
        self.post_message(self.Sent(text))

    def action_recall(self, by: int) -> None:
        """Put an earlier or a later line in place."""
        to = self._at + by
        if not 0 <= to <= len(self._history):
            return
        if self._at == len(self._history):
            self._typed = self.value
        self._at = to
        self.value = self._typed if to == len(self._history) else self._history[to]
        self.cursor_position = len(self.value)

    def action_leave(self) -> None:
        """Give the keys back, by no message, which would come when the next key has become a letter."""
        self._give_keys_back()

"""The program's terminal: what it writes, and a line to type into it."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Label

from agdbg_ui.terminal import LINES
from agdbg_ui.widgets.output_lines import OutputLines
from agdbg_ui.widgets.program_input import ProgramInput

LABEL = "input to the program, Esc closes"


class OutputPane(Vertical):
    """The last lines of the program's output, and on demand an input line below them.

    | Key | Does |
    | --- | --- |
    | up, down, page up, page down, home, end | scroll |
    | i, enter | input mode |

    Args:
        limit: lines that are kept; of older ones the pane says how many there were, and where they are.
    """

    DEFAULT_CSS = """
    OutputPane {
        background: $surface;
        & > Label {
            display: none;
            width: 100%;
            height: 1;
            background: $panel;
            color: $text-warning;
            text-style: bold;
        }
        & > ProgramInput { display: none; }
        &.-input > Label { display: block; }
        &.-input > ProgramInput { display: block; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("i,enter", "input", "Input to the program", show=False)]

    class Submitted(Message):
        """The user typed this for the program: a line with its line end, or one control character."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class InputModeChanged(Message):
        """The input line was opened or left."""

        def __init__(self, active: bool) -> None:
            super().__init__()
            self.active = active

    def __init__(
        self, *, limit: int = LINES, name: str | None = None, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._lines = OutputLines(limit)
        self._input = ProgramInput(self.leave_input_mode)

    def compose(self) -> ComposeResult:
        """Lines above, the input below."""
        yield self._lines
        yield Label(LABEL, markup=False)
        yield self._input

    def feed(self, text: str) -> None:
        """Show a piece of the output; it may begin and end anywhere."""
        if text:
            self._lines.feed(text)

    def forget(self) -> None:
        """Another run of the program begins; what the one before has printed is in its own recording."""
        self._lines.clear()

    def set_log_path(self, path: str) -> None:
        """Where the whole output is, also that which is no longer kept."""
        if path != self._lines.log_path:
            self._lines.log_path = path
            self._lines.refresh()

    @property
    def log_path(self) -> str:
        """Where the whole output is; "" when that is not known."""
        return self._lines.log_path

    def set_nothing(self, said: str) -> None:
        """What is said while there is no output."""
        if said != self._lines.nothing:
            self._lines.nothing = said
            self._lines.refresh()

    @property
    def lines(self) -> list[str]:
        """The lines that are kept, the unfinished one last."""
        self._lines.flush()
        terminal = self._lines.terminal
        return [line.text for line in terminal.lines] + [terminal.partial.text]

    @property
    def input_mode(self) -> bool:
        """Whether keys go to the program."""
        return self.has_class("-input")

    @property
    def typed_into(self) -> Widget:
        """What has the keys when this pane has: the input line in input mode, else the lines."""
        return self._input if self.input_mode else self._lines

    def focus(self, scroll_visible: bool = True) -> "OutputPane":
        """Focus the part that has the keys."""
        self.typed_into.focus(scroll_visible)
        return self

    def enter_input_mode(self) -> None:
        """Open the input line and type into it; the output goes to its end, where the prompt is."""
        if not self.input_mode:
            self.add_class("-input")
            self.post_message(self.InputModeChanged(True))
        self._lines.to_end()
        self.screen.set_focus(self._input)  # now: the next key may be there already

    def leave_input_mode(self) -> None:
        """Close the input line; what was typed in it stays for the next time."""
        if self.input_mode:
            self.remove_class("-input")
            self.post_message(self.InputModeChanged(False))
            if self.screen.focused is self._input:  # else the keys are for something else by now
                self.screen.set_focus(self._lines)

    def yield_keys(self) -> None:
        """The program has stopped: what was not begun to be typed is none for it, and keys step."""
        if not self._input.value:
            self.leave_input_mode()

    def action_input(self) -> None:
        """Go to input mode."""
        self.enter_input_mode()

    def on_program_input_sent(self, message: ProgramInput.Sent) -> None:
        """Pass on what was typed."""
        message.stop()
        self._lines.to_end()
        self.post_message(self.Submitted(message.text))

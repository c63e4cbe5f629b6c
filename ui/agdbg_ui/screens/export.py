"""Where to write the graph."""

import os
from collections.abc import Awaitable, Callable
from functools import partial
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Label, Static
from textual.worker import Worker

from agdbg.commands.destination import Destination
from agdbg.errors import InputError
from agdbg_ui.backend import FAILURES
from agdbg_ui.screens.modal import Modal
from agdbg_ui.text import reason_of, safe
from agdbg_ui.widgets.typed_line import TypedLine
from agdbg_ui.work import Work

#: Writes the graph to an absolute path, over an old file when that is True, and returns what to say.
Write = Callable[[str, bool], Awaitable[str]]
HINT = "Enter writes   Esc closes"


class ExportScreen(Modal[str | None]):
    """Asks for a file name, and again before an old file is replaced; returns what was written.

    Args:
        name: the file name to begin with.
        write: writes.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave", show=False)]

    DEFAULT_CSS = """
    ExportScreen { align: center middle; }
    ExportScreen > Vertical {
        width: 76; max-width: 100%; height: auto; max-height: 100%; background: $surface; border: round $primary;
        padding: 0 1;
    }
    ExportScreen .heading { width: 100%; text-style: bold; }
    ExportScreen .hint { width: 100%; color: $text-muted; }
    ExportScreen Static { height: auto; max-height: 6; }
    ExportScreen Static.-bad { color: $text-error; }
    ExportScreen Static.-warn { color: $text-warning; text-style: bold; }
    """

    def __init__(self, name: str, write: Write) -> None:
        super().__init__()
        self._name, self._write = name, write
        self._agreed = ""
        self._writing: Worker[None] | None = None

    def compose(self) -> ComposeResult:
        """A line for the file name."""
        with Vertical():
            yield Label(
                "Write the graph to (.svg, .dot, .json, .txt; .sqlite: all tables)", classes="heading", markup=False
            )
            line = TypedLine(self._name, compact=True)  # selected: what is typed replaces the name, and End keeps it
            line.cursor_blink = False
            yield line
            yield Static("", markup=False, id="export-said")
            yield Label(HINT, classes="hint", markup=False)

    def on_mount(self) -> None:
        """Type at once."""
        self.query_one(Input).focus()

    def on_input_changed(self) -> None:
        """Another name: the old answer does not count for it."""
        self._agreed = ""

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        """Write, or ask before an old file is replaced."""
        event.stop()
        if self._writing is not None or not self.is_on_top:
            return
        if not event.value.strip():
            self._say("name a file; its suffix says the format", "-bad")
            return
        path = os.path.abspath(os.path.expanduser(event.value.strip()))
        if os.path.lexists(path) and self._agreed != path:
            if objection := _objection(path):
                self._say(objection, "-bad")
                return
            self._agreed = path
            self._say(f"{path} exists. Enter again replaces it.", "-warn")
            return
        self._say("writing …   Esc cancels", "")
        event.input.disabled = True  # what is typed meanwhile is no part of the name
        # a function, since a coroutine would never be awaited where the screen is left before it begins
        self._writing = self.run_worker(partial(self._export, path), exit_on_error=False)

    def show_work(self, work: Work | None) -> None:
        """How far the hub is."""
        if self._writing is not None and work is not None:
            self._say(f"{work.words}   Esc cancels", "")

    def action_leave(self) -> None:
        """Leave, and write no more."""
        if self._writing is None:
            self.dismiss()
            return
        self._writing.cancel()
        self.dismiss("cancelled: nothing was written")

    async def _export(self, path: str) -> None:
        try:
            said = await self._write(path, self._agreed == path)
        except (InputError, *FAILURES) as error:
            self._writing = None
            if self.is_on_top:
                self._say(reason_of(error), "-bad")
                line = self.query_one(Input)
                line.disabled = False
                line.select_on_focus = False  # a name that was typed is mended
                line.focus()
        else:
            self.dismiss(said)

    def _say(self, text: str, kind: str) -> None:
        static = self.query_one("#export-said", Static)
        static.remove_class("-bad", "-warn")
        if kind:
            static.add_class(kind)
        static.update(Text("\n".join(map(safe, text.split("\n")))))

    @property
    def said(self) -> str:
        """What is said about the name."""
        return str(self.query_one("#export-said", Static).content)


def _objection(path: str) -> str:
    """Why what is there is not replaced; "" when it is."""
    try:
        Destination(path).check()
    except InputError as error:
        return str(error).removeprefix("-o ")
    return ""

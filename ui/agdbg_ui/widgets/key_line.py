"""The last line of the screen: the keys used most, of those that do something now; or what the hub works at."""

from textual import events
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from agdbg_ui.keymap import DO, KEYS, Key, footer, footer_width
from agdbg_ui.text import Pieces
from agdbg_ui.themes import ASIDE
from agdbg_ui.view import View
from agdbg_ui.widgets.painting import paint
from agdbg_ui.widgets.program_input import ProgramInput
from agdbg_ui.widgets.title_line import TitleLine
from agdbg_ui.work import Work

_KEY = "bold $text-accent"
#: They are about what comes.
_OF_A_RUN = ("step('continue')", "breakpoint")
#: While a line for the program is typed; `action` is one of the input line.
TYPING = [
    Key("enter", "Enter", "submit", "send", 0, DO, "send the line"),
    Key("escape", "Esc", "leave", "close", 0, DO, "close the line"),
    Key("ctrl+c", "^C", "send('\\x03')", "interrupt", 1, DO, "interrupt the program"),
    Key("ctrl+d", "^D", "send('\\x04')", "end of input", 2, DO, "end the program's input"),
    Key("up,down", "↑ ↓", "recall(-1)", "history", 3, DO, "earlier and later lines"),
]
_TYPE_IN = next(key for key in KEYS if key.action == "type_in")._replace(label="input", rank=7)


def keys_of(view: View, room: int) -> list[Key]:
    """The keys that do something now and fit into `room` cells; those with the highest rank go first."""
    return footer([key for key in _candidates(view) if _works(key, view)], room)


def _candidates(view: View) -> list[Key]:
    """Typing is offered where the program runs and may wait for it."""
    runs = view.alive and view.stop is None
    return [_TYPE_IN if key.action == "type_in" and runs else key for key in KEYS]


def _works(key: Key, view: View) -> bool:
    if not key.label:
        return False
    if view.life == "ended" and view.stop is None and key.action in _OF_A_RUN:
        return False  # nothing can come to them any more; at a place in the recording they are of use again
    if key.action.startswith("step("):
        return view.stop is not None or view.life in ("ended", "trace")
    if key.action == "pause":
        return view.life == "running"
    return view.life != "lost" or key.action in ("explain", "help", "quit")


class KeyLine(Widget):
    """As many keys as there is room for; a click on one does what it does."""

    DEFAULT_CSS = """
    KeyLine { height: 1; background: $panel; color: $foreground; }
    """

    view: reactive[View] = reactive(View)
    typing: reactive[bool] = reactive(False)
    is_free: reactive[bool] = reactive(True)
    """No line is typed into, which Esc would close first."""
    work: reactive[Work | None] = reactive(None)

    def on_mount(self) -> None:
        """Follow the state of the program, and which widget has the keys."""
        self.watch(self.screen.query_one(TitleLine), "view", self._on_view)
        self.watch(self.screen, "focused", self._on_focused)

    def _on_view(self, view: View) -> None:
        self.view = view

    def _on_focused(self, focused: Widget | None) -> None:
        self.typing, self.is_free = isinstance(focused, ProgramInput), not isinstance(focused, Input)

    @property
    def keys(self) -> list[Key]:
        """What is shown."""
        return footer([*TYPING], self.size.width) if self.typing else keys_of(self.view, self.size.width)

    def render_line(self, y: int) -> Strip:
        """The line."""
        if self.work is not None:
            return paint(self, self.work.pieces(self.is_free), self.size.width)
        pieces: Pieces = []
        for key in self.keys:
            pieces += [(f" {key.shown} ", _KEY), (f"{key.label} ", ASIDE)]
        return paint(self, pieces, self.size.width)

    async def on_click(self, event: events.Click) -> None:
        """Do what the key does, or cancel what is worked at."""
        if self.work is not None:
            await self.app.run_action("leave")
            return
        at = 0
        for key in self.keys:
            at += footer_width(key)
            if event.x < at:
                await self.app.run_action(key.action, self.screen.focused if self.typing else None)
                return

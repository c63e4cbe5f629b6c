"""A line to type into above the keys: search, evaluate, break on a name, set a gradient."""

import asyncio
from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Label, Static

from agdbg.counted import counted
from agdbg_ui.text import expand, safe, wrap_hanging
from agdbg_ui.widgets.typed_line import TypedLine, make_compact

_ANSWER_LINES = 8
_ANSWER_CHARACTERS = 20_000


class PromptLine(TypedLine):
    """Where one types; Enter calls `take` at once, before the next key is taken.

    Attributes:
        opener: the key that opens a line of its kind, which does nothing at the beginning of one that is open already.
    """

    def __init__(self, take: Callable[[str], object]) -> None:
        super().__init__(select_on_focus=True)
        make_compact(self)
        self.cursor_blink = False
        self.opener = ""
        self._take = take

    async def _on_key(self, event: events.Key) -> None:
        if event.character == self.opener and not self.value:
            event.stop()
            event.prevent_default()

    async def action_submit(self) -> None:
        """The line is entered."""
        self._take(self.value)


class Prompt(Vertical):
    """Asks for a line of text, shows answers above the line, and remembers lines by kind.

    After Enter a line to evaluate is empty again, and one to search for is selected, so that typing replaces it when
    nothing is found; a line that is entered once (a breakpoint, a gradient) is closed, and whoever finds fault with it
    opens it anew.

    Attributes:
        kind: of the line that is asked for, or was last.
        opened: how often it was opened: an answer may come when it is open anew.
        entered: how many lines were entered.
        on_close: called when it is gone, to give the keys to another widget.

    | Key | Does |
    | --- | --- |
    | enter | `Prompt.Entered` |
    | up, down | `Prompt.Arrow` in a search; else earlier and later lines |
    | tab | completes a command |
    | page up, page down | scroll a long answer |
    | escape | closes |
    """

    DEFAULT_CSS = """
    Prompt {
        display: none;
        height: auto;
        background: $boost;
        & > Static { height: auto; max-height: 8; padding: 0 1; display: none; }
        & > Static.-shown { display: block; }
        & > Static.-bad { color: $text-error; }
        & > Horizontal { height: 1; }
        & > Horizontal > Label { width: auto; padding: 0 1; color: $text-accent; text-style: bold; }
        & > Horizontal > Input { width: 1fr; height: 1; border: none; padding: 0; background: $boost; }
        & > Horizontal > Input:focus { border: none; }
    }
    Prompt.-open { display: block; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close", show=False),
        Binding("up", "arrow(-1)", "Before", show=False),
        Binding("down", "arrow(1)", "After", show=False),
        Binding("pageup", "scroll(-1)", "Scroll up", show=False),
        Binding("pagedown", "scroll(1)", "Scroll down", show=False),
        Binding("tab", "complete", "Complete", show=False),
    ]

    class Entered(Message):
        """A line was entered, the `number`-th of all."""

        def __init__(self, kind: str, text: str, number: int) -> None:
            super().__init__()
            self.kind, self.text, self.number = kind, text, number

    class Arrow(Message):
        """Up or down in a search: by is -1 or 1."""

        def __init__(self, text: str, by: int) -> None:
            super().__init__()
            self.text, self.by = text, by

    class Incomplete(Message):
        """The line of the console is to be completed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.kind = ""
        self._history: dict[str, list[str]] = {}
        self._at = self.opened = self.entered = self._answer_from = 0
        self._answer: list[str] = [""]
        self._is_long = False
        self.on_close: Callable[[], object] = lambda: None

    def compose(self) -> ComposeResult:
        """Answers above the line."""
        yield Static("", markup=False)
        with Horizontal():
            yield Label("", markup=False)
            yield PromptLine(self._enter)

    @property
    def line(self) -> PromptLine:
        """Where one types."""
        return self.query_one(PromptLine)

    def open(self, kind: str, label: str, text: str = "", hint: str = "", selected: bool = True) -> None:
        """Ask for a line; `text` is there to begin with, `hint` while there is none.

        What is there is `selected`, so that typing replaces it, or is gone on with, as in the console always.
        """
        selected = selected and kind != "console"
        self.kind = kind
        self.opened += 1
        self.query_one(Label).update(Text(safe(label)))
        self._at = len(self._history.get(kind, []))
        self.line.placeholder, self.line.opener = hint, ":" if kind == "console" else ""
        self.line.value = text
        self.answer("")
        self.add_class("-open")
        self.line.select_on_focus = selected
        self.screen.set_focus(self.line)  # now: the next key may be there already
        self.line.cursor_position = len(text)
        if selected:
            self.line.select_all()

    def last(self, kind: str) -> str:
        """The line of a kind that was entered last."""
        return (self._history.get(kind) or [""])[-1]

    def answer(self, text: str, bad: bool = False) -> None:
        """Show what came of it; "" shows nothing."""
        self._answer, self._answer_from = [safe(line) for line in expand(text[:_ANSWER_CHARACTERS]).split("\n")], 0
        self.query_one(Static).set_class(bool(text), "-shown").set_class(bad, "-bad")
        self._show_answer()

    def _show_answer(self) -> None:
        """The answer, or so much of it as there are lines for, and how one sees the rest."""
        width = max(self.app.size.width - 2, 20)
        lines = [part for line in self._answer for part in wrap_hanging(line, width)]
        self._is_long = len(lines) > _ANSWER_LINES
        if self._is_long:
            room = _ANSWER_LINES - 1
            self._answer_from = start = max(min(self._answer_from, len(lines) - room), 0)
            more = counted(len(lines) - start - room, "more line") if start + room < len(lines) else "the end"
            lines = [*lines[start : start + room], f"… {more}; PgUp PgDn scroll, 8 has all that was said"]
        self.query_one(Static).update(Text("\n".join(lines)))

    def on_resize(self) -> None:
        """Wrap anew."""
        self._show_answer()

    def action_scroll(self, by: int) -> None:
        """More of a long answer."""
        self._answer_from += by * (_ANSWER_LINES - 1)
        self._show_answer()

    def asks_for(self, kind: str) -> bool:
        """Whether it is open for a line of that kind."""
        return self.kind == kind and self.has_class("-open")

    async def goes_on(self, number: int) -> bool:
        """Whether something was typed behind the line with that number, also what is on its way while this is asked."""
        typed = asyncio.Event()
        self.line.call_later(typed.set)  # behind the keys that it was given already
        await typed.wait()
        return self.entered > number or bool(self.line.value)

    def take_keys(self) -> None:
        """What is typed is for the line again."""
        if self.has_class("-open") and self.screen.is_current:
            self.screen.set_focus(self.line)

    @property
    def answered(self) -> str:
        """The answer that is shown: as it was said, or of a long one the lines that are seen."""
        static = self.query_one(Static)
        shown = str(static.content) if self._is_long else "\n".join(self._answer)
        return shown if static.has_class("-shown") else ""

    def close(self) -> None:
        """Go away."""
        if self.has_class("-open"):
            self.remove_class("-open")
            self.screen.set_focus(None)
            self.on_close()  # no message, which would come when the next keys have done something else already

    def action_complete(self) -> None:
        """Complete a command; in other lines there is nothing to complete."""
        if self.kind == "console":
            self.post_message(self.Incomplete(self.line.value))

    def complete(self, old: str, new: str) -> None:
        """The line `old` goes on as `new`, unless something else was typed meanwhile."""
        if self.line.value == old:
            self.line.value = new
            self.line.cursor_position = len(new)

    def action_close(self) -> None:
        """Go away."""
        self.close()

    def _enter(self, text: str) -> None:
        """Pass on a line and remember it."""
        if text.strip():
            lines = self._history.setdefault(self.kind, [])
            if lines[-1:] != [text]:
                lines.append(text)
            self._at = len(lines)
            self.entered += 1
            self.post_message(self.Entered(self.kind, text, self.entered))
            self._make_ready()

    def _make_ready(self) -> None:
        """Nothing is appended to a line that was entered."""
        if self.kind == "console":
            self.line.value = ""
        elif self.kind == "find":
            self.line.select_all()
        else:
            self.close()

    def action_arrow(self, by: int) -> None:
        """The match before or after; or earlier and later lines."""
        if self.kind == "find":
            if self.line.value.strip():
                self.post_message(self.Arrow(self.line.value, by))
            return
        lines = self._history.get(self.kind, [])
        self._at = max(0, min(self._at + by, len(lines)))
        self.line.value = lines[self._at] if self._at < len(lines) else ""
        self.line.cursor_position = len(self.line.value)

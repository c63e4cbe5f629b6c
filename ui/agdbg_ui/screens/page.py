"""A page of text over the main screen, as high as it needs, that scrolls."""

from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Label, Static

from agdbg_ui.screens.modal import Modal
from agdbg_ui.screens.wrapping import fitted
from agdbg_ui.text import safe

HINT = "↑ ↓ PgUp PgDn scroll   Esc closes"


class Page(Modal[None]):
    """Text under a heading; text that is more than words is made for a width.

    | Key | Does |
    | --- | --- |
    | up, down, page up, page down, home, end, space | scroll |
    | escape, q, enter | close |
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss", "Close", show=False),
        Binding("space", "page_down", "Page down", show=False),
    ]

    DEFAULT_CSS = """
    Page { align: center middle; }
    Page > Vertical { width: 100%; max-width: 100; height: 100%; background: $surface; border: round $primary; }
    Page > Vertical > .heading { width: 100%; height: 1; padding: 0 1; text-style: bold; background: $panel; }
    Page > Vertical > .hint { width: 100%; height: 1; padding: 0 1; color: $text-muted; }
    Page > Vertical > VerticalScroll { height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    Page > Vertical > VerticalScroll > Static { height: auto; }
    """

    def __init__(self, heading: str, text: str | Callable[[int], Text]) -> None:
        super().__init__()
        self._heading = safe(heading)
        self._text = text

    def compose(self) -> ComposeResult:
        """Heading, text and how to leave."""
        with Vertical():
            yield Label(self._heading, classes="heading", markup=False)
            with VerticalScroll():
                yield Static("", markup=False, id="page-text")
            yield Label(HINT, classes="hint", markup=False)

    def on_mount(self) -> None:
        """Keys scroll."""
        self.query_one(VerticalScroll).focus()

    def action_page_down(self) -> None:
        """Scroll on."""
        self.query_one(VerticalScroll).scroll_page_down(animate=False)

    def on_resize(self) -> None:
        """Fit the text to the width."""
        self.call_after_refresh(self._fill)

    def _fill(self) -> None:
        text = self._text
        width = self.query_one(VerticalScroll).scrollable_content_region.width
        self.query_one("#page-text", Static).update(Text(fitted(text, width)) if isinstance(text, str) else text(width))

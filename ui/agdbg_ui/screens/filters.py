"""Which errors the program stops at, with a mark at those that are on."""

from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Label, OptionList, Static
from textual.widgets.option_list import Option

from agdbg_ui.backend import FAILURES
from agdbg_ui.filters import Filter, Filters
from agdbg_ui.screens.modal import Modal
from agdbg_ui.screens.wrapping import beside
from agdbg_ui.text import reason_of, safe

HINT = "Space switches on and off   Esc closes"
#: Rows around the list: the border, the heading, a line for what went wrong, and the hint.
_AROUND = 5
ON, OFF = "[✓]", "[ ]"


class FiltersScreen(Modal[None]):
    """The filters of errors as a list.

    | Key | Does |
    | --- | --- |
    | space, enter | switches the selected one on or off |
    | escape, q, E | close |
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,E", "dismiss", "Close", show=False),
        Binding("space", "switch", "On or off", show=False),
    ]

    DEFAULT_CSS = """
    FiltersScreen { align: center middle; }
    FiltersScreen > Vertical {
        width: 72; max-width: 100%; height: auto; max-height: 100%; background: $surface; border: round $primary;
        padding: 0 1;
    }
    FiltersScreen .heading { width: 100%; text-style: bold; }
    FiltersScreen .hint { width: 100%; color: $text-muted; }
    FiltersScreen OptionList { height: auto; border: none; padding: 0; background: $surface; }
    FiltersScreen Static { height: auto; max-height: 6; color: $text-error; }
    """

    def __init__(self, filters: Filters) -> None:
        super().__init__()
        self._filters = filters

    def compose(self) -> ComposeResult:
        """A line for each filter, and one below it that says what it does."""
        with Vertical():
            yield Label("Stop at these errors", classes="heading", markup=False)
            yield OptionList(*map(self._option, self._filters.known), markup=False, compact=True)
            yield Static("", markup=False)
            yield Label(HINT, classes="hint", markup=False)

    def on_mount(self) -> None:
        """Arrows choose."""
        self.query_one(OptionList).focus()

    def on_resize(self) -> None:
        """The list scrolls where it has not the room for all, so that the line below it is always seen."""
        self.query_one(OptionList).styles.max_height = max(1, self.size.height - _AROUND)

    def action_switch(self) -> None:
        """Space."""
        self.query_one(OptionList).action_select()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Space, Enter, or a click."""
        event.stop()
        self.app.run_worker(self._toggle(str(event.option.id)))  # the app's, so that it outlives this screen

    async def _toggle(self, filter_id: str) -> None:
        problem = note = ""
        try:
            note = await self._filters.toggle(filter_id)
        except FAILURES as error:
            problem = reason_of(error)
        if self.is_on_top:
            self._show(problem or note)
        elif problem:
            self.app.notify(safe(problem), severity="error", markup=False)

    def _show(self, problem: str) -> None:
        self.query_one(Static).update(Text(safe(problem)))
        options = self.query_one(OptionList)
        for each in self._filters.known:
            options.replace_option_prompt(each.id, self._line(each))

    def _option(self, each: Filter) -> Option:
        return Option(self._line(each), id=each.id)

    def _line(self, each: Filter) -> Table:
        mark = ON if each.id in self._filters.on else OFF
        aside = f"{safe(each.id)}: {safe(each.description)}" if each.description else safe(each.id)
        return beside(mark, Text.assemble(safe(each.label), "\n", (aside, "dim")))

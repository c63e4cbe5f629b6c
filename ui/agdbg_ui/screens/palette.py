"""The command palette as a screen that is left once."""

from textual import on
from textual.command import CommandPalette
from textual.widgets import Input, OptionList

from agdbg_ui.screens.modal import Modal


class Palette(CommandPalette, Modal[None]):
    """Textual's palette, which for a second key that leaves it would take away the screen below as well."""

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def _choose_once(self, event: Input.Submitted | OptionList.OptionSelected) -> None:
        """What was chosen is done once, however often Enter was pressed."""
        if not self.is_on_top:
            event.stop()
            event.prevent_default()

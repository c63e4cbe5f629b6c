"""The command palette as a screen that is left once."""

from textual import on
from textual.command import CommandPalette
from textual.widgets import Input, OptionList

from agdbg_ui.screens.modal import Modal


class Palette(CommandPalette, Modal[None]):
    """Textual's palette, which for a second key that leaves it would take away the screen below as well.

    Its list keeps the place of the scroll bar free: Textual measures commands when they come, and does not do so again when that
    bar comes and leaves them less room, so that the last words of some were cut off.
    """

    DEFAULT_CSS = """
    Palette CommandList { scrollbar-gutter: stable; }
    """

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def _choose_once(self, event: Input.Submitted | OptionList.OptionSelected) -> None:
        """What was chosen is done once, however often Enter was pressed."""
        if not self.is_on_top:
            event.stop()
            event.prevent_default()

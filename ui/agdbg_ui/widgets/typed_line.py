"""A line to type into that takes keys in the order in which they were pressed."""

from textual import events
from textual.screen import Screen
from textual.widgets import Input


def make_compact(line: Input) -> None:
    """Take the borders of a line that is not mounted yet; by its argument for that Textual would look for its styles at once."""
    line.set_reactive(Input.compact, True)
    line.add_class("-textual-compact", update=False)


class TypedLine(Input):
    """An input in which Enter, the arrows and Backspace wait for no key that was pressed after them.

    Textual puts letters into the line when they come to it, but sends every other key up to the app, which looks for what it
    means: of what is typed without a pause the letters of the next line would be in this one when it is entered.
    """

    async def _on_key(self, event: events.Key) -> None:
        if event.is_printable:
            return
        for node in self.ancestors_with_self:
            if isinstance(node, Screen):
                return
            for binding in node._bindings.key_to_bindings.get(event.key, ()):
                if await self.app.run_action(binding.action, node):
                    event.stop()
                    event.prevent_default()
                    return

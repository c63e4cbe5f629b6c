"""The command palette: every key by what it does, colours by their names, and the commands of the console."""

from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.command import DiscoveryHit, Hit, Provider

from agdbg_ui.commands import console_commands, key_commands

if TYPE_CHECKING:
    from agdbg_ui.app import AgdbgApp


class Offer(NamedTuple):
    """A line of the palette: `words` are the command, with its key or what follows it, and `run` is what choosing does."""

    words: str
    help: str
    run: Callable[[], Any]


class KeyCommands(Provider):
    """What the keys do, with the keys and the words of the console for it; then the console's other commands.

    Those take words of their own, so choosing one opens the line to type them into.
    """

    async def discover(self) -> AsyncIterator[DiscoveryHit]:
        """All of them."""
        for offer in self._offered():
            yield DiscoveryHit(offer.words, offer.run, help=offer.help)

    async def search(self, query: str) -> AsyncIterator[Hit]:
        """Those that fit."""
        matcher = self.matcher(query)
        for offer in self._offered():
            text = f"{offer.words}  {offer.help}"
            if (score := matcher.match(text)) > 0:
                yield Hit(score, matcher.highlight(text), offer.run, text=offer.words)

    def _offered(self) -> list[Offer]:
        app: AgdbgApp = self.app  # type: ignore[assignment]  # a provider knows only that it belongs to some app
        keys = [
            Offer(
                f"{key.command}  ({key.shown})" if key.shown else key.command,
                key.help,
                partial(app.run_action, key.action),
            )
            for key in key_commands().values()
            if key.action != "command_palette"
        ]
        typed = [
            Offer(each.usage, each.summary, partial(app.prompts.open, "console", f"{each.name} "))
            for each in console_commands()
        ]
        return [*keys, *typed]

"""The command palette: every key by what it does, and colours by their names."""

from collections.abc import AsyncIterator
from functools import partial

from textual.command import DiscoveryHit, Hit, Provider

from agdbg_ui.commands import key_commands
from agdbg_ui.keymap import Key


class KeyCommands(Provider):
    """What the keys do, with the keys and the words of the console for it."""

    async def discover(self) -> AsyncIterator[DiscoveryHit]:
        """All of them."""
        for key in _offered():
            yield DiscoveryHit(_words(key), partial(self.app.run_action, key.action), help=key.help)

    async def search(self, query: str) -> AsyncIterator[Hit]:
        """Those that fit."""
        matcher = self.matcher(query)
        for key in _offered():
            text = f"{_words(key)}  {key.help}"
            if (score := matcher.match(text)) > 0:
                run = partial(self.app.run_action, key.action)
                yield Hit(score, matcher.highlight(text), run, text=_words(key))


def _offered() -> list[Key]:
    return [key for key in key_commands().values() if key.action != "command_palette"]


def _words(key: Key) -> str:
    return f"{key.command}  ({key.shown})" if key.shown else key.command

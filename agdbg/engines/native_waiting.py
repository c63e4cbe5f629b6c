"""Breakpoints on names that nothing is called by so far: the hub is told of them, and again when something is."""

from collections.abc import Callable, Iterable
from typing import Any

from agdbg.agent.control import Settings
from agdbg.breakpoints import node_number

_WHY = (
    "nothing that was built or ran so far is called so: no op, no parameter or variable that is a leaf, "
    "no module that builds nodes itself; it waits"
)


class Waiting:
    """Which breakpoints on names have met something that is called so.

    Args:
        tell: sends a message to the hub from the running thread.
    """

    def __init__(self, tell: Callable[[dict[str, Any]], object]) -> None:
        self._tell = tell
        self._names: dict[int, str] = {}
        self._met: set[tuple[int, str]] = set()
        self._told: set[tuple[int, str]] = set()

    def take(self, settings: Settings) -> None:
        """These are the breakpoints now; those that stay as they are keep what is known of them."""
        self._names = {each.id: each.name for each in settings.functions if not node_number(each.name)}
        self._met &= set(self._names.items())
        self._told &= set(self._names.items())

    def met(self, numbers: Iterable[int]) -> None:
        """A node that is built or will run is called as these breakpoints say."""
        for each in {(number, self._names[number]) for number in numbers if number in self._names} - self._met:
            self._met.add(each)
            if each in self._told:
                self._told.discard(each)
                self._tell({"unmet": {"breakpoint": each[0], "text": ""}})

    def pass_over(self) -> None:
        """A pass has ended: what has met nothing until now says so, once."""
        for each in set(self._names.items()) - self._met - self._told:
            self._told.add(each)
            self._tell({"unmet": {"breakpoint": each[0], "text": _WHY}})

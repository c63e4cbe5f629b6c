"""Breakpoints on names and lines, and watches by name, that nothing has met so far: the hub is told, and again once it has."""

from collections.abc import Callable, Iterable
from typing import Any

from agdbg.agent.control import Settings
from agdbg.breakpoints import node_number

_NO_NAME = (
    "nothing that was built or ran so far is called so: no op, no parameter or variable that is a leaf, "
    "no module that builds nodes itself; it waits"
)
_WATCHED = "watch"
_NO_MEMORY = (
    "no parameter or buffer of a model that was used so far is called so; it waits. A variable of the program is watched by name "
    "where the program stands"
)
_NO_LINE = {
    "forward": "no node was built on this line so far; what it calls builds nodes on lines of its own; it waits",
    "backward": "no node of this line has run so far, and it has started no pass; it waits",
    "both": "no node of this line was met so far, and it has started no pass; what it calls builds nodes on lines of its own; "
    "it waits",
}

Place = tuple[str, int, str]
"""A name and 0, or a file and a line; and when it stops."""


class Waiting:
    """Which breakpoints on names and lines have met something.

    Args:
        tell: sends a message to the hub from the running thread.
        is_in_pass: says whether the running thread is in the middle of a pass.
        is_memory: says whether memory that can be watched is called so.
    """

    def __init__(
        self,
        tell: Callable[[dict[str, Any]], object],
        is_in_pass: Callable[[], bool],
        is_memory: Callable[[str], bool],
    ) -> None:
        self._tell, self._is_in_pass, self._is_memory = tell, is_in_pass, is_memory
        self._places: dict[int, Place] = {}
        self._met: set[tuple[int, Place]] = set()
        self._told: set[tuple[int, Place]] = set()
        self._late: set[tuple[int, Place]] = set()
        """Those that were set in the middle of a pass: what is before them is not known."""

    def take(self, settings: Settings) -> None:
        """These are the breakpoints now; those that stay as they are keep what is known of them."""
        before = set(self._places.items())
        self._places = {each.id: (each.name, 0, each.when) for each in settings.functions if not node_number(each.name)}
        self._places |= {each.id: (each.file, each.line, each.when) for each in settings.sources}
        self._places |= {each.id: (each.name, 0, _WATCHED) for each in settings.watches if each.name}
        there = set(self._places.items())
        self._met &= there
        self._told &= there
        self._late &= there
        self._late |= there - before if self._is_in_pass() else set()

    def met(self, numbers: Iterable[int]) -> None:
        """A node that is built or will run is called as these breakpoints say, or is of their line."""
        for each in {(number, self._places[number]) for number in numbers if number in self._places} - self._met:
            self._met.add(each)
            if each in self._told:
                self._told.discard(each)
                self._tell({"unmet": {"breakpoint": each[0], "text": ""}})

    def pass_over(self) -> None:
        """A pass has ended: what has met nothing until now says so, once."""
        left = set(self._places.items()) - self._met
        self.met(number for number, (name, _, when) in left if when == _WATCHED and self._is_memory(name))
        for each in sorted(left - self._met - self._told - self._late):
            self._told.add(each)
            _, line, when = each[1]
            text = _NO_MEMORY if when == _WATCHED else _NO_LINE[when] if line else _NO_NAME
            self._tell({"unmet": {"breakpoint": each[0], "text": text}})
        self._late = set()

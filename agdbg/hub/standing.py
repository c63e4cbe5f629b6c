"""Telling the hubs of other ranks whether the program stands: whoever looks for the rank that hangs reads it in their list."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from agdbg.hub.place import Runtime

if TYPE_CHECKING:
    from agdbg.hub.loop import Loop, Timer

#: Seconds that are waited, so that quick steps write no file each.
SETTLED_S = 0.2


class Standing:
    """Keeps ``stopped`` in ``hub.json`` as it is.

    Args:
        loop: that of the hub.
        runtime: where ``hub.json`` is.
        stands: whether a thread of the program is stopped.
    """

    def __init__(self, loop: "Loop", runtime: Runtime, stands: Callable[[], bool]) -> None:
        self._loop, self._runtime, self._stands = loop, runtime, stands
        self._timer: Timer | None = None
        self._told = False

    def changed(self) -> None:
        """A thread has stopped or goes on."""
        if self._timer is None:
            self._timer = self._loop.after(SETTLED_S, self._tell)

    def _tell(self) -> None:
        self._timer = None
        if self._stands() != self._told:
            self._told = not self._told
            self._runtime.describe(stopped=self._told)

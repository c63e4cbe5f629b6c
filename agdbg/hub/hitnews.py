"""What the program says of its breakpoints: log messages, conditions that failed, temporary ones that were hit."""

from collections.abc import Callable, Iterable
from typing import Any
from weakref import WeakKeyDictionary

from agdbg.hub.breakpoints import Breakpoints
from agdbg.hub.breaktelling import BreakTelling
from agdbg.hub.connection import CLOGGED, Connection
from agdbg.protocol.messages import event

Body = dict[str, Any]


class HitNews:
    """Passes it on to the clients.

    Args:
        breakpoints: those that there are.
        telling: tells of changed ones.
        clients: gives those that are told what happens.
    """

    def __init__(
        self, breakpoints: Breakpoints, telling: BreakTelling, clients: Callable[[], Iterable[Connection]]
    ) -> None:
        self._breakpoints, self._telling, self._clients = breakpoints, telling, clients
        self._missed: WeakKeyDictionary[Connection, int] = WeakKeyDictionary()

    def hit(self, numbers: list[int]) -> None:
        """A thread has stopped at these."""
        if numbers and self._breakpoints.spend(numbers):
            self._telling.changed(self._clients())

    def broken(self, value: Any) -> None:
        """The condition of a breakpoint has failed for the first time."""
        if isinstance(value, dict) and isinstance(value.get("breakpoint"), int):
            self._breakpoints.fail(value["breakpoint"], str(value.get("text", "")))
            self._telling.changed(self._clients())

    def unmet(self, value: Any) -> None:
        """Nothing has met a breakpoint so far, or with an empty text: something has now."""
        if isinstance(value, dict) and isinstance(value.get("breakpoint"), int):
            self._breakpoints.wait(value["breakpoint"], str(value.get("text", "")))
            self._telling.changed(self._clients())

    def log(self, value: Any) -> None:
        """A log message; a client that does not keep up is told later how many it has missed."""
        if not isinstance(value, dict):
            return
        body: Body = {"category": "console", "output": f"{value.get('text', '')}\n"}
        if value.get("file"):
            body |= {"source": {"path": str(value["file"])}, "line": int(value.get("line") or 0)}
        for client in self._clients():
            if client.unsent > CLOGGED:
                self._missed[client] = self._missed.get(client, 0) + 1
                continue
            if missed := self._missed.pop(client, 0):
                text = f"{missed:,} log messages are not shown, since they came faster than they were read\n"
                client.send(event(client.next_seq(), "output", {"category": "console", "output": text}))
            client.send(event(client.next_seq(), "output", body))
        if value.get("spent"):
            self.hit([int(value.get("breakpoint") or 0)])

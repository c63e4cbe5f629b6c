"""Telling clients of breakpoints that another one has set, moved or removed, so that all show the same."""

from collections.abc import Iterable
from typing import Any

from agdbg.hub.breakpoints import Breakpoints
from agdbg.hub.connection import Connection
from agdbg.protocol.messages import event

Body = dict[str, Any]


class BreakTelling:
    """Knows which breakpoints each client knows, and sends it the events ``breakpoint`` for the others.

    Filters of errors have no events in the protocol, and nothing is told of them.
    """

    def __init__(self, breakpoints: Breakpoints) -> None:
        self._breakpoints = breakpoints

    def answered(self, client: Connection, made: list[Body], clients: Iterable[Connection]) -> None:
        """A client has set breakpoints, and knows by the answer what was ``made`` of them; tell the others."""
        now = self._breakpoints.bodies()
        known = {number: body for number, body in client.breakpoints.items() if number in now}
        client.breakpoints = {**known, **{body["id"]: body for body in made}}
        for other in clients:
            if other is not client:
                self._tell(other, now)

    def changed(self, clients: Iterable[Connection]) -> None:
        """Breakpoints are not what they were, by what the program did: tell all clients."""
        now = self._breakpoints.bodies()
        for client in clients:
            self._tell(client, now)

    def welcome(self, client: Connection) -> None:
        """Tell a client that has joined of all that it has not set itself."""
        self._tell(client, self._breakpoints.bodies())

    @staticmethod
    def _tell(client: Connection, now: dict[int, Body]) -> None:
        known, client.breakpoints = client.breakpoints, now
        told = [("removed", body) for number, body in known.items() if number not in now]
        told += [("new", body) for number, body in now.items() if number not in known]
        told += [("changed", body) for number, body in now.items() if known.get(number, body) != body]
        for reason, body in told:
            client.send(event(client.next_seq(), "breakpoint", {"reason": reason, "breakpoint": body}))

"""Which of several clients moves the program: looking is free, but only one of them has its hands on it."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

from agdbg.hub.call import Refused

if TYPE_CHECKING:
    from agdbg.hub.connection import Connection

#: Requests that move the program or the cursor, or change the state of the program.
MOVES = frozenset(
    {
        "next", "stepIn", "stepOut", "stepBack", "continue", "reverseContinue", "pause", "goto", "restart",
        "setVariable", "setExpression",
        "agdbg/skip", "agdbg/retain", "agdbg/goto", "agdbg/until", "agdbg/pdb",
    }
)  # fmt: skip


class Tell(Protocol):
    """Sends an event to one client."""

    def __call__(self, client: "Connection", name: str, body: Any) -> object:
        """Send it."""


class InControl:
    """The client that asked for a move last has control; another one may take it, but has to say so.

    Args:
        tell: tells one client of a change.
        clients: those that there are.

    Attributes:
        holder: who has control; None: whoever moves next.
    """

    def __init__(self, tell: Tell, clients: Callable[[], Iterable["Connection"]]) -> None:
        self.holder: Connection | None = None
        self._tell, self._clients = tell, clients

    def claim(self, client: "Connection", command: str) -> None:
        """A client wants to move the program.

        Raises:
            Refused: another one has control.
        """
        if self.holder is None:
            self.take(client)
        elif self.holder is not client:
            raise Refused(
                f"{command}: {self.holder.name} has control, since it moved the program last; "
                "agdbg/control {take: true} takes it over",
                "control",
            )

    def take(self, client: "Connection") -> None:
        """Give control to a client; the others are told."""
        if self.holder is not client:
            self._change(client, client)

    def release(self, client: "Connection") -> None:
        """Whoever moves next may have control, when it was this client's."""
        if self.holder is client:
            self._change(None, client)

    def _change(self, holder: "Connection | None", by: "Connection") -> None:
        former, self.holder = self.holder, holder
        name = "" if holder is None else holder.name
        for each in self._clients():
            if each is not by:
                self._tell(each, "agdbg/controlChanged", {"holder": name, "lost": each is former})

    def body(self, client: "Connection") -> dict[str, Any]:
        """Who has control, as a client is told."""
        return {"has": self.holder is client, "holder": "" if self.holder is None else self.holder.name}

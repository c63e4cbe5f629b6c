"""Which of several clients moves the program: looking is free, but only one of them has its hands on it."""

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

    Attributes:
        holder: who has control; None: whoever moves next.
    """

    def __init__(self, tell: Tell) -> None:
        self.holder: Connection | None = None
        self._tell = tell

    def claim(self, client: "Connection", command: str) -> None:
        """A client wants to move the program.

        Raises:
            Refused: another one has control.
        """
        if self.holder is None:
            self.holder = client
        elif self.holder is not client:
            raise Refused(
                f"{command}: {self.holder.name} has control, since it moved the program last; "
                "agdbg/control {take: true} takes it over",
                "control",
            )

    def take(self, client: "Connection") -> None:
        """Give control to a client; who had it is told."""
        former, self.holder = self.holder, client
        if former is not None and former is not client:
            self._tell(former, "agdbg/controlTaken", {"holder": client.name})

    def release(self, client: "Connection") -> None:
        """Whoever moves next may have control, when it was this client's."""
        if self.holder is client:
            self.holder = None

    def body(self, client: "Connection") -> dict[str, Any]:
        """Who has control, as a client is told."""
        return {"has": self.holder is client, "holder": "" if self.holder is None else self.holder.name}

"""The read-only cursor: where a client stands in the recording, when that is not where the program stands."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agdbg.hub.history import History
    from agdbg.hub.replay import Position, Replay

#: By the name of a request: what the cursor does.
MOVES = {
    "next": "next",
    "stepIn": "next",
    "stepOut": "out",
    "stepBack": "back",
    "continue": "forward_to_end",
    "reverseContinue": "reverse",
}


class Cursor:
    """A place in the runs of nodes that the trace tells of.

    Args:
        thread: the thread for which it stands.

    Attributes:
        position: where it is; None: not looked yet. Set in the thread of the loop.
    """

    def __init__(self, thread: int) -> None:
        self.thread = thread
        self.position: Position | None = None
        self._replay: Replay | None = None

    def move(self, history: "History", request: str) -> "Position":
        """Move as a request says; for the thread that reads the trace."""
        replay = self._replay_of(history)
        position: Position = getattr(replay, MOVES[request])()
        return position

    def where(self, history: "History") -> "Position":
        """Where it is; for the thread that reads the trace."""
        return self._replay_of(history).position

    def _replay_of(self, history: "History") -> "Replay":
        if self._replay is None:
            from agdbg.hub.replay import Replay

            self._replay = Replay(history)
        return self._replay

"""The read-only cursor: where a client stands in the recording, when that is not where the program stands."""

from dataclasses import replace
from typing import TYPE_CHECKING

from agdbg.hub.call import Refused

if TYPE_CHECKING:
    from agdbg.hub.history import History
    from agdbg.hub.recorded_stops import RecordedStops
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
_BACKWARDS = ("stepBack", "reverseContinue")
_RUNS = ("continue", "reverseContinue")


class Cursor:
    """A place in the runs of nodes that the trace tells of.

    Args:
        thread: the thread for which it stands.
        at_end: it starts behind all that was recorded, as whoever saw the program end does.

    Attributes:
        position: where it is; None: not looked yet. Set in the thread of the loop.
    """

    def __init__(self, thread: int, at_end: bool = False) -> None:
        self.thread, self._at_end = thread, at_end
        self.position: Position | None = None
        self._replay: Replay | None = None

    def move(
        self, history: "History", request: str, stands: str = "", stops: "RecordedStops | None" = None
    ) -> "Position":
        """Move as a request says, and stay at the end where there is nothing to go on to; for the thread that reads the trace.

        Args:
            history: the trace.
            request: the name of the request.
            stands: where the program stands, in words, as long as the client stands there too.
            stops: the breakpoints, at which ``continue`` and ``reverseContinue`` stop.

        Raises:
            Refused: it is to go back, and nothing lies before.
        """
        replay = self._replay_of(history)
        before = replay.position
        if stops and request in _RUNS:
            position = replay.to_stop(stops, forward=request == "continue")
        else:
            position = getattr(replay, MOVES[request])()
        is_seen = bool(stands) or self.position is not None
        if is_seen and request in _BACKWARDS and position.row == before.row:
            raise Refused(f"no node ran before this, as far as is recorded: {_place(before, stands)}", "beginning")
        if before.at_end and position.at_end and request not in _BACKWARDS:
            said = "nothing has come since" if position.is_growing else "the recording has ended here"
            return replace(position, description=f"{position.description}; {said}")
        return position

    def goto(self, history: "History", row: int) -> "Position":
        """Move to the first run at or behind a record; for the thread that reads the trace."""
        return self._replay_of(history).goto(row)

    def until(self, history: "History", node: int = 0, file: str = "", line: int = 0) -> "Position":
        """Move to the next run of a node, or of one that a line built; for the thread that reads the trace.

        Raises:
            Refused: there is none behind this.
        """
        replay = self._replay_of(history)
        found = replay.until(node, file, line)
        if found is None:
            what = f"node {node}" if node else f"what {file}:{line} built"
            raise Refused(f"{what} does not run behind this place of the recording")
        return found

    def where(self, history: "History") -> "Position":
        """Where it is; for the thread that reads the trace."""
        return self._replay_of(history).position

    def _replay_of(self, history: "History") -> "Replay":
        if self._replay is None:
            from agdbg.hub.replay import Replay

            self._replay = Replay(history, self._at_end)
        return self._replay


def _place(position: "Position", stands: str) -> str:
    """Where there is no way back: the pass and the node."""
    if stands or not position.pass_id:
        return stands or "no node ran"
    return position.description

"""Telling clients that the trace grows: ten times a second at most, and never when nothing can have changed."""

from typing import TYPE_CHECKING

from agdbg.hub.loop import Timer

if TYPE_CHECKING:
    from agdbg.hub.history import History
    from agdbg.hub.session import Session

#: Seconds between two looks.
INTERVAL_S = 0.1
_Size = tuple[int, int]


class Growth:
    """Looks at the trace while the program runs and a client is there, and once after every stop."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._timer: Timer | None = None
        self._told: _Size = (0, 0)

    def begin(self) -> None:
        """The program runs, or a client has come."""
        if self._timer is None and any(self._session.joined):
            self._timer = self._session.loop.after(INTERVAL_S, self._look)

    soon = begin

    def last(self) -> None:
        """The program has ended: look at once."""
        self._peek()

    def _look(self) -> None:
        self._timer = None
        self._peek()

    def _peek(self) -> None:
        if self._session.reading is not None and any(self._session.joined):
            self._session.reading.peek(_size, self._looked)

    def _looked(self, size: _Size | None, error: BaseException | None) -> None:
        if size is not None and size != self._told:
            self._told = size
            self._session.tell("agdbg/grew", {"nodes": size[0], "records": size[1]})
        if self._session.state == "running" and error is None:
            self.begin()


def _size(history: "History | None") -> _Size:
    return (0, 0) if history is None else (history.nodes, history.records)

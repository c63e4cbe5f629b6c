"""Telling clients that the trace grows, or no more: ten times a second at most, and never when nothing can have changed."""

from typing import TYPE_CHECKING

from agdbg.hub.loop import Timer

if TYPE_CHECKING:
    from agdbg.hub.history import History
    from agdbg.hub.reading import Reading
    from agdbg.hub.session import Session
    from agdbg.protocol.vendor import Trouble

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
        reading = self._session.reading
        if reading is None or not any(self._session.joined):
            return

        def looked(found: "tuple[_Size, list[Trouble]] | None", error: BaseException | None) -> None:
            self._looked(reading, found, error)

        reading.peek(lambda history: (_size(history), reading.stopped.look()), looked)
        if not self._session.is_live and not reading.is_examined:
            reading.examine(lambda troubles, error: self._found(reading, troubles))

    def _looked(
        self, reading: "Reading", found: "tuple[_Size, list[Trouble]] | None", error: BaseException | None
    ) -> None:
        if found is not None and found[0] != self._told:
            self._told = found[0]
            self._session.tell("agdbg/grew", {"nodes": self._told[0], "records": self._told[1]})
        if found is not None and self._session.is_live:
            self._found(reading, found[1])
        if self._session.state == "running" and error is None:
            self.begin()

    def _found(self, reading: "Reading", troubles: "list[Trouble] | None") -> None:
        """What is wrong with a recording; None: nobody can tell, and whoever asks for something of it is told why."""
        if troubles is not None and reading is self._session.reading and troubles != self._session.troubles:
            self._session.troubles = troubles
            self._session.tell("agdbg/troubled", {"troubles": troubles})


def _size(history: "History | None") -> _Size:
    return (0, 0) if history is None else (history.nodes, history.records)

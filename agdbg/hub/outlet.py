"""What the program prints, told to clients as it comes; one that does not keep up is told how much it missed, and its end."""

from collections.abc import Callable, Iterable

from agdbg.hub.connection import CLOGGED, Connection
from agdbg.hub.loop import Loop
from agdbg.hub.output import OutputLog, OutputReader
from agdbg.protocol.messages import event

#: Bytes in one event, ...
PIECE = 1 << 16
#: ... and events in one turn of the loop, so that a step does not wait for a program that prints and prints.
_PIECES = 4


class Outlet:
    """Tells clients of the output from where it was begun.

    Args:
        log: the output.
        clients: gives those that are to be told.
    """

    def __init__(self, log: OutputLog, loop: Loop, clients: Callable[[], Iterable[Connection]]) -> None:
        self.log = log
        self._reader = OutputReader(log)
        self._loop = loop
        self._clients = clients
        self._is_going_on = False

    def grew(self) -> None:
        """There may be more."""
        if not self._is_going_on:
            self._go_on()

    def finish(self) -> None:
        """Tell all that there is, now."""
        while self._tell():
            continue

    def part(self) -> None:
        """Nothing comes any more, and another run's output will: tell those who have missed something."""
        for client in self._clients():
            if client.skipped:
                missed, client.skipped = client.skipped, 0
                self._catch_up(client, missed)

    def drained(self, client: Connection) -> None:
        """A client has read nearly all that was sent: tell it what it has missed."""
        if client.skipped and client.unsent < PIECE:
            missed, client.skipped = client.skipped, 0
            self._catch_up(client, missed)

    def _catch_up(self, client: Connection, missed: int) -> None:
        """Tell the end of what a client has missed, which may be the end of all, and how much came before that."""
        end = self._reader.position
        start, text, _ = self.log.text(end - min(missed, PIECE), min(missed, PIECE))
        left_out = missed - (end - start)
        if left_out > 0:
            first, line_end, rest = text.partition("\n")
            if line_end and len(rest) > len(first):
                left_out, text = left_out + len((first + line_end).encode()), rest
            note = f"\n{left_out:,} bytes not shown, they are in {self.log.path}\n"
            client.send(event(client.next_seq(), "output", {"category": "console", "output": note}))
        client.send(event(client.next_seq(), "output", {"category": "stdout", "output": text}))

    def _go_on(self) -> None:
        self._is_going_on = False
        for _ in range(_PIECES):
            if not self._tell():
                return
        self._is_going_on = True
        self._loop.post(self._go_on)

    def _tell(self) -> bool:
        """Tell a piece, or leave out all that there is when nobody can take it; False when there is nothing."""
        clients = list(self._clients())
        if not any(_keeps_up(client) for client in clients):
            return self._leave_out(clients)
        start = self._reader.position
        text = self._reader.read(PIECE)
        if not text:
            return False
        for client in clients:
            if _keeps_up(client):
                body = {"category": "stdout", "output": text}
                client.send(event(client.next_seq(), "output", body))
            else:
                client.skipped += self._reader.position - start
        return True

    def _leave_out(self, clients: list[Connection]) -> bool:
        end = self.log.whole_end
        missed = end - self._reader.position
        if missed > 0:
            self._reader = OutputReader(self.log, end)
            for client in clients:
                client.skipped += missed
        return False


def _keeps_up(client: Connection) -> bool:
    return not client.skipped and client.unsent <= CLOGGED

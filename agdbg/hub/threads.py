"""The threads of the program that the hub has met, and where those stand that have stopped."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agdbg.hub.agents import AgentLink
from agdbg.hub.call import Refused

Stop = dict[str, Any]


@dataclass
class ProgramThread:
    """A thread of the program.

    Attributes:
        number: its ordinal, which is its id in the protocol.
        link: the connection to it; None once it has ended.
        stop: where it stands, as the agent said it; None while it runs.
        is_looked_at: somebody has asked for the values at the stop; one that steps will do so at the next one.
    """

    number: int
    name: str
    link: AgentLink | None = None
    stop: Stop | None = None
    is_looked_at: bool = False


class Threads:
    """All threads, by number.

    Attributes:
        selected: the one that stopped last; 0: none has.
    """

    def __init__(self) -> None:
        self._by_number: dict[int, ProgramThread] = {}
        self.selected = 0

    def __iter__(self) -> Iterator[ProgramThread]:
        return iter(sorted(self._by_number.values(), key=lambda thread: thread.number))

    def of(self, number: int) -> ProgramThread | None:
        """The thread with a number."""
        return self._by_number.get(number)

    def add(self, number: int, name: str, link: AgentLink) -> tuple[ProgramThread, bool]:
        """A thread said hello; the second value is True when it is a new one."""
        thread = self._by_number.get(number)
        if thread is not None:
            thread.name, thread.link, thread.stop = name or thread.name, link, None
            return thread, False
        thread = self._by_number[number] = ProgramThread(number, name or f"thread {number}", link)
        return thread, True

    def lost(self, link: AgentLink) -> ProgramThread | None:
        """A connection is gone; return its thread, when that has no newer one."""
        thread = self._by_number.get(link.thread)
        if thread is None or thread.link is not link:
            return None
        del self._by_number[link.thread]
        thread.link = thread.stop = None
        return thread

    @property
    def stopped(self) -> list[ProgramThread]:
        """Those that stand."""
        return [thread for thread in self._by_number.values() if thread.stop is not None]

    def current(self) -> ProgramThread | None:
        """The one that stopped last, if it still stands, or else any that does."""
        thread = self._by_number.get(self.selected)
        if thread is not None and thread.stop is not None:
            return thread
        return next(iter(self.stopped), None)

    def known(self, number: int) -> ProgramThread:
        """The thread with a number.

        Raises:
            Refused: there is none.
        """
        thread = self._by_number.get(number)
        if thread is None:
            there = ", ".join(str(each.number) for each in self) or "none so far"
            raise Refused(f"threadId {number}: there is no such thread; those that ran a backward pass: {there}")
        return thread

    def standing(self, number: int) -> tuple[ProgramThread, AgentLink, Stop]:
        """The thread with a number, the connection to it, and where it stands.

        Raises:
            Refused: there is none, or it is running.
        """
        thread = self.known(number)
        if thread.stop is None or thread.link is None:
            raise Refused(f"thread {number} is running: pause it, or wait until it stops")
        return thread, thread.link, thread.stop

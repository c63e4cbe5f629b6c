"""Which thread is looked at: one that stands is left for no other, and a step of it comes back to it."""

#: Requests after which whatever stops first is looked at: they end anywhere.
_ANYWHERE = frozenset({"continue", "reverseContinue"})


class Looking:
    """The thread that is looked at, by what happens to it and to others.

    While it stands, or steps for no longer than most steps, a stop of another one changes nothing. When it runs on, the one
    that has stopped meanwhile is looked at, until the step has ended.

    Attributes:
        thread: the one that is looked at.
        has_begun: all stops were told that there were when this client came; the last of those is the one to look at.
    """

    def __init__(self) -> None:
        self.thread = 1
        self.has_begun = False
        self._stepped = 0
        self._other = 0

    def turn_to(self, thread: int) -> None:
        """A person looks at this one."""
        self.thread, self._stepped, self._other = thread, 0, 0

    def visit(self, thread: int) -> None:
        """Look at this one until the step of the other ends."""
        self.thread, self._other = thread, 0

    def moves(self, thread: int, command: str) -> None:
        """A person has a thread go on."""
        self._stepped, self._other = 0 if command in _ANYWHERE else thread, 0

    def takes(self, thread: int, stood: bool, moves: bool) -> bool:
        """A thread stops: whether it is looked at from now on.

        Args:
            thread: the one that stops.
            stood: the one that is looked at is shown to stand, ...
            moves: ... but has gone on.
        """
        if self.has_begun and thread not in (self.thread, self._stepped) and stood:
            if not moves:
                return False
            if self._stepped == self.thread:
                self._other = thread
                return False
        self._stepped = 0 if thread == self._stepped else self._stepped
        self.thread = thread
        return True

    def runs_on(self) -> int:
        """The thread that is looked at runs for longer than most steps: the one that has stopped meanwhile, 0 for none."""
        return self._other

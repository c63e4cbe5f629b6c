"""What ends a command early: bad input, or a signal."""


class InputError(Exception):
    """A bad argument; the message names the thing, its value and the way out. The exit status is 2."""


class EndedBySignal(BaseException):
    """A signal asks this process to end; ``number`` is its number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

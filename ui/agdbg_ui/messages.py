"""What the session tells the app."""

from typing import Any

from textual.message import Message


class ViewChanged(Message):
    """The program or its stop is another one: `Session.view` has it."""


class Moved(Message):
    """A thread stopped somewhere, went on, or its breakpoints changed: states of nodes are others now."""


class Begun(Message):
    """The program was started anew: whatever is shown of its run before is over."""


class Changed(Message):
    """A thread stands where it stood, and what it has may have been changed by hand."""


class Stepped(Message):
    """The person lets a thread go on, so that where it stops next is looked at; or that was refused."""

    def __init__(self, goes: bool = True) -> None:
        super().__init__()
        self.goes = goes


class Grew(Message):
    """The trace has more nodes."""


class Printed(Message):
    """The program has printed something since the last one of these."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Progressed(Message):
    """What the hub works at is something else, or has come further: `Session.works` has it."""


class Refused(Message):
    """The hub refused a request; the text says why and what to do."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Noted(Message):
    """Something that is no error and that whoever sits there should know."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Barrier(Message):
    """Stepping back would cross a node that cannot be undone whole; the text says what would not be restored."""

    def __init__(self, command: str, text: str) -> None:
        super().__init__()
        self.command, self.text = command, text


Body = dict[str, Any]

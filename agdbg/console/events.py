"""What the hub tells a console beside answers: where threads stand, what was printed, that the program has ended."""

from collections.abc import Callable
from typing import Any

Body = dict[str, Any]


class State:
    """What is known of the program from the events so far.

    Attributes:
        stops: the ``stopped`` bodies of the threads that stand, by thread; the last is the newest.
        ended: the body of ``agdbg/ended``; None while the program runs, was not started or is none.
        is_over: the hub has told all of the program.
        notes: what the hub has said for people, since they were last taken.
        breakpoints: the bodies of breakpoints that other clients have set, changed or removed, with the reason; taken by the table.
    """

    def __init__(self, on_output: Callable[[str], object], on_warning: Callable[[str], object] | None = None) -> None:
        self.stops: dict[int, Body] = {}
        self.ended: Body | None = None
        self.is_over = False
        self.notes: list[str] = []
        self.breakpoints: list[tuple[str, Body]] = []
        self._on_output = on_output
        self._on_warning = on_warning or self.notes.append

    def take(self, message: Body) -> str:
        """Take in an event; return its name."""
        name, body = str(message["event"]), message["body"]
        if name == "stopped":
            self.stops.pop(body["threadId"], None)
            self.stops[body["threadId"]] = body
        elif name == "continued" or (name == "thread" and body["reason"] == "exited"):
            self.stops.pop(body["threadId"], None)
        elif name == "output":
            self._printed(body)
        elif name == "agdbg/ended":
            self.ended, self.stops = body, {}
        elif name == "terminated":
            self.is_over = True
        elif name == "agdbg/restarted":
            self.ended, self.is_over, self.stops = None, False, {}
        elif name == "breakpoint":
            self.breakpoints.append((body["reason"], body["breakpoint"]))
        return name

    def _printed(self, body: Body) -> None:
        if body.get("category") == "stdout":
            self._on_output(body["output"])
        else:
            tell = self._on_warning if body.get("category") == "important" else self.notes.append
            tell(str(body["output"]).strip("\n"))

    def taken_notes(self) -> list[str]:
        """What was said for people; each is given once."""
        notes = self.notes[:]
        self.notes.clear()
        return notes

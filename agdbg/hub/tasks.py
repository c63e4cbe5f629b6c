"""Requests that are being worked at: clients are told how far that is, and may cancel it."""

import os
import time
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any

from agdbg.hub.exporting import DATABASES
from agdbg.hub.loop import Loop
from agdbg.hub.worker import Job
from agdbg.protocol.messages import event

if TYPE_CHECKING:
    from agdbg.hub.call import Call
    from agdbg.hub.connection import Connection

#: Work that is done before so many seconds have passed is not told of, ...
PATIENCE_S = 0.3
#: ... and of other work no more often than so.
_EVERY_S = 0.1

_READING, _WRITING_TABLES = "Reading the recording", "Writing the tables"
#: What a request is called on a screen.
TITLES = {
    "agdbg/export": "Writing the graph",
    "agdbg/findings": "Looking for what went wrong",
    "exceptionInfo": "Explaining the error",
    "agdbg/neighbourhood": "Laying the boxes out",
    "agdbg/graph": "Drawing the graph",
    "agdbg/paths": "Looking for the ways between two nodes",
    "agdbg/tree": "Adding up the modules",
    "agdbg/profile": "Adding up the memory of the pass",
    "agdbg/find": "Searching",
    "source": "Reading the source",
}


def _is_tables(call: "Call") -> bool:
    """Whether a request writes the tables of a recording, and no drawing."""
    path = str(call.arguments.get("path", ""))
    return call.command == "agdbg/export" and os.path.splitext(path)[1].lower() in DATABASES


class Task:
    """One request that is worked at.

    Attributes:
        id: by which the client knows its progress.
        call: the request.
        job: the work, once a worker has it.
    """

    def __init__(
        self, number: int, call: "Call", loop: Loop, patience: float, on_end: "Callable[[Task], object]"
    ) -> None:
        self.id, self.call = str(number), call
        self.job: Job | None = None
        self._loop, self._on_end = loop, on_end
        self._said: tuple[str, int, int] = ("", 0, 0)
        self._is_posted = self._is_shown = self._is_over = False
        self._told_at = 0.0
        self._timer = loop.after(patience, self._show) if call.client.hears_progress else None

    # ----- in the thread that works -----

    def hear(self, text: str, done: int, total: int) -> None:
        """It has come so far."""
        self._said = text, done, total
        if self._timer is not None and not self._is_posted:
            self._is_posted = True
            self._loop.post(self._soon)

    # ----- in the loop -----

    def end(self) -> None:
        """It is answered."""
        if self._is_over:
            return
        self._is_over = True
        if self._timer is not None:
            self._timer.cancel()
        if self._is_shown:
            self._send("progressEnd", {})
        self._on_end(self)

    def cancel(self) -> None:
        """It is not wanted any more; the answer says so, as soon as the work has ended."""
        if self.job is not None:
            self.job.cancel()

    def _show(self) -> None:
        if not self._is_over:
            self._is_shown = True
            facts = {"title": self._title, "requestId": self.call.number, "cancellable": True}
            self._send("progressStart", facts | self._how_far())

    def _soon(self) -> None:
        """What was said last is told as soon as it is time for it."""
        wait = self._told_at + _EVERY_S - time.monotonic()
        if wait > 0:
            self._loop.after(wait, self._update)
        else:
            self._update()

    def _update(self) -> None:
        self._is_posted, self._told_at = False, time.monotonic()
        if self._is_shown and not self._is_over:
            self._send("progressUpdate", self._how_far())

    @property
    def _title(self) -> str:
        return _WRITING_TABLES if _is_tables(self.call) else TITLES.get(self.call.command, _READING)

    def _how_far(self) -> dict[str, Any]:
        text, done, total = self._said
        if text.lower() == self._title.lower():
            text = ""  # the title says it
        told: dict[str, Any] = {"message": text} if text else {}
        return told | ({"percentage": min(100.0 * done / total, 100.0)} if total else {})

    def _send(self, name: str, facts: dict[str, Any]) -> None:
        client = self.call.client
        client.send(event(client.next_seq(), name, {"progressId": self.id, **facts}))


class Tasks:
    """Those of all clients."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self.patience = PATIENCE_S
        self._numbers = count(1)
        self._tasks: dict[str, Task] = {}

    def begin(self, call: "Call") -> Task:
        """A request is about to be worked at."""
        task = Task(next(self._numbers), call, self._loop, self.patience, self._ended)
        self._tasks[task.id] = task
        return task

    def cancel(self, client: "Connection", request: int | None, progress: str | None) -> None:
        """A client has no use for a request of its own any more; what is answered already is no error."""
        for task in list(self._tasks.values()):
            is_meant = task.id == progress or (request is not None and task.call.number == request)
            if is_meant and task.call.client is client:
                task.cancel()

    def gone(self, client: "Connection") -> None:
        """Nobody waits for the answers to this client."""
        for task in list(self._tasks.values()):
            if task.call.client is client:
                task.cancel()

    def _ended(self, task: Task) -> None:
        self._tasks.pop(task.id, None)

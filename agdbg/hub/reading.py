"""The trace, as the hub's workers read it: the thread of the loop never waits for a disk or an index.

Two threads each have a view of their own. The *reader* answers what a screen asks for, in milliseconds; the
*heavy* one draws and diagnoses, which may take seconds. What is asked for at every stop, and takes less than the way to the
reader and back, the thread of the loop looks up by itself while the reader has nothing to do.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from agdbg.hub.call import LATER, Body, Call, Refused
from agdbg.hub.loop import Loop
from agdbg.hub.troubles import StoppedWatch, troubles_of
from agdbg.hub.worker import Worker
from agdbg.launch.place import TRACE_FILES
from agdbg.progress import report

if TYPE_CHECKING:
    from agdbg.hub.history import History
    from agdbg.protocol.vendor import Trouble

T = TypeVar("T")
#: The loop takes in so many new records by itself, ...
FEW = 4096
#: ... and looks by itself unless the last look took longer than so many seconds.
QUICK_S = 0.005


class View:
    """The trace in a directory, for one thread; there may be none yet."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._history: History | None = None

    def history(self) -> "History | None":
        """What there is now; None: nothing was recorded so far.

        Raises:
            TraceError: the trace is one that this version does not read.
        """
        if self._history is None:
            if not (self.directory / TRACE_FILES[0]).is_file():
                return None
            from agdbg.hub.history import READING, History

            report(READING)
            self._history = History(self.directory)
        self._history.poll()
        return self._history

    def at_hand(self) -> "History | None":
        """What there is now, if that takes next to no time; None: it has to be read first.

        Raises:
            TraceError: as :meth:`history` does.
        """
        history = self._history
        return history if history is not None and history.poll_few(FEW) else None

    def move(self, directory: Path) -> None:
        """The trace is in another directory now."""
        self.directory, self._history = directory, None

    def forget(self) -> None:
        """Something was broken off in the middle of reading: it is read anew when it is asked for again."""
        self._history = None


class Reading:
    """Both views of one trace, each in its thread.

    Attributes:
        why_nothing: what is said while there is no trace.
        stopped: whether recording has stopped before the program, for the reader to look at.
        is_examined: it was looked at whole, for what is damaged.
    """

    def __init__(self, directory: Path, loop: Loop) -> None:
        self.directory = directory
        self.why_nothing = (
            f"nothing was recorded so far in {directory}: the program has not used an autograd engine yet"
        )
        self.stopped, self.is_examined = StoppedWatch(directory), False
        self.reader, self.heavy = Worker(loop, "reader"), Worker(loop, "heavy")
        self._near, self._far = View(directory), View(directory)
        self._took = 0.0  # by the last look that may be taken at once

    def ask(self, call: Call, job: "Callable[[History], T]", finish: Callable[[T], Body] = lambda found: found) -> Any:
        """Answer a call with what ``finish`` makes of what the reader finds."""
        return call.work(self.reader, lambda: job(self.present(self._near.history())), finish, self._near.forget)

    def ask_at_once(
        self, call: Call, job: "Callable[[History | None], T]", finish: Callable[[T], Body] = lambda found: found
    ) -> Any:
        """The same for what takes next to no time: here and now, if the reader has nothing to do and little is new.

        ``job`` gets None when nothing was recorded so far.
        """
        if not self.reader.is_idle or self._took > QUICK_S:
            return call.work(self.reader, lambda: self._timed(job, self._near.history()), finish, self._near.forget)
        try:
            history = self._near.at_hand()
            if history is None:
                return call.work(self.reader, lambda: self._timed(job, self._near.history()), finish, self._near.forget)
            found = self._timed(job, history)
        except Exception as error:  # as what goes wrong in the reader: it is an answer
            call.fail_with(error)
        else:
            call.run(lambda: finish(found))
        return LATER

    def take_in(self) -> None:
        """Take in what is new, for the next who asks, if that takes next to no time."""
        self._at_once(lambda history: None)

    def look_ahead(self, node: int) -> None:
        """Have ready what is inside of a node that somebody will ask for, if that takes next to no time."""
        self._at_once(lambda history: history.get_ready(node))

    def _at_once(self, job: "Callable[[History], object]") -> None:
        """Do something that nobody waits for, if it takes next to no time."""
        if not self.reader.is_idle or self._took > QUICK_S:
            return
        with suppress(Exception):  # whoever asks is told what goes wrong
            history = self._near.at_hand()
            if history is not None:
                self._timed(lambda history: job(self.present(history)), history)

    def _timed(self, job: "Callable[[History | None], T]", history: "History | None") -> T:
        began = perf_counter()
        try:
            return job(history)
        finally:
            self._took = perf_counter() - began

    def ask_heavy(
        self, call: Call, job: "Callable[[History], T]", finish: Callable[[T], Body] = lambda found: found
    ) -> Any:
        """The same for what takes its time."""
        return call.work(self.heavy, lambda: job(self.present(self._far.history())), finish, self._far.forget)

    def ask_or(
        self, call: Call, nothing: T, job: "Callable[[History], T]", finish: Callable[[T], Body] = lambda found: found
    ) -> Any:
        """Like :meth:`ask`, but when nothing was recorded so far, that is ``nothing``."""
        return call.work(self.reader, _or(nothing, self._near, job), finish, self._near.forget)

    def ask_heavy_or(
        self, call: Call, nothing: T, job: "Callable[[History], T]", finish: Callable[[T], Body] = lambda found: found
    ) -> Any:
        """The same for what takes its time."""
        return call.work(self.heavy, _or(nothing, self._far, job), finish, self._far.forget)

    def peek(self, job: "Callable[[History | None], T]", done: Callable[[T, BaseException | None], object]) -> None:
        """Let the reader look, for the hub itself."""
        self.reader.do(lambda: job(self._near.history()), done)

    def examine(self, done: "Callable[[list[Trouble] | None, BaseException | None], object]") -> None:
        """Let the heavy one find out what is wrong with a recording that grows no more, for the hub itself."""
        self.is_examined = True
        self.heavy.do(lambda: troubles_of(self.directory) if self._is_there else [], done)

    @property
    def _is_there(self) -> bool:
        return (self.directory / TRACE_FILES[0]).is_file()

    def move(self, directory: Path) -> None:
        """The trace is in another directory now; what was asked for before is still read where it was."""
        self.directory, self.stopped = directory, StoppedWatch(directory)
        for worker, view in ((self.reader, self._near), (self.heavy, self._far)):
            worker.do(partial(view.move, directory), lambda moved, error: None)

    def close(self) -> None:
        """End the threads when they have done what they were given."""
        self.reader.close()
        self.heavy.close()

    def present(self, history: "History | None") -> "History":
        """The trace.

        Raises:
            Refused: nothing was recorded so far.
        """
        if history is None:
            raise Refused(self.why_nothing)
        return history


def _or(nothing: T, view: View, job: "Callable[[History], T]") -> Callable[[], T]:
    def look() -> T:
        history = view.history()
        return nothing if history is None else job(history)

    return look

"""The trace, as the hub's workers read it: the thread of the loop never waits for a disk or an index.

Two threads each have a view of their own. The *reader* answers what a screen asks for, in milliseconds; the
*heavy* one draws and diagnoses, which may take seconds.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from agdbg.hub.call import Body, Call, Refused
from agdbg.hub.loop import Loop
from agdbg.hub.troubles import StoppedWatch, troubles_of
from agdbg.hub.worker import Worker
from agdbg.launch.place import TRACE_FILES
from agdbg.progress import report

if TYPE_CHECKING:
    from agdbg.hub.history import History
    from agdbg.protocol.vendor import Trouble

T = TypeVar("T")


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

    def ask(self, call: Call, job: "Callable[[History], T]", finish: Callable[[T], Body] = lambda found: found) -> Any:
        """Answer a call with what ``finish`` makes of what the reader finds."""
        return call.work(self.reader, lambda: job(self._present(self._near)), finish, self._near.forget)

    def ask_heavy(
        self, call: Call, job: "Callable[[History], T]", finish: Callable[[T], Body] = lambda found: found
    ) -> Any:
        """The same for what takes its time."""
        return call.work(self.heavy, lambda: job(self._present(self._far)), finish, self._far.forget)

    def ask_or(
        self, call: Call, nothing: T, job: "Callable[[History], T]", finish: Callable[[T], Body] = lambda found: found
    ) -> Any:
        """Like :meth:`ask`, but when nothing was recorded so far, that is ``nothing``."""

        def look() -> T:
            history = self._near.history()
            return nothing if history is None else job(history)

        return call.work(self.reader, look, finish, self._near.forget)

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

    def close(self) -> None:
        """End the threads when they have done what they were given."""
        self.reader.close()
        self.heavy.close()

    def _present(self, view: View) -> "History":
        history = view.history()
        if history is None:
            raise Refused(self.why_nothing)
        return history

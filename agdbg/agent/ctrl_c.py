"""Ctrl-C while a thread stands: it is kept for the program, which one that came too late for an expression would end."""

import signal
import threading
from types import FrameType, TracebackType

from agdbg.tell import tell

KEPT = (
    "Ctrl-C at a stop: KeyboardInterrupt is raised in the program when it goes on (next, continue); "
    "Ctrl-C once more raises it here, and ends the stop"
)


class CtrlC:
    """For the time of a stop of the main thread; a handler of the program's own is left alone.

    Attributes:
        answers: a request is answered, which Ctrl-C interrupts.
        is_kept: the program is to be interrupted when it goes on.
    """

    def __init__(self) -> None:
        self.answers = self.is_kept = False

    def __enter__(self) -> "CtrlC":
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._came)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._is_ours():  # else an expression has set another one, which stays
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if self.is_kept and kind is None:
            raise KeyboardInterrupt

    def _is_ours(self) -> bool:
        return getattr(signal.getsignal(signal.SIGINT), "__self__", None) is self

    def _came(self, number: int, frame: FrameType | None) -> None:
        if self.answers or self.is_kept:
            raise KeyboardInterrupt
        self.is_kept = True
        tell(KEPT)

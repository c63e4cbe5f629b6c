"""How a program ended, as it is kept in the trace."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from agdbg.error_text import error_text, message_of
from agdbg.status import INTERRUPTED

_CHAIN_LIMIT = 20
_THREADS_LIMIT = 100


@dataclass
class Outcome:
    """The exit status, and the error that ended the program.

    Attributes:
        status: what the shell will see; None while the program runs.
        interrupted: Ctrl-C ended the program.
        interrupted_in: the top-level modules whose code ran then.
        uncaught: ``{"type", "message", "chain"}`` of an uncaught error; chain holds ``Type: message`` of the
            error, of those it was raised from and of the members of a group. None when there was none.
        threads: the like for errors that ended a thread other than the main one, at most 100.
        on_failure: called with an error that nobody caught, in its thread, before it is reported.
    """

    status: int | None = None
    uncaught: dict[str, object] | None = None
    interrupted: bool = False
    interrupted_in: frozenset[str] = frozenset()
    threads: list[dict[str, object]] = field(default_factory=list)
    on_failure: Callable[[BaseException], object] = field(default=lambda error: None, repr=False)

    def exited(self, code: object) -> None:
        """The program raised ``SystemExit(code)``."""
        self.status = code & 0xFF if isinstance(code, int) else int(code is not None)

    def failed(self, error: BaseException) -> None:
        """The program raised ``error`` and did not catch it."""
        self.interrupted = type(error) is KeyboardInterrupt  # a subclass is an error like others
        self.status = INTERRUPTED if self.interrupted else 1
        if self.interrupted:
            self.interrupted_in = frozenset(_modules_of(error))
        self.uncaught = _described(error)
        self._show(error)

    def thread_failed(self, error: BaseException) -> None:
        """A thread raised ``error`` and nobody caught it. Never raises."""
        try:
            if len(self.threads) < _THREADS_LIMIT:
                self.threads.append(_described(error))
            self._show(error)
        except Exception:  # the program is in a bad way, or its error is; it must not notice us
            return

    def _show(self, error: BaseException) -> None:
        """Let a debugger look at the error before it is reported; an interrupt ends that and nothing else."""
        try:
            self.on_failure(error)
        except (Exception, KeyboardInterrupt):
            return

    def as_meta(self) -> dict[str, object]:
        """The ``exit`` entry of a trace's ``meta.json``."""
        return {"status": self.status, "uncaught": self.uncaught, "threads": self.threads}


def _modules_of(error: BaseException) -> Iterator[str]:
    """The top-level modules whose code an error has passed."""
    trace = error.__traceback__
    while trace is not None:
        yield str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0]
        trace = trace.tb_next


def _described(error: BaseException) -> dict[str, object]:
    return {"type": type(error).__qualname__, "message": message_of(error), "chain": chain(error)}


def chain(error: BaseException) -> list[str]:
    """``Type: message`` of ``error`` and of the errors behind it, at most 20, each once."""
    found: list[str] = []
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting and len(found) < _CHAIN_LIMIT:
        current = waiting.pop(0)
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        found.append(error_text(current))
        waiting += [current.__cause__, current.__context__]
        if isinstance(current, BaseExceptionGroup):
            waiting += current.exceptions
    return found

"""Reporting an uncaught error as the interpreter does. Left to it, agdbg's own frames would show."""

import os
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, NoReturn

#: The interpreter's own. It is kept here because a program may replace both attributes of ``sys`` that hold
#: it.
_display = sys.excepthook
_MISSING = object()
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
#: Where the code is that runs between the nodes of a pass, and at stops.
_INSTRUMENTS = tuple(os.path.join(_OWN, each, "") for each in ("agent", "engines"))


def drop_frames(error: BaseException, files: set[str]) -> None:
    """Take the outermost frames off the traceback of ``error``, as long as their code is from ``files``."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename in files:
        trace = trace.tb_next
    error.__traceback__ = trace


def drop_instruments(error: BaseException) -> None:
    """Take the frames of agdbg's engines and agent off the tracebacks of ``error`` and of those behind it, wherever they stand.

    Where a thread stood, and an error came out of there, they lie between those of the engine, which are there without agdbg too.
    """
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        each.__traceback__ = _without_instruments(each.__traceback__)
        waiting += [each.__cause__, each.__context__]
        if isinstance(each, BaseExceptionGroup):
            waiting += each.exceptions


def _without_instruments(trace: TracebackType | None) -> TracebackType | None:
    kept: list[TracebackType] = []
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(_INSTRUMENTS):
            kept.append(trace)
        trace = trace.tb_next
    if not kept:  # a syntax error has no frames
        return None
    for one, following in zip(kept, [*kept[1:], None], strict=True):
        if one.tb_next is not following:
            one.tb_next = following
    return kept[0]


def report(error: BaseException) -> None:
    """Do what the interpreter does with an uncaught error: set ``sys.last_*`` and call ``sys.excepthook``.

    Raises:
        SystemExit: the program's hook raised it.
    """
    _remember(error, error.__traceback__)
    hook = getattr(sys, "excepthook", _MISSING)
    sys.audit("sys.excepthook", None if hook is _MISSING else hook, type(error), error, error.__traceback__)
    if hook is _MISSING:
        _write("sys.excepthook is missing\n")
        _show(error)
        return
    failure = _failure_of(hook, error)
    if failure is not None:
        _write("Error in sys.excepthook:\n")
        _show(failure)
        _write("\nOriginal exception was:\n")
        _show(error)


def _failure_of(hook: Any, error: BaseException) -> BaseException | None:
    """Call the hook; return what it raised, unless that is ``SystemExit``."""
    try:
        hook(type(error), error, error.__traceback__)
    except SystemExit:
        raise
    except BaseException as failure:
        drop_frames(failure, {_failure_of.__code__.co_filename})
        return failure
    return None


def observe_threads(note: Callable[[BaseException], None]) -> Callable[[], None]:
    """Call ``note`` with each error that kills a thread started from now on, before its hook reports it.

    ``threading.excepthook`` stays as it is: the program may look at it, and replace it.

    Returns:
        A function that ends this.
    """
    import threading

    real: Any = getattr(threading, "_make_invoke_excepthook", None)
    if real is None:  # another Python: such errors are just not observed
        return lambda: None

    def make() -> Callable[[threading.Thread], None]:
        report_error = real()

        def noted(thread: threading.Thread) -> None:
            error = sys.exc_info()[1]
            if error is not None and not isinstance(error, SystemExit):
                note(error)
                drop_instruments(error)
            report_error(thread)

        return noted

    def end() -> None:
        if threading._make_invoke_excepthook is make:  # type: ignore[attr-defined]  # private
            threading._make_invoke_excepthook = real  # type: ignore[attr-defined]  # private

    threading._make_invoke_excepthook = make  # type: ignore[attr-defined]  # private
    return end


def end_by_interrupt(error: KeyboardInterrupt) -> NoReturn:
    """Let the interpreter end the process as it does after Ctrl-C: exit handlers first, then death by SIGINT.

    It does so for a ``KeyboardInterrupt`` that reaches it. The error has been reported, so the hook that it
    calls now is mute, and puts back what the program could see.
    """
    hook: Any = getattr(sys, "excepthook", _MISSING)
    trace = error.__traceback__

    def mute(kind: type[BaseException], value: BaseException, extended: TracebackType | None) -> None:
        value.__traceback__ = trace
        _remember(value, trace)
        if hook is _MISSING:
            del sys.excepthook
        else:
            sys.excepthook = hook

    sys.excepthook = mute
    raise error


def interrupt_still_counts() -> None:
    """Let the interpreter know again that the process is to end by SIGINT.

    It forgets that as soon as a string is executed, which defining a dataclass does; an interrupt that comes
    out of an executed string reminds it.
    """
    try:
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        return


def _remember(error: BaseException, trace: TracebackType | None) -> None:
    """Set what post-mortem tools read."""
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace
    if sys.version_info >= (3, 12):
        sys.last_exc = error


def _show(error: BaseException) -> None:
    _display(type(error), error, error.__traceback__)


def _write(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(text)

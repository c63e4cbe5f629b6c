"""Running a program in this process the way ``python SCRIPT`` and ``python -m MODULE`` do.

The program gets a ``__main__`` of its own, its ``sys.argv`` and its ``sys.path[0]``. ``SystemExit`` passes
through to the interpreter, which gives it its meaning; other errors are reported as the interpreter reports
them. ``docs/running.md`` says what differs all the same.
"""

import builtins
import os
import runpy
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.machinery import BuiltinImporter
from types import ModuleType
from typing import Protocol

from agdbg.launch import script, uncaught
from agdbg.launch.isolation import Isolation
from agdbg.launch.outcome import Outcome


@dataclass(frozen=True)
class Program:
    """What to run: ``python TARGET ARGS...``, or ``python -m TARGET ARGS...``."""

    target: str
    args: list[str] = field(default_factory=list)
    is_module: bool = False

    @property
    def name(self) -> str:
        """A short name, for files that belong to the run."""
        if self.is_module:
            return self.target
        if self.target == script.STDIN:
            return "stdin"
        return os.path.splitext(os.path.basename(self.target.rstrip(os.sep)))[0]


class Companion(Protocol):
    """What accompanies the run of a program; see :class:`agdbg.launch.recording.Recording`."""

    outcome: Outcome

    def start(self, isolation: Isolation) -> None:
        """Nothing but the program's own code is left to run."""

    def never_began(self) -> None:
        """There is no such program, as Python has said: nothing else is to be said of it."""

    def abandon(self) -> None:
        """The program will not run: clean up, the process is about to be replaced."""


class Start(Protocol):
    """Runs the program in a module, until it ends."""

    def __call__(self, main: ModuleType) -> object:
        """Run it."""


def run(program: Program, companion: Companion) -> int:
    """Run the program to its end and return its exit status.

    Raises:
        SystemExit: the program raised it; the interpreter knows what it means.
        KeyboardInterrupt: it ended the program and was reported; the interpreter ends the process by SIGINT.
    """
    has_first = not sys.flags.safe_path
    own_path = sys.path[1:] if has_first else sys.path[:]
    start = _prepare(program, companion)
    main = _fresh_main()
    isolation = Isolation(sys.path[0] if has_first else None, own_path)
    companion.start(isolation)
    isolation.hide()
    error = _error_of(start, main, companion.outcome, companion.never_began)
    if error is None:
        return 0
    uncaught.drop_instruments(error)
    uncaught.report(error)
    if type(error) is KeyboardInterrupt:
        uncaught.end_by_interrupt(error)
    return 1


def _prepare(program: Program, companion: Companion) -> Start:
    """Set ``sys.argv`` and ``sys.path[0]`` for the program, and return what starts it."""
    sys.argv[:] = [program.target, *program.args]
    if program.is_module:
        sys.argv[0] = "-m"
        _set_first_path(os.getcwd())
        return lambda main: _run_module(program.target, is_option=True)
    path = script.absolute(program.target)
    if script.is_importable(path):
        if sys.flags.safe_path:  # Python puts this one there all the same
            sys.path.insert(0, "")
        sys.path[0] = path
        return lambda main: _run_module("__main__", is_option=False)
    _set_first_path("" if path == script.STDIN else os.path.dirname(os.path.realpath(path)))
    return lambda main: script.execute(program.target, main, companion.abandon)


def _run_module(name: str, is_option: bool) -> None:
    """Run a module as ``__main__`` as Python does it: by this function of its library."""
    script.allow_frames_below()
    runpy._run_module_as_main(name, is_option)  # type: ignore[attr-defined]  # what `python -m` calls


def _set_first_path(directory: str) -> None:
    """Replace what Python put first for agdbg; with ``-P`` or PYTHONSAFEPATH it put nothing there."""
    if not sys.flags.safe_path:
        sys.path[0] = directory


def _fresh_main() -> ModuleType:
    """Make a new ``__main__`` as this version of Python makes it, which the one that is there shows."""
    old, main = sys.modules["__main__"], ModuleType("__main__")
    main.__loader__ = BuiltinImporter
    if "__annotations__" in old.__dict__:
        main.__annotations__ = {}
    main.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = main
    return main


def _is_runpys(error: SystemExit) -> bool:
    """Whether Python's own start of a module has raised it, since there is no such module: nothing of the program ran."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is not None and traceback.tb_frame.f_globals.get("__name__") == "runpy"


def _error_of(
    start: Start, main: ModuleType, outcome: Outcome, never_began: Callable[[], object]
) -> BaseException | None:
    """Run the program; return the error it ended with, which nobody is handling any more then."""
    try:
        start(main)
    except SystemExit as error:
        if _is_runpys(error):
            never_began()
        outcome.exited(error.code)
        raise
    except BaseException as error:
        uncaught.drop_frames(error, {run.__code__.co_filename, script.execute.__code__.co_filename})
        outcome.failed(error)
        return error
    outcome.exited(0)
    return None

"""What accompanies a program under ``agdbg run``: it records, and explains when all else has ended."""

import atexit
import os
import shutil
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from agdbg.engines.hook import on_import
from agdbg.launch import place
from agdbg.launch.isolation import Isolation
from agdbg.launch.outcome import Outcome
from agdbg.launch.uncaught import interrupt_still_counts
from agdbg.tell import tell

if TYPE_CHECKING:
    from agdbg.record import Recorder

#: The engines that can be recorded, and their adapters: modules with ``attach(recorder)`` and ``detach()``.
ADAPTERS = {"agdbg_engine": "agdbg.engines.native"}


class Recording:
    """Records the first engine that the program imports; a program that imports none pays nothing.

    Args:
        name: the program's name, for a trace that is not named.
        directory: where the trace goes; None: a new directory under ``.agdbg``.
        keep: False: the trace is removed after the explanation.
        mention: False: where the trace is, is not said at the end.
    """

    def __init__(self, name: str, directory: Path | None = None, *, keep: bool = True, mention: bool = True) -> None:
        self.outcome = Outcome()
        self._name = name
        self._directory = directory
        self._named = directory is not None
        self._keep = keep
        self._mention = keep and mention
        self._pid = os.getpid()
        self._began = time.time()
        self._base = _current_directory()
        self._recorder: Recorder | None = None
        self._detach: Callable[[], None] = lambda: None
        self._failure = ""
        self._isolation = Isolation(None, [])

    def start(self, isolation: Isolation) -> None:
        """Wait for an engine to be imported. What runs at exit was registered first and so runs last."""
        self._isolation = isolation
        atexit.register(self._finish)
        for engine in ADAPTERS:
            on_import(engine, self._attach)

    def abandon(self) -> None:
        """The program cannot even be loaded: leave no empty directory behind."""
        if self._directory is not None:
            _remove_if_empty(self._directory)

    # ----- when an engine was imported -----

    def _attach(self, module: ModuleType) -> None:
        """Begin to record. What goes wrong here is said, and the program goes on without being recorded."""
        if self._recorder is not None or os.getpid() != self._pid:
            return
        try:
            with self._isolation.lifted():
                self._record(module)
        except Exception as error:
            self._failure = f"{type(error).__name__}: {error}"
            tell(f"cannot record {module.__name__}: {self._failure}")

    def _record(self, module: ModuleType) -> None:
        from agdbg.record import Recorder

        adapter = import_module(ADAPTERS[module.__name__])
        self._directory = self._directory or self._new_directory()
        engine: dict[str, object] = {
            "name": module.__name__,
            "version": getattr(module, "__version__", "unknown"),
        }
        program: dict[str, object] = {"argv": [*sys.argv], "cwd": str(self._base or "")}
        recorder = Recorder(self._directory, program=program, engine=engine, sees=adapter.SEES)
        try:
            adapter.attach(recorder)
        except Exception:
            recorder.close()
            if not self._named:
                shutil.rmtree(self._directory, ignore_errors=True)
            raise
        self._recorder, self._detach = recorder, adapter.detach

    def _new_directory(self) -> Path:
        """A directory for a trace that nobody named: below the start directory, or else a temporary one."""
        if not self._keep:
            return place.temporary(self._name)
        try:
            if self._base is None:
                raise FileNotFoundError(2, "the current directory is gone")
            return place.reserved(self._base, self._name, self._began)
        except OSError as error:
            directory = place.temporary(self._name)
            where = self._base / place.FOLDER if self._base else place.FOLDER
            tell(f"cannot write to {where} ({error.strerror}): the trace goes to {directory}")
            return directory

    # ----- when everything has ended -----

    def _finish(self) -> None:
        """Close the trace and explain it. The exit status is the program's, whatever happens in here."""
        if os.getpid() != self._pid:  # a forked child that ends as its parent does
            return
        try:
            _flush_program_output()
            with self._isolation.lifted():
                self._conclude()
        except KeyboardInterrupt:
            tell(f"interrupted; the trace is in {self._directory}")
        except Exception as error:
            tell(f"internal error: {type(error).__name__}: {error}; the trace is in {self._directory}")
        finally:
            if self.outcome.interrupted:
                interrupt_still_counts()

    def _conclude(self) -> None:
        if self._recorder is None:
            self.abandon()
            if not self._failure:
                tell(f"no autograd activity recorded: the program did not import {' or '.join(ADAPTERS)}")
            return
        try:
            self._detach()
        finally:
            self._recorder.close(self.outcome.as_meta())
        try:
            self._explain(self._recorder.path)
        finally:
            if not self._keep:
                shutil.rmtree(self._recorder.path, ignore_errors=True)

    def _explain(self, directory: Path) -> None:
        from agdbg.explain.explanation import explain
        from agdbg.explain.palette import Palette
        from agdbg.explain.text import SHOWN_AT_EXIT, as_text

        found = explain(directory)
        if found.nodes or found.findings:
            tell(as_text(found, base=self._base, palette=Palette.of(sys.__stderr__), limit=SHOWN_AT_EXIT))
        else:
            tell("no autograd activity recorded: the engine built no graph")
        if self._mention:
            tell(f"trace: {_below(directory, self._base)}")


def _current_directory() -> Path | None:
    try:
        return Path.cwd()
    except OSError:
        return None


def _below(path: Path, base: Path | None) -> str:
    """``path`` from the start directory when it is below it: the program may have gone elsewhere."""
    return str(path.relative_to(base) if base is not None and path.is_relative_to(base) else path)


def _remove_if_empty(directory: Path) -> None:
    try:
        directory.rmdir()
    except OSError:
        return


def _flush_program_output() -> None:
    """What the program printed comes before what agdbg says. A failure is left for Python to report."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue

"""What accompanies a program under ``agdbg run``: it records, and explains when all else has ended."""

import atexit
import os
import shutil
import sys
import time
from collections.abc import Callable, Collection
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from agdbg.engines.hook import on_import
from agdbg.launch import children, conclusion, place, sentry
from agdbg.launch.attempts import Attempts
from agdbg.launch.isolation import Isolation
from agdbg.launch.outcome import Outcome
from agdbg.launch.sentry import Sentry
from agdbg.launch.uncaught import interrupt_still_counts, observe_threads
from agdbg.ranks import with_rank
from agdbg.record.children import STARTED, Children, children_of, note
from agdbg.tell import tell

if TYPE_CHECKING:
    from agdbg.agent.agent import Agent
    from agdbg.record import Recorder

_Entry = dict[str, object]

#: The engines that can be recorded, and their adapters: modules with ``sees(also)``, ``attach(recorder, agent, also)``
#: and ``detach()``.
ADAPTERS = {"agdbg_engine": "agdbg.engines.native"}
#: Engines that a program may expect to see recorded.
_PLANNED = {"torch": "PyTorch"}
#: The recording of this process, when there is one: ``agdbg run -m agdbg run SCRIPT`` makes a second.
_current: "list[Recording]" = []


class Recording:
    """Records the first engine that the program imports; a program that imports none pays nothing.

    Args:
        name: the program's name, for a trace that is not named.
        directory: where the trace goes; None: a new directory under ``.agdbg``.
        keep: False: the trace is removed after the explanation.
        mention: False: where the trace is, is not said at the end.
        explain: False: nothing of the trace is said at the end; whoever started the program reads it.
        agent: the runtime directory of the hub that watches the program and explains; nothing is said here then.
        also: the extras to record, of :data:`agdbg.extras.EXTRAS`.
    """

    def __init__(
        self,
        name: str,
        directory: Path | None = None,
        *,
        keep: bool = True,
        mention: bool = True,
        explain: bool = True,
        agent: str | None = None,
        also: Collection[str] = (),
    ) -> None:
        self.outcome = Outcome()
        self._name = with_rank(name, os.environ)
        self._directory = directory
        self._named = directory is not None
        self._keep = keep
        self._mention = keep and mention
        self._explain = explain
        self._agent = agent
        self._also = frozenset(also)
        self._watcher = agent
        self._pid = os.getpid()
        self._began = time.time()
        self._base = _current_directory()
        self._recorder: Recorder | None = None
        self._obeyed: Agent | None = None
        self._detach: Callable[[], None] = lambda: None
        self._adapter: ModuleType | None = None
        self._unobserve: Callable[[], None] = lambda: None
        self._unobserve_children: Callable[[], None] = lambda: None
        self._others: list[int] = []
        """The processes of Python that were started before there was a trace."""
        self._attempts = Attempts([*ADAPTERS, *_PLANNED])
        self._hooks: list[Callable[[], None]] = []
        self._failure = ""
        self._isolation = Isolation(None, [])
        self._sentry: Sentry | None = None

    def start(self, isolation: Isolation) -> None:
        """Wait for an engine to be imported. What runs at exit was registered first and so runs last."""
        self._isolation = isolation
        if not all(outer._steps_aside() for outer in _current):
            tell("agdbg run inside agdbg run: this process is recorded already, and explained at its end")
            return
        _current[:] = [self]
        if self._agent is None and (self._mention or not self._keep):
            self._sentry = sentry.start()
        atexit.register(self._finish)
        self._unobserve_children = children.observe(self._started)
        self._hooks = [on_import(engine, self._attach) for engine in ADAPTERS]
        self._attempts.watch()

    def _steps_aside(self) -> bool:
        """Leave the process to a recording that starts in it; False when there is something recorded already."""
        if self._recorder is not None:
            return False
        atexit.unregister(self._finish)
        self._unhook()
        self.abandon()
        return True

    def _unhook(self) -> None:
        self._unobserve_children()
        for remove in self._hooks:
            remove()
        self._attempts.end()

    def _started(self, pid: int) -> None:
        """The program has started another process of Python, in which agdbg is not."""
        if self._recorder is None:
            self._others.append(pid)
        elif os.getpid() == self._pid:
            note(self._recorder.path, STARTED, pid)

    def never_began(self) -> None:
        """There is no such program, as Python has said: that nothing was recorded goes without saying."""
        self._failure = self._failure or "the program could not be loaded"

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
        adapter = import_module(ADAPTERS[module.__name__])
        engine: _Entry = {
            "name": module.__name__,
            "version": getattr(module, "__version__", "unknown"),
        }
        program: _Entry = {"argv": [*sys.argv], "cwd": str(self._base or "")}
        if self._agent is not None:
            program["output"] = place.OUTPUT_FILE
        recorder = self._new_recorder(program, engine, adapter.sees(self._also))
        try:
            if self._watcher is None:
                adapter.attach(recorder, None, self._also)
            else:
                self._attach_agent(self._watcher, adapter, recorder)
        except Exception:
            recorder.close()
            if not self._named:
                shutil.rmtree(recorder.path, ignore_errors=True)
            raise
        self._recorder, self._detach, self._adapter = recorder, adapter.detach, adapter
        self._unobserve = observe_threads(self.outcome.thread_failed)
        self._attempts.end()
        for pid in self._others:
            note(recorder.path, STARTED, pid)
        recorder.on_moved = self._moved
        self._have_watched(recorder.path)

    def _have_watched(self, trace: Path) -> None:
        if self._sentry is not None:
            self._sentry.watch(trace, conclusion.below(trace, self._base), keep=self._keep)

    def _moved(self, trace: Path) -> None:
        """The program has moved or removed the directory of the trace, which goes on in another one."""
        self._have_watched(trace)
        if self._obeyed is not None and self._recorder is not None:
            self._obeyed.tell({"recording": {"trace": str(trace)}}, self._recorder.thread())

    # ----- being watched by a hub that was started later -----

    @property
    def watcher(self) -> str | None:
        """The runtime directory of the hub that watches the program; None: nobody does."""
        return self._watcher

    def trace_directory(self) -> Path:
        """Where the trace is or will be; the directory is made if need be."""
        if self._recorder is not None:
            return self._recorder.path
        self._directory = self._directory or self._new_directory()
        return self._directory

    def obey(self, directory: str) -> None:
        """From now on, stop where a hub wants it, which was started for this program; what is recorded goes on."""
        self._watcher = directory
        if self._recorder is not None and self._adapter is not None:
            with self._isolation.lifted():
                self._detach()
                self._attach_agent(directory, self._adapter, self._recorder)

    def _attach_agent(self, directory: str, adapter: ModuleType, recorder: "Recorder") -> None:
        """Record and obey the hub; without one that can be reached, record."""
        from agdbg.agent.agent import Agent

        try:
            agent = Agent(directory)
        except OSError as error:
            tell(f"cannot reach the hub in {directory}: {error.strerror or error}")
            adapter.attach(recorder, None, self._also)
            return
        adapter.attach(recorder, agent, self._also)
        self.outcome.on_failure = adapter.post_mortem
        self._obeyed = agent
        agent.tell({"recording": {"trace": str(recorder.path)}}, recorder.thread())

    def _new_recorder(self, program: _Entry, engine: _Entry, sees: _Entry) -> "Recorder":
        """A recorder in the directory of the trace, or in a temporary one when the disk there is full."""
        from agdbg.record import Recorder, TraceError

        self._directory = self._directory or self._new_directory()
        try:
            return Recorder(self._directory, program=program, engine=engine, sees=sees)
        except TraceError as error:
            if not self._mention and self._agent is None:  # it is temporary already, or whoever named it reads it there
                raise
            if not self._named:
                shutil.rmtree(self._directory, ignore_errors=True)
            self._directory = place.temporary(self._name)
            tell(f"{error}: the trace goes to {self._directory}")
            return Recorder(self._directory, program=program, engine=engine, sees=sees)

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
        self._unhook()
        self._unobserve()
        if self._recorder is not None:
            self._recorder.flush()  # while the agent is there, which would tell the hub of another place
        if self._recorder is None:
            self.abandon()
            why = self._failure or self._why_nothing()
            if self._others:
                why = f"{why}; {Children(started=len(self._others))}"
            if self._watcher is not None:
                _leave_word(Path(self._watcher), why)
            if not self._failure and self._agent is None and self._explain:
                tell(f"no autograd activity recorded: {why}")
            return
        try:
            self._detach()
        finally:
            self._recorder.close(self.outcome.as_meta())
        if self._agent is not None or not self._explain:
            return
        try:
            told = conclusion.explain(self._recorder.path, self._base)
            if unrecorded := str(children_of(self._recorder.path)):
                tell(unrecorded)
            if told and self._mention:
                tell(f"trace: {conclusion.below(self._recorder.path, self._base)}")
        finally:
            if not self._keep:
                shutil.rmtree(self._recorder.path, ignore_errors=True)

    def _why_nothing(self) -> str:
        for engine in ADAPTERS:
            if engine in sys.modules:
                return f"agdbg did not see how the program imported {engine}"
            if not self.outcome.interrupted_in.isdisjoint((engine, "agdbg")):
                return f"the program was interrupted while it imported {engine}"
            if engine in self._attempts.tried:
                return f"the program tried to import {engine}, which failed"
        for module, name in _PLANNED.items():
            if module in sys.modules or module in self._attempts.tried:
                return f"{name} is not recorded yet, only {' and '.join(ADAPTERS)} is"
        return f"the program did not import {' or '.join(ADAPTERS)}"


def current() -> Recording | None:
    """The recording of this process; None: there is none, as in a forked child."""
    return _current[0] if _current and _current[0]._pid == os.getpid() else None


def _current_directory() -> Path | None:
    try:
        return Path.cwd()
    except OSError:
        return None


def _remove_if_empty(directory: Path) -> None:
    try:
        directory.rmdir()
    except OSError:
        return


def _leave_word(directory: Path, why: str) -> None:
    """Let the hub know why there is no recording; one that is gone asks no more."""
    try:
        (directory / place.UNRECORDED_FILE).write_text(why, encoding="utf-8")
    except OSError:
        return


def _flush_program_output() -> None:
    """What the program printed comes before what agdbg says. A failure is left for Python to report."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue

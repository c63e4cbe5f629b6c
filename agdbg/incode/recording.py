"""``agdbg.record``: record a part of a program, from its own code.

The program may be recorded already, by ``agdbg run`` or by an outer ``record``: that goes on, and what the inner block did is
copied to a trace of its own when the block ends (:mod:`agdbg.incode.excerpt`).
"""

import os
import time
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Literal, Self

from agdbg.engines.hook import on_import
from agdbg.incode import readers
from agdbg.incode.drawn import Drawn
from agdbg.incode.findings import Findings
from agdbg.launch import place
from agdbg.launch.outcome import chain
from agdbg.launch.recording import ADAPTERS
from agdbg.tell import tell

if TYPE_CHECKING:
    from agdbg.record import Facts, Recorder


def record(path: str | os.PathLike[str] | None = None, *, also: str | Iterable[str] = ()) -> "Recorded":
    """Record what the engine does inside of a ``with`` block.

    Args:
        path: a directory for the trace, new or empty; None: a new one under ``.agdbg`` in the current directory.
        also: ``"shapes"``, ``"values"``, ``"checksums"``, several of them, or ``"all"``.

    Raises:
        ValueError: an extra that there is not.
        TraceError: when the block begins: the directory holds a trace, or cannot be written.
    """
    return Recorded(path, extras(also))


def extras(also: str | Iterable[str]) -> frozenset[str]:
    """The extras that are meant.

    Raises:
        ValueError: there is none of that name.
    """
    from agdbg.errors import InputError
    from agdbg.extras import extras_of

    try:
        return extras_of(also if isinstance(also, str) else ",".join(also))
    except InputError as error:
        raise ValueError(f"also={also!r}: {error}") from None


class Recorded:
    """A recording of a block of code: a context manager, and afterwards what it has recorded.

    Attributes:
        path: the directory of the trace; another one once the program has moved or removed that. A nested one is there when its
            block has ended.
    """

    def __init__(self, path: str | os.PathLike[str] | None, also: frozenset[str]) -> None:
        self.path = Path() if path is None else Path(path)
        self._named = path is not None
        self._also = also
        self._hooks: list[Callable[[], None]] = []
        self._recorder: Recorder | None = None
        self._outer: Recorder | None = None
        self._start = 0
        self._pid = 0
        self._detach: Callable[[], None] = lambda: None
        self._state: Literal["new", "on", "ended"] = "new"

    # ----- the block -----

    def __enter__(self) -> Self:
        if self._state != "new":
            raise RuntimeError("this recording was used already: agdbg.record() makes another one")
        self._reserve()
        self._state, self._pid, entering = "on", os.getpid(), True
        for engine in ADAPTERS:
            self._hooks.append(on_import(engine, lambda module: self._begin(module, entering)))
        entering = False
        return self

    def _reserve(self) -> None:
        from agdbg.record.metafile import refuse_used

        if not self._named:
            self.path = place.reserved(Path.cwd(), "record", time.time())
        self.path = self.path.absolute()
        refuse_used(self.path)

    def _begin(self, module: ModuleType, entering: bool) -> None:
        """The engine is there. While the program imports it nothing may be raised: it is told."""
        if self._state != "on" or self._recorder is not None or self._outer is not None:
            return
        try:
            self._record(module)
        except Exception as error:
            if entering:
                self._state = "ended"
                raise
            tell(f"cannot record {module.__name__}: {type(error).__name__}: {error}")

    def _record(self, module: ModuleType) -> None:
        from agdbg.record import Recorder

        outer = next((found for reader in readers.loaded() if (found := reader.recorder()) is not None), None)
        if outer is not None:
            self._join(outer)
            return
        adapter = import_module(ADAPTERS[module.__name__])
        engine: dict[str, object] = {"name": module.__name__, "version": getattr(module, "__version__", "unknown")}
        recorder = Recorder(self.path, program={}, engine=engine, sees=adapter.sees(self._also))
        try:
            adapter.attach(recorder, None, self._also)
        except Exception:
            recorder.close()
            raise
        recorder.on_moved = self._moved
        self._recorder, self._detach = recorder, adapter.detach

    def _moved(self, path: Path) -> None:
        """The program has moved or removed the directory of the trace."""
        self.path = path

    def _join(self, outer: "Recorder") -> None:
        """Be a part of a recording that is on already; more than that records there is not."""
        from agdbg.record import Trace

        outer.flush()
        trace = Trace.open(outer.path)
        self._outer, self._start = outer, len(trace.records)
        sees = trace.meta.get("sees")
        missing = [name for name in sorted(self._also) if not (isinstance(sees, dict) and sees.get(name))]
        if missing:
            tell(
                f"{', '.join(missing)} are not recorded in {self.path}: the recording that is on already began without"
            )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._state != "on":
            return
        self._state = "ended"
        if os.getpid() != self._pid:  # a forked child that leaves the block too: the trace is its parent's
            return
        for remove in self._hooks:
            remove()
        ended: dict[str, object] = {} if error is None else {"left_by": chain(error)}
        try:
            self._end(ended)
        except Exception as failure:  # the program goes on, and what it raised is what comes out of the block
            tell(f"cannot finish the trace {self.path}: {type(failure).__name__}: {failure}")

    def _end(self, ended: dict[str, object]) -> None:
        if self._outer is not None:
            from agdbg.incode.excerpt import copy_excerpt

            self._outer.flush()
            copy_excerpt(self._outer.path, self.path, self._start, ended)
        elif self._recorder is not None:
            try:
                self._detach()
            finally:
                self._recorder.close(ended)
        elif not self._named:
            self.path.rmdir()

    # ----- what was recorded -----

    def facts(self) -> "Facts":
        """All that the trace tells; inside of the block so far.

        Raises:
            TraceError: nothing was recorded: the program has not imported an engine.
        """
        from agdbg.record import Facts, Trace

        recorder = self._outer if self._state == "on" and self._outer is not None else self._recorder
        if self._state == "on" and recorder is not None:
            recorder.flush()
            return Facts(Trace.open(recorder.path))
        return Facts(Trace.open(self.path))

    def findings(self, *, lints: bool = False) -> Findings:
        """What went wrong; with ``lints`` also what is suspicious although nothing was raised."""
        if not self._has_recorded():
            return Findings([], "nothing was recorded: no autograd engine was used in the block")
        from agdbg.diagnose import diagnose, lint
        from agdbg.diagnose.words import count

        facts = self.facts()
        found = [*diagnose(facts), *(lint(facts) if lints else [])]
        passes = f"{len(facts.passes):,} backward pass{'' if len(facts.passes) == 1 else 'es'}"
        return Findings(found, f"nothing was found in {count(len(facts.node_ids), 'node')}, {passes}")

    def graph(self, pass_id: int | Literal["all"] | None = None) -> Drawn:
        """The graph of a backward pass: of the one with that number, else of the one that failed, else of the last; or of all.

        Raises:
            ValueError: there is no such pass.
            TraceError: nothing was recorded.
        """
        from agdbg.graph.from_trace import graph_of

        facts = self.facts()
        return Drawn(graph_of(facts, pass_id if pass_id is not None or facts.passes else "all"))

    def _has_recorded(self) -> bool:
        return place.holds_trace(self.path) or (self._state == "on" and self._outer is not None)

    def __repr__(self) -> str:
        what = {"new": "not begun", "on": "goes on", "ended": "ended"}[self._state]
        return f"<agdbg recording {self.path}: {what}>"

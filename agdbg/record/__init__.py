"""The append-only trace: write it (:class:`Recorder`), read it (:class:`Trace`), ask it (:class:`Facts`).

They are imported when they are first asked for: they need NumPy, which takes longer to load than the terminal UI has for its first
frame, and whoever only looks whether there is a trace (:mod:`agdbg.record.there`) does without.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from agdbg.callable_module import make_callable
from agdbg.record.errors import TraceError

if TYPE_CHECKING:
    from agdbg.record.query import Facts
    from agdbg.record.reader import Trace
    from agdbg.record.writer import Recorder

__all__ = ["Facts", "Recorder", "Trace", "TraceError"]

_LATE = {"Facts": "agdbg.record.query", "Recorder": "agdbg.record.writer", "Trace": "agdbg.record.reader"}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATE[name]), name)


make_callable(__name__, "agdbg.incode.recording:record")

"""The append-only trace: write it (:class:`Recorder`), read it (:class:`Trace`), ask it (:class:`Facts`)."""

from agdbg.callable_module import make_callable
from agdbg.record.errors import TraceError
from agdbg.record.query import Facts
from agdbg.record.reader import Trace
from agdbg.record.writer import Recorder

__all__ = ["Facts", "Recorder", "Trace", "TraceError"]

make_callable(__name__, "agdbg.incode.recording:record")

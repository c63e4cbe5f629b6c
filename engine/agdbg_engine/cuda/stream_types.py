"""The classes of streams and events of one backend, made as PyTorch's are: by device and priority."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .. import several, streams
from ..backends import Backend

_BEYOND = 1000
"""More than there are priorities."""


class OfBackend(type):
    """Their type: whatever is of that ``kind`` (a stream, an event) and of the ``backend`` is an instance, whoever made it."""

    backend: Backend
    kind: type | None

    def __instancecheck__(cls, instance: object) -> bool:
        if cls.kind is None:
            return super().__instancecheck__(instance)
        return isinstance(instance, cls.kind) and instance.backend is cls.backend  # type: ignore[attr-defined]  # both kinds have it


class Address:
    """What stands for a stream of another library."""

    def __init__(self, stream_ptr: int) -> None:
        self._address = stream_ptr

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._address


class Types(NamedTuple):
    """The classes of one backend."""

    Stream: type[streams.Stream]
    ExternalStream: type[streams.Stream]
    Event: type[streams.Event]


def types_of(backend: Backend, index_of: Callable[[Any], int]) -> Types:
    """The classes of ``backend``; ``index_of`` gives the number of the device that is named, of the current one for ``None``."""

    class Stream(streams.Stream, metaclass=OfBackend):
        """A new queue of work beside the default one; of a negative ``priority`` one that goes first."""

        def __init__(self, device: Any = None, priority: int = 0, **_: Any) -> None:
            super().__init__(backend, priority=priority, index=index_of(device))

        @staticmethod
        def priority_range() -> tuple[int, int]:
            """The lowest priority and the highest that there are: CUDA brings others between these."""
            low, high = (streams.Stream(backend, priority=asked).priority for asked in (_BEYOND, -_BEYOND))
            return low, high

    class ExternalStream(streams.Stream, metaclass=OfBackend):
        """A queue that another library has made, by its address; it must outlive this object."""

        def __init__(self, stream_ptr: int, device: Any = None, **_: Any) -> None:
            index = index_of(device)
            with several.at(backend, index):
                raw = streams.library(backend).Stream.from_external(Address(stream_ptr))
            super().__init__(backend, raw, index=index)

    class Event(streams.Event, metaclass=OfBackend):
        """A place in a stream, to wait for or to measure time between two of them."""

        def __init__(
            self,
            enable_timing: bool = False,
            blocking: bool = False,
            interprocess: bool = False,
            external: bool = False,
        ) -> None:
            super().__init__(backend, enable_timing, blocking)

    for made, kind in ((Stream, streams.Stream), (ExternalStream, None), (Event, streams.Event)):
        made.backend, made.kind = backend, kind
        made.__qualname__ = made.__name__
    return Types(Stream, ExternalStream, Event)


class StreamContext:
    """A context in which this thread's work goes to ``stream``, on its device; nothing changes for ``None``."""

    def __init__(self, stream: streams.Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            self.stream.__enter__()

    def __exit__(self, *error: object) -> None:
        if self.stream is not None:
            self.stream.__exit__(*error)

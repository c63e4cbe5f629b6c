"""Streams and events of a device: queues of work that runs one after the other, and places in them.

What an op asks of a device goes to the stream that is current in the running thread. In backward every node runs on the stream
of its forward op, as in PyTorch: while a stream other than the first is in use anywhere, ops note theirs (``events.STREAMS``). A
change from one stream to another lets the second wait for the first, so that a gradient is there when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from . import events
from .backends import BACKENDS, Backend, backend_of, on_host

if TYPE_CHECKING:
    from .node import Node
    from .tensor import Tensor


class Stream:
    """A queue of work of one device; as a context the current one of this thread.

    ``raw`` is the array library's own stream (``cupy.cuda.Stream``); a new one is made without it. It waits for nobody by itself,
    not even for the default stream.
    """

    def __init__(self, backend: Backend, raw: Any = None, priority: int = 0) -> None:
        self._backend = backend
        self.raw = raw if raw is not None else _library(backend).Stream(non_blocking=True, priority=priority)
        self._entered: list[AbstractContextManager[Any]] = []

    @property
    def cuda_stream(self) -> int:
        """The address of the stream: 0 is that of the default one."""
        return int(self.raw.ptr)

    def synchronize(self) -> None:
        """Wait until all that was asked for is done."""
        self.raw.synchronize()

    def query(self) -> bool:
        """Whether all that was asked for is done."""
        return bool(self.raw.done)

    def record_event(self, event: Event | None = None) -> Event:
        """``event``, or a new one, which happens when all that was asked for so far is done."""
        event = event or Event(self._backend)
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Let what is asked for from now on wait for ``event``."""
        self.raw.wait_event(event.raw)

    def wait_stream(self, stream: Stream) -> None:
        """Let what is asked for from now on wait for what ``stream`` was asked for so far."""
        follow(self.raw, stream.raw)

    def __enter__(self) -> Stream:
        entered = use(self._backend, self.raw)
        entered.__enter__()
        self._entered.append(entered)
        return self

    def __exit__(self, *error: object) -> None:
        self._entered.pop().__exit__(None, None, None)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self._backend, self.raw) == (other._backend, other.raw)

    def __hash__(self) -> int:
        return hash(self.cuda_stream)

    def __repr__(self) -> str:
        return f"<Stream of {self._backend.kind} at {self.cuda_stream:#x}>"


class Event:
    """A place in a stream, to wait for or to measure time between two of them."""

    def __init__(self, backend: Backend, enable_timing: bool = False, blocking: bool = False) -> None:
        self._backend = backend
        self.raw = _library(backend).Event(block=blocking, disable_timing=not enable_timing)

    def record(self, stream: Stream | None = None) -> None:
        """Put the event behind all that ``stream``, or the current one, was asked for."""
        self.raw.record(_library(self._backend).get_current_stream() if stream is None else stream.raw)

    def wait(self, stream: Stream | None = None) -> None:
        """Let what ``stream``, or the current one, is asked for from now on wait for the event."""
        (_library(self._backend).get_current_stream() if stream is None else stream.raw).wait_event(self.raw)

    def query(self) -> bool:
        """Whether it has happened."""
        return bool(self.raw.done)

    def synchronize(self) -> None:
        """Wait until it has happened."""
        self.raw.synchronize()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to ``end_event``; both must have happened, with ``enable_timing=True``."""
        return float(_library(self._backend).get_elapsed_time(self.raw, end_event.raw))


def _library(backend: Backend) -> Any:
    """Where the array library has its streams: ``cupy.cuda``."""
    return backend.module.cuda


def current(backend: Backend) -> Stream:
    """The stream that this thread's work on the device goes to."""
    return Stream(backend, _library(backend).get_current_stream())


def default(backend: Backend) -> Stream:
    """The stream that is current where nobody has chosen another."""
    return Stream(backend, _library(backend).Stream.null)


@contextmanager
def use(backend: Backend, raw: Any) -> Iterator[None]:
    """Inside, this thread's work goes to the library's stream ``raw``; from now on ops note theirs."""
    if raw != _library(backend).Stream.null:
        events.keep_on(events.STREAMS)
    with raw:
        yield


def follow(raw: Any, other: Any) -> None:
    """Let what is asked of ``raw`` from now on wait for what ``other`` was asked for so far."""
    if raw != other:
        raw.wait_event(other.record())


# ----- the streams of nodes -----

_of: WeakKeyDictionary[Node, tuple[Backend, Any]] = WeakKeyDictionary()
"""The stream of the forward op, for nodes that were made while streams are in use."""


def remember(node: Node, out: Tensor) -> None:
    """``node`` was made with ``out`` by what the current stream was asked for."""
    if not on_host(out._a):
        backend = backend_of(out._a)
        _of[node] = backend, _library(backend).get_current_stream()


class Runner:
    """Runs the nodes of one pass, each on the stream of its forward op.

    Leaves, and nodes that are older than the first use of streams, run on the stream on which backward was called.
    """

    def __init__(self) -> None:
        self._began = {name: _library(b).get_current_stream() for name, b in BACKENDS.items() if _in_use(b)}
        self._last = dict(self._began)

    def __call__(self, run_node: Callable[[Node], None]) -> Callable[[Node], None]:
        """``run_node`` on the stream of the node that it is given."""

        def on_its_stream(node: Node) -> None:
            with self.turned_to(node):
                run_node(node)

        return on_its_stream

    @contextmanager
    def turned_to(self, node: Node) -> Iterator[None]:
        """Inside, the stream of ``node`` is the current one, and waits for what ran before."""
        noted = _of.get(node)
        if noted is None:
            self._back()
            yield
            return
        backend, raw = noted
        self._turn(backend.kind, raw)
        with raw:
            yield

    def _back(self) -> None:
        for kind, raw in self._began.items():
            self._turn(kind, raw)

    def _turn(self, kind: str, raw: Any) -> None:
        if kind in self._last:
            follow(raw, self._last[kind])
        self._last[kind] = raw

    def finish(self) -> None:
        """Let the stream on which backward was called wait for all of it."""
        self._back()


def _in_use(backend: Backend) -> bool:
    """Whether the library is loaded and has streams."""
    return backend.is_loaded() and hasattr(backend.module, "cuda")

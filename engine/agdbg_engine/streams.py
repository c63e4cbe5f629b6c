"""Streams and events of a device: queues of work that runs one after the other, and places in them.

What an op asks of a device goes to the stream that is current in the running thread. In backward every node runs on the stream
of its forward op, as in PyTorch: while a stream other than the first is in use anywhere, or a second device, ops note theirs
(``events.STREAMS``). A change from one stream to another lets the second wait for the first, so that a gradient is there when it
is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from . import events, several, stream_mismatch
from .backends import BACKENDS, Backend, backend_of, on_host

if TYPE_CHECKING:
    from .device import device
    from .node import Buffers, Node
    from .tensor import Tensor


class Stream:
    """A queue of work of one device; as a context it and its device are the current ones of this thread.

    ``raw`` is the array library's own stream (``cupy.cuda.Stream``); a new one is made without it, on device ``index`` (the current
    one). It waits for nobody by itself, not even for the default stream.
    """

    def __init__(self, backend: Backend, raw: Any = None, priority: int = 0, index: int | None = None) -> None:
        self.backend = backend
        self.index = backend.current() if index is None else index
        if raw is None:
            with several.at(backend, self.index):
                raw = library(backend).Stream(non_blocking=True, priority=priority)
        self.raw = raw
        self._entered: list[AbstractContextManager[Any]] = []

    @property
    def device(self) -> device:
        """The device whose work it is."""
        from .device import device

        return device(self.backend.kind, self.index)

    @property
    def device_index(self) -> int:
        """The number of that device."""
        return self.index

    @property
    def place(self) -> tuple[str, int]:
        """Kind and number of that device."""
        return self.backend.kind, self.index

    @property
    def cuda_stream(self) -> int:
        """The address of the stream: 0 is that of the default one."""
        return int(self.raw.ptr)

    @property
    def stream_id(self) -> int:
        """What tells it from the others of its device: 0 for the default one."""
        return self.cuda_stream

    @property
    def priority(self) -> int:
        """Streams with lower numbers go first."""
        with self.at_home():
            return int(self.raw.priority)

    def __cuda_stream__(self) -> tuple[int, int]:
        """Version of the protocol by which libraries take each other's streams, and the address."""
        return 0, self.cuda_stream

    def at_home(self) -> AbstractContextManager[Any]:
        """A context in which its device is the current one."""
        return several.at(self.backend, self.index)

    def synchronize(self) -> None:
        """Wait until all that was asked for is done."""
        with self.at_home():
            self.raw.synchronize()

    def query(self) -> bool:
        """Whether all that was asked for is done."""
        with self.at_home():
            return bool(self.raw.done)

    def record_event(self, event: Event | None = None) -> Event:
        """``event``, or a new one, which happens when all that was asked for so far is done."""
        event = event or Event(self.backend)
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Let what is asked for from now on wait for ``event``."""
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Let what is asked for from now on wait for what ``stream`` was asked for so far."""
        if self != stream:
            with stream.at_home():
                event = stream.raw.record()
            with self.at_home():
                self.raw.wait_event(event)

    def __enter__(self) -> Stream:
        entered = use(self)
        entered.__enter__()
        self._entered.append(entered)
        return self

    def __exit__(self, *error: object) -> None:
        self._entered.pop().__exit__(None, None, None)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self.place, self.raw) == (other.place, other.raw)

    def __hash__(self) -> int:
        return hash((self.place, self.cuda_stream))

    def __repr__(self) -> str:
        return f"<Stream of {self.device} at {self.cuda_stream:#x}>"


class Event:
    """A place in a stream, to wait for or to measure time between two of them; made on the device of the stream that records it."""

    def __init__(self, backend: Backend, enable_timing: bool = False, blocking: bool = False) -> None:
        self.backend = backend
        self._options = {"block": blocking, "disable_timing": not enable_timing}
        self.raw: Any = None

    def record(self, stream: Stream | None = None) -> None:
        """Put the event behind all that ``stream``, or the current one, was asked for."""
        stream = stream or current(self.backend)
        with stream.at_home():
            self.raw = self.raw or library(self.backend).Event(**self._options)
            self.raw.record(stream.raw)

    def wait(self, stream: Stream | None = None) -> None:
        """Let what ``stream``, or the current one, is asked for from now on wait for the event, if that was recorded."""
        stream = stream or current(self.backend)
        if self.raw is not None:
            with stream.at_home():
                stream.raw.wait_event(self.raw)

    def query(self) -> bool:
        """Whether it has happened; so has what was never recorded."""
        return self.raw is None or bool(self.raw.done)

    def synchronize(self) -> None:
        """Wait until it has happened."""
        if self.raw is not None:
            self.raw.synchronize()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to ``end_event``; both must have happened, with ``enable_timing=True``."""
        both = {"start": self, "end": end_event}
        untimed = [which for which, event in both.items() if event._options["disable_timing"]]
        if untimed:
            raise ValueError(
                "Both events must be created with argument 'enable_timing=True'.\n"
                f"  no time was noted with: {' and '.join(untimed)}"
            )
        if any(event.raw is None for event in both.values()):
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        waiting = [which for which, event in both.items() if not event.query()]
        if waiting:
            raise RuntimeError(
                "Both events must be completed before calculating elapsed time.\n"
                f"  the device has not come to: {' and '.join(waiting)}. Call synchronize() on it first"
            )
        return float(library(self.backend).get_elapsed_time(self.raw, end_event.raw))


def library(backend: Backend) -> Any:
    """Where the array library has its streams: ``cupy.cuda``."""
    return backend.module.cuda


def current(backend: Backend, index: int | None = None) -> Stream:
    """The stream that this thread's work on device ``index``, or the current one, goes to."""
    with several.at(backend, backend.current() if index is None else index):
        return Stream(backend, library(backend).get_current_stream())


def default(backend: Backend, index: int | None = None) -> Stream:
    """The stream that is current where nobody has chosen another."""
    return Stream(backend, library(backend).Stream.null, index=index)


def _begin(stream: Stream) -> None:
    """``stream`` is about to be the current one: from now on ops note theirs."""
    if stream.cuda_stream:
        events.keep_on(events.STREAMS)
        several.note(*stream.place)


def set_current(stream: Stream) -> None:
    """Let this thread's work go to ``stream`` from now on, and its device be the current one."""
    _begin(stream)
    stream.backend.use(stream.index)
    stream.raw.use()


@contextmanager
def use(stream: Stream) -> Iterator[None]:
    """Inside, this thread's work goes to ``stream``, and its device is the current one; from now on ops note theirs."""
    _begin(stream)
    with stream.at_home(), stream.raw:
        yield


@contextmanager
def across(backend: Backend, source: int, target: int) -> Iterator[None]:
    """For a copy from device ``source`` to ``target``, which it is asked of: it waits for what computes the original, and what
    comes next on ``source``, where the memory may be used again, for it.
    """
    if not _in_use(backend):
        yield
        return
    here, there = current(backend, source), current(backend, target)
    there.wait_stream(here)
    yield
    here.wait_stream(there)


def wait_for_all() -> None:
    """Wait on the host until the devices that the program uses have done all that they were asked for, on whatever stream.

    Nothing happens in a program that uses none.
    """
    for kind, index in list(several.used):
        BACKENDS[kind].synchronize(index)


# ----- the streams of nodes -----

_of: WeakKeyDictionary[Node, Stream] = WeakKeyDictionary()
"""The stream of the forward op, for nodes that were made while streams are in use."""


def remember(node: Node, out: Tensor) -> None:
    """``node`` was made with ``out`` (for an AccumulateGrad the leaf) by what the current stream was asked for."""
    if not on_host(out._a):
        backend = backend_of(out._a)
        if _in_use(backend):
            _of[node] = current(backend, backend.index_of(out._a))


class Runner:
    """Runs the nodes of one pass, each on the device of the gradient that comes in (which is in ``buffers``) and on the stream of
    its forward op.

    A leaf's AccumulateGrad runs on the stream that was current when it was made, which is at the first use of the leaf in a graph,
    as in PyTorch; nodes that are older than the first use of streams on the one on which backward was called.
    """

    def __init__(self, buffers: Buffers) -> None:
        self._buffers = buffers
        begun = [current(b) for b in BACKENDS.values() if _in_use(b)]
        self._began = {stream.place: stream for stream in begun}
        self._last = dict(self._began)
        self._place: tuple[str, int] | None = None
        for root in list(buffers):
            self._check(None, root)

    def __call__(self, run_node: Callable[[Node], None]) -> Callable[[Node], None]:
        """``run_node`` on the stream of the node that it is given."""

        def on_its_stream(node: Node) -> None:
            with self.turned_to(node):
                run_node(node)
            self.check(node)

        return on_its_stream

    @contextmanager
    def turned_to(self, node: Node) -> Iterator[None]:
        """Inside, device and stream of ``node`` are the current ones, and wait for what ran before."""
        noted = _of.get(node)
        stream = noted or self._callers(node)
        place = None if stream is None else stream.place
        if noted is None or place != self._place:  # what came from another device was copied on the caller's stream
            self._back()
        self._place = place
        with ExitStack() as entered:
            if stream is not None:
                self._turn(stream)
                entered.enter_context(stream.at_home())
                entered.enter_context(stream.raw)
            yield

    def check(self, producer: Node) -> None:
        """Warn, as PyTorch, where ``producer``, which has run, sent a gradient to a leaf that adds on another stream."""
        if stream_mismatch.wanted():
            for consumer in producer.next_nodes():
                self._check(producer, consumer)

    def _check(self, producer: Node | None, consumer: Any) -> None:
        """Warn where ``consumer`` is a leaf's and adds on another stream than that of ``producer``.

        ``None`` is the caller of backward, who gives the gradient of a root. What has no stream of its own is as old as the first
        use of streams, and on the default one; or, beside an AccumulateGrad that has one, it made a copy on the host, whose
        gradient is sent on the caller's.
        """
        if not getattr(consumer, "leaf", False) or not stream_mismatch.wanted():
            return
        g = self._buffers.get(consumer)
        array = getattr(g, "_a", g)
        if array is None or on_host(array):
            return
        adds, sends = _of.get(consumer), None if producer is None else _of.get(producer)
        backend = backend_of(array)
        if not _in_use(backend) or (adds is sends is None and producer is not None):
            return
        index = backend.index_of(array)
        if (adds or default(backend, index)) != (sends or current(backend, index)):
            stream_mismatch.tell()

    def _callers(self, node: Node) -> Stream | None:
        """The stream on which backward was called, of the device that the gradient for ``node`` is on; ``None`` for the CPU."""
        keys = [node, *((node, nr) for nr in range(1, getattr(node, "n_outputs", 1)))]
        g: Any = next((self._buffers[key] for key in keys if self._buffers.get(key) is not None), None)
        array = getattr(g, "_a", g)
        if array is None or on_host(array):
            return None
        backend = backend_of(array)
        return self._callers_on(backend, backend.index_of(array)) if _in_use(backend) else None

    def _back(self) -> None:
        for stream in self._began.values():
            self._turn(stream)

    def _callers_on(self, backend: Backend, index: int) -> Stream:
        place = backend.kind, index
        if place not in self._began:
            self._began[place] = self._last[place] = current(backend, index)
        return self._began[place]

    def _turn(self, stream: Stream) -> None:
        self._callers_on(stream.backend, stream.index)
        stream.wait_stream(self._last[stream.place])
        self._last[stream.place] = stream

    def finish(self) -> None:
        """Let the streams on which backward was called wait for all of it."""
        self._back()


def _in_use(backend: Backend) -> bool:
    """Whether the library is loaded and has streams."""
    return backend.is_loaded() and hasattr(backend.module, "cuda")

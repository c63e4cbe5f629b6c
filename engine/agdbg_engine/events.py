"""What the engine tells about itself: the one global sink and the facts that it receives.

An instrument (a recorder, a stepper) subclasses :class:`Sink` and hands it to :func:`install`. With nobody
listening the engine pays one test of one module global per op and one per backward pass. A sink must not raise
into the program: :func:`guarded` wraps one that might, drops it at its first error and reports that error once.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np

    from .backward import BackwardPass
    from .nn.module import Module
    from .node import Edge, Node
    from .optim.optimizer import Optimizer
    from .storage import Storage
    from .tensor import Tensor
    from .watching import Watch


class RunLog:
    """Times of nodes that ran well, noted by the engine for a sink that takes many at once. It must not raise."""

    def __init__(self) -> None:
        self.times: list[int] = [time.perf_counter_ns()]
        """When the first node that is not told yet began, then when each one ended (``time.perf_counter_ns``)."""
        self.told = 0
        """How many nodes came before that one."""

    def ran(self) -> int:
        """How many nodes ran well since the log was begun."""
        return self.told + len(self.times) - 1

    def tell(self) -> int:
        """Take what was noted; return how many nodes may run until the next call."""
        raise NotImplementedError

    def close(self) -> None:
        """As :meth:`tell`, for the last time."""
        raise NotImplementedError


class HookFacts(NamedTuple):
    """What is known of a hook that was registered, fired or removed."""

    number: int = -1
    """That of its handle, the same in all that is told of it; -1 for none."""
    function: Any = None
    """What the user gave; ``None`` once it is removed."""
    tensor: Tensor | None = None
    """The tensor that it was registered on."""
    edited: bool = False
    """Whether it wrote, while it was called, to a gradient that it was given."""
    shared_with: Edge | None = None
    """Where a gradient in the same memory waits, or goes, that the write changed too."""
    ns: int = 0
    """How long it took, in nanoseconds, with all that it called; 0 when that was not taken."""


class Sink:
    """Receives the engine's facts. Every method does nothing here: override those of interest.

    Tensors and nodes are handed over alive and for the time of the call only: keep numbers, not objects, or the
    program's memory changes.
    """

    driver: Callable[[BackwardPass], None] | None = None
    """Runs the nodes of a pass, or some of them, in place of the engine: a debugger. It must not raise by itself."""

    sums_gradients: bool = False
    """Whether hooks are to be watched by checksums too, which notice writes that count no version."""

    def node_born(self, node: Node, out: Tensor) -> None:
        """``node`` was built by the op that made ``out``; its edges, saved tensors and site are complete.

        For an AccumulateGrad ``out`` is the leaf itself.
        """

    def birth_of(self, cls: type[Node]) -> Callable[[Node, Tensor], None]:
        """What an op calls in place of :meth:`node_born` for nodes of ``cls``; asked once for a class. It must not raise."""
        return self.node_born

    def outputs_made(self, node: Node, outs: Sequence[Tensor]) -> None:
        """``node``, which was just born, has several outputs: these, among others that are not differentiable."""

    def storage_made(self, storage: Storage, node: Node) -> None:
        """The memory of the first output that ``node`` made got its storage object: something else shares it or writes to it
        from now on. Memory of other outputs is always known by its storage object.
        """

    def slot_saved(self, node: Node, slot: int, storage: Storage, version: int) -> None:
        """``node`` saved something else in ``slot`` than it told at birth (the result of an in-place op)."""

    def saved_packed(self, node: Node, slot: int, code: CodeType, lasti: int) -> None:
        """A pack hook made something else of what ``node`` saved in ``slot``, which the slot keeps instead."""

    def saved_unpacked(self, node: Node, slot: int) -> None:
        """An unpack hook gave back what ``node`` saved in ``slot``."""

    def saved_cloned(self, tensor: Tensor, count: int, code: CodeType, lasti: int) -> None:
        """``tensor`` is about to be written where that is allowed: ``count`` saved tensors of its memory were copied before."""

    def node_ran(
        self, bp: BackwardPass, node: Node, order: int, start_ns: int, end_ns: int, error: BaseException | None
    ) -> None:
        """``node`` ran as number ``order`` of ``bp``; times are ``time.perf_counter_ns``."""

    def log_of(self, bp: BackwardPass, nodes: Sequence[Node]) -> RunLog | None:
        """Where to note how ``nodes``, the next ones of ``bp``, run in this thread, in place of :meth:`node_ran` for each that
        runs well; ``None`` for no log. Asked whenever a pass on buffers begins to run some. It must not raise.
        """
        return None

    def watch_of(self, bp: BackwardPass) -> Watch | None:
        """Who wants to look at the gradients of ``bp`` on their way, if anybody; asked before :meth:`pass_started`. It must not
        raise.
        """
        return None

    def node_undone(self, bp: BackwardPass, node: Node, order: int) -> None:
        """The run of ``node`` as number ``order`` of ``bp`` was taken back: it will run again."""

    def gradient_replaced(self, bp: BackwardPass, node: Node, nr: int) -> None:
        """A person replaced the gradient that waits at output ``nr`` of ``node``."""

    def node_skipped(self, bp: BackwardPass, node: Node, order: int) -> None:
        """A person let ``bp`` go past ``node``, its number ``order``, without running it: zeros went on."""

    def saved_replaced(self, bp: BackwardPass, node: Node, slot: int) -> None:
        """A person replaced what ``node`` saved in ``slot`` for its next run, in ``bp``."""

    def graph_retained(self, bp: BackwardPass) -> None:
        """A person let ``bp`` keep the graph: what it runs from now on is not freed."""

    def pass_started(self, bp: BackwardPass) -> None:
        """A ``backward`` or ``grad`` call has planned its nodes and is about to run the first."""

    def pass_finished(self, bp: BackwardPass, error: BaseException | None) -> None:
        """The call is over; ``error`` is what it raises, if anything."""

    def version_bumped(
        self, tensor: Tensor, storage: Storage, op: str, node: Node | None, code: CodeType, lasti: int
    ) -> None:
        """``op`` wrote into ``storage`` through ``tensor``; ``storage.version`` is the new version."""

    def write_coming(self, tensor: Tensor, op: str, code: CodeType, lasti: int) -> None:
        """``op`` is about to write into the memory of ``tensor``. Told while the mode ``WRITES`` is in use."""

    def view_created(self, view: Tensor, base: Tensor, op: str, code: CodeType, lasti: int) -> None:
        """``view`` shares the storage of ``base``."""

    def history_rebased(self, tensor: Tensor, old: Node | None, new: Node, op: str, code: CodeType, lasti: int) -> None:
        """An in-place op gave ``tensor`` a new ``grad_fn``."""

    def graph_cut(self, tensor: Tensor, how: str, code: CodeType, lasti: int) -> None:
        """A gradient path ended at ``tensor``: ``how`` is detach, no_grad, data, integer, numpy, item or rewrap (a new tensor
        of its values).
        """

    def tensor_named(self, tensor: Tensor, name: str, kind: str) -> None:
        """``tensor`` is known to people as ``name``; ``kind`` is parameter, buffer or variable."""

    def module_named(self, module: Module, path: str, parent: Module | None) -> None:
        """``module`` stands at ``path`` in a model, held by ``parent``; the root of one has an empty path."""

    def module_entered(self, module: Module) -> None:
        """``module`` is called in this thread: its hooks and its ``forward`` are about to run."""

    def module_left(self, module: Module) -> None:
        """The call that was entered last in this thread is over, well or not."""

    def optimizer_built(self, optimizer: Optimizer, parameters: Sequence[Tensor], code: CodeType, lasti: int) -> None:
        """``optimizer`` was given ``parameters``, when it was built or later."""

    def optimizer_stepped(self, optimizer: Optimizer, code: CodeType, lasti: int) -> None:
        """``optimizer`` is about to make a step. One step may be told more than once, where one class calls another's."""

    def grad_mode(self, enabled: bool, code: CodeType, lasti: int) -> None:
        """Gradient recording was switched in this thread."""

    def dual_level(self, level: int, entered: bool, code: CodeType, lasti: int) -> None:
        """A level of forward mode was entered or, with all its tangents, left; 0 is the public one."""

    def hook(self, what: str, kind: str, node: Node | None, code: CodeType, lasti: int, facts: HookFacts) -> None:
        """A hook was ``registered``, ``fired`` or ``removed``.

        One of kind ``retain-grad`` is no function: the tensor's ``grad`` keeps the gradient that comes in at ``node``.
        """

    def grad_missed(self, tensor: Tensor, code: CodeType, lasti: int) -> None:
        """In a pass the user's code read the ``grad`` of a leaf that has none yet; or it read that of a tensor which is no leaf
        and keeps none.
        """

    def function_began(self, node: Node, what: str, code: CodeType, lasti: int) -> None:
        """The ``forward``, ``backward`` or ``jvp`` (that is ``what``) of a custom Function is about to run.

        ``node`` is its context, which at ``forward`` is not complete and may never be in a graph.
        """

    def function_wrote(self, node: Node, tensor: Tensor, argument: str, code: CodeType, lasti: int) -> None:
        """The ``forward`` of a custom Function changed its ``argument``, without saying so by ``mark_dirty``."""

    def function_kept(self, node: Node, held: Any, name: str, role: str, code: CodeType, lasti: int) -> None:
        """``ctx.<name>`` of a custom Function holds an ``intermediate`` (``role``), through which no second derivative flows,
        an ``output``, which makes a reference cycle, or an ``input``, whose writes nobody notices: tensors; or an ``array`` that is
        none. Saved inputs and outputs are as they should be and not told of.
        """

    def function_cast(
        self,
        node: Node,
        gradient: Tensor,
        argument: str,
        dtype: np.dtype[Any],
        given: Sequence[Tensor | None],
        code: CodeType,
        lasti: int,
    ) -> None:
        """The ``backward`` of a custom Function, which was ``given`` these gradients, returned ``gradient`` for its ``argument``,
        which is of another ``dtype``: it is cast, as PyTorch does without a word.
        """

    def redrawn(self, code: CodeType, lasti: int) -> None:
        """The recomputation that is told of next draws other random numbers than the first run did: nobody kept the state."""

    def recomputed(self, ops: int, difference: str | None, code: CodeType, lasti: int) -> None:
        """A checkpointed function ran again for backward, ``ops`` ops of it; ``difference`` says where it was not the same."""

    def dropped(self, error: BaseException) -> None:
        """This sink raised ``error`` and was removed: nothing more will be told."""

    def op_failed(self, error: BaseException, code: CodeType, lasti: int) -> None:
        """An op is about to raise ``error``, which carries no details and is not told to :meth:`error`: about types or devices."""

    def error(self, error: BaseException, code: CodeType, lasti: int) -> None:
        """The engine is about to raise ``error`` (see ``agdbg_engine.errors`` for what it carries)."""


sink: Sink | None = None
"""The installed sink, or ``None``. Read it through the module (``events.sink``): it changes."""


class Births(dict[Any, Callable[["Node", "Tensor"], None]]):
    """What ops call for a new node, by its class: one function each, so that the sink need not look for what fits the class."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def __missing__(self, cls: type[Node]) -> Callable[[Node, Tensor], None]:
        told = self[cls] = self._sink.birth_of(cls)
        return told


births = Births(Sink())
"""Those of :data:`sink`; with none, what a thread calls that has just seen one does nothing."""

SAVED_HOOKS, ANOMALY, FORWARD, INFERENCE, COMPLEX, STRICT, OP_LOG, TRANSFORM, STREAMS, WRITES = (
    1 << i for i in range(10)
)
"""The rare modes, as bits of :data:`special`."""

special = 0
"""The rare modes that are in use anywhere in this process: what they want of an op is done by ``ops.after``."""

MARKED = INFERENCE | TRANSFORM
"""The modes that mark every tensor that is made."""

on = False
"""Whether there is anything to do after an op: somebody listens, or a rare mode is in use. The one test of the hot path."""

_users = [0] * 10
_kept = 0
"""The modes that are on for good."""

_switching = threading.RLock()
"""Re-entrant, since a finalizer may end the use of a mode at any point."""


def use(mode: int, more: int = 1) -> None:
    """Count one more user (or with ``more=-1`` one less) of a rare mode: ops look for it while there is any."""
    global special, on
    with _switching:
        i = mode.bit_length() - 1
        _users[i] += more
        special = special | mode if _users[i] else special & ~mode
        on = sink is not None or bool(special)


def keep_on(mode: int) -> None:
    """Count a rare mode as in use for good, whoever else is using it now."""
    global _kept
    if not _kept & mode:
        _kept |= mode
        use(mode)


def install(new: Sink) -> None:
    """Make ``new`` the sink; raises :class:`RuntimeError` when another one is installed."""
    global sink, births, on
    if sink is not None and sink is not new:
        raise RuntimeError(f"an event sink is already installed: {sink!r}; call events.remove() first")
    if sink is None:
        births = Births(new)
    sink = new
    on = True


def remove() -> None:
    """Take the sink away; harmless when there is none."""
    global sink, births, on
    sink = None
    births = Births(Sink())
    on = bool(special)


def guarded(inner: Sink) -> Sink:
    """A sink that forwards to ``inner`` until ``inner`` raises, then is removed and the error printed once."""
    outer = Sink()
    guard(outer, METHODS, inner)
    outer.dropped = inner.dropped  # type: ignore[method-assign]  # asked of the one inside
    return outer


_ASKED = ("birth_of", "log_of", "watch_of", "dropped")

METHODS = tuple(n for n, f in vars(Sink).items() if callable(f) and not n.startswith("_") and n not in _ASKED)
"""The names of all events."""


def guard(outer: Sink, names: Iterable[str], inner: Sink, logs: Sequence[RunLog] = ()) -> None:
    """Make the methods ``names`` of ``outer`` those of ``inner`` (which may be itself), none of which raises any more;
    each tells the ``logs`` first."""
    failed: list[bool] = []
    for name in names:
        setattr(outer, name, _guarded(getattr(inner, name), failed, logs))


def _guarded(method: Callable[..., None], failed: list[bool], logs: Sequence[RunLog] = ()) -> Callable[..., None]:
    def call(*args: Any) -> None:
        if failed:  # whoever is in the middle of telling may still hold the sink
            return
        try:
            for log in logs:
                log.tell()
            method(*args)
        except RecursionError:  # no fault of the instrument: the program is at its limit
            return
        except Exception:
            failed.append(True)
            drop(method)

    return call


def drop(instrument: object) -> None:
    """Remove the sink because ``instrument`` raised: print the error being handled to stderr, once, and go on."""
    removed, error = sink, sys.exception()
    if removed is None or error is None:
        return
    remove()
    print(f"agdbg: an instrument failed and was removed, the program goes on: {instrument!r}", file=sys.stderr)
    traceback.print_exc(file=sys.stderr)
    removed.dropped(error)

"""BackwardPass: the executor, a state machine over a fixed order of nodes.

Nodes carry one global sequence number, so every consumer has a higher one than its producers, and running the
reachable nodes from the highest to the lowest is exactly what PyTorch's ready queue does. The order is therefore known
before the first node runs: a debugger can show what comes next, and going back is decrementing an index. A leaf's
AccumulateGrad runs right after its last consumer, as in PyTorch, where it has the highest priority of all.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from itertools import islice
from time import perf_counter_ns
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np

from . import anomaly, errors, events, pinned, reentrant, several, streams, watching
from .current import current as current
from .events import RunLog
from .grad_mode import mode, tangents_pass, tell_return
from .grad_slot import as_wanted
from .hooks import LeafHooks, firing
from .level_freed import LevelFreed
from .node import AccumulateGrad, Buffers, Node
from .ready_queue import plan, ready_order
from .saved import Freed, FreedAccess, unpack_all
from .saved.fit import fitting

if TYPE_CHECKING:
    from .inside import Inside
    from .journal import Journal

QUIET: dict[str, Any] = {"divide": "ignore", "over": "ignore", "under": "ignore", "invalid": "ignore"}
"""For ``np.errstate`` while nodes run: infinities and NaN come silently, as in PyTorch, whatever the user has asked of NumPy."""

ndarray = np.ndarray
_add = np.add

mixed = False
"""Whether a tensor has ever been given data of another kind than what its node had made: see :mod:`.pinned`."""


class Abandoned(BaseException):
    """Raised by a driver inside of a node that it wants to run once more: the pass goes on as if nothing had been."""


class Capture:
    """Where ``autograd.grad`` picks up a gradient: output ``nr`` of ``node``."""

    __slots__ = ("node", "nr", "value")

    def __init__(self, node: Node, nr: int) -> None:
        self.node = node
        self.nr = nr
        self.value: Any = None


def _nothing(part: str, gs: object = None, grads: object = None) -> None:
    """Nobody wants to know."""


class BackwardPass:
    """One call of ``backward`` or ``grad``: :meth:`start`, then :meth:`run` or :meth:`advance` bit by bit, then :meth:`finish`.

    ``agdbg_engine.journal`` goes back.
    """

    def __init__(
        self,
        call: str,
        retain_graph: bool,
        create_graph: bool,
        code: CodeType,
        lasti: int,
        transform: Inside | None = None,
    ) -> None:
        """``transform`` is the one that the pass is run for, when that is not the one that the thread is in."""
        self.call = call
        self.retain_graph = retain_graph
        self.create_graph = create_graph
        self.tensors = create_graph or tangents_pass()
        """Whether gradients are tensors: to be recorded, or because they may have tangents; else they are buffers."""
        self.code = code
        self.lasti = lasti
        self.order: list[Node] = []
        """The nodes in the order in which they run."""
        self.position = 0
        """Index in ``order`` of the next node."""
        self.buffers: Buffers = {}
        self.shared: set[Any] = set()
        """Buffers (by key) of ``keeps`` nodes that somebody else may hold too."""
        self.summed: set[Any] = set()
        """Buffers that this pass made by adding: more may be added in place."""
        self.transform = transform or mode.transform
        """Which hooks it calls, beside those that were registered outside of any transform."""
        self.freed = None if retain_graph else Freed(call, code, lasti)
        self.level: LevelFreed | None = None
        if self.transform is not None and self.transform.has_history():  # PyTorch has a graph of its own outside
            self.level, self.freed = LevelFreed(self.transform.freed, self.freed), None
        self.roots: list[tuple[Node, int]] = []
        self.captures: list[Capture] = []
        self.callbacks: list[Callable[[], None]] = []
        """What is to be called when all nodes have run; more may be added until the last is done."""
        self.parent = current.bp
        self.overriding = mode.overriding
        """Whether classes with ``__torch_function__`` are asked by what the user's hooks do; the engine's own work never asks."""
        self.tag = 0
        self.watch: watching.Watch | None = None
        """Who looks at the gradients on their way; set by an instrument when the pass starts, if at all."""
        self.journal: Journal | None = None
        """What notes the node that runs, if it can be undone: a pass that it calls is undone with it."""
        self.noted: Journal | None = None
        """What has to note every node of this pass, since the node that has called it can be undone."""
        self.before_unpack: Callable[[str], None] | None = None
        """Called with a slot before a hook of the user unpacks it, while a node runs in parts."""
        self.inside: tuple[list[Any], Sequence[Any] | None] | None = None
        """In the middle of such a node: the gradients that came in, as hooks left them, and what it gives when there is any."""
        self._streams: streams.Runner | None = None
        self._modes: tuple[bool, bool, BackwardPass | None, Node | None] | None = None
        """What was before nodes began to run in a row."""
        self._general = self.tensors or anomaly.state.enabled
        self._wanted: set[Node] | None = None
        self._captured: dict[Node, list[Capture]] = {}

    # ----- planning -----

    def start(
        self,
        roots: Iterable[tuple[Node, int, Any]],
        captures: list[Capture] | None = None,
        targets: list[Node] | None = None,
    ) -> None:
        """Plan the order for ``(node, output number, gradient)`` roots.

        With ``captures`` or ``targets`` only what is needed to reach them runs: the gradient is picked up before a
        captured node, and a target runs itself. Gradients are buffers, or tensors if :attr:`tensors`.
        """
        for node, nr, g in roots:
            self.roots.append((node, nr))
            self._put(node, nr, firing.as_tensor(g) if self.tensors else g)
        self.order = plan(dict.fromkeys(n for n, _ in self.roots))
        if captures is not None or targets is not None:
            self._restrict(captures or [], targets or [])
        if events.special & events.STREAMS:
            self._streams = streams.Runner(self.buffers)
        if events.sink is not None:
            self.watch = events.sink.watch_of(self)
        self.run_node: Callable[[Node], None] = self.runner()
        if events.sink is not None:
            events.sink.pass_started(self)

    def runner(self) -> Callable[[Node], None]:
        """What runs a node of this pass, and knows what to leave in its freed slots."""
        run_node = self._general_node if self._general else _fast_runner(self)
        if self.watch is not None and not self._general:
            run_node = watching.runner(self, self.watch)
        return run_node if self._streams is None else self._streams(run_node)

    def replace(self, node: Node, nr: int, g: Any) -> None:
        """Let gradient ``g``, a buffer nobody else holds, come in for output ``nr`` of ``node`` instead of the one there."""
        key = (node, nr) if nr else node
        self.shared.discard(key)
        self.summed.discard(key)
        self.buffers[key] = firing.as_tensor(g) if self.tensors else g

    def _put(self, node: Node, nr: int, g: Any) -> None:
        key = (node, nr) if nr else node
        if key in self.buffers:
            self.buffers[key] = several.plus(self.buffers[key], g)
        else:
            self.buffers[key] = g
            self.shared.add(key)

    def _restrict(self, captures: list[Capture], targets: list[Node]) -> None:
        """Keep the nodes on a path to a capture or target; captured nodes run only where another one lies below.

        As in PyTorch a root that is the only one is always come to: hooks of its tensor are called, whatever is asked for.
        """
        self.captures = captures
        self._general = True  # which leaves out what nobody asks for
        for c in captures:
            self._captured.setdefault(c.node, []).append(c)
        wanted = set(targets)
        for node in reversed(self.order):
            if any(n in wanted or n in self._captured for n in node.next_nodes() if n is not None):
                wanted.add(node)
        self._wanted = wanted
        only = self.roots[0][0] if len(self.roots) == 1 else None
        order = self.order = [n for n in self.order if n in wanted or n in self._captured or n is only]
        if any(a.leaf and b.leaf and c.leaf for a, b, c in zip(order, order[1:], order[2:], strict=False)):
            self.order = ready_order([n for n, _ in self.roots], set(order))

    # ----- running -----

    def run(self) -> None:
        """Run all remaining nodes, as the sink's driver wants if it has one; on an error the pass is finished and
        the error raised.
        """
        if self.parent is not None and reentrant.stack_is_deep():
            reentrant.elsewhere(self._run)
        else:
            self._run()

    def _run(self) -> None:
        outer = None if self.parent is None else self.parent.journal
        if outer is None:
            self._run_nodes()
        else:
            with outer.nested(self):
                self._run_nodes()
        self.finish(None)

    def _run_nodes(self) -> None:
        if events.sink is not None and events.sink.driver is not None:
            events.sink.driver(self)
        if self.position < len(self.order):
            if self.noted is not None:
                self.noted.run()
            else:
                self._advance(self.order[self.position :], self.run_node)

    def step(self) -> Node | None:
        """Run the next node and return it; ``None`` when there is none left. The driver calls :meth:`finish` then."""
        if self.position >= len(self.order):
            return None
        node = self.order[self.position]
        self._advance([node], self.run_node)
        return node

    def advance(self, count: int, run_node: Callable[[Node], None] | None = None, *, whole: bool = False) -> None:
        """Run at most ``count`` nodes, with ``run_node`` if that is given; errors are those of :meth:`run`.

        ``whole``: it runs a node as a whole, as :attr:`run_node` does, or raises :class:`Abandoned` before it has begun.
        """
        self._advance(self.order[self.position : self.position + count], run_node or self.run_node, whole)

    def outside(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call ``function`` between two nodes that run in a row, in the modes of the code that runs them; NumPy gives no warnings,
        as in a pass.
        """
        inside, modes = (mode.grad, mode.overriding, current.bp, current.node), self._modes
        assert modes is not None
        mode.grad, mode.overriding, current.bp, current.node = modes
        try:
            return function(*args)
        finally:
            mode.grad, mode.overriding, current.bp, current.node = inside
            self._modes = modes

    def is_plain(self) -> bool:
        """Whether nodes without hooks and with one output are run by nothing but their own ``run``."""
        return not self._general and self.watch is None and self._streams is None

    def running(self) -> list[Node]:
        """The nodes that are still to run, without those where a gradient is only picked up."""
        coming = self.order[self.position :]
        return coming if self._wanted is None else [n for n in coming if n in self._wanted]

    def run_in_parts(self, node: Node, before: Callable[[str], None]) -> None:
        """Run ``node``, and call ``before`` with the name of each part of it before that part is done.

        A node without hooks that the fast way can run has one part, ``apply``, or ``accumulate`` if it is a leaf's. In the middle
        of ``apply`` come ``unpack self`` and so on, for each slot that hooks of the user unpack.
        """

        def part(name: str, gs: list[Any] | None = None, grads: Sequence[Any] | None = None) -> None:
            if gs is not None:
                self.inside = gs, grads
            before(name)

        self.before_unpack = lambda slot: before(f"unpack {slot}")
        try:
            self._in_parts(node, part)
        finally:
            self.before_unpack = self.inside = None

    def _in_parts(self, node: Node, before: Callable[..., None]) -> None:
        if self._general or node.hooks is not None or node.multi:
            with nullcontext() if self._streams is None else self._streams.turned_to(node):
                self._general_node(node, before)
            if self._streams is not None:
                self._streams.check(node)
        else:
            before("accumulate" if node.leaf else "apply")
            self.run_node(node)

    def _advance(self, nodes: list[Node], run_node: Callable[[Node], None], whole: bool = False) -> None:
        """Run ``nodes``, the next ones in order, in the modes of a backward pass."""
        sink, begun = events.sink, self.position
        plain = not self._general and (whole or run_node is self.run_node) and len(nodes) > 1
        log = sink.log_of(self, nodes) if sink is not None and plain else None
        before = mode.grad, mode.overriding, current.bp, current.node
        mode.grad = self.create_graph and not mode.inference
        mode.overriding, current.bp = False, self
        self._modes = before
        coming, started = iter(nodes), None
        try:
            with np.errstate(**QUIET):
                if sink is None:
                    for node in coming:
                        run_node(node)
                    self.position = begun + len(nodes)
                elif log is not None:
                    try:
                        _run_noting(log, coming, run_node)
                    finally:
                        self.position, started = begun + log.ran(), log.times[-1]
                        log.close()
                else:
                    for node in coming:
                        started = perf_counter_ns()
                        run_node(node)
                        if events.sink is sink:
                            try:  # noqa: SIM105 - suppress() costs as much as the call
                                sink.node_ran(self, node, self.position, started, perf_counter_ns(), None)
                            except RecursionError:  # the program is at its limit, and must not fail for being watched
                                pass
                        self.position += 1
        except Abandoned:
            raise
        except BaseException as error:
            begun = len(nodes) - operator.length_hint(coming)
            told = self._failed(error, nodes[begun - 1] if begun else None, started)
            try:
                if told is error:
                    raise
                raise told from None if isinstance(error, FreedAccess) else error
            finally:
                del told  # its traceback leads to this frame: a circle would keep what the program had in memory
        finally:
            mode.grad, mode.overriding, current.bp, current.node = before
            tell_return()

    def finish(self, error: BaseException | None) -> None:
        """End the pass: callbacks are called if it went well, buffers dropped, instruments told."""
        if error is None and self.callbacks:
            self._call_back()
        if self._streams is not None:
            self._streams.finish()
        self.buffers.clear()
        self.watch = None
        self.run_node = (
            _finished  # the runner knows the pass: without this the two would wait for the garbage collector
        )
        if events.sink is not None:
            events.sink.pass_finished(self, error)

    def _call_back(self) -> None:
        before = mode.grad, current.bp, current.node
        mode.grad = self.create_graph and not mode.inference
        current.bp, current.node = self, None
        try:
            for callback in self.callbacks:
                started = perf_counter_ns()
                callback()
                if events.sink is not None:
                    told = events.HookFacts(function=callback, ns=perf_counter_ns() - started)
                    events.sink.hook("fired", "final-callback", None, self.code, self.lasti, told)
        except BaseException as error:
            self._failed(error, None, None)
            raise
        finally:
            mode.grad, current.bp, current.node = before
            tell_return()

    def _failed(self, error: BaseException, node: Node | None, started: int | None) -> BaseException:
        """End the pass, which failed with ``error`` in ``node``, instruments told; return what is to be raised."""
        error = _explained(error, node)
        if anomaly.state.enabled and node is not None:
            anomaly.report(error, node)
        sink = events.sink
        if sink is not None:
            if errors.details_of(error).kind == "other":  # raised by a hook or by Python, not by errors.make
                sink.error(error, self.code, self.lasti)
            now = perf_counter_ns()
            if node is not None:
                sink.node_ran(self, node, self.position, started or now, now, error)
        self.finish(error)
        return error

    # ----- the general way to run a node: hooks, several outputs, recording, captures, undefined gradients -----

    def _general_node(self, node: Node, before: Callable[..., None] = _nothing) -> None:
        """Run ``node`` with all there may be on the way; ``before`` is called before each part, with the gradients as they are."""
        current.node = node
        gs = self._take(node)
        if node.hooks is not None or node.user_code:
            gs = firing.writable(gs, self.buffers)
        if node.hooks is not None and node.hooks.made:
            gs = pinned.fitted(self, node, gs)
        if self.watch is not None:
            watching.show_arrived(self.watch, node, gs)
        runs = self._wanted is None or node in self._wanted
        if runs:
            self._capture(node, gs)  # PyTorch's order: what a node that runs gets is picked up before its hooks
        if node.hooks is not None:
            if node.hooks.tensor:
                before("tensor-hooks", gs)
            gs = firing.tensor_hooks(self, node, node.hooks, gs)
        if not runs:
            self._capture(node, gs)
            return
        if node.hooks is not None and node.hooks.pre:
            before("pre-hooks", gs)
            gs = firing.pre_hooks(self, node, node.hooks.pre, gs)
        before("accumulate" if node.leaf else "apply", gs)
        if self.level is not None:
            self.level.check(node)
        grads = self._grads(node, gs, before)
        if node.hooks is not None and node.hooks.post:
            asked = self._asked_for(node, grads)
            before("post-hooks", gs, asked)
            grads = tuple(firing.post_hooks(self, node, node.hooks.post, asked, gs))
        if anomaly.state.enabled and anomaly.state.check_nan:
            anomaly.check(node, self._asked_for(node, grads))
        if self.watch is not None:
            watching.show_all(self.watch, node, grads)
        if self.tensors:
            _route_tensors(node, grads, self.buffers)
        else:
            route(node, grads, self.buffers, self.shared, self.summed)
        if self.freed is not None:
            node.release(self.freed)
        elif self.level is not None:
            self.level.release(node)

    def _asked_for(self, node: Node, grads: tuple[Any, ...]) -> list[Any]:
        """The gradients of ``node`` that PyTorch computes: of most nodes not those that lead nowhere, in this pass or at all."""
        if node.user_code:
            return list(grads)
        needed = self._needed(node)
        if node.complete and any(needed):
            return list(grads)
        return [g if use else None for use, g in zip(needed, grads, strict=True)]

    def _needed(self, node: Node) -> list[bool]:
        """By edge whether its gradient leads to one that was asked for in this pass."""
        wanted, captured = self._wanted, self._captured
        return [n is not None and (wanted is None or n in wanted or n in captured) for n in node.next_nodes()]

    def _capture(self, node: Node, gs: list[Any]) -> None:
        for c in self._captured.get(node, ()):
            c.value = gs[c.nr]

    def _take(self, node: Node) -> list[Any]:
        """The incoming gradients of all outputs."""
        gs = [self.buffers.pop(node, None)]
        if node.multi:
            gs += [self.buffers.pop((node, nr), None) for nr in range(1, node.n_outputs)]
        elif isinstance(node, AccumulateGrad) and gs[0] is not None:
            gs[0] = as_wanted(node.variable, gs[0])
        return gs

    def _grads(self, node: Node, gs: list[Any], before: Callable[..., None]) -> tuple[Any, ...]:
        if isinstance(node, AccumulateGrad):
            self._accumulate(node, gs[0], before)
            return ()
        if not node.user_code and all(g is None for g in gs):
            unpack_all(node)
            return (None,) * len(node.next_nodes())
        g = gs if node.multi else gs[0]
        if node.hooks is not None and node.hooks.unpacks:
            return fitting(node, g, self.tensors)
        if self._wanted is not None and not node.complete and not node.user_code:
            return node.grads_for(g, self._needed(node), self.tensors)
        return node.grads_graph(g) if self.tensors else node.grads(g)

    def _accumulate(self, node: AccumulateGrad, g: Any, before: Callable[..., None]) -> None:
        hooks = node.hooks
        self._add_to_leaf(node, g, hooks is None and node not in self.shared)
        if isinstance(hooks, LeafHooks) and hooks.post_accumulate:
            before("post-accumulate-hooks")
            firing.post_accumulate_hooks(self, node, hooks)

    def _add_to_leaf(self, node: AccumulateGrad, g: Any, owned: bool) -> None:
        if g is None:
            return
        if self.create_graph:
            node.variable._check_still_leaf()
            node.variable._accumulate_recorded(g)
        elif self.tensors:
            node.variable._accumulate_dual(g)
        else:
            node._variable._accumulate(g, owned)


def _explained(error: BaseException, node: Node | None) -> BaseException:
    """An error that was met while ``node`` ran, in PyTorch's words where it is one of the engine's own."""
    if isinstance(error, FreedAccess) and node is not None:
        return errors.backward_twice(node, error.freed)
    if isinstance(error, ValueError) and not (node is None or node.user_code or node.hooks):
        return errors.unfit_shapes(error, node) or error
    return error


def _finished(node: Node) -> None:
    raise RuntimeError(f"this backward pass is finished: it cannot run {node.name()}")


def _fast_runner(bp: BackwardPass) -> Callable[[Node], None]:
    """``run_node`` for passes on buffers: the node's own ``run``, the general way where a node is special."""
    buffers, shared, summed, freed = bp.buffers, bp.shared, bp.summed, bp.freed
    pop = buffers.pop
    general = bp._general_node

    def run_node(node: Node) -> None:
        if node.hooks is None and not node.multi:
            g = pop(node, None)
            if g is not None:
                node.run(g, buffers, shared, summed, freed)
            else:
                unpack_all(node)
                if freed is not None:
                    node.release(freed)
        else:
            general(node)

    return run_node


def _run_noting(log: RunLog, coming: Iterator[Node], run_node: Callable[[Node], None]) -> None:
    """Run the nodes that are ``coming``: each begins, but for what lies between two tellings, when the one before it ended."""
    note, many = log.times.append, log.tell()
    while operator.length_hint(coming):
        log.times[-1] = perf_counter_ns()
        for node in islice(coming, many):
            run_node(node)
            note(perf_counter_ns())
        many = log.tell()


def add(buffers: Buffers, key: Any, g: Any, shared: set[Any], summed: set[Any]) -> None:
    """Add ``g`` to the gradient waiting under ``key``: in place if that one was made here by an earlier addition."""
    old = buffers[key]
    if mixed and pinned.differ(old, g):
        buffers[key], g = pinned.both_fitted(key, old, g)
        old = buffers[key]
        summed.discard(key)
    if key in summed:
        if type(old) is ndarray:
            _add(old, g, old)
        else:
            buffers[key] = several.plus(old, g)
    else:
        buffers[key] = old + g if type(old) is ndarray else several.plus(old, g)
        summed.add(key)
        shared.discard(key)


def route(node: Node, grads: tuple[Any, ...], buffers: Buffers, shared: set[Any], summed: set[Any]) -> None:
    """Send the gradients of ``node`` to its producers, assuming that somebody else may hold them."""
    numbers = node.nrs
    for i, (n, g) in enumerate(zip(node.next_nodes(), grads, strict=True)):
        if n is None or g is None:
            continue
        key: Any = n if numbers is None or not numbers[i] else (n, numbers[i])
        if key in buffers:
            add(buffers, key, g, shared, summed)
        else:
            buffers[key] = g
            shared.add(key)


def route_run(node: Node, g: Any, buffers: Buffers, shared: set[Any], summed: set[Any], freed: Freed | None) -> None:
    """A node's ``run`` by way of ``grads``: for edges to other outputs than the first."""
    route(node, node.grads(g), buffers, shared, summed)
    if freed is not None:
        node.release(freed)


def _route_tensors(node: Node, grads: tuple[Any, ...], buffers: Buffers) -> None:
    numbers = node.nrs
    for i, (n, g) in enumerate(zip(node.next_nodes(), grads, strict=True)):
        if n is None or g is None:
            continue
        key: Any = n if numbers is None or not numbers[i] else (n, numbers[i])
        if key in buffers:
            old = buffers[key]
            if mixed and pinned.differ(old, g):
                old, g = pinned.both_fitted(key, old, g)
            g = old + g
        buffers[key] = g

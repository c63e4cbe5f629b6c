"""BackwardPass: the executor, a state machine over a fixed order of nodes.

Nodes carry one global sequence number, so every consumer has a higher one than its producers, and running the
reachable nodes from the highest to the lowest is exactly what PyTorch's ready queue does. The order is therefore known
before the first node runs: a debugger can show what comes next, and going back is decrementing an index. A leaf's
AccumulateGrad runs right after its last consumer, as in PyTorch, where it has the highest priority of all.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Iterable
from time import perf_counter_ns
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np

from . import errors, events
from .grad_mode import mode
from .node import AccumulateGrad, Buffers, Node
from .saved import Freed, FreedAccess

if TYPE_CHECKING:
    from .tensor import Tensor

_by_seq = operator.attrgetter("seq")


class Capture:
    """Where ``autograd.grad`` picks up a gradient: output ``nr`` of ``node``."""

    __slots__ = ("node", "nr", "value")

    def __init__(self, node: Node, nr: int) -> None:
        self.node = node
        self.nr = nr
        self.value: Any = None


class _Current(threading.local):
    """The pass and node that run in this thread."""

    bp: BackwardPass | None = None
    node: Node | None = None


current = _Current()


class BackwardPass:
    """One call of ``backward`` or ``grad``: :meth:`start`, then :meth:`run` or :meth:`step` by step, then :meth:`finish`."""

    def __init__(self, call: str, retain_graph: bool, create_graph: bool, code: CodeType, lasti: int) -> None:
        self.call = call
        self.retain_graph = retain_graph
        self.create_graph = create_graph
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
        self.freed = None if retain_graph else Freed(call, code, lasti)
        self.roots: list[tuple[Node, int]] = []
        self.captures: list[Capture] = []
        self.parent = current.bp
        self.tag = 0
        self._general = create_graph
        self._wanted: set[Node] | None = None
        self._captured: dict[Node, list[Capture]] = {}

    # ----- planning -----

    def start(self, roots: Iterable[tuple[Node, int, Any]], captures: list[Capture] | None = None) -> None:
        """Plan the order for ``(node, output number, gradient)`` roots; with ``captures`` only what they need runs.

        Gradients are buffers, or tensors under ``create_graph``.
        """
        for node, nr, g in roots:
            self.roots.append((node, nr))
            self._put(node, nr, g)
        self.order = plan(dict.fromkeys(n for n, _ in self.roots))
        if captures is not None:
            self._restrict(captures)
        self.run_node: Callable[[Node], None] = self._general_node if self._general else _fast_runner(self)
        if events.sink is not None:
            events.sink.pass_started(self)

    def _put(self, node: Node, nr: int, g: Any) -> None:
        key = (node, nr) if nr else node
        if key in self.buffers:
            self.buffers[key] = self.buffers[key] + g
        else:
            self.buffers[key] = g
            self.shared.add(key)

    def _restrict(self, captures: list[Capture]) -> None:
        """Keep the nodes on a path to a capture; captured nodes themselves only where another capture lies below."""
        self.captures = captures
        self._general = True
        for c in captures:
            self._captured.setdefault(c.node, []).append(c)
        wanted: set[Node] = set()
        for node in reversed(self.order):
            if any(n in wanted or n in self._captured for n in node.next_nodes() if n is not None):
                wanted.add(node)
        self._wanted = wanted
        self.order = [n for n in self.order if n in wanted or n in self._captured]

    # ----- running -----

    def run(self) -> None:
        """Run all remaining nodes; on an error the pass is finished and the error raised."""
        before = mode.grad, current.bp, current.node
        mode.grad = self.create_graph
        current.bp = self
        try:
            if events.sink is None:
                run_node = self.run_node
                for node in self.order:
                    run_node(node)
                self.position = len(self.order)
            else:
                self._run_observed()
        except BaseException as error:
            raise self._failed(error) from None
        finally:
            mode.grad, current.bp, current.node = before
        self.finish(None)

    def _run_observed(self) -> None:
        for node in self.order:
            self._observed(node)

    def _observed(self, node: Node) -> None:
        sink = events.sink
        started = perf_counter_ns()
        try:
            self.run_node(node)
        except BaseException as error:
            if sink is not None:
                sink.node_ran(self, node, self.position, started, perf_counter_ns(), error)
            raise
        if sink is not None:
            sink.node_ran(self, node, self.position, started, perf_counter_ns(), None)
        self.position += 1

    def step(self) -> Node | None:
        """Run the next node and return it; ``None`` when there is none left. The driver calls :meth:`finish` then."""
        if self.position >= len(self.order):
            return None
        node = self.order[self.position]
        before = mode.grad, current.bp
        mode.grad = self.create_graph
        current.bp = self
        try:
            self._observed(node)
        except BaseException as error:
            raise self._failed(error) from None
        finally:
            mode.grad, current.bp = before
        return node

    def finish(self, error: BaseException | None) -> None:
        """End the pass: buffers are dropped, instruments told."""
        self.buffers.clear()
        if events.sink is not None:
            events.sink.pass_finished(self, error)

    def _failed(self, error: BaseException) -> BaseException:
        """What to raise for ``error``: the real text where a freed slot was read."""
        if isinstance(error, FreedAccess):
            error = errors.backward_twice(_frame_node(error), error.freed)
        elif events.sink is not None and errors.details_of(error).kind == "other":
            events.sink.error(error, self.code, self.lasti)  # raised by a hook or by Python, not by errors.make
        self.finish(error)
        return error

    # ----- the general way to run a node: hooks, several outputs, recording, captures, undefined gradients -----

    def _general_node(self, node: Node) -> None:
        current.node = node
        gs = self._take(node)
        if node.hooks is not None:
            gs = self._tensor_hooks(node, gs)
        for c in self._captured.get(node, ()):
            g = gs[c.nr] if c.nr < len(gs) else None
            c.value = g
        if self._wanted is not None and node not in self._wanted:
            return
        if node.hooks is not None and node.hooks.pre:
            gs = self._pre_hooks(node, gs)
        grads = self._grads(node, gs)
        if node.hooks is not None and node.hooks.post:
            grads = self._post_hooks(node, grads, gs)
        if self.create_graph:
            _route_tensors(node, grads, self.buffers)
        else:
            route(node, grads, self.buffers, self.shared, self.summed)
        if self.freed is not None:
            node.release(self.freed)

    def _take(self, node: Node) -> list[Any]:
        """The incoming gradients of all outputs."""
        gs = [self.buffers.pop(node, None)]
        if node.multi:
            gs += [self.buffers.pop((node, nr), None) for nr in range(1, node.n_outputs)]  # type: ignore[attr-defined]
        return gs

    def _grads(self, node: Node, gs: list[Any]) -> tuple[Any, ...]:
        if all(g is None for g in gs):
            return (None,) * len(node.next_nodes())
        if isinstance(node, AccumulateGrad):
            self._accumulate(node, gs[0])
            return ()
        g = gs if node.multi else gs[0]
        return node.grads_graph(g) if self.create_graph else node.grads(g)

    def _accumulate(self, node: AccumulateGrad, g: Any) -> None:
        leaf = node.variable
        if not self.create_graph:
            leaf._accumulate(g, node not in self.shared and node.hooks is None)
            return
        old = leaf._grad
        leaf._grad = g if old is None else old + g

    def _tensor_hooks(self, node: Node, gs: list[Any]) -> list[Any]:
        assert node.hooks is not None
        for nr, mine in node.hooks.tensor.items():
            if gs[nr] is None:
                continue
            for hook in list(mine.hooks.values()):
                g = self._as_tensor(gs[nr])
                gs[nr] = self._replaced(hook(g), g, node, "tensor")
            self.shared.add(node)
            t = mine.retain() if mine.retain is not None else None
            if t is not None:
                g = self._as_tensor(gs[nr])
                t._grad = g if self.create_graph else g.detach().clone()
        return gs

    def _pre_hooks(self, node: Node, gs: list[Any]) -> list[Any]:
        assert node.hooks is not None
        for hook in list(node.hooks.pre.values()):
            tensors = tuple(None if g is None else self._as_tensor(g) for g in gs)
            answer = hook(tensors)
            if answer is not None:
                gs = self._replaced_all(answer, tensors, node, "pre")
        return gs

    def _post_hooks(self, node: Node, grads: tuple[Any, ...], gs: list[Any]) -> tuple[Any, ...]:
        assert node.hooks is not None
        outputs = tuple(None if g is None else self._as_tensor(g) for g in gs)
        for hook in list(node.hooks.post.values()):
            inputs = tuple(None if g is None else self._as_tensor(g) for g in grads)
            answer = hook(inputs, outputs)
            if answer is not None:
                grads = tuple(self._replaced_all(answer, inputs, node, "post"))
        return grads

    def _replaced_all(self, answer: Any, before: tuple[Any, ...], node: Node, kind: str) -> list[Any]:
        answer = (answer,) if not isinstance(answer, tuple) else answer
        if len(answer) != len(before):
            raise RuntimeError(f"hook has returned an incorrect number of values: got {len(answer)}, but expected {len(before)}")
        return [self._replaced(a, b, node, kind) for a, b in zip(answer, before, strict=True)]

    def _replaced(self, answer: Any, before: Any, node: Node, kind: str) -> Any:
        """A hook's answer as the pass's kind of gradient, checked like PyTorch does."""
        if events.sink is not None:
            events.sink.hook("fired", kind, node, self.code, self.lasti)
        chosen = before if answer is None else answer
        if chosen is None or not hasattr(chosen, "_a"):
            if chosen is not None:
                raise TypeError(f"expected Variable, but hook returned '{type(chosen).__name__}'")
            return None
        if before is not None:
            if chosen.dtype != before.dtype:
                raise RuntimeError(
                    f"hook '{kind}' has changed the type of value (was torch.{errors.scalar_type(before.dtype)}Tensor got "
                    f"torch.{errors.scalar_type(chosen.dtype)}Tensor)"
                )
            if chosen.shape != before.shape:
                raise RuntimeError(f"hook '{kind}' has changed the size of value")
        return chosen if self.create_graph else chosen._a

    def _as_tensor(self, g: Any) -> Tensor:
        from .tensor import Tensor, wrap

        return g if isinstance(g, Tensor) else wrap(g)


def plan(roots: Iterable[Node]) -> list[Node]:
    """All nodes reachable from ``roots`` in running order: by falling sequence number, a leaf after its last consumer."""
    order: list[Node] = []
    last: dict[Node, Node] = {}
    alone: list[Node] = []
    seen = set(roots)
    stack = list(seen)
    pop, push, add_seen, take = stack.pop, stack.append, seen.add, order.append
    while stack:
        node = pop()
        if node.leaf:
            alone.append(node)
            continue
        take(node)
        arity = node.arity
        if arity == 1:
            following: tuple[Node | None, ...] = (node.n0,)  # type: ignore[attr-defined]
        elif arity == 2:
            following = (node.n0, node.n1)  # type: ignore[attr-defined]
        else:
            following = node.next_nodes()
        for n in following:
            if n is None:
                continue
            if n.leaf:
                before = last.get(n)
                if before is None or node.seq < before.seq:
                    last[n] = node
            elif n not in seen:
                add_seen(n)
                push(n)
    order.sort(key=_by_seq, reverse=True)
    alone = [n for n in alone if n not in last]
    return alone + (_with_leaves(order, last) if last else order)


def _with_leaves(order: list[Node], last: dict[Node, Node]) -> list[Node]:
    """Put every leaf behind its last consumer, in the order of that consumer's edges."""
    waiting: dict[Node, list[Node]] = {}
    for leaf, consumer in last.items():
        waiting.setdefault(consumer, []).append(leaf)
    out: list[Node] = []
    for node in order:
        out.append(node)
        leaves = waiting.get(node)
        if leaves is not None:
            if len(leaves) > 1:
                position = {n: i for i, n in reversed(list(enumerate(node.next_nodes())))}
                leaves.sort(key=position.__getitem__)  # type: ignore[arg-type]
            out.extend(leaves)
    return out


def _fast_runner(bp: BackwardPass) -> Callable[[Node], None]:
    """``run_node`` for passes on buffers: the node's own ``run``, the general way where a node is special."""
    buffers, shared, summed, freed = bp.buffers, bp.shared, bp.summed, bp.freed
    pop = buffers.pop
    general = bp._general_node

    def run_node(node: Node) -> None:
        if node.hooks is None and not node.multi:
            g = pop(node, None)
            if g is not None:
                current.node = node
                node.run(g, buffers, shared, summed, freed)
        else:
            general(node)

    return run_node


def add(buffers: Buffers, key: Any, g: Any, shared: set[Any], summed: set[Any]) -> None:
    """Add ``g`` to the gradient waiting under ``key``: in place if that one was made here by an earlier addition."""
    old = buffers[key]
    if key in summed:
        buffers[key] = np.add(old, g, old) if isinstance(old, np.ndarray) else old + g
    else:
        buffers[key] = old + g
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
        buffers[key] = buffers[key] + g if key in buffers else g


def _frame_node(error: FreedAccess) -> Node:
    """The node that was running when a freed slot was read."""
    assert current.node is not None
    return current.node

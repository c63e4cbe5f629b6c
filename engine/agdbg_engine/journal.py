"""Going back in a backward pass: what a node is about to change is noted before it runs, and put back to undo it.

The order of a pass is fixed, so a step back is an index and the few things that one node touches: the gradients that wait at
it and at its producers, its saved tensors, the gradient that ``grad`` picks up, the ``grad`` of a leaf. Only what would be
written in place is copied. Nodes run exactly as they run without a journal.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np

from . import events, noting, several
from .backward import Abandoned, BackwardPass
from .node import AccumulateGrad, Node, Nowhere
from .noting import CAME_IN, NODE, Note
from .saved import Freed, Packed, seen
from .saved.seen_storage import rejoin
from .tensor import Tensor, wrap
from .view import CopySlices

MOST_NODES = 10_000
MOST_BYTES = 256 * 2**20
MOST_NESTED = 50
"""Passes within passes that are undone with the node that called the first: deeper ones would exhaust the stack."""

Restore = Callable[[], None]


class Barrier(RuntimeError):
    """A node was not undone, since it has called functions of the user, whose effects nobody can take back."""


class Journal:
    """The nodes of one pass that can be undone, at most :data:`MOST_NODES` and :data:`MOST_BYTES` of them."""

    def __init__(self, bp: BackwardPass, depth: int = 0) -> None:
        self.bp = bp
        self._depth = depth
        """In how many others it is nested."""
        self._has_lost = False
        """Whether there was too much, so that the pass cannot be undone as a whole."""
        self._entries: deque[_Entry | Note] = deque()
        self._counted = 0
        """How many of the entries, from the first on, are among the bytes: they are counted when they are many, or much came in."""
        self._bytes = self._others = 0
        """The bytes of those that are counted, and of entries that were taken since."""
        self._replaced: list[tuple[Node, str, Any]] = []
        """What stood in the slots of the next node that a person has put something else into."""

    def __len__(self) -> int:
        """How many nodes can be undone."""
        return len(self._entries)

    def step(self, run_node: Callable[[Node], None] | None = None) -> None:
        """Run the next node of the pass, noted; errors are those of :meth:`BackwardPass.run`."""
        if run_node is None and not self._replaced:
            self._step_noting()
            return
        entry = self._noted()
        try:
            self._advance(1, run_node)
        finally:
            _put_back(slot for slot in entry.replaced if not isinstance(getattr(*slot[:2]), Freed))

    def _step_noting(self) -> None:
        """As :meth:`step`, of a node as it is."""
        entries = self._entries
        run_node = noting.runner(self.bp, entries.append, self._take_other, _nothing, MOST_BYTES, self._count)
        many = len(entries)
        try:
            self._advance(1, run_node, whole=True)
        finally:
            if len(entries) > many and not isinstance(entries[-1], _Entry):
                self._others += noting.size_of(entries[-1])
            if self._others > MOST_BYTES // 16 or len(entries) > MOST_NODES:
                self._count()

    def advance(self, count: int, before: Callable[[Node], object], where: Container[int] | None = None) -> None:
        """Run at most ``count`` of the next nodes, noted. ``before`` is called with each; when it raises
        :class:`~agdbg_engine.backward.Abandoned`, the node does not run, and nor do those after it.
        ``where``, if given, are the positions at which it is called; at others it has nothing to say.
        """
        try:
            if self._replaced:
                before(self.bp.order[self.bp.position])
                self.step()
                count -= 1
            if count > 0:
                run_node = noting.runner(
                    self.bp, self._entries.append, self._take_other, before, MOST_BYTES // 16, self._count, where
                )
                self._advance(count, run_node, whole=True)
        except Abandoned:
            pass
        finally:
            if len(self._entries) - self._counted > MOST_NODES // 2:  # most passes are over before
                self._count()

    def run(self) -> None:
        """Run what is left of the pass, noted."""
        self.advance(len(self.bp.order) - self.bp.position, _nothing, ())

    def _advance(self, count: int, run_node: Callable[[Node], None] | None, whole: bool = False) -> None:
        self.bp.journal = self
        try:
            self.bp.advance(count, run_node, whole=whole)
        finally:
            self.bp.journal = None

    @contextmanager
    def nested(self, bp: BackwardPass) -> Iterator[None]:
        """While this is open ``bp``, which the node that runs has called, is noted, to be undone with that node."""
        journal = bp.noted = Journal(bp, self._depth + 1)
        try:
            yield
        except BaseException:
            journal._close_failed()
            raise
        finally:
            bp.noted = None
            self._keep(journal)

    def _close_failed(self) -> None:
        """The last node that was noted has failed: the pass has not come past it."""
        if self._entries and not isinstance(self._entries[-1], _Entry):
            self._entries[-1] = _Entry.of_note(self.bp, self._entries[-1], self.bp.position)

    def _keep(self, journal: Journal) -> None:
        """Undo what ``journal`` has noted with the node that runs."""
        entry = self._entries[-1]
        if not isinstance(entry, _Entry):  # it calls nothing: a signal has come, or a finalizer
            return
        if journal._has_lost or self._depth >= MOST_NESTED:
            entry.has_lost = True
            entry.nested.clear()
        if entry.has_lost:
            return
        entry.nested.append(journal)
        size = sum(map(_bytes_of, journal._entries))
        entry.bytes += size
        if self._counted == len(self._entries):
            self._bytes += size
        else:
            self._others += size

    def _take_other(self, node: Node) -> None:
        entry = _Entry(self.bp, node)
        self._entries.append(entry)
        self._others += entry.bytes
        if self._others > MOST_BYTES // 16:
            self._count()

    def _count(self) -> None:
        """Count the bytes of the last entries, and let go of the oldest if there are too many."""
        entries = self._entries
        self._bytes += sum(map(_bytes_of, islice(reversed(entries), len(entries) - self._counted)))
        while len(entries) > MOST_NODES or (self._bytes > MOST_BYTES and len(entries) > 1):
            self._bytes -= _bytes_of(entries.popleft())
            self._has_lost = True
        self._counted, self._others = len(entries), 0

    def skip(self) -> None:
        """Go past the next node without running it, noted: see :func:`agdbg_engine.interventions.skip`."""
        from .interventions import skip

        entry = self._noted()
        entry.sent = skip(self.bp)
        _put_back(entry.replaced)

    def _noted(self) -> _Entry:
        """The entry of the next node, which is about to change something."""
        entry = _Entry(self.bp, self.bp.order[self.bp.position])
        entry.replaced, self._replaced = self._replaced, []
        self._entries.append(entry)
        self._count()
        return entry

    @property
    def has_replaced(self) -> bool:
        """Whether a saved tensor of the next node is another one for its next run."""
        return bool(self._replaced)

    def replace_saved(self, slot: str, array: Any) -> None:
        """Let the next node find ``array``, a buffer nobody else holds, in ``slot`` when it runs: once, with no version check.

        When it has run, or was not run but gone back from, the slot has again what it had, unless that was freed.
        """
        node = self.bp.order[self.bp.position]
        known = {(id(n), name) for n, name, _ in self._replaced}
        is_output = node.outputs_saved[node.slots.index(slot)]
        bare = is_output and not node.user_code
        names = ["s_" + slot, *(["o_storage"] if bare and sum(node.outputs_saved) == 1 else [])]
        self._replaced += [(node, name, getattr(node, name)) for name in names if (id(node), name) not in known]
        setattr(node, "s_" + slot, array if bare else wrap(array))
        for name in names[1:]:
            setattr(node, name, None)

    def barrier(self) -> Node | None:
        """The node that ran last, if it ran functions of the user, whose effects nobody can undo."""
        entry = self._in_full(self._entries[-1]) if self._entries else None
        if entry is None or entry.sent is not None:
            return None
        return entry.node if entry.unpacks or runs_user_code(entry.node) else None

    def undoes_passes(self) -> bool:
        """Whether undoing the node that ran last undoes passes that it called."""
        entry = self._entries[-1] if self._entries else None
        return isinstance(entry, _Entry) and bool(entry.nested)

    def undo(self, force: bool = False) -> Node:
        """Take back the last run; raises :class:`IndexError` when there is none.

        And :class:`Barrier` when there is a :meth:`barrier`, unless told to do it by ``force``: then what functions of the user
        have done stays as it is.
        """
        barrier = None if force else self.barrier()
        if barrier is not None:
            raise Barrier(
                f"{barrier.op_name} has called functions of the program (hooks, a custom Function), and what they did cannot be "
                "taken back; undo(force=True) takes back the rest"
            )
        taken = self._entries.pop()
        if self._counted > len(self._entries):
            self._bytes -= _bytes_of(taken)
            self._counted -= 1
        entry = self._in_full(taken)
        _put_back(self._replaced)
        self._replaced = []
        ran = self.bp.position > entry.position
        entry.restore()
        if ran and events.sink is not None:
            events.sink.node_undone(self.bp, entry.node, entry.position)
        return entry.node

    def gradients_in(self, node: Node) -> list[Any] | None:
        """The gradients that came in for each output of a noted ``node``; ``None`` when it is not noted."""
        entry = self._find(node)
        return None if entry is None else [entry.before.get(key) for key in own_keys(node)]

    def gradients_out(self, node: Node) -> tuple[Any, ...] | None:
        """What a noted ``node`` sends to its producers, computed once more from what it had: hooks are not run.

        ``None`` when it is not noted, what it saved was modified since, or only functions of the user can tell.
        """
        entry = self._find(node)
        if entry is not None and entry.sent is not None:
            return entry.sent
        if entry is None or isinstance(node, AccumulateGrad) or innermost(node).user_code:
            return None
        gs = [buffer_of(entry.before.get(key)) for key in own_keys(node)]
        if all(g is None for g in gs):
            return (None,) * len(node.next_nodes())
        if entry.unpacks:
            return None
        with entry.unreleased(), several.beside(gs):
            return node.grads(gs if node.multi else gs[0])

    def saved(self, node: Node) -> dict[str, Any]:
        """What the slots of a noted ``node`` held before it ran."""
        entry = self._find(node)
        if entry is None:
            return {}
        return {name[2:]: seen(value) for n, name, value in entry.slots if n is node and name.startswith("s_")}

    def _find(self, node: Node) -> _Entry | None:
        """The entry of a node; what runs next, which is asked about at each stop, has none unless it has begun."""
        bp = self.bp
        if (
            self._entries
            and _node_of(self._entries[-1]) is not node
            and node in bp.order[bp.position : bp.position + 1]
        ):
            return None
        found = next((e for e in reversed(self._entries) if _node_of(e) is node), None)
        return None if found is None else self._in_full(found)

    def _in_full(self, entry: _Entry | Note) -> _Entry:
        """An entry as such; a note is of the node that ran last, if it is to be gone back over."""
        return entry if isinstance(entry, _Entry) else _Entry.of_note(self.bp, entry, self.bp.position - 1)


def _nothing(node: Node) -> None:
    """Before a node that runs in any case there is nothing to do."""


def runs_user_code(node: Node) -> bool:
    """Whether functions of the user are called when ``node`` runs: its own, its hooks, or those that unpack what it saved."""
    if innermost(node).user_code:
        return True
    for _, _, value in slots_of(node):
        if isinstance(value, Packed) and value.calls_user:
            return True
    return node.hooks is not None and any(True for _ in node.hooks.firing())


def unpacks(slots: Iterable[tuple[Node, str, Any]]) -> bool:
    """Whether functions of the user are called to unpack what stands in these."""
    return any(isinstance(value, Packed) and value.calls_user for _, _, value in slots)


def _bytes_of(entry: _Entry | Note) -> int:
    return entry.bytes if isinstance(entry, _Entry) else noting.size_of(entry)


def _node_of(entry: _Entry | Note) -> Node:
    node: Node = entry.node if isinstance(entry, _Entry) else entry[NODE]
    return node


class _Entry:
    """What one node is about to change."""

    def __init__(self, bp: BackwardPass, node: Node) -> None:
        self._begin(bp, node, bp.position)
        for key in (*own_keys(node), *_next_keys(node)):
            self._note(key)
        self.slots = list(slots_of(node))
        self.unpacks = unpacks(self.slots)
        self.captured = [(c, c.value) for c in bp._captured.get(node, ())]
        self.grads = [self._noted_grad(t) for t in _receivers(node)]
        self.bytes += sum(_size(value) for _, _, value in self.slots)

    def _begin(self, bp: BackwardPass, node: Node, position: int) -> None:
        self.bp = bp
        self.node = node
        self.position = position
        self.before: dict[Any, Any] = {}
        self.flags: dict[Any, tuple[bool, bool]] = {}
        self.bytes = 0
        self.replaced: list[tuple[Node, str, Any]] = []
        self.sent: tuple[Any, ...] | None = None
        """The zeros that went on in place of its gradients; ``None`` when it was not skipped."""
        self.nested: list[Journal] = []
        """The passes that it called, in their order."""
        self.has_lost = False
        """Whether some of what these did cannot be undone: then nothing of it is."""

    @classmethod
    def of_note(cls, bp: BackwardPass, note: Note, position: int) -> _Entry:
        """What a note says of the node at ``position``, which ran last."""
        self = cls.__new__(cls)
        node = note[NODE]
        self._begin(bp, node, position)
        self.before[node] = note[CAME_IN]
        self.flags[node] = node in bp.shared, node in bp.summed
        for key, waiting in noting.waiting_in(note):
            self.flags[key] = waiting[1:] if waiting is not None else (False, False)
            if waiting is not None:
                self.before[key] = waiting[0]
        self.slots = list(noting.slots_of_note(note))
        self.unpacks = unpacks(self.slots)
        self.captured, self.grads = [], []
        self.bytes = noting.size_of(note)
        return self

    def _note(self, key: Any) -> None:
        bp = self.bp
        if key in self.flags:
            return
        self.flags[key] = key in bp.shared, key in bp.summed
        if key in bp.buffers:
            value = bp.buffers[key]
            if key in bp.summed and isinstance(value, np.ndarray):  # more is added in place
                value = value.copy()
            self.before[key] = value
            self.bytes += _size(value)

    def _noted_grad(self, t: Tensor) -> Restore:
        grad = t._gradient
        if grad is None or self.bp.create_graph:  # a new tensor takes its place
            return lambda: setattr(t, "_gradient", grad)
        kept, version = several.copied(grad._a), grad._version
        self.bytes += _size(kept)

        def restore() -> None:
            with several.home((kept,)):
                grad._a[...] = kept
            if grad._storage is not None:
                grad._storage.version = version
                if grad._storage.writers:
                    grad._storage.writers[:] = [w for w in grad._storage.writers if w[0] <= version]
            t._gradient = grad

        return restore

    def restore(self) -> None:
        """Put everything back as it was before the node ran."""
        bp = self.bp
        for journal in reversed(self.nested):
            while journal:
                journal.undo(force=True)
        for key, (shared, summed) in self.flags.items():
            if key in self.before:
                bp.buffers[key] = self.before[key]
            else:
                bp.buffers.pop(key, None)
            _set_member(bp.shared, key, shared)
            _set_member(bp.summed, key, summed)
        _put_back(self.slots)
        _put_back(self.replaced)
        if self.unpacks:
            for _, _, value in self.slots:
                if isinstance(value, Packed):
                    value.unpack_again(bp)
        for capture, value in self.captured:
            capture.value = value
        for restore in self.grads:
            restore()
        bp.position = self.position

    def unreleased(self) -> _Unreleased:
        """While this is open the node has its saved tensors."""
        return _Unreleased(self.slots)


class _Unreleased:
    def __init__(self, slots: list[tuple[Node, str, Any]]) -> None:
        self._slots = slots

    def __enter__(self) -> None:
        self._now = [(node, name, getattr(node, name)) for node, name, _ in self._slots]
        _put_back(self._slots)

    def __exit__(self, *exc: object) -> None:
        _put_back(self._now)


def _put_back(slots: Iterable[tuple[Node, str, Any]]) -> None:
    for node, name, value in slots:
        setattr(node, name, value)
        if name == "o_storage" and not isinstance(value, Freed):
            rejoin(node)


def own_keys(node: Node) -> list[Any]:
    """The keys of the gradients that wait for the outputs of ``node``."""
    return [node, *((node, nr) for nr in range(1, node.n_outputs))] if node.multi else [node]


def _next_keys(node: Node) -> Iterator[Any]:
    """The keys of the buffers that running ``node`` may write to."""
    for n, nr in node.edges():
        if n is not None:
            yield (n, nr) if nr else n
    if node.arity == 1 and type(node.n0) is Nowhere:
        yield node.n0


def innermost(node: Node) -> Node:
    """The node whose op wrote through a view; every other is itself."""
    while isinstance(node, CopySlices):
        node = node.inner
    return node


def slots_of(node: Node) -> Iterator[tuple[Node, str, Any]]:
    """Where the op of ``node`` keeps what it saved: the object, the name of its slot and what is there."""
    while isinstance(node, CopySlices):
        yield node, "freed", node.freed
        node = node.inner
    for name in node.slots:
        yield node, "s_" + name, getattr(node, "s_" + name)
    for name in node.spent:
        yield node, name, getattr(node, name)
    if (
        node.user_code
    ):  # a custom Function has a storage for each output, and notes by itself that it was freed, or read once
        yield node, "_freed", node._freed
        yield node, "_cleared", node._cleared
    elif any(node.outputs_saved):
        yield node, "o_storage", node.o_storage


def _receivers(node: Node) -> Iterator[Tensor]:
    """The tensors whose ``grad`` the run of ``node`` fills."""
    if isinstance(node, AccumulateGrad):
        yield node.variable
    for retaining in node.hooks.retain.values() if node.hooks is not None else ():
        t = retaining()
        if t is not None:
            yield t


def _set_member(members: set[Any], key: Any, wanted: bool) -> None:
    if wanted:
        members.add(key)
    else:
        members.discard(key)


def buffer_of(g: Any) -> Any:
    """The buffer of a gradient, which may be a tensor."""
    return g._a if isinstance(g, Tensor) else g


def _size(value: Any) -> int:
    size: int = getattr(buffer_of(value), "nbytes", 0)
    return size

"""The adapter of agdbg's own engine: its facts become records.

The engine gives every node and storage a ``tag`` slot for the id that the recorder hands out, so that no table from
objects to ids is needed and nothing is kept alive. Nodes that are older than the recording get their record when they
are first mentioned.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import CodeType
from typing import Any

from agdbg_engine import events as engine_events
from agdbg_engine.backward import BackwardPass, current
from agdbg_engine.errors import details_of
from agdbg_engine.node import Node
from agdbg_engine.storage import Storage
from agdbg_engine.tensor import Tensor

from agdbg.events import CREATE_GRAPH, RETAIN_GRAPH, HookAction, Kind, head, pack_edge, pack_pair, pack_save
from agdbg.record import Recorder

SEES: dict[str, object] = {
    "edges": "observed",
    "saves": "observed",
    "writes": "observed",
    "unpack": False,
    "freed": "derived",
    "silent writes": False,
}
"""What this adapter can see, for the trace's header."""

_VERSION_LIMIT = 1 << 20
_STORAGE_LIMIT = 1 << 36
_HOOK_ACTIONS = {"registered": HookAction.REGISTERED, "fired": HookAction.FIRED, "removed": HookAction.REMOVED}

_sink: NativeSink | None = None


def attach(recorder: Recorder) -> None:
    """Record everything the engine does from now on."""
    global _sink
    _sink = NativeSink(recorder)
    engine_events.install(_sink)


def detach() -> None:
    """Stop recording; what is counted but not yet told is told."""
    global _sink
    if _sink is not None:
        _sink.tell_counts()
        engine_events.remove()
    _sink = None


class _Shape:
    """What is the same for all nodes of one class: op string, slots, how to read what they saved."""

    __slots__ = ("fields", "n_saves", "op", "outputs")

    def __init__(self, cls: type[Node], recorder: Recorder) -> None:
        self.op = recorder.op(cls.op_name, tuple(cls.slots)) << 32
        self.outputs = tuple(cls.outputs_saved)
        self.n_saves = len(cls.slots)
        names = [x for slot in cls.slots for x in ("s_" + slot, "v_" + slot)]
        self.fields: Callable[[Node], tuple[Any, ...]] | None = operator.attrgetter(*names) if names else None


class NativeSink(engine_events.Sink):
    """Writes the engine's facts with a :class:`~agdbg.record.Recorder`."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._emit = recorder.emit
        self._new_node = recorder.new_node
        self._ordinal = recorder._ordinal
        self._shapes: dict[type[Node], _Shape] = {}
        self._sites: dict[int, dict[int, int]] = {}
        self._cuts: dict[tuple[int, int], list[int]] = {}
        self._names: dict[int, tuple[int, int]] = {}

    # ----- the two records of every node -----

    def node_born(self, node: Node, out: Tensor) -> None:  # noqa: D102
        try:
            self._born(node, out)
        except Exception:
            engine_events.drop(self)

    def _born(self, node: Node, out: Tensor | None) -> int:
        node.tag = tag = self._new_node()
        cls = type(node)
        shape = self._shapes.get(cls) or self._shapes.setdefault(cls, _Shape(cls, self._recorder))
        arity = cls.arity
        e0 = e1 = 0
        more: tuple[int, ...] = ()
        if arity == 1:
            n = node.n0  # type: ignore[attr-defined]
            if n is not None:
                e0 = n.tag if hasattr(n, "tag") else self._tag(n)
        elif arity == 2:
            n = node.n0  # type: ignore[attr-defined]
            if n is not None:
                e0 = n.tag if hasattr(n, "tag") else self._tag(n)
            n = node.n1  # type: ignore[attr-defined]
            if n is not None:
                e1 = n.tag if hasattr(n, "tag") else self._tag(n)
        if arity > 2 or node.nrs is not None:
            e0, e1, more, arity = self._edges(node)
        s0 = s1 = 0
        late: list[tuple[int, int, int]] = []
        if shape.fields is not None:
            s0, s1, late = self._saves(node, shape, out)
        lasti = node.lasti
        sites = self._sites.get(id(node.code))
        site = (sites.get(lasti) if sites is not None else None) or self._site(node.code, lasti)
        thread = self._ordinal.number
        self._emit(
            1 | arity << 16 | shape.n_saves << 24 | thread << 32, tag, node.seq, site | shape.op, e0, e1, s0, s1
        )
        for i, e in enumerate(more, 2):
            self._emit(head(Kind.EDGE, thread), tag, i, e, 0, 0, 0, 0)
        for slot, storage, version in late:
            self._emit(head(Kind.SAVED, thread), tag, slot, storage, version, 0, 0, 0)
        if node.leaf and out is not None:
            self._name_leaf(node, out)
        return tag

    def _edges(self, node: Node) -> tuple[int, int, tuple[int, ...], int]:
        """Edges in the general form: any number of them, any output."""
        words = [0 if n is None else pack_edge(self._tag(n), nr) for n, nr in node.next_functions]
        padded = [*words, 0, 0]
        return padded[0], padded[1], tuple(words[2:]), min(len(words), 255)

    def _saves(self, node: Node, shape: _Shape, out: Tensor | None) -> tuple[int, int, list[tuple[int, int, int]]]:
        """Words of the first two saved tensors, and the others as ``(slot, storage, version)``."""
        assert shape.fields is not None
        words: list[int] = []
        late = []
        fields = shape.fields(node)
        for slot, is_output in enumerate(shape.outputs):
            value, version = fields[2 * slot], fields[2 * slot + 1]
            if value is None:
                continue
            storage = self._slot_storage(node, value, is_output, out)
            if storage is None:
                continue
            sid = storage.tag or self._new_storage(storage)
            if len(words) < 2 and version < _VERSION_LIMIT and sid < _STORAGE_LIMIT:
                words.append(sid | version << 36 | slot << 56)
            else:
                late.append((slot, sid, version))
        words += [0, 0]
        return words[0], words[1], late

    def _slot_storage(self, node: Any, value: Any, is_output: bool, out: Tensor | None) -> Storage | None:
        """The storage of a saved tensor, made if nothing shares it yet; ``None`` for a freed slot."""
        if not is_output:
            return value._shared_storage() if isinstance(value, Tensor) else None
        if node.o_storage is None and out is not None:
            return out._shared_storage()
        return node.o_storage if isinstance(node.o_storage, Storage) else None

    def slot_saved(self, node: Node, slot: int, storage: Storage, version: int) -> None:  # noqa: D102
        self._emit(head(Kind.SAVED, self._ordinal.number), self._tag(node), slot, self._storage(storage), version, 0, 0, 0)

    def node_ran(  # noqa: D102
        self, bp: BackwardPass, node: Node, order: int, start_ns: int, end_ns: int, error: BaseException | None
    ) -> None:
        try:
            tag = node.tag if hasattr(node, "tag") else self._tag(node)
            started = start_ns - self._recorder.start_ns
            self._emit(
                4 | self._ordinal.number << 32, tag, bp.tag, order, started, end_ns - start_ns, 0 if error is None else 1, 0
            )
        except Exception:
            engine_events.drop(self)

    # ----- passes -----

    def pass_started(self, bp: BackwardPass) -> None:  # noqa: D102
        bp.tag = self._recorder.new_pass()
        thread = self._ordinal.number
        flags = RETAIN_GRAPH * bp.retain_graph | CREATE_GRAPH * bp.create_graph
        roots = [pack_edge(self._tag(node), nr) for node, nr in bp.roots]
        parent = bp.parent.tag if bp.parent is not None else 0
        self._emit(
            head(Kind.PASS_STARTED, thread, flags, len(roots)), bp.tag, self._site_op(bp.code, bp.lasti, bp.call), roots[0], parent,
            self._recorder.now(), len(bp.order), 0,
        )  # fmt: skip
        for i, root in enumerate(roots[1:], 1):
            self._emit(head(Kind.ROOT, thread), bp.tag, i, root, 0, 0, 0, 0)

    def pass_finished(self, bp: BackwardPass, error: BaseException | None) -> None:  # noqa: D102
        outcome = 0 if error is None else 1
        self._emit(
            head(Kind.PASS_FINISHED, self._ordinal.number), bp.tag, outcome, bp.position, self._recorder.now(), 0, 0, 0
        )
        if error is not None:
            self._recorder.flush()

    # ----- rare events -----

    def version_bumped(  # noqa: D102
        self, tensor: Tensor, storage: Storage, op: str, node: Node | None, code: CodeType, lasti: int
    ) -> None:
        sid = self._storage(storage)
        made = 0 if node is None else self._tag(node)
        where = self._site_op(code, lasti, op)
        version = storage.version
        self._emit(head(Kind.BUMP, self._ordinal.number), sid, version - 1, version, where, made, 0, 0)

    def view_created(self, view: Tensor, base: Tensor, op: str, code: CodeType, lasti: int) -> None:  # noqa: D102
        storage = view._storage
        assert storage is not None
        self._emit(
            head(Kind.VIEW, self._ordinal.number), self._storage(storage), self._producer(base), self._producer(view),
            self._site_op(code, lasti, op), 0, 0, 0,
        )  # fmt: skip

    def history_rebased(  # noqa: D102
        self, tensor: Tensor, old: Node | None, new: Node, op: str, code: CodeType, lasti: int
    ) -> None:
        before = 0 if old is None else pack_edge(self._tag(old))
        where = self._site_op(code, lasti, op)
        storage = self._storage(tensor._shared_storage())
        self._emit(head(Kind.REBASED, self._ordinal.number), storage, before, pack_edge(self._tag(new)), where, 0, 0, 0)

    def graph_cut(self, tensor: Tensor, how: str, code: CodeType, lasti: int) -> None:
        """Told the first time and whenever the count doubles: a cut in a loop costs next to nothing."""
        where = self._site_op(code, lasti, how)
        key = (where, 0)
        entry = self._cuts.get(key)
        if entry is None:
            entry = self._cuts[key] = [0, self._storage(tensor._shared_storage()), self._producer(tensor)]
        entry[0] += 1
        if entry[0] & (entry[0] - 1) == 0:
            self._tell_cut(where, entry)

    def _tell_cut(self, where: int, entry: list[int]) -> None:
        count, storage, producer = entry
        self._emit(head(Kind.CUT, self._ordinal.number), storage, where, producer, count, 0, 0, 0)

    def tell_counts(self) -> None:
        """Write the final counts of repeated cuts."""
        for (where, _), entry in self._cuts.items():
            if entry[0] & (entry[0] - 1):
                self._tell_cut(where, entry)

    def tensor_named(self, tensor: Tensor, name: str, kind: str) -> None:  # noqa: D102
        storage = self._storage(tensor._shared_storage())
        words = pack_pair(self._recorder.text(name), self._recorder.text(kind))
        self._names[storage] = (self._recorder.new_tensor(), words)
        self._tell_name(storage, self._producer(tensor))

    def _tell_name(self, storage: int, producer: int) -> None:
        tensor, words = self._names[storage]
        self._emit(head(Kind.TENSOR, self._ordinal.number), tensor, storage, producer, words, 0, 0, 0)

    def _name_leaf(self, node: Node, leaf: Tensor) -> None:
        """A named leaf has a new AccumulateGrad: the same tensor, another producer."""
        storage = self._storage(leaf._shared_storage())
        if storage in self._names:
            self._tell_name(storage, pack_edge(node.tag))

    def grad_mode(self, enabled: bool, code: CodeType, lasti: int) -> None:  # noqa: D102
        where = self._site_op(code, lasti, "enabled" if enabled else "disabled")
        self._emit(head(Kind.GRAD_MODE, self._ordinal.number), 0, where, 0, 0, 0, 0, 0)

    def hook(self, what: str, kind: str, node: Node | None, code: CodeType, lasti: int) -> None:  # noqa: D102
        tag = 0 if node is None else self._tag(node)
        action = _HOOK_ACTIONS[what]
        running = current.bp.tag if current.bp is not None else 0
        where = self._site_op(code, lasti, kind)
        self._emit(head(Kind.HOOK, self._ordinal.number, a=action), tag, running, where, 0, 0, 0, 0)

    def error(self, error: BaseException, code: CodeType, lasti: int) -> None:  # noqa: D102
        d = details_of(error)
        node = 0 if d.node is None else self._tag(d.node)
        running = current.bp.tag if current.bp is not None else 0
        storage = 0 if d.storage is None else self._storage(d.storage)
        text = self._recorder.text(f"{type(error).__name__}: {error}")
        where = self._site_op(code, lasti, d.kind)
        slot = 0 if d.slot is None else d.slot + 1
        self._emit(
            head(Kind.ERROR, self._ordinal.number), node, running, where, storage, pack_pair(d.expected, d.current), text, slot
        )
        self._recorder.flush()

    # ----- ids -----

    def _tag(self, node: Node) -> int:
        """The id of ``node``; one that is older than the recording is recorded now."""
        stack = [node]
        while stack:  # producers first, without recursion: an old graph may be a million nodes deep
            top = stack[-1]
            if hasattr(top, "tag"):
                stack.pop()
                continue
            missing = [n for n in top.next_nodes() if n is not None and not hasattr(n, "tag")]
            if missing:
                stack.extend(missing)
            else:
                self._born(top, top.variable if top.leaf else None)  # type: ignore[attr-defined]
        return node.tag

    def _storage(self, storage: Storage) -> int:
        return storage.tag or self._new_storage(storage)

    def _new_storage(self, storage: Storage) -> int:
        storage.tag = tag = self._recorder.new_storage()
        return tag

    def _producer(self, t: Tensor) -> int:
        """The EDGE word of what made ``t``, without making an AccumulateGrad or replaying a view."""
        node = t._fn
        if node is None and t._meta is not None and t._meta.accumulator is not None:
            node = t._meta.accumulator()
        return 0 if node is None else pack_edge(self._tag(node), t._nr)

    def _site(self, code: CodeType, lasti: int) -> int:
        sites = self._sites.get(id(code))
        if sites is None:
            sites = self._sites[id(code)] = {}
        site = sites.get(lasti)
        if site is None:
            site = sites[lasti] = self._recorder.site(code, lasti)  # keeps the code object alive
        return site

    def _site_op(self, code: CodeType, lasti: int, op: str) -> int:
        return self._site(code, lasti) | self._recorder.op(op) << 32

"""The adapter of agdbg's own engine: its facts become records.

The engine gives every node and storage a ``tag`` slot for the id that the recorder hands out, so that no table from
objects to ids is needed and nothing is kept alive. Nodes that are older than the recording get their record when they
are first mentioned.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from types import CodeType

from agdbg.agent.agent import Agent
from agdbg.engines.native_birth import MADE_BY_NODE, birth_writer
from agdbg.engines.native_cuts import Cuts
from agdbg.engines.native_driver import Driver
from agdbg.engines.native_hand import HandSink
from agdbg.engines.native_held import HeldGraphs
from agdbg.engines.native_hooks import HookSink
from agdbg.engines.native_modules import ModuleSink
from agdbg.engines.native_older import Older, next_of
from agdbg.engines.native_runs import RunLog
from agdbg.engines.native_sieve import sieve
from agdbg.engines.native_standing import Standing
from agdbg.engines.native_views import Regions, creation
from agdbg.error_text import error_text
from agdbg.events import (
    CREATE_GRAPH,
    PREDICTED,
    RETAIN_GRAPH,
    Kind,
    NeedsGrad,
    head,
    pack_edge,
    pack_pair,
    pack_save,
)
from agdbg.extras import EXTRAS
from agdbg.record import Recorder
from agdbg.record.format import RAN_RECORD
from agdbg_engine import events as engine_events
from agdbg_engine.backward import BackwardPass, current
from agdbg_engine.errors import details_of
from agdbg_engine.nn.module import announce_owner
from agdbg_engine.node import AccumulateGrad, Node
from agdbg_engine.saved import Freed, Packed, Refusal
from agdbg_engine.sites import INTERNAL, RUNNERS, sources
from agdbg_engine.storage import Storage
from agdbg_engine.tensor import Tensor

SEES: dict[str, object] = {
    "edges": "observed",
    "saves": "observed",
    "writes": "observed",
    "unpack": False,
    "freed": "derived",
    "silent writes": False,
    "gradient reads": True,
}
"""What this adapter can see, for the trace's header."""

_AFTER_A_PASS_NS = 300_000
"""Records older than this are written when a pass ends: a program that is killed loses little of what it had done. To write a small
batch takes some 12 us, so this costs at most a twentieth."""

_RAN = int(Kind.RAN)

_PACKAGE = Path(__file__).parent.parent
INTERNAL.update(sources(str(_PACKAGE)))
RUNNERS.update(sources(str(_PACKAGE / "launch")))

_node_count = itertools.count(1)
_node_ids = _node_count.__next__
_storage_ids = itertools.count(1).__next__
"""One numbering for all recordings of a process: a node that outlives one is never mistaken for another in the next."""

_sink: NativeSink | None = None


def sees(also: Collection[str] = ()) -> dict[str, object]:
    """What this adapter can see when it records these extras too, for the trace's header."""
    extras: dict[str, object] = {name: name in also for name in EXTRAS}
    return {**SEES, "silent writes": "checksums" in also, **extras}


def attach(recorder: Recorder, agent: Agent | None = None, also: Collection[str] = ()) -> None:
    """Record everything the engine does from now on, with the extras ``also``, and stop where the agent says."""
    global _sink
    _sink = _new_sink(recorder, also)
    _sink.sums_gradients = "checksums" in also
    if agent is not None:
        _sink.obey(Driver(agent, _sink))
    engine_events.install(_sink)


def _new_sink(recorder: Recorder, also: Collection[str]) -> NativeSink:
    if not also:
        return NativeSink(recorder)
    from agdbg.engines.native_deep import DeepSink  # only who wants it pays for it

    return DeepSink(recorder, also)


def detach() -> None:
    """Stop recording; what is counted but not yet told is told."""
    global _sink
    if _sink is not None:
        _sink.catch_up()
        _sink.tell_counts()
        _sink.graphs.ended(_sink.ordinal.number)
        if engine_events.sink is _sink:  # the program may have installed one of its own since
            engine_events.remove()
    _sink = None


def post_mortem(error: BaseException) -> None:
    """Stop at ``error``, which nobody has caught, if the agent wants that."""
    if _sink is not None and _sink.stepper is not None:
        _sink.stepper.uncaught(error)


class NativeSink(HandSink, HookSink, ModuleSink):
    """Writes the engine's facts with a :class:`~agdbg.record.Recorder`."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder
        self.emit, self.append, self.tick = recorder.emit, recorder.append, recorder.tick
        self.new_node = _node_ids
        self.older = Older(next_of(_node_count), self._born)
        self.ordinal = recorder.ordinal
        self.standing = Standing(recorder.thread)
        self.sites: dict[int, dict[int, int]] = {}
        """Site ids by ``id(code)`` and ``lasti``; the recorder keeps the code objects alive."""
        self._writers: dict[type[Node], Callable[[Node, Tensor], None]] = {}
        self._cuts: dict[int, Cuts] = {}
        self._off = 0  # where gradients were switched off last, 0 while they are on
        self._names: dict[int, tuple[int, int]] = {}
        self._texts: dict[int, list[str]] = {}
        self._foreseeing: BackwardPass | None = None
        self._regions = Regions(recorder)
        self._written_at: dict[int, int] = {}  # by pass, how many batches there were when it began
        self._stood_at: dict[int, int] = {}  # by pass, for how long its thread had stood by then
        self.graphs = HeldGraphs(self.emit, self._tag, self.storage_of)
        self.stepper: Driver | None = None
        self.writes: list[str] | None = None
        """Notes of writes, while somebody wants them."""
        self.copies: dict[int, tuple[Tensor, str]] = {}
        """By ``id()`` of their storage the copies that an evaluation was given, held, with what they are copies of."""
        self.logs: list[RunLog] = []
        """What is noted of nodes that run now, in any thread; told before anything else is recorded."""
        engine_events.guard(self, set(engine_events.METHODS) - {"node_born"}, self, self.logs)

    def obey(self, driver: Driver) -> None:
        """Let ``driver`` run the passes, and stop at births and errors."""
        agent, record_error = driver.agent, self.error
        words, plain_birth_of = agent.words, self.birth_of

        def birth_of(cls: type[Node]) -> Callable[[Node, Tensor], None]:
            write = plain_birth_of(cls)
            known, wanted = None, None

            def watched(node: Node, out: Tensor) -> None:
                nonlocal known, wanted
                write(node, out)
                word = words[0]
                if word == driver.expected:
                    return
                try:
                    if word == driver.sifted:
                        if known != (word, self.modules_told):
                            known, wanted = (word, self.modules_told), sieve(driver.stops, node)
                        if wanted is None or not wanted(node, out):
                            return
                    driver.born(node, out)
                except Exception as error:
                    agent.fail(error)

            return watched

        def error(error: BaseException, code: CodeType, lasti: int) -> None:
            if driver.thread.suppressed:  # somebody's expression failed, not the program
                return
            record_error(error, code, lasti)
            if self._foreseeing is None:
                driver.raised(error, details_of(error))

        def op_failed(error: BaseException, code: CodeType, lasti: int) -> None:
            driver.raised(error, details_of(error))

        self.birth_of, self.error = birth_of, error  # type: ignore[method-assign]  # closures look nothing up
        self.op_failed = op_failed  # type: ignore[method-assign]  # as above
        self.driver, self.stepper = driver.drive, driver

    # ----- the two records of every node -----

    def node_born(self, node: Node, out: Tensor) -> None:
        self.birth_of(type(node))(node, out)

    def birth_of(self, cls: type[Node]) -> Callable[[Node, Tensor], None]:
        """A function that looks nothing up: it is called for every node of ``cls``."""
        write = self._writers.get(cls)
        if write is None:
            try:
                write = self._writers[cls] = birth_writer(cls, self)
            except Exception:  # as at the program's limit of recursion
                return self.born_unusual
        return write

    def node_ran(
        self, bp: BackwardPass, node: Node, order: int, start_ns: int, end_ns: int, error: BaseException | None
    ) -> None:
        self.append_run(
            self.ordinal.number, self._tag(node), bp.tag, order, start_ns, end_ns, 0 if error is None else 1
        )
        if not order & 15:
            self.tick()

    def append_run(
        self, thread: int, tag: int, running: int, order: int, start_ns: int, end_ns: int, outcome: int
    ) -> None:
        """Append the record of one run."""
        began, took = self.recorder.start_ns, end_ns - start_ns
        if thread in self.standing:
            took -= self.standing.within(thread, start_ns, end_ns)
        self.append(RAN_RECORD.pack(_RAN, thread, tag, running, order, start_ns - began, took, outcome))

    def log_of(self, bp: BackwardPass, nodes: Sequence[Node]) -> RunLog | None:
        try:
            return RunLog(self, bp, nodes)
        except RecursionError:  # the program is at its limit
            return None
        except Exception:
            engine_events.drop(self)
            return None

    def catch_up(self) -> None:
        """Tell what has run, in any thread, before something else is told."""
        for log in self.logs[:]:
            log.tell()

    def born_unusual(self, node: Node, out: Tensor) -> None:
        """The general way, for any node."""
        try:
            self._born(node)
        except RecursionError:  # the program is at its limit: the node is told when it is next met, like an old one
            return
        except Exception:
            engine_events.drop(self)

    def _born(self, node: Node) -> int:
        """Record the birth of any node, whatever its age and size."""
        tag, thread, slots = self._new_number(node), self.ordinal.number, node.slots  # a custom Function's are its own
        op = self.recorder.op(type(node).op_name, slots)
        edges = [0 if n is None else pack_edge(self._tag(n), nr) for n, nr in node.edges()]
        saves = [self._save(node, i, tag) for i in range(len(slots))]
        words = [pack_save(*s) for s in saves if s is not None][:2]
        e0, e1, *more_edges = [*edges, 0, 0]
        s0, s1, *_ = [*words, 0, 0]
        self.emit(
            head(Kind.BORN, thread, a=len(edges), b=len(slots)), tag, node.seq,
            self._site(node.code, node.lasti) | op << 32, e0, e1, s0, s1,
        )  # fmt: skip
        for i, word in enumerate(more_edges[: len(edges) - 2], 2):
            self.emit(head(Kind.EDGE, thread), tag, i, word, 0, 0, 0, 0)
        for i, save in enumerate(s for s in saves if s is not None):
            if i > 1 or not words[i]:
                storage, version, slot = save
                self.emit(head(Kind.SAVED, thread), tag, slot, storage, version, 0, 0, 0)
        node.tag = tag
        if isinstance(node, AccumulateGrad):
            self.name_leaf(node)
        return tag

    def _save(self, node: Node, slot: int, tag: int) -> tuple[int, int, int] | None:
        """``(storage, version, slot)`` of a saved tensor; ``None`` when the slot is empty or freed."""
        name = node.slots[slot]
        value, version = getattr(node, "s_" + name), getattr(node, "v_" + name)
        if value is None or isinstance(value, Freed):
            return None
        if isinstance(value, Packed):  # a custom Function's output, or by hooks before the recording began
            storage = value.real_storage
            return 0 if storage is None else self._storage(storage), version, slot
        if not node.outputs_saved[slot]:
            return self.storage_of(value), version, slot
        storage = node.o_storage
        return (MADE_BY_NODE | tag if storage is None else self._storage(storage)), version, slot

    def storage_made(self, storage: Storage, node: Node) -> None:
        """Until now the memory had no storage object and went by the number of the node that made it."""
        if hasattr(node, "tag"):
            storage.tag = MADE_BY_NODE | node.tag

    def slot_saved(self, node: Node, slot: int, storage: Storage, version: int) -> None:
        self.emit(
            head(Kind.SAVED, self.ordinal.number),
            self._tag(node),
            slot,
            self._storage(storage),
            version,
            0,
            0,
            0,
        )

    # ----- passes -----

    def pass_started(self, bp: BackwardPass) -> None:
        self.older.tell(bp.order)
        bp.tag = self.recorder.new_pass()
        thread = self.ordinal.number
        flags = RETAIN_GRAPH * bp.retain_graph | CREATE_GRAPH * bp.create_graph
        roots = [pack_edge(self._tag(node), nr) for node, nr in bp.roots]
        parent = bp.parent.tag if bp.parent is not None else 0
        self.emit(
            head(Kind.PASS_STARTED, thread, flags, len(roots)), bp.tag, self._site_op(bp.code, bp.lasti, bp.call), roots[0], parent,
            self.recorder.now(), len(bp.order), 0,
        )  # fmt: skip
        for i, root in enumerate(roots[1:], 1):
            self.emit(head(Kind.ROOT, thread), bp.tag, i, root, 0, 0, 0, 0)
        self.graphs.started(bp, thread)
        self._written_at[bp.tag] = self.recorder.batches
        self._stood_at[bp.tag] = self.standing.total(thread)

    def pass_finished(self, bp: BackwardPass, error: BaseException | None) -> None:
        outcome, thread = 0 if error is None else 1, self.ordinal.number
        total = self.standing.total(thread)
        stood = total - self._stood_at.pop(bp.tag, total)
        now = self.recorder.now()
        self.emit(head(Kind.PASS_FINISHED, thread), bp.tag, outcome, bp.position, now, stood, 0, 0)
        self.graphs.finished(bp)
        is_torn = self._written_at.pop(bp.tag, 0) != self.recorder.batches
        if error is None:
            self.tick(0 if is_torn else _AFTER_A_PASS_NS)  # of a pass in the trace the end is there, too
        else:
            self.recorder.flush()

    # ----- rare events -----

    def version_bumped(
        self, tensor: Tensor, storage: Storage, op: str, node: Node | None, code: CodeType, lasti: int
    ) -> None:
        sid = self._storage(storage)
        made = 0 if node is None else self._tag(node)
        where = self._site_op(code, lasti, op)
        version = storage.version
        self.emit(head(Kind.BUMP, self.ordinal.number), sid, version - 1, version, where, made, 0, 0)
        if self.writes is not None:
            told = f"{self._called(sid)}: version {version - 1} to {version}"
            if id(storage) in self.copies:
                of = self.copies[id(storage)][1]
                told = f"a copy of {of}, and changed nothing of the program: set {of} = EXPRESSION does"
            self.writes.append(f"{op} wrote to {told}")

    def view_created(self, view: Tensor, base: Tensor, op: str, code: CodeType, lasti: int) -> None:
        storage = view._storage
        assert storage is not None
        self.emit(
            head(Kind.VIEW, self.ordinal.number, a=creation(view)), self._storage(storage), self._producer(base),
            self._producer(view), self._site_op(code, lasti, op), *self._regions.words(view), 0,
        )  # fmt: skip

    def history_rebased(self, tensor: Tensor, old: Node | None, new: Node, op: str, code: CodeType, lasti: int) -> None:
        before = 0 if old is None else pack_edge(self._tag(old))
        where = self._site_op(code, lasti, op)
        storage = self.storage_of(tensor)
        self.emit(
            head(Kind.REBASED, self.ordinal.number),
            storage,
            before,
            pack_edge(self._tag(new)),
            where,
            0,
            0,
            0,
        )

    def graph_cut(self, tensor: Tensor, how: str, code: CodeType, lasti: int) -> None:
        """Told the first time, whenever the count doubles, and of a few others that end on the same line: a cut in a loop
        costs next to nothing.
        """
        where = self._site_op(code, lasti, how)
        cuts = self._cuts.get(where)
        if cuts is None:
            cuts = self._cuts[where] = Cuts()
        node = tensor._fn
        if cuts.add((id(node.code), node.lasti, self._off) if node is not None else (0, id(tensor), self._off)):
            cuts.storage, cuts.producer = self.storage_of(tensor), self._producer(tensor)
        elif cuts.count & (cuts.count - 1):
            return
        self._tell_cut(where, cuts)

    def _tell_cut(self, where: int, cuts: Cuts) -> None:
        cuts.told = cuts.count
        self.emit(head(Kind.CUT, self.ordinal.number), cuts.storage, where, cuts.producer, cuts.count, 0, 0, 0)

    def tell_counts(self) -> None:
        """Write the final counts of repeated cuts."""
        for where, cuts in self._cuts.items():
            if cuts.told < cuts.count:
                self._tell_cut(where, cuts)

    def tensor_named(self, tensor: Tensor, name: str, kind: str) -> None:
        storage = self.storage_of(tensor)
        words = pack_pair(self.recorder.text(name), self.recorder.text(kind))
        texts = self._texts.setdefault(storage, [])
        if name not in texts:  # it is told again when it is frozen, say
            texts.append(name)
        self._names[storage] = (self.recorder.new_tensor(), words)
        self._tell_name(storage, self._producer(tensor), tensor.requires_grad)

    def names_of_leaf(self, node: AccumulateGrad) -> list[str]:
        """The names of the tensor whose gradient ``node`` accumulates."""
        return self._texts.get(self.storage_of(node.variable), [])

    def _called(self, storage: int) -> str:
        return " or ".join(self._texts.get(storage, [])) or "a tensor"

    def _tell_name(self, storage: int, producer: int, requires_grad: bool) -> None:
        tensor, words = self._names[storage]
        needs = NeedsGrad.YES if requires_grad else NeedsGrad.NO
        self.emit(head(Kind.TENSOR, self.ordinal.number, a=needs), tensor, storage, producer, words, 0, 0, 0)

    def name_leaf(self, node: AccumulateGrad) -> None:
        """A named leaf has a new AccumulateGrad: the same tensor, another producer."""
        storage = self.storage_of(node.variable)
        if storage not in self._names:
            announce_owner(node.variable)
        if storage in self._names:
            self._tell_name(storage, pack_edge(node.tag), requires_grad=True)

    def grad_mode(self, enabled: bool, code: CodeType, lasti: int) -> None:
        where = self._site_op(code, lasti, "enabled" if enabled else "disabled")
        self._off = 0 if enabled else where
        self.emit(head(Kind.GRAD_MODE, self.ordinal.number), 0, where, 0, 0, 0, 0, 0)

    def error(self, error: BaseException, code: CodeType, lasti: int) -> None:
        d = details_of(error)
        node = 0 if d.node is None else self._tag(d.node)
        foreseen = self._foreseeing
        bp = foreseen or current.bp
        running = 0 if bp is None else bp.tag
        storage = 0 if d.storage is None else self._storage(d.storage)
        text = self.recorder.text(error_text(error))
        where = self._site_op(code, lasti, d.kind)
        slot = 0 if d.slot is None else d.slot + 1
        self.emit(
            head(Kind.ERROR, self.ordinal.number, PREDICTED if foreseen else 0),
            node,
            running,
            where,
            storage,
            pack_pair(d.expected, d.current),
            text,
            slot,
        )
        self.recorder.flush()

    def foresee(self, refusal: Refusal, bp: BackwardPass) -> BaseException:
        """The error that ``refusal`` will raise in the pass, recorded as foreseen."""
        self._foreseeing = bp
        try:
            return refusal.error()
        finally:
            self._foreseeing = None

    def dropped(self, error: BaseException) -> None:
        self.recorder.abandon(error_text(error))

    # ----- ids -----

    def number(self, node: Node) -> int:
        """The id of a node."""
        return self._tag(node)

    def next_number(self) -> int:
        """The id that the next node gets: those below are built."""
        return next_of(_node_count)

    def _tag(self, node: Node) -> int:
        """The id of ``node``; one that is older than the recording is recorded now."""
        try:
            return node.tag
        except AttributeError:
            return self._tag_older(node)

    def _tag_older(self, node: Node) -> int:
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
                self._born(top)
        return node.tag

    def _storage(self, storage: Storage) -> int:
        """The id of a storage, given at its first mention."""
        if not storage.tag:
            storage.tag = _storage_ids()
        return storage.tag

    def storage_of(self, t: Tensor) -> int:
        """The id of the memory of ``t``; memory that only its maker knows goes by the maker's number."""
        if t._storage is None and t._fn is not None and not t._nr:
            return MADE_BY_NODE | self._tag(t._fn)
        return self._storage(t._shared_storage())

    def _producer(self, t: Tensor) -> int:
        """The EDGE word of what made ``t``, without making an AccumulateGrad or replaying a view."""
        node = t._fn
        if node is None and t._meta is not None and t._meta.accumulator is not None:
            node = t._meta.accumulator()
        return 0 if node is None else pack_edge(self._tag(node), t._nr)

    def _site(self, code: CodeType, lasti: int) -> int:
        sites = self.sites.get(id(code))
        if sites is None:
            sites = self.sites[id(code)] = {}
        site = sites.get(lasti)
        if site is None:
            site = sites[lasti] = self.recorder.site(code, lasti)  # keeps the code object alive
        return site

    def _site_op(self, code: CodeType, lasti: int, op: str) -> int:
        return self._site(code, lasti) | self.recorder.op(op) << 32

"""Queries about what few programs do: hooks on saved tensors, custom Functions, forward mode, checkpoints."""

from dataclasses import dataclass
from functools import cached_property

from agdbg.events import FunctionCall, Kind, a_of, unpack_pair
from agdbg.record.lookup import Op, Site
from agdbg.record.nodes import NodeFacts

_CALLS = {FunctionCall.FORWARD: "forward", FunctionCall.BACKWARD: "backward", FunctionCall.JVP: "jvp"}


@dataclass(frozen=True, slots=True)
class PackFact:
    """A pack hook made something else of what a node saved in a slot."""

    node: int
    slot: str
    site: Site
    row: int


@dataclass(frozen=True, slots=True)
class UnpackFact:
    """An unpack hook gave back what a node saved; ``pass_id`` is 0 when no pass asked for it."""

    node: int
    slot: str
    pass_id: int
    row: int


@dataclass(frozen=True, slots=True)
class CloneFact:
    """``count`` saved tensors of a storage were copied, since it was about to be written."""

    storage: int
    count: int
    site: Site
    row: int


@dataclass(frozen=True, slots=True)
class LevelFact:
    """A level of forward mode was entered, or left with all its tangents; 0 is the public one."""

    level: int
    entered: bool
    site: Site
    row: int


@dataclass(frozen=True, slots=True)
class CallFact:
    """``forward``, ``backward`` or ``jvp`` of a custom Function began; a node that no graph needed was never born."""

    node: int
    what: str
    pass_id: int
    op: Op
    site: Site
    row: int


@dataclass(frozen=True, slots=True)
class UnmarkedFact:
    """The ``forward`` of a custom Function wrote to one of its arguments and did not say so by ``mark_dirty``."""

    storage: int
    node: int
    argument: str
    op: Op
    site: Site
    row: int


@dataclass(frozen=True, slots=True)
class KeptFact:
    """The context of a custom Function holds something as ``name``; what, ``role`` tells: see ``docs/events.md``."""

    node: int
    name: str
    role: str
    storage: int
    site: Site
    row: int


@dataclass(frozen=True, slots=True)
class CastFact:
    """The ``backward`` of a custom Function returned a gradient of dtype ``got`` for an argument of dtype ``wanted``.

    ``given`` is the widest dtype among the gradients that it was given, empty when it was given none; ``fractions`` is how much is
    known of their numbers: see ``docs/events.md``.
    """

    node: int
    pass_id: int
    argument: str
    wanted: str
    got: str
    given: str
    fractions: int
    op: Op
    site: Site
    row: int


@dataclass(frozen=True, slots=True)
class RecomputeFact:
    """A checkpointed function ran again; ``difference`` is empty when it did the same. ``node`` needed what it computes."""

    node: int
    pass_id: int
    ops: int
    difference: str
    site: Site
    row: int


class RareFacts(NodeFacts):
    """The rare facts of a trace, each list in trace order."""

    @cached_property
    def packs(self) -> list[PackFact]:
        """What pack hooks were given."""
        return [self.pack_at(row) for row in self.rows(Kind.PACKED).tolist()]

    def pack_at(self, row: int) -> PackFact:
        """The fact that the PACKED record in this row tells."""
        _, node, slot, where, *_ = self.words(row)
        return PackFact(node, self._slot_name(node, slot), self.site_and_op(where)[0], row)

    def packs_of(self, node: int) -> list[PackFact]:
        """What of a node's saved tensors pack hooks were given."""
        return [self.pack_at(row) for row in self.rows_about(Kind.PACKED, node)]

    @cached_property
    def unpacks(self) -> list[UnpackFact]:
        """What unpack hooks gave back."""
        return [self.unpack_at(row) for row in self.rows(Kind.UNPACKED).tolist()]

    def unpack_at(self, row: int) -> UnpackFact:
        """The fact that the UNPACKED record in this row tells."""
        _, node, slot, pass_id, *_ = self.words(row)
        return UnpackFact(node, self._slot_name(node, slot), pass_id, row)

    def unpacks_of(self, node: int) -> list[UnpackFact]:
        """What unpack hooks gave back of a node's saved tensors."""
        return [self.unpack_at(row) for row in self.rows_about(Kind.UNPACKED, node)]

    @cached_property
    def clones(self) -> list[CloneFact]:
        """The copies that were made since memory was about to be written."""
        return [self.clone_at(row) for row in self.rows(Kind.CLONED).tolist()]

    def clone_at(self, row: int) -> CloneFact:
        """The fact that the CLONED record in this row tells."""
        _, storage, count, where, *_ = self.words(row)
        return CloneFact(storage, count, self.site_and_op(where)[0], row)

    @cached_property
    def levels(self) -> list[LevelFact]:
        """The levels of forward mode, entered and left."""
        return [self.level_at(row) for row in self.rows(Kind.DUAL_LEVEL).tolist()]

    def level_at(self, row: int) -> LevelFact:
        """The fact that the DUAL_LEVEL record in this row tells."""
        words = self.words(row)
        site, _ = self.site_and_op(words[2])
        return LevelFact(words[3], bool(a_of(words[0])), site, row)

    @cached_property
    def function_calls(self) -> list[CallFact]:
        """The calls of the functions of custom Functions."""
        return [self.call_at(row) for row in self.rows(Kind.FUNCTION).tolist()]

    def call_at(self, row: int) -> CallFact:
        """The fact that the FUNCTION record in this row tells."""
        head, node, pass_id, where, *_ = self.words(row)
        site, op = self.site_and_op(where)
        return CallFact(node, _CALLS.get(FunctionCall(min(a_of(head), 2)), ""), pass_id, op, site, row)

    @cached_property
    def unmarked(self) -> list[UnmarkedFact]:
        """The writes of custom Functions to their arguments that nobody was told of."""
        return [self.unmarked_at(row) for row in self.rows(Kind.UNMARKED).tolist()]

    def unmarked_at(self, row: int) -> UnmarkedFact:
        """The fact that the UNMARKED record in this row tells."""
        _, storage, node, where, argument, *_ = self.words(row)
        site, op = self.site_and_op(where)
        return UnmarkedFact(storage, node, self.trace.text(unpack_pair(argument)[0]), op, site, row)

    @cached_property
    def kept(self) -> list[KeptFact]:
        """The tensors that contexts of custom Functions hold and should not."""
        return [self.kept_at(row) for row in self.rows(Kind.KEPT).tolist()]

    def kept_at(self, row: int) -> KeptFact:
        """The fact that the KEPT record in this row tells."""
        _, node, storage, where, name, *_ = self.words(row)
        site, role = self.site_and_op(where)
        return KeptFact(node, self.trace.text(unpack_pair(name)[0]), role.name, storage, site, row)

    @cached_property
    def casts(self) -> list[CastFact]:
        """The gradients of custom Functions that are of another dtype than their arguments."""
        return [self.cast_at(row) for row in self.rows(Kind.CAST).tolist()]

    def cast_at(self, row: int) -> CastFact:
        """The fact that the CAST record in this row tells."""
        _, node, pass_id, where, argument, dtypes, fractions, _ = self.words(row)
        site, op = self.site_and_op(where)
        name, wanted, got, given = map(self.trace.text, (*unpack_pair(argument), *unpack_pair(dtypes)))
        return CastFact(node, pass_id, name, wanted, got, given, fractions, op, site, row)

    @cached_property
    def recomputations(self) -> list[RecomputeFact]:
        """The checkpointed functions that ran again."""
        return [self.recomputation_at(row) for row in self.rows(Kind.RECOMPUTED).tolist()]

    def recomputation_at(self, row: int) -> RecomputeFact:
        """The fact that the RECOMPUTED record in this row tells."""
        _, node, pass_id, where, text, ops, *_ = self.words(row)
        site, _ = self.site_and_op(where)
        return RecomputeFact(node, pass_id, ops, self.trace.text(unpack_pair(text)[0]), site, row)

    def _slot_name(self, node: int, slot: int) -> str:
        born = self.node(node)
        return (born.op if born else Op("")).slot(slot)

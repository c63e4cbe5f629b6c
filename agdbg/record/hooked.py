"""Queries about hooks, about gradients that were read too early, and about graphs that outlive their pass."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from agdbg.events import EDITED_IN_PLACE, Held, HookAction, Kind, a_of, b_of, flags_of, unpack_edge, unpack_pair
from agdbg.record.lookup import Site
from agdbg.record.query import Facts

_WHAT: dict[int, Literal["registered", "fired", "removed"]] = {
    HookAction.REGISTERED: "registered",
    HookAction.FIRED: "fired",
    HookAction.REMOVED: "removed",
}


@dataclass(frozen=True, slots=True)
class HookFact:
    """A hook was registered, fired or removed.

    Attributes:
        kind: ``tensor``, ``pre``, ``post``, ``post-accumulate``, ``multi``, ``module-backward`` and its like,
            ``final-callback``, or ``retain-grad``, which is no function.
        node, storage: what it is on; 0 when that is not known or no tensor.
        site: the line that registered or removed it; when it fires, the call of the pass.
        number: the same in all that is told of one hook, 0 when it has none.
        defined: where its function is defined; without a line when that is not known.
        edited: it wrote to a gradient that it was given.
        shared_with: the node where a gradient in the same memory waited; 0 for none.
        ns: how long it ran when it fired, with all that it called; 0 when that is not known.
    """

    row: int
    what: Literal["registered", "fired", "removed"]
    kind: str
    node: int
    pass_id: int
    site: Site
    storage: int
    number: int
    defined: Site
    edited: bool
    shared_with: int
    ns: int


@dataclass(frozen=True, slots=True)
class GradReadFact:
    """In a pass the ``grad`` of a leaf was read while it had none, or anywhere that of a tensor which is no leaf and keeps none.

    ``node`` is the leaf's AccumulateGrad, or what made the other tensor; 0 when there is none.
    """

    row: int
    storage: int
    pass_id: int
    site: Site
    node: int


@dataclass(frozen=True, slots=True)
class HeldFact:
    """Graphs of passes that were over were still there when a pass started (0: at the end of the recording).

    ``what`` is ``gradient`` when the ``grad`` of a leaf held the graph of the pass that made it: ``node`` is the leaf's
    AccumulateGrad then, else the root of the oldest one.
    """

    row: int
    what: Literal["somebody", "gradient"]
    pass_id: int
    count: int
    node: int
    storage: int


def hooks(facts: Facts) -> Iterator[HookFact]:
    """All that is told of hooks, in trace order."""
    for row in facts.rows(Kind.HOOK).tolist():
        yield hook_at(facts, row)


def hook_at(facts: Facts, row: int) -> HookFact:
    """The fact that the HOOK record in this row tells."""
    head, node, pass_id, where, storage, number, defined, shared = facts.words(row)
    site, op = facts.site_and_op(where)
    return HookFact(
        row,
        _WHAT[min(a_of(head), HookAction.REMOVED)],
        op.name,
        node,
        pass_id,
        site,
        storage,
        number,
        facts.trace.site(unpack_pair(defined)[0]),
        bool(flags_of(head) & EDITED_IN_PLACE),
        unpack_edge(shared)[0],
        unpack_pair(defined)[1] << b_of(head),
    )


def grad_reads(facts: Facts) -> list[GradReadFact]:
    """The gradients that were read before they were there, in trace order."""
    found = []
    for row in facts.rows(Kind.GRAD_READ).tolist():
        _, storage, pass_id, where, producer, *_ = facts.words(row)
        found.append(GradReadFact(row, storage, pass_id, facts.site_and_op(where)[0], unpack_edge(producer)[0]))
    return found


def held(facts: Facts) -> list[HeldFact]:
    """The graphs that lived on when their pass was over, in trace order."""
    found = []
    for row in facts.rows(Kind.HELD).tolist():
        head, pass_id, count, edge, storage, *_ = facts.words(row)
        what: Literal["somebody", "gradient"] = "gradient" if a_of(head) == Held.GRADIENT else "somebody"
        found.append(HeldFact(row, what, pass_id, count, unpack_edge(edge)[0], storage))
    return found

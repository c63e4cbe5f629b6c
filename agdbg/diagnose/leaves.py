"""The leaves of a trace: every parameter that was named, and every other tensor that gradients could be left in.

One tensor may have several ``AccumulateGrad`` nodes in the course of a program, each for the time of a graph. They belong
together by the storage; a leaf whose storage is not known is left out, since nothing can be said of it as a whole.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from agdbg.diagnose.by_hand import is_trained_by_hand
from agdbg.diagnose.case import Case
from agdbg.diagnose.history import is_step
from agdbg.diagnose.rewrapped import is_rewrapped
from agdbg.diagnose.touched import first_read, last_touched
from agdbg.diagnose.walk import Mask
from agdbg.events import Kind, Outcome, Summarized
from agdbg.record.deep_facts import OptimizerFact

#: Optimizers that write all their parameters as one vector, those without a gradient too.
_WRITE_ALL = ("LBFGS",)


@dataclass
class Leaf:
    """A tensor that gradients can be left in.

    Attributes:
        storage: its memory.
        name: what it is called; empty for one that is no parameter of a module.
        requires_grad: as it was told last; None when that is not known.
        row: where it was first told.
        places: of its ``AccumulateGrad`` nodes.
    """

    storage: int
    name: str = ""
    requires_grad: bool | None = None
    row: int = 0
    places: list[int] = field(default_factory=list)

    @property
    def layer(self) -> str:
        """The module that it belongs to."""
        return self.name.rpartition(".")[0]


class Leaves:
    """The leaves of one trace, what reached them, and who steps them."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self.all = list(_found(case).values())

    @cached_property
    def reached(self) -> Mask:
        """The places from which a pass came to its leaves: below the root of any pass."""
        walk = self._case.walk
        return walk.below(walk.mask(root for each in self._case.facts.passes for root, _ in each.roots))

    @cached_property
    def ran(self) -> Mask:
        """The places that a pass came to."""
        facts = self._case.facts
        words = facts.trace.records[facts.run_rows]
        return self._case.walk.mask(words[words[:, 6] != Outcome.ERROR, 1])

    @cached_property
    def given(self) -> Mask:
        """The places that a pass brought a gradient to.

        A node runs without one where another node sent none. That shows where gradients were measured in the pass; elsewhere every
        node that ran counts.
        """
        case = self._case
        facts, measured = case.facts, case.measured
        words = facts.trace.records[facts.run_rows]
        words = words[words[:, 6] == Outcome.OK]
        came = measured.what == Summarized.GRADIENT_IN
        told = words[~np.isin(words[:, 2], np.unique(measured.pass_id[came]))]
        given = case.walk.mask(told[:, 1])
        given[measured.place[came]] = True
        return given

    @cached_property
    def refused(self) -> Mask:
        """The places that a pass came to, and no pass had a gradient for."""
        return self.ran & ~self.given

    def has_gradient(self, leaf: Leaf) -> bool:
        """Whether a pass left a gradient in it, or one is on its way to, or could have been asked for it."""
        at = leaf.places
        return bool((self.given[at] | (self.reached[at] & ~self.refused[at])).any())

    # ----- optimizers -----

    @property
    def held(self) -> list[OptimizerFact]:
        """What is told of optimizers."""
        return self._case.facts.optimized

    @cached_property
    def built(self) -> dict[int, OptimizerFact]:
        """What optimizers hold, by storage."""
        return {each.storage: each for each in reversed(self._case.facts.optimized) if each.storage}

    @cached_property
    def holders(self) -> dict[int, set[int]]:
        """The numbers of the optimizers that hold each storage."""
        found: dict[int, set[int]] = {}
        for each in self._case.facts.optimized:
            if each.storage:
                found.setdefault(each.storage, set()).add(each.number)
        return found

    @cached_property
    def stepped(self) -> frozenset[int]:
        """The storages that optimizer steps wrote."""
        return written_by_steps(self._case)

    @property
    def are_optimized(self) -> bool:
        """Whether the program has an optimizer at all."""
        return bool(self.built or self.stepped)

    @property
    def are_stepped(self) -> bool:
        """Whether an optimizer that is told of has stepped."""
        return bool(self.built) and (bool(self.stepped) or any(each.when == "stepped" for each in self.held))

    def is_trained(self, leaf: Leaf) -> bool:
        """Whether an optimizer holds it."""
        return leaf.storage in self.built or leaf.storage in self.stepped


def written_by_steps(case: Case) -> frozenset[int]:
    """The storages that optimizer steps wrote."""
    facts = case.facts
    words = facts.trace.records[facts.rows(Kind.BUMP)]
    made, at = np.unique(words[:, 4], return_inverse=True)
    steps = np.array([is_step(op, site) for site, op in map(facts.site_and_op, made.tolist())], bool)
    return frozenset(words[steps[at], 1].tolist()) if len(made) else frozenset()


def _found(case: Case) -> dict[int, Leaf]:
    leaves: dict[int, Leaf] = {}
    walk = case.walk
    for told in case.facts.tensors:
        if told.kind != "parameter" or not told.storage:
            continue
        leaf = leaves.setdefault(told.storage, Leaf(told.storage, told.name, None, told.row))
        leaf.requires_grad = told.requires_grad if told.requires_grad is not None else leaf.requires_grad
        if told.producer and (place := walk.place(told.producer)) >= 0:
            leaf.places.append(place)
    for place, storage, row in _unnamed(case):
        leaves.setdefault(storage, Leaf(storage, row=row)).places.append(place)
    for storage, row in _held_alone(case, leaves):
        leaves[storage] = Leaf(storage, row=row)
    for storage, row in (*_rewrapped(case, leaves), *_trained_by_hand(case, leaves)):
        leaves.setdefault(storage, Leaf(storage, row=row))
    for leaf in leaves.values():
        leaf.places = list(dict.fromkeys(leaf.places))
    return leaves


def _unnamed(case: Case) -> Iterable[tuple[int, int, int]]:
    """(place, storage, row) of the leaves whose shape was recorded."""
    walk, facts = case.walk, case.facts
    rows = facts.rows(Kind.SHAPE)
    words = facts.trace.records[rows]
    leaves = walk.ids[walk.leaves]
    mine = np.isin(words[:, 1], leaves) & (words[:, 4] != 0)
    places = walk.ids.searchsorted(words[mine, 1])
    return zip(places.tolist(), words[mine, 4].tolist(), rows[mine].tolist(), strict=True)


def _rewrapped(case: Case, known: Collection[int]) -> Iterable[tuple[int, int]]:
    """(storage, row) of the leaves that are in no graph, of whose values another leaf was made; where shapes were recorded.

    What a step wrote has a gradient, though no pass left it there.
    """
    if not len(case.facts.rows(Kind.SHAPE)):
        return
    written = written_by_steps(case)
    for cut in case.facts.cuts:
        alone = not cut.producer and cut.storage and cut.storage not in known and cut.storage not in written
        if alone and is_rewrapped(cut.site):
            yield cut.storage, first_read(case, cut.storage)


def _held_alone(case: Case, known: Collection[int]) -> Iterable[tuple[int, int]]:
    """(storage, row) of what an optimizer stepped and no graph ever used, so that no step wrote it either; without what is frozen.

    Nobody touched it since it was built, or nothing was done with it but what ends the path of its gradient: ``w.detach()``. Only
    where shapes were recorded: else a leaf that is in graphs and in no module has no storage that is known.
    """
    facts = case.facts
    if not len(facts.rows(Kind.SHAPE)):
        return
    stepped = {each.storage for each in facts.optimized if each.when == "stepped" and each.requires_grad is not False}
    alone = {each.storage: each.row for each in facts.optimized if each.when == "built" and each.storage in stepped}
    whole = {each.storage for each in facts.optimized if each.op.name in _WRITE_ALL}
    written = written_by_steps(case) - whole if alone else frozenset()
    cut = {each.storage for each in facts.cuts if not each.producer} if alone else set()
    for storage, row in alone.items():
        if storage not in known and storage not in written and (storage in cut or last_touched(case, {storage}) < row):
            yield storage, row


def _trained_by_hand(case: Case, known: Collection[int]) -> Iterable[tuple[int, int]]:
    """(storage, row) of what no graph ever used and whose gradient the source reads, in a program without optimizers."""
    facts = case.facts
    if facts.optimized or not len(facts.rows(Kind.SHAPE)):
        return
    for cut in facts.cuts:
        if not cut.producer and cut.storage and cut.storage not in known and is_trained_by_hand(cut.site):
            yield cut.storage, first_read(case, cut.storage)

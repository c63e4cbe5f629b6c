"""What the diagnoses of one trace share: its facts, the walk over its graph, its errors without echoes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from agdbg.diagnose.finding import Finding, Found
from agdbg.diagnose.measured import Measured
from agdbg.diagnose.walk import Walk
from agdbg.record import Facts
from agdbg.record.facts import ErrorFact, PassFact


@dataclass(frozen=True)
class Failure:
    """One error and its repeats: a loop that catches an error meets it again and again.

    ``first`` is what is diagnosed, ``last`` is the same object when it came once.
    """

    first: ErrorFact
    last: ErrorFact
    count: int


class Case:
    """A trace under diagnosis; of its errors those that were raised, unless others are given."""

    def __init__(self, facts: Facts, errors: Sequence[ErrorFact] | None = None) -> None:
        self.facts = facts
        self._given = errors

    @cached_property
    def walk(self) -> Walk:
        """The graph of the whole trace; made when a diagnosis first needs it."""
        return Walk(self.facts)

    @cached_property
    def measured(self) -> Measured:
        """What was measured of values and gradients, in arrays."""
        return Measured(self.facts, self.walk)

    def failures(self, *kinds: str) -> list[Failure]:
        """The errors of these kinds, those of one node line raised by one line told once, in trace order."""
        groups: dict[tuple[object, ...], list[ErrorFact]] = {}
        for error in self._errors:
            if error.kind in kinds:
                groups.setdefault(self._sameness(error), []).append(error)
        return [Failure(group[0], group[-1], len(group)) for group in groups.values()]

    def found(self, kind: str, finding: "Callable[[Case, Failure], Finding | None]") -> list[Found]:
        """What ``finding`` makes of each error of a kind; one of which it can say nothing has none."""
        told = [(failure.first.row, finding(self, failure)) for failure in self.failures(kind)]
        return [Found(row, each) for row, each in told if each is not None]

    def passes_at(self, places: Iterable[int]) -> list[PassFact]:
        """The passes that ran one of the nodes at these places of the walk, in their order."""
        numbers = {number for place in places for number in self.facts.passes_of(int(self.walk.ids[place]))}
        return [each for each in map(self.facts.pass_of, sorted(numbers)) if each is not None]

    def _sameness(self, error: ErrorFact) -> tuple[object, ...]:
        node = self.facts.node(error.node)
        born = (node.site, node.op.name) if node is not None else (error.node, "")
        first = self.facts.pass_of(self.facts.freed_by(error.node)) if error.kind == "backward-twice" else None
        return (error.kind, error.site, *born, error.slot, first.site if first is not None else None)

    @cached_property
    def _errors(self) -> list[ErrorFact]:
        """The errors, without those of an inner pass that its outer pass raised once more."""
        kept: list[ErrorFact] = []
        for error in self.facts.errors if self._given is None else self._given:
            before = kept[-1] if kept else None
            if before is None or not self._is_echo(error, before):
                kept.append(error)
        return kept

    def _is_echo(self, error: ErrorFact, before: ErrorFact) -> bool:
        same = (error.kind, error.node, error.storage, error.slot) == (
            before.kind,
            before.node,
            before.storage,
            before.slot,
        )
        return same and any(outer.id == error.pass_id for outer in self.outer_passes(before.pass_id))

    def outer_passes(self, pass_id: int) -> Iterator[PassFact]:
        """The passes that a pass was called from, from the inside to the outside, itself not included."""
        seen = {pass_id}
        inner = self.facts.pass_of(pass_id)
        while inner is not None and inner.parent not in seen:
            seen.add(inner.parent)
            inner = self.facts.pass_of(inner.parent)
            if inner is not None:
                yield inner

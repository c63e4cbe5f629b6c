"""What a diagnosis answers with: plain frozen values, which ``dataclasses.asdict`` turns into JSON."""

from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from agdbg.record.lookup import Site

Certainty = Literal["certain", "likely", "possible"]

_ORDER: Final[tuple[Certainty, ...]] = ("certain", "likely", "possible")


@dataclass(frozen=True, slots=True)
class Evidence:
    """One line of source that a finding rests on.

    Attributes:
        role: what the line did: ``saved``, ``wrote``, ``first call``, ...; they are in ``docs/diagnoses.md``.
        site: where it is.
        note: what there is to say about it, in a few words; may be empty.
        node: id of the node that it is about, as in the record; 0 where it is about none, a call say, or about several. Lines
            that say the same of different nodes are equal: a loop makes one mistake in each turn.
    """

    role: str
    site: Site
    note: str = ""
    node: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that went wrong, and why.

    Attributes:
        kind: what it is; for an error its kind in the trace, such as ``backward-twice``.
        cause: one sentence.
        evidence: the lines it rests on, in the order in which they ran.
        nodes: ids of the nodes it is about; the one that failed first.
        certainty: ``certain`` when every fact the cause rests on was observed.
        fix: what to do, one or two sentences.
    """

    kind: str
    cause: str
    evidence: tuple[Evidence, ...]
    nodes: tuple[int, ...]
    certainty: Certainty
    fix: str


class Found(NamedTuple):
    """A finding and its place in the trace, by which findings are put in order."""

    row: int
    finding: Finding


def weakest(*certainties: Certainty) -> Certainty:
    """The least certain of them; ``certain`` when there are none."""
    return max(certainties, key=_ORDER.index, default="certain")

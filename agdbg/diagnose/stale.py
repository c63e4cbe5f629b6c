"""What else an in-place write spoiled, and whether the write may have missed what was saved."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Evidence
from agdbg.diagnose.source import assigned
from agdbg.diagnose.stain import Stain
from agdbg.diagnose.views import is_part, part_views
from agdbg.events import Kind
from agdbg.record.facts import ErrorFact, NodeFact
from agdbg.record.lookup import NO_SITE, Site

#: Nodes whose saves are looked at one by one.
LIMIT = 1000
#: Nodes of which it is looked at whether the write met what they saved.
OTHERS = 20
_STORAGE = np.uint64((1 << 36) - 1)
_FALSE_ALARM = (
    "one version counter serves all parts of this memory, so a write to another part counts as well;\n"
    "if the two do not overlap, this is a false alarm by design"
)


@dataclass(frozen=True)
class Stale:
    """Other saved tensors that the failing pass would have come to and that are out of date.

    Attributes:
        count: how many.
        site: the line of the first one's node.
        nodes: the nodes that saved them.
        more: whether there are more than were counted.
    """

    count: int
    site: Site
    nodes: tuple[int, ...]
    more: bool = False


def also_stale(case: Case, stain: Stain) -> Stale:
    """The other saves of the storage, at versions that are past, in what the failing pass had still to do."""
    call, storage = stain.call, stain.storage
    if call is None or not storage:
        return Stale(0, NO_SITE, ())
    walk = case.walk
    left = walk.below(walk.mask(root for root, _ in call.roots))
    left &= ~(walk.mask([stain.error.node]) | walk.mask(case.facts.ran(call.id)))
    savers: list[int] = walk.ids[left & walk.mask(_savers(case, storage))].tolist()
    nodes = [node for number in savers[:LIMIT] if (node := case.facts.node(number)) is not None]
    old = [(node, count) for node in nodes if (count := _old_saves(node, storage, stain.current))]
    site = old[0][0].site if old else NO_SITE
    return Stale(sum(n for _, n in old), site, tuple(node.id for node, _ in old), len(savers) > LIMIT)


def _old_saves(node: NodeFact, storage: int, current: int) -> int:
    return sum(1 for save in node.saves if save.storage == storage and save.version < current)


def _savers(case: Case, storage: int) -> npt.NDArray[np.uint64]:
    """The ids of the nodes that saved a storage."""
    facts = case.facts
    born = facts.trace.records[facts.rows(Kind.BORN)]
    told = facts.trace.records[facts.rows(Kind.SAVED)]
    inline = ((born[:, 6:8] & _STORAGE) == storage).any(axis=1)
    ids: npt.NDArray[np.uint64] = np.concatenate([born[inline, 1], told[told[:, 3] == storage, 1]])
    return ids


def other_saves(case: Case, stain: Stain) -> list[ErrorFact]:
    """The error as it would be of the other saves that are out of date: of the same node, and of those in ``also_stale``."""
    found = []
    for number in (stain.error.node, *also_stale(case, stain).nodes[:OTHERS]):
        node = case.facts.node(number)
        for save in node.saves if node is not None else ():
            same = (number, save.slot) == (stain.error.node, stain.slot)
            if save.storage == stain.storage and save.version < stain.current and not same:
                found.append(replace(stain.error, node=number, slot=save.slot, expected=save.version))
    return found


# ----- parts of one memory -----


def caution(case: Case, stain: Stain) -> Evidence | None:
    """What to say when a part of a memory was saved and a part of it was written: they may not overlap."""
    parts = part_views(case, stain.storage, stain.error.row)
    names = {assigned(site) for site in parts} - {""}
    if not parts or not _saved_a_part(case, stain, names) or not _wrote_a_part(stain, names):
        return None
    return Evidence("view", parts[0], _FALSE_ALARM)


def _saved_a_part(case: Case, stain: Stain, names: set[str]) -> bool:
    name = stain.name.strip("`")
    given = [case.facts.node(edge.node) for edge in stain.node.edges] if stain.node is not None else []
    return "[" in name or name in names or any(node is not None and is_part(node.op.name) for node in given)


def _wrote_a_part(stain: Stain, names: set[str]) -> bool:
    return all(writer.write.form == "index" or writer.write.target in names for writer in stain.writers)

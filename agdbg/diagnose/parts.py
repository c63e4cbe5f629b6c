"""What to show of saves and writes that share a memory: which parts they were, and what came before."""

from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Evidence
from agdbg.diagnose.overlap import saved_part, written_part
from agdbg.diagnose.stain import Stain
from agdbg.diagnose.words import op_words
from agdbg.events import Kind
from agdbg.record.facts import NodeFact

#: Earlier saves and writes that are shown, and writes that are looked at.
EARLIER, LIMIT = 4, 1000


def apart(case: Case, stain: Stain) -> list[tuple[int, Evidence]]:
    """The parts of a false alarm: which one was saved, and which ones were written."""
    saved = saved_part(case, stain)
    found = []
    if saved is not None:
        found.append(
            (saved.row, Evidence("view", saved.site, f"the part that was saved: {saved.words}", saved.producer))
        )
    for writer in stain.writers[:EARLIER]:
        part = written_part(case, stain, writer)
        if part is not None:
            found.append(
                (part.row, Evidence("view", part.site, f"the part that was written: {part.words}", part.producer))
            )
    return found


def earlier(case: Case, stain: Stain) -> list[tuple[int, Evidence]]:
    """The saves and writes of the memory before the save in question, the latest ones, in trace order."""
    node = stain.node
    if node is None or not stain.storage:
        return []
    found = []
    for bump in [each for each in case.facts.bumps(stain.storage) if each.row < node.row][-EARLIER:]:
        found.append(
            (
                bump.row,
                Evidence(
                    "wrote earlier", bump.site, f"version {bump.old} to {bump.new}, before it was saved", bump.node
                ),
            )
        )
    for other in _savers(case, stain, node):
        version = next(save.version for save in other.saves if save.storage == stain.storage)
        found.append(
            (
                other.row,
                Evidence("saved earlier", other.site, f"{op_words(other)} saved a part at version {version}", other.id),
            )
        )
    return sorted(found, key=lambda each: each[0])[-EARLIER:]


def _savers(case: Case, stain: Stain, node: NodeFact) -> list[NodeFact]:
    """The nodes born shortly before that saved the same memory, at a version that is past."""
    born = case.facts.rows(Kind.BORN)
    recent = born[: int(born.searchsorted(node.row))][-LIMIT:]
    nodes = [case.facts.node(case.facts.words(row)[1]) for row in recent.tolist()]
    saved = [each for each in nodes if each is not None and any(save.storage == stain.storage for save in each.saves)]
    return saved[-EARLIER:]

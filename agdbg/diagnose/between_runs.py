"""What was written between the two runs of a checkpointed function, by whom, and what to do about it.

A tensor that both runs saved tells so by its versions. A parameter need not be saved where no gradient of the input is wanted:
then it is the leaf below a node of both runs, which was written in between.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from agdbg.diagnose.case import Case
from agdbg.diagnose.naming import saved_name
from agdbg.diagnose.source import call_text
from agdbg.diagnose.twin_runs import Twins
from agdbg.diagnose.words import Lines, count, op_words, slot_words
from agdbg.diagnose.writers import Writer, writers
from agdbg.events import ACCUMULATE_SEQUENCE, Kind
from agdbg.record.facts import BumpFact, NodeFact, PassFact


@dataclass(frozen=True)
class Written:
    """A tensor that both runs read and that was written since the first one.

    Attributes:
        first: the node of the first run that read it, where there is one.
        again: that of the second run.
        slot: under which it was saved; empty for a leaf that was not.
        storage: its memory.
        since: the writes.
        others: further leaves that the same writes changed.
        outside: whether the writes came when the first run was over and the second had not begun.
    """

    first: NodeFact
    again: NodeFact
    slot: str
    storage: int
    since: tuple[BumpFact, ...]
    others: int = 0
    outside: bool = False


def saved_state(case: Case, pairs: Twins, begun: int) -> Written | None:
    """What both runs saved in the same place, at different versions; the second run had not begun at the row ``begun``."""
    over = max((case.facts.index(Kind.BORN).last(one) for one, _ in pairs), default=0)
    for one, other in pairs:
        first, again = case.facts.node(one), case.facts.node(other)
        if first is None or again is None:
            continue
        versions = {save.slot: save for save in first.saves}
        for save in again.saves:
            was = versions.get(save.slot)
            if was is not None and save.storage and was.storage == save.storage and was.version != save.version:
                bumps = case.facts.bumps(save.storage)
                since = tuple(each for each in bumps if was.version < each.new <= save.version)
                others = sum(each.storage != save.storage for each in leaves_between(case, pairs, begun))
                outside = bool(since) and all(over < each.row < begun for each in since)
                return Written(first, again, save.slot, save.storage, since, others if outside else 0, outside)
    return None


def leaves_between(case: Case, pairs: Twins, begun: int) -> list[Written]:
    """The leaves that both runs read and that were written after the first run and before the second."""
    over = max((case.facts.index(Kind.BORN).last(one) for one, _ in pairs), default=0)
    found: dict[int, Written] = {}
    for one, other in pairs:
        first, again = case.facts.node(one), case.facts.node(other)
        for storage in _leaves(case, again) if first is not None and again is not None else ():
            since = _between(case, storage, over, begun)
            if since and first is not None and again is not None:
                found.setdefault(storage, Written(first, again, "", storage, since, outside=True))
    return list(found.values())


def leaves_since(case: Case, node: NodeFact, again: Iterable[int], begun: int) -> list[Written]:
    """The same of a re-entrant checkpoint, whose first run has no graph: ``node`` stands for it, the second one built ``again``."""
    nodes = [each for each in map(case.facts.node, again) if each is not None]
    found: dict[int, Written] = {}
    for each in nodes:
        for storage in _leaves(case, each):
            since = _between(case, storage, node.row, begun)
            if since:
                found.setdefault(storage, Written(each, each, "", storage, since, outside=True))
    return list(found.values())


def _leaves(case: Case, node: NodeFact | None) -> Iterator[int]:
    """The memory of the leaves below a node."""
    for edge in node.edges if node is not None else ():
        leaf = case.facts.node(edge.node)
        if leaf is not None and leaf.seq == ACCUMULATE_SEQUENCE:
            storage = case.facts.storage_of_leaf(leaf.id)
            if storage:
                yield storage


def _between(case: Case, storage: int, after: int, before: int) -> tuple[BumpFact, ...]:
    return tuple(each for each in case.facts.bumps(storage) if after < each.row < before)


# ----- in words -----


def words(case: Case, state: Written, lines: Lines) -> str:
    """What was written by whom, to follow "ran it again:"."""
    name = saved_name(case, state.first, state.slot, state.storage)
    what = name or (slot_words(state.slot) if state.slot else "a leaf")
    if state.others:
        what += f" (and {count(state.others, 'more parameter')})"
    who = _writer(case, state)
    by = "" if who is None else f" by {_by(who)}{lines.at(who.site)}"
    return (
        f"{what} of {op_words(state.first)}{lines.at(state.first.site)} was changed in place{by} between the two runs"
    )


def fix(case: Case, state: Written, call: PassFact, lines: Lines) -> str:
    """What to do about a write between the runs; empty for one that the function does itself."""
    who = _writer(case, state)
    if who is None or not state.outside:
        return ""
    backward = f"`{call_text(call.site, call.call)}`{lines.at(call.site)}"
    again = "or run the forward again after it: a checkpoint computes its function once more in backward, from what is there then."
    wrote = f"`{call_text(who.site, 'step')}`" if who.manner == "step" else who.words
    if who.site.file == call.site.file and who.site.line >= call.site.line:  # that of an earlier turn of a loop
        return f"Call backward() on what the checkpoint computes before {wrote}{lines.at(who.site)} runs, {again}"
    if who.manner == "step":
        return f"Step after backward(): move {wrote}{lines.at(who.site)} behind {backward}, {again}"
    does = {"loaded": "Load the state", "no_grad": "Do the update"}.get(who.manner, f"Do the write of {wrote}")
    return f"{does}{lines.at(who.site)} after {backward}, {again}"


def _writer(case: Case, state: Written) -> Writer | None:
    found = writers(case, list(state.since))
    return found[-1] if found else None


def _by(who: Writer) -> str:
    return who.words if who.manner in ("step", "loaded") else who.op or "a write"

"""What happened between two places of a trace: lines that ran again, optimizer steps, what is trained."""

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.meeting import Entry, Meeting
from agdbg.diagnose.same_turn import in_same_turn
from agdbg.diagnose.source import assigned, is_call_of
from agdbg.events import Kind
from agdbg.record.facts import NodeFact, PassFact
from agdbg.record.lookup import Op, Site

_LOW = np.uint64((1 << 32) - 1)


def is_step(op: Op, site: Site) -> bool:
    """Whether a write is the step of an optimizer.

    An op with a name of its own says so itself. One of PyTorch's own ops, or one without a name, is a step when the call that
    made it is: other writes may stand on the line of a ``step()``.
    """
    if op.name.endswith(".step"):
        return True
    return (not op.name or op.name.startswith("aten::")) and is_call_of(site, "step")


def carried(case: Case, meeting: Meeting, until: int) -> list[Entry]:
    """The entries that an earlier iteration made: their line ran before the first pass, and again since.

    Running again is not enough. Of a class that serves both as an encoder before the loop and as a head in
    it, the same line runs again, but for the head. So the entry must be what the line made last before the first
    pass, or the line must have run as often since as it had in the iteration of that pass.
    """
    if not after(meeting.second, meeting.first, case) or in_same_turn(case, meeting.first, meeting.second):
        return []
    since = _began(case, meeting.first)
    found = [entry for entry in meeting.entries if _is_carried(case, entry.node, meeting.first.row, since, until)]
    if found or not made_by_one_line(meeting.first, meeting.second, case):
        return found
    return [entry for entry in meeting.entries if _is_handed_on(case, entry.node, meeting)]


def made_again(case: Case, entries: list[Entry], meeting: Meeting, until: int) -> list[Entry]:
    """Of what a pass takes from before another one that did not run it, what the lines of that iteration made again since."""
    if not after(meeting.second, meeting.first, case) or in_same_turn(case, meeting.first, meeting.second):
        return []
    since = _began(case, meeting.first)
    return [each for each in entries if _is_carried(case, each.node, meeting.first.row, since, until)]


def _is_carried(case: Case, node: NodeFact, first: int, since: int, until: int) -> bool:
    walk = case.walk
    place = walk.place(node.id)
    again = len(walk.born_again(place, first, until))
    if node.row >= first or not again:
        return False
    return not len(walk.born_again(place, node.row, first)) or again >= len(walk.born_again(place, since, first))


def _is_handed_on(case: Case, node: NodeFact, meeting: Meeting) -> bool:
    """Whether another line gave the name of what was made a value computed from it: state with a first value.

    ``h = f(x) if h is None else g(x, h)`` makes a new ``h`` in every iteration, the first one by another line or
    another part of the line. When that part ran again as well, it is of no help: a class may serve twice.
    """
    walk, name = case.walk, assigned(node.site)
    place = walk.place(node.id)
    first = meeting.first.row
    if not name or node.row >= first or len(walk.born_again(place, first, len(case.facts.trace.records))):
        return False
    reached = walk.below(walk.mask(root for root, _ in meeting.second.roots))
    later = walk.above(walk.mask([node.id]), reached) & (walk.born > first)
    sites = (case.facts.site_and_op(word)[0] for word in np.unique(walk.made_at[later]).tolist())
    here = (node.site.file, node.site.func, name)
    return any((site.file, site.func, assigned(site)) == here for site in sites)


def _began(case: Case, first: PassFact) -> int:
    """Where the iteration that ends with a pass began: behind the pass of the same line before it."""
    earlier = [each.row for each in case.facts.passes if each.row < first.row and each.site == first.site]
    return earlier[-1] if earlier else -1


def after(second: PassFact, first: PassFact, case: Case) -> bool:
    """Whether the root of ``second`` was built after ``first`` had begun."""
    roots = [case.facts.node(node) for node, _ in second.roots]
    return any(root is not None and root.row > first.row for root in roots)


def made_by_one_line(one: PassFact, other: PassFact, case: Case) -> bool:
    """Whether the roots of two passes were made by one line, as those of the turns of a loop are."""
    walk = case.walk
    words = [{int(walk.made_at[p]) for n, _ in each.roots if (p := walk.place(n)) >= 0} for each in (one, other)]
    return any(word & int(_LOW) for word in words[0] & words[1])


def step_between(case: Case, start: int, end: int) -> Site | None:
    """The line of the first optimizer step between two rows, or None."""
    facts = case.facts
    rows = facts.rows(Kind.BUMP)
    rows = rows[(rows > start) & (rows < end)]
    words, first = np.unique(facts.trace.records[rows, 4], return_index=True)
    for word in words[np.argsort(first)].tolist():
        site, op = facts.site_and_op(word)
        if is_step(op, site):
            return site
    return None


def stepped_between(case: Case, leaves: tuple[int, ...], start: int, end: int) -> list[bool]:
    """Of each leaf whose storage is known, whether an optimizer step wrote it between two rows."""
    wanted = set(leaves)
    storages = {each.producer: each.storage for each in case.facts.tensors if each.producer in wanted}
    stepped = _stepped(case, start, end)
    return [storages[leaf] in stepped for leaf in leaves if leaf in storages]


def trained(case: Case, leaves: tuple[int, ...]) -> bool:
    """Whether some of these leaves are trained: not when steps were seen and none of them wrote one of "
    "these."""
    stepped = _stepped(case)
    storages = {each.producer: each.storage for each in case.facts.tensors}
    unnamed = any(leaf not in storages for leaf in leaves)
    if not leaves or not stepped or unnamed:
        return bool(leaves)
    return any(storages[leaf] in stepped for leaf in leaves)


def _stepped(case: Case, start: int = -1, end: int | None = None) -> set[int]:
    """The storages that optimizer steps wrote, between two rows or at all."""
    facts = case.facts
    rows = facts.rows(Kind.BUMP)
    written = facts.trace.records[rows[(rows > start) & (rows < end)] if end is not None else rows]
    found, at = np.unique(written[:, 4], return_inverse=True)
    steps = np.array([is_step(op, site) for site, op in map(facts.site_and_op, found.tolist())], bool)
    return set(written[steps[at], 1].tolist()) if len(found) else set()

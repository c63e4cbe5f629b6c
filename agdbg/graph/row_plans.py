"""Which nodes a pass has still to run, and which of those have all that they wait for, for a page of rows at once.

A pass that ended well has told what it ran. What any other is to run is what its roots lead to, and it is known where
that is as many nodes as the pass said it would run: a pass that was given ``inputs`` runs fewer, and does not tell which.
Of a node's consumers the one with the lowest sequence number runs last, and with it the last gradient has come.
A pass of which a node has failed runs no other.
"""

from typing import Literal

import numpy as np

from agdbg.events import Kind, Outcome
from agdbg.graph.reach import reach
from agdbg.graph.row_nodes import RowNodes
from agdbg.graph.told import edges_to
from agdbg.record.facts import PassFact
from agdbg.record.growing import Growing, Mask, Words
from agdbg.record.live import LiveFacts

Coming = Literal["waiting", "ready"]
#: Nodes of a pass that are looked for at most while it has not ended well: more would take longer than a screen waits.
MOST = 100_000
#: Passes, and nodes of one, of which is kept what was found.
_KEPT, _NODES_KEPT = 4, 100_000
_NONE = 0


class Plans:
    """Of passes that may not be over."""

    def __init__(self, growing: Growing, nodes: RowNodes) -> None:
        self._growing, self._nodes = growing, nodes
        self._plans: dict[tuple[int, str], _Plan] = {}

    def coming(self, facts: LiveFacts, pass_id: int, nodes: list[int], before: int) -> dict[int, Coming]:
        """Those of some nodes that a pass runs, and had not come to in the record ``before``; none when it had failed by then."""
        told = facts.pass_of(pass_id)
        if told is None or not nodes or (plan := self._of(told)).had_failed(facts, before):
            return {}
        return plan.coming(facts, np.unique(np.array(nodes, np.uint64)), before)

    def senders(self, facts: LiveFacts, pass_id: int, node: int, before: int) -> list[int]:
        """The consumers of a node that a pass runs, and had not come to in the record ``before``: each sends a gradient yet."""
        told = facts.pass_of(pass_id)
        if told is None or (plan := self._of(told)).had_failed(facts, before):
            return []
        return plan.senders(facts, node, before)

    def _of(self, told: PassFact) -> "_Plan":
        key = told.id, told.outcome
        plan = self._plans.pop(key, None) or _Plan(self._growing, self._nodes, told)
        self._plans[key] = plan
        if len(self._plans) > _KEPT:
            del self._plans[next(iter(self._plans))]
        return plan


class _Plan:
    """Of one pass."""

    def __init__(self, growing: Growing, nodes: RowNodes, told: PassFact) -> None:
        self._growing, self._told = growing, told
        self._reached = None if told.outcome == "ok" else _reached(growing, nodes, told)
        self._last_users: dict[int, int] = {}
        self._failures: list[tuple[int, int]] = []  # record and node of each run that failed
        self._looked_to = told.row

    def had_failed(self, facts: LiveFacts, before: int) -> bool:
        """Whether a node had failed in front of a record, and that was not taken back."""
        if self._told.outcome == "ok":
            return False
        self._look_for_failures()
        there = [(row, node) for row, node in self._failures if row < before]
        return any(row not in facts.void_about([node]) for row, node in there)

    def _look_for_failures(self) -> None:
        """Find them among the runs that are new."""
        records, runs = self._growing.records, self._growing.rows(Kind.RAN)
        new = runs[np.searchsorted(runs, self._looked_to) :]
        failed = new[(records[new, 6] == Outcome.ERROR) & (records[new, 2] == np.uint64(self._told.id))]
        self._failures += zip(failed.tolist(), records[failed, 1].tolist(), strict=True)
        self._looked_to = len(records)

    def coming(self, facts: LiveFacts, ids: Words, before: int) -> dict[int, Coming]:
        awaited = ids[self._runs(facts, ids) & ~self._came_to(facts, ids, before)]
        self._look_at_users(facts, awaited)
        users = np.array([self._last_users[node] for node in awaited.tolist()], np.uint64)
        is_ready = (users == _NONE) | self._came_to(facts, users, before)
        return {
            node: "ready" if ready else "waiting"
            for node, ready in zip(awaited.tolist(), is_ready.tolist(), strict=True)
        }

    def senders(self, facts: LiveFacts, node: int, before: int) -> list[int]:
        users = np.unique(edges_to(self._growing, np.array([node], np.uint64)).source)
        found: list[int] = users[self._runs(facts, users) & ~self._came_to(facts, users, before)].tolist()
        return found

    def _runs(self, facts: LiveFacts, ids: Words) -> Mask:
        """Which of these nodes the pass runs, as far as is known."""
        if self._reached is None:
            return self._came_to(facts, ids, len(self._growing.records))
        found: Mask = np.isin(ids, self._reached)
        return found

    def _came_to(self, facts: LiveFacts, ids: Words, before: int) -> Mask:
        """Which of them it had run, or left out, in front of a record."""
        owner, rows = self._growing.index(Kind.RAN).all(ids)
        mine = (self._growing.records[rows, 2] == np.uint64(self._told.id)) & (rows < before)
        mine &= ~np.isin(rows, sorted(facts.void_about(ids.tolist())))
        found = np.zeros(len(ids), bool)
        found[owner[mine]] = True
        return found

    def _look_at_users(self, facts: LiveFacts, ids: Words) -> None:
        """Find the consumer of each node that runs last."""
        if len(self._last_users) > _NODES_KEPT:
            self._last_users.clear()
        unknown = np.array([node for node in ids.tolist() if node not in self._last_users], np.uint64)
        self._last_users.update(dict.fromkeys(unknown.tolist(), _NONE))
        edges = edges_to(self._growing, unknown)
        runs = self._runs(facts, edges.source)
        users, used = edges.source[runs], edges.target[runs]
        births = self._growing.index(Kind.BORN).find(users)
        late_first = np.argsort(self._growing.records[births, 2], kind="stable")[::-1]
        self._last_users.update(zip(used[late_first].tolist(), users[late_first].tolist(), strict=True))


def _reached(growing: Growing, nodes: RowNodes, told: PassFact) -> Words | None:
    """What a pass is to run, where that can be told."""
    if told.planned > MOST:
        return None
    roots = np.array([node for node, _ in told.roots if node], np.uint64)
    rows, others = reach(growing, nodes, nodes.find(roots).tolist())
    found: Words = np.unique(np.concatenate([nodes.nodes.now[rows], others, roots]))
    return found if len(found) == (told.planned or len(found)) else None

"""What is known of a program's past: the trace, followed while it grows, in the shapes of the protocol.

All that is asked for by the screen costs what the screen shows, however long the trace. Not for several threads at once.
"""

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from agdbg.breakpoints import matches, names_of_op
from agdbg.diagnose import Finding, finding_of
from agdbg.events import Kind
from agdbg.explain.explanation import Explanation, explain_facts
from agdbg.graph.row_facts import RowFacts, facts_of
from agdbg.graph.row_folds import NOTHING_FOLDED, Folding
from agdbg.graph.row_plans import Plans
from agdbg.graph.row_states import PENDING, Fate, fates_of
from agdbg.graph.rows import GraphRow, GraphRows
from agdbg.hub.drawing import Drawings
from agdbg.hub.eventlog import EventLog
from agdbg.hub.folded_rows import FoldedRows
from agdbg.hub.hook_code import hook_code
from agdbg.hub.inspection import Inspection
from agdbg.hub.leaf_names import named
from agdbg.hub.moment import Moment
from agdbg.hub.profile import Profiles
from agdbg.hub.span import span_of
from agdbg.hub.timeline import Timeline
from agdbg.hub.tree import Tree
from agdbg.progress import report
from agdbg.protocol import looks, vendor
from agdbg.protocol.phases import HOOKS
from agdbg.record import Facts
from agdbg.record.facts import ErrorFact
from agdbg.record.follow import Follower
from agdbg.record.growing import Growing, Words
from agdbg.record.live import LiveFacts
from agdbg.record.reader import Records
from agdbg.record.stopped import Stopped, stopped_in
from agdbg.record.undone import Undone

#: What is told while the recording is read, and of how many records at once.
READING = "reading the recording"
READ_AT_ONCE = 1 << 17


class _OfRows(NamedTuple):
    """What is made of the rows of the graph, and is up to date when they are."""

    folded: FoldedRows
    profiles: Profiles
    tree: Tree
    plans: Plans
    drawings: Drawings


class History:
    """The trace in the directory ``trace_dir``, which may still grow, or not be there yet; :meth:`poll` looks.

    Attributes:
        growing: the records that were read.
    """

    def __init__(self, trace_dir: str | os.PathLike[str]) -> None:
        self._follower = Follower(trace_dir)
        self.growing = Growing()
        self._rows = GraphRows(self.growing, self._follower.strings)
        self._log = EventLog(self.growing)
        self._undone = Undone(self.growing)
        self._live = LiveFacts(self._follower.trace(), self.growing, self._undone)
        self._facts: Facts | None = None
        self._ready: tuple[LiveFacts, int, dict[str, Any] | None] | None = None
        self._timeline = Timeline(self.growing)
        self._made = _OfRows(
            FoldedRows(self),
            Profiles(self.growing, self._rows),
            Tree(self.growing, self._rows.nodes),
            Plans(self.growing, self._rows.nodes),
            Drawings(self.growing, self._rows, self._badges),
        )
        self.poll()

    def poll(self) -> bool:
        """Read what is new; true when there are new records.

        Raises:
            TraceError: what is there is no trace, or one of a version that is not known.
        """
        before = self.records
        self.poll_few()
        return self.records > before

    def poll_few(self, most: int | None = None) -> bool:
        """Read what is new, unless that is more than ``most`` records, where there is a limit: false then.

        Raises:
            TraceError: as :meth:`poll` does.
        """
        meta = self._follower.meta
        if not self._follower.poll_few(most):
            return False
        is_longer = len(self._follower.records) > self.records
        if is_longer:
            self._take(self._follower.records)
        if is_longer or self._follower.meta is not meta:  # how the program has ended may come without a record
            self._live = LiveFacts(self._follower.trace(), self.growing, self._undone, self._live)
            self._facts = None
        return True

    def _take(self, records: Records) -> None:
        """Index what is new, in parts where that is much, so that it can be told how far it is."""
        first, total = len(self.growing.records), len(records)
        for start in range(first, total, READ_AT_ONCE):
            if total - first > READ_AT_ONCE:
                report(READING, start, total)
            self.growing.grow(records[: start + READ_AT_ONCE])
            if total - first > READ_AT_ONCE:
                self._rows.update()

    @property
    def graph_rows(self) -> GraphRows:
        """The rows of the graph. They take in what is new when they are asked for: a stop shows things that need none."""
        self._rows.update()
        return self._rows

    @property
    def _of_rows(self) -> "_OfRows":
        """What is made of them."""
        self._rows.update()
        return self._made

    @property
    def folded(self) -> FoldedRows:
        """The rows as clients fold them."""
        return self._of_rows.folded

    # ----- sizes -----

    @property
    def total(self) -> int:
        """How many rows there are: nodes that are no leaves."""
        return self.graph_rows.total

    @property
    def nodes(self) -> int:
        """How many nodes were born, leaves too."""
        return len(self.graph_rows.nodes) + len(self.graph_rows.nodes.leaves)

    @property
    def records(self) -> int:
        """How many records there are."""
        return len(self.growing.records)

    @property
    def live(self) -> LiveFacts:
        """The facts for questions about single nodes and passes; a trace that has grown has a new object."""
        return self._live

    # ----- rows -----

    def rows(
        self, start: int, count: int, folding: Folding = NOTHING_FOLDED, at: Moment | None = None
    ) -> vendor.RowsBody:
        """A page of rows as of a moment. What only a live stop knows is not in it: breakpoints, the counter, what is next."""
        if not folding.is_plain:
            return self.folded.page(folding, start, count, at)
        rows = self.told(self.graph_rows.page(start, count), at)
        return {"total": self.total, "start": start, "rows": rows, "pc": None, "pcNode": None}

    def place_of(self, node: int, folding: Folding = NOTHING_FOLDED, at: Moment | None = None) -> int | None:
        """Where the row of a node stands among what is folded; of a leaf that of its last user that is built by then."""
        row = self.graph_rows.row_of(node, None if at is None else at.before)
        return row if row is None or folding.is_plain else self.folded.folds.view(folding).at(row)

    def drawn_at(self, node: int, at: Moment | None = None) -> int:
        """The node whose row shows a node: itself, or of a leaf, which is a badge, the last of its users that is built by then."""
        row = self.place_of(node, at=at) if self.graph_rows.is_leaf(node) else None
        return node if row is None else self.node_at(row)

    def told(self, page: list[GraphRow], at: Moment | None = None) -> list[vendor.Row]:
        """Rows with all that is known of them."""
        nodes = [row.node for row in page]
        leaves = list(dict.fromkeys(leaf for row in page for leaf in row.leaves))
        fates = dict(zip(nodes, self.fates(nodes, at), strict=True))
        badges = {badge["node"]: badge for badge in self._badges(leaves, at)}
        known = facts_of(self.growing, self._live, nodes, [fates[node] for node in nodes], at and at.before)
        return [
            self._row(row, fates[row.node], [badges[leaf] for leaf in row.leaves], facts)
            for row, facts in zip(page, known, strict=True)
        ]

    def _row(self, row: GraphRow, fate: Fate, badges: list[vendor.Badge], facts: RowFacts) -> vendor.Row:
        site, op = self._live.site_and_op(self.graph_rows.nodes.born(row.row)[3])
        return {
            "row": row.row,
            "node": row.node,
            "op": op.name,
            "cells": row.cells,
            "undrawn": row.undrawn,
            "file": site.file,
            "line": site.line,
            "text": site.text.strip(),
            "badges": named(self._live, row.node, badges),
            "shape": facts.shape,
            "module": self._live.module_path(row.node),
            "saved": facts.saved,
            "gradient": facts.gradient,
            "bad": facts.bad,
            "state": fate.state,
            "order": fate.order,
            "pass": fate.pass_id,
            "breakpoint": False,
            "count": 1,
            "times": 0,
        }

    def fates(self, nodes: list[int], at: Moment | None = None) -> list[Fate]:
        """What became of nodes until a moment, or the end; at that moment a node that a pass has still to run is *ready* where all
        gradients have come that it waits for, else *waiting*, and *running* when it has begun to run.

        A leaf saves nothing, so it is never freed. A node that is freed already stays so: to run it will be an error.
        """
        void, before = self._live.void_about(nodes), None if at is None else at.before
        fates = fates_of(self.growing, void, np.array(nodes, np.uint64), before)
        coming = {} if at is None else self._coming(nodes, at)
        found = []
        for node, fate in zip(nodes, fates, strict=True):
            state = "ran" if fate.state == "freed" and self.graph_rows.is_leaf(node) else fate.state
            now = fate._replace(state=state)
            found.append(now if state == "freed" else coming.get(node, now))
        return found

    def _coming(self, nodes: list[int], at: Moment) -> dict[int, Fate]:
        """What is so of those that passes have begun, or have still to run."""
        before = self.records if at.before is None else at.before
        found: dict[int, Fate] = {}
        for pass_id in reversed(at.passes):
            states = self._of_rows.plans.coming(self._live, pass_id, nodes, before)
            found |= {node: Fate(state, pass_id, None) for node, state in states.items()}
        innermost = Fate("running", at.passes[0] if at.passes else 0, None)
        begun = {node: found.get(node, innermost)._replace(state="running") for node in at.begun.intersection(nodes)}
        return found | begun

    def _badges(self, leaves: list[int], at: Moment | None = None) -> Iterator[vendor.Badge]:
        for leaf, fate in zip(leaves, self.fates(leaves, at), strict=True):
            yield {"text": self._live.name_of_leaf(leaf) or "", "node": leaf, "state": fate.state}

    def row_of(self, node: int) -> int | None:
        """The row of a node; of a leaf that of the last node that uses it. None when it has none."""
        return self.graph_rows.row_of(node)

    def node_at(self, row: int) -> int:
        """The node of a row."""
        return self.graph_rows.node_at(row)

    def find(self, text: str, start: int, backwards: bool) -> vendor.FindBody:
        """The first row from ``start`` on, round the end, that has ``text``: in its op or a leaf's name; where no row has,
        in ``file.py:12`` or its source line; or as ``#12`` the number of its node. Case does not count.
        """
        row = self._row_numbered(text)
        if row is None and text and self.total:
            row = self.graph_rows.find(text, start, backwards, self._leaves_named(text))
        return {"row": row, "node": None if row is None else self.node_at(row)}

    def _row_numbered(self, text: str) -> int | None:
        number = text.removeprefix("#")
        return self.row_of(int(number)) if text != number and number.isdecimal() and len(number) < 20 else None

    def _leaves_named(self, text: str) -> Words:
        rows = self.growing.rows(Kind.TENSOR)
        names = self.growing.records[rows, 4] & np.uint64((1 << 32) - 1)
        wanted = np.array(self._follower.strings.matching(text), np.uint64)
        producers: Words = self.growing.records[rows[np.isin(names, wanted)], 3] & np.uint64((1 << 48) - 1)
        named: Words = producers[producers != 0]
        return named

    # ----- one node -----

    def node(self, node: int, before_row: int | None = None, at: Moment | None = None) -> vendor.NodeBody | None:
        """All that the trace tells about a node, as of the record ``before_row`` or of the end; None if it was not born.

        Its state is that of a moment.
        """
        fact = self._live.node(node)
        if fact is None:
            return None
        before = self.records if before_row is None else before_row
        column, end_line, end_column = span_of(fact.site)
        fate = self.fates([node], at)[0]
        known = facts_of(self.growing, self._live, [node], [fate], before_row)[0]
        return {
            "node": node,
            "op": fact.op.name,
            "row": self.row_of(node),
            "file": fact.site.file,
            "line": fact.site.line,
            "column": column,
            "endLine": end_line,
            "endColumn": end_column,
            "text": fact.site.text,
            "state": fate.state,
            "pass": fate.pass_id,
            "gradient": known.gradient,
            "bad": known.bad or node in self.stopped().bad,
            "hooks": hook_code(self._live, node, before),
            "sections": Inspection(self._live, fact, before, self._senders(node, at)).sections(),
        }

    def inside(self, node: int, before_row: int | None = None, at: Moment | None = None) -> dict[str, Any] | None:
        """Of :meth:`node` no more than its sections, which are all that the scopes of a stop show."""
        ready, self._ready = self._ready, None
        if ready is not None and ready[:2] == (self._live, node) and before_row is None and at is None:
            return ready[2]
        fact = self._live.node(node)
        if fact is None:
            return None
        before = self.records if before_row is None else before_row
        sections = Inspection(self._live, fact, before, self._senders(node, at)).sections()
        return {"node": node, "gradient": None, "bad": False, "sections": sections}

    def get_ready(self, node: int) -> None:
        """Have the answer of :meth:`inside` ready for the next who asks for that node, at the end of what was read."""
        self._ready = self._live, node, self.inside(node)

    def _senders(self, node: int, at: Moment | None) -> list[int]:
        """The nodes that have still to send a gradient to a node, in the innermost pass in which some have."""
        if at is None:
            return []
        before = self.records if at.before is None else at.before
        told = (self._of_rows.plans.senders(self._live, pass_id, node, before) for pass_id in at.passes)
        return next(filter(None, told), [])

    def hooks_in(self, node: int, phase: str) -> list[vendor.HookCode]:
        """The hooks that a part of a node calls."""
        kind = HOOKS.get(phase, "")
        return [hook for hook in hook_code(self._live, node, self.records) if hook["kind"] == kind]

    def state(self, node: int) -> vendor.State:
        """What became of a node: ``pending`` for one that was not born."""
        return next(iter(self.fates([node])), PENDING).state

    # ----- events and findings -----

    def events(self, start: int, count: int) -> vendor.EventsBody:
        """A page of events; a negative ``start`` counts from the end."""
        self._log.update()
        total = len(self._log)
        first = max(total + start, 0) if start < 0 else start
        return {"total": total, "start": first, "events": self._log.page(self._live, first, count)}

    def row_of_event(self, index: int) -> int:
        """The record of an event."""
        self._log.update()
        return self._log.row(index)

    def built_on(self, file: str, line: int) -> Words:
        """The nodes that a line built."""
        born = self.growing.records[self.growing.rows(Kind.BORN)]
        places, at = np.unique(born[:, 3] & np.uint64((1 << 32) - 1), return_inverse=True)
        sites = [self._live.site_and_op(place)[0] for place in places.tolist()]
        nodes: Words = born[np.array([(site.file, site.line) == (file, line) for site in sites], bool)[at], 1]
        return nodes

    def built_as(self, pattern: str) -> Words:
        """The nodes whose op a pattern means."""
        born = self.growing.records[self.growing.rows(Kind.BORN)]
        places, at = np.unique(born[:, 3], return_inverse=True)
        ops = [self._live.site_and_op(place)[1].name for place in places.tolist()]
        nodes: Words = born[np.array([matches(pattern, names_of_op(op)) for op in ops], bool)[at], 1]
        return nodes

    def leaves(self) -> Words:
        """The nodes that accumulate the gradients of leaves."""
        nodes: Words = np.array(self.graph_rows.nodes.leaves.now, np.uint64)
        return nodes

    def errors(self) -> list[ErrorFact]:
        """All errors in the order in which they were recorded, predicted ones too."""
        return [self._live.error_at(row) for row in self.growing.rows(Kind.ERROR).tolist()]

    def last_error(self) -> ErrorFact | None:
        """The error that was recorded last, predicted or not."""
        rows = self.growing.rows(Kind.ERROR)
        return self._live.error_at(int(rows[-1])) if len(rows) else None

    def finding_of(self, error_row: int) -> Finding | None:
        """The diagnosis of the error in a record; None when there is none."""
        facts = self.facts()
        return finding_of(facts, facts.error_at(error_row))

    def facts(self) -> Facts:
        """The facts of what was read so far; the same object until there is more."""
        if self._facts is None:
            self._facts = Facts(self._follower.trace())
        return self._facts

    def explanation(self, *, lints: bool = False, notes: bool = False) -> Explanation:
        """What ``agdbg explain`` says of what was read so far, and of NaN and Inf; when asked all that ``agdbg lint`` does."""
        return explain_facts(self.facts(), lints=lints, notes=notes, bad=True)

    def stopped(self) -> Stopped:
        """For which errors the program has stopped until now that no record tells of."""
        return stopped_in(self._follower.trace().path)

    def timeline(self, start: int, count: int, pass_id: int | None = None, near: int = 0) -> looks.TimelineBody:
        """A page of the runs of a pass, or of the last; ``near`` is the node at which somebody stands.

        Raises:
            ValueError: there is no such pass.
        """
        return self._timeline.page(self._live, start, count, pass_id, near)

    def has_pass(self, pass_id: int) -> bool:
        """Whether it was recorded that a pass has started."""
        return self._live.pass_of(pass_id) is not None

    def pass_that_ran(self, node: int, standing: tuple[int, ...], at: Moment | None) -> int:
        """The pass to which a node belongs for somebody who stands in these passes, the innermost first: that of them which has run
        it, or has still to run it, else the one that ran it last until that moment; 0: none did.
        """
        before = self.records if at is None or at.before is None else at.before
        ran = [run.pass_id for run in self._live.runs_of(node) if run.row < before]
        coming = None if at is None else self._coming([node], at).get(node)
        theirs = [each for each in standing if each in ran or (coming is not None and coming.pass_id == each)]
        return next(iter(theirs or ran[-1:]), 0)

    def profile(self, start: int, count: int, points: int, pass_id: int | None = None) -> looks.ProfileBody:
        """A pass as a whole, or the last one, and what is held in a page of its runs.

        Raises:
            ValueError: there is no such pass.
        """
        chosen, ran = self._timeline.runs_of(self._live, pass_id)
        return self._of_rows.profiles.body(self._live, chosen, ran, start, count, points)

    def branches(self) -> list[looks.Branch]:
        """The tree of modules and parameters."""
        return self._of_rows.tree.branches(self._live, self.row_of)

    # ----- drawings -----

    def graph(
        self, start: int, count: int, pass_id: int | None = None, node: int | None = None, hops: int = 2
    ) -> vendor.GraphBody:
        """A page of the nodes of a pass, or of a node's neighbourhood, or of all, with the edges that they consume.

        Raises:
            ValueError: there is no such pass or node.
        """
        return self._of_rows.drawings.page(self._live, start, count, pass_id, node, hops)

"""Which of the many records about modules, optimizers and values are events, and their words.

A call of a module from outside of any, an optimizer with all its parameters, a NaN or an infinity, a write that nobody counted.
"""

from collections.abc import Callable

import numpy as np

from agdbg.events import Kind, ModuleEvent, Probed, a_of, thread_of
from agdbg.explain.places import counted
from agdbg.hub.wording import node_words, storage_words
from agdbg.record.growing import Growing, Words
from agdbg.record.index import Rows
from agdbg.record.lookup import Site
from agdbg.record.query import Facts

_Line = tuple[str, str, int, Site]
_NOWHERE = Site("", 0)
_COUNTS_OF_SUMMARY, _NODE_OF_PROBE = 5, 5
#: The columns of a PROBE record that say what was saved: storage, version, node, slot.
_SAVED, _CHECKSUM = [1, 2, 5, 6], 3


class DeepEvents:
    """Finds the events among the records of a trace that grows."""

    def __init__(self, growing: Growing) -> None:
        self._growing = growing
        self._optimizer: tuple[int, int] | None = None

    def update(self, start: int) -> Rows:
        """The rows of the events from a row on, where the last call has ended; not in order."""
        return np.concatenate([self._calls(start), self._optimizers(start), self._bad(start), self._silent(start)])

    def _new(self, kind: Kind, start: int) -> tuple[Rows, Words]:
        rows = self._growing.rows(kind)
        rows = rows[np.searchsorted(rows, start) :]
        return rows, self._growing.records[rows]

    def _calls(self, start: int) -> Rows:
        rows, words = self._new(Kind.MODULE, start)
        entered = _a(words) == ModuleEvent.ENTERED
        stacks = self._growing.stacks()
        pairs = zip(rows[entered].tolist(), words[entered, 0].tolist(), strict=True)
        return np.array([row for row, head in pairs if not stacks.at(thread_of(head), row)], np.int64)

    def _optimizers(self, start: int) -> Rows:
        """The first of the records about one optimizer, of which each is about one parameter."""
        rows, words = self._new(Kind.OPTIMIZER, start)
        found = []
        for row, what, number in zip(rows.tolist(), _a(words).tolist(), words[:, 3].tolist(), strict=True):
            if (what, number) != self._optimizer:
                found.append(row)
            self._optimizer = what, number
        return np.array(found, np.int64)

    def _bad(self, start: int) -> Rows:
        rows, words = self._new(Kind.SUMMARY, start)
        bad: Rows = rows[words[:, _COUNTS_OF_SUMMARY] != 0]
        return bad

    def _silent(self, start: int) -> Rows:
        rows, words = self._new(Kind.PROBE, start)
        checked = _a(words) == Probed.CHECKED
        rows, words = rows[checked], words[checked]
        owner, then = self._growing.index(Kind.PROBE, _NODE_OF_PROBE).all(words[:, _NODE_OF_PROBE])
        saved = self._growing.records[then]
        same = np.all(saved[:, _SAVED] == words[owner][:, _SAVED], axis=1) & (_a(saved) == Probed.SAVED)
        changed: Rows = rows[np.unique(owner[same & (saved[:, _CHECKSUM] != words[owner, _CHECKSUM])])]
        return changed


def _a(words: Words) -> Words:
    return words[:, 0] >> np.uint64(16) & np.uint64(255)


def _module(facts: Facts, row: int, words: list[int]) -> _Line:
    found = facts.module(words[1])
    if found is None:
        return "module", f"module {words[1]} called", 0, _NOWHERE
    where = f" at {found.path}" if found.path else ""
    return "module", f"{found.class_name}{where} called", 0, _NOWHERE


def _optimizer(facts: Facts, row: int, words: list[int]) -> _Line:
    found = facts.optimizer_at(row)
    rows = facts.rows(Kind.OPTIMIZER)
    following = facts.trace.records[rows[np.searchsorted(rows, row) :]]
    other = (following[:, 3] != words[3]) | (_a(following) != a_of(words[0]))
    count = int(np.argmax(other)) if other.any() else len(following)
    did = "is built with" if found.when == "built" else "steps for the first time,"
    return "optimizer", f"{found.op.name or 'an optimizer'} {did} {counted(count, 'parameter')}", 0, found.site


def _summary(facts: Facts, row: int, words: list[int]) -> _Line:
    found = facts.summary_at(row)
    node = facts.node(found.node)
    what = {"output": "output {}", "gradient in": "gradient into output {}", "gradient out": "gradient to input {}"}
    counts = [f"{found.nans:,} NaN"] * (found.nans > 0)
    counts += [f"{found.infs:,} Inf"] * (found.infs > 0)
    first = f", the first at {found.first_bad:,}" if found.first_bad is not None else ""
    text = f"{node_words(facts, found.node)}, {what[found.what].format(found.index)}: {' and '.join(counts)}"
    return "not finite", f"{text} of {found.elements:,}{first}", found.node, node.site if node else _NOWHERE


def _probe(facts: Facts, row: int, words: list[int]) -> _Line:
    found = facts.probe_at(row)
    node = facts.node(found.node)
    who = f"what {node_words(facts, found.node)} saved as {found.slot}"
    text = f"{storage_words(facts, found.storage)}: {who} has changed, and its version is still {found.version}"
    return "silent write", text, found.node, node.site if node else _NOWHERE


LINES: dict[Kind, Callable[[Facts, int, list[int]], _Line]] = {
    Kind.MODULE: _module,
    Kind.OPTIMIZER: _optimizer,
    Kind.SUMMARY: _summary,
    Kind.PROBE: _probe,
}

"""The rare events of a trace as lines of a log: passes, writes, hooks, cuts, errors; not births and runs."""

from collections.abc import Callable

import numpy as np

from agdbg.events import SAVED_EDIT, Held, HookAction, Kind, Outcome, a_of, flags_of, unpack_edge
from agdbg.explain.places import counted
from agdbg.hub.eventlog_deep import LINES as DEEP_LINES
from agdbg.hub.eventlog_deep import DeepEvents
from agdbg.hub.eventtimes import TIMED, EventTimes
from agdbg.hub.wording import cut, node_words, pass_words
from agdbg.hub.wording import storage_words as _storage
from agdbg.protocol.vendor import TraceEvent
from agdbg.record.growing import Growing, Grown
from agdbg.record.lookup import Site
from agdbg.record.query import Facts

#: The kinds that are told, beside those events that :mod:`agdbg.hub.eventlog_deep` finds; names of tensors and hooks on
#: saved tensors, of which each node may have some, are told with it.
TOLD = (
    Kind.PASS_STARTED,
    Kind.PASS_FINISHED,
    Kind.BUMP,
    Kind.VIEW,
    Kind.REBASED,
    Kind.CUT,
    Kind.GRAD_MODE,
    Kind.ERROR,
    Kind.HOOK,
    Kind.UNDONE,
    Kind.EDITED,
    Kind.CLONED,
    Kind.DUAL_LEVEL,
    Kind.FUNCTION,
    Kind.UNMARKED,
    Kind.KEPT,
    Kind.RECOMPUTED,
    Kind.RETAINED,
    Kind.HELD,
    Kind.GRAD_READ,
    Kind.CAST,
)
_HOOKS = {HookAction.REGISTERED: "registered", HookAction.FIRED: "fired", HookAction.REMOVED: "removed"}

#: A kind, a text, the node it is about or 0, and a place.
_Line = tuple[str, str, int, Site]


class EventLog:
    """The events in the order in which they were recorded; one is only put into words when it is asked for."""

    def __init__(self, growing: Growing) -> None:
        self._growing = growing
        self._read = 0
        self._rows, self._times = Grown(), Grown()
        self._clock = EventTimes(growing)
        self._deep = DeepEvents(growing)

    def update(self) -> None:
        """Take the events that were recorded since the last time."""
        if self._read == len(self._growing.records):
            return
        new = [rows[np.searchsorted(rows, self._read) :] for rows in map(self._growing.rows, TOLD)]
        rows = np.sort(np.concatenate([*new, self._deep.update(self._read)]))
        self._rows.add(rows)
        self._times.add(self._clock.update(rows))
        self._read = len(self._growing.records)

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> int:
        """The record of an event."""
        return int(self._rows.now[index])

    def page(self, facts: Facts, start: int, count: int) -> list[TraceEvent]:
        """The events from ``start`` on, at most ``count``."""
        rows = self._rows.now[start : start + count].tolist()
        return [self._event(facts, index, row) for index, row in enumerate(rows, start)]

    def _event(self, facts: Facts, index: int, row: int) -> TraceEvent:
        words = facts.words(row)
        kind, text, node, site = _LINES[Kind(words[0] & 255)](facts, row, words)
        return {
            "index": index,
            "time_ns": int(self._times.now[index]),
            "timed": Kind(words[0] & 255) in TIMED,
            "kind": kind,
            "text": cut(" ".join(text.split())),
            "node": node,
            "file": site.file,
            "line": site.line,
        }


def _started(facts: Facts, row: int, words: list[int]) -> _Line:
    found = facts.pass_of(words[1])
    how = [] if found is None else ["retain_graph"] * found.retain_graph + ["create_graph"] * found.create_graph
    site, op = facts.site_and_op(words[2])
    inside = [f"inside pass {words[4]}"] if words[4] else []
    planned = [counted(words[6], "node")] if words[6] else []
    text = ", ".join([f"pass {words[1]}: {op.name or 'backward'}", *planned, *how, *inside])
    return "pass started", text, unpack_edge(words[3])[0], site


def _finished(facts: Facts, row: int, words: list[int]) -> _Line:
    found = facts.pass_of(words[1])
    site = found.site if found is not None else Site("", 0)
    kind = "pass finished" if words[2] == Outcome.OK else "pass failed"
    failed = 0 if found is None or words[2] == Outcome.OK else _failures(facts, found.row, row, words[1])
    return kind, f"pass {words[1]}: {counted(words[3], 'node')} ran{f', {failed} failed' if failed else ''}", 0, site


def _failures(facts: Facts, start: int, end: int, pass_id: int) -> int:
    """How many nodes failed in a pass, which are runs of it too."""
    runs = facts.rows(Kind.RAN)
    records = facts.trace.records[runs[np.searchsorted(runs, start) : np.searchsorted(runs, end)]]
    return int(np.count_nonzero((records[:, 2] == np.uint64(pass_id)) & (records[:, 6] == Outcome.ERROR)))


def _bump(facts: Facts, row: int, words: list[int]) -> _Line:
    site, op = facts.site_and_op(words[4])
    text = f"{op.name or 'a write'}: {_storage(facts, words[1])} from version {words[2]} to {words[3]}"
    return "write", text, words[5], site


def _view(facts: Facts, row: int, words: list[int]) -> _Line:
    site, op = facts.site_and_op(words[4])
    return "view", f"{op.name or 'a view'} of {_storage(facts, words[1])}", unpack_edge(words[3])[0], site


def _rebased(facts: Facts, row: int, words: list[int]) -> _Line:
    site, op = facts.site_and_op(words[4])
    old, new = unpack_edge(words[2])[0], unpack_edge(words[3])[0]
    before = node_words(facts, old) if old else "no node"
    return "rebased", f"{op.name}: history of a tensor from {before} to {node_words(facts, new)}", new, site


def _cut(facts: Facts, row: int, words: list[int]) -> _Line:
    site, op = facts.site_and_op(words[2])
    times = f", {words[4]:,} times so far" if words[4] > 1 else ""
    return "cut", f"{op.name}: a gradient path ended{times}", unpack_edge(words[3])[0], site


def _grad_mode(facts: Facts, row: int, words: list[int]) -> _Line:
    site, op = facts.site_and_op(words[2])
    return "grad mode", f"gradients {op.name}", 0, site


def _error(facts: Facts, row: int, words: list[int]) -> _Line:
    error = facts.error_at(row)
    first = (error.text.strip().splitlines() or ["no message"])[0]
    return "error ahead" if error.predicted else "error", f"{error.kind}: {first}", error.node, error.site


def _hook(facts: Facts, row: int, words: list[int]) -> _Line:
    site, op = facts.site_and_op(words[3])
    did = _HOOKS.get(HookAction(min(a_of(words[0]), HookAction.REMOVED)), "")
    node = f" at {node_words(facts, words[1])}" if words[1] else ""
    return "hook", f"{op.name} {did}{node}", words[1], site


def _held(facts: Facts, row: int, words: list[int]) -> _Line:
    node = unpack_edge(words[3])[0]
    if a_of(words[0]) == Held.GRADIENT:
        return "held", f"the gradient of a leaf holds the graph of {pass_words(facts, words[1])}", node, Site("", 0)
    return "held", f"{counted(words[2], 'graph')} of finished passes not freed yet", node, Site("", 0)


def _grad_read(facts: Facts, row: int, words: list[int]) -> _Line:
    node = unpack_edge(words[4])[0]
    leaf = facts.name_of_leaf(node)
    return (
        "grad read",
        f"{f'{leaf}.grad' if leaf else 'the grad of a tensor'} was read and is None",
        node,
        facts.site_and_op(words[3])[0],
    )


def _undone(facts: Facts, row: int, words: list[int]) -> _Line:
    return _by_hand(facts, words, "undone", f"taken back, place {words[3]} of {pass_words(facts, words[2])}")


def _edited(facts: Facts, row: int, words: list[int]) -> _Line:
    node = facts.node(words[1])
    saved = words[3] if node is None else node.op.slot(words[3])
    what = f"saved {saved}" if flags_of(words[0]) & SAVED_EDIT else f"incoming gradient {words[3]}"
    return _by_hand(facts, words, "edited", f"{what} replaced by hand in pass {words[2]}")


def _retained(facts: Facts, row: int, words: list[int]) -> _Line:
    found = facts.pass_of(words[1])
    site = found.site if found is not None else Site("", 0)
    return "retained", f"pass {words[1]}: the graph is kept by hand from here on", 0, site


def _cloned(facts: Facts, row: int, words: list[int]) -> _Line:
    found = facts.clone_at(row)
    copies = counted(found.count, "saved tensor")
    return "cloned", f"{copies} of {_storage(facts, found.storage)} copied before a write", 0, found.site


def _level(facts: Facts, row: int, words: list[int]) -> _Line:
    found = facts.level_at(row)
    return "forward mode", f"level {found.level} {'entered' if found.entered else 'left'}", 0, found.site


def _function(facts: Facts, row: int, words: list[int]) -> _Line:
    found = facts.call_at(row)
    inside = f" in pass {found.pass_id}" if found.pass_id else ""
    node = found.node if facts.node(found.node) is not None else 0
    of = node_words(facts, node) if node else found.op.name
    return "function", f"{found.what} of {of} began{inside}", node, found.site


def _unmarked(facts: Facts, row: int, words: list[int]) -> _Line:
    found = facts.unmarked_at(row)
    text = f"{found.op.name}: forward wrote to its argument {found.argument} without mark_dirty"
    return "unmarked write", text, found.node, found.site


def _kept(facts: Facts, row: int, words: list[int]) -> _Line:
    found = facts.kept_at(row)
    an = {
        "intermediate": "an intermediate",
        "output": "an output",
        "changed": "other numbers than when forward ended",
    }.get(found.role, f"a tensor ({found.role})")
    return "kept", f"{node_words(facts, found.node)}: ctx.{found.name} holds {an}", found.node, found.site


def _cast(facts: Facts, row: int, words: list[int]) -> _Line:
    found = facts.cast_at(row)
    text = f"{node_words(facts, found.node)}: the gradient for {found.argument} was cast from {found.got} to {found.wanted}"
    return "cast", text, found.node, found.site


def _recomputed(facts: Facts, row: int, words: list[int]) -> _Line:
    found = facts.recomputation_at(row)
    same = f", not as the first time: {found.difference}" if found.difference else ""
    return "recomputed", f"a checkpoint ran again, {counted(found.ops, 'op')}{same}", found.node, found.site


def _by_hand(facts: Facts, words: list[int], kind: str, text: str) -> _Line:
    node = facts.node(words[1])
    site = node.site if node is not None else Site("", 0)
    return kind, f"{node_words(facts, words[1])}: {text}", words[1], site


_LINES: dict[Kind, Callable[[Facts, int, list[int]], _Line]] = {
    **DEEP_LINES,
    Kind.PASS_STARTED: _started,
    Kind.PASS_FINISHED: _finished,
    Kind.BUMP: _bump,
    Kind.VIEW: _view,
    Kind.REBASED: _rebased,
    Kind.CUT: _cut,
    Kind.GRAD_MODE: _grad_mode,
    Kind.ERROR: _error,
    Kind.HOOK: _hook,
    Kind.UNDONE: _undone,
    Kind.EDITED: _edited,
    Kind.CLONED: _cloned,
    Kind.DUAL_LEVEL: _level,
    Kind.FUNCTION: _function,
    Kind.UNMARKED: _unmarked,
    Kind.KEPT: _kept,
    Kind.RECOMPUTED: _recomputed,
    Kind.HELD: _held,
    Kind.GRAD_READ: _grad_read,
    Kind.CAST: _cast,
    Kind.RETAINED: _retained,
}

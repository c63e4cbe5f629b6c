"""silent-write: what a node had saved was changed, and its version does not tell.

Writes through ``.data``, through a NumPy array on the same memory, and by functions that do not say what they write to are not
counted: backward uses what is there by then, and raises nothing.

Needs: PROBE records (the extra ``checksums``); CUT (who handed the memory out), UNMARKED (a custom Function that wrote to its
argument); TENSOR for names; RAN for whether it was used.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from agdbg.diagnose.aliases import Alias, aliases, guessed, written_later
from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Certainty, Evidence, Finding, Found
from agdbg.diagnose.naming import saved_name
from agdbg.diagnose.source import call_text
from agdbg.diagnose.words import Lines, capital, count, is_result, op_words, slot_words
from agdbg.record.deep_facts import ProbeFact
from agdbg.record.facts import NodeFact, PassFact
from agdbg.record.lookup import Site

KIND = "silent-write"
#: Memories that are told of one by one.
LIMIT = 50
#: What an op saves and changes itself: in training, backward does not use it.
_OWN = frozenset(("running_mean", "running_var"))


@dataclass(frozen=True)
class _Writer:
    """Who changed it: the line, a role for it, what there is to say, and how sure that is."""

    site: Site
    role: str
    note: str
    certainty: Certainty
    words: str
    row: int


def findings(case: Case) -> list[Found]:
    """One finding for each memory that was changed, however many nodes had saved it."""
    found = [_found(case, pair, nodes) for pair, nodes in _groups(case)]
    return [each for each in found if each is not None]


def _groups(case: Case) -> Iterator[tuple[tuple[ProbeFact, ProbeFact], list[int]]]:
    """The first change of each memory that one line saved, and the nodes that had saved it there."""
    facts, walk = case.facts, case.walk
    pairs = facts.silent_write_rows
    pairs = pairs[np.isin(facts.trace.records[pairs[:, 0], 5], walk.ids)]
    if not len(pairs):
        return
    saved = facts.trace.records[pairs[:, 0]]
    keys = np.stack([saved[:, 1], walk.made_at[walk.ids.searchsorted(saved[:, 5])]], axis=1)
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    for index in np.argsort(first, kind="stable")[:LIMIT].tolist():
        told = tuple(facts.probe_at(row) for row in pairs[first[index]].tolist())
        if told[0].slot.removeprefix("_saved_") not in _OWN:
            yield (told[0], told[1]), np.unique(saved[group.reshape(-1) == index, 5]).tolist()


def _found(case: Case, pair: tuple[ProbeFact, ProbeFact], nodes: list[int]) -> Found | None:
    saved, checked = pair
    node, call = case.facts.node(saved.node), _call(case, checked)
    if node is None or call is None:
        return None
    lines, writer = Lines(call.site), _writer(case, saved, checked)
    return Found(
        checked.row,
        Finding(
            kind=KIND,
            cause=_cause(case, node, saved, call, writer),
            evidence=_evidence(node, saved, call, writer, len(nodes)),
            nodes=tuple(dict.fromkeys([node.id, *nodes[:LIMIT]])),
            certainty=writer.certainty if writer is not None else "certain",
            fix=_fix(case, node, saved, writer, lines),
        ),
    )


def _call(case: Case, checked: ProbeFact) -> PassFact | None:
    """The pass before which the memory was looked at: it starts next, or has just begun."""
    passes = case.facts.passes
    within = [each for each in passes if each.row <= checked.row < each.end_row]
    return within[-1] if within else next((each for each in passes if each.row > checked.row), None)


def _what(case: Case, node: NodeFact, saved: ProbeFact, lines: Lines) -> str:
    name = saved_name(case, node, saved.slot, saved.storage)
    by = f"saved by {op_words(node)}{lines.at(node.site)}"
    if name:
        return f"{name}, {by},"
    return f"{'the result' if is_result(saved.slot) else 'a tensor'} {by}"


def _cause(case: Case, node: NodeFact, saved: ProbeFact, call: PassFact, writer: _Writer | None) -> str:
    lines = Lines(call.site)
    before = f"before `{call_text(call.site, call.call)}`{lines.at(call.site)} used it"
    by = f" by {writer.words}{lines.at(writer.site)}" if writer is not None else ""
    return f"{capital(_what(case, node, saved, lines))} was changed{by} {before}, and its version does not tell."


def _evidence(
    node: NodeFact, saved: ProbeFact, call: PassFact, writer: _Writer | None, times: int
) -> tuple[Evidence, ...]:
    found = [
        (
            node.row,
            Evidence("saved", node.site, f"{op_words(node)} saved {slot_words(saved.slot)} at version {saved.version}"),
        )
    ]
    if writer is not None:
        found.append((writer.row, Evidence(writer.role, writer.site, writer.note)))
    more = f"\n{count(times, 'node')} of this line had saved this memory" if times > 1 else ""
    note = f"found other contents at the same version {saved.version}; the gradient is computed from those{more}"
    found.append((call.row, Evidence("needed", call.site, note)))
    return tuple(evidence for _, evidence in sorted(found, key=lambda each: each[0]))


# ----- who did it -----


def _writer(case: Case, saved: ProbeFact, checked: ProbeFact) -> _Writer | None:
    for told in case.facts.unmarked:
        if told.storage == saved.storage and saved.row < told.row < checked.row:
            note = f"{told.op.name} wrote to its argument `{told.argument}` without mark_dirty()"
            return _Writer(told.site, "wrote", note, "certain", f"the forward of {told.op.name}", told.row)
    known = aliases(case, saved.storage, checked.row) or _guessed(case, saved)
    for alias in known:
        if alias.writes and alias.row > saved.row:
            return _Writer(
                alias.site,
                "wrote",
                f"a write through {alias.through}, which is not counted",
                "certain",
                f"`{alias.writes}`",
                alias.row,
            )
    for alias in known:
        wrote = written_later(alias)
        if wrote is not None:
            site, text = wrote
            note = f"writes through `{alias.name}`, which is on this memory since {Lines(site)(alias.site)} and is not counted"
            return _Writer(site, "wrote", note, "likely", f"`{text}`", max(alias.row, saved.row + 1))
    return _handed_out(known, saved)


def _guessed(case: Case, saved: ProbeFact) -> list[Alias]:
    """Aliases by the source, where none was told: a tensor that needs no gradient is handed out without a word."""
    node = case.facts.node(saved.node)
    name = saved_name(case, node, saved.slot, saved.storage).strip("`") if node is not None else ""
    return guessed(node.site, name, node.row) if node is not None and name.isidentifier() else []


def _handed_out(known: list[Alias], saved: ProbeFact) -> _Writer | None:
    """The line that gave the memory away, when the one that wrote is not known."""
    if not known:
        return None
    alias = next((each for each in known if each.row > saved.row), known[-1])
    note = f"handed the memory out through {alias.through}: writes to that are not counted"
    return _Writer(alias.site, "handed out", note, "likely", f"a write through {alias.through}, handed out", alias.row)


def _fix(case: Case, node: NodeFact, saved: ProbeFact, writer: _Writer | None, lines: Lines) -> str:
    if writer is None:
        return (
            "Look for a write that is not counted between these two lines: through .data, a NumPy array on the same memory, "
            "or by a function that fills its argument. Write to a copy there: clone(), or `.numpy().copy()`."
        )
    if saved_name(case, node, saved.slot, saved.storage).startswith("parameter"):
        return (
            f"Do the update{lines.at(writer.site)} after the last backward() that uses this graph, and under no_grad() instead of "
            "through .data: then it is counted, and backward refuses what it spoiled."
        )
    return (
        f"Write to a copy{lines.at(writer.site)} (clone(), or `.numpy().copy()`); or make the write an op on the tensor itself, "
        "out of place, so that the gradient knows of it. Under no_grad() an op in place is at least counted, and backward refuses "
        "what it spoiled."
    )

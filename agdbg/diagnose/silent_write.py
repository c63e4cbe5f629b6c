"""silent-write: what a node had saved was changed, and its version does not tell.

Writes through ``.data``, through a NumPy array on the same memory, and by functions that do not say what they write to are not
counted: backward uses what is there by then, and raises nothing.

Needs: PROBE records (the extra ``checksums``); CUT (who handed the memory out), UNMARKED (a custom Function that wrote to its
argument); TENSOR for names; RAN for whether it was used.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from agdbg.diagnose.aliases import Alias, aliases, guessed, written_beside, written_later
from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Certainty, Evidence, Finding, Found
from agdbg.diagnose.function_writes import forward_write
from agdbg.diagnose.naming import saved_name
from agdbg.diagnose.source import call_text
from agdbg.diagnose.words import Lines, capital, count, is_result, listed, op_words, slot_words
from agdbg.events import Kind
from agdbg.record.deep_facts import ProbeFact
from agdbg.record.facts import NodeFact, PassFact
from agdbg.record.lookup import Site

KIND = "silent-write"
#: Lines that are told of one by one, and of one line memories that are looked at.
LIMIT, LOOKED_AT = 50, 8
#: What an op saves and changes itself: in training, backward does not use it.
_OWN = frozenset(("running_mean", "running_var"))


@dataclass(frozen=True)
class _Writer:
    """Who changed it: the line, a role for it, what there is to say, how sure that is, more lines that wrote, and its node."""

    site: Site
    role: str
    note: str
    certainty: Certainty
    words: str
    row: int
    more: tuple[tuple[Site, str], ...] = ()
    node: int = 0


@dataclass(frozen=True)
class _Spoiled:
    """A memory that one line saved and that was changed: what was saved, the look that saw it, the nodes that had saved it."""

    saved: ProbeFact
    checked: ProbeFact
    nodes: list[int]


def findings(case: Case) -> list[Found]:
    """One finding for each line that saved what was changed, however often it ran, and for each line that changed it."""
    return [made for group in _groups(case) for made in _of_line(case, group)]


def _of_line(case: Case, group: list[_Spoiled]) -> Iterator[Found]:
    """The findings about one line. Of a line that hands memory out in a loop not every time is told: all are taken together."""
    told = [(each, _writer(case, each)) for each in group[:LOOKED_AT]]
    known = [writer for _, writer in told if writer is not None]
    by_writer: dict[Site | None, list[tuple[_Spoiled, _Writer | None]]] = {}
    for each, writer in told:
        site = writer.site if writer is not None else known[0].site if known else None
        by_writer.setdefault(site, []).append((each, writer))
    rest = len(group) - len(told)
    for same in by_writer.values():
        spoiled, writer = next((one for one in same if one[1] is not None), same[0])
        found = _found(case, spoiled, writer, len(same) + rest)
        rest = 0
        if found is not None:
            yield found


def _groups(case: Case) -> list[list[_Spoiled]]:
    """The first change of each memory, those that one line saved together."""
    facts, walk = case.facts, case.walk
    pairs = facts.silent_write_rows
    pairs = pairs[np.isin(facts.trace.records[pairs[:, 0], 5], walk.ids)]
    if not len(pairs):
        return []
    saved = facts.trace.records[pairs[:, 0]]
    keys = np.stack([walk.made_at[walk.ids.searchsorted(saved[:, 5])], saved[:, 1]], axis=1)
    unique, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    found: dict[int, list[_Spoiled]] = {}
    for index in np.argsort(first, kind="stable").tolist():
        made_at = int(unique[index, 0])
        mine = found.get(made_at, [])
        if not mine and len(found) >= LIMIT:
            continue
        then, now = (facts.probe_at(row) for row in pairs[first[index]].tolist())
        if then.slot.removeprefix("_saved_") not in _OWN:
            nodes = np.unique(saved[group.reshape(-1) == index, 5]).tolist() if len(mine) < LOOKED_AT else []
            found.setdefault(made_at, mine).append(_Spoiled(then, now, nodes))
    return list(found.values())


def _found(case: Case, spoiled: _Spoiled, writer: _Writer | None, times: int) -> Found | None:
    saved, checked, nodes = spoiled.saved, spoiled.checked, spoiled.nodes
    node, call = case.facts.node(saved.node), _call(case, checked)
    if node is None or call is None:
        return None
    lines = Lines(call.site)
    return Found(
        checked.row,
        Finding(
            kind=KIND,
            cause=_cause(case, node, saved, call, writer),
            evidence=_evidence(node, saved, call, writer, (len(nodes), times)),
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
    by = ""
    if writer is not None:
        wrote = [(writer.site, writer.words), *((site, f"`{text}`") for site, text in writer.more)]
        by = f" by {listed([f'{words}{lines.at(site)}' for site, words in wrote])}"
    return f"{capital(_what(case, node, saved, lines))} was changed{by} {before}, and its version does not tell."


def _evidence(
    node: NodeFact, saved: ProbeFact, call: PassFact, writer: _Writer | None, times: tuple[int, int]
) -> tuple[Evidence, ...]:
    found = [
        (
            node.row,
            Evidence(
                "saved",
                node.site,
                f"{op_words(node)} saved {slot_words(saved.slot)} at version {saved.version}",
                node.id,
            ),
        )
    ]
    if writer is not None:
        found.append((writer.row, Evidence(writer.role, writer.site, writer.note, writer.node)))
        found += [(writer.row, Evidence("wrote", site, "writes to it as well")) for site, _ in writer.more]
    nodes, often = times
    more = f"\n{count(nodes, 'node')} of this line had saved this memory" if nodes > 1 else ""
    more += f"\nthe same came {often:,} times" if often > 1 else ""
    note = f"found other contents at the same version {saved.version}; the gradient is computed from those{more}"
    found.append((call.row, Evidence("needed", call.site, note)))
    return tuple(evidence for _, evidence in sorted(found, key=lambda each: each[0]))


# ----- who did it -----


def _writer(case: Case, spoiled: _Spoiled) -> _Writer | None:
    saved, checked = spoiled.saved, spoiled.checked
    for told in case.facts.unmarked:
        if told.storage == saved.storage and saved.row < told.row < checked.row:
            note = f"{told.op.name} wrote to its argument `{told.argument}` without mark_dirty()"
            return _Writer(
                told.site, "wrote", note, "certain", f"the forward of {told.op.name}", told.row, node=told.node
            )
    known = aliases(case, {saved.storage}, checked.row) or _handed_out_before(case, saved)
    known = known or _guessed(case, saved)
    for alias in known:
        if alias.writes and alias.row > saved.row:
            note = f"a write through {alias.through}, which is not counted"
            return _Writer(alias.site, "wrote", note, "certain", f"`{alias.writes}`", alias.row)
    for alias in known:
        wrote = written_later(alias)
        if wrote is not None:
            site, text = wrote
            note = f"writes through `{alias.name}`, which is on this memory since {Lines(site)(alias.site)} and is not counted"
            more = tuple(written_beside(alias, site))
            return _Writer(site, "wrote", note, "likely", f"`{text}`", max(alias.row, saved.row + 1), more)
    in_function = forward_write(case, saved, checked.row)
    if in_function is not None:
        site, text, user = in_function
        note = (
            f"the forward of {user.op.name.removesuffix('Backward')} writes to what it was given, which is not counted"
        )
        return _Writer(site, "wrote", note, "likely", f"`{text}`", user.row, node=user.id)
    return _handed_out(known, saved)


def _handed_out_before(case: Case, saved: ProbeFact) -> list[Alias]:
    """Aliases of what the same line saved at other times: of a line in a loop not every time is told."""
    facts, walk = case.facts, case.walk
    words = facts.trace.records[facts.rows(Kind.PROBE)]
    words = words[np.isin(words[:, 5], walk.ids)]
    mine = walk.made_at[walk.ids.searchsorted(words[:, 5])] == walk.made_at[walk.place(saved.node)]
    found = aliases(case, set(words[mine, 1].tolist()), len(facts.trace.records))
    return [replace(each, row=saved.row + 1) for each in found]


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
    if saved_name(case, node, saved.slot, saved.storage).startswith(("parameter", "a parameter")):
        return (
            f"Do the update{lines.at(writer.site)} after the last backward() that uses this graph, and under no_grad() instead of "
            "through .data: then it is counted, and backward refuses what it spoiled."
        )
    return (
        f"Write to a copy{lines.at(writer.site)} (clone(), or `.numpy().copy()`); or make the write an op on the tensor itself, "
        "out of place, so that the gradient knows of it. Under no_grad() an op in place is at least counted, and backward refuses "
        "what it spoiled."
    )

"""The views of one memory: the tree from its base on, where each was made, what was written, which of them overlap."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from agdbg.diagnose.words import count, op_words
from agdbg.events import Kind, unpack_edge
from agdbg.record import Facts
from agdbg.record.lookup import Site
from agdbg.record.viewed import CREATIONS, Region, ViewFact, overlap, views_of
from agdbg.report.table import size_if_known, table, where

#: Views, writes and overlaps that are listed of one memory, and memories of a trace.
VIEWS, WRITES, PAIRS, MEMORIES = 200, 50, 50, 50
#: Storages with higher numbers are those that only their maker knows.
_ONE_MAKER = 1 << 32
#: Memories of which those that look alike are told once.
LOOKED_AT = 1000
#: Parts that are compared with each other.
COMPARED = 60


@dataclass(frozen=True)
class View:
    """One view, or several that one line made in the same way, as in a loop.

    Attributes:
        number: counts the views of this memory from 1.
        parent: the number of the view that it was made of; 0 for the base.
        node: the node that made it, the first of several, 0 when it has none.
        times: how often it was made.
        creation: where it was made, in words; empty when that is as usual.
        region: its part of the base; None for all of it, or when that is not known.
    """

    number: int
    parent: int
    op: str
    node: int
    site: Site
    creation: str
    region: Region | None
    times: int


@dataclass(frozen=True)
class Written:
    """A write: versions before and after, and of one that changed the history the old and the new grad_fn."""

    old: int
    new: int
    op: str
    site: Site
    old_node: int
    new_node: int
    history: str


@dataclass(frozen=True)
class ViewReport:
    """One memory and all that shows it.

    Attributes:
        storage: its id.
        names: of the tensors on it.
        nbytes: its size, None when that was not recorded.
        base: the node that made the base and its line; 0 for a leaf or when it is not known.
        views, writes: in the order in which they were made.
        overlapping: pairs of numbers of views that have elements in common; views of all of it are not among them.
        more: views, writes or pairs that are not listed.
        alike: how many more memories look like this one.
    """

    storage: int
    names: tuple[str, ...]
    nbytes: int | None
    base: int
    base_words: str
    base_site: Site
    views: tuple[View, ...]
    writes: tuple[Written, ...]
    overlapping: tuple[tuple[int, int], ...]
    more: int
    alike: int = 0


def view_report(facts: Facts, storage: int) -> ViewReport:
    """What the trace tells of the views of a storage."""
    told = views_of(facts, storage)
    views = _tree(told)
    writes = _writes(facts, storage)
    pairs = _pairs(views)
    base = facts.node(_base(told))
    return ViewReport(
        storage,
        tuple(facts.names(storage)),
        facts.storage_nbytes(storage),
        base.id if base is not None else 0,
        op_words(base) if base is not None else "",
        base.site if base is not None else Site("", 0),
        views[:VIEWS],
        writes[:WRITES],
        pairs[:PAIRS],
        max(0, len(views) - VIEWS) + max(0, len(writes) - WRITES) + max(0, len(pairs) - PAIRS),
    )


def view_reports(facts: Facts) -> list[ViewReport]:
    """The memories with views of parts, or whose history a write changed, first; then those that were written or viewed most."""
    told = facts.trace.records[facts.rows(Kind.VIEW)]
    ids, times = np.unique(told[:, 1], return_counts=True)
    parted = np.isin(ids, told[told[:, 6] > 0, 1]) | np.isin(ids, facts.trace.records[facts.rows(Kind.REBASED), 1])
    written = np.isin(ids, facts.trace.records[facts.rows(Kind.BUMP), 1])
    order = np.lexsort((ids, -times, ~written, ~parted))[:LOOKED_AT]
    found: dict[tuple[object, ...], ViewReport] = {}
    for report in (view_report(facts, number) for number in ids[order].tolist()):
        first = found.setdefault(_look(report), report)
        if first is not report:
            found[_look(report)] = replace(first, alike=first.alike + 1)
    return list(found.values())[:MEMORIES]


def _look(report: ViewReport) -> tuple[object, ...]:
    """What memories have in common that one line makes again and again."""
    views = [(each.parent, each.op, each.site, each.creation, each.region) for each in report.views]
    writes = [(each.op, each.site) for each in report.writes]
    return (report.names, report.base_words, report.base_site, tuple(views), tuple(writes))


def _base(told: list[ViewFact]) -> int:
    """The node that made the base: what was viewed first."""
    return told[0].source[0] if told else 0


def _tree(told: list[ViewFact]) -> tuple[View, ...]:
    numbers: dict[tuple[int, int], int] = {}
    known: dict[tuple[object, ...], int] = {}
    times: dict[int, int] = {}
    views: list[View] = []
    for each in told:
        parent = numbers.get(each.source, 0) if each.source[0] else 0
        key = parent, each.op.name, each.site, each.creation, each.region
        number = known.setdefault(key, len(known) + 1)
        times[number] = times.get(number, 0) + 1
        if each.made[0]:
            numbers[each.made] = number
        if number <= len(views):
            continue
        words = CREATIONS.get(each.creation, "")
        views.append(View(number, parent, each.op.name, each.made[0], each.site, words, each.region, 0))
    return tuple(replace(each, times=times[each.number]) for each in views)


def _writes(facts: Facts, storage: int) -> tuple[Written, ...]:
    rebased = {}
    for row in facts.rows_about(Kind.REBASED, storage):
        words = facts.words(row)
        rebased[row] = unpack_edge(words[2])[0], unpack_edge(words[3])[0], words[4]
    found = []
    for bump in facts.bumps(storage)[: WRITES + 1]:
        where_ = facts.words(bump.row)[4]
        near = next((rebased[row] for row in rebased if abs(row - bump.row) < 64 and rebased[row][2] == where_), None)
        old, new = (near[0], near[1]) if near is not None else (0, 0)
        found.append(Written(bump.old, bump.new, bump.op.name, bump.site, old, new, _history(facts, old, new)))
    return tuple(found)


def _history(facts: Facts, old: int, new: int) -> str:
    """``MulBackward0 2 -> CopySlices 8``."""
    if not new:
        return ""
    named = [
        (node, f"{op_words(node)} {node.id}") if (node := facts.node(each)) is not None else (None, "a leaf")
        for each in (old, new)
    ]
    return f"{named[0][1]} -> {named[1][1]}"


def _pairs(views: tuple[View, ...]) -> tuple[tuple[int, int], ...]:
    parts = [each for each in views if each.region is not None][:COMPARED]
    found = []
    for at, one in enumerate(parts):
        for other in parts[at + 1 :]:
            if one.region is not None and other.region is not None and overlap(one.region, other.region):
                found.append((one.number, other.number))
    return tuple(found)


def as_text(reports: list[ViewReport]) -> str:
    """The reports as text."""
    if not reports:
        return "no views were made\n"
    return "\n".join("\n".join(_lines(each)) + "\n" for each in reports)


def _lines(report: ViewReport) -> list[str]:
    name = f" `{'`, `'.join(report.names)}`" if report.names else ""
    made = (
        f", made by {report.base_words} {report.base} ({where(report.base_site)})"
        if report.base and report.base_site.line
        else ""
    )
    number = f" {report.storage}" if report.storage < _ONE_MAKER else ""  # else the number says nothing to a reader
    what = f"memory{number}{name}" if number or name else "a memory without a name"
    lines = [f"{what}: {size_if_known(report.nbytes)}, {count(len(report.views), 'view')}{made}"]
    depth: dict[int, int] = {0: 0}
    rows = []
    for each in report.views:
        depth[each.number] = depth.get(each.parent, 0) + 1
        label = "  " * (depth[each.number] - 1) + each.op
        rows.append(
            (
                each.number,
                label,
                where(each.site),
                f"node {each.node}" if each.node else "no node",
                _place(each.region),
                ", ".join(filter(None, (each.creation, count(each.times, "time") if each.times > 1 else ""))),
            )
        )
    lines += table(("", "view", "line", "", "part", ""), rows, "  ")
    if report.writes:
        written = [(f"{each.old} -> {each.new}", each.op, where(each.site), each.history) for each in report.writes]
        lines += table(("version", "write", "line", "grad_fn of the base"), written, "  ")
    if report.overlapping:
        lines.append(f"  overlap: {', '.join(f'{one} and {other}' for one, other in report.overlapping)}")
    if report.more:
        lines.append(f"  and {report.more:,} more")
    if report.alike:
        lines.append(f"  and {report.alike:,} more {'memories' if report.alike > 1 else 'memory'} like this one")
    return lines


def _place(region: Region | None) -> str:
    if region is None:
        return "all"
    return f"{list(region.shape)} from {region.offset}, strides {list(region.strides)}"

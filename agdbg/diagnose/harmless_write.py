"""harmless-write: a tensor was written in place after it was used, and nothing that was saved needs it as it was.

Told on request only. Needs: BUMP, saves, SHAPE or edges (what was used).
"""

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Evidence, Finding, Found
from agdbg.diagnose.history import is_step
from agdbg.diagnose.source import quoted
from agdbg.diagnose.walk import Words
from agdbg.diagnose.words import Lines
from agdbg.diagnose.writes import write
from agdbg.events import Kind
from agdbg.record.facts import BumpFact

KIND = "harmless-write"
#: Lines that are told of.
LIMIT = 20
_STORAGE, _VERSION = np.uint64((1 << 36) - 1), np.uint64((1 << 20) - 1)
_SHIFT = np.uint64(36)
_GRADIENT = "AccumulateGrad"


def remarks(case: Case) -> list[Found]:
    """One remark for each line that wrote to what was used before and that no saved tensor needs."""
    facts = case.facts
    rows = facts.rows(Kind.BUMP)
    if not len(rows):
        return []
    words = facts.trace.records[rows]
    born = _first_told(case)
    saved = _first_saved(case)
    storages, never = words[:, 1].tolist(), len(facts.trace.records)
    used = np.array([born.get(each, never) for each in storages]) < rows
    needed = np.array([saved.get(each, never) for each in storages]) < rows
    lines = set(words[needed, 4].tolist())
    found = []
    free = used & ~needed
    for row, storage, where in zip(rows[free].tolist(), words[free, 1].tolist(), words[free, 4].tolist(), strict=True):
        if where in lines:
            continue
        lines.add(where)
        bump = next((each for each in facts.bumps(storage) if each.row == row), None)
        told = _remark(case, bump) if bump is not None else None
        found += [told] if told is not None else []
        if len(found) == LIMIT:
            break
    return found


def _first_told(case: Case) -> dict[int, int]:
    """The row where each storage was first told to be what a node made, or a leaf that one uses."""
    facts = case.facts
    rows = facts.rows(Kind.SHAPE)
    return _first(facts.trace.records[rows, 4], rows)


def _first_saved(case: Case) -> dict[int, int]:
    """The row where each storage was first saved by a node."""
    facts = case.facts
    births, told = facts.rows(Kind.BORN), facts.rows(Kind.SAVED)
    born, late = facts.trace.records[births], facts.trace.records[told]
    storages = np.concatenate([born[:, 6] & _STORAGE, born[:, 7] & _STORAGE, late[:, 3]])
    return _first(storages, np.concatenate([births, births, told]))


def _first(storages: Words, rows: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> dict[int, int]:
    order = np.argsort(rows, kind="stable")
    ids, first = np.unique(storages[order], return_index=True)
    return {number: row for number, row in zip(ids.tolist(), rows[order][first].tolist(), strict=True) if number}


def _remark(case: Case, bump: BumpFact) -> Found | None:
    if is_step(bump.op, bump.site) or bump.op.name.endswith(_GRADIENT) or not bump.site.line:
        return None
    read = write(bump.site)
    names = case.facts.names(bump.storage)
    name = names[0] if names else read.target
    written = f"`{name}`" if name else "a tensor"
    what = f"`{read.text or quoted(bump.site.text.strip())}`{Lines(bump.site).at(bump.site)}"
    return Found(
        bump.row,
        Finding(
            kind=KIND,
            cause=f"{what} writes to {written} in place, and nothing that was saved needs it as it was.",
            evidence=(
                Evidence(
                    "wrote",
                    bump.site,
                    f"version {bump.old} to {bump.new}, by {bump.op.name}; no node had saved it",
                    bump.node,
                ),
            ),
            nodes=(bump.node,) if bump.node else (),
            certainty="certain",
            fix="Nothing: this write is harmless.",
        ),
    )

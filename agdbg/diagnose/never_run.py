"""never-run: a graph that was built and that no pass came to, though passes followed: an evaluation without ``no_grad``, say.

What its nodes saved is kept as long as its result is, for nothing. That is no fault, so it is told on request only.

Needs: births, edges, PASS_STARTED.
"""

from collections.abc import Iterator

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Evidence, Finding, Found
from agdbg.diagnose.naming import made_by
from agdbg.diagnose.walk import Mask
from agdbg.diagnose.words import Lines, count
from agdbg.record.facts import NodeFact

KIND = "never-run"
#: Nodes that a graph must have at least to be worth a word: views and printed numbers are built by the way.
LEAST = 3
#: Lines that are told of, and results of one line whose graphs are looked at.
LIMIT, LOOKED_AT = 20, 1000
#: Results of the whole trace that are gathered by line.
RESULTS = 20_000


def remarks(case: Case) -> list[Found]:
    """One remark for each line whose results have graphs that no pass ran; those before the last pass, which could have."""
    walk, passes = case.walk, case.facts.passes
    if not passes:
        return []
    unrun = ~walk.below(walk.mask(root for each in passes for root, _ in each.roots)) & ~walk.leaves & (walk.born >= 0)
    unrun &= ~walk.in_pass
    last = max(each.row for each in passes)
    lines: dict[tuple[str, int], list[NodeFact]] = {}
    for result in _results(case, unrun):
        lines.setdefault((result.site.file, result.site.line), []).append(result)
    found = (_remark(case, results, unrun) for results in lines.values() if results[0].row < last)
    return [each for each in found if each is not None][:LIMIT]


def _results(case: Case, unrun: Mask) -> Iterator[NodeFact]:
    """The nodes of which nothing more was computed."""
    walk = case.walk
    used = np.zeros(len(unrun), bool)
    used[walk.edges.target] = True
    nodes = (case.facts.node(int(walk.ids[place])) for place in np.flatnonzero(unrun & ~used)[:RESULTS].tolist())
    return (each for each in nodes if each is not None and each.site.line)


def _remark(case: Case, results: list[NodeFact], unrun: Mask) -> Found | None:
    walk, first = case.walk, results[0]
    below = walk.below(walk.mask(each.id for each in results[:LOOKED_AT]), unrun)
    times = len(results)
    nodes = int(below.sum()) // min(times, LOOKED_AT)
    if nodes < LEAST:
        return None
    start = case.facts.node(int(walk.ids[np.flatnonzero(below)[0]]))
    saved = bool((walk.saving & below).any())
    again = f", {count(times, 'time')}" if times > 1 else ""
    kept = " What its nodes saved was kept for nothing." if saved else ""
    begins = (
        (Evidence("begins", start.site, f"{start.op.name} is its first node", start.id),) if start is not None else ()
    )
    return Found(
        first.row,
        Finding(
            kind=KIND,
            cause=(
                f"{made_by(first)}{Lines(first.site).at(first.site)} has a graph of {count(nodes, 'node')}"
                f"{again}, which no backward() or grad() ever runs.{kept}"
            ),
            evidence=(
                *begins,
                Evidence("made", first.site, f"{first.op.name} is the last: nothing is computed from it", first.id),
            ),
            nodes=(first.id,),
            certainty="certain",
            fix="If no gradient is wanted there, compute it under no_grad(); else add it to what is differentiated.",
        ),
    )

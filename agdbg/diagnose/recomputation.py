"""recomputation: a checkpointed function did not compute the same again, and nothing was raised.

Needs: RECOMPUTED with the text of a difference and its flag; births and saves of both runs, BUMP for state that was
written; SUMMARY, where values are recorded, for all else.
"""

from __future__ import annotations

import re
from dataclasses import replace

from agdbg.diagnose import between_runs
from agdbg.diagnose.between_runs import Written
from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Certainty, Evidence, Finding, Found
from agdbg.diagnose.rebuilt import differs, runs
from agdbg.diagnose.recomputed_reason import difference, foreign_draw, likely_reason
from agdbg.diagnose.source import call_text
from agdbg.diagnose.twin_runs import Twins, begun, built_again, rewritten, twins
from agdbg.diagnose.words import Lines, op_words
from agdbg.events import REDRAWN, flags_of
from agdbg.record.facts import NodeFact, PassFact
from agdbg.record.rare import RecomputeFact

KIND = "recomputation"
#: Recomputations that are looked into, and the tolerance for norms of the same values.
LIMIT, TOLERANCE = 60, 1e-6
_NUMBER = re.compile(r"\d+(\.\d+)?(e[+-]?\d+)?")


def findings(case: Case) -> list[Found]:
    """One finding for each line whose recomputation was not the same, of those for which no error was raised."""
    failed = {error.pass_id for error in case.facts.errors if error.kind == "checkpoint"}
    found: dict[tuple[object, ...], list[Found]] = {}
    for told in case.facts.recomputations[:LIMIT]:
        call = case.facts.pass_of(told.pass_id)
        if call is None or call.id in failed:
            continue
        made = _finding(case, told, call)
        if made is not None:
            why = _NUMBER.sub("#", made.cause.partition(":")[2])
            found.setdefault((made.evidence[0].site, why), []).append(Found(told.row, made))
    return [_repeated(same) for same in found.values()]


def _repeated(same: list[Found]) -> Found:
    """The first of the findings that say the same, but for the numbers, with how often it came."""
    first = same[0]
    if len(same) == 1:
        return first
    *before, last = first.finding.evidence
    told = replace(last, note=f"{last.note}\nthe same came {len(same)} times")
    return Found(first.row, replace(first.finding, evidence=(*before, told)))


def _finding(case: Case, told: RecomputeFact, call: PassFact) -> Finding | None:
    redrawn = bool(flags_of(case.facts.words(told.row)[0]) & REDRAWN)
    found = difference(told.difference) if told.difference else None
    lines = Lines(call.site)
    if found is not None:
        why = likely_reason(found, redrawn)
        what = f"{differs(found, lines)}{f'; {why}' if why else ''}"
        return _made(told, call, what, runs(found), "certain")
    if redrawn:
        return _made(
            told,
            call,
            "it drew other random numbers, since preserve_rng_state=False keeps none",
            _first(case, told),
            "certain",
        )
    ways = twins(case, told)
    if not ways:
        return _of_the_second_run(case, told, call, lines)
    start = begun(case, told)
    state = _state(case, ways[0], start)
    if state is not None:
        sure: Certainty = "certain" if all(_state(case, each, start) is not None for each in ways) else "likely"
        fix = between_runs.fix(case, state, call, lines)
        return _made(told, call, between_runs.words(case, state, lines), _state_evidence(state), sure, fix)
    other = _other_values(case, ways[0])
    if other is not None and all(_other_values(case, each) is not None for each in ways[1:]):
        return _made(told, call, *_other_words(*other, lines), "likely")
    return None


def _state(case: Case, pairs: Twins, start: int) -> Written | None:
    """What was written between the runs: what both saved, or a leaf that both read, where that shows in a result or may do so."""
    saved = between_runs.saved_state(case, pairs, start)
    if saved is not None:
        return saved
    leaves = between_runs.leaves_between(case, pairs, start)
    measured = any(each.what == "output" for one, _ in pairs for each in case.facts.summaries(one))
    if not leaves or (measured and _other_values(case, pairs) is None):
        return None
    return replace(leaves[0], others=len(leaves) - 1)


def _of_the_second_run(case: Case, told: RecomputeFact, call: PassFact, lines: Lines) -> Finding | None:
    """Of a re-entrant checkpoint, whose first run has no graph."""
    node, again_ran = case.facts.node(told.node), built_again(case, told)
    if node is None or (again_ran and _same_result(case, node.id, again_ran[-1])):
        return None
    written = rewritten(case, told)
    if written:
        number, bump, save = written[0]
        again = case.facts.node(number)
        if again is not None:
            state = Written(again, again, save.slot, save.storage, (bump,))
            words = f"{between_runs.words(case, state, lines)}, and by each run"
            return _made(told, call, words, _state_evidence(state)[1:], "certain")
    leaves = between_runs.leaves_since(case, node, again_ran, begun(case, told))
    if not leaves:
        return None
    state = replace(leaves[0], others=len(leaves) - 1)
    first = Evidence("first run", node.site, f"{op_words(node)} stands for it", node.id)
    fix = between_runs.fix(case, state, call, lines)
    evidence = (first, *_state_evidence(state)[1:])
    return _made(told, call, between_runs.words(case, state, lines), evidence, "certain", fix)


def _same_result(case: Case, first: int, again: int) -> bool:
    """Whether both runs are known to have had one result."""
    was, now = ([each for each in case.facts.summaries(node) if each.what == "output"] for node in (first, again))
    return bool(was and now) and _close(was[0].norm, now[0].norm, was[0].largest, now[0].largest)


def _made(
    told: RecomputeFact, call: PassFact, what: str, lines: tuple[Evidence, ...], how: Certainty, fix: str = ""
) -> Finding:
    silent = "" if call.outcome == "error" else " Nothing was raised, and the gradients are of another function."
    return Finding(
        kind=KIND,
        cause=(
            f"A checkpointed function did not compute the same when `{call_text(call.site, call.call)}`"
            f"{Lines(call.site).at(call.site)} ran it again: {what}.{silent}"
        ),
        evidence=(*lines, Evidence("needed", call.site, "ran the function again")),
        nodes=(told.node,) if told.node else (),
        certainty=how,
        fix=fix or _fix(what),
    )


def _fix(what: str) -> str:
    if "random numbers" in what:
        return (
            "Leave preserve_rng_state=True, which is the default; draw what does not come from the engine's generator before the "
            "call, and pass it as an argument."
        )
    return (
        "Make the function depend on its arguments alone: pass the state as an argument, and change it outside of the function, "
        "after backward()."
    )


def _first(case: Case, told: RecomputeFact) -> tuple[Evidence, ...]:
    node = case.facts.node(told.node)
    return (
        (Evidence("first run", node.site, f"{op_words(node)}, whose saved tensors were computed again", node.id),)
        if node is not None
        else ()
    )


# ----- state that was written in place between the two runs -----


def _state_evidence(state: Written) -> tuple[Evidence, ...]:
    wrote = [
        Evidence("wrote", each.site, f"version {each.old} to {each.new}, by {each.op.name}", each.node)
        for each in state.since[-3:]
    ]
    return (Evidence("first run", state.first.site, op_words(state.first), state.first.id), *wrote)


def _other_words(first: NodeFact, again: NodeFact, lines: Lines) -> tuple[str, tuple[Evidence, ...]]:
    """The cause and the lines, of an op with another result: random numbers, where its function draws some."""
    what = f"the first op with another result is {op_words(first)}{lines.at(first.site)}"
    runs = (
        Evidence("first run", first.site, f"{op_words(first)} gave one result", first.id),
        Evidence("second run", again.site, "gave another result than before", again.id),
    )
    drawn = foreign_draw(first.site)
    if drawn is None:
        return f"{what}: it reads something that changed since", runs
    text, site = drawn
    words = f"{what}; `{text}`{lines.at(site)} draws random numbers that are not repeated"
    return words, (Evidence("first run", site, "drew random numbers that nobody keeps"), *runs)


def _other_values(case: Case, pairs: Twins) -> tuple[NodeFact, NodeFact] | None:
    """The first op whose result is not what it was, in both runs."""
    for one, other in pairs:
        before = {each.index: each for each in case.facts.summaries(one) if each.what == "output"}
        for each in case.facts.summaries(other):
            was = before.get(each.index) if each.what == "output" else None
            if was is not None and not _close(was.norm, each.norm, was.largest, each.largest):
                nodes = case.facts.node(one), case.facts.node(other)
                return (nodes[0], nodes[1]) if nodes[0] is not None and nodes[1] is not None else None
    return None


def _close(norm: float, norm_again: float, largest: float, largest_again: float) -> bool:
    return all(
        abs(a - b) <= TOLERANCE * max(abs(a), abs(b), 1e-30) for a, b in ((norm, norm_again), (largest, largest_again))
    )

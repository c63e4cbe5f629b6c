"""inplace-modified: a saved tensor was written after it was saved, and backward needed it as it was.

Needs: the error with its node, slot, storage and versions; BUMP (who wrote); TENSOR (what the tensor is
called); saves and edges (what else is stale); RAN and births (whether the graph reaches back into an earlier
iteration).
"""

from agdbg.diagnose.case import Case, Failure
from agdbg.diagnose.finding import Certainty, Evidence, Finding, Found, weakest
from agdbg.diagnose.out_of_place import NAMED
from agdbg.diagnose.overlap import Verdict, verdict
from agdbg.diagnose.parts import apart, earlier
from agdbg.diagnose.remedy import remedy
from agdbg.diagnose.source import call_text
from agdbg.diagnose.stain import Stain
from agdbg.diagnose.stale import Stale, also_stale, caution, other_saves
from agdbg.diagnose.words import capital, count, is_result, listed, op_words, same_line, slot_words
from agdbg.diagnose.writers import Writer, observed

KIND = "inplace-modified"
#: Writers that are shown, each with its line, and other stale nodes that are named.
SHOWN = 6


def findings(case: Case) -> list[Found]:
    """One finding for each error of this kind."""
    return case.found(KIND, _finding)


def _finding(case: Case, failure: Failure) -> Finding:
    stain, told = _spoiled(case, Stain.of(case, failure.first))
    stale, parts = also_stale(case, stain), caution(case, stain)
    parts = parts if told == "unknown" else None
    entered = [entry.node.id for entry in stain.entries[:1]]
    nodes = dict.fromkeys([failure.first.node, failure.last.node, *entered, *stale.nodes[:SHOWN]])
    return Finding(
        kind=KIND,
        cause=_cause(stain) if told != "apart" else _unchanged(stain),
        evidence=_evidence(stain, stale, parts, failure.count, _around(case, stain, told, parts)),
        nodes=tuple(node for node in nodes if node),
        certainty=_certainty(case, stain),
        fix=remedy(case, stain, in_parts=parts is not None or told == "apart" or _of_its_own_line(stain)),
    )


def _spoiled(case: Case, stain: Stain) -> tuple[Stain, Verdict]:
    """What was saved and really written: of a false alarm another stale save of the pass, where one is none."""
    told = _verdict(case, stain)
    if told == "apart":
        others = (Stain.of(case, each) for each in other_saves(case, stain))
        touched = next((each for each in others if _verdict(case, each) == "touched"), None)
        if touched is not None:
            return touched, "touched"
    return stain, told


def _verdict(case: Case, stain: Stain) -> Verdict:
    return verdict(case, stain, in_parts=caution(case, stain) is not None)


def _certainty(case: Case, stain: Stain) -> Certainty:
    """What is not known lowers it: a version without a writer, a write that was inferred, who saved what."""
    who: Certainty = "certain" if not stain.unaccounted else "likely" if stain.bumps else "possible"
    return weakest(
        who,
        "certain" if observed(case, stain.bumps) else "likely",
        "certain" if stain.node is not None and stain.storage else "likely",
    )


def _of_its_own_line(stain: Stain) -> bool:
    """Whether parts were written by the line that saved them: a clone of the whole before it is written as well."""
    writer, node = (stain.writers[0] if stain.writers else None), stain.node
    mine = writer is not None and node is not None and same_line(writer.site, node.site)
    return mine and writer is not None and writer.write.form == "index"


# ----- the sentence -----


def _cause(stain: Stain) -> str:
    needed = f"before {_needing(stain)} {_used(stain)} it"
    if not stain.writers:
        return f"{capital(_saved(stain))} was changed in place {needed}; no recorded write says by whom."
    writer = stain.writers[0]
    where = stain.lines.at(writer.site)
    if len(_by_line(stain)) > 1:
        return f"{capital(_saved(stain))} was changed by {_writing(stain)} {needed}."
    if writer.manner == "step":
        return f"{capital(writer.words)}{where} updated {_saved(stain)} {needed}."
    if writer.manner == "gradient":
        return f"Gradient accumulation{where} changed {_saved(stain)} {needed}."
    return f"{capital(_saved(stain))} was changed by {writer.words}{where} {needed}."


def _unchanged(stain: Stain) -> str:
    """The sentence for a write that did not touch what was saved."""
    return (
        f"{capital(_saved(stain))} is as it was: {_writing(stain)} wrote another part of the same memory before {_needing(stain)} "
        f"{_used(stain)} it, and one version counter serves all parts, so this is a false alarm by design."
    )


def _used(stain: Stain) -> str:
    """The verb for what the pass does, or will do when it goes on."""
    return "uses" if stain.error.predicted else "used"


def _saved(stain: Stain) -> str:
    """What was saved, by which node, on which line."""
    by = "a node that was built before the recording"
    if stain.node is not None:
        by = f"{op_words(stain.node)}{stain.lines.at(stain.node.site)}"
    if stain.name:
        return f"{stain.name}, saved by {by},"
    return f"{'the result' if is_result(stain.slot) else 'a tensor'} saved by {by}"


def _needing(stain: Stain) -> str:
    call = stain.call
    return f"`{call_text(call.site, call.call)}`{stain.lines.at(call.site)}" if call is not None else "backward"


def _by_line(stain: Stain) -> list[Writer]:
    """The first writer of each line."""
    return list({(each.site.file, each.site.line): each for each in reversed(stain.writers)}.values())[::-1]


def _writing(stain: Stain) -> str:
    """All that wrote, each with its line; of very many the first ones."""
    found = _by_line(stain)
    each = [f"{writer.words}{stain.lines.at(writer.site)}" for writer in found[:NAMED]]
    return listed([*each, f"{len(found) - NAMED} more"] if len(found) > NAMED else each, NAMED + 1)


# ----- the evidence -----


def _around(case: Case, stain: Stain, told: Verdict, parts: Evidence | None) -> list[tuple[int, Evidence]]:
    """Of a memory that is used in parts which part was which, and what was saved and written before."""
    if told == "apart":
        return [*apart(case, stain), *earlier(case, stain)]
    return earlier(case, stain) if parts is not None else []


def _evidence(
    stain: Stain, stale: Stale, parts: Evidence | None, times: int, around: list[tuple[int, Evidence]]
) -> tuple[Evidence, ...]:
    found: list[tuple[int, Evidence]] = [*around]
    if stain.node is not None:
        found.append((stain.node.row, Evidence("saved", stain.node.site, _saved_note(stain), stain.node.id)))
    if stain.entries:
        entry = stain.entries[0].node
        note = f"{op_words(entry)}: here the graph reaches back into an earlier iteration"
        found.append((entry.row, Evidence("entry", entry.site, note, entry.id)))
    found += _written(stain)
    ordered = [evidence for _, evidence in sorted(found, key=lambda each: each[0])]
    return (
        *ordered,
        *_remarks(stain, stale, parts),
        Evidence("needed", stain.needed, _needed_note(stain, times)),
    )


def _written(stain: Stain) -> list[tuple[int, Evidence]]:
    shown, rest = stain.writers[:SHOWN], stain.writers[SHOWN:]
    found = [(each.first.row, Evidence("wrote", each.site, _wrote_note(each), each.first.node)) for each in shown]
    if rest:
        note = f"and {count(len(rest), 'more write')} from here on"
        found.append((rest[0].first.row, Evidence("wrote", rest[0].site, note, rest[0].first.node)))
    return found


def _remarks(stain: Stain, stale: Stale, parts: Evidence | None) -> list[Evidence]:
    found = []
    if stain.unaccounted:
        note = f"who made {count(stain.unaccounted, 'version')} of it was not recorded"
        found.append(Evidence("unknown", stain.needed, note))
    if parts is not None:
        found.append(parts)
    if stale.count:
        verb = "is" if stale.count == 1 else "are"
        number = count(stale.count, "more saved tensor")
        note = f"{'at least ' if stale.more else ''}{number} of this graph {verb} stale too"
        found.append(Evidence("stale", stale.site, note, stale.nodes[0]))
    return found


def _saved_note(stain: Stain) -> str:
    assert stain.node is not None
    name = f", {stain.name}," if stain.name else ""
    return f"{op_words(stain.node)} saved {_kept(stain)}{name} at version {stain.expected}"


def _kept(stain: Stain) -> str:
    """What was saved; of what a custom Function saved, an output when a recorded write to it was to its output."""
    words = slot_words(stain.slot)
    if stain.slot.startswith("saved_tensors[") and stain.wrote_output:
        return f"its output (`{stain.slot}`)"
    return words


def _wrote_note(writer: Writer) -> str:
    if writer.manner != "no_grad":
        return writer.note
    return f"{writer.note}\nno_grad() keeps a write out of the graph, not out of the memory that was saved"


def _needed_note(stain: Stain, times: int) -> str:
    found = "will find" if stain.error.predicted else "found"
    note = f"{found} version {stain.current} where it needs version {stain.expected}"
    return f"{note}\nthe same error came {times:,} times" if times > 1 else note

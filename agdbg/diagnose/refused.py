"""leaf-inplace, view-inplace and no-grad-fn: the engine refused at once, so the line that raised is the culprit or near it.

Needs: the error with its line; VIEW and GRAD_MODE (where a view was made), TENSOR (the leaf's name), CUT (where the graph ended).
"""

from dataclasses import dataclass

import numpy as np

from agdbg.diagnose.case import Case, Failure
from agdbg.diagnose.finding import Certainty, Evidence, Finding, Found
from agdbg.diagnose.source import call_text, expression
from agdbg.diagnose.words import Lines, capital, count
from agdbg.diagnose.writers import disabled_at
from agdbg.diagnose.writes import write
from agdbg.events import Kind
from agdbg.record.facts import ErrorFact
from agdbg.record.lookup import Op, Site

#: Cuts that are shown.
CUTS = 3
#: Cuts that a program makes on its way without meaning the loss: a number to print, a comparison for the accuracy.
_HARMLESS = ("item", "integer")
_CUT_WORDS = {
    "detach": "detach() ended the path",
    "no_grad": "computed with gradients switched off",
    "data": ".data has no history",
    "integer": "an integer or bool result has no gradient",
    "numpy": "went out to NumPy",
    "item": "became a Python number",
}


def findings(case: Case) -> list[Found]:
    """One finding for each error of these kinds."""
    told = {"leaf-inplace": _leaf, "view-inplace": _view, "no-grad-fn": _no_graph}
    return [Found(f.first.row, told[f.first.kind](case, f)) for f in case.failures(*told)]


def _made(failure: Failure, cause: str, evidence: list[Evidence], certainty: Certainty, fix: str) -> Finding:
    nodes = dict.fromkeys([failure.first.node, failure.last.node])
    return Finding(failure.first.kind, cause, tuple(evidence), tuple(n for n in nodes if n), certainty, fix)


def _refused(failure: Failure, note: str) -> Evidence:
    times = f"\nthe same error came {failure.count:,} times" if failure.count > 1 else ""
    return Evidence("refused", failure.first.site, note + times)


def _text(site: Site, unknown: str) -> str:
    text = write(site).text or expression(site)
    return f"`{text}`" if text else unknown


# ----- a leaf -----


def _leaf(case: Case, failure: Failure) -> Finding:
    error = failure.first
    read = write(error.site)
    names = case.facts.names(error.storage) if error.storage else []
    name = names[0] if names else read.target
    instead = f": `{read.instead}`" if read.instead else ""
    return _made(
        failure,
        f"{capital(_text(error.site, 'an in-place op'))}{Lines(error.site).at(error.site)} writes into {f'`{name}`, ' if name else ''}"
        "a leaf that requires grad, while gradients are recorded.",
        [_refused(failure, "nothing was written")],
        "certain",
        "If it is an update or an initialisation, put it under no_grad(). If the gradient should know of it, write it out of "
        f"place under a new name{instead}.",
    )


# ----- a view -----


def _view(case: Case, failure: Failure) -> Finding:
    error = failure.first
    lines = Lines(error.site)
    what = f"{capital(_text(error.site, 'an in-place op'))}{lines.at(error.site)} writes into"
    made, off = _made_at(case, error)
    evidence = (
        [Evidence("view", made, f"the view was made here{' with gradients switched off' if off else ''}")]
        if made
        else []
    )
    where = f", made{lines.at(made)}," if made and made.line else ""
    if "multiple views" in error.text:
        cause = f"{what} one of several views{where} that one op returned together."
        fix = "Write out of place and collect the results, with stack() for example, or write through an index: `x[i] = ...`."
    elif "no_grad mode" in error.text:
        cause = f"{what} a view{where} that was made under no_grad(), while gradients are recorded."
        fix = "Make the view and write to it both inside no_grad(), or both outside."
    elif "single memory location" in error.text:
        cause = f"{what} a tensor whose elements share memory, as after expand()."
        fix = "clone() it before writing."
    else:
        cause = f"{what} a view{where} of a leaf that requires grad, while gradients are recorded."
        fix = "Put the write under no_grad() if it is an update, or write to a clone()."
    return _made(
        failure,
        cause,
        [*evidence, _refused(failure, "nothing was written")],
        "certain" if made else "likely",
        fix,
    )


def _made_at(case: Case, error: ErrorFact) -> tuple[Site | None, bool]:
    """The line that made the view, and whether gradients were off there: of the node, or else the last on that storage."""
    node = case.facts.node(error.node)
    if node is not None:
        return node.site, False
    rows = (
        [row for row in case.facts.rows_about(Kind.VIEW, error.storage) if row < error.row]
        if error.storage
        else []
    )
    off = [row for row in rows if disabled_at(case, row) is not None]
    chosen = (off or rows)[-1:] if "no_grad mode" in error.text else rows[-1:]
    return (
        (case.facts.site_and_op(case.facts.words(chosen[0])[4])[0], chosen[0] in off)
        if chosen
        else (None, False)
    )


# ----- no graph -----


@dataclass(frozen=True)
class _Cut:
    op: Op
    site: Site
    storage: int
    count: int
    row: int


def _no_graph(case: Case, failure: Failure) -> Finding:
    error = failure.first
    lines = Lines(error.site)
    call = f"`{call_text(error.site, 'backward')}`{lines.at(error.site)}"
    cuts = _cuts(case, error)
    evidence = [Evidence("cut", cut.site, _cut_note(cut)) for cut in cuts]
    off = disabled_at(case, error.row)
    if off is not None:
        evidence.append(Evidence("switched off", off, "gradients are switched off since here"))
    evidence.append(_refused(failure, "what it starts from has no graph"))
    if not cuts:
        cause = f"{call} starts from a tensor without a graph: nothing that was recorded cut it, so none of its inputs required grad."
        fix = "Set requires_grad on what should be trained, and see that the loss is computed from it."
        return _made(failure, cause, evidence, "possible", fix)
    cut = cuts[0]
    cause = f"{call} starts from a tensor without a graph; {'the' if _same_memory(cut, error) else 'the last'} path was cut{lines.at(cut.site)} ({cut.op.name})."
    fix = "Take the cut out of the way from the parameters to the loss, or call backward() on what was there before it."
    return _made(failure, cause, evidence, "certain" if _same_memory(cut, error) else "possible", fix)


def _same_memory(cut: _Cut, error: ErrorFact) -> bool:
    return bool(error.storage) and cut.storage == error.storage


def _cut_note(cut: _Cut) -> str:
    times = f", {count(cut.count, 'time')} by then" if cut.count > 1 else ""
    return _CUT_WORDS.get(cut.op.name, f"{cut.op.name} ended the path") + times


def _cuts(case: Case, error: ErrorFact) -> list[_Cut]:
    """The likeliest cuts before the error: of the same memory, then those that are meant for the loss, the last first."""
    facts = case.facts
    rows = facts.rows(Kind.CUT)
    rows = rows[rows < error.row][::-1]
    _, first = np.unique(facts.trace.records[rows, 2], return_index=True)
    found = [_cut(case, row) for row in rows[first].tolist()]
    found.sort(key=lambda cut: (not _same_memory(cut, error), cut.op.name in _HARMLESS, -cut.row))
    return found[:CUTS]


def _cut(case: Case, row: int) -> _Cut:
    _, storage, where, _, times, *_ = case.facts.words(row)
    site, op = case.facts.site_and_op(where)
    return _Cut(op, site, storage, times, row)

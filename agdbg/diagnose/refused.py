"""leaf-inplace, view-inplace, no-grad-fn: the engine refuses at once, so the line that raised tells most.

Needs: the error with its line; VIEW and GRAD_MODE (where a view was made); TENSOR (the leaf's name); CUT
(where the graph ended).
"""

from dataclasses import dataclass

import numpy as np

from agdbg.diagnose.case import Case, Failure
from agdbg.diagnose.finding import Certainty, Evidence, Finding, Found
from agdbg.diagnose.kept_gradient import kept_finding, kept_for
from agdbg.diagnose.marked_once import marked_once, once_finding
from agdbg.diagnose.mends import CUT_WORDS, MENDS, OTHERWISE
from agdbg.diagnose.refusal import finding, refused, writing
from agdbg.diagnose.refused_view import view
from agdbg.diagnose.regrad import gradient_of
from agdbg.diagnose.source import call_text, goes_to_numpy
from agdbg.diagnose.words import Lines, count, listed
from agdbg.diagnose.writers import disabled_at
from agdbg.diagnose.writes import write
from agdbg.events import Kind, unpack_edge
from agdbg.record.facts import ErrorFact
from agdbg.record.lookup import Op, Site

#: Cuts that are shown.
CUTS = 3
#: Cuts that are made without meaning the loss: a number to print, a comparison for the accuracy.
_HARMLESS = ("item", "integer")
_NO_GRAPH = "what it starts from has no graph"


def findings(case: Case) -> list[Found]:
    """One finding for each error of these kinds."""
    told = {"leaf-inplace": _leaf, "view-inplace": view, "no-grad-fn": _no_graph}
    return [Found(f.first.row, told[f.first.kind](case, f)) for f in case.failures(*told)]


# ----- a leaf -----


def _leaf(case: Case, failure: Failure) -> Finding:
    error = failure.first
    read = write(error.site)
    names = case.facts.names(error.storage) if error.storage else []
    name = names[0] if names else read.target
    named = f"`{name}`, " if name else ""
    instead = f": `new = {read.value}`" if read.instead else ""
    return finding(
        failure,
        f"{writing(error)} {named}a leaf that requires grad, while gradients are recorded.",
        [refused(failure, "nothing was written")],
        "certain",
        "If it is an update or an initialisation, put it under no_grad(). If the gradient should know of it, write it "
        f"out of place under a new name{instead}.",
    )


# ----- no graph -----


@dataclass(frozen=True)
class _Cut:
    op: Op
    site: Site
    storage: int
    count: int
    row: int
    producer: int


def _no_graph(case: Case, failure: Failure) -> Finding:
    error = failure.first
    lines = Lines(error.site)
    call = f"`{call_text(error.site, 'backward', 'grad')}`{lines.at(error.site)}"
    cuts = _cuts(case, error)
    evidence = [Evidence("cut", cut.site, _cut_note(cut), cut.producer) for cut in cuts]
    off = disabled_at(case, error.row)
    if off is not None:
        evidence.append(Evidence("switched off", off, "gradients are switched off since here"))
    gradient = gradient_of(case, error)
    kept = kept_for(case, gradient) if gradient is not None and off is None else None
    if gradient is not None and kept is not None:
        return kept_finding(case, gradient, kept, call, refused(failure, _NO_GRAPH))
    if gradient is not None and off is None and (not cuts or (gradient.named and not gradient.call.create_graph)):
        evidence = [Evidence("gradient", gradient.call.site, gradient.note), refused(failure, _NO_GRAPH)]
        certainty: Certainty = "likely" if gradient.named else "possible"
        return finding(failure, gradient.cause(call, lines), evidence, certainty, gradient.fix(lines))
    once = marked_once(case, [cut.row for cut in cuts], error.row) if off is None else None
    if once is not None:
        return once_finding(case, once, call, refused(failure, _NO_GRAPH))
    evidence.append(refused(failure, _NO_GRAPH))
    if not cuts:
        cause = f"{call} starts from a tensor without a graph, and no cut was recorded: nothing it was computed from requires grad."
        frozen = list(dict.fromkeys(f"`{each.name}`" for each in case.facts.tensors if each.requires_grad is False))
        if frozen and not any(each.requires_grad for each in case.facts.tensors):
            cause += f" The parameters that are known are frozen: {listed(frozen)}."
        fix = "Set requires_grad on what should be trained, and see that the loss is computed from it."
        return finding(failure, cause, evidence, "possible", fix)
    cut = cuts[0]
    sure = _same_memory(cut, error)
    which = "its path was cut" if sure else "the last cut before that is"
    how = f"{cut.op.name}, on the way to NumPy" if _leaves(cut) else cut.op.name
    cause = f"{call} starts from a tensor without a graph; {which}{lines.at(cut.site)} ({how})."
    return finding(failure, cause, evidence, "certain" if sure else "possible", _mend(case, cut, lines, sure=sure))


def _mend(case: Case, cut: _Cut, lines: Lines, *, sure: bool) -> str:
    """What to do about a cut, plainly, by its kind."""
    off = disabled_at(case, cut.row)
    by = f" ({lines(off)})" if off is not None else ""
    how = MENDS.get("numpy" if _leaves(cut) else cut.op.name, OTHERWISE).format(by=by)
    on_the_way = "" if sure else ", if the loss is computed from what it makes"
    return f"At {lines(cut.site)}{on_the_way}: {how}."


def _is_harmless(cut: _Cut) -> bool:
    """Also a detach() that the engine made on its own, as a checkpoint does: there is none on the line."""
    site = cut.site
    own = cut.op.name == "detach" and bool(site.text) and site.end_line == site.line and "detach" not in site.text
    return own or cut.op.name in _HARMLESS


def _leaves(cut: _Cut) -> bool:
    """Whether a detach() is there because NumPy asks for it: without it numpy() would raise."""
    return cut.op.name == "detach" and goes_to_numpy(cut.site)


def _same_memory(cut: _Cut, error: ErrorFact) -> bool:
    return bool(error.storage) and cut.storage == error.storage


def _cut_note(cut: _Cut) -> str:
    times = f", at least {count(cut.count, 'time')} by then" if cut.count > 1 else ""
    return CUT_WORDS.get(cut.op.name, f"{cut.op.name} ended the path") + times


def _cuts(case: Case, error: ErrorFact) -> list[_Cut]:
    """The likeliest cuts before the error: of the same memory first, harmless ones last, else the latest "
    "first."""
    facts = case.facts
    rows = facts.rows(Kind.CUT)
    rows = rows[rows < error.row][::-1]
    _, first = np.unique(facts.trace.records[rows, 2], return_index=True)
    found = [_cut(case, row) for row in rows[first].tolist()]
    found.sort(key=lambda cut: (not _same_memory(cut, error), _is_harmless(cut), -cut.row))
    by_line = {(cut.site, cut.op.name): cut for cut in reversed(found)}  # a site may have several numbers
    return list(by_line.values())[::-1][:CUTS]


def _cut(case: Case, row: int) -> _Cut:
    _, storage, where, producer, times, *_ = case.facts.words(row)
    site, op = case.facts.site_and_op(where)
    return _Cut(op, site, storage, times, row, unpack_edge(producer)[0])

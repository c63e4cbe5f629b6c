"""leaf-inplace, view-inplace, no-grad-fn: the engine refuses at once, so the line that raised tells most.

Needs: the error with its line; VIEW and GRAD_MODE (where a view was made); TENSOR (the leaf's name); CUT
(where the graph ended).
"""

import ast
from dataclasses import dataclass

import numpy as np

from agdbg.diagnose.case import Case, Failure
from agdbg.diagnose.finding import Certainty, Evidence, Finding, Found
from agdbg.diagnose.layers import enclosing_at
from agdbg.diagnose.mends import CUT_WORDS, MENDS, OTHERWISE
from agdbg.diagnose.regrad import gradient_of
from agdbg.diagnose.source import call_text, expression, goes_to_numpy
from agdbg.diagnose.syntax import name_of, read, unparse
from agdbg.diagnose.words import Lines, count
from agdbg.diagnose.writers import disabled_at
from agdbg.diagnose.writes import write
from agdbg.events import HookAction, Kind, a_of, thread_of
from agdbg.record.facts import ErrorFact
from agdbg.record.lookup import Op, Site

#: Cuts that are shown.
CUTS = 3
#: Cuts that are made without meaning the loss: a number to print, a comparison for the accuracy.
_HARMLESS = ("item", "integer")
_NO_GRAPH = "what it starts from has no graph"


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


def _writing(error: ErrorFact) -> str:
    text = write(error.site).text or expression(error.site)
    return f"{f'`{text}`' if text else 'An in-place op'}{Lines(error.site).at(error.site)} writes into"


# ----- a leaf -----


def _leaf(case: Case, failure: Failure) -> Finding:
    error = failure.first
    read = write(error.site)
    names = case.facts.names(error.storage) if error.storage else []
    name = names[0] if names else read.target
    named = f"`{name}`, " if name else ""
    instead = f": `new = {read.value}`" if read.instead else ""
    return _made(
        failure,
        f"{_writing(error)} {named}a leaf that requires grad, while gradients are recorded.",
        [_refused(failure, "nothing was written")],
        "certain",
        "If it is an update or an initialisation, put it under no_grad(). If the gradient should know of it, write it "
        f"out of place under a new name{instead}.",
    )


# ----- a view -----


def _view(case: Case, failure: Failure) -> Finding:
    error = failure.first
    row, made = _made_at(case, error)
    off = made is not None and disabled_at(case, row) is not None
    note = f"the view was made here{', with gradients switched off' if off else ''}"
    loop = _loop(made) if made is not None else ""
    note += f": {loop} goes over views, by unbind()" if loop else ""
    hooked = _backward_hook(case, error)
    evidence = (
        [Evidence("hook", hooked, "registers a backward hook: the module then hands on views")]
        if hooked is not None
        else []
    )
    evidence += [Evidence("view", made, note)] if made is not None else []
    evidence.append(_refused(failure, "nothing was written"))
    where = f", made{Lines(error.site).at(made)}," if made is not None and made.line else ""
    what, fix = next(told for sign, *told in _VIEWS if sign in error.text)
    cause = f"{_writing(error)} {what.format(where)}."
    layer = _layer(case, error)
    if layer:
        cause = f"{_writing(error).removesuffix(' writes into')}, in {layer}, writes into {what.format(where)}."
    if loop:
        fix = f"{loop} gives views that must not be written to. {fix}"
    return _made(failure, cause, evidence, "certain" if made is not None else "likely", fix)


def _loop(made: Site) -> str:
    """The head of the loop that iterates over a tensor, in quotes; empty for another line."""
    reading = read(made)
    statement = reading.statement if reading is not None else None
    if not isinstance(statement, ast.For) or made.col < 0:
        return ""
    return f"`for {unparse(statement.target)} in {unparse(statement.iter)}`" if name_of(statement.iter) else ""


def _layer(case: Case, error: ErrorFact) -> str:
    """The layer that writes, when the program calls it and does not write itself."""
    if write(error.site).text:
        return ""
    around = enclosing_at(case, error.row, thread_of(case.facts.words(error.row)[0]))
    return f"layer `{around[0].path}` ({around[0].class_name})" if around and around[0].path else ""


def _backward_hook(case: Case, error: ErrorFact) -> Site | None:
    """The line that registered a backward hook of a module, when the view is of the kind that such hooks put in."""
    if "BackwardHookFunction" not in error.text:
        return None
    for row in case.facts.rows(Kind.HOOK).tolist():
        words = case.facts.words(row)
        site, op = case.facts.site_and_op(words[3])
        if row < error.row and a_of(words[0]) == HookAction.REGISTERED and op.name.startswith("module-backward"):
            return site
    return None


#: By a part of the message, which both engines word alike: what was written to, and the fix.
_VIEWS = (
    (
        "BackwardHookFunction",
        "a view{0} that a backward hook of a module put in: such a hook wraps what goes into the module and what comes out",
        "Drop inplace=True in the layer that writes, or write to a clone() of what the module returned.",
    ),
    (
        "custom Function",
        "a view{0} that a custom Function returned, as one does that returns its argument as it is",
        "Let forward() return a clone(), or write out of place.",
    ),
    (
        "multiple views",
        "one of several views{0} that one op returned together",
        "Write out of place and collect the results, with stack() for example, or write through an index.",
    ),
    (
        "no_grad mode",
        "a view{0} that was made under no_grad(), while gradients are recorded",
        "Make the view and write to it both inside no_grad(), or both outside.",
    ),
    (
        "single memory location",
        "a tensor{0} whose elements share memory, as after expand()",
        "clone() it before writing.",
    ),
    (
        "",
        "a view{0} of a leaf that requires grad, while gradients are recorded",
        "Put the write under no_grad() if it is an update, or write to a clone().",
    ),
)


def _made_at(case: Case, error: ErrorFact) -> tuple[int, Site | None]:
    """The record and the line of the view: of the node that made it, or else of the last view of the "
    "storage."""
    node = case.facts.node(error.node)
    if node is not None:
        return node.row, node.site
    rows = case.facts.rows_about(Kind.VIEW, error.storage) if error.storage else []
    rows = [row for row in rows if row < error.row]
    if "no_grad mode" in error.text:
        rows = [row for row in rows if disabled_at(case, row) is not None] or rows
    if not rows:
        return 0, None
    return rows[-1], case.facts.site_and_op(case.facts.words(rows[-1])[4])[0]


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
    call = f"`{call_text(error.site, 'backward', 'grad')}`{lines.at(error.site)}"
    cuts = _cuts(case, error)
    evidence = [Evidence("cut", cut.site, _cut_note(cut)) for cut in cuts]
    off = disabled_at(case, error.row)
    if off is not None:
        evidence.append(Evidence("switched off", off, "gradients are switched off since here"))
    gradient = gradient_of(case, error)
    if gradient is not None and off is None and (not cuts or (gradient.named and not gradient.call.create_graph)):
        evidence = [Evidence("gradient", gradient.call.site, gradient.note), _refused(failure, _NO_GRAPH)]
        certainty: Certainty = "likely" if gradient.named else "possible"
        return _made(failure, gradient.cause(call, lines), evidence, certainty, gradient.fix(lines))
    evidence.append(_refused(failure, _NO_GRAPH))
    if not cuts:
        cause = f"{call} starts from a tensor without a graph, and no cut was recorded: no input required grad."
        fix = "Set requires_grad on what should be trained, and see that the loss is computed from it."
        return _made(failure, cause, evidence, "possible", fix)
    cut = cuts[0]
    sure = _same_memory(cut, error)
    which = "its path was cut" if sure else "the last cut before that is"
    how = f"{cut.op.name}, on the way to NumPy" if _leaves(cut) else cut.op.name
    cause = f"{call} starts from a tensor without a graph; {which}{lines.at(cut.site)} ({how})."
    return _made(failure, cause, evidence, "certain" if sure else "possible", _mend(case, cut, lines, sure=sure))


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
    return found[:CUTS]


def _cut(case: Case, row: int) -> _Cut:
    _, storage, where, _, times, *_ = case.facts.words(row)
    site, op = case.facts.site_and_op(where)
    return _Cut(op, site, storage, times, row)

"""gradcheck: the derivatives that backward computes are not those that differences of the function give.

Needs: the error with its text, in which the engine tells the worst element and its guess; the passes of the same line; FUNCTION.
"""

import re
from typing import NamedTuple

from agdbg.diagnose.case import Case, Failure
from agdbg.diagnose.finding import Certainty, Evidence, Finding, Found
from agdbg.diagnose.functions import defined
from agdbg.diagnose.mends import CUT_WORDS
from agdbg.diagnose.source import call_text
from agdbg.diagnose.words import Lines, listed
from agdbg.events import FunctionCall, Kind
from agdbg.record.facts import ErrorFact
from agdbg.record.lookup import Site
from agdbg.record.rare import KeptFact

KIND = "gradcheck"
_WORST = re.compile(r"worst element: (.+): numerical (\S+), analytical (\S+)")
_GUESS = re.compile(r"guess: (.+)")
_SHORT = re.compile(r"input \d+ is (torch\.\w+): differences of eps=\S+ need double precision")
_FIXES = (
    ("sign", "Change the sign of what backward() returns there."),
    ("factor", "Look for the factor in what backward() returns there."),
    ("transpose", "Transpose what backward() returns there, or the matrix it multiplies with."),
    ("conj", "Take the complex conjugate in backward(): gradients of complex numbers are conjugated."),
    ("missing sum", "Sum the incoming gradient over the dimension that forward() broadcast."),
    ("missing broadcast", "Give every element that forward() reduced its gradient: expand it."),
    (
        "missing dependency",
        "Add the part that is missing to what backward() returns, or take the cut out of the function.",
    ),
    ("dependency too many", "Set the gradient of the elements to zero that the output does not depend on."),
    ("the backward does not depend", "Multiply by the incoming gradient in backward()."),
    (
        "the function is not deterministic",
        "Take out what draws random numbers, as dropout does (eval(), or p=0), or draw them once before the check.",
    ),
    (
        "not differentiable",
        "Check at another point: the function has a kink at this one, and both numbers may be right.",
    ),
    ("nan or inf", "Look for the division by zero, the root or the logarithm of 0 in backward()."),
    ("the function itself", "Check at another point: the function is not finite near this one."),
)


class _Function(NamedTuple):
    """A custom Function whose backward ran in the check."""

    op: str
    node: int

    @property
    def name(self) -> str:
        return self.op.removesuffix("Backward")


def findings(case: Case) -> list[Found]:
    """One finding for each check that failed."""
    return case.found(KIND, _finding)


def _finding(case: Case, failure: Failure) -> Finding:
    error = failure.first
    ran, twice = _functions(case, error)
    guess, short = _GUESS.search(error.text), _SHORT.search(error.text)
    supposed = "" if guess is None or guess[1].startswith("no simple one") else guess[1]
    kept = _kept(case, ran) if twice else []
    cuts = () if ran or short is not None else _cuts(case, error)
    return Finding(
        kind=KIND,
        cause=f"{_what(error)}{_whose(case, error, ran)}{_why(supposed, short, kept)}.",
        evidence=(*_evidence(case, ran), *cuts, Evidence("refused", error.site, _numbers(error))),
        nodes=tuple(each.node for each in ran),
        certainty=_certainty(ran, supposed),
        fix=_fix(supposed, short, ran, kept) if not cuts else _without_cut(cuts, error),
    )


def _cuts(case: Case, error: ErrorFact) -> tuple[Evidence, ...]:
    """The lines of the checked function that leave the graph, which are to blame where no custom Function took part."""
    here = (error.site.file, error.site.line)
    records, rows = case.facts.trace.records, case.facts.rows(Kind.CUT)
    rows = rows[rows.searchsorted(_since(case, error)) : rows.searchsorted(error.row)]
    mine = [case.facts.site_and_op(word) for word in dict.fromkeys(records[rows, 2].tolist())]
    by_line = {(site.file, site.line): (site, op) for site, op in reversed(mine) if (site.file, site.line) != here}
    return tuple(Evidence("cut", site, CUT_WORDS.get(op.name, "leaves the graph")) for site, op in by_line.values())


def _without_cut(cuts: tuple[Evidence, ...], error: ErrorFact) -> str:
    lines = Lines(error.site)
    where = listed([lines(each.site) for each in cuts])
    return (
        f"What is computed or written at {where} is out of the graph, so that backward knows nothing of it: "
        "do it by operations on the tensor itself."
    )


def _since(case: Case, error: ErrorFact) -> int:
    """The row of the check that failed before, 0 for none."""
    before = [each.row for each in case.facts.errors if each.kind == KIND and each.row < error.row]
    return before[-1] if before else 0


def _functions(case: Case, error: ErrorFact) -> tuple[list[_Function], bool]:
    """The custom Functions whose backward the check ran, and whether it ran them with a graph of the gradient."""
    since = _since(case, error)
    mine = {
        each.id: each.create_graph
        for each in case.facts.passes
        if since < each.row < error.row and (each.site.file, each.site.line) == (error.site.file, error.site.line)
    }
    ran: dict[str, _Function] = {}
    for call in case.facts.function_calls if mine else []:
        if call.what == "backward" and call.pass_id in mine:
            ran.setdefault(call.op.name, _Function(call.op.name, call.node))
    return list(ran.values()), any(mine.values())


def _kept(case: Case, ran: list[_Function]) -> list[KeptFact]:
    """The intermediates on the contexts of these: no second derivative flows through them."""
    nodes = {each.node for each in ran}
    return [each for each in case.facts.kept if each.node in nodes and each.role == "intermediate"]


def _what(error: ErrorFact) -> str:
    call = f"`{call_text(error.site, 'gradcheck', 'gradgradcheck')}`{Lines(error.site).at(error.site)}"
    worst = _WORST.search(error.text)
    if worst is None:
        return f"{call} failed: {error.text.partition(': ')[2].partition(chr(10))[0].rstrip('.,:')}"
    return f"{call} failed: at {worst[1]} the derivative is {worst[2]} and backward gives {worst[3]}"


def _whose(case: Case, error: ErrorFact, ran: list[_Function]) -> str:
    if not ran:
        return "; no custom Function took part"
    lines = Lines(error.site)
    named = [f"`{each.name}`{lines.at(_backward(case, each))}" for each in ran]
    return f"; look at backward() of {listed(named)}" if len(ran) == 1 else f"; backward() of {listed(named)} took part"


def _backward(case: Case, function: _Function) -> Site:
    return defined(case, function.node, FunctionCall.BACKWARD)


def _why(supposed: str, short: re.Match[str] | None, kept: list[KeptFact]) -> str:
    if kept:
        return f", which uses `ctx.{kept[0].name}`, through which no second derivative flows"
    if supposed:
        return f" (guess: {supposed})"
    return f" (the input is {short[1]}: differences are too coarse for it)" if short is not None else ""


def _numbers(error: ErrorFact) -> str:
    told = [line.strip() for line in error.text.splitlines() if " elements differ by " in line]
    return told[0] if told else "refused"


def _evidence(case: Case, ran: list[_Function]) -> tuple[Evidence, ...]:
    found = []
    for each in ran[:4]:
        node, site = case.facts.node(each.node), _backward(case, each)
        if node is not None:
            found.append(Evidence("applied", node.site, f"`{each.name}`", node.id))
        if site.line:
            found.append(Evidence("backward", site, f"backward() of `{each.name}`"))
    return tuple(found)


def _certainty(ran: list[_Function], supposed: str) -> Certainty:
    """About the place: one Function alone is to blame, unless the point is."""
    if supposed.startswith(("not differentiable", "the function itself", "the function is not deterministic")):
        return "likely"
    return "likely" if len(ran) == 1 else "possible"


def _fix(supposed: str, short: re.Match[str] | None, ran: list[_Function], kept: list[KeptFact]) -> str:
    if short is not None:
        return f"Check with double precision first: `x.double()`; with {short[1]} the differences are mostly rounding."
    if kept:
        return f"Compute `{kept[0].name}` again from the saved arguments in backward(), or return it as another output."
    known = next((fix for beginning, fix in _FIXES if supposed.startswith(beginning)), "")
    if known:
        return known
    who = f"backward() of `{ran[0].name}`" if len(ran) == 1 else "each backward() that took part, one by one"
    return f"Work out the derivative by hand for one element and compare {who} with it."

"""grad-read-early: inside of a pass ``.grad`` was read before the pass had added to it.

Needs: GRAD_READ; RAN of the leaf's AccumulateGrad in the same pass; HOOK for the hook's name.
"""

import re

from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Evidence, Finding, Found
from agdbg.diagnose.hook_list import HookList, Registered, hook_words
from agdbg.diagnose.source import call_text
from agdbg.diagnose.words import Lines, count
from agdbg.record.hooked import GradReadFact, grad_reads
from agdbg.record.lookup import Site

KIND = "grad-read-early"
_TESTED = re.compile(r"\.grad\s+is\s+(not\s+)?None")


def findings(case: Case) -> list[Found]:
    """One finding for each line that read a gradient which the same pass computed later."""
    found: dict[Site, list[GradReadFact]] = {}
    for read in grad_reads(case.facts):
        if not _TESTED.search(read.site.text) and _accumulated_later(case, read):
            found.setdefault(read.site, []).append(read)
    if not found:
        return []
    told = HookList(case.facts)
    return [Found(each[0].row, _finding(case, told, each)) for each in found.values()]


def _accumulated_later(case: Case, read: GradReadFact) -> bool:
    leaf = case.facts.node(read.node)
    runs = case.facts.runs_of(read.node) if leaf is not None and leaf.op.name.endswith("AccumulateGrad") else []
    return any(run.pass_id == read.pass_id and run.row > read.row for run in runs)


def _finding(case: Case, told: HookList, reads: list[GradReadFact]) -> Finding:
    facts, read = case.facts, reads[0]
    call = facts.pass_of(read.pass_id)
    lines = Lines(read.site)
    hook = _hook_at(told, read)
    names = list(dict.fromkeys(name for each in reads if (name := facts.name_of_leaf(each.node))))
    whose = f"`{names[0]}`" if names else "a leaf"
    within = f", in {hook_words(facts, hook.fact)}," if hook is not None else ""
    evidence = [Evidence("read", read.site, f"None here, {count(len(reads), 'time')}", read.node)]
    if hook is not None:
        evidence.insert(0, Evidence("registered", hook.fact.site, f"{hook.fact.kind} hook", hook.fact.node))
    if call is not None:
        evidence.append(Evidence("call", call.site, f"`{call_text(call.site, call.call)}` accumulates it later"))
    return Finding(
        kind=KIND,
        cause=(
            f"The `.grad` of {whose} is None where {lines(read.site)} reads it{within} since this pass adds to it only "
            "afterwards: when such a hook fires, the gradients of parameters are not accumulated yet."
        ),
        evidence=tuple(evidence),
        nodes=tuple(dict.fromkeys(each.node for each in reads)),
        certainty="certain",
        fix=(
            "Read it after backward(), or in a hook of the parameter: `p.register_post_accumulate_grad_hook(f)` fires once "
            "`p.grad` is there, `p.register_hook(f)` gets the gradient itself."
        ),
    )


def _hook_at(told: HookList, read: GradReadFact) -> Registered | None:
    """The hook in whose function the line was read: of several on one line the one that returned next, where that is told.

    Functions of one name, as all lambdas have, are told apart by the line on which they begin.
    """
    site = read.site
    mine = [each for each in told.all if (each.fact.defined.file, each.fact.defined.func) == (site.file, site.func)]
    begins = max((each.fact.defined.line for each in mine if each.fact.defined.line <= site.line), default=0)
    mine = [each for each in mine if each.fact.defined.line == begins] or mine
    numbers = {each.fact.number: each for each in mine if each.fact.number}
    fired = told.fired_rows[told.fired_rows > read.row]
    ended = told.facts.trace.records[fired, 5].tolist() if len(numbers) > 1 else []
    return next((numbers[each] for each in ended if each in numbers), mine[0] if mine else None)

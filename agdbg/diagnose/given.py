"""A gradient that is bad when it comes to a node, though no node sent it so: it was given, or changed on the way."""

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Evidence, Finding
from agdbg.diagnose.measured import PassValues
from agdbg.diagnose.naming import made_by
from agdbg.diagnose.source import call_text
from agdbg.diagnose.spoiled import elements_words
from agdbg.diagnose.words import Lines, op_words
from agdbg.events import HookAction, Kind, a_of
from agdbg.record.deep_facts import SummaryFact
from agdbg.record.facts import NodeFact, PassFact
from agdbg.record.lookup import Site


def given_bad(case: Case, values: PassValues) -> list[int]:
    """The places to which a bad gradient came from nodes that sent good ones, the last born first."""
    edges = case.walk.edges
    sent = np.zeros(len(values.came_bad), bool)
    sent[edges.target[values.went_bad[edges.source]]] = True
    found: list[int] = np.flatnonzero(values.came_bad & ~sent).tolist()
    return sorted(found, key=lambda place: -int(case.walk.born[place]))


def given_finding(case: Case, call: PassFact, node: NodeFact, seen: SummaryFact, kind: str) -> Finding:
    """The finding: the caller gave it, a hook made it, or the sum of several gradients overflowed."""
    lines = Lines(call.site)
    words = f"`{call_text(call.site, call.call)}`{lines.at(call.site)}"
    what = "infinite" if seen.infs and not seen.nans else "NaN"
    hook = _hook(case, call, node)
    evidence = [
        Evidence(
            "created",
            node.site,
            f"{op_words(node)}: in the gradient that comes to it {elements_words(case, seen)}",
            node.id,
        )
    ]
    if any(root == node.id for root, _ in call.roots) and hook is None:
        cause = f"The gradient that {words} starts with is {what} already."
        fix = "Look at what is given as gradient or grad_outputs; without it backward() starts with 1."
    elif hook is not None:
        evidence.append(Evidence("hook", hook, "fired here, behind the nodes that sent finite gradients"))
        cause = f"A hook made the gradient {what} that comes to {made_by(node)}{lines.at(node.site)} in {words}."
        fix = "Look at what the hook returns: no node had sent a NaN or an infinity."
    else:
        cause = (
            f"In {words} the gradients that come to {made_by(node)}{lines.at(node.site)} are finite one by one, and their sum is "
            f"{what}."
        )
        fix = "They overflow when they are added up: make the loss smaller, or compute in a dtype with a larger range."
    evidence.append(Evidence("needed", call.site, f"pass {call.id}"))
    return Finding(
        kind=kind,
        cause=cause,
        evidence=tuple(evidence),
        nodes=(node.id,),
        certainty="certain" if hook is None else "likely",
        fix=fix,
    )


def hook_at(case: Case, call: PassFact, node: NodeFact) -> Site | None:
    """The line that registered the last hook which fired in the pass at a node; None when none did."""
    told = [case.facts.words(row) for row in case.facts.rows_about(Kind.HOOK, node.id) if row < call.end_row]
    fired = [words for words in told if a_of(words[0]) == HookAction.FIRED and words[2] == call.id]
    registered = [words for words in told if a_of(words[0]) == HookAction.REGISTERED]
    return case.facts.site_and_op((registered or fired)[-1][3])[0] if fired else None


def _hook(case: Case, call: PassFact, node: NodeFact) -> Site | None:
    """The hook that fired at a node, or else the last one that fired in the pass before the node ran."""
    facts = case.facts
    ran = next((run.row for run in facts.runs_of(node.id) if run.pass_id == call.id), call.end_row)
    rows = facts.rows(Kind.HOOK)
    rows = rows[(rows > call.row) & (rows < ran)]
    fired = [words for row in rows.tolist()[-100:] if a_of((words := facts.words(row))[0]) == HookAction.FIRED]
    return hook_at(case, call, node) or (facts.site_and_op(fired[-1][3])[0] if fired else None)

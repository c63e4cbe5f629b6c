"""constant-gradient, not-twice: what to know of a call with ``create_graph=True`` before its result is differentiated.

Told on request where the program went on well; of a call that has not ended it is a finding: the program was stopped there, or
that was all that was recorded.

Needs: PASS_STARTED with its flags, BORN (what the call built), edges.
"""

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Evidence, Finding, Found
from agdbg.diagnose.linear import below, only_linear
from agdbg.diagnose.naming import made_by
from agdbg.diagnose.singular import stem
from agdbg.diagnose.source import call_text
from agdbg.diagnose.words import Lines, op_words
from agdbg.record.facts import NodeFact, PassFact

#: Calls that are looked at.
CALLS = 100
#: Ops whose backward cannot be differentiated, in PyTorch as well.
NOT_TWICE = frozenset(
    (
        "GridSampler2D",
        "GridSampler3D",
        "CtcLoss",
        "EmbeddingBag",
        "Unique2",
        "UniqueDim",
        "Histogram",
        "Bincount",
        "DelayedError",
    )
)


def findings(case: Case) -> list[Found]:
    """What would go wrong behind a call that has not ended."""
    return _of(case, ended=False)


def remarks(case: Case) -> list[Found]:
    """What there is to know of the calls that went well."""
    return _of(case, ended=True)


def _of(case: Case, *, ended: bool) -> list[Found]:
    found: dict[object, Found] = {}
    for call in [each for each in case.facts.passes if each.create_graph][:CALLS]:
        if call.outcome == "error" or (call.outcome == "ok") != ended:
            continue
        for told in (_constant(case, call), _not_twice(case, call)):
            if told is not None:
                found.setdefault((call.site, told.finding.kind), told)
    return list(found.values())


# ----- constant -----


def _constant(case: Case, call: PassFact) -> Found | None:
    if not _is_constant(case, call):
        return None
    lines = Lines(call.site)
    root = case.facts.node(call.roots[0][0]) if call.roots else None
    words = f"`{call_text(call.site, call.call)}`{lines.at(call.site)}"
    evidence = (
        [Evidence("created", root.site, f"{op_words(root)}: what is differentiated", root.id)]
        if root is not None
        else []
    )
    return Found(
        call.row,
        Finding(
            kind="constant-gradient",
            cause=(
                f"The gradient of {words} is constant: what is differentiated is linear, so its gradient does not depend on it and "
                "has no graph, and the second derivative is zero."
            ),
            evidence=(*evidence, Evidence("first call", call.site, "create_graph=True, and no node comes of it")),
            nodes=(root.id,) if root is not None else (),
            certainty="certain" if call.outcome == "ok" else "likely",
            fix=(
                "Take the second derivative as zero, or leave this term out: backward() or grad() on this gradient says that "
                "it does not require grad."
            ),
        ),
    )


def _is_constant(case: Case, call: PassFact) -> bool:
    """Whether all that a call goes through is linear and, when it has ended, no node came of it."""
    walk = case.walk
    built = walk.in_pass & (walk.born > call.row) & (walk.born < call.end_row)
    if call.outcome == "ok" and built.any():
        return False
    return only_linear(case, call)


# ----- not twice -----


def _not_twice(case: Case, call: PassFact) -> Found | None:
    node = _refusing(case, call)
    if node is None:
        return None
    lines = Lines(call.site)
    words = f"`{call_text(call.site, call.call)}`{lines.at(call.site)}"
    return Found(
        call.row,
        Finding(
            kind="not-twice",
            cause=(
                f"{words} makes a graph of its gradients, and {made_by(node)}{lines.at(node.site)} cannot be differentiated twice."
            ),
            evidence=(
                Evidence("created", node.site, f"{op_words(node)}: its backward has no derivative", node.id),
                Evidence("first call", call.site, "create_graph=True: differentiating what it gives will fail there"),
            ),
            nodes=(node.id,),
            certainty="certain",
            fix=(
                "If no second derivative is wanted, leave out create_graph=True; else compute this step with ops that have one, or "
                "detach() it where only its value counts."
            ),
        ),
    )


def _refusing(case: Case, call: PassFact) -> NodeFact | None:
    """The first node that cannot be differentiated twice: of those that the call goes through, or of those that it built."""
    walk = case.walk
    among = below(case, call) | (walk.in_pass & (walk.born > call.row) & (walk.born < call.end_row))
    words = np.unique(walk.made_at[among & (walk.born >= 0)])
    bad = [word for word in words.tolist() if stem(case.facts.trace.op(word >> 32).name) in NOT_TWICE]
    places = np.flatnonzero(among & np.isin(walk.made_at, np.array(bad, np.uint64))) if bad else np.zeros(0, int)
    return case.facts.node(int(walk.ids[places[0]])) if len(places) else None

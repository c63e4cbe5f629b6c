"""The one op that computes what a logarithm and the op below it compute, where the two by themselves round to log(0)."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.source import called, calls, operand
from agdbg.record.facts import NodeFact

#: Ops that only choose among their input's elements, or lay them out anew: a logarithm may be taken before them.
_CHOOSING = (
    "Index",
    "Gather",
    "Select",
    "Slice",
    "View",
    "Reshape",
    "Unsqueeze",
    "Squeeze",
    "Transpose",
    "Permute",
    "T",
    "Take",
)
_ENDING = re.compile(r"Backward\d*$")
#: How many of those are gone through.
STEPS = 8


class _Joined(NamedTuple):
    """Of a logarithm of ``ops``, the last one innermost: what to use, and the name of the last one's call in a source."""

    log: str
    ops: tuple[str, ...]
    advice: str
    call: str


_BY_OPS: Final = (
    _Joined("Log", ("Softmax",), "log_softmax() of {}, or cross_entropy(), in place of log() and softmax()", "softmax"),
    _Joined("Log", ("Sigmoid",), "logsigmoid() of {} in place of log() and sigmoid()", "sigmoid"),
    _Joined("Log", ("Rsub", "Sigmoid"), "logsigmoid() of -{} in place of log() of 1 - sigmoid()", "sigmoid"),
    _Joined("Log1P", ("Neg", "Sigmoid"), "logsigmoid() of -{} in place of log1p() of -sigmoid()", "sigmoid"),
    _Joined("Log", ("Sum", "Exp"), "logsumexp() of {} in place of log(), sum() and exp()", "exp"),
    _Joined(
        "Log",
        ("Div", "Exp"),
        "log_softmax() of {}, or cross_entropy(), in place of log() and what divides exp() by its sum",
        "exp",
    ),
)
_BOTH = "binary_cross_entropy_with_logits() of {} and the target, in place of sigmoid() and both logarithms"


def joined_op(case: Case, node: NodeFact) -> str:
    """What to use in place of a logarithm and what it is taken of, to follow ``use``; empty where there is no such op."""
    for each in _BY_OPS:
        below = _below(case, node, each)
        if below is not None:
            advice = _BOTH if each.call == "sigmoid" and _has_both(case, below) else each.advice
            return advice.format(_given(below, each.call)).replace("-its", "minus its")
    return ""


def _below(case: Case, node: NodeFact, joined: _Joined) -> NodeFact | None:
    """The innermost node of a pattern under a logarithm."""
    if _op(node) != joined.log:
        return None
    found: NodeFact | None = node
    for op in joined.ops:
        found = _next(case, found) if found is not None else None
        if found is None or _op(found) != op:
            return None
        if op == "Div" and not _is_sum(_next(case, found, -1)):
            return None
    return found


def _is_sum(node: NodeFact | None) -> bool:
    return node is not None and _op(node) == "Sum"


def _next(case: Case, node: NodeFact, which: int = 0) -> NodeFact | None:
    """What an input of a node comes from, through ops that choose elements; of a difference what is taken away."""
    below: NodeFact | None = node
    for step in range(STEPS):
        index = 0 if step else -1 if below is not None and _op(below) == "Rsub" else which
        below = case.facts.node(below.edges[index].node) if below is not None and below.edges else None
        if below is None or _op(below) not in _CHOOSING:
            return below
    return None


def _op(node: NodeFact) -> str:
    """``Log`` of ``LogBackward0``, and ``Softmax`` also of ``SafeSoftmaxBackward0``."""
    name = _ENDING.sub("", node.op.name)
    return "Rsub" if name == "Sub" else name.removeprefix("Safe")


def _has_both(case: Case, sigmoid: NodeFact) -> bool:
    """Whether logarithms are taken of a sigmoid and of one minus it."""
    users = _users(case, sigmoid)
    turned = [user for each in users if _op(each) in ("Rsub", "Neg") for user in _users(case, each)]
    return any(_op(each) == "Log" for each in users) and any(_op(each) in ("Log", "Log1P") for each in turned)


def _users(case: Case, node: NodeFact) -> list[NodeFact]:
    walk = case.walk
    rows = np.flatnonzero(walk.edges.target == walk.place(node.id))
    found = (case.facts.node(int(walk.ids[walk.edges.source[row]])) for row in rows.tolist())
    return [each for each in found if each is not None]


def _given(node: NodeFact, call: str) -> str:
    """What the op is given, as its line has it; in words where the line calls something else, as a layer."""
    made = [each for each in calls(node.site) if called(each) == call]
    name = operand(node.site, node, 0) if made else ""
    return name or "its input"

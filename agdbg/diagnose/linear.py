"""Whether what a call differentiated is linear: then its gradient does not depend on it.

Needs: PASS_STARTED, edges, births; FUNCTION, since of a custom Function nothing is known by its name.
"""

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.singular import stem
from agdbg.diagnose.walk import Mask
from agdbg.events import Kind
from agdbg.record.facts import NodeFact, PassFact

#: Nodes below one call that are read one by one.
LIMIT = 2000
#: Ops whose derivative does not depend on their input, as long as only one of their inputs has a gradient.
_LINEAR = frozenset(
    ("Add", "Sub", "Rsub", "Neg", "Sum", "Mean", "View", "T", "Transpose", "Permute", "ReshapeAlias", "UnsafeView", "Expand",
     "Squeeze", "Unsqueeze", "Select", "Slice", "Index", "Cat", "Stack", "Clone", "ToCopy", "Unbind", "Alias", "AccumulateGrad")
)  # fmt: skip
_BILINEAR = frozenset(["Mul", "Mm", "Mv", "Dot", "Bmm", "Addmm", "Linear", "Convolution"])


def below(case: Case, call: PassFact) -> Mask:
    """The nodes that a call goes through."""
    walk = case.walk
    return walk.below(walk.mask(root for root, _ in call.roots))


def only_linear(case: Case, call: PassFact) -> bool:
    """Whether all that a call goes through is linear, and of the engine."""
    walk = case.walk
    places = np.flatnonzero(below(case, call))
    if len(places) > LIMIT:
        return False
    nodes = [case.facts.node(int(walk.ids[place])) for place in places.tolist()]
    return bool(nodes) and all(node is not None and _is_linear(case, node) for node in nodes)


def _is_linear(case: Case, node: NodeFact) -> bool:
    if case.facts.rows_about(Kind.FUNCTION, node.id):
        return False
    name = stem(node.op.name)
    return name in _LINEAR or (name in _BILINEAR and sum(1 for edge in node.edges if edge.node) <= 1)

"""vanishing-gradient, exploding-gradient: the gradients of a model's weights fade or grow from layer to layer.

A layer is a weight of two dimensions or more, or a bias of one, which are compared apart. Its gradient is measured by the root of
the mean of its squares, in the median over the passes of one line. Layers are in the order in which they are first used. It is told
when there are :data:`LAYERS` or more, when the two ends differ by :data:`RATIO`, and when the trend goes through all of the model
(:data:`TREND`, :data:`STEP`): ordinary models stay within a factor of a few hundred, and one layer that differs from all others is
no trend.

Needs: SUMMARY (the extra ``values``), TENSOR, SHAPE, edges, PASS_STARTED.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Evidence, Finding, Found
from agdbg.diagnose.singular import stem
from agdbg.diagnose.source import call_text
from agdbg.diagnose.words import Lines
from agdbg.events import Summarized
from agdbg.record.facts import NodeFact, PassFact
from agdbg.record.lookup import Site

#: Layers that a model must have, by how much its ends must differ, and how steady the trend must be (a rank correlation).
LAYERS, RATIO, TREND = 5, 1e4, 0.8
#: The largest part of the difference, in orders of magnitude, that may come about between two layers.
STEP = 0.6
#: A gradient below this is on its way to underflow, so that zeros beyond it are a part of the trend.
TINY = 1e-20
#: Passes of one line that are looked at, layers that are shown.
PASSES, SHOWN = 50, 5
_SQUASHING = {"Sigmoid": "sigmoid()", "Tanh": "tanh()", "Softmax": "softmax()"}


@dataclass(frozen=True)
class _Layer:
    """A weight or a bias, the node that uses it first, and the size of its gradient."""

    name: str
    user: NodeFact
    size: float
    is_matrix: bool


def findings(case: Case) -> list[Found]:
    """One finding for each line of backward() whose gradients fade or grow throughout a model."""
    if not len(case.measured.rows):
        return []
    return [found for calls in _by_line(case).values() if (found := _look(case, calls)) is not None]


def _by_line(case: Case) -> dict[Site, list[PassFact]]:
    groups: dict[Site, list[PassFact]] = {}
    for each in case.facts.passes:
        groups.setdefault(each.site, []).append(each)
    return groups


def _look(case: Case, calls: list[PassFact]) -> Found | None:
    measured = list(_measured(case, calls[:PASSES]))
    for several in (True, False):
        found = _told(case, calls[0], _layers([each for each in measured if each.is_matrix == several]))
        if found is not None:
            return found
    return None


def _told(case: Case, call: PassFact, layers: list[_Layer]) -> Found | None:
    sizes = np.array([each.size for each in layers])
    trend = _trend(sizes) if len(layers) >= LAYERS else 0.0
    if abs(trend) < TREND:
        return None
    first, last = (float(np.median(part)) for part in (sizes[:2], sizes[-2:]))
    if max(first, last) < RATIO * min(first, last) or _at_one_place(sizes):
        return None
    return _found(case, call, layers, first / last, fades=trend > 0)


def _trend(sizes: npt.NDArray[np.float64]) -> float:
    """How steadily sizes grow from the first layer to the last: 1 when each is larger than the one before, -1 when smaller."""
    ranks = np.argsort(np.argsort(sizes, kind="stable"), kind="stable").astype(float)
    return float(np.corrcoef(ranks, np.arange(len(sizes)))[0, 1])


def _at_one_place(sizes: npt.NDArray[np.float64]) -> bool:
    """Whether most of the difference between the ends comes about between two layers."""
    logs = np.log10(sizes[sizes > 0])
    return len(logs) < LAYERS or bool(np.abs(np.diff(logs)).max() > STEP * abs(logs[-1] - logs[0]))


def _layers(measured: list[_Layer]) -> list[_Layer]:
    """Layers in the order of their use; those with zeros throughout are left out, unless they are an underflow."""
    underflow = any(0 < each.size < TINY for each in measured)
    return sorted((each for each in measured if each.size > 0 or underflow), key=lambda each: each.user.row)


def _measured(case: Case, calls: list[PassFact]) -> Iterator[_Layer]:
    walk, measured, facts = case.walk, case.measured, case.facts
    by_name: dict[str, tuple[int, list[float]]] = {}
    names = {
        walk.place(each.producer): each.name for each in facts.tensors if each.kind == "parameter" and each.producer
    }
    for call in calls:
        at = measured.of_pass(call.id)
        at = at[(measured.what[at] == Summarized.GRADIENT_IN) & walk.leaves[measured.place[at]]]
        for place, norm, elements in zip(
            measured.place[at].tolist(), measured.norm[at].tolist(), measured.elements[at].tolist(), strict=True
        ):
            if place in names and elements > 1:
                by_name.setdefault(names[place], (place, []))[1].append(norm / elements**0.5)
    edges = walk.edges
    places = [place for place, _ in by_name.values()]
    used = np.flatnonzero(np.isin(edges.target, places))
    user = dict(zip(edges.target[used][::-1].tolist(), edges.source[used][::-1].tolist(), strict=True))
    for name, (place, sizes) in by_name.items():
        node = facts.node(int(walk.ids[user[place]])) if place in user else None
        shape = facts.shape(int(walk.ids[place]))
        matrix = len(shape.dims) >= 2 if shape is not None else "weight" in name.rpartition(".")[2]
        if node is not None and (matrix or name.endswith("bias")):
            yield _Layer(name, node, float(np.median(sizes)), matrix)


# ----- the finding -----


def _found(case: Case, call: PassFact, layers: list[_Layer], ratio: float, *, fades: bool) -> Found:
    lines = Lines(call.site)
    first, last = layers[0], layers[-1]
    words = f"`{call_text(call.site, call.call)}`{lines.at(call.site)}"
    way = "fades on its way back" if fades else "grows on its way back"
    compared = f"{_times(1 / ratio)} times smaller than" if fades and ratio else f"{_times(ratio)} times larger than"
    if not ratio:
        compared = "zero, below what its dtype can hold, and not"
    evidence = [
        Evidence("layer", each.user.site, f"`{each.name}`: {_size(each.size)}", each.user.id) for each in _shown(layers)
    ]
    evidence.append(Evidence("needed", call.site, "sizes are the root of the mean square of the gradient"))
    return Found(
        call.row,
        Finding(
            kind="vanishing-gradient" if fades else "exploding-gradient",
            cause=(
                f"The gradient of {words} {way} through {len(layers)} layers: at `{first.name}` it is {compared} at "
                f"`{last.name}`."
            ),
            evidence=tuple(evidence),
            nodes=(first.user.id, last.user.id),
            certainty="likely",
            fix=_fix(case, first.user, last.user, fades=fades),
        ),
    )


def _times(ratio: float) -> str:
    return f"{ratio:.0e}".replace("e+0", "e").replace("e+", "e")


def _size(size: float) -> str:
    return f"{size:.1e}" if size else "0, below what the dtype can hold"


def _shown(layers: list[_Layer]) -> list[_Layer]:
    """Some layers, evenly from the first to the last."""
    if len(layers) <= SHOWN:
        return layers
    return [layers[round(index * (len(layers) - 1) / (SHOWN - 1))] for index in range(SHOWN)]


def _fix(case: Case, first: NodeFact, last: NodeFact, *, fades: bool) -> str:
    if not fades:
        return (
            "Start from smaller weights (an initialisation for the fan-in of each layer), normalise between the layers, or limit "
            "the gradient with clip_grad_norm_()."
        )
    squashing = _squashing(case, first, last)
    instead = (
        f"Use relu() or gelu() in place of {squashing}, whose derivative is small, "
        if squashing
        else "Start from larger weights, "
    )
    return f"{instead}add skip connections, or normalise between the layers."


def _squashing(case: Case, first: NodeFact, last: NodeFact) -> str:
    """The activation with a small derivative that stands between two nodes; empty when there is none."""
    walk = case.walk
    born = (walk.born > first.row) & (walk.born <= last.row)
    for word in np.unique(walk.made_at[born]).tolist():
        name = _SQUASHING.get(stem(case.facts.trace.op(word >> 32).name))
        if name:
            return name
    return ""

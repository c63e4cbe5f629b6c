"""Overflow of a scaled loss in half precision: expected now and then, as long as the step is left out.

A scaler multiplies the loss by a large power of two, so that small gradients do not vanish in float16; when one overflows it
leaves out the step and halves the scale.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.history import is_step
from agdbg.diagnose.singular import stem
from agdbg.diagnose.walk import Mask
from agdbg.events import Kind
from agdbg.record.facts import NodeFact, PassFact
from agdbg.record.lookup import Site

#: The smallest factor that is taken for a scale, and the nodes near the root that are looked at.
LEAST, NEAR = 16.0, 16
_HALF = ("float16", "half")


@dataclass(frozen=True)
class Overflow:
    """A scaled loss whose gradient overflowed.

    ``node`` is the one that scaled the loss. ``harmless``: no step followed before the next pass, so the program saw
    it and did what it should.
    """

    node: int
    site: Site
    row: int
    scale: float
    harmless: bool

    @property
    def note(self) -> str:
        """What the line did."""
        by = f" by {self.scale:,.0f}" if self.scale else ""
        return f"scaled the loss{by}, so that small gradients do not vanish in half precision"

    @property
    def fix(self) -> str:
        """What to do when the step was taken all the same."""
        return (
            "An overflow now and then is expected of a scaled loss. Look at the gradients before the step, leave it out when one "
            "is not finite, then halve the scale: a GradScaler does that in step() and update()."
        )


def overflow(case: Case, call: PassFact, producer: NodeFact, reach: Mask) -> Overflow | None:
    """The scaling behind a bad pass; None when the loss was not scaled, or nothing was computed in half precision."""
    scaled = _scaling(case, call)
    if scaled is None or not _in_half(case, call, producer, reach):
        return None
    node, scale = scaled
    return Overflow(node.id, node.site, node.row, scale, not _stepped_after(case, call))


def _scaling(case: Case, call: PassFact) -> tuple[NodeFact, float] | None:
    """The node near the root that multiplied a number by a large power of two."""
    for node in _near_root(case, call):
        if stem(node.op.name) == "Mul":
            scale = _factor(case, node)
            if scale or "scale" in node.site.text:
                return node, scale
    return None


def _near_root(case: Case, call: PassFact) -> Iterator[NodeFact]:
    """The first nodes of a pass, level by level."""
    todo = [root for root, _ in call.roots]
    for _ in range(NEAR):
        node = case.facts.node(todo.pop(0)) if todo else None
        if node is not None:
            yield node
            todo += [edge.node for edge in node.edges if edge.node]


def _factor(case: Case, node: NodeFact) -> float:
    """By what a node multiplied its one input, where that is a large power of two; else 0."""
    inputs = [edge.node for edge in node.edges if edge.node]
    if len(inputs) != 1:
        return 0.0
    sizes = [_largest(case, each) for each in (node.id, inputs[0])]
    if sizes[0] is None or not sizes[1]:
        return 0.0
    factor = sizes[0] / sizes[1]
    if not math.isfinite(factor) or factor < LEAST:
        return 0.0
    nearest = 2.0 ** round(math.log2(factor))
    return nearest if abs(factor / nearest - 1) < 1e-2 else 0.0


def _largest(case: Case, node: int) -> float | None:
    told = [each for each in case.facts.summaries(node) if each.what == "output" and not (each.nans or each.infs)]
    return told[-1].largest if told else None


def _in_half(case: Case, call: PassFact, producer: NodeFact, reach: Mask) -> bool:
    """Whether the producer, or what feeds it, is in half precision; where no shape was recorded, whether the source says so, or
    the loss was cast before it was scaled, as one in half precision is.
    """
    for number in (producer.id, *(edge.node for edge in producer.edges if edge.node)):
        shape = case.facts.shape(number)
        if shape is not None and shape.dtype in _HALF:
            return True
    rows = case.facts.rows(Kind.SHAPE)
    cast = any(stem(node.op.name) == "ToCopy" for node in _near_root(case, call))
    return not len(rows) and bool(reach.any()) and ("half" in producer.site.text or cast)


def _stepped_after(case: Case, call: PassFact) -> bool:
    """Whether an optimizer stepped, or a leaf of the pass was written, between this pass and the next."""
    facts = case.facts
    after = min((each.row for each in facts.passes if each.row > call.end_row), default=len(facts.trace.records))
    rows = facts.rows(Kind.BUMP)
    rows = rows[(rows > call.end_row) & (rows < after)]
    words = np.unique(facts.trace.records[rows, 4]).tolist()
    named = {each.storage for each in facts.tensors if each.kind == "parameter"}
    wrote = bool(named & set(facts.trace.records[rows, 1].tolist()))
    return wrote or any(is_step(op, site) for site, op in map(facts.site_and_op, words))

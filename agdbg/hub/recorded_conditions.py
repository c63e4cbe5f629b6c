"""Conditions of breakpoints on a recording: those that read only what was recorded are answered; of others it is said why not."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from agdbg.agent.conditions import compiled
from agdbg.agent.early import EVENTS, NODE, Language, NotInLanguage

if TYPE_CHECKING:
    from agdbg.record import Facts
    from agdbg.record.facts import RunFact

RECORDED = Language(
    plain=frozenset({"step"}),
    fields={"node": NODE, "event": frozenset({"kind"})},
    lists=frozenset({"grads", "grads_in", "grads_out"}),
    tensors=frozenset({"grad"}),
    of_tensors=frozenset({"shape"}),
    methods=frozenset({"norm"}),
)
_NEEDS = {".norm": ("values", "norms"), ".shape": ("shapes", "shapes")}
"""By what a condition reads: with what of ``--also`` it is recorded, and what it is called."""
_KNOWN = "step, event.kind, op, id, seq, parameter, module, file and line of node, and shape and norm() of gradients"


class NotRecorded(Exception):
    """What a condition reads was not recorded at this place; the message says what."""


def sees_of(meta: Mapping[str, object]) -> Mapping[str, object]:
    """What a trace with this header tells of; a header may be damaged."""
    found = meta.get("sees")
    return found if isinstance(found, dict) else {}


def condition_problem(condition: str, sees: Mapping[str, object]) -> str:
    """Why a condition cannot be answered in a recording which has, by its header, what ``sees`` says; empty when it can."""
    try:
        reads = RECORDED.reads(condition)
    except NotInLanguage as error:
        return (
            f"this is a recording, without the program's values and names: a condition needs the program if it reads {error}; "
            f"known are {_KNOWN}"
        )
    missing = [each for field, each in _NEEDS.items() if field in reads and not sees.get(each[0])]
    if not missing:
        return ""
    extra, what = missing[0]
    return f"this recording has no {what}, which the condition {condition!r} reads: record with --also {extra}"


def holds(condition: str, facts: Facts, run: RunFact, ended: list[int]) -> bool:
    """Whether a condition is true before a run.

    Args:
        condition: one of which :func:`condition_problem` has nothing to say.
        facts: the recording.
        run: the run.
        ended: the rows in which passes have ended that were not within others.

    Raises:
        NotRecorded: what it reads was not recorded here.
    """
    return bool(eval(compiled(condition).code, {"__builtins__": {}}, _Names(facts, run, ended)))


class _Names(dict[str, Any]):
    """What a condition may name, found when it is asked for."""

    def __init__(self, facts: Facts, run: RunFact, ended: list[int]) -> None:
        super().__init__(event=EVENTS["before"])
        self._facts, self._run, self._ended = facts, run, ended

    def __missing__(self, name: str) -> Any:
        facts, run = self._facts, self._run
        if name == "step":
            return bisect_left(self._ended, run.row)
        if name == "node":
            return _RecordedNode(facts, run.node)
        if name == "grads_out":
            return _Gradients(facts, run, "gradient out")
        arriving = _Gradients(facts, run, "gradient in")
        return arriving[0] if name == "grad" else arriving


class _RecordedNode:
    """What a recording tells of a node, under the names that it has in a program."""

    def __init__(self, facts: Facts, node: int) -> None:
        self._facts, self.id = facts, node

    @cached_property
    def _node(self) -> Any:
        found = self._facts.node(self.id)
        if found is None:
            raise NotRecorded(f"the birth of node {self.id}")
        return found

    @property
    def op(self) -> str:
        return str(self._node.op.name)

    @property
    def seq(self) -> int:
        return int(self._node.seq)

    @property
    def file(self) -> str:
        return str(self._node.site.file)

    @property
    def line(self) -> int:
        return int(self._node.site.line)

    @property
    def parameter(self) -> str:
        return self._facts.name_of_leaf(self.id) or ""

    @property
    def module(self) -> str:
        return "" if self.parameter else self._facts.module_path(self.id)


class _Gradients:
    """The gradients that came in at a run, or that it sent."""

    def __init__(self, facts: Facts, run: RunFact, what: str) -> None:
        self._facts, self._run, self._what = facts, run, what

    def __getitem__(self, index: int) -> _Gradient:
        return _Gradient(self._facts, self._run, self._what, index)


class _Gradient:
    """What was recorded of one of them."""

    def __init__(self, facts: Facts, run: RunFact, what: str, index: int) -> None:
        self._facts, self._run, self._what, self._index = facts, run, what, index

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the output whose gradient it is."""
        node, output = self._run.node, self._index
        if self._what == "gradient out":
            born = self._facts.node(node)
            edges = () if born is None else born.edges
            if not output < len(edges):
                raise NotRecorded(f"gradient {output} that node {node} sends")
            node, output = edges[output].node, edges[output].nr
        found = self._facts.shape(node, output)
        if found is None:
            raise NotRecorded(f"the shape of output {output} of node {node}")
        return found.dims

    def norm(self) -> float:
        """The L2 norm."""
        for each in reversed(self._facts.summaries(self._run.node)):
            if (each.what, each.index, each.pass_id) == (self._what, self._index, self._run.pass_id):
                return each.l2
        raise NotRecorded(f"the norm of {self._what} {self._index} of node {self._run.node}")

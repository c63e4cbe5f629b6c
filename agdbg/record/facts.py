"""The facts that a trace is asked for, as plain values; a ``row`` is a place in ``Trace.records``."""

from dataclasses import dataclass
from typing import Literal

from agdbg.events import Outcome, Provenance
from agdbg.record.lookup import Op, Site


@dataclass(frozen=True, slots=True)
class EdgeFact:
    """Where an input's gradient goes: output ``nr`` of ``node``; node 0: the input takes no gradient."""

    node: int
    nr: int
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class SaveFact:
    """What a node saved for its backward: a storage, at the version it then had, under a slot name."""

    slot: str
    storage: int
    version: int
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class NodeFact:
    """A node. ``edges[i]`` belongs to input ``i``; ``row`` is that of its birth record."""

    id: int
    op: Op
    seq: int
    site: Site
    edges: tuple[EdgeFact, ...]
    saves: tuple[SaveFact, ...]
    row: int
    thread: int


@dataclass(frozen=True, slots=True)
class PassFact:
    """One call of ``backward`` or ``grad``; the ``end_row`` of an unfinished one is behind the last row."""

    id: int
    call: str
    site: Site
    roots: tuple[tuple[int, int], ...]
    retain_graph: bool
    create_graph: bool
    parent: int
    outcome: Literal["ok", "error", "unfinished"]
    row: int
    end_row: int
    thread: int
    planned: int


@dataclass(frozen=True, slots=True)
class RunFact:
    """One run of one node in a pass; times in nanoseconds, ``start_ns`` since the trace began."""

    node: int
    pass_id: int
    order: int
    start_ns: int
    duration_ns: int
    outcome: Outcome
    row: int


@dataclass(frozen=True, slots=True)
class BumpFact:
    """A write that raised the version of a storage.

    ``node`` was built by the write (0: none), ``tensor`` is what was written through (0: not known).
    """

    storage: int
    old: int
    new: int
    op: Op
    site: Site
    node: int
    tensor: int
    row: int


@dataclass(frozen=True, slots=True)
class ErrorFact:
    """An error; ``slot`` is empty when it is not about a saved tensor, the versions then mean nothing.

    One that is ``predicted`` was not raised: a stop before the pass saw it coming.
    """

    kind: str
    node: int
    pass_id: int
    site: Site
    storage: int
    expected: int
    current: int
    text: str
    slot: str
    row: int
    predicted: bool = False


@dataclass(frozen=True, slots=True)
class TensorFact:
    """A tensor and a name of it; kind is ``parameter``, ``buffer`` or ``variable``.

    ``producer`` is the node that the tensor's gradient enters: for a leaf its ``AccumulateGrad`` node. ``requires_grad`` is
    as it was when this was told, None when that is not known.
    """

    id: int
    storage: int
    producer: int
    output_nr: int
    name: str
    kind: str
    row: int
    requires_grad: bool | None = None


@dataclass(frozen=True, slots=True)
class CutFact:
    """A place where gradient paths ended, ``count`` times; ``producer`` is where the last one came from."""

    op: Op
    site: Site
    producer: int
    output_nr: int
    storage: int
    count: int
    row: int

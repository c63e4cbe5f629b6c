"""Asking a trace: :class:`Facts` is the one door for graph model, diagnoses, hub and exporters.

Everything is indexed lazily with NumPy and built into plain values only for what is asked, so that a trace of
a million records answers at once. Facts may be told twice, late or by a weaker witness: for one edge or one
save the strongest provenance wins, and of equals the later record.
"""

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from agdbg.events import PREDICTED, Kind, a_of, flags_of, unpack_edge, unpack_pair
from agdbg.record.deep import NEEDS_GRAD, DeepFacts
from agdbg.record.facts import (
    BumpFact,
    CutFact,
    EdgeFact,
    ErrorFact,
    NodeFact,
    PassFact,
    RunFact,
    SaveFact,
    TensorFact,
)
from agdbg.record.lookup import Op, Site
from agdbg.record.passes import PassFacts
from agdbg.record.rare import RareFacts

__all__ = [
    "BumpFact",
    "CutFact",
    "EdgeFact",
    "ErrorFact",
    "Facts",
    "NodeFact",
    "Op",
    "PassFact",
    "RunFact",
    "SaveFact",
    "Site",
    "TensorFact",
]

_NAME_RANK = {"parameter": 0, "buffer": 1}


class Facts(DeepFacts, RareFacts, PassFacts):
    """The facts of one trace: nodes, passes, writes, names, errors, cuts, what is rare and what is told of values."""

    # ----- storages and tensors -----

    def bumps(self, storage: int) -> list[BumpFact]:
        """The writes that raised the version of a storage, in trace order, those that were taken back left out."""
        return [self._bump(row) for row in self.rows_about(Kind.BUMP, storage) if row not in self.void]

    def _bump(self, row: int) -> BumpFact:
        _, storage, old, new, site_op, node, tensor, _ = self.words(row)
        site, op = self.site_and_op(site_op)
        return BumpFact(storage, old, new, op, site, node, tensor, row)

    @cached_property
    def tensors(self) -> list[TensorFact]:
        """Every tensor that was given a name, in trace order; one that was named twice is there twice."""
        return [self.tensor(row) for row in self.rows(Kind.TENSOR).tolist()]

    def tensor(self, row: int) -> TensorFact:
        """The tensor and the name that the TENSOR record in this row tells."""
        head, number, storage, producer, names, *_ = self.words(row)
        name, kind = unpack_pair(names)
        text, needs = self.trace.text, NEEDS_GRAD.get(a_of(head))
        return TensorFact(number, storage, *unpack_edge(producer), text(name), text(kind), row, needs)

    def names(self, storage: int) -> list[str]:
        """The names of the tensors on a storage, each once: parameters, then buffers, then variables."""
        return names_of(self._by_storage.get(storage, []))

    def name_of_leaf(self, node: int) -> str | None:
        """The name of the leaf whose gradient a node accumulates, or None when it has none."""
        names = names_of(self._by_producer.get(node, [])) if node else []
        return names[0] if names else None

    def storage_of_leaf(self, node: int) -> int:
        """The memory of the leaf whose gradient a node accumulates; 0 when that was not recorded."""
        told = [each.storage for each in self._by_producer.get(node, []) if each.storage] if node else []
        if told:
            return told[-1]
        shape = self.shape(node)
        return shape.storage if shape is not None else 0

    @cached_property
    def _by_storage(self) -> dict[int, list[TensorFact]]:
        return _grouped((tensor.storage, tensor) for tensor in self.tensors)

    @cached_property
    def _by_producer(self) -> dict[int, list[TensorFact]]:
        return _grouped((tensor.producer, tensor) for tensor in self.tensors)

    # ----- errors and cuts -----

    @cached_property
    def errors(self) -> list[ErrorFact]:
        """All errors that were raised, in trace order."""
        return [error for error in self._all_errors if not error.predicted]

    @cached_property
    def predicted(self) -> list[ErrorFact]:
        """The errors that a stop before their pass foresaw, in trace order, whether they were raised later or not."""
        return [error for error in self._all_errors if error.predicted]

    @cached_property
    def _all_errors(self) -> list[ErrorFact]:
        return [self.error_at(row) for row in self.rows(Kind.ERROR).tolist()]

    def error_at(self, row: int) -> ErrorFact:
        """The error, raised or predicted, that the ERROR record in this row tells."""
        head, node, pass_id, site_op, storage, versions, text, slot = self.words(row)
        site, op = self.site_and_op(site_op)
        expected, current = unpack_pair(versions)
        name = self._slot_name(node, slot - 1) if slot else ""
        message = self.trace.text(text)
        foreseen = bool(flags_of(head) & PREDICTED)
        return ErrorFact(op.name, node, pass_id, site, storage, expected, current, message, name, row, foreseen)

    def _slot_name(self, node: int, slot: int) -> str:
        born = self.node(node)
        return (born.op if born else Op("")).slot(slot)

    @cached_property
    def cuts(self) -> list[CutFact]:
        """The places where gradient paths ended: of each site and op the last record, with the full count."""
        rows = self.rows(Kind.CUT)
        _, from_end = np.unique(self.trace.records[rows[::-1], 2], return_index=True)
        return [self._cut(row) for row in sorted(rows[::-1][from_end].tolist())]

    def _cut(self, row: int) -> CutFact:
        _, storage, site_op, producer, count, *_ = self.words(row)
        site, op = self.site_and_op(site_op)
        return CutFact(op, site, *unpack_edge(producer), storage, count, row)


def _grouped(pairs: Iterable[tuple[int, TensorFact]]) -> dict[int, list[TensorFact]]:
    groups: dict[int, list[TensorFact]] = {}
    for key, tensor in pairs:
        groups.setdefault(key, []).append(tensor)
    return groups


def names_of(tensors: list[TensorFact]) -> list[str]:
    """The names of these tensors, each once, those of parameters first."""
    ranked = sorted(tensors, key=lambda tensor: _NAME_RANK.get(tensor.kind, 2))
    return list(dict.fromkeys(tensor.name for tensor in ranked if tensor.name))

"""Queries about modules, shapes, what values were, checksums and optimizers."""

import re
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from agdbg.events import (
    Kind,
    ModuleEvent,
    NeedsGrad,
    OptimizerEvent,
    Probed,
    a_of,
    b_of,
    thread_of,
    unpack_float,
    unpack_pair,
    unpack_site_op,
)
from agdbg.record.base import ById
from agdbg.record.deep_facts import ModuleFact, OptimizerFact, ProbeFact, ShapeFact, SummaryFact
from agdbg.record.index import RowIndex, Rows
from agdbg.record.module_stacks import ModuleStacks, module_records
from agdbg.record.nodes import NodeFacts

#: The column of a SHAPE record that holds the storage.
STORAGE_OF_SHAPE = 4
#: The columns of a PROBE record: version, checksum, node and slot.
_VERSION, _CHECKSUM, _NODE, _SLOT = 2, 3, 5, 6
_COUNTS_OF_SUMMARY = 5
_TEXT = re.compile(r"\s*([^\[\s]*)\s*(?:\[([\d,\s]*)\])?")
_SUMMARIZED: tuple[Literal["output", "gradient in", "gradient out"], ...] = ("output", "gradient in", "gradient out")
#: What a number that says whether a gradient is required means; any other one is not known.
NEEDS_GRAD = {int(NeedsGrad.YES): True, int(NeedsGrad.NO): False}
#: A number of one byte that says that the number stands in full in a word.
_SATURATED = 255


class DeepFacts(NodeFacts):
    """What modules did, what tensors were, and who steps them."""

    # ----- modules -----

    @cached_property
    def modules(self) -> list[ModuleFact]:
        """Every module that was named, by the order of its first naming, as it was named last."""
        return list(self._modules.values())

    @cached_property
    def _modules(self) -> dict[int, ModuleFact]:
        rows = self.rows(Kind.MODULE)
        named = rows[(self.trace.records[rows, 0] >> np.uint64(16) & np.uint64(255)) == ModuleEvent.NAMED]
        return {fact.id: fact for fact in map(self.module_at, named.tolist())}

    def module_at(self, row: int) -> ModuleFact:
        """The module that the MODULE record in this row tells; of one that is entered or left the number alone."""
        _, number, names, parent, *_ = self.words(row)
        path, class_name = unpack_pair(names)
        return ModuleFact(row, number, self.trace.text(path), self.trace.text(class_name), parent)

    def module(self, number: int) -> ModuleFact | None:
        """The module with this number, None when it was never named."""
        return self._modules.get(number)

    def module_of(self, node: int) -> ModuleFact | None:
        """The innermost module that was running in the node's thread when the node was born; None when none was."""
        row = self.index(Kind.BORN).last(node)
        if row < 0:
            return None
        number = self._stacks.at(thread_of(int(self.trace.records[row, 0])), row)
        return self._modules.get(number) if number else None

    def module_calls(self, node: int) -> list[tuple[int, ModuleFact]]:
        """The modules that were running when a node was born, the outermost first: each with a number of that call."""
        row = self.index(Kind.BORN).last(node)
        if row < 0:
            return []
        calls = self._stacks.calls(thread_of(int(self.trace.records[row, 0])), row)
        return [(call, self._modules[number]) for call, number in calls if number in self._modules]

    def module_path(self, node: int) -> str:
        """The dotted path of the module of a node; empty for one that was born in none, or in the root itself."""
        found = self.module_of(node)
        return found.path if found else ""

    @cached_property
    def _stacks(self) -> ModuleStacks:
        stacks = ModuleStacks()
        stacks.add(module_records(self.trace.records, self.rows(Kind.MODULE)))
        return stacks

    # ----- shapes -----

    def shape(self, node: int, output: int = 0) -> ShapeFact | None:
        """What an output of a node is, None when that was not recorded."""
        for row in reversed(self.rows_about(Kind.SHAPE, node) if node else []):
            found = self.shape_at(row)
            if found.output == output:
                return found
        return None

    def shapes(self, node: int) -> list[ShapeFact]:
        """What the outputs of a node are, by output, as far as it was recorded."""
        found = {each.output: each for each in map(self.shape_at, self.rows_about(Kind.SHAPE, node) if node else [])}
        return [found[output] for output in sorted(found)]

    def shape_at(self, row: int) -> ShapeFact:
        """The fact that the SHAPE record in this row tells."""
        head, node, texts, nbytes, storage, whole, number, _ = self.words(row)
        text, device = map(self.trace.text, unpack_pair(texts))
        dtype, dims = _parsed(text)
        output = number if a_of(head) == _SATURATED else a_of(head)
        return ShapeFact(row, node, output, text, dtype, dims, device, nbytes, storage, whole)

    def storage_nbytes(self, storage: int) -> int | None:
        """How many bytes a storage has, None when that was not recorded."""
        row = self._shapes_by_storage.last(storage) if storage else -1
        return None if row < 0 else int(self.trace.records[row, STORAGE_OF_SHAPE + 1])

    @cached_property
    def _shapes_by_storage(self) -> ById:
        rows = self.rows(Kind.SHAPE)
        return RowIndex(self.trace.records[rows, STORAGE_OF_SHAPE], rows)

    # ----- what values were -----

    def summaries(self, node: int) -> list[SummaryFact]:
        """What was seen of the outputs and gradients of a node, in trace order."""
        return [self.summary_at(row) for row in self.rows_about(Kind.SUMMARY, node)]

    @cached_property
    def bad_summaries(self) -> list[SummaryFact]:
        """Where NaN or infinities were seen, in trace order."""
        rows = self.rows(Kind.SUMMARY)
        return [self.summary_at(row) for row in rows[self.trace.records[rows, _COUNTS_OF_SUMMARY] != 0].tolist()]

    def summary_at(self, row: int) -> SummaryFact:
        """The fact that the SUMMARY record in this row tells."""
        head, node, pass_id, norm, largest, counts, first, elements = self.words(row)
        nans, infs = unpack_pair(counts)
        sizes = unpack_float(norm), unpack_float(largest)
        first_bad = first - 1 if first else None
        what = _SUMMARIZED[min(a_of(head), len(_SUMMARIZED) - 1)]
        return SummaryFact(row, node, what, b_of(head), pass_id, *sizes, nans, infs, first_bad, elements)

    # ----- checksums -----

    @cached_property
    def probes(self) -> list[ProbeFact]:
        """All checksums, in trace order."""
        return [self.probe_at(row) for row in self.rows(Kind.PROBE).tolist()]

    def probe_at(self, row: int) -> ProbeFact:
        """The fact that the PROBE record in this row tells."""
        head, storage, version, checksum, _, node, slot, _ = self.words(row)
        when = a_of(head) == Probed.CHECKED
        name = self._name_of_slot(node, slot)
        return ProbeFact(row, storage, version, checksum, node, name, "checked" if when else "saved")

    @cached_property
    def silent_writes(self) -> list[tuple[ProbeFact, ProbeFact]]:
        """Where memory changed and its version did not: what was saved, and the first look at it that saw the change."""
        return [(self.probe_at(then), self.probe_at(now)) for then, now in self.silent_write_rows.tolist()]

    @cached_property
    def silent_write_rows(self) -> Rows:
        """The same as pairs of rows: one change may be seen by as many nodes as the trace has."""
        rows = self.rows(Kind.PROBE)
        words = self.trace.records[rows]
        checked = (words[:, 0] >> np.uint64(16) & np.uint64(255)) == Probed.CHECKED
        pairs = _differing(words, checked)
        pairs = pairs[np.argsort(pairs[:, 1], kind="stable")]
        _, first = np.unique(pairs[:, 0], return_index=True)
        found: Rows = rows[pairs[np.sort(first)]]
        return found

    def _name_of_slot(self, node: int, slot: int) -> str:
        row = self.index(Kind.BORN).last(node)
        op = unpack_site_op(int(self.trace.records[row, 3]))[1] if row >= 0 else 0
        return self.trace.op(op).slot(slot)

    # ----- optimizers -----

    @cached_property
    def optimized(self) -> list[OptimizerFact]:
        """The parameters that optimizers have, in trace order: one fact when it is built, and one at its first step."""
        return [self.optimizer_at(row) for row in self.rows(Kind.OPTIMIZER).tolist()]

    def optimizer_at(self, row: int) -> OptimizerFact:
        """The fact that the OPTIMIZER record in this row tells."""
        head, storage, where, number, needs, *_ = self.words(row)
        site, op = self.site_and_op(where)
        stepped = a_of(head) == OptimizerEvent.STEPPED
        return OptimizerFact(row, storage, number, op, site, "stepped" if stepped else "built", NEEDS_GRAD.get(needs))


def _parsed(text: str) -> tuple[str, tuple[int, ...]]:
    """``("float32", (3, 4))`` of ``float32[3, 4]``."""
    found = _TEXT.match(text)
    if found is None:
        return text, ()
    dims = tuple(int(part) for part in (found[2] or "").split(",") if part.strip())
    return found[1], dims


def _differing(words: npt.NDArray[np.uint64], checked: npt.NDArray[np.bool_]) -> Rows:
    """Pairs of places: what a slot of a node saved, and a later look at it with another checksum and the same version."""
    keys = words[:, [_NODE, _SLOT, 1, _VERSION]]
    places = np.arange(len(words))
    order = np.lexsort((places, *keys.T[::-1]))
    new = np.ones(len(order), bool)
    new[1:] = np.any(keys[order][1:] != keys[order][:-1], axis=1) | ~checked[order][1:]
    since = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0)) if len(order) else order
    then = order[since]
    bad = checked[order] & ~checked[then] & (words[order, _CHECKSUM] != words[then, _CHECKSUM])
    pairs: Rows = np.stack([then[bad], order[bad]], axis=1)
    return pairs

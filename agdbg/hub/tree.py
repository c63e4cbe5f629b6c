"""The graph by modules and parameters, with totals of what each has built and how long that took to run."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from agdbg.events import Kind
from agdbg.graph.row_nodes import RowNodes
from agdbg.protocol.looks import Branch
from agdbg.record.growing import Growing, Numbers
from agdbg.record.live import LiveFacts

_THREAD = np.uint64(32)


@dataclass
class _Totals:
    """Of a module and all in it."""

    class_name: str = ""
    nodes: int = 0
    ns: int = 0
    first: int = 0


class Tree:
    """Tells the modules of what ``growing`` has read; made anew only when there is more."""

    def __init__(self, growing: Growing, nodes: RowNodes) -> None:
        self._growing, self._nodes = growing, nodes
        self._read = -1
        self._branches: list[Branch] = []

    def branches(self, facts: LiveFacts, row_of: Callable[[int], int | None]) -> list[Branch]:
        """Modules in the order of their paths, each with its parameters behind it, before the modules in it."""
        if self._read != len(self._growing.records):
            self._read = len(self._growing.records)
            self._branches = list(self._made(facts, row_of))
        return self._branches

    def _made(self, facts: LiveFacts, row_of: Callable[[int], int | None]) -> list[Branch]:
        totals, parameters = self._totals(facts), _parameters(facts, self._growing)
        for path in parameters:
            _above(totals, path)
        made = []
        for path in sorted(totals, key=_natural):
            told = totals[path]
            depth = path.count(".") + 1 if path else 0
            made.append(_branch("module", path, told.class_name, depth, told.nodes, told.ns, 0, told.first, row_of))
            for name, leaf, nbytes, shape in parameters.get(path, ()):
                made.append(_branch("parameter", name, shape, depth + 1, 0, 0, nbytes, leaf, row_of))
        return made

    def _totals(self, facts: LiveFacts) -> dict[str, _Totals]:
        """By path. What was built outside of all modules counts for none."""
        births = self._nodes.births.now
        modules = np.zeros(len(births), np.int64)
        threads = self._growing.records[births, 0] >> _THREAD if len(births) else np.empty(0, np.uint64)
        for thread in self._nodes.threads:
            mine = np.flatnonzero(threads == np.uint64(thread))
            modules[mine] = self._growing.stacks().modules_at(thread, births[mine])
        spent = self._spent()
        totals: dict[str, _Totals] = {}
        by_number = {module.id: module for module in facts.modules}
        for module in by_number.values():
            _above(totals, module.path).class_name = module.class_name
        for number in np.unique(modules[modules != 0]).tolist():
            mine = np.flatnonzero(modules == number)
            if (found := by_number.get(number)) is None:
                continue
            first = int(self._nodes.nodes.now[mine[0]])
            for path in _paths(found.path):
                told = _above(totals, path)
                told.nodes += len(mine)
                told.ns += int(spent[mine].sum())
                told.first = told.first or first
        return totals

    def _spent(self) -> Numbers:
        """By row, the nanoseconds that its node ran in all passes."""
        runs = self._growing.records[self._growing.rows(Kind.RAN)]
        rows = self._nodes.find(runs[:, 1])
        spent = np.zeros(len(self._nodes), np.int64)
        np.add.at(spent, rows[rows >= 0], runs[rows >= 0, 5].astype(np.int64))
        return spent


def _parameters(facts: LiveFacts, growing: Growing) -> dict[str, list[tuple[str, int, int, str]]]:
    """By the path of their module: name, leaf node, bytes and shape."""
    found: dict[str, dict[str, tuple[str, int, int, str]]] = {}
    for row in growing.rows(Kind.TENSOR).tolist():
        told = facts.tensor(row)
        if told.kind != "parameter" or not told.name:
            continue
        path, _, _ = told.name.rpartition(".")
        shape = facts.shape(told.producer) if told.producer else None
        known = found.setdefault(path, {}).get(told.name)
        if known is None or told.producer:
            facts_of = (told.name, told.producer, shape.nbytes if shape else 0, shape.text if shape else "")
            found[path][told.name] = facts_of
    return {path: list(named.values()) for path, named in found.items()}


def _paths(path: str) -> list[str]:
    """A path and those around it, the root too."""
    words = path.split(".") if path else []
    return ["", *(".".join(words[: at + 1]) for at in range(len(words)))]


def _above(totals: dict[str, _Totals], path: str) -> _Totals:
    for each in _paths(path):
        totals.setdefault(each, _Totals())
    return totals[path]


def _natural(path: str) -> list[tuple[bool, int, str]]:
    """``layers.2`` stands before ``layers.10``."""
    words = path.split(".") if path else []
    return [(not word.isdecimal(), int(word) if word.isdecimal() else 0, word) for word in words]


def _branch(
    kind: str, path: str, class_name: str, depth: int, nodes: int, ns: int, nbytes: int, node: int,
    row_of: Callable[[int], int | None],
) -> Branch:  # fmt: skip
    return {
        "kind": kind, "path": path, "className": class_name, "depth": depth, "nodes": nodes, "ns": ns,
        "nbytes": nbytes, "node": node or None, "row": row_of(node) if node else None,
    }  # fmt: skip

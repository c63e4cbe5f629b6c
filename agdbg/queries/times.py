"""Where backward spends its time, and where memory is saved: by node, by op, by line, by module."""

from typing import Any

import numpy as np

from agdbg.queries.model import Answer, Query, Row, Rows, line
from agdbg.record import Facts
from agdbg.tables.graph import SAVES, births
from agdbg.tables.words import HIGH, LOW

_NS = 1e6


class _Runs:
    """All runs with the SITE_OP word of their nodes, 0 for a node whose birth was not recorded."""

    def __init__(self, facts: Facts) -> None:
        records = facts.trace.records[facts.run_rows]
        self.nodes, self.took = records[:, 1], records[:, 5].astype(np.float64) / _NS
        born = births(facts)
        self.made = np.zeros(len(self.nodes), np.uint64)
        if len(born.rows):
            place = np.minimum(np.searchsorted(born[1], self.nodes), len(born.rows) - 1)
            known = born[1][place] == self.nodes
            self.made[known] = born[3][place[known]]

    def by(self, keys: Any) -> list[tuple[int, int, int, float]]:
        """Key, nodes, runs and milliseconds, the most first."""
        unique, at = np.unique(keys, return_inverse=True)
        totals = np.bincount(at, weights=self.took, minlength=len(unique))
        runs = np.bincount(at, minlength=len(unique))
        pairs = np.unique(np.stack([at.astype(np.uint64), self.nodes]), axis=1)[0].astype(np.int64)
        nodes = np.bincount(pairs, minlength=len(unique))
        order = np.argsort(-totals, kind="stable")
        return [(int(unique[i]), int(nodes[i]), int(runs[i]), float(totals[i])) for i in order]


def _lines(facts: Facts, sites: Any) -> Any:
    """For each place the first one that is on the same line: a line may have several expressions."""
    unique, at = np.unique(sites, return_inverse=True)
    first: dict[tuple[str, int], int] = {}
    lines = [facts.trace.site(number) for number in unique.tolist()]
    numbers = [first.setdefault((site.file, site.line), int(unique[place])) for place, site in enumerate(lines)]
    return np.array(numbers, np.uint64)[at]


def _slowest(facts: Facts, _: int) -> Answer:
    runs = _Runs(facts)
    found = runs.by(runs.nodes)

    def row(place: int) -> Row:
        number, _, count, total = found[place]
        node = facts.node(number)
        told = (node.op.name, line(node.site), node.site.text.strip()) if node is not None else ("", "", "")
        return number, *told, count, round(total, 6)

    return Answer(("node", "op", "line", "source", "runs", "ms"), Rows(len(found), row))


def _by_op(facts: Facts, _: int) -> Answer:
    found = _Runs(facts)
    whole = float(found.took.sum()) or 1.0
    rows = [
        (facts.trace.op(op).name, nodes, runs, round(total, 6), round(100 * total / whole, 2))
        for op, nodes, runs, total in found.by(found.made >> HIGH)
    ]
    return Answer(("op", "nodes", "runs", "ms", "percent"), rows)


def _by_line(facts: Facts, _: int) -> Answer:
    found = _Runs(facts)
    whole = float(found.took.sum()) or 1.0
    rows = []
    for number, nodes, runs, total in found.by(_lines(facts, found.made & LOW)):
        site = facts.trace.site(number)
        rows.append((line(site), site.text.strip(), nodes, runs, round(total, 6), round(100 * total / whole, 2)))
    return Answer(("line", "source", "nodes", "runs", "ms", "percent"), rows)


def _saved_by_line(facts: Facts, _: int) -> Answer:
    """A storage that several nodes of a line saved is counted once there; its bytes only where shapes were recorded."""
    born = births(facts)
    saves: dict[int, tuple[int, set[int]]] = {}
    made_on = dict(zip(born[1].tolist(), _lines(facts, born.site(3)).tolist(), strict=True))
    for node, _slot, _name, storage, *_rest in SAVES.rows(facts):
        count, storages = saves.get(made_on.get(node, 0), (0, set()))
        storages.add(storage or 0)
        saves[made_on.get(node, 0)] = count + 1, storages
    rows = []
    for place, (count, storages) in saves.items():
        site = facts.trace.site(place)
        sizes = [facts.storage_nbytes(storage) for storage in storages if storage]
        known = [size for size in sizes if size is not None]
        rows.append((line(site), site.text.strip(), count, len(storages), sum(known) if known else None))
    rows.sort(key=lambda row: (-(row[4] or 0), -row[2]))
    return Answer(("line", "source", "saves", "storages", "bytes"), rows)


QUERIES = (
    Query("slowest", "the nodes that took longest in backward", _slowest),
    Query("by-op", "time of backward by op", _by_op),
    Query("by-line", "time of backward by the line that built the nodes", _by_line),
    Query("saved-by-line", "what the nodes of each line saved, and how many bytes that is", _saved_by_line),
)

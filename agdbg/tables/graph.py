"""The tables of the graph: nodes, edges, what nodes saved, modules."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from agdbg.events import ACCUMULATE_SEQUENCE, PROVENANCE_MASK, Kind
from agdbg.record import Facts
from agdbg.record.nodes import EDGE_LIMIT
from agdbg.record.tellings import strongest
from agdbg.tables.model import Row, or_none, rows_of, table
from agdbg.tables.words import NODE, OUTPUT, PROVENANCE, Told, Words

_STORAGE, _VERSION, _SLOT = np.uint64((1 << 36) - 1), np.uint64((1 << 20) - 1), np.uint64(56)
_LEAF = np.uint64(ACCUMULATE_SEQUENCE)


def births(facts: Facts) -> Told:
    """Of each node the birth that counts, by number."""
    backwards = facts.rows(Kind.BORN)[::-1]
    _, first = np.unique(facts.trace.records[backwards, 1], return_index=True)
    return Told(facts, Kind.BORN, backwards[first])


def _nodes(facts: Facts) -> Iterator[Row]:
    born = births(facts)
    leaf = born[2] == _LEAF
    sequence = [None if is_leaf else number for is_leaf, number in zip(leaf.tolist(), born[2].tolist(), strict=True)]
    modules = [_module(facts, number) for number in born[1].tolist()] if facts.modules else [None] * len(born.rows)
    return rows_of(born[1], born.op(3), or_none(born.site(3)), sequence, leaf, modules, born.thread, born.rows)


def _module(facts: Facts, node: int) -> int | None:
    found = facts.module_of(node)
    return None if found is None else found.id


def _edges(facts: Facts) -> Iterator[Row]:
    born, late = births(facts), Told(facts, Kind.EDGE)
    source = np.concatenate([born[1], born[1], late[1]])
    index = np.concatenate([born[1] * 0, born[1] * 0 + 1, late[2]])
    word = np.concatenate([born[4], born[5], late[3]])
    early = np.arange(len(source)) < 2 * len(born.rows)
    keep = np.where(early, word != 0, index < EDGE_LIMIT)
    provenance = np.concatenate([_provenance(born), _provenance(born), _provenance(late)])
    chosen = _counting(source, index, provenance, _age(born, late), keep)
    chosen = chosen[word[chosen] != 0]
    return rows_of(
        source[chosen], index[chosen], word[chosen] & NODE, word[chosen] >> OUTPUT, _words(provenance[chosen])
    )


def _saves(facts: Facts) -> Iterator[Row]:
    born, late = births(facts), Told(facts, Kind.SAVED)
    inline = np.concatenate([born[6], born[7]])
    source = np.concatenate([born[1], born[1], late[1]])
    slot = np.concatenate([inline >> _SLOT, late[2]])
    storage = np.concatenate([inline & _STORAGE, late[3]])
    version = np.concatenate([inline >> np.uint64(36) & _VERSION, late[4]])
    keep = np.concatenate([inline != 0, np.ones(len(late.rows), bool)])
    provenance = np.concatenate([_provenance(born), _provenance(born), _provenance(late)])
    chosen = _counting(source, slot, provenance, _age(born, late), keep)
    ops = born[3] >> np.uint64(32)
    place = np.minimum(np.searchsorted(born[1], source[chosen]), max(len(ops) - 1, 0))
    names = [
        facts.trace.op(op).slot(number)
        for op, number in zip(ops[place].tolist() if len(ops) else [], slot[chosen].tolist(), strict=True)
    ]
    return rows_of(
        source[chosen], slot[chosen], names, or_none(storage[chosen]), version[chosen], _words(provenance[chosen])
    )


def _provenance(told: Told) -> Any:
    return (told.flags & np.uint64(PROVENANCE_MASK)).astype(np.int64)


def _age(born: Told, late: Told) -> Any:
    return np.concatenate([np.full(2 * len(born.rows), -1), late.rows])


def _counting(source: Words, index: Words, provenance: Any, age: Any, keep: Any) -> Any:
    """Where the tellings stand that count, by node and index; nodes that were never born are left out."""
    told = np.flatnonzero(keep)
    best = told[strongest(source[told], index[told], provenance[told], age[told])]
    return best[np.lexsort((index[best], source[best]))]


def _words(provenance: Any) -> list[str]:
    return [PROVENANCE[number] for number in provenance.tolist()]


def _modules(facts: Facts) -> Iterator[Row]:
    for module in facts.modules:
        yield module.id, module.path, module.class_name, module.parent or None


TABLES = (
    table(
        "nodes", "a node of a graph",
        """
        id integer number in the trace
        op text what it is called
        site integer the line that built it, in sites
        seq integer sequence number of its thread; empty for the node of a leaf
        is_leaf boolean it accumulates the gradient of a leaf
        module integer the innermost module that ran when it was built, in modules
        thread integer the thread that built it
        row integer its record
        """,
        _nodes, ["id", "op", "site"],
    ),
    table(
        "edges", "where the gradient of one input goes",
        """
        node integer the consumer
        input integer number of its input
        to_node integer the producer
        output integer number of the producer's output
        provenance text observed, inferred or unknown
        """,
        _edges, ["node", "to_node"],
    ),
    table(
        "saves", "what a node saved in one slot",
        """
        node integer the node
        slot integer number of the slot
        name text name of the slot
        storage integer the memory; empty when it is not known
        version integer the version that it had
        provenance text observed, inferred or unknown
        """,
        _saves, ["node", "storage"],
    ),
    table(
        "modules", "a module of a model",
        """
        id integer number in the trace
        path text where it stands in the model; empty for the root
        class text its class
        parent integer the module that holds it
        """,
        _modules, ["id"],
    ),
)  # fmt: skip

#: Those that queries are made of.
EDGES, SAVES = TABLES[1], TABLES[2]

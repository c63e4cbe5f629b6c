"""The records of a trace in a form in which those of two runs that did the same are equal."""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from agdbg.compare.strings import Joined
from agdbg.events import Kind
from agdbg.record.index import Rows
from agdbg.record.layout import ENTITIES, LAYOUT, Field, Holds
from agdbg.record.reader import Trace

Words = npt.NDArray[np.uint64]

_NODE = np.uint64((1 << 48) - 1)
_STORAGE = np.uint64((1 << 36) - 1)
_LOW, _HIGH = np.uint64((1 << 32) - 1), np.uint64(32)
#: Of the records of one cut the first counts: when others follow is an adapter's business (see ``parting``).
_COUNT_OF_CUT = 4
#: Which bits of a word are the number of an entity.
_BITS: dict[Holds, tuple[Holds, np.uint64]] = {
    Holds.EDGE: (Holds.NODE, _NODE),
    Holds.SAVE: (Holds.STORAGE, _STORAGE),
    **{entity: (entity, np.uint64(2**64 - 1)) for entity in ENTITIES},
}


class Canonical(NamedTuple):
    """Records that can be compared, thread by thread.

    Attributes:
        words: eight words a record; those that hold floats are zero.
        floats: of each record the two floats, zero where it has none.
        rows: where each record stands in its trace.
    """

    words: Words
    floats: npt.NDArray[np.float64]
    rows: Rows


def canonical(trace: Trace, strings: Joined, left_out: Collection[Kind]) -> Canonical:
    """The records of a trace, without those of some kinds."""
    kinds = [kind for kind in LAYOUT if kind not in left_out]
    rows = np.flatnonzero(np.isin(trace.kinds, np.array(kinds, np.uint8)))
    threads = trace.records[rows, 0] >> _HIGH
    rows = rows[np.argsort(threads, kind="stable")]
    rows = rows[(trace.kinds[rows] != Kind.CUT) | (trace.records[rows, _COUNT_OF_CUT] == 1)]
    records = trace.records[rows]
    words = np.zeros_like(records)
    words[:, 0] = records[:, 0] & _LOW | _ranked(records[:, 0] >> _HIGH) << _HIGH
    floats = np.zeros((len(rows), 2))
    mentions: dict[Holds, list[tuple[Rows, int, np.uint64]]] = {entity: [] for entity in ENTITIES}
    held = trace.kinds[rows]
    for kind in kinds:
        at = np.flatnonzero(held == kind)
        if not len(at):
            continue
        for field in LAYOUT[kind]:
            if field.holds in _BITS:
                entity, bits = _BITS[field.holds]
                mentions[entity].append((at, field.word, bits))
                words[at, field.word] = records[at, field.word] & ~bits
            elif field.holds is Holds.NORM:
                floats[at, field.word & 1] = np.ascontiguousarray(records[at, field.word]).view(np.float64)
            else:
                words[at, field.word] = _plain(trace, strings, field, records[at, field.word])
    for found in mentions.values():
        _number(records, words, found)
    return Canonical(words, floats, rows)


def _plain(trace: Trace, strings: Joined, field: Field, word: Words) -> Words:
    """Words in which nothing is the number of an entity."""
    if field.holds is Holds.SITE_OP:
        return strings.sites(trace, word & _LOW) | strings.ops(trace, word >> _HIGH) << _HIGH
    if field.holds is Holds.SITE:
        return strings.sites(trace, word & _LOW)
    if field.holds is Holds.TEXTS:
        return strings.texts(trace, word & _LOW) | strings.texts(trace, word >> _HIGH) << _HIGH
    if field.holds is Holds.TEXT:
        return strings.texts(trace, word)
    return word


def _number(records: Words, words: Words, mentions: list[tuple[Rows, int, np.uint64]]) -> None:
    """Write in place of each number of an entity how many were mentioned before it; 0 stays 0."""
    if not mentions:
        return
    at = np.concatenate([rows for rows, _, _ in mentions])
    column = np.concatenate([np.full(len(rows), word) for rows, word, _ in mentions])
    numbers = np.concatenate([records[rows, word] & bits for rows, word, bits in mentions])
    order = np.argsort(at * records.shape[1] + column, kind="stable")
    at, column, numbers = at[order], column[order], numbers[order]
    named = numbers != 0
    at, column = at[named], column[named]
    words[at, column] |= _ranked(numbers[named])


def _ranked(numbers: Words) -> Words:
    """For each number which one it is, in the order of their first mention, from 1."""
    unique, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    ranks = np.empty(len(unique), np.uint64)
    ranks[np.argsort(first)] = np.arange(1, len(unique) + 1, dtype=np.uint64)
    found: Words = ranks[inverse]
    return found

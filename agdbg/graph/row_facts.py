"""What was recorded of nodes beside their births, for a page of rows at once: shapes, norms of gradients, what they save."""

from typing import NamedTuple

import numpy as np

from agdbg.events import NOTHING, Kind, Summarized
from agdbg.graph.row_states import Fate
from agdbg.norm import Norm, told
from agdbg.record.deep import STORAGE_OF_SHAPE
from agdbg.record.deep_norms import norms_of, together
from agdbg.record.growing import Growing, Mask, Numbers, Words
from agdbg.record.live import LiveFacts

_BYTE, _A, _B, _LOW = np.uint64(255), np.uint64(16), np.uint64(24), np.uint64((1 << 32) - 1)
_MANY = 255  # so many or more, in one byte
_STORAGE, _SLOT, _SLOTS = np.uint64((1 << 36) - 1), np.uint64(56), np.uint64(1 << 32)


class RowFacts(NamedTuple):
    """Of a node: ``shape`` is that of its first output, empty when it was not recorded.

    ``saved`` are the bytes of the memory that its saved tensors lie in, each memory once; None when one is not known.
    ``gradient`` is the norm of what arrived in the pass of its fate;
    ``bad``: in what arrived or went out then, or in the outputs, was a NaN or an infinity.
    """

    shape: str
    saved: int | None
    gradient: Norm | None
    bad: bool


def facts_of(
    growing: Growing, facts: LiveFacts, nodes: list[int], fates: list[Fate], before: int | None = None
) -> list[RowFacts]:
    """What is known of each of these nodes; a kind of record that there is none of costs nothing.

    Args:
        growing, facts: of the trace.
        nodes, fates: the nodes, and what became of each.
        before: the record with which the future begins, of which no gradient is told; None: there is none.
    """
    ids = np.array(nodes, np.uint64)
    shapes, saved = _shapes(growing, facts, ids), _saved(growing, ids)
    gradients, bad = _gradients(growing, ids, fates, before)
    return [RowFacts(*each) for each in zip(shapes, saved, gradients, bad, strict=True)]


def _shapes(growing: Growing, facts: LiveFacts, ids: Words) -> list[str]:
    owner, rows = growing.index(Kind.SHAPE).all(ids)
    words = growing.records[rows]
    first = (words[:, 0] >> _A & _BYTE) == 0
    shapes = [""] * len(ids)
    for at, text in zip(owner[first].tolist(), (words[first, 2] & _LOW).tolist(), strict=True):
        shapes[at] = facts.trace.text(text)
    return shapes


def _saved(growing: Growing, ids: Words) -> list[int | None]:
    """Of one slot that was told twice the later word counts, which is what a write in place leaves in it."""
    births = growing.index(Kind.BORN).find(ids)
    born = np.flatnonzero(births >= 0)
    inline = growing.records[births[born]][:, 6:8].ravel()
    there = inline != NOTHING
    owner, told = growing.index(Kind.SAVED).all(ids)
    words = growing.records[told]
    owners = np.concatenate([born.repeat(2)[there], owner])
    storages = np.concatenate([inline[there] & _STORAGE, words[:, 3]])
    slots = np.concatenate([inline[there] >> _SLOT, words[:, 2]])
    _, last = np.unique((owners.astype(np.uint64) * _SLOTS + slots)[::-1], return_index=True)
    keep = len(owners) - 1 - last
    owners, storages = owners[keep], storages[keep]
    there = storages > 0
    return _summed(growing, owners[there], storages[there], len(ids))


def _summed(growing: Growing, owners: Numbers, storages: Words, count: int) -> list[int | None]:
    sizes = growing.index(Kind.SHAPE, STORAGE_OF_SHAPE).find(storages)
    seen: list[set[int]] = [set() for _ in range(count)]
    totals: list[int | None] = [0] * count
    for at, storage, row in zip(owners.tolist(), storages.tolist(), sizes.tolist(), strict=True):
        total = totals[at]
        if storage in seen[at] or total is None:
            continue
        seen[at].add(storage)
        totals[at] = None if row < 0 else total + int(growing.records[row, STORAGE_OF_SHAPE + 1])
    return totals


def _gradients(
    growing: Growing, ids: Words, fates: list[Fate], before: int | None
) -> tuple[list[Norm | None], list[bool]]:
    """Of the pass of each fate: what had arrived by then, and went out of those that had run, without what was taken back."""
    norms: list[Norm | None] = [None] * len(ids)
    bad = [False] * len(ids)
    owner, rows = growing.index(Kind.SUMMARY).all(ids)
    if before is not None:
        owner, rows = owner[rows < before], rows[rows < before]
    if not len(rows):
        return norms, bad
    words = growing.records[rows]
    what = words[:, 0] >> _A & _BYTE
    passes = np.array([fate.pass_id for fate in fates], np.uint64)
    arrives = np.array([fate.state not in ("waiting", "pending") for fate in fates])
    has_run = arrives & np.array([fate.state != "ready" for fate in fates])
    is_of_pass = words[:, 2] == passes[owner]
    arrived = _newest(words, owner, (what == Summarized.GRADIENT_IN) & is_of_pass & arrives[owner])
    at_all = together(owner[arrived], norms_of(words[arrived]), len(ids))
    for at in np.unique(owner[arrived]).tolist():
        norms[at] = told(float(at_all[at]))
    sent = _newest(words, owner, (what == Summarized.GRADIENT_OUT) & is_of_pass & has_run[owner])
    shown = np.concatenate([arrived, sent, np.flatnonzero(what == Summarized.OUTPUT)])
    for at in np.unique(owner[shown[words[shown, 5] != 0]]).tolist():
        bad[at] = True
    return norms, bad


def _newest(words: Words, owner: Numbers, wanted: Mask) -> Numbers:
    """Of the wanted summaries the last of each place: a node that is run once more after it was taken back tells them again."""
    at = np.flatnonzero(wanted)[::-1]
    number = (words[at, 0] >> _B & _BYTE).astype(np.int64)
    places = np.stack([owner[at], np.where(number == _MANY, _MANY + at, number)])
    return np.sort(at[np.unique(places, axis=1, return_index=True)[1]])

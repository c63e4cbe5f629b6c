"""Queries about views: what shares a memory, which part of it each view shows, where it was made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from agdbg.events import Creation, Kind, a_of, unpack_edge, unpack_pair
from agdbg.record.lookup import Op, Site
from agdbg.record.query import Facts

#: Where a view was made, in words.
CREATIONS: Final[dict[int, str]] = {
    Creation.UNKNOWN: "",
    Creation.DEFAULT: "",
    Creation.NO_GRAD: "made under no_grad",
    Creation.ONE_OF_SEVERAL: "one of several outputs",
    Creation.INFERENCE: "made in inference mode",
    Creation.IN_CUSTOM_FUNCTION: "made by a custom Function",
}
#: Elements of a view that are counted one by one to see whether two views overlap.
COUNTED = 1 << 20


@dataclass(frozen=True, slots=True)
class Region:
    """The part of a base that a view shows, in elements."""

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def count(self) -> int:
        """How many elements it has."""
        return int(np.prod(self.shape, dtype=object)) if self.shape else 1

    @property
    def end(self) -> int:
        """Behind its last element."""
        return self.offset + sum((n - 1) * step for n, step in zip(self.shape, self.strides, strict=True)) + 1


@dataclass(frozen=True, slots=True)
class ViewFact:
    """A view was made.

    Attributes:
        source, made: the node and output number of what was viewed, and of the view; node 0 when it has none.
        creation: where it was made.
        region: its part of the base; None for all of it, or when that is not known.
    """

    row: int
    storage: int
    source: tuple[int, int]
    made: tuple[int, int]
    op: Op
    site: Site
    creation: int
    region: Region | None


def views_of(facts: Facts, storage: int, limit: int = 10_000) -> list[ViewFact]:
    """The views of a storage, in trace order, at most ``limit``."""
    return [view_at(facts, row) for row in facts.rows_about(Kind.VIEW, storage)[:limit]]


def view_at(facts: Facts, row: int) -> ViewFact:
    """The fact that the VIEW record in this row tells."""
    head, storage, source, made, where, offset, texts, _ = facts.words(row)
    site, op = facts.site_and_op(where)
    return ViewFact(
        row,
        storage,
        unpack_edge(source),
        unpack_edge(made),
        op,
        site,
        min(a_of(head), max(Creation)),
        _region(facts, offset, texts),
    )


def _region(facts: Facts, offset: int, texts: int) -> Region | None:
    shape, strides = (_numbers(facts.trace.text(each)) if each else None for each in unpack_pair(texts))
    if shape is None or strides is None or len(shape) != len(strides) or offset >> 62:
        return None
    return Region(offset, shape, strides)


def _numbers(text: str) -> tuple[int, ...] | None:
    """``(2, 3)`` of ``[2, 3]``; None for anything else."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    good = isinstance(found, list) and all(isinstance(each, int) and abs(each) < 1 << 48 for each in found)
    return tuple(found) if good and len(found) <= 32 else None


def overlap(one: Region, other: Region) -> bool | None:
    """Whether two parts of one base have elements in common; None when that would take too long to say."""
    if not one.count or not other.count:
        return False
    low, high = (one, other) if one.offset <= other.offset else (other, one)
    if min((*one.strides, *other.strides), default=0) >= 0 and low.end <= high.offset:
        return False
    if one.count + other.count > COUNTED:
        return None
    return bool(len(np.intersect1d(elements(one), elements(other))))


def elements(region: Region) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The numbers of the elements of a region."""
    found = np.array([region.offset], np.int64)
    for n, step in zip(region.shape, region.strides, strict=True):
        found = (found[:, None] + np.arange(n, dtype=np.int64) * step).reshape(-1)
    return found


def parts(views: Sequence[ViewFact]) -> list[ViewFact]:
    """The views of a part whose place is known."""
    return [each for each in views if each.region is not None]

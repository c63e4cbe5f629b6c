"""Copies of values that a person has asked to compare, so that a later pass can be held against an earlier one.

Nothing is kept that nobody has asked for, and never more than :data:`LIMIT` bytes: what was looked at longest ago goes first.
"""

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

#: Bytes of all copies together.
LIMIT = 64 << 20
#: Passes of which one value is kept: this one, and the one that it is held against.
_PASSES = 2


class Moment(NamedTuple):
    """Which value of a program something is: the same ``place`` is come by in every pass."""

    place: Hashable
    pass_id: int


class KeptValues:
    """The copies, by place; what was used last is at the end."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._kept: dict[Hashable, list[tuple[int, Any]]] = {}
        self._nbytes = 0

    def compare(self, moment: Moment | None, array: Any) -> tuple[Any, dict[str, Any]]:
        """What a value has changed by since an earlier pass, or the value itself; and what is to be said of that.

        The value is kept for later passes.
        """
        array = np.asarray(array)
        told = {"now": 0, "before": None, "why": "", "changed": 0, "largest": "", "mean": "", "dropped": 0}
        if moment is None:
            told["why"] = "no pass stands here, so nobody knows which value of another pass is the same"
            return array, {**told, **self._amounts()}
        told["now"] = moment.pass_id
        passes = self._kept.get(moment.place, [])
        earlier = [each for each in passes if each[0] != moment.pass_id]
        before = earlier[-1] if earlier else None
        told["why"], told["dropped"] = self._keep(moment, array, before)
        told |= self._amounts()
        if before is None:
            return array, told
        if before[1].shape != array.shape:
            told["why"] = f"in pass {before[0]} it had the shape {list(before[1].shape)}: nothing to compare"
            return array, told
        delta, facts = difference(array, before[1])
        return delta, {**told, "before": before[0], **facts}

    def _keep(self, moment: Moment, array: Any, before: tuple[int, Any] | None) -> tuple[str, int]:
        """Keep a copy; why not, or that there is nothing to compare with yet, and how many others had to go for it."""
        nothing = "" if before is not None else "nothing kept of an earlier pass"
        kept = [] if before is None else [before]
        self._forget(moment.place)
        room = array.nbytes + sum(each.nbytes for _, each in kept)
        if room > self._limit:
            if before is not None:
                self._put(moment.place, kept)
            return (
                f"{nothing}{'; ' if nothing else ''}not kept: it has {array.nbytes:,} bytes, of at most {self._limit:,}",
                0,
            )
        dropped = 0
        while self._nbytes + room > self._limit:
            self._forget(next(iter(self._kept)))
            dropped += 1
        self._put(moment.place, [*kept, (moment.pass_id, array.copy())][-_PASSES:])
        return f"{nothing}: this is kept now, look again in a later one" if nothing else "", dropped

    def _put(self, place: Hashable, passes: list[tuple[int, Any]]) -> None:
        self._kept[place] = passes
        self._nbytes += sum(each.nbytes for _, each in passes)

    def _forget(self, place: Hashable) -> None:
        self._nbytes -= sum(each.nbytes for _, each in self._kept.pop(place, []))

    def _amounts(self) -> dict[str, int]:
        return {"keptBytes": self._nbytes, "limitBytes": self._limit}


def difference(now: Any, before: Any) -> tuple[Any, dict[str, Any]]:
    """By how much an array differs from one of its shape, and how many elements do, by how much at most and on the average.

    Two NaN are no change; where one of the two is not finite the difference is not either, and does not count for the last two.
    """
    kind = np.result_type(now.dtype, before.dtype)
    kind = kind if kind.kind == "c" or kind in (np.float32, np.float64) else np.result_type(kind, np.float32)
    with np.errstate(all="ignore"):
        delta = now.astype(kind) - before.astype(kind)
        is_same = (now == before) | ((now != now) & (before != before))
        size = np.abs(delta[np.isfinite(delta)])
    facts = {"changed": int(now.size - np.count_nonzero(is_same)), "largest": "", "mean": ""}
    if size.size:
        facts |= {"largest": f"{float(size.max()):.4g}", "mean": f"{float(size.mean(dtype=np.float64)):.4g}"}
    return delta, facts

"""The first event in which two traces differ."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agdbg.compare.canonical import Canonical, canonical
from agdbg.compare.strings import Joined
from agdbg.events import Kind
from agdbg.record import Facts
from agdbg.record.layout import LAYOUT, ON_REQUEST
from agdbg.record.reader import Trace

#: Norms that differ by less than this part of the larger one are equal.
TOLERANCE = 1e-6
_LOW, _HIGH = np.uint64((1 << 32) - 1), np.uint64(32)


@dataclass(frozen=True)
class Parting:
    """Where two traces part.

    Attributes:
        place: number of the first event that differs, from 0, thread by thread; None: all events are equal.
        one, other: what was compared of each.
        left_out: kinds that were not compared, since only one of the traces has them.
        ending: for each program what only its end tells, when all events are equal and that is not; empty otherwise.
    """

    place: int | None
    one: Canonical
    other: Canonical
    left_out: tuple[Kind, ...] = ()
    ending: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """True when no difference was found."""
        return self.place is None and not self.ending


def compare(
    one: Trace, other: Trace, *, moved: bool = False, tolerance: float = TOLERANCE, without: Collection[Kind] = ()
) -> Parting:
    """Compare two traces.

    Args:
        one: a trace.
        other: another.
        moved: the lines of the scripts may have moved: see :class:`agdbg.compare.strings.Joined`.
        tolerance: norms may differ by this part of the larger one.
        without: kinds that are not to be compared.
    """
    strings = Joined(moved)
    missing = tuple(kind for kind in ON_REQUEST if kind not in without and has(one, kind) != has(other, kind))
    left_out = {*without, *missing}
    first, second = canonical(one, strings, left_out), canonical(other, strings, left_out)
    place = _first_difference(first, second, tolerance)
    return Parting(place, first, second, missing, () if place is not None else _endings(one, other, strings))


def kinds() -> list[str]:
    """The names of the kinds that are compared."""
    return [kind.name.lower() for kind in LAYOUT]


def has(trace: Trace, kind: Kind) -> bool:
    """Whether a trace has records of a kind."""
    return bool(np.any(trace.kinds == kind))


def _first_difference(one: Canonical, other: Canonical, tolerance: float) -> int | None:
    count = min(len(one.rows), len(other.rows))
    differs = np.any(one.words[:count] != other.words[:count], axis=1)
    differs |= ~np.all(_close(one.floats[:count], other.floats[:count], tolerance), axis=1)
    if np.any(differs):
        return int(np.argmax(differs))
    return count if len(one.rows) != len(other.rows) else None


def _close(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64], tolerance: float) -> npt.NDArray[np.bool_]:
    if np.array_equal(a, b):
        return np.ones(a.shape, bool)
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(a - b) <= tolerance * np.maximum(np.abs(a), np.abs(b))
    found: npt.NDArray[np.bool_] = near | (a == b) | (np.isnan(a) & np.isnan(b))
    return found


def _endings(one: Trace, other: Trace, strings: Joined) -> tuple[str, ...]:
    """What only the end tells: how often paths were cut, and how both programs ended, where that is known of both."""
    counts = [_cuts(trace, strings) for trace in (one, other)]
    for place in counts[0].keys() & counts[1].keys():
        (first, says), (second, _) = counts[0][place], counts[1][place]
        if first != second:
            return f"{says} {first:,} times", f"{says} {second:,} times"
    ends = [_ending(trace, strings) for trace in (one, other)]
    return tuple(ends) if ends[0] != ends[1] and all(ends) else ()


def _cuts(trace: Trace, strings: Joined) -> dict[int, tuple[int, str]]:
    """How often paths were cut at each place, and the place in words."""
    cuts = Facts(trace).cuts
    where = trace.records[[cut.row for cut in cuts], 2] if cuts else np.zeros(0, np.uint64)
    sites, ops = strings.sites(trace, where & _LOW), strings.ops(trace, where >> _HIGH)
    says = [f"cut a path by {cut.op.name} at {cut.site.file.rpartition('/')[2]}:{cut.site.line}" for cut in cuts]
    places = (sites | ops << _HIGH).tolist()
    return {place: (cut.count, said) for place, cut, said in zip(places, cuts, says, strict=True)}


def _ending(trace: Trace, strings: Joined) -> str:
    ended = trace.meta.get("exit")
    if not isinstance(ended, dict) or "status" not in ended:
        return ""
    uncaught: Any = ended.get("uncaught")
    error = ""
    if isinstance(uncaught, dict):
        first = (str(uncaught.get("message") or "").splitlines() or [""])[0]
        error = strings.text(f" by {uncaught.get('type')}: {first}")
    return f"exited with status {ended['status']}{error}"

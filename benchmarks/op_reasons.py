"""Why rows of ``benchmarks/ops.py`` take more than three times as long as in PyTorch: the table in docs/ops-speed.md.

Its second column names the shapes that a reason is for: ``small, medium backward`` is both passes at small shapes and
backward at medium ones, ``topk also medium`` is for names that begin so, and a part without a shape is for all of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).resolve().parent.parent / "docs" / "ops-speed.md"
HEAD = "| op | shape | reason |"
SIZES = ("small", "medium", "large")
PASSES = ("forward", "backward")
Place = tuple[str, str]
"""A size and a pass."""


class Reason(NamedTuple):
    """A row of the table for one of its names, which those of ops are or begin with."""

    name: str
    shape: str
    why: str


OF_A_CALL = "checks of arguments in Python and the record of a call take 3 to 10 µs"
UNKNOWN = "no reason known: look at it"


def places_of(name: str, shape: str) -> frozenset[Place]:
    """What the second column says of an op of this name."""
    found: set[Place] = set()
    for part in re.split(r"[,;]| and (?=\w+ also)", shape):
        of, also, rest = part.rpartition(" also ")
        if also and of.strip() and not any(name.startswith(one) for one in re.findall(r"[\w.]+", of)):
            continue
        sizes = [s for s in SIZES if s in rest] or list(SIZES)
        found |= {(size, p) for size in sizes for p in (PASSES[1:] if "backward" in rest else PASSES)}
    return frozenset(found)


@cache
def table() -> list[Reason]:
    """The rows by name: names of ops without a namespace, or their beginnings."""
    found = []
    for line in PAGE.read_text(encoding="utf-8").partition(HEAD)[2].strip().splitlines()[1:]:
        if not line.startswith("|"):
            break
        names, shape, why = (cell.strip() for cell in line.strip("| ").split(" | ", 2))
        for name in (n.split()[0] for n in names.split(", ")):
            found.append(Reason(name, shape, why))
    return found


def reason(name: str, place: Place) -> str:
    """Why the op of this name is above 3 there; of several rows the one with most of its name."""
    plain = re.sub(r"^(F|nn|linalg|fft|special)\.", "", name)
    fit = [r for r in table() if plain.startswith(r.name) and place in places_of(plain, r.shape)]
    if fit:
        return max(fit, key=lambda r: len(r.name)).why
    return OF_A_CALL if place[0] == "small" else UNKNOWN


def reasons(name: str, ratios: Sequence[tuple[float, float]], most: float = 3) -> list[str]:
    """A line for each reason of those ratios, forward and backward by size, that are above ``most``: for which sizes it is."""
    by_why: dict[str, list[str]] = {}
    for size, pair in zip(SIZES, ratios, strict=True):
        for which, ratio in zip(PASSES, pair, strict=True):
            if ratio > most:
                sizes = by_why.setdefault(reason(name, (size, which)), [])
                if size not in sizes:
                    sizes.append(size)
    return [f"{', '.join(sizes)}: {why}" for why, sizes in by_why.items()]

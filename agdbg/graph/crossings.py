"""Order inside layers: barycentre sweeps, and the count of crossings that judges them."""

from collections.abc import Sequence
from itertools import pairwise

SWEEPS = 8
"""Bound on barycentre sweeps, half of them down and half up."""

Rows = list[list[int]]
Links = Sequence[Sequence[int]]


def order_rows(rows: Rows, above: Links, below: Links) -> Rows:
    """Reorder each row so that few lines cross; the best of at most `SWEEPS` sweeps.

    `above[v]` and `below[v]` are the neighbours of vertex v in the rows next to its own.
    """
    if max(map(len, rows), default=0) < 2:
        return rows
    best, fewest = rows, count_crossings(rows, above, below)
    current = rows
    for sweep in range(SWEEPS):
        if not fewest:
            break
        current = _sweep(current, above, below, downwards=sweep % 2 == 0, flip=sweep % 4 > 1)
        crossings = count_crossings(current, above, below)
        if crossings < fewest:
            best, fewest = current, crossings
    return best


def _sweep(rows: Rows, above: Links, below: Links, downwards: bool, flip: bool) -> Rows:
    """Sort every row by the mean place of its neighbours in the row before; ties keep or flip their order."""
    place = _places(rows, len(above))
    result = list(rows)
    links = above if downwards else below
    for at in range(len(rows)) if downwards else range(len(rows) - 1, -1, -1):
        row = rows[at]
        if len(row) < 2:
            continue
        keys = {}
        for vertex in row:
            near = links[vertex]
            keys[vertex] = sum([place[each] for each in near]) / len(near) if near else place[vertex]
        result[at] = row = sorted(reversed(row) if flip else row, key=keys.__getitem__)
        _settle(row, place)
    return result


def _places(rows: Rows, size: int) -> list[float]:
    place = [0.5] * size
    for row in rows:
        if len(row) > 1:
            _settle(row, place)
    return place


def _settle(row: list[int], place: list[float]) -> None:
    """Give the vertices of a row places between 0 and 1, so that rows of any length compare."""
    step = 1 / len(row)
    at = step / 2
    for vertex in row:
        place[vertex] = at
        at += step


def count_crossings(rows: Rows, above: Links, below: Links) -> int:
    """Count the pairs of lines that cross between neighbouring rows, in O(lines * log(row length))."""
    total = 0
    for upper, lower in pairwise(rows):
        if len(upper) > 1 and len(lower) > 1:
            rank = {vertex: at for at, vertex in enumerate(upper)}
            ends: list[int] = []
            for vertex in lower:
                near = [rank[each] for each in above[vertex]]
                near.sort()
                ends += near
            total += _inversions(ends, len(upper))
    return total


def _inversions(ends: list[int], width: int) -> int:
    """Pairs that stand in the wrong order (Barth, Juenger and Mutzel's accumulator tree)."""
    first = 1
    while first < width:
        first *= 2
    tree = [0] * (2 * first)
    total, highest = 0, -1
    for end in ends:
        if end < highest:
            total += _count_after(tree, end + first)
        else:
            highest = end
        at = end + first
        while at:
            tree[at] += 1
            at //= 2
    return total


def _count_after(tree: list[int], at: int) -> int:
    found = 0
    while at > 1:
        if at % 2 == 0:
            found += tree[at + 1]
        at //= 2
    return found

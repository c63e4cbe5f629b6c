"""Graphs that no pass goes through and that a list or dict keeps, one or more with each turn: ``val.append(net(x).mean())``.

The trace says that they were made turn by turn, that nothing used them in their turn and that no pass ran them; the source says
what keeps them, and that it lets nothing go. Needs: births, edges, RAN, PASS_STARTED; the source.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agdbg.diagnose.case import Case
from agdbg.diagnose.chains import came_to_its_end
from agdbg.diagnose.keepers import Keeper, keeper_of
from agdbg.diagnose.source import quoted
from agdbg.diagnose.syntax import unparse
from agdbg.record.facts import NodeFact, PassFact
from agdbg.record.lookup import Site

#: In how many turns one line must have made such a graph.
TURNS = 5
_LOW = np.uint64((1 << 32) - 1)


@dataclass(frozen=True)
class Piled:
    """Graphs that pile up: the last one's root, how many of how many turns, the pass that makes the turns, and what keeps them."""

    root: NodeFact
    count: int
    turns: int
    call: PassFact
    keeper: Keeper


def piled(case: Case, lines: list[list[PassFact]]) -> list[Piled]:
    """What piles up, one for each statement that keeps it; ``lines``: the passes by the line that called them."""
    passes = max(lines, key=len, default=[])
    if len(passes) < TURNS:
        return []
    found: dict[tuple[str, int], Piled] = {}
    for root, count, turns in _roots(case, np.array([each.row for each in passes], np.int64)):
        keeper = keeper_of(root.site, passes[-1].site) if came_to_its_end(case, root.row) else None
        if keeper is not None:
            found.setdefault((keeper.site.file, keeper.site.line), Piled(root, count, turns, passes[-1], keeper))
    return list(found.values())


def _roots(case: Case, starts: npt.NDArray[np.int64]) -> Iterator[tuple[NodeFact, int, int]]:
    """The last node of each line whose results no pass ran and nothing used in their turn, with the number of them and of turns."""
    walk, edges = case.walk, case.walk.edges
    free = ~walk.mask(case.facts.trace.records[case.facts.run_rows, 1]) & ~walk.leaves & (walk.born >= 0)
    free &= (walk.in_pass == 0) & (walk.made_at & _LOW > 0)
    turn = starts.searchsorted(walk.born)
    used = np.full(len(walk.ids), len(starts) + 1)  # in which turn first; a later one than all: never
    np.minimum.at(used, edges.target, turn[edges.source])
    places = np.flatnonzero(free & (used > turn))
    words = walk.made_at[places]
    for word in np.unique(words).tolist():
        mine = places[words == word]
        turns = len(np.unique(turn[mine]))
        node = case.facts.node(int(walk.ids[mine[np.argmax(walk.born[mine])]])) if turns >= TURNS else None
        if node is not None:
            yield node, len(mine), turns


def without_graph(keeper: Keeper, root: Site) -> str:
    """The fix: what to put there instead, or to switch gradients off where it is made."""
    new = keeper.with_detached()
    how = (
        f"`{new}` in place of `{quoted(unparse(keeper.statement))}` at line {keeper.site.line}"
        if new
        else f"with `.detach()` behind `{quoted(unparse(keeper.kept))}`"
    )
    return (
        f"Keep it without its graph: {how}, with `.item()` for a plain number; or compute it under `no_grad()`, "
        f"which makes no graph at all"
    )

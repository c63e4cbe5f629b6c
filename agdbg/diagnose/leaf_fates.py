"""Of every leaf whether a gradient reached it and, if none did, why not."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.cut_losses import for_holders, preferred, weighed
from agdbg.diagnose.entering import Losses
from agdbg.diagnose.layers import ran_paths
from agdbg.diagnose.leaves import Leaf, Leaves
from agdbg.diagnose.reentrant import reentrant_at
from agdbg.diagnose.shown import is_shown
from agdbg.diagnose.source import is_call_of
from agdbg.diagnose.straight_through import is_straight_through
from agdbg.diagnose.switched_off import block_words, switched_off_at
from agdbg.diagnose.walk import Mask
from agdbg.events import Kind, Summarized, unpack_edge
from agdbg.record.facts import CutFact, NodeFact
from agdbg.record.lookup import Site

#: ``gradient``: it has one; ``zeros``: one of zeros throughout; ``frozen``: it requires none; ``cut``: the path ended;
#: ``refused``: a node on the way sent none; ``loose``: no call started from what it went into; ``unused``: nothing used it;
#: ``idle``: its layer never ran; ``reentrant``: it ran in a reentrant checkpoint none of whose inputs needed a gradient.
How = Literal["gradient", "zeros", "frozen", "cut", "refused", "loose", "unused", "idle", "reentrant"]

#: Cuts that are followed through the graph.
CUTS = 1000
#: Cuts that are often meant: one loss is to leave the leaf alone, another to train it.
_ON_PURPOSE = ("detach", "data")
#: Cuts by which nobody can tell whether their values enter a loss: the source is asked, where there are others.
_WEIGHED = ("no_grad", "item", "rewrap")
#: Which cut of a leaf is told, the least first; a straight-through estimator comes behind others, and what is only shown last.
_RANK = {"integer": 1, "item": 2}
_STRAIGHT_THROUGH, _SHOWN = 3, 4


@dataclass(frozen=True)
class LeafFate:
    """What became of a leaf.

    Attributes:
        cut: where its path ended.
        others: where else detach() or .data ended it, or gradients were switched off for what enters a loss.
        known: only one path ended, or the cut is the one whose loss is differentiated for the leaf's optimizer.
        off: where gradients were switched off for the cut.
        node: the node that sent no gradient, or the last that was computed from it.
        user: the node that used it first.
        site: the call of the checkpoint.
    """

    leaf: Leaf
    how: How
    cut: CutFact | None = None
    others: tuple[CutFact, ...] = ()
    known: bool = True
    off: Site | None = None
    node: NodeFact | None = None
    user: NodeFact | None = None
    site: Site | None = None


def fates(case: Case, leaves: Leaves) -> list[LeafFate]:
    """The fates of all leaves that a pass came after, in the order in which they were told."""
    last = max((each.row for each in case.facts.passes), default=-1)
    mine = [leaf for leaf in leaves.all if leaf.row < last]
    dead = [leaf for leaf in mine if not leaves.has_gradient(leaf)]
    without = {each.leaf.storage: each for each in _without(case, leaves, dead)}
    zeros = _zeros(case)
    return [without.get(leaf.storage) or _with(case, leaf, zeros) for leaf in sorted(mine, key=lambda leaf: leaf.row)]


def _with(case: Case, leaf: Leaf, zeros: Mask) -> LeafFate:
    if not leaf.places or not bool(zeros[leaf.places].all()):
        return LeafFate(leaf, "gradient")
    user = _users(case, leaf.places).get(leaf.places[0], -1)
    return LeafFate(leaf, "zeros", user=case.facts.node(int(case.walk.ids[user])) if user >= 0 else None)


def _zeros(case: Case) -> Mask:
    """The places whose gradient was measured, and was zero throughout whenever it was."""
    measured = case.measured
    came = measured.what == Summarized.GRADIENT_IN
    known, other = np.zeros(len(case.walk.ids), bool), np.zeros(len(case.walk.ids), bool)
    known[measured.place[came]] = True
    other[measured.place[came & ((measured.largest > 0) | measured.bad)]] = True
    zeros: Mask = known & ~other
    return zeros


# ----- no gradient -----


def _without(case: Case, leaves: Leaves, dead: list[Leaf]) -> Iterator[LeafFate]:
    if not dead:
        return
    walk = case.walk
    places = [place for leaf in dead for place in leaf.places]
    start = np.zeros(len(walk.ids), bool)
    start[places] = True
    region = walk.above(start, ~leaves.reached | start)
    losses = Losses(case)
    cuts = _cuts_by_leaf(case, losses, dead, region)
    users = _users(case, places)
    ran = ran_paths(case)
    for leaf in dead:
        user = next((case.facts.node(int(walk.ids[users[place]])) for place in leaf.places if place in users), None)
        holders = leaves.holders.get(leaf.storage, set())
        cut = for_holders(case, losses, holders, cuts.get(leaf.storage, []))
        if leaf.requires_grad is False:
            yield LeafFate(leaf, "frozen", user=user)
        elif leaf.places and leaves.refused[leaf.places].any():
            yield LeafFate(leaf, "refused", node=_refusing(case, leaves, leaf), user=user)
        elif cut:
            first, others, known = preferred(case, losses, holders, cut)
            off = switched_off_at(case, first.row, first.site) if first.op.name == "no_grad" else None
            yield LeafFate(leaf, "cut", first, others, known, off, user=user)
        elif user is not None:
            yield LeafFate(leaf, "loose", node=_last(case, leaf, region), user=user)
        elif leaf.name and ran is not None and leaf.layer not in ran:
            yield LeafFate(leaf, "idle")
        else:
            site = reentrant_at(case, leaf.layer) if leaf.name else None
            yield LeafFate(leaf, "unused" if site is None else "reentrant", site=site)


def _users(case: Case, places: list[int]) -> dict[int, int]:
    """The first place that used each of these places."""
    edges = case.walk.edges
    at = np.flatnonzero(np.isin(edges.target, places))
    order = at[np.argsort(edges.source[at], kind="stable")][::-1]
    return dict(zip(edges.target[order].tolist(), edges.source[order].tolist(), strict=True))


def _last(case: Case, leaf: Leaf, region: Mask) -> NodeFact | None:
    """The last node that was computed from a leaf."""
    walk = case.walk
    start = np.zeros(len(region), bool)
    start[leaf.places] = True
    above = walk.above(start, region) & ~start
    return case.facts.node(int(walk.ids[np.flatnonzero(above)[-1]])) if above.any() else None


def _refusing(case: Case, leaves: Leaves, leaf: Leaf) -> NodeFact | None:
    """The node that sent no gradient on the way to a leaf: the nearest above it that was given one."""
    walk = case.walk
    wanted = leaves.given & leaves.reached
    everything = np.ones(len(wanted), bool)
    for place in leaf.places:
        found = walk.nearest_above(place, everything, lambda at: bool(wanted[at]), CUTS)
        if found >= 0:
            return case.facts.node(int(walk.ids[found]))
    return None


# ----- cuts -----


def _cuts_by_leaf(case: Case, losses: Losses, dead: list[Leaf], region: Mask) -> dict[int, list[CutFact]]:
    """The cuts that ended the path of each leaf, by its storage: the likeliest first, then others that may be meant."""
    walk = case.walk
    by_storage = {leaf.storage: leaf for leaf in dead}
    of_place = {place: leaf.storage for leaf in dead for place in leaf.places}
    found: dict[int, list[tuple[int, int, CutFact]]] = {}
    for cut in _cuts(case)[:CUTS]:
        if is_call_of(cut.site, "step"):  # what an optimizer reads to update it
            continue
        place = walk.place(cut.producer) if cut.producer else -1
        shown = is_shown(cut.site)
        rank = _SHOWN if shown else _STRAIGHT_THROUGH if is_straight_through(cut.site) else _RANK.get(cut.op.name, 0)
        if place >= 0 and region[place]:
            start = np.zeros(len(region), bool)
            start[place] = True
            below = np.flatnonzero(walk.below(start, region) & walk.leaves).tolist()
            for storage in {of_place[each] for each in below if each in of_place}:
                if shown and not by_storage[storage].name:
                    continue
                found.setdefault(storage, []).append((rank, -place, cut))
        elif cut.storage in by_storage and (not shown or by_storage[cut.storage].name):
            found.setdefault(cut.storage, []).append((rank, 0, cut))
    return {storage: _in_order(case, losses, cuts) for storage, cuts in found.items()}


def _in_order(case: Case, losses: Losses, ranked: list[tuple[int, int, CutFact]]) -> list[CutFact]:
    """The likeliest cut, and of those that are meant for one loss and not for another, each line once."""
    cuts = [cut for _, _, cut in sorted(ranked, key=lambda each: (each[0], each[1], each[2].row))]
    by_line = {_line(case, each): each for each in reversed(cuts) if not is_shown(each.site)}
    if len(by_line) > 1 and any(each.op.name in _WEIGHED for each in by_line.values()):
        return weighed(case, losses, list(by_line.values())[::-1])
    lines = {(cuts[0].site.file, cuts[0].site.line): cuts[0]}
    for cut in cuts[1:]:
        if cuts[0].op.name in _ON_PURPOSE and cut.op.name in _ON_PURPOSE and not is_shown(cut.site):
            lines.setdefault((cut.site.file, cut.site.line), cut)
    return list(lines.values())


def _line(case: Case, cut: CutFact) -> tuple[object, ...]:
    """The line of a cut, and of the block that switched gradients off where that is what ended the path."""
    off = switched_off_at(case, cut.row, cut.site) if cut.op.name == "no_grad" else None
    return (cut.site.file, cut.site.line, *((off.file, off.line) if off is not None else ()))


def _cuts(case: Case) -> list[CutFact]:
    """Every cut that was told, those of one line, one producer and one block that switched gradients off once."""
    facts = case.facts
    rows = facts.rows(Kind.CUT)
    words = facts.trace.records[rows]
    if not len(rows):
        return []
    blocks = block_words(case, rows)
    _, first = np.unique(words[:, [2, 3, 1]], axis=0, return_index=True)
    _, each_block = np.unique(np.column_stack([words[:, [2, 3, 1]], blocks]), axis=0, return_index=True)
    # A count that is told at the end is in no block.
    told = np.union1d(first, each_block[blocks[each_block] != 0])
    return [_cut(case, row) for row in rows[told].tolist()]


def _cut(case: Case, row: int) -> CutFact:
    _, storage, where, producer, count, *_ = case.facts.words(row)
    site, op = case.facts.site_and_op(where)
    return CutFact(op, site, *unpack_edge(producer), storage, count, row)

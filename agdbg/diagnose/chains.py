"""Running sums whose graph grows: an addition on one line, each on top of the last, that no pass ever goes through."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.source import QUOTE_LIMIT
from agdbg.diagnose.syntax import name_of, read, unparse
from agdbg.diagnose.walk import Mask, Places
from agdbg.events import Kind
from agdbg.record.facts import NodeFact, PassFact
from agdbg.record.lookup import Site

_LOW, _HIGH = np.uint64((1 << 32) - 1), np.uint64(32)
#: Links that make a chain: where passes had run what is added, and where none ever did; there also in how many turns of a loop that
#: calls backward.
LINKS, LINKS_WITHOUT_A_PASS, TURNS = 3, 10, 5
#: The share of what was added that a pass must have run.
SHARE = 0.8


@dataclass(frozen=True)
class Chain:
    """A running sum.

    Attributes:
        site: its line.
        last: its last node.
        links: how many nodes are on top of another one, of the longest where the sum begins anew again and again.
        added: the source of what is added; empty when it is long.
        call: a pass that had run what was added; None when none ever did.
    """

    site: Site
    last: NodeFact
    links: int
    added: str
    call: PassFact | None


def chains(case: Case) -> list[Chain]:
    """The sums that grow, one for each line."""
    walk = case.walk
    edges = walk.edges
    words = walk.made_at[edges.source]
    linking = (words == walk.made_at[edges.target]) & (words & _LOW > 0) & _sums(case)[edges.source]
    if not linking.any():
        return []
    ran = walk.mask(np.unique(case.facts.trace.records[case.facts.rows(Kind.RAN), 1]))
    found = [_chain(case, word, linking & (words == word), ran) for word in np.unique(words[linking]).tolist()]
    return [each for each in found if each is not None]


def _sums(case: Case) -> Mask:
    """Which places are additions."""
    walk = case.walk
    ops = walk.made_at >> _HIGH
    names = [op for op in np.unique(ops).tolist() if case.facts.trace.op(op).name.startswith("AddBackward")]
    found: Mask = np.isin(ops, np.array(names, np.uint64))
    return found


def _chain(case: Case, word: int, linking: Mask, ran: Mask) -> Chain | None:
    walk, edges = case.walk, case.walk.edges
    site, _ = case.facts.site_and_op(word)
    links = np.unique(edges.source[linking])
    if len(links) < LINKS or ran[links].any() or walk.in_pass[links].any():
        return None
    name = _added(site)
    if name is None:
        return None
    beside = np.isin(edges.source, links) & ~linking
    added = np.unique(edges.target[beside])
    last = case.facts.node(int(walk.ids[links[np.argmax(walk.born[links])]]))
    if last is None or not len(added) or _is_used(case, links):
        return None
    known = _ran_below(case, added, ran)
    longest = _longest(case, linking)
    if len(longest) < LINKS:
        return None
    if len(known) >= SHARE * len(added):
        runs = case.facts.passes_of(int(walk.ids[known[-1]]))
        call = case.facts.pass_of(runs[0]) if runs else None
        return Chain(site, last, len(longest), name, call) if call is not None else None
    starts = [each.row for each in case.facts.passes if not each.parent]
    turns = len(np.unique(np.searchsorted(starts, walk.born[longest])))
    many = len(longest) >= LINKS_WITHOUT_A_PASS or turns >= TURNS
    alone = not len(known) and many and came_to_its_end(case, last.row)
    return Chain(site, last, len(longest), name, None) if alone else None


def _longest(case: Case, linking: Mask) -> Places:
    """The longest row of sums, each on top of the one before."""
    edges, below = case.walk.edges, {}
    for source, target in zip(edges.source[linking].tolist(), edges.target[linking].tolist(), strict=True):
        below[source] = target
    length: dict[int, int] = {}
    for source in sorted(below, key=lambda place: int(case.walk.born[place])):
        length[source] = length.get(below[source], 0) + 1
    here = max(length, key=lambda place: length[place])
    found = []
    while here in below:
        found.append(here)
        here = below[here]
    return np.array(found, np.int64)


def came_to_its_end(case: Case, row: int) -> bool:
    """Whether the program went on well after a row: one that was ended may have been about to differentiate the sum."""
    ended = case.facts.trace.meta.get("exit")
    failed = isinstance(ended, dict) and ended.get("uncaught")
    return case.facts.trace.closed and not failed and not any(error.row > row for error in case.facts.errors)


def _ran_below(case: Case, added: Places, ran: Mask) -> Places:
    """Of what is added, or of what that was made from directly (as in ``total += loss * w``), what a pass ran: one for each."""
    edges = case.walk.edges
    made_from = np.isin(edges.source, added) & ran[edges.target] & ~case.walk.leaves[edges.target]
    sources, first = np.unique(edges.source[made_from], return_index=True)
    below = edges.target[made_from][first][~ran[sources]]
    found: Places = np.concatenate([added[ran[added]], below])
    return found


def _is_used(case: Case, links: Places) -> bool:
    """Whether most of the sums went into something else too: a state that is computed with, and no mere account."""
    edges = case.walk.edges
    out = np.isin(edges.target, links) & ~np.isin(edges.source, links)
    return len(np.unique(edges.target[out])) > len(links) // 2


def _added(site: Site) -> str | None:
    """Of ``total += loss`` and ``total = total + loss`` the ``loss``; empty if it is long, None if the line is no such sum."""
    reading = read(site)
    statement = reading.statement if reading is not None else None
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        return _in_front_of_a_dot(statement.value)
    value = statement.value if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(statement, ast.Assign) or not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
        return None
    total, sides = name_of(statement.targets[0]), (value.left, value.right)
    other = next((each for each, beside in (sides, sides[::-1]) if name_of(beside) == total), None) if total else None
    return _in_front_of_a_dot(other) if other is not None else None


def _in_front_of_a_dot(tree: ast.expr) -> str:
    """The source of an expression, in brackets where ``.item()`` behind it needs them; empty when it is too long to quote."""
    text = unparse(ast.Attribute(tree, "item", ast.Load())).removesuffix(".item")
    return text if len(text) <= QUOTE_LIMIT else ""

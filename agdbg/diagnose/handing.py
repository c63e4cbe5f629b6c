"""What really hands a tensor on to the next iteration: an attribute, an item, a generator, or another tensor made from it.

Needs: births and edges; the source of the function.
"""

import ast
from typing import Literal, NamedTuple

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.enclosing import place
from agdbg.diagnose.meeting import Entry, Meeting
from agdbg.diagnose.source import assigned
from agdbg.diagnose.syntax import name_of
from agdbg.record.facts import PassFact
from agdbg.record.lookup import Site

_LOW = np.uint64((1 << 32) - 1)


class Handed(NamedTuple):
    """How a function keeps a tensor.

    ``how``: *state*: its name is an attribute or an item; *stored*: it has a name and is put there, in ``line``; *generator*: the
    function goes on behind the ``yield`` in ``line``. ``name`` is what the next iteration finds it by.
    """

    how: Literal["state", "stored", "generator"]
    name: str
    line: int = 0


def crossing(case: Case, meeting: Meeting, node: int) -> list[Entry]:
    """What the iteration of the second pass took from that of the first one, where that is none of the meeting's entries; on the
    way to a node, or without one all of it.

    A gradient with a graph may carry on what it was computed from: `v = 0.9 * v + g` is handed on, and not what `g` belongs to.
    """
    walk, first = case.walk, meeting.first.row
    reached = walk.below(walk.mask(root for root, _ in meeting.second.roots))
    leading = walk.above(walk.mask([node]), reached) if node else reached
    late, edges = walk.born > first, walk.edges
    at = np.flatnonzero((leading & late)[edges.source] & (leading & ~late & ~walk.leaves)[edges.target])
    targets, where = np.unique(edges.target[at], return_index=True)
    found = []
    for index in np.argsort(walk.born[targets])[::-1].tolist():
        made, edge = case.facts.node(int(walk.ids[targets[index]])), at[where[index]]
        if made is not None:
            found.append(Entry(made, case.facts.node(int(walk.ids[edges.source[edge]])), int(edges.index[edge])))
    return found


def handed(site: Site, name: str) -> Handed | None:
    """How the function around a site keeps what is called ``name`` there; None when the source does not say."""
    function = place(site).function
    if not isinstance(function, ast.FunctionDef) or not name:
        return None
    if not name.isidentifier():
        return Handed("state", name)
    for each in ast.walk(function):
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Name) and each.value.id == name:
            kept = next((t for t in each.targets if isinstance(t, ast.Attribute | ast.Subscript) and name_of(t)), None)
            if kept is not None:
                return Handed("stored", name_of(kept), each.lineno)
    waits = next((each for each in ast.walk(function) if isinstance(each, ast.Yield)), None)
    return Handed("generator", name, waits.lineno) if waits is not None else None


def is_of_module(site: Site, name: str) -> bool:
    """Whether what ``name`` begins with is no variable of the function around a site: the whole file can reach it."""
    function = place(site).function
    root = name.partition(".")[0].partition("[")[0]
    if not isinstance(function, ast.FunctionDef):
        return False
    inside = list(ast.walk(function))
    own = {each.arg for each in inside if isinstance(each, ast.arg)}
    own |= {each.id for each in inside if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    outside = place(site).around
    nested = sum(isinstance(each, ast.FunctionDef | ast.Lambda) for each in outside) > 1
    return root not in own and not nested


def crossed(case: Case, first: PassFact, second: PassFact) -> list[int]:
    """The places that a pass takes from before another one, leaves aside: what one iteration hands to the next."""
    walk, edges = case.walk, case.walk.edges
    reached = walk.below(walk.mask(root for root, _ in second.roots))
    late = walk.born > first.row
    crossing = (reached & late)[edges.source] & (~late & ~walk.leaves & (walk.born >= 0))[edges.target]
    found: list[int] = np.unique(edges.target[crossing]).tolist()
    return found


def ran_once(case: Case, entry: Entry, first: int, until: int) -> bool:
    """Whether the line that made an entry ran once since the row of the first pass: of the ops of one run of it some come once."""
    return _runs(case, entry, first, until) == 1


def _runs(case: Case, entry: Entry, first: int, until: int) -> int:
    walk = case.walk
    place_of = walk.place(entry.node.id)
    line = walk.made_at[place_of] & _LOW
    since = (walk.born > first) & (walk.born < until) & (walk.in_pass == walk.in_pass[place_of])
    words = walk.made_at[since & ((walk.made_at & _LOW) == line)]
    return int(np.unique(words, return_counts=True)[1].min()) if len(words) else 0


def kept_name(entry: Entry, name: str) -> str:
    """The name on the line that made it when that is an attribute or an item, else the name by which it is known."""
    made = assigned(entry.node.site)
    return made if made and not made.isidentifier() else name

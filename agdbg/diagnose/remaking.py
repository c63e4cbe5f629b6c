"""What must run again so that a graph that was freed is made anew, and whether those lines can move into a loop.

Needs: births and edges, RAN; the source. Lines are named only where all that was freed was made by lines of one function.
"""

import ast
from collections.abc import Iterator

import numpy as np

from agdbg.diagnose.carriers import LOOP
from agdbg.diagnose.case import Case
from agdbg.diagnose.enclosing import Scope, function_of, module_of, place
from agdbg.diagnose.meeting import Meeting
from agdbg.diagnose.source import called
from agdbg.record.lookup import Site

#: Calls that give something else each time.
_TAKING = {
    "next",
    "pop",
    "popleft",
    "popitem",
    "get",
    "read",
    "readline",
    "sample",
    "rsample",
    "choice",
    "shuffle",
    "input",
}


def freed_sites(case: Case, meeting: Meeting) -> list[Site]:
    """Where the program made what the first pass freed and the second needs, in the order in which it was made."""
    walk = case.walk
    reached = walk.below(walk.mask(root for root, _ in meeting.second.roots))
    ran = walk.mask(case.facts.ran(meeting.first.id))
    freed = reached & ran & walk.saving & ~walk.leaves & (walk.born >= 0)
    places = np.flatnonzero(freed)
    words = dict.fromkeys(walk.made_at[places[np.argsort(walk.born[places])]].tolist())
    return list(dict.fromkeys(case.facts.site_and_op(int(word))[0] for word in words))


def first_line(case: Case, meeting: Meeting, made: Site) -> int:
    """The line of the function around a site from which on all must run again; that of the site when it is not known."""
    here = (made.file, function_of(made))
    mine = [each.line for each in freed_sites(case, meeting) if (each.file, function_of(each)) == here]
    return min([made.line, *(each for each in mine if each)])


def moved_into_loop(case: Case, meeting: Meeting) -> list[int]:
    """The lines that can move into the loop around the second call, where they make anew what was freed; empty if none can."""
    call, sites = meeting.second.site, freed_sites(case, meeting)
    here, tree = place(call), module_of(call.file)
    if not here.known or tree is None or not sites:
        return []
    if any((each.file, function_of(each)) != (call.file, function_of(call)) for each in sites):
        return []
    around = here.around
    at = next((index for index in range(len(around) - 1, -1, -1) if isinstance(around[index], (Scope, *LOOP))), -1)
    loop = around[at] if at >= 0 else None
    if not isinstance(loop, LOOP):
        return []
    blocks = [block for outer in (tree, *around[:at]) for block in _blocks(outer)]
    found = _whole_lines(_made_between(blocks, sites, loop), blocks)
    if found is None or not all(any(holds(each, site) for each in found) for site in sites):
        return []
    return sorted({each.lineno for each in found}) if _may_move(found, loop, here.function or tree) else []


def _blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse", "finalbody"):
        block = getattr(tree, field, None)
        if isinstance(block, list):
            yield block


def _made_between(blocks: list[list[ast.stmt]], sites: list[Site], loop: ast.stmt) -> list[ast.stmt]:
    """The statements before a loop that made something, and those between that hand it on: of each block around the loop."""
    every = sorted(
        (each for block in blocks for each in block if (each.end_lineno or each.lineno) < loop.lineno),
        key=lambda each: (each.lineno, each.col_offset),
    )
    found: list[ast.stmt] = []
    stored: set[str] = set()
    for each in every:
        made = any(holds(each, site) for site in sites)
        if made or (isinstance(each, ast.Assign | ast.AugAssign | ast.AnnAssign) and names(each, ast.Load) & stored):
            found.append(each)
            stored |= names(each, ast.Store)
    return found


def _whole_lines(found: list[ast.stmt], blocks: list[list[ast.stmt]]) -> list[ast.stmt] | None:
    """The same with what else stands on their lines; None where something there is no plain assignment."""
    lines = {each.lineno for each in found}
    whole = [each for block in blocks for each in block if each.lineno in lines]
    plain = all(isinstance(each, ast.Assign | ast.AnnAssign) and each.lineno == each.end_lineno for each in whole)
    return whole if plain and whole else None


def _may_move(moved: list[ast.stmt], loop: ast.stmt, scope: ast.AST) -> bool:
    """Whether all that reads what some lines make is in the loop or behind it, and the loop changes nothing that they read."""
    made = {name for each in moved for name in names(each, ast.Store)}
    read = {name for each in moved for name in names(each, ast.Load)}
    if any(_draws(each) for each in moved):
        return False
    if any(_is_stored_into(target) for each in moved for target in getattr(each, "targets", [])):
        return False
    head = [part for field in ("iter", "test") if (part := getattr(loop, field, None)) is not None]
    if any(names(each, ast.Load) & made for each in head) or names(loop, ast.Store) & (made | read):
        return False
    start, inside = min(each.lineno for each in moved), {id(part) for each in moved for part in ast.walk(each)}
    return not any(
        isinstance(each, ast.Name) and each.id in made and id(each) not in inside and start <= each.lineno < loop.lineno
        for each in ast.walk(scope)
    )


def _draws(tree: ast.stmt) -> bool:
    """Whether a statement gives something else when it runs again: it takes the next batch, or random numbers."""
    names = [called(each) for each in ast.walk(tree) if isinstance(each, ast.Call)]
    return any(name in _TAKING or name.startswith(("rand", "normal", "bernoulli", "multinomial")) for name in names)


def _is_stored_into(target: ast.expr) -> bool:
    """Whether a target is a part of something else: an item, an attribute."""
    return any(isinstance(each, ast.Subscript | ast.Attribute) for each in ast.walk(target))


def names(tree: ast.AST, context: type[ast.expr_context]) -> set[str]:
    """The variables that a part of the source reads, or gives a value."""
    return {each.id for each in ast.walk(tree) if isinstance(each, ast.Name) and isinstance(each.ctx, context)}


def holds(statement: ast.stmt, site: Site) -> bool:
    """Whether a site is in a statement: by its columns where it has some."""
    start, end = statement.lineno, statement.end_lineno or statement.lineno
    if not start <= site.line <= end or isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    if start != end or site.col < 0:
        return True
    return statement.col_offset <= site.col and site.end_col <= (statement.end_col_offset or site.end_col)

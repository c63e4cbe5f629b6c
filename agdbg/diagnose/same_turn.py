"""Whether two calls belong to one turn of a loop, or to one run of a function: then no turn handed anything on to the other.

Needs: the order of births and passes; the source. Where the source cannot be read it is not known, and the answer is no.
"""

import ast

import numpy as np

from agdbg.diagnose.carriers import LOOP
from agdbg.diagnose.case import Case
from agdbg.diagnose.enclosing import COMPREHENSIONS, Place, Scope, place
from agdbg.diagnose.source import called
from agdbg.record.facts import PassFact

_MAYBE = (ast.If, ast.IfExp, ast.Try, ast.Match, ast.BoolOp, *LOOP, *COMPREHENSIONS)
_Path = tuple[ast.AST, ...]


def in_same_turn(case: Case, first: PassFact, second: PassFact) -> bool:
    """Whether the second call is known to have come in the turn of the first one, in the innermost loop that both are in."""
    one, other = place(first.site), place(second.site)
    if not one.known or not other.known or first.site.file != second.site.file:
        return False
    path = one.around if one.function is other.function else _calling(other, one)
    shared = _shared(path, other.around)
    before, behind = path[len(shared) :], other.around[len(shared) :]
    if not before or not behind or not _follows(shared, before[0], behind[0]):
        return False
    again = _passes_since(case, first, second)
    if second.site in again:
        return False
    turn = next((each for each in reversed(shared) if isinstance(each, (Scope, *LOOP))), None)
    sure = not any(isinstance(each, (*_MAYBE, Scope)) for each in behind)
    if sure and turn is not None:
        below = shared[shared.index(turn) + 1 :]
        sure = not any(isinstance(each, _MAYBE) for each in below) and not _goes_on(turn)
    return sure or (first.site not in again and _ran_before_alone(case, first, second, turn, before[0]))


def _calling(here: Place, there: Place) -> _Path:
    """The path to the one statement around a call that calls the function of another place; empty when there are more."""
    name = there.function.name if isinstance(there.function, ast.FunctionDef) else ""
    outer = [each for each in here.around if isinstance(each, (Scope, *LOOP))]
    if not name or not outer:
        return ()
    body = [each for each in ast.walk(outer[-1]) if isinstance(each, ast.Call) and called(each) == name]
    if len(body) != 1:
        return ()
    found = _path_to(outer[-1], body[0])
    return (*here.around[: here.around.index(outer[-1])], *found)


def _path_to(tree: ast.AST, wanted: ast.AST) -> _Path:
    if tree is wanted:
        return (tree,)
    for each in ast.iter_child_nodes(tree):
        found = _path_to(each, wanted)
        if found:
            return (tree, *found)
    return ()


def _shared(one: _Path, other: _Path) -> _Path:
    count = 0
    while count < min(len(one), len(other)) and one[count] is other[count]:
        count += 1
    return one[:count]


def _follows(shared: _Path, one: ast.AST, other: ast.AST) -> bool:
    """Whether two statements are of one block, the other behind the one."""
    if not isinstance(one, ast.stmt) or not isinstance(other, ast.stmt):
        return False
    blocks = [part for each in shared[-1:] for part in vars(each).values() if isinstance(part, list)]
    together = not shared or any(one in block and other in block for block in blocks)
    return together and (one.lineno, one.col_offset) < (other.lineno, other.col_offset)


def _passes_since(case: Case, first: PassFact, second: PassFact) -> set[object]:
    return {each.site for each in case.facts.passes if first.row < each.row < second.row}


def _goes_on(turn: ast.AST) -> bool:
    """Whether a turn may end before its end."""
    return any(isinstance(each, ast.Continue) for each in ast.walk(turn))


def _ran_before_alone(case: Case, first: PassFact, second: PassFact, turn: ast.AST | None, statement: ast.AST) -> bool:
    """Whether a line of the loop before the statement of the first call ran before it, and none of them since."""
    walk, begins = case.walk, getattr(turn, "lineno", 0)
    sooner = (walk.born >= 0) & (walk.born < first.row)
    since = (walk.born > first.row) & (walk.born < second.row)

    def ran(which: np.ndarray) -> bool:
        sites = (case.facts.site_and_op(int(word))[0] for word in np.unique(walk.made_at[which]))
        file = first.site.file
        return any(each.file == file and begins < each.line < getattr(statement, "lineno", 0) for each in sites)

    return turn is not None and ran(sooner) and not ran(since)

"""The lists and dicts that an inner loop, or a comprehension, fills in every turn of a loop and that the next turn reads:
``hs`` of ``for i, layer in enumerate(layers): hs[i] = layer(x, hs[i])``.

One item of them has a name inside of the inner loop alone, so the whole is what is to be detached. Needs the source alone.
"""

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass, replace

from agdbg.diagnose.carriers import LOOP, calls_in, exposed, is_call_of, loops, statements_in, stored_by
from agdbg.diagnose.collected import PUTTING, bank_of, sources
from agdbg.diagnose.enclosing import COMPREHENSIONS, Scope, function_of, module_of, place, site_of
from agdbg.diagnose.syntax import name_of
from agdbg.record.lookup import Site

_DEFINED_HERE = (ast.FunctionDef, ast.AsyncFunctionDef)
_DECLARED = ast.Global | ast.Nonlocal
#: How many names are followed from one to the next.
STEPS = 3


@dataclass(frozen=True)
class Filled:
    """What an inner loop fills.

    Attributes:
        names: how it is called in the loop, or in the function, whose turn it is.
        by: the call in that loop which leads to the call of backward; None when that is the call itself.
        in_loop: whether the turn is one of a loop; else it is a run of the function around the line.
        depth: how many loops there are inside of the turn.
        parameters: those of the names that are parameters of the function, none for a loop.
    """

    names: tuple[str, ...]
    by: Site | None
    in_loop: bool
    depth: int
    parameters: tuple[str, ...] = ()


def filled(made: Site, consumer: Site | None, call: Site) -> Filled | None:
    """What the inner loop around a line fills, in the loop whose turns call backward; None when nothing of it is kept."""
    here = place(made)
    statement = here.statement
    if not here.known or statement is None:
        return None
    body, by = _turn(made, call, here.function)
    if body is None:
        return None
    at = next((index for index, each in enumerate(here.around) if each is body), len(here.around))
    inner = [each for each in here.around[at + 1 :] if isinstance(each, (*LOOP, *COMPREHENSIONS))]
    if not inner:
        return None
    names = _kept(body, statement)
    in_loop = isinstance(body, LOOP)
    if not in_loop:  # what a function gives a variable of its own is gone with its run
        own = _stored(body) - {name for each in ast.walk(body) if isinstance(each, _DECLARED) for name in each.names}
        names = [each for each in names if each not in own]
    used = place(consumer).statement if consumer is not None and consumer.func == made.func else None
    read = sources(body, used) if used is not None else set()
    names = [each for each in names if each in read] or names
    if not names:
        return None
    given = set() if in_loop else {each.arg for each in ast.walk(body) if isinstance(each, ast.arg)}
    return Filled(tuple(names), by, in_loop, len(inner), tuple(each for each in names if each in given))


def filled_by(made: Site, call: Site, steps: int = STEPS) -> tuple[Site, Filled] | None:
    """The same where an inner loop calls the function around a line: ``hs[i] = cell(x, hs[i])``; with the place of that call.

    None when no such call is known, or when several are that fill something else each.
    """
    tree = module_of(call.file)
    if tree is None or not steps or function_of(made) in ("", "<module>"):
        return None
    found: list[tuple[Site, Filled]] = []
    for path in calls_in(tree):
        each = path[-1]
        if not isinstance(each, ast.Call) or not (is_call_of(tree, each, made) or _may_call(tree, each, made)):
            continue
        there = replace(site_of(call, each), func=_qualified(path))
        here = filled(there, None, call) if there.end_col >= 0 else None
        one = (there, here) if here is not None else filled_by(there, call, steps - 1)
        found += [one] if one is not None else []
    return found[0] if len({each.names for _, each in found}) == 1 else None


def _may_call(tree: ast.Module, call: ast.Call, made: Site) -> bool:
    """Whether a call may be one of an object whose method is around a line: of a variable or item whose class is not written."""
    parts = function_of(made).split(".")
    if len(parts) < 2 or parts[-1] not in ("forward", "__call__"):
        return False
    func = call.func
    root = name_of(func).partition(".")[0].partition("[")[0]
    inside = list(ast.walk(tree))
    defined = {each.name for each in inside if isinstance(each, (*_DEFINED_HERE, ast.ClassDef))}
    imported = {
        (alias.asname or alias.name).partition(".")[0]
        for each in inside
        if isinstance(each, ast.Import | ast.ImportFrom)
        for alias in each.names
    }
    known = defined | imported | set(dir(builtins))
    return bool(root) and root not in known and (not isinstance(func, ast.Attribute) or root == "self")


def _qualified(path: tuple[ast.AST, ...]) -> str:
    names = [each.name for each in path if isinstance(each, (*_DEFINED_HERE, ast.ClassDef))]
    inside = any(isinstance(each, Scope) for each in path)
    return ".".join(names) if inside else "<module>"


def _turn(made: Site, call: Site, function: ast.AST | None) -> tuple[ast.stmt | None, Site | None]:
    """The loop around a line whose turns call backward, with the call in it that leads there; else the function around the line."""
    tree = module_of(call.file) if call.file == made.file else None
    around = place(made).around
    for loop, _, by in loops(tree, call) if tree is not None else ():
        at = next((index for index, each in enumerate(around) if each is loop), None)
        if at is not None and not any(isinstance(each, Scope) for each in around[at:]):
            return loop, site_of(call, by) if by is not None else None
    return (function if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) else None), None


def _kept(body: ast.stmt, statement: ast.stmt) -> list[str]:
    """The names that hold what a statement makes and that the next turn reads before it gives them anything."""
    inside = list(statements_in(body))
    variables = _variables(inside)
    held = dict.fromkeys(_holding(statement, None))
    for _ in range(STEPS):
        for each in inside:
            held |= dict.fromkeys(name for one in list(held) for name in _holding(each, one))
    whole = dict.fromkeys(_whole(name, variables) for name in held)
    read = exposed(body)
    return [name for name in whole if name and name in read]


def _holding(statement: ast.stmt, name: str | None) -> Iterator[str]:
    """What holds the bare name when a statement has run; without a name what holds all that it makes."""
    if name is None:
        yield from stored_by(statement)
        value = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in PUTTING:
            yield name_of(value.func.value)
    elif bank := bank_of(statement, name):
        yield from stored_by(statement) if isinstance(statement, ast.Assign) else [bank]


def _variables(inside: list[ast.stmt]) -> set[str]:
    """The names that the loops among some statements give a value: outside of them they mean the last one, or nothing."""
    return {name for each in inside if isinstance(each, LOOP) for name in _stored(each)}


def _stored(tree: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(tree) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def _whole(name: str, variables: set[str]) -> str:
    """Of ``hs[i]``, where an inner loop has the variable ``i``, the ``hs``; the name itself where it means the same outside."""
    tree = ast.parse(name, mode="eval").body
    found, below = tree, tree
    while isinstance(below, ast.Attribute | ast.Subscript):
        index = list(ast.walk(below.slice)) if isinstance(below, ast.Subscript) else []
        if any(isinstance(each, ast.Name) and each.id in variables for each in index):
            found = below.value
        below = below.value
    return name_of(found)

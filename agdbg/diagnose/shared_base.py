"""What a written name is a view of, or another name for: a new tensor under that name would leave it as it was."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from agdbg.diagnose.case import Case
from agdbg.diagnose.enclosing import Place, Scope, module_of, place
from agdbg.diagnose.syntax import name_of
from agdbg.diagnose.views import view_sites
from agdbg.record.facts import BumpFact
from agdbg.record.lookup import Site

#: A line and a column.
_Spot = tuple[int, int]
#: How many names are followed from one to the next.
STEPS = 8
_SAME = ("data", "detach")
_SHAPED = ("T", "mT", "H", "mH", "real", "imag")


@dataclass(frozen=True)
class Base:
    """What is written through another name.

    Attributes:
        name: the base, as the source has it.
        line: clone it before this line, and what is written is a view of the clone.
        whose: the function's own, its caller's, or that of a function around or of the module.
        is_part: whether the written name is a view; else it is another name.
    """

    name: str
    line: int
    whose: Literal["own", "caller", "outer"]
    is_part: bool


def shared_base(case: Case, written: BumpFact, target: str) -> Base | None:
    """What ``target``, written there, shares its memory with and what is used later; None when there is nothing like that."""
    site = written.site
    here = place(site)
    scope = here.function if here.function is not None else module_of(site.file)
    if not here.known or scope is None or isinstance(scope, ast.Lambda) or not target.isidentifier():
        return None
    mine, views = (
        list(_own(scope)),
        {each.line for each in view_sites(case, written.storage, written.row) if each.file == site.file},
    )
    begin, end = _bounds(here, site)
    name, line, before, chain, is_part, imported = target, site.line, begin, [], False, _imported(site)
    for _ in range(STEPS):
        made = _made(mine, name, before)
        base, is_view = _viewed(made.value, views, imported) if made is not None else ("", False)
        if made is None or not base or base == name:
            break
        is_part |= is_view
        name, line, before = base, made.lineno, _at(made)
        chain.append(base)
    if not any(_matters(mine, scope, each, target, end, here) for each in chain):
        return None
    return Base(name, _before(here, mine, name, line), _whose(scope, mine, name), is_part)


def _bounds(here: Place, site: Site) -> tuple[_Spot, _Spot]:
    """Where the statement of a write begins and ends: others may stand on its line."""
    found = here.statement
    if found is None:
        return (site.line, 0), (site.line, sys.maxsize)
    return _at(found), (found.end_lineno or found.lineno, found.end_col_offset or 0)


def _at(tree: ast.AST) -> _Spot:
    return getattr(tree, "lineno", 0), getattr(tree, "col_offset", 0)


def _own(scope: Scope | ast.Module) -> Iterator[ast.AST]:
    """The nodes of a function or module, without those of the functions and classes in it."""
    todo: list[ast.AST] = list(scope.body) if isinstance(scope.body, list) else [scope.body]
    while todo:
        each = todo.pop()
        yield each
        if not isinstance(each, Scope | ast.ClassDef):
            todo.extend(ast.iter_child_nodes(each))


def _made(mine: list[ast.AST], name: str, before: _Spot) -> ast.Assign | None:
    """The last assignment to a name before a place; None where something else gives it its value."""
    stores = [each for each in mine if _is(each, name, ast.Store) and _at(each) < before]
    last = max(stores, key=_at, default=None)
    found = (each for each in mine if isinstance(each, ast.Assign) and len(each.targets) == 1)
    return next((each for each in found if any(part is last for part in ast.walk(each.targets[0]))), None)


def _is(tree: ast.AST, name: str, how: type[ast.expr_context]) -> bool:
    return isinstance(tree, ast.Name | ast.Attribute) and isinstance(tree.ctx, how) and name_of(tree) == name


def _viewed(value: ast.expr, views: set[int], imported: set[str]) -> tuple[str, bool]:
    """The name of what a value is a view of, as the trace saw it, or the same as; and whether it is a view."""
    below, seen, is_view = value, value.lineno in views, False
    while True:
        method = below.func if isinstance(below, ast.Call) and isinstance(below.func, ast.Attribute) else below
        if isinstance(method, ast.Attribute) and method.attr in _SAME:
            below = method.value
            continue
        if not seen or not isinstance(below, ast.Call | ast.Subscript | ast.Attribute):
            return ("", False) if isinstance(below, ast.Call) else (name_of(below), is_view)
        if isinstance(below, ast.Call):
            is_method = isinstance(method, ast.Attribute) and name_of(method.value).partition(".")[0] not in imported
            given = method.value if is_method and isinstance(method, ast.Attribute) else next(iter(below.args), None)
            if given is None:
                return "", False
            below, is_view = given, True
        elif isinstance(below, ast.Subscript) or below.attr in _SHAPED:
            below, is_view = below.value, True
        else:
            return name_of(below), is_view


def _imported(site: Site) -> set[str]:
    tree = module_of(site.file)
    made = [each for each in ast.walk(tree) if isinstance(each, ast.Import | ast.ImportFrom)] if tree else []
    return {(each.asname or each.name).partition(".")[0] for one in made for each in one.names}


def _matters(mine: list[ast.AST], scope: Scope | ast.Module, base: str, target: str, end: _Spot, here: Place) -> bool:
    """Whether the base is used after a write, before it is given another value."""
    if _used(mine, base, end):
        return True
    if any(isinstance(each, ast.For | ast.While) and _goes_round(each, base) for each in here.around):
        return True
    whose = _whose(scope, mine, base)
    if whose == "own" and "." not in base:
        return False
    if any(_is(each, base, ast.Store) and _at(each) >= end for each in mine):
        return False
    returns = any(isinstance(each, ast.Return) and each.value is not None and _at(each) >= end for each in mine)
    return not (whose == "caller" and returns and _used(mine, target, end))


def _used(mine: list[ast.AST], name: str, end: _Spot) -> bool:
    """Whether a name is read behind a place, before it is assigned."""
    augmented = {id(each.target) for each in mine if isinstance(each, ast.AugAssign)}
    names = [each for each in mine if isinstance(each, ast.Name | ast.Attribute) and name_of(each) == name]
    after = [each for each in names if _at(each) >= end]
    first = min(after, key=lambda each: (each.lineno, isinstance(each.ctx, ast.Store)), default=None)
    return first is not None and (isinstance(first.ctx, ast.Load) or id(first) in augmented)


def _goes_round(loop: ast.For | ast.While, base: str) -> bool:
    """Whether the next turn of a loop reads the base, for more than to write to another part of it."""
    names = [part for each in loop.body for part in ast.walk(each) if isinstance(part, ast.Name | ast.Attribute)]
    reads = [each for each in names if name_of(each) == base]
    return bool(reads) and not any(isinstance(each.ctx, ast.Store) for each in reads)


def _whose(scope: Scope | ast.Module, mine: list[ast.AST], name: str) -> Literal["own", "caller", "outer"]:
    root = name.partition(".")[0]
    if isinstance(scope, ast.Module) or "." in name:
        return "own"
    if any(isinstance(each, ast.Global | ast.Nonlocal) and name in each.names for each in mine):
        return "own"
    if any(_is(each, root, ast.Store) for each in mine):
        return "own"
    arguments = {each.arg for each in ast.walk(scope.args) if isinstance(each, ast.arg)}
    return "caller" if root in arguments else "outer"


def _before(here: Place, mine: list[ast.AST], name: str, line: int) -> int:
    """The line of the outermost loop around a line that does not give the name a value in each turn; else the line."""
    own = {id(each) for each in mine}
    loops = [each for each in here.around if isinstance(each, ast.For | ast.While) and id(each) in own]
    around = [each for each in loops if each.lineno <= line <= (each.end_lineno or 0)]
    kept = (each for each in around if not any(_is(part, name, ast.Store) for part in ast.walk(each)))
    return next((each.lineno for each in kept), line)

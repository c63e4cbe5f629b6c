"""Where a write stands: in whose function, as a statement of its own or as a value, and to whose variable.

The source file is read where it is still there and still says what the trace says; without it the trace's line and
the name of the function have to do.
"""

import ast
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from agdbg.diagnose.syntax import name_of, read, unparse
from agdbg.record.lookup import Site

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_NAMELESS = ("<lambda>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")

#: What assigning the new tensor to the written name does: ``rebind`` is right; ``value``: the write is no
#: statement, so nothing can be assigned there; ``outer``: the name is an outer function's; ``element``: it is a loop
#: variable; ``helper``: it is the caller's tensor, and the caller would not see the new one.
Owner = Literal["rebind", "value", "outer", "element", "helper"]


@dataclass(frozen=True)
class Place:
    """The tree around a write, from the outside to the inside; ``known``: it was read from the file."""

    around: tuple[ast.AST, ...]
    known: bool

    @property
    def function(self) -> Scope | None:
        """The innermost function; None at module level, or when the file was not read."""
        return next((each for each in reversed(self.around) if isinstance(each, Scope)), None)

    @property
    def statement(self) -> ast.stmt | None:
        """The innermost statement."""
        return next((each for each in reversed(self.around) if isinstance(each, ast.stmt)), None)

    @property
    def comprehension(self) -> ast.AST | None:
        """The innermost comprehension of the innermost statement."""
        for each in reversed(self.around):
            if isinstance(each, ast.stmt | ast.Lambda):
                return None
            if isinstance(each, _COMPREHENSIONS):
                return each
        return None


def place(site: Site) -> Place:
    """The place of a site."""
    tree = _module(site.file) if site.line else None
    if tree is not None and linecache.getline(site.file, site.line).strip() == site.text.strip():
        start, end = (site.line, site.col), (site.end_line or site.line, site.end_col)
        return Place(tuple(_path(tree, start, end)), True)
    reading = read(site)
    if reading is None:
        return Place((), False)
    parents = {id(child): each for each in ast.walk(reading.statement) for child in ast.iter_child_nodes(each)}
    around: list[ast.AST] = [reading.found or reading.statement]
    while around[-1] is not reading.statement and id(around[-1]) in parents:
        around.append(parents[id(around[-1])])
    return Place(tuple(reversed(around)), False)


@lru_cache(maxsize=32)
def _module(file: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _path(tree: ast.AST, start: tuple[int, int], end: tuple[int, int]) -> Iterator[ast.AST]:
    """The nodes around a span; without columns the statements around a line."""
    here: ast.AST | None = tree
    while here is not None:
        here = next((each for each in _children(here) if _spans(each, start, end)), None)
        if here is not None:
            yield here


def _children(tree: ast.AST) -> Iterator[ast.AST]:
    """The children, and instead of those without a position their children."""
    for each in ast.iter_child_nodes(tree):
        if hasattr(each, "lineno"):
            yield each
        else:
            yield from _children(each)


def _spans(tree: ast.AST, start: tuple[int, int], end: tuple[int, int]) -> bool:
    line, col = getattr(tree, "lineno", 0), getattr(tree, "col_offset", 0)
    end_line, end_col = getattr(tree, "end_lineno", 0), getattr(tree, "end_col_offset", 0)
    if start[1] < 0:
        return isinstance(tree, ast.stmt | ast.ExceptHandler) and line <= start[0] <= end_line
    return (line, col) <= start and end <= (end_line, end_col)


# ----- whose variable it is -----


def owner(site: Site, target: str, made: Site) -> Owner:
    """What it does to assign to ``target`` at a write; ``made`` is the line that saved the tensor."""
    here = place(site)
    if not _is_statement(site, here):
        return "value"
    if not target.isidentifier():
        return "rebind"
    if not here.known:
        own = site.func in ("", "<module>") or (site.file, site.func) == (made.file, made.func)
        return "rebind" if own else "helper"
    function = here.function
    if _loops_over(here, target):
        return "element"
    return "rebind" if function is None else _in_function(function, target, site.line)


def _is_statement(site: Site, here: Place) -> bool:
    if site.func.endswith(_NAMELESS) or here.comprehension is not None or isinstance(here.function, ast.Lambda):
        return False
    statement = here.statement
    if not isinstance(statement, ast.Expr):
        return statement is None or isinstance(statement, ast.AugAssign) or not _calls(here)
    below: ast.expr = statement.value
    while isinstance(below, ast.Call) and isinstance(below.func, ast.Attribute):
        if below is here.around[-1] or below.func is here.around[-1]:
            return True
        below = below.func.value
    return not _calls(here) or here.around[-1] in (statement, statement.value)


def _calls(here: Place) -> bool:
    return isinstance(here.around[-1], ast.Call | ast.Attribute) if here.around else False


def _loops_over(here: Place, target: str) -> bool:
    """Whether a loop around the write, in its function, gives the name its values."""
    for each in reversed(here.around):
        if isinstance(each, Scope):
            return False
        if isinstance(each, ast.For | ast.AsyncFor) and target in _bound(each.target):
            return True
    return False


def _bound(tree: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}


def _in_function(function: Scope, target: str, line: int) -> Owner:
    mine = list(_own(function))
    if any(isinstance(each, ast.Global | ast.Nonlocal) and target in each.names for each in mine):
        return "rebind"
    names = [each for each in mine if isinstance(each, ast.Name) and each.id == target]
    augmented = {id(each.target) for each in mine if isinstance(each, ast.AugAssign)}
    assigned = any(isinstance(each.ctx, ast.Store) and id(each) not in augmented for each in names)
    arguments = [each for each in ast.walk(function.args) if isinstance(each, ast.arg)]
    if assigned:
        return "rebind"
    if target not in {each.arg for each in arguments}:
        return "outer"
    returns = any(isinstance(each, ast.Return) and each.value is not None and each.lineno > line for each in mine)
    used = any(isinstance(each.ctx, ast.Load) and each.lineno > line for each in names)
    return "rebind" if returns and used else "helper"


def _own(function: Scope) -> Iterator[ast.AST]:
    """The nodes of a function's body, without those of the functions in it."""
    body = function.body
    todo: list[ast.AST] = list(body) if isinstance(body, list) else [body]
    while todo:
        each = todo.pop()
        yield each
        if not isinstance(each, Scope | ast.ClassDef):
            todo.extend(ast.iter_child_nodes(each))


def declared(site: Site, name: str) -> str:
    """``nonlocal`` or ``global``: what a function must say before it can assign an outer name."""
    scopes = [each for each in place(site).around if isinstance(each, Scope)][:-1]
    outer = any(_in_function(each, name, 0) in ("rebind", "helper") for each in scopes)
    return "nonlocal" if outer else "global"


def rebuilt(site: Site, value: str) -> str:
    """Of ``[a.mul_(2) for a in acts]`` as a statement ``acts = [a.mul(2) for a in acts]``; else empty."""
    here = place(site)
    made, statement = here.comprehension, here.statement
    if not isinstance(made, ast.ListComp) or not isinstance(statement, ast.Expr) or statement.value is not made:
        return ""
    over = name_of(made.generators[0].iter)
    if len(made.generators) > 1 or made.generators[0].ifs or not over or made.elt is not here.around[-1]:
        return ""
    return f"{over} = [{value} for {unparse(made.generators[0].target)} in {over}]"

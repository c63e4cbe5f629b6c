"""Whose variable a write in place is to, and so whether assigning the new tensor to its name would do the same."""

import ast
from collections.abc import Iterator
from typing import Literal

from agdbg.diagnose.enclosing import COMPREHENSIONS, Place, Scope, place
from agdbg.diagnose.syntax import name_of, unparse
from agdbg.record.lookup import Site

_NAMELESS = ("<lambda>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")

#: What assigning the new tensor to the written name does: ``rebind`` is right; ``value``: the write is no
#: statement, so nothing can be assigned there; ``outer``: the name is an outer function's; ``element``: it is a loop
#: variable; ``helper``: it is the caller's tensor, and the caller would not see the new one.
Owner = Literal["rebind", "value", "outer", "element", "helper"]


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
    if _loops_over(here, target, site.line):
        return "element"
    return "rebind" if function is None else _in_function(function, target, site.line)


def _is_statement(site: Site, here: Place) -> bool:
    if site.func.endswith(_NAMELESS) or here.comprehension is not None or isinstance(here.function, ast.Lambda):
        return False
    statement = here.statement
    if statement is not None and here.around[-1] is statement and not isinstance(statement, ast.AugAssign):
        return not any(isinstance(each, _hiding(statement)) for each in ast.walk(statement))
    if not isinstance(statement, ast.Expr):
        return not _calls(here)
    below: ast.expr = statement.value
    while isinstance(below, ast.Call) and isinstance(below.func, ast.Attribute):
        if below is here.around[-1] or below.func is here.around[-1]:
            return True
        below = below.func.value
    return not _calls(here) or here.around[-1] in (statement, statement.value)


def _hiding(statement: ast.stmt) -> tuple[type[ast.AST], ...]:
    """What a write may stand inside of when no columns say where in its statement it is."""
    inner = (*COMPREHENSIONS, ast.Lambda)
    return inner if isinstance(statement, ast.Expr) else (*inner, ast.Call)


def _calls(here: Place) -> bool:
    return isinstance(here.around[-1], ast.Call | ast.Attribute) if here.around else False


def _loops_over(here: Place, target: str, line: int) -> bool:
    """Whether a loop around the write, in its function, gives the name its values and does not use them after it."""
    for each in reversed(here.around):
        if isinstance(each, Scope):
            return False
        if isinstance(each, ast.For | ast.AsyncFor) and target in _bound(each.target):
            names = [name for part in each.body for name in ast.walk(part) if isinstance(name, ast.Name)]
            return not any(name.id == target and name.lineno > line for name in names)
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

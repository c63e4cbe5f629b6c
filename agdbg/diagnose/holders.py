"""Who holds a tensor, as far as the source says: the list, dict or attribute that a function puts it into."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from typing import NamedTuple

from agdbg.diagnose.enclosing import module_of, place
from agdbg.diagnose.source import called as called_name
from agdbg.diagnose.source import quoted
from agdbg.diagnose.syntax import unparse
from agdbg.record.lookup import Site

_ADDING = {"append", "extend", "add", "insert", "put", "setdefault", "appendleft"}


class Holder(NamedTuple):
    """A statement that keeps a tensor."""

    text: str
    site: Site


def collected_in(call: Site, name: str) -> Holder | None:
    """The statement near a call that puts a tensor of this name into a collection."""
    for body in _bodies(call):
        found = next((each for each in ast.walk(body) if _keeps(each, name)), None)
        if found is not None:
            return _holder(found, call.file, call.func)
    return next((kept for body in _bodies(call) if (kept := _given_to(body, call.file, name)) is not None), None)


def put_at(site: Site) -> tuple[str, Holder] | None:
    """The collection into which a line puts what has no name, ``buf.append((q(s), v(s)))``, and the statement."""
    statement = place(site).statement
    made = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute) or made.func.attr not in _ADDING:
        return None
    bank = unparse(made.func.value)
    return (bank, _holder(made, site.file, site.func)) if bank else None


def _holder(found: ast.AST, file: str, function: str) -> Holder:
    line = getattr(found, "lineno", 0)
    text = linecache.getline(file, line).rstrip("\n")
    return Holder(quoted(unparse(found)), Site(file=file, line=line, func=function, text=text))


def _given_to(body: ast.AST, file: str, name: str) -> Holder | None:
    """The statement of a function of this file that keeps what it is given, where ``body`` gives it the bare name."""
    tree = module_of(file)
    if tree is None:
        return None
    defined = [(each, owner) for owner, each in _functions(tree, "")]
    for call in ast.walk(body):
        called = called_name(call) if isinstance(call, ast.Call) else ""
        meant = [pair for pair in defined if pair[0].name == called] if called else []
        if not isinstance(call, ast.Call) or len(meant) != 1:
            continue
        function, owner = meant[0]
        parameter = _parameter(function, call, name, bound=bool(owner))
        found = next((each for each in ast.walk(function) if parameter and _keeps(each, parameter)), None)
        if found is not None:
            return _holder(found, file, f"{owner}{function.name}")
    return None


def _functions(tree: ast.AST, owner: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions of a module and of its classes, with the class and a dot before."""
    for each in ast.iter_child_nodes(tree):
        if isinstance(each, ast.FunctionDef):
            yield owner, each
        elif isinstance(each, ast.ClassDef):
            yield from _functions(each, f"{owner}{each.name}.")


def _parameter(function: ast.FunctionDef, call: ast.Call, name: str, *, bound: bool) -> str:
    """What a function calls the argument that is given as the bare name; empty when it is not given."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)][1 if bound else 0 :]
    for parameter, given in zip(names, call.args, strict=False):
        if _bare(given, name):
            return parameter
    return next((each.arg for each in call.keywords if each.arg and _bare(each.value, name)), "")


def _bodies(site: Site) -> list[ast.AST]:
    """What is around a site: the innermost loop and then its function; of the file's own level the loop."""
    here = place(site)
    if not here.known:
        return []
    loops = [each for each in here.around if isinstance(each, ast.For | ast.While)]
    return [*loops[-1:], *([here.function] if here.function is not None else [])]


def _keeps(tree: ast.AST, name: str) -> bool:
    """``xs.append(loss)``, ``xs.append((i, loss))``, ``xs += [loss]``, ``d[i] = loss``: with the bare name in it."""
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute) and tree.func.attr in _ADDING:
        return any(_bare(arg, name) for arg in tree.args)
    if (
        isinstance(tree, ast.AugAssign)
        and isinstance(tree.op, ast.Add)
        and isinstance(tree.value, ast.List | ast.Tuple)
    ):
        return _bare(tree.value, name)
    if isinstance(tree, ast.Assign):
        return any(_is_growing(each) for each in tree.targets) and _bare(tree.value, name)
    return False


def _is_growing(target: ast.expr) -> bool:
    """Whether an entry may be another one each time: ``d[i]``, and not ``d["loss"]``, which keeps the last alone."""
    return isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Constant)


def _bare(tree: ast.expr, name: str) -> bool:
    """Whether the name itself is there, or in a list, tuple or dict that is: not ``loss.item()``."""
    if isinstance(tree, ast.List | ast.Tuple | ast.Set):
        return any(_bare(each, name) for each in tree.elts)
    if isinstance(tree, ast.Dict):
        return any(_bare(each, name) for each in tree.values)
    return isinstance(tree, ast.Name | ast.Attribute) and unparse(tree) == name

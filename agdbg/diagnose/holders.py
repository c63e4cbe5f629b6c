"""Who holds a tensor, as far as the source says: the list, dict or attribute that a function puts it into."""

from __future__ import annotations

import ast
import linecache
from typing import NamedTuple

from agdbg.diagnose.enclosing import place
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
            line = getattr(found, "lineno", 0)
            text = linecache.getline(call.file, line).rstrip("\n")
            return Holder(quoted(unparse(found)), Site(file=call.file, line=line, func=call.func, text=text))
    return None


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
        return any(isinstance(each, ast.Subscript) for each in tree.targets) and _bare(tree.value, name)
    return False


def _bare(tree: ast.expr, name: str) -> bool:
    """Whether the name itself is there, or in a list, tuple or dict that is: not ``loss.item()``."""
    if isinstance(tree, ast.List | ast.Tuple | ast.Set):
        return any(_bare(each, name) for each in tree.elts)
    if isinstance(tree, ast.Dict):
        return any(_bare(each, name) for each in tree.values)
    return isinstance(tree, ast.Name | ast.Attribute) and unparse(tree) == name

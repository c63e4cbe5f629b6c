"""What a program does with a variable that a tensor does not take, or takes seldom: ``h, c = state``, ``state["h"]``, ``*state``.

Needs the source alone. It says that nobody can tell a tensor from a list or a dict by what gives the variable its value.
"""

import ast
from collections.abc import Iterator
from typing import Literal

from agdbg.diagnose.enclosing import module_of, place
from agdbg.diagnose.syntax import name_of
from agdbg.record.lookup import Site

_OF_DICTS = {"items", "keys", "values", "get", "setdefault", "pop"}
_MANY = ast.Tuple | ast.List


def ways_apart(site: Site, name: str) -> set[Literal["key", "position"]]:
    """How the function around a site takes a name apart, or the file an attribute: by keys, or by positions."""
    around = place(site)
    tree: ast.AST | None = around.function if name.isidentifier() and around.function else module_of(site.file)
    inside = ast.walk(tree) if tree is not None and around.known else ()
    return {way for each in inside for part, way in _ways(each) if _is_named(part, name)}


def _ways(tree: ast.AST) -> Iterator[tuple[ast.expr, Literal["key", "position"]]]:
    """What a part of the program takes apart."""
    if isinstance(tree, ast.Subscript) and isinstance(tree.slice, ast.Constant):
        yield tree.value, "key" if isinstance(tree.slice.value, str) else "position"
    elif isinstance(tree, ast.Attribute) and tree.attr in _OF_DICTS:
        yield tree.value, "key"
    elif isinstance(tree, ast.Starred) and isinstance(tree.ctx, ast.Load):
        yield tree.value, "position"
    elif isinstance(tree, ast.Assign):
        yield from ((tree.value, "position") for each in tree.targets if isinstance(each, _MANY))


def _is_named(tree: ast.expr, name: str) -> bool:
    """Whether an expression is called so; an attribute may be one of an object with another name."""
    tail = name.rpartition(".")[2]
    return name_of(tree) == name or (isinstance(tree, ast.Attribute) and "." in name and tree.attr == tail)

"""Conditions that can be answered before anybody has come by: they name only what a node is and how far the program has come.

Such a condition looks at no tensor, calls nothing and sees nothing of the program's frames. So where it is false nobody needs to
stop, to look, or to note what could be taken back.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

FIELDS = {"node": frozenset({"op", "id", "parameter", "module", "file", "line"}), "event": frozenset({"kind"})}
"""What may be read off ``node`` and ``event``."""
PLAIN = frozenset({"step", "rank"})
_ALLOWED = (
    ast.Expression, ast.BoolOp, ast.boolop, ast.UnaryOp, ast.unaryop, ast.BinOp, ast.Add, ast.Sub, ast.Mod, ast.FloorDiv,
    ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn,
    ast.IfExp, ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Load,
)  # fmt: skip

EVENTS = {kind: SimpleNamespace(kind=kind) for kind in ("born", "before")}


class Early(NamedTuple):
    """A condition.

    Attributes:
        test: takes ``step``, ``rank``, ``node`` and ``event``.
        names: those of them that it reads; of ``node`` also the fields, as ``node.op``.
    """

    test: Callable[[Any, Any, Any, Any], Any]
    names: frozenset[str]


@cache
def early(expression: str) -> Early | None:
    """The condition, if it is one that can be answered early."""
    try:
        tree = ast.parse(expression.strip(), "<breakpoint>", "eval")
        names = frozenset(_names(tree.body))
    except (SyntaxError, ValueError, _Late):
        return None
    scope: dict[str, Any] = {"__builtins__": {}}
    return Early(eval(f"lambda step, rank, node, event: ({expression.strip()}\n)", scope), names)


class _Late(Exception):
    """It needs more."""


def _names(tree: ast.AST) -> Iterator[str]:
    if isinstance(tree, ast.Attribute):
        of = tree.value
        if not isinstance(of, ast.Name) or tree.attr not in FIELDS.get(of.id, ()):
            raise _Late
        yield of.id
        yield f"{of.id}.{tree.attr}"
    elif isinstance(tree, ast.Name):
        if tree.id not in PLAIN:
            raise _Late
        yield tree.id
    elif not isinstance(tree, _ALLOWED):
        raise _Late
    else:
        for each in ast.iter_child_nodes(tree):
            yield from _names(each)

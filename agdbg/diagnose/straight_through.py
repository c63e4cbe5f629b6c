"""A straight-through estimator, ``z + (q - z).detach()``: the value of one tensor with the gradient of another, on purpose.

What it keeps from a gradient is meant to get one from another loss, so where that is cut off as well, that cut is the mistake.
"""

import ast

from agdbg.diagnose.source import called
from agdbg.diagnose.syntax import read, unparse
from agdbg.record.lookup import Site


def is_straight_through(site: Site) -> bool:
    """Whether the expression at a site is the difference of such an estimator, cut off: ``(q - z).detach()`` beside ``z +``."""
    reading = read(site)
    if reading is None or reading.found is None:
        return False
    taken = _taken_from(reading.found)
    if not taken:
        return False
    sums = (_added(each) for each in ast.walk(reading.statement))
    return any(
        any(each is reading.found for each in added) and any(unparse(each) == taken for each in added) for added in sums
    )


def _added(tree: ast.AST) -> list[ast.expr]:
    """The operands of a sum, ``a + b``, ``a.add(b)`` or ``add(a, b)``; none of anything else."""
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add):
        return [tree.left, tree.right]
    if isinstance(tree, ast.Call) and called(tree) == "add":
        return [*([tree.func.value] if isinstance(tree.func, ast.Attribute) else []), *tree.args]
    return []


def _taken_from(found: ast.AST) -> str:
    """Of ``(q - z).detach()``, ``(q - z).data`` and ``detach(q - z)`` the source of ``z``; empty for anything else."""
    if isinstance(found, ast.Call) and called(found) == "detach":
        inner = (
            found.func.value
            if isinstance(found.func, ast.Attribute) and not found.args
            else next(iter(found.args), None)
        )
    else:
        inner = found.value if isinstance(found, ast.Attribute) and found.attr == "data" else None
    return unparse(inner.right) if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub) else ""

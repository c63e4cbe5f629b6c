"""An update that stands behind ``if x.grad is not None:``, so that it never runs where ``x`` is no leaf."""

import ast

from agdbg.diagnose.enclosing import place
from agdbg.diagnose.syntax import name_of
from agdbg.record.lookup import Site


def guarded_update(site: Site, name: str) -> bool:
    """Whether the ``if`` at a site tests the ``grad`` of a name, and what it guards writes to the name by that ``grad``."""
    guards = [each for each in place(site).around if isinstance(each, ast.If)]
    if not guards or not name:
        return False
    tested = guards[-1].test
    same = any(isinstance(each, ast.Attribute) and _is_grad(each, name) for each in ast.walk(tested))
    return same and any(
        _updates(each, name) for part in guards[-1].body for each in ast.walk(part) if isinstance(each, ast.stmt)
    )


def _is_grad(tree: ast.Attribute, name: str) -> bool:
    return tree.attr == "grad" and name_of(tree.value) == name


def _updates(statement: ast.stmt, name: str) -> bool:
    """Whether a statement writes to the name itself, or its ``data``, and reads its ``grad`` to do so."""
    written: list[ast.expr] = []
    if isinstance(statement, ast.AugAssign):
        written = [statement.target]
    elif isinstance(statement, ast.Assign):
        written = statement.targets
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        made = statement.value.func
        written = [made.value] if isinstance(made, ast.Attribute) and made.attr.endswith("_") else []
    reads = any(isinstance(each, ast.Attribute) and _is_grad(each, name) for each in ast.walk(statement))
    return reads and any(name_of(each) in (name, f"{name}.data") for each in written)

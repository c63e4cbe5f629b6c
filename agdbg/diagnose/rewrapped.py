"""Values that a line takes out of a tensor and puts into a new leaf, as ``tensor([a.item()], requires_grad=True)`` does.

Nobody prints a leaf: whoever makes one of the values of another tensor wants gradients, and they end in the new one.
"""

import ast

from agdbg.diagnose.enclosing import module_of, place
from agdbg.diagnose.lost_leaf import makes_leaf
from agdbg.diagnose.source import called, receivers
from agdbg.diagnose.syntax import name_of, read
from agdbg.record.lookup import Site


def is_rewrapped(site: Site) -> bool:
    """Whether the expression at a site, which ends a gradient path, stands in a call that makes a leaf."""
    reading = read(site)
    if reading is None or reading.found is None:
        return False
    wholes = (each for each in ast.walk(reading.statement) if makes_leaf(each))
    return any(part is reading.found for whole in wholes for part in ast.walk(whole) if part is not whole)


def becomes_leaf(site: Site) -> bool:
    """Whether the expression at a site, which ends a path, stands in one that is made a leaf: ``t.detach().requires_grad_()``.

    So it is where it is given a name, and the name is made a leaf by another statement.
    """
    reading = read(site)
    if reading is None or reading.found is None:
        return False
    wholes = (
        each for each in ast.walk(reading.statement) if isinstance(each, ast.Call) and called(each) == "requires_grad_"
    )
    at_once = is_rewrapped(site) or any(part is reading.found for whole in wholes for part in ast.walk(whole.func))
    return at_once or _is_made_leaf(site, reading.statement, reading.found)


def _is_made_leaf(site: Site, statement: ast.stmt, found: ast.AST) -> bool:
    """Whether the statement gives the expression a name that the function around makes a leaf of."""
    tree, function = module_of(site.file), place(site).function
    if not isinstance(statement, ast.Assign) or statement.value is not found or tree is None:
        return False
    names = {name_of(each) for each in statement.targets} - {""}
    parts = list(ast.walk(function or tree))
    makes = [each for each in parts if isinstance(each, ast.Call) and called(each) in ("requires_grad_", "Parameter")]
    of = [part for each in makes for part in (*each.args[:1], *receivers(each)[:1])]
    of += [
        target.value
        for each in parts
        if isinstance(each, ast.Assign) and getattr(each.value, "value", False) is True
        for target in each.targets
        if isinstance(target, ast.Attribute) and target.attr == "requires_grad"
    ]
    return any(name_of(each) in names for each in of)


def taken_from(site: Site) -> str:
    """The tensor that the expression takes values out of: ``a`` of ``a.item()`` and of ``float(a)``; empty if not known."""
    reading = read(site)
    found = reading.found if reading is not None else None
    if isinstance(found, ast.Attribute):
        return name_of(found.value)
    given = (receivers(found) or found.args) if isinstance(found, ast.Call) else []
    return name_of(given[0]) if given else ""

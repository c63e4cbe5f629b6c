"""Lines that give the name of a leaf to a copy of it, and whether the source reads the gradient of that name later."""

import ast

from agdbg.diagnose.enclosing import module_of, place, site_of
from agdbg.diagnose.source import called, operand
from agdbg.diagnose.syntax import name_of, read
from agdbg.record.facts import NodeFact
from agdbg.record.lookup import Site

#: What keeps the gradient of what was computed, or makes a leaf of it.
_KEEPING = {"retain_grad", "detach", "requires_grad_", "data"}


def name_of_copy(node: NodeFact, index: int) -> str:
    """The name that a line gives to a copy of a leaf which has no other name from then on; empty where it does not."""
    reading = read(node.site)
    statement = reading.statement if reading is not None else None
    if reading is None or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ""
    name = name_of(statement.targets[0])
    words = {each.attr for each in ast.walk(statement.value) if isinstance(each, ast.Attribute)}
    if not name or words & _KEEPING:
        return ""
    if makes_leaf_at(node.site):
        return name
    same = operand(node.site, node, index) == name or _begins_with(reading.found, name)
    return name if same and not _is_argument(node.site, name) else ""


def is_lost_parameter(site: Site, name: str) -> bool:
    """Whether the line computes an attribute from a Parameter that nothing else holds: no module will list it."""
    reading = read(site)
    made = reading.found if reading is not None and "." in name else None
    return made is not None and any(
        isinstance(each, ast.Call) and called(each) == "Parameter" for each in ast.walk(made)
    )


def _begins_with(found: ast.AST | None, name: str) -> bool:
    """Whether the expression is computed from the name, as ``x - lr * x.grad`` is from ``x``."""
    if isinstance(found, ast.BinOp):
        return any(isinstance(each, ast.expr) and name_of(each) == name for each in (found.left, found.right))
    return isinstance(found, ast.Call) and isinstance(found.func, ast.Attribute) and name_of(found.func.value) == name


def makes_leaf_at(site: Site) -> bool:
    """Whether a call that makes a leaf, and gives it no name, stands in the expression at a site."""
    reading = read(site)
    inside = list(ast.walk(reading.found)) if reading is not None and reading.found is not None else []
    named = {id(each.value) for each in inside if isinstance(each, ast.NamedExpr)}
    return any(makes_leaf(each) and id(each) not in named for each in inside)


def makes_leaf(tree: ast.AST) -> bool:
    """Whether it is a call that makes a leaf: ``tensor(..., requires_grad=True)``, ``Parameter(...)``."""
    if not isinstance(tree, ast.Call):
        return False
    wants = any(k.arg == "requires_grad" and getattr(k.value, "value", False) is True for k in tree.keywords)
    return wants or called(tree) == "Parameter"


def _is_argument(site: Site, name: str) -> bool:
    """Whether the name is an argument of the function around: then the caller still has the leaf."""
    function = place(site).function
    return function is not None and any(
        isinstance(each, ast.arg) and each.arg == name for each in ast.walk(function.args)
    )


def grad_read(site: Site, name: str) -> Site | None:
    """Where the function or module around reads the gradient of a name after a line, before the name is given to another."""
    here = place(site)
    if not here.known:
        return None
    function = here.function
    outer: ast.AST | None = function if function is not None else module_of(site.file)
    if "." in name and function is not None:  # an attribute is read anywhere
        outer = module_of(site.file)
    if outer is None or _keeps(outer, name):
        return None
    loops = [each for each in here.around if isinstance(each, ast.For | ast.While)]
    reads = [each for each in ast.walk(outer) if isinstance(each, ast.Attribute) and _reads_grad(each, name)]
    after = [each for each in reads if each.lineno > site.line or any(_within(each, loop) for loop in loops)]
    found = min(after, key=lambda each: (each.lineno < site.line, each.lineno), default=None)
    if found is None or _rebound(outer, name, site.line, found.lineno):
        return None
    return site_of(site, found)


def _reads_grad(tree: ast.Attribute, name: str) -> bool:
    return tree.attr == "grad" and isinstance(tree.ctx, ast.Load) and name_of(tree.value) == name


def _within(tree: ast.AST, loop: ast.For | ast.While) -> bool:
    return isinstance(tree, ast.expr) and loop.lineno <= tree.lineno <= (loop.end_lineno or loop.lineno)


def _keeps(outer: ast.AST, name: str) -> bool:
    made = [each for each in ast.walk(outer) if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)]
    return any(
        called(each) in _KEEPING and isinstance(each.func, ast.Attribute) and name_of(each.func.value) == name
        for each in made
    )


def _rebound(outer: ast.AST, name: str, start: int, end: int) -> bool:
    """Whether the name is given to something else between two lines."""
    found = [each for each in ast.walk(outer) if isinstance(each, ast.Assign) and start < each.lineno < end]
    return any(name_of(target) == name for each in found for target in each.targets)

"""Whether a program without an optimizer trains the leaf that an expression ends the path of: its source reads the ``.grad``."""

import ast

from agdbg.diagnose.enclosing import module_of
from agdbg.diagnose.rewrapped import taken_from
from agdbg.diagnose.source import called
from agdbg.diagnose.syntax import name_of
from agdbg.record.lookup import Site

#: How often names are followed: into a list, out of it by a loop.
_ROUNDS = 3


def is_trained_by_hand(site: Site) -> bool:
    """Whether the file reads the gradient of the leaf from which the expression at a site takes its values.

    That is ``w.grad``, or ``p.grad`` in a loop over ``[w, b]``, wherever it stands in the file.
    """
    name, tree = taken_from(site), module_of(site.file)
    if not name or tree is None:
        return False
    parts = list(ast.walk(tree))
    names = {name}
    for _ in range(_ROUNDS):
        names |= {each for part in parts for each in _also(part, names)}
    return any(
        isinstance(part, ast.Attribute)
        and part.attr == "grad"
        and isinstance(part.ctx, ast.Load)
        and name_of(part.value) in names
        for part in parts
    )


def _also(tree: ast.AST, names: set[str]) -> set[str]:
    """The names that a list of these is given, and those that stand for its elements in a loop."""
    if isinstance(tree, ast.Assign) and _holds(tree.value, names):
        return {name_of(each) for each in tree.targets} - {""}
    if not isinstance(tree, ast.For | ast.comprehension):
        return set()
    target, source = tree.target, tree.iter
    if isinstance(source, ast.Call) and called(source) == "zip" and isinstance(target, ast.Tuple):
        pairs = zip(target.elts, source.args, strict=False)
        return {name_of(each) for each, given in pairs if name_of(given) in names or _holds(given, names)} - {""}
    return {name_of(target)} - {""} if name_of(source) in names or _holds(source, names) else set()


def _holds(tree: ast.expr, names: set[str]) -> bool:
    """Whether it is a list with one of these names in it."""
    return isinstance(tree, ast.List | ast.Tuple) and any(name_of(each) in names for each in tree.elts)

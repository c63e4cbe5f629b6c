"""Whether what an expression makes is only shown or written down, so that nobody wants a gradient of it there."""

import ast

from agdbg.diagnose.source import called
from agdbg.diagnose.syntax import read
from agdbg.record.lookup import Site

#: Functions and methods that show or write down what they are given.
_SHOWING = frozenset(("print", "format", "debug", "info", "warning", "write", "add_scalar", "add_histogram", "save"))


def is_shown(site: Site) -> bool:
    """Whether the expression at a site stands in an f-string, or in the arguments of a call that shows or stores its value."""
    reading = read(site)
    if reading is None or reading.found is None:
        return False
    return any(
        part is reading.found
        for whole in ast.walk(reading.statement)
        for given in _shown(whole)
        for part in ast.walk(given)
    )


def _shown(tree: ast.AST) -> list[ast.expr]:
    if isinstance(tree, ast.JoinedStr):
        return list(tree.values)
    if isinstance(tree, ast.Call) and called(tree) in _SHOWING:
        return [*tree.args, *(each.value for each in tree.keywords)]
    return []

"""The name that a part of a memory goes by although no gradient comes from it: ``x`` of ``x = b[0].detach()``."""

import ast
from collections.abc import Iterator

from agdbg.diagnose.source import receivers
from agdbg.diagnose.syntax import is_at, name_of, read, unparse
from agdbg.record.lookup import Site


def twin_name(site: Site) -> str:
    """What the line assigns the site's expression to, or a detached twin of it; empty when it does not."""
    reading = read(site)
    if reading is None or not isinstance(reading.statement, ast.Assign):
        return ""
    target = reading.statement.targets[0]
    found = any(is_at(_base(each), site, reading.shift) for each in _branches(reading.statement.value))
    return name_of(target) if found else ""


def given_names(site: Site) -> set[str]:
    """The names of what the call at the site is given."""
    reading = read(site)
    found = reading.found if reading is not None else None
    return {name for each in receivers(found) if (name := name_of(each))} if isinstance(found, ast.Call) else set()


def given_parts(site: Site) -> set[str]:
    """The source of what the call at the site is given, without ``detach()`` and ``.data``."""
    reading = read(site)
    found = reading.found if reading is not None else None
    return {unparse(_base(each)) for each in receivers(found)} if isinstance(found, ast.Call) else set()


def _branches(value: ast.expr) -> Iterator[ast.expr]:
    """The expressions that a value may be."""
    if isinstance(value, ast.IfExp):
        yield from _branches(value.body)
        yield from _branches(value.orelse)
    else:
        yield value


def _base(tree: ast.expr) -> ast.expr:
    """Of ``b[0].detach()`` and ``b[0].data`` the ``b[0]``."""
    below = tree
    while True:
        function = below.func if isinstance(below, ast.Call) and not below.args else below
        if not isinstance(function, ast.Attribute) or function.attr != ("detach" if function is not below else "data"):
            return below
        below = function.value

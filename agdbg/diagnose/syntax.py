"""A source line as a syntax tree: parsed, never run; a line that cannot be read gives no tree.

A site knows one line and, with luck, the columns of the expression that ran. They count UTF-8 bytes, as in
``ast``.
"""

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from agdbg.record.lookup import Site

#: Endings that make the first line of a compound statement a whole one.
_ENDINGS = ("", " pass", "\n pass", "\nfinally: pass")
#: Lines that make the other branches of a compound statement a whole one.
_BEGINNINGS = ("if 1: pass\n", "try: pass\n")


@dataclass(frozen=True)
class Reading:
    """What stands on a site's line.

    Attributes:
        statement: the innermost statement around the site.
        found: the expression, or the statement, with exactly the site's columns; None when not known.
        shift: by how many bytes the columns of the tree are less than those of the line.
    """

    statement: ast.stmt
    found: ast.AST | None
    shift: int


def read(site: Site) -> Reading | None:
    """Parse a site's line."""
    body, shift = _parse(site.text)
    if not body:
        return None
    around = [each for each in body if _covers(each, site, shift)]
    statement = around[0] if around else body[0]
    while inner := _inside(statement, site, shift):
        statement = inner
    exact = [each for each in ast.walk(statement) if is_at(each, site, shift)]
    return Reading(statement, exact[-1] if exact else None, shift)


def is_at(tree: ast.AST, site: Site, shift: int) -> bool:
    """Whether a part of the line has exactly the site's columns."""
    return site.col >= 0 and _columns(tree, shift) == (site.col, site.end_col)


def unparse(tree: ast.AST) -> str:
    """The source of a tree, on one line; empty when it is too deep to write."""
    try:
        return " ".join(ast.unparse(tree).split())
    except (RecursionError, ValueError):
        return ""


def name_of(tree: ast.expr) -> str:
    """A name, an attribute or an element of one as it stands there; empty for any other expression."""
    below: ast.expr = tree
    while isinstance(below, ast.Attribute | ast.Subscript):
        below = below.value
    return unparse(tree) if isinstance(below, ast.Name) else ""


def pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Of ``a, b = x, y`` each target with its value."""
    many = (ast.Tuple, ast.List)
    if isinstance(target, many) and isinstance(value, many) and len(target.elts) == len(value.elts):
        for each, part in zip(target.elts, value.elts, strict=True):
            yield from pairs(each, part)
    else:
        yield target, value


@lru_cache(maxsize=1024)
def _parse(text: str) -> tuple[list[ast.stmt], int]:
    stripped = text.strip()
    indent = text[: len(text) - len(text.lstrip())]
    wholes = [stripped + ending for ending in _ENDINGS]
    for whole in [*wholes, *(begin + stripped for begin in _BEGINNINGS)] if stripped else ():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                body = ast.parse(whole).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        branch = _branch(body[0]) if whole.startswith(_BEGINNINGS) and body else body
        return branch, len(indent.encode("utf-8", "surrogatepass"))
    return [], 0


def _branch(tree: ast.stmt) -> list[ast.stmt]:
    """The branch behind one of ``_BEGINNINGS``."""
    if isinstance(tree, ast.Try):
        return tree.handlers[0].body if tree.handlers else tree.finalbody
    return tree.orelse if isinstance(tree, ast.If) else []


def _columns(tree: ast.AST, shift: int) -> tuple[int, int]:
    start, end = getattr(tree, "col_offset", None), getattr(tree, "end_col_offset", None)
    return (-1, -1) if start is None or end is None else (start + shift, end + shift)


def _covers(statement: ast.stmt, site: Site, shift: int) -> bool:
    start, end = _columns(statement, shift)
    return start <= site.col and site.end_col <= end


def _inside(statement: ast.stmt, site: Site, shift: int) -> ast.stmt | None:
    """Of ``with no_grad(): w -= 1`` the statement after the colon, unless the site is before it."""
    body = [each for each in getattr(statement, "body", []) if isinstance(each, ast.stmt)]
    if site.col < 0:
        return body[0] if body else None
    return next((each for each in body if _covers(each, site, shift)), None)

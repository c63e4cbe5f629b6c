"""Where an expression stands: in which function, statement, loop and comprehension.

The source file is read where it is still there and still says what the trace says; without it the trace's line and
the name of the function have to do.
"""

import ast
import linecache
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from os.path import getsize, isabs, isfile

from agdbg.diagnose.syntax import read
from agdbg.record.lookup import Site

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
#: Bytes of a file that is read; a longer one was hardly written by hand.
LIMIT = 1 << 20
_OWN = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


@dataclass(frozen=True)
class Place:
    """The tree around a write, from the outside to the inside; ``known``: it was read from the file."""

    around: tuple[ast.AST, ...]
    known: bool

    @property
    def function(self) -> Scope | None:
        """The innermost function; None at module level, or when the file was not read."""
        return next((each for each in reversed(self.around) if isinstance(each, Scope)), None)

    @property
    def statement(self) -> ast.stmt | None:
        """The innermost statement."""
        return next((each for each in reversed(self.around) if isinstance(each, ast.stmt)), None)

    @property
    def comprehension(self) -> ast.AST | None:
        """The innermost comprehension of the innermost statement."""
        for each in reversed(self.around):
            if isinstance(each, ast.stmt | ast.Lambda):
                return None
            if isinstance(each, COMPREHENSIONS):
                return each
        return None


def place(site: Site) -> Place:
    """The place of a site."""
    tree = module_of(site.file) if site.line else None
    if tree is not None and linecache.getline(site.file, site.line).strip() == site.text.strip():
        start, end = (site.line, site.col), (site.end_line or site.line, site.end_col)
        return Place(tuple(_path(tree, start, end)), True)
    reading = read(site)
    if reading is None:
        return Place((), False)
    parents = {id(child): each for each in ast.walk(reading.statement) for child in ast.iter_child_nodes(each)}
    around: list[ast.AST] = [reading.found or reading.statement]
    while around[-1] is not reading.statement and id(around[-1]) in parents:
        around.append(parents[id(around[-1])])
    return Place(tuple(reversed(around)), False)


def function_of(site: Site) -> str:
    """The name of the function around a site; a comprehension, which may run as a function of its own, is none."""
    name = site.func.replace(".<locals>", "")
    while name.endswith(_OWN):
        name = name.rpartition("<")[0].removesuffix(".") or "<module>"
    return name


def module_of(file: str) -> ast.Module | None:
    """The tree of a source file; None when it cannot be read."""
    if not _is_readable(file):
        return None
    linecache.getlines(file)
    return _parsed(file, tuple(map(str, linecache.cache.get(file, ())[:2])))


@lru_cache(maxsize=32)
def _parsed(file: str, stamp: tuple[str, ...]) -> ast.Module | None:
    """The tree of the lines that are known of a file; ``stamp`` is another one when they are others."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_readable(file: str) -> bool:
    """Whether it is a cell of a notebook that runs here, or a plain file: a trace may name anything."""
    if file in linecache.cache:
        return True
    try:
        return isabs(file) and isfile(file) and getsize(file) <= LIMIT
    except (OSError, ValueError):
        return False


def _path(tree: ast.AST, start: tuple[int, int], end: tuple[int, int]) -> Iterator[ast.AST]:
    """The nodes around a span; without columns the statements around a line."""
    here: ast.AST | None = tree
    while here is not None:
        here = next((each for each in _children(here) if _spans(each, start, end)), None)
        if here is not None:
            yield here


def _children(tree: ast.AST) -> Iterator[ast.AST]:
    """The children, and instead of those without a position their children."""
    for each in ast.iter_child_nodes(tree):
        if hasattr(each, "lineno"):
            yield each
        else:
            yield from _children(each)


def _spans(tree: ast.AST, start: tuple[int, int], end: tuple[int, int]) -> bool:
    line, col = getattr(tree, "lineno", 0), getattr(tree, "col_offset", 0)
    end_line, end_col = getattr(tree, "end_lineno", 0), getattr(tree, "end_col_offset", 0)
    if start[1] < 0:
        return isinstance(tree, ast.stmt | ast.ExceptHandler) and line <= start[0] <= end_line
    return (line, col) <= start and end <= (end_line, end_col)


def in_inner_loop(site: Site, other: Site) -> bool:
    """Whether a site is in a loop or comprehension that another one is not in; False when not known."""
    again = (ast.For, ast.AsyncFor, ast.While, *COMPREHENSIONS)
    loops = [each for each in place(site).around if isinstance(each, again)]
    around = place(other)
    return bool(loops) and around.known and site.file == other.file and loops[-1] not in around.around


def is_outside(site: Site) -> bool:
    """Whether a site is known to be at the level of its module, in no loop and no comprehension: it runs once."""
    here = place(site)
    again = (ast.For, ast.AsyncFor, ast.While, *COMPREHENSIONS)
    return here.known and here.function is None and not any(isinstance(each, again) for each in here.around)


def site_of(near: Site, tree: ast.expr | ast.stmt) -> Site:
    """The site of a part of the file that another site is in; of what goes over several lines the first one."""
    text = linecache.getline(near.file, tree.lineno).rstrip("\n")
    one_line = tree.end_lineno == tree.lineno and tree.end_col_offset is not None
    columns = (tree.col_offset, tree.end_col_offset or -1) if one_line else (-1, -1)
    return Site(near.file, tree.lineno, near.func, *columns, text, tree.lineno)

"""Where the memory of a tensor was handed out in a way in which writes are not counted, and where it was written so."""

import ast
from dataclasses import dataclass

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.enclosing import Scope, module_of, place, site_of
from agdbg.diagnose.source import called, quoted
from agdbg.diagnose.syntax import name_of, read, unparse
from agdbg.events import Kind
from agdbg.record.lookup import Site

#: More lines that write to one memory that are told.
MORE = 3
_THROUGH = {"data": ".data", "detach": "a detached twin", "numpy": "a NumPy array"}
#: Methods of arrays that write and have no underscore at their end.
_FILLING = {
    "fill",
    "sort",
    "put",
    "partition",
    "itemset",
    "resize",
    "copyto",
    "place",
    "putmask",
    "fill_diagonal",
    "shuffle",
}
_FILLING_ARGUMENT = {"copyto", "place", "putmask", "fill_diagonal", "shuffle"}
_MODULES = {"np", "numpy", "torch", "F", "ag", "agdbg_engine"}
#: Functions that make a tensor on the memory of what they are given.
_WRAPPING = {"from_numpy", "as_tensor", "asarray", "frombuffer", "from_dlpack"}


@dataclass(frozen=True)
class Alias:
    """A line that handed memory out.

    Attributes:
        through: what it was handed out as.
        writes: the write, when the line itself writes to it; else empty.
        name: the variable that it was bound to; empty when there is none.
    """

    site: Site
    row: int
    through: str
    writes: str
    name: str


def aliases(case: Case, storages: set[int], before: int) -> list[Alias]:
    """The lines that handed one of these memories out before a row, in trace order, each once."""
    facts = case.facts
    rows = facts.rows(Kind.CUT)
    words = facts.trace.records[rows]
    mine = rows[np.isin(words[:, 1], np.array(sorted(storages), np.uint64)) & (rows < before)] if len(rows) else rows
    found: dict[Site, Alias] = {}
    for row in mine.tolist():
        site, op = facts.site_and_op(facts.words(row)[2])
        if op.name in _THROUGH:
            found[site] = _alias(site, op.name, row)
    return sorted(found.values(), key=lambda each: each.row)


def _alias(site: Site, how: str, row: int) -> Alias:
    reading = read(site)
    statement = reading.statement if reading is not None else None
    through = "a NumPy array" if "numpy" in site.text or "np.asarray" in site.text else _THROUGH[how]
    if statement is None:
        return Alias(site, row, through, "", "")
    if _writes(statement):
        return Alias(site, row, through, quoted(unparse(statement)), "")
    bound = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    return Alias(site, row, through, "", name_of(bound) if bound is not None else "")


def _writes(statement: ast.stmt) -> bool:
    """Whether the statement writes to what was handed out on its line: ``y.data.mul_(3)``, ``y.data[0] = 1``."""
    if isinstance(statement, ast.AugAssign):
        return _holds(statement.target)
    if isinstance(statement, ast.Assign):
        return any(isinstance(each, ast.Subscript) and _holds(each) for each in statement.targets)
    made = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(made, ast.Call) and _is_write(made) and any(_holds(each) for each in _written_to(made))


def _written_to(made: ast.Call) -> list[ast.expr]:
    """What a call that writes writes to: ``out=``, the object of a method in place, or the first argument of a function."""
    out = [each.value for each in made.keywords if each.arg == "out"]
    receiver = made.func.value if isinstance(made.func, ast.Attribute) else None
    if out or receiver is None:
        return out or made.args[:1]
    takes_it = called(made) in _FILLING_ARGUMENT or name_of(receiver) in _MODULES
    return [receiver] if not takes_it else made.args[:1]


def writes_through(statement: ast.stmt, name: str) -> bool:
    """Whether the statement writes to the memory of a variable in a way in which it is not counted."""
    names = {each.id for each in ast.walk(statement) if isinstance(each, ast.Name)}
    return name in names and not isinstance(statement, ast.FunctionDef) and _writes(statement)


def _holds(tree: ast.expr) -> bool:
    """Whether an expression goes through ``.data``, ``detach()`` or ``numpy()``."""
    words = {"data", "detach", "numpy", "asarray"}
    return any(isinstance(each, ast.Attribute) and each.attr in words for each in ast.walk(tree))


def _is_write(made: ast.Call) -> bool:
    name = called(made)
    return (
        (name.endswith("_") and not name.endswith("__"))
        or name in _FILLING
        or any(k.arg == "out" for k in made.keywords)
    )


# ----- later, through a name -----


def written_later(alias: Alias) -> tuple[Site, str] | None:
    """The first statement behind the line that writes to the variable it was bound to, in the same function or module."""
    here = place(alias.site)
    if not alias.name or not here.known:
        return None
    scopes: list[ast.AST] = [each for each in here.around if isinstance(each, Scope)]
    outer = scopes[-1] if scopes else module_of(alias.site.file)
    statements = (
        [each for each in ast.walk(outer) if isinstance(each, ast.stmt) and each.lineno > alias.site.line]
        if outer
        else []
    )
    for each in sorted(statements, key=lambda tree: tree.lineno):
        if _rebinds(each, alias.name):
            return None
        if _writes_to(each, alias.name):
            return site_of(alias.site, each), quoted(unparse(each))
    return None


def written_beside(alias: Alias, first: Site) -> list[tuple[Site, str]]:
    """The statements behind the first write that stand in the same block and write to the same variable."""
    tree = module_of(first.file)
    bodies = [body for each in ast.walk(tree) if isinstance(body := getattr(each, "body", None), list)] if tree else []
    block = next((body for body in bodies if any(_is_on(each, first.line) for each in body)), [])
    later = [each for each in block if isinstance(each, ast.stmt) and each.lineno > first.line]
    return [(site_of(alias.site, each), quoted(unparse(each))) for each in later if _writes_to(each, alias.name)][:MORE]


def _is_on(tree: ast.AST, line: int) -> bool:
    return isinstance(tree, ast.Expr | ast.Assign | ast.AugAssign) and tree.lineno == line


def guessed(site: Site, name: str, row: int) -> list[Alias]:
    """Where the function or module around a site shares the memory of a variable with NumPy or without history."""
    here = place(site)
    if not here.known:
        return []
    scopes: list[ast.AST] = [each for each in here.around if isinstance(each, Scope)]
    outer = scopes[-1] if scopes else module_of(site.file)
    found = []
    for each in ast.walk(outer) if outer is not None else ():
        if not isinstance(each, ast.Assign) or len(each.targets) != 1 or not isinstance(each.targets[0], ast.Name):
            continue
        other = _shared_by(each, name)
        if other:
            through = "a NumPy array" if "numpy" in unparse(each.value) else "a twin without history"
            found.append(Alias(site_of(site, each), row, through, "", other))
    return found


def _shared_by(statement: ast.Assign, name: str) -> str:
    """The variable that shares another one's memory by an assignment: ``v`` of ``v = x.numpy()`` and ``x = from_numpy(v)``."""
    target, value = name_of(statement.targets[0]), statement.value
    if target == name and isinstance(value, ast.Call) and called(value) in _WRAPPING and value.args:
        return name_of(value.args[0])
    shared = _holds(value) and any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(value))
    return target if shared and not any(isinstance(each, ast.BinOp) for each in ast.walk(value)) else ""


def _rebinds(statement: ast.stmt, name: str) -> bool:
    return isinstance(statement, ast.Assign) and any(
        name_of(each) == name and isinstance(each, ast.Name) for each in statement.targets
    )


def _writes_to(statement: ast.stmt, name: str) -> bool:
    if isinstance(statement, ast.AugAssign):
        return _base(statement.target) == name
    if isinstance(statement, ast.Assign):
        return any(isinstance(each, ast.Subscript) and _base(each) == name for each in statement.targets)
    made = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(made, ast.Call) or not _is_write(made):
        return False
    receiver = made.func.value if isinstance(made.func, ast.Attribute) else None
    out = [each.value for each in made.keywords if each.arg == "out"]
    while isinstance(receiver, ast.Call) and isinstance(receiver.func, ast.Attribute) and _is_write(receiver):
        receiver = receiver.func.value  # of x.mul_(2).add_(1) the x
    written = out or [*([receiver] if receiver is not None else []), *made.args[:1]]
    return any(_base(each) == name for each in written)


def _base(tree: ast.expr) -> str:
    """Of ``v[0].real`` the ``v``."""
    below: ast.expr = tree
    while isinstance(below, ast.Subscript):
        below = below.value
    return name_of(below)

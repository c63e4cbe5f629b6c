"""How a line writes in place, and how the same is written out of place."""

import ast
from dataclasses import dataclass
from typing import Literal

from agdbg.diagnose.enclosing import place
from agdbg.diagnose.source import called, calls, quoted, receivers
from agdbg.diagnose.syntax import name_of, read, unparse
from agdbg.record.lookup import Site

Form = Literal["augmented", "index", "method", "inplace", "out", "unknown"]

#: In-place methods without an out-of-place twin that says the same.
_NO_TWIN = {"bernoulli", "normal", "random", "resize", "set", "uniform"}
#: Those whose twin makes a new tensor of the same shape and dtype.
_NEW = {"fill": "new_full", "zero": "new_zeros"}


@dataclass(frozen=True)
class Write:
    """A write in place.

    Attributes:
        form: ``augmented`` is ``y *= 3``, ``index`` is ``y[0] = 3``, ``method`` is ``y.mul_(3)``, ``inplace``
            is the argument ``inplace=True``, ``out`` is ``out=y``.
        target: the name that is written to; empty when not known.
        text: the write as it stands there; empty when not known.
        instead: the same out of place; empty when there is no simple form.
    """

    form: Form
    target: str = ""
    text: str = ""
    instead: str = ""

    @property
    def value(self) -> str:
        """The new tensor alone, ``y * 3`` of ``y = y * 3``."""
        return self.instead.partition(" = ")[2]


def write(site: Site) -> Write:
    """How the site's line writes in place."""
    statement, found = _standing(site)
    if statement is None:
        return Write("unknown")
    if isinstance(statement, ast.AugAssign):
        return _augmented(statement)
    if isinstance(statement, ast.Assign) and (found is None or isinstance(found, ast.Subscript)):
        for target in statement.targets:
            if isinstance(target, ast.Subscript) and found in (None, target):
                return Write("index", _base(target), quoted(unparse(statement)))
    made = [found] if isinstance(found, ast.Call) else calls(site)
    return next(filter(None, (_by_call(_chain(statement, each)) for each in made)), Write("unknown"))


def _standing(site: Site) -> tuple[ast.stmt | None, ast.AST | None]:
    """The statement and the expression at a site; of a statement of several lines as its file has it."""
    reading = read(site)
    if reading is not None:
        return reading.statement, reading.found
    here = place(site)
    return here.statement, here.around[-1] if here.known and here.around else None


def _chain(statement: ast.stmt, made: ast.Call) -> ast.Call:
    """Of the statement ``y.add_(1).mul_(2)`` all of it, for either call."""
    below: ast.expr | None = statement.value if isinstance(statement, ast.Expr) else None
    while isinstance(below, ast.Call) and isinstance(below.func, ast.Attribute) and _is_in_place(called(below)):
        if below is made and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            return statement.value
        below = below.func.value
    return made


def _is_in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


def _augmented(statement: ast.AugAssign) -> Write:
    text = quoted(unparse(statement))
    if isinstance(statement.target, ast.Subscript) and not _is_key(statement.target):
        return Write("index", _base(statement.target), text)
    target = unparse(statement.target)
    value = ast.BinOp(statement.target, statement.op, statement.value)
    return Write("augmented", target, text, f"{target} = {unparse(value)}")


def _by_call(made: ast.Call) -> Write | None:
    text = quoted(unparse(made))
    for keyword in made.keywords:
        if keyword.arg == "out":
            return Write("out", name_of(keyword.value), text)
        if keyword.arg == "inplace" and getattr(keyword.value, "value", False) is True:
            return Write("inplace", name_of(made.args[0]) if made.args else "", text)
    name = called(made)
    if not _is_in_place(name):
        return None
    written = receivers(made)[:1]
    if written and isinstance(written[0], ast.Subscript) and not _is_key(written[0]):
        return Write("index", _base(written[0]), text)
    below = made
    while isinstance(inner := next(iter(receivers(below)), None), ast.Call) and _is_in_place(called(inner)):
        below = inner
    written = receivers(below)[:1]
    target = name_of(written[0]) if written else ""
    instead = _out_of_place(made) if target else None
    return Write("method", target, text, f"{target} = {unparse(instead)}" if instead is not None else "")


def _out_of_place(made: ast.Call) -> ast.expr | None:
    """The call, and those that it is chained to, out of place; None when one of them has no twin."""
    name, (receiver, *arguments) = called(made)[:-1], receivers(made)
    if name in _NO_TWIN:
        return None
    if isinstance(receiver, ast.Call) and _is_in_place(called(receiver)):
        inner = _out_of_place(receiver)
        if inner is None:
            return None
        receiver = inner
    if name == "copy" and arguments:
        return arguments[0]
    if name in _NEW:
        return ast.Call(
            ast.Attribute(receiver, _NEW[name], ast.Load()),
            [ast.Attribute(receiver, "shape", ast.Load()), *arguments],
            made.keywords,
        )
    return ast.Call(ast.Attribute(receiver, name, ast.Load()), arguments, made.keywords)


def _is_key(tree: ast.Subscript) -> bool:
    """Whether it is an entry of a dictionary, as ``h["y"]``."""
    return isinstance(tree.slice, ast.Constant) and isinstance(tree.slice.value, str)


def _base(tree: ast.Subscript) -> str:
    """Of ``y[0][1]`` the ``y``."""
    below: ast.expr = tree
    while isinstance(below, ast.Subscript):
        below = below.value
    return name_of(below)

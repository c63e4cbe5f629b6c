"""How a line writes in place, and how the same is written out of place."""

import ast
from dataclasses import dataclass
from typing import Literal

from agdbg.diagnose.source import called, calls, quoted, receivers
from agdbg.diagnose.syntax import name_of, read, unparse
from agdbg.record.lookup import Site

Form = Literal["augmented", "index", "method", "inplace", "out", "unknown"]

#: In-place methods without an out-of-place twin that says the same.
_NO_TWIN = {"bernoulli", "copy", "fill", "normal", "random", "resize", "set", "uniform", "zero"}


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
    reading = read(site)
    if reading is None:
        return Write("unknown")
    statement, found = reading.statement, reading.found
    if isinstance(statement, ast.AugAssign):
        return _augmented(statement)
    if isinstance(statement, ast.Assign) and (found is None or isinstance(found, ast.Subscript)):
        for target in statement.targets:
            if isinstance(target, ast.Subscript) and found in (None, target):
                return Write("index", _base(target), quoted(unparse(statement)))
    return next(filter(None, map(_by_call, calls(site))), Write("unknown"))


def _augmented(statement: ast.AugAssign) -> Write:
    text = quoted(unparse(statement))
    if isinstance(statement.target, ast.Subscript):
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
    if not name.endswith("_") or name.endswith("__"):
        return None
    written = receivers(made)[:1]
    if written and isinstance(written[0], ast.Subscript):
        return Write("index", _base(written[0]), text)
    target = name_of(written[0]) if written else ""
    return Write("method", target, text, _out_of_place(made, target, name[:-1]))


def _out_of_place(made: ast.Call, target: str, name: str) -> str:
    if not target or name in _NO_TWIN:
        return ""
    receiver, *arguments = receivers(made)
    return f"{target} = {unparse(ast.Call(ast.Attribute(receiver, name, ast.Load()), arguments, made.keywords))}"


def _base(tree: ast.Subscript) -> str:
    """Of ``y[0][1]`` the ``y``."""
    below: ast.expr = tree
    while isinstance(below, ast.Subscript):
        below = below.value
    return name_of(below)

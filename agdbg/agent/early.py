"""Conditions that can be answered before anybody has come by: they name only what a node is and how far the program has come.

Such a condition looks at no tensor, calls nothing and sees nothing of the program's frames. So where it is false nobody needs to
stop, to look, or to note what could be taken back.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

_ALLOWED = (
    ast.BoolOp, ast.boolop, ast.UnaryOp, ast.unaryop, ast.BinOp, ast.Add, ast.Sub, ast.Mod, ast.FloorDiv,
    ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn,
    ast.IfExp, ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Load,
)  # fmt: skip


class NotInLanguage(Exception):
    """A condition reads something that is not known; the message says what."""


@dataclass(frozen=True)
class Language:
    """What a condition may read.

    Attributes:
        plain: names.
        fields: by a name what may be read off it.
        lists: names of lists of tensors, which may be indexed by a number.
        tensors: names of tensors.
        of_tensors: what may be read off a tensor.
        methods: what of a tensor may be called, without arguments.
    """

    plain: frozenset[str]
    fields: Mapping[str, frozenset[str]]
    lists: frozenset[str] = frozenset()
    tensors: frozenset[str] = frozenset()
    of_tensors: frozenset[str] = frozenset()
    methods: frozenset[str] = frozenset()

    def reads(self, expression: str) -> frozenset[str]:
        """The names that it reads, with what it reads off them, as ``node``, ``node.op`` and ``.norm``.

        Raises:
            NotInLanguage: it reads something else.
            SyntaxError, ValueError: it is no Python.
        """
        return frozenset(self._read(ast.parse(expression.strip(), "<breakpoint>", "eval").body))

    def _read(self, tree: ast.AST) -> Iterator[str]:
        if isinstance(tree, ast.Name) and tree.id in self.plain:
            yield tree.id
        elif isinstance(tree, ast.Attribute):
            yield from self._read_field(tree, self.of_tensors)
        elif (
            isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute) and not tree.args and not tree.keywords
        ):
            yield from self._read_field(tree.func, self.methods, with_fields=False)
        elif isinstance(tree, _ALLOWED):
            for each in ast.iter_child_nodes(tree):
                yield from self._read(each)
        else:
            raise NotInLanguage(ast.unparse(tree))

    def _read_field(self, tree: ast.Attribute, known: frozenset[str], *, with_fields: bool = True) -> Iterator[str]:
        of = tree.value
        if with_fields and isinstance(of, ast.Name) and tree.attr in self.fields.get(of.id, ()):
            yield from (of.id, f"{of.id}.{tree.attr}")
            return
        name = self._tensor(of)
        if not name or tree.attr not in known:
            raise NotInLanguage(ast.unparse(tree))
        yield from (name, f".{tree.attr}")

    def _tensor(self, tree: ast.AST) -> str:
        """The name off which a tensor is read; empty where it is none."""
        if isinstance(tree, ast.Name):
            return tree.id if tree.id in self.tensors else ""
        if (
            isinstance(tree, ast.Subscript)
            and isinstance(tree.value, ast.Name)
            and isinstance(tree.slice, ast.Constant)
        ):
            return tree.value.id if tree.value.id in self.lists and type(tree.slice.value) is int else ""
        return ""


NODE = frozenset({"op", "id", "seq", "parameter", "module", "file", "line"})
"""What may be read off ``node``."""
EARLY = Language(frozenset({"step", "rank"}), {"node": NODE, "event": frozenset({"kind"})})
EVENTS = {kind: SimpleNamespace(kind=kind) for kind in ("born", "before")}


class Early(NamedTuple):
    """A condition.

    Attributes:
        test: takes ``step``, ``rank``, ``node`` and ``event``.
        names: those of them that it reads; of ``node`` also the fields, as ``node.op``.
    """

    test: Callable[[Any, Any, Any, Any], Any]
    names: frozenset[str]


@cache
def early(expression: str) -> Early | None:
    """The condition, if it is one that can be answered early."""
    try:
        names = EARLY.reads(expression)
    except (SyntaxError, ValueError, NotInLanguage):
        return None
    scope: dict[str, Any] = {"__builtins__": {}}
    return Early(eval(f"lambda step, rank, node, event: ({expression.strip()}\n)", scope), names)

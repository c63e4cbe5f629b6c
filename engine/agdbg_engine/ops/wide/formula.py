"""Formulas of rows as functions: the same text runs on buffers and, under ``create_graph``, on tensors."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from .. import formulas
from ..row import names_in


class Formula:
    """An expression of a row.

    A function that it calls is one of :mod:`..formulas`, given the namespace first, or else one of the namespace: a kernel or
    a recorded op. ``shared`` are expressions by name that several formulas of a row read: whichever comes first computes one.
    """

    def __init__(self, text: str, shared: Mapping[str, str] | None = None) -> None:
        self.text = text
        self.shared = shared or {}

    @cached_property
    def given(self) -> tuple[str, ...]:
        """What it reads itself; found out at first use, since a program uses few of the rows."""
        return tuple(sorted(names_in(self.text)))

    @cached_property
    def parts(self) -> dict[str, Formula]:
        """The shared expressions among that."""
        return {n: Formula(t, self.shared) for n, t in self.shared.items() if n in self.given}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What it and its parts read."""
        if not self.parts:
            return self.given
        return tuple(sorted({*self.given, *(n for p in self.parts.values() for n in p.names)}.difference(self.parts)))

    @cached_property
    def function(self) -> Callable[..., Any]:
        """``function(F, *values)`` with the values of :attr:`given` in order; compiled at first use."""
        return self.compiled(self.tree(), {})

    def tree(self) -> ast.expr:
        """The expression with the functions that it calls looked up in their namespaces."""
        body: ast.expr = _Calls().visit(ast.parse(self.text, mode="eval")).body
        return body

    def compiled(self, body: ast.expr, more: dict[str, Any]) -> Callable[..., Any]:
        """``body`` as a function of :attr:`given`; ``more``: what else it calls."""
        arguments = ast.arguments([], [ast.arg("F_"), *(ast.arg(n) for n in self.given)], None, [], [], None, [])
        tree = ast.fix_missing_locations(ast.Expression(ast.Lambda(arguments, body)))
        made: Callable[..., Any] = eval(
            compile(tree, __file__, "eval"), {"f_": formulas, **more}
        )  # text of a row of this package
        return made

    def __call__(self, space: Any, values: dict[str, Any]) -> Any:
        """Its value with the functions of ``space``; what it shares with other formulas is put beside the ``values``."""
        for name, part in self.parts.items():
            if name not in values:
                values[name] = part(space, values)
        return self.function(space, *[values[n] for n in self.given])


class _Calls(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name):
            of_formulas = hasattr(formulas, node.func.id)
            if of_formulas:
                node.args.insert(0, ast.Name("F_", ast.Load()))
            node.func = ast.Attribute(ast.Name("f_" if of_formulas else "F_", ast.Load()), node.func.id, ast.Load())
        return node

"""Tangent formulas of rows: as other formulas, but an operand without a tangent takes no part in them.

It has a :class:`~agdbg_engine.zero_tangent.Zero`, with which nothing is computed, so that 0 * inf does not make NaN of the tangents
of the others. Operators know it. A function of one tangent is linear in it, so nothing is left of it either; a function of
several gets zeros.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cached_property
from typing import Any

from ...zero_tangent import filled, linear
from .formula import Formula


class TangentFormula(Formula):
    """An expression that is linear in the names ``tangents`` together."""

    def __init__(self, text: str, tangents: list[str]) -> None:
        super().__init__(text)
        self.tangents = frozenset(tangents)

    @cached_property
    def function(self) -> Callable[..., Any]:
        """``function(F, *values)`` with the values of ``names`` in order; compiled at first use."""
        return self.compiled(_Zeros(self.tangents).visit(self.tree()), {"linear_": linear, "filled_": filled})


class _Zeros(ast.NodeTransformer):
    """Calls with tangents among their arguments, made to know zeros."""

    def __init__(self, tangents: frozenset[str]) -> None:
        self.tangents = tangents

    def visit_Call(self, node: ast.Call) -> ast.expr:
        having = [i for i, a in enumerate(node.args) if self._depends(a)]
        alone = len(having) == 1 and not isinstance(node.args[having[0]], ast.List | ast.Tuple)
        self.generic_visit(node)
        if alone:
            return _call("linear_", node.func, ast.Constant(having[0]), *node.args)
        for i in having:
            node.args[i] = _filled(node.args[i])
        return node

    def _depends(self, tree: ast.AST) -> bool:
        return any(isinstance(n, ast.Name) and n.id in self.tangents for n in ast.walk(tree))


def _filled(argument: ast.expr) -> ast.expr:
    if isinstance(argument, ast.List | ast.Tuple):
        argument.elts = [_filled(e) for e in argument.elts]
        return argument
    return _call("filled_", argument)


def _call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])

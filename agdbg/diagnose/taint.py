"""Where the value of an expression goes in the function around it, as the source tells: a walk over its statements in order.

A name that is given to something else is no longer the value, each loop is run through twice, and of two branches either may
be taken. What is called is not followed; what comes back from it is taken for the value.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from agdbg.diagnose.source import called
from agdbg.diagnose.syntax import name_of

_Loop = ast.For | ast.AsyncFor | ast.While
_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
#: Methods that put what they are given into what they are called on; so do those whose names end in ``_``.
_TAKING = ("append", "appendleft", "extend", "add", "insert", "update", "setdefault", "put", "push", "store")


@dataclass
class Taint:
    """The walk.

    Attributes:
        seeds: statements that compute the value.
        names: what has the value now.
        touched: the statements that read it or compute it, except where they only ask whether to go on.
        returned: whether a function gives it back.
    """

    seeds: frozenset[int]
    names: set[str] = field(default_factory=set)
    touched: list[ast.stmt] = field(default_factory=list)
    returned: bool = False

    def run(self, body: Iterable[ast.stmt]) -> None:
        """Go through statements."""
        for each in body:
            self._step(each)

    def _step(self, statement: ast.stmt) -> None:
        if isinstance(statement, _Scope):
            return
        if isinstance(statement, _Loop):
            self._loop(statement)
        elif isinstance(statement, ast.If | ast.Try | ast.TryStar | ast.Match):
            self._either(statement)
        elif isinstance(statement, ast.With | ast.AsyncWith):
            self.run(statement.body)
        else:
            self._simple(statement)

    def _loop(self, loop: _Loop) -> None:
        before = set(self.names)
        for _ in range(2):
            if isinstance(loop, ast.For | ast.AsyncFor):
                self._give([loop.target], self._has(loop.iter))
            self.run(loop.body)
            self.names |= before
        self.run(loop.orelse)

    def _either(self, statement: ast.If | ast.Try | ast.TryStar | ast.Match) -> None:
        if isinstance(statement, ast.If):
            branches = [statement.body, statement.orelse]
        elif isinstance(statement, ast.Match):
            branches = [each.body for each in statement.cases]
        else:
            branches = [[*statement.body, *statement.orelse], *(each.body for each in statement.handlers)]
        before, after = set(self.names), set()
        for body in branches:
            self.names = set(before)
            self.run(body)
            after |= self.names
        self.names = after
        if isinstance(statement, ast.Try | ast.TryStar):
            self.run(statement.finalbody)

    def _simple(self, statement: ast.stmt) -> None:
        value = getattr(statement, "value", None)
        has = id(statement) in self.seeds or self._has(value if value is not None else statement)
        if isinstance(statement, ast.AugAssign):
            has |= name_of(statement.target) in self.names
        if has:
            self.touched.append(statement)
        if isinstance(statement, ast.Return):
            self.returned |= has
        elif isinstance(statement, ast.Assign):
            self._assign(statement, has)
        elif (isinstance(statement, ast.AnnAssign) and value is not None) or (
            isinstance(statement, ast.AugAssign) and has
        ):
            self._give([statement.target], has)
        for each in ast.walk(statement) if has else ():
            if isinstance(each, ast.NamedExpr):
                self._give([each.target], True)
            elif isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and _takes(each):
                self._give([each.func.value], True)

    def _assign(self, statement: ast.Assign, has: bool) -> None:
        for target in statement.targets:
            if id(statement) not in self.seeds and _are_pairs(target, statement.value):
                assert isinstance(target, ast.Tuple | ast.List) and isinstance(statement.value, ast.Tuple | ast.List)
                for each, given in zip(target.elts, statement.value.elts, strict=True):
                    self._give([each], self._has(given))
            else:
                self._give([target], has)

    def _give(self, targets: Iterable[ast.expr], has: bool) -> None:
        for target in targets:
            if isinstance(target, ast.Tuple | ast.List):
                self._give(target.elts, has)
            elif isinstance(target, ast.Starred):
                self._give([target.value], has)
            elif isinstance(target, ast.Subscript):
                self._give([target.value] if has else [], has)
            elif (name := name_of(target)) and has:
                self.names.add(name)
            elif name:
                self.names.discard(name)

    def _has(self, tree: ast.AST) -> bool:
        """Whether a tree reads a name that has the value."""
        parts = ast.walk(tree) if self.names else ()
        reads = (each for each in parts if isinstance(each, ast.Name | ast.Attribute))
        return any(isinstance(each.ctx, ast.Load) and name_of(each) in self.names for each in reads)


def _takes(made: ast.Call) -> bool:
    name = called(made)
    return bool(made.args) and (name in _TAKING or (name.endswith("_") and not name.endswith("__")))


def _are_pairs(target: ast.expr, value: ast.expr) -> bool:
    both = (ast.Tuple, ast.List)
    if not isinstance(target, both) or not isinstance(value, both) or len(target.elts) != len(value.elts):
        return False
    return not any(isinstance(each, ast.Starred) for each in (*target.elts, *value.elts))

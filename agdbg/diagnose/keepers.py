"""The list or dict into which a program puts what a line makes, and whether it ever lets go of it. Needs the source alone."""

import ast
import copy
import linecache
from collections.abc import Iterator
from dataclasses import dataclass

from agdbg.diagnose.carriers import is_call_of, loops
from agdbg.diagnose.enclosing import Scope, module_of, place
from agdbg.diagnose.source import QUOTE_LIMIT, called
from agdbg.diagnose.syntax import name_of, unparse
from agdbg.record.lookup import Site

_ADDING = {"append", "extend", "add", "insert", "put", "setdefault", "appendleft"}
_LETTING_GO = {"clear", "pop", "popleft", "popitem", "remove", "discard"}
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
_MANY = ast.List | ast.Tuple | ast.Set | ast.Dict | ast.Starred
#: How many names and functions are followed from one to the next.
STEPS = 3


@dataclass(frozen=True)
class Keeper:
    """A statement that puts something into ``bank``, and the expression for what it puts there."""

    bank: str
    statement: ast.stmt
    kept: ast.expr
    site: Site

    def with_detached(self) -> str:
        """The statement with what it keeps detached; empty when it is too long to quote."""
        new = unparse(_Detached(self.kept).visit(copy.deepcopy(self.statement)))
        return new if len(new) <= 2 * QUOTE_LIMIT else ""


class _Detached(ast.NodeTransformer):
    """Writes ``.detach()`` behind the expression that stands where another one does."""

    def __init__(self, kept: ast.expr) -> None:
        self._kept = kept

    def visit(self, node: ast.AST) -> ast.AST:
        if not isinstance(node, ast.expr) or _span(node) != _span(self._kept) or type(node) is not type(self._kept):
            return self.generic_visit(node)
        return ast.Call(ast.Attribute(node, "detach", ast.Load()), [], [])


def _span(tree: ast.expr) -> tuple[int, int, int | None, int | None]:
    return tree.lineno, tree.col_offset, tree.end_lineno, tree.end_col_offset


def keeper_of(made: Site, call: Site) -> Keeper | None:
    """What keeps the results of a line for good, in the loop around a call of backward; None when nothing is known to."""
    tree, here = module_of(made.file), place(made)
    caller = module_of(call.file)
    if tree is None or caller is None or not here.known or made.end_col < 0:
        return None
    source = _Source(tree, made)
    for statement, kept, bank in source.puts(here.around[-1], STEPS):
        turns = [loop for loop, _, _ in loops(caller, call) if source.is_in_turn(statement, loop)]
        if turns and not source.lets_go(bank, statement, turns[0], caller):
            line = linecache.getline(made.file, statement.lineno).rstrip("\n")
            return Keeper(
                unparse(bank), statement, kept, Site(made.file, statement.lineno, source.function(statement), text=line)
            )
    return None


class _Source:
    """The file of a line that made something."""

    def __init__(self, tree: ast.Module, made: Site) -> None:
        self._tree, self._made = tree, made
        self._above = {id(child): each for each in ast.walk(tree) for child in ast.iter_child_nodes(each)}

    # ----- what puts it somewhere -----

    def puts(self, part: ast.AST, steps: int) -> Iterator[tuple[ast.stmt, ast.expr, ast.expr]]:
        """Each statement that puts the value of an expression into something, with the expression and what it is put into."""
        if not isinstance(part, ast.expr):
            return
        outer: ast.AST = part
        while isinstance(self._above.get(id(outer)), _MANY):
            outer = self._above[id(outer)]
        above = self._above.get(id(outer))
        if isinstance(above, ast.Call) and outer is not above.func:
            yield from self._given(above, outer, part, steps)
        elif isinstance(above, ast.keyword):
            call = self._above.get(id(above))
            if isinstance(call, ast.Call):
                yield from self._given(call, above, part, steps)
        elif isinstance(above, ast.AugAssign) and isinstance(above.op, ast.Add) and outer is not part:
            yield above, part, above.target
        elif isinstance(above, ast.Assign):
            for target in above.targets:
                if isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Constant | ast.Slice):
                    yield above, part, target.value
                elif isinstance(target, ast.Name) and outer is part and steps:
                    yield from self._named(target.id, self._scope(above), steps - 1)
        elif isinstance(above, ast.Return) and outer is part and steps:
            scope = self._scope(above)
            for call in self._calls(scope):
                yield from self.puts(call, steps - 1)

    def _given(
        self, call: ast.Call, at: ast.AST, part: ast.expr, steps: int
    ) -> Iterator[tuple[ast.stmt, ast.expr, ast.expr]]:
        """The same of what a call is given: it puts it into a list, or is one of a function of the file that does so."""
        statement = self._above.get(id(call))
        if isinstance(call.func, ast.Attribute) and call.func.attr in _ADDING and isinstance(statement, ast.Expr):
            yield statement, part, call.func.value
            return
        functions = [each for each in ast.walk(self._tree) if isinstance(each, _FUNCTION) and each.name == called(call)]
        if len(functions) == 1 and steps:
            name = _parameter(functions[0], call, at)
            yield from self._named(name, functions[0], steps - 1) if name else ()

    def _named(self, name: str, scope: ast.AST, steps: int) -> Iterator[tuple[ast.stmt, ast.expr, ast.expr]]:
        for each in ast.walk(scope):
            named = isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Load)
            if named and self._scope(each) is scope:
                yield from self.puts(each, steps)

    def _calls(self, scope: ast.AST) -> list[ast.Call]:
        """The calls in the file of a function: by its name, or of an object of its class."""
        if not isinstance(scope, _FUNCTION):
            return []
        inside = [each for each in ast.walk(self._tree) if isinstance(each, ast.Call)]
        mine = scope is place(self._made).function
        return [
            each for each in inside if called(each) == scope.name or (mine and is_call_of(self._tree, each, self._made))
        ]

    def _scope(self, part: ast.AST) -> ast.AST:
        """The function around a part of the file, else the file."""
        while not isinstance(part, (Scope, ast.Module)):
            part = self._above[id(part)]
        return part

    def function(self, statement: ast.stmt) -> str:
        """The function around a statement, with its class; empty at the level of the file."""
        scope = self._scope(statement)
        outer = self._above.get(id(scope))
        name = scope.name if isinstance(scope, _FUNCTION) else ""
        return f"{outer.name}.{name}" if isinstance(outer, ast.ClassDef) else name

    # ----- whether it lets go -----

    def is_in_turn(self, statement: ast.stmt, loop: ast.stmt) -> bool:
        """Whether a statement runs in the turns of a loop: it is in it, or in a function that is called there by its name."""
        inside = list(ast.walk(loop))
        scope = self._scope(statement)
        names = {called(each) for each in inside if isinstance(each, ast.Call)}
        return any(each is statement for each in inside) or (isinstance(scope, _FUNCTION) and scope.name in names)

    def lets_go(self, bank: ast.expr, statement: ast.stmt, loop: ast.stmt, caller: ast.Module) -> bool:
        """Whether something empties what keeps it, bounds it or makes it anew; True also where one cannot see that."""
        name, scope = name_of(bank), self._scope(statement)
        if not name:
            return True
        root = name.partition(".")[0].partition("[")[0]
        if isinstance(scope, _FUNCTION) and not any(each is statement for each in ast.walk(loop)):
            given = {each.arg for each in ast.walk(scope.args) if isinstance(each, ast.arg)}
            if (root in given and "." not in name) or _stores(scope, root):
                return True  # another list in every run of the function, or one may be
        within = {id(each) for each in ast.walk(loop)}
        return any(
            _ends(each, name, root, inside=id(each) in within or self._is_aside(each))
            for tree in dict.fromkeys((self._tree, caller))
            for each in ast.walk(tree)
        )

    def _is_aside(self, part: ast.AST) -> bool:
        """Whether a statement is in a method that may run in any turn: every one but ``__init__``."""
        above = self._above.get(id(part))
        while above is not None and not isinstance(above, Scope):
            above = self._above.get(id(above))
        outer = self._above.get(id(above)) if isinstance(above, _FUNCTION) else None
        return isinstance(outer, ast.ClassDef) and isinstance(above, _FUNCTION) and above.name != "__init__"


def _ends(tree: ast.AST, name: str, root: str, *, inside: bool) -> bool:
    """Whether a part of a file empties a list or dict of this name, bounds it or, inside of the loop, makes it anew."""
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute) and tree.func.attr in _LETTING_GO:
        return _same(tree.func.value, name)
    if isinstance(tree, ast.Delete):
        return any(_same(each.value if isinstance(each, ast.Subscript) else each, name) for each in tree.targets)
    if not isinstance(tree, ast.Assign | ast.AnnAssign):
        return False
    targets = tree.targets if isinstance(tree, ast.Assign) else [tree.target]
    for each in targets:
        if isinstance(each, ast.Subscript) and isinstance(each.slice, ast.Slice) and _same(each.value, name):
            return True
        bounded = isinstance(tree.value, ast.Call) and called(tree.value) == "deque"
        if (inside or bounded) and (_same(each, name) or name_of(each) == root):
            return True
    return False


def _same(tree: ast.expr, name: str) -> bool:
    """Whether an expression is called so; an attribute may be one of an object with another name."""
    tail = name.rpartition(".")[2]
    return name_of(tree) == name or (isinstance(tree, ast.Attribute) and "." in name and tree.attr == tail)


def _stores(scope: ast.AST, name: str) -> bool:
    """Whether a function has a variable of this name as its own."""
    inside = list(ast.walk(scope))
    if any(name in each.names for each in inside if isinstance(each, ast.Global | ast.Nonlocal)):
        return False
    return any(isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Store) for each in inside)


def _parameter(function: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call, at: ast.AST) -> str:
    """What a function calls the argument of a call; empty when that is not clear."""
    if isinstance(at, ast.keyword):
        return at.arg or ""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    names = names[1:] if names[:1] in (["self"], ["cls"]) else names
    index = next((place for place, each in enumerate(call.args) if each is at), len(names))
    return names[index] if index < len(names) else ""

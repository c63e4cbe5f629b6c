"""The list or dict into which a program puts what a line makes, and whether it ever lets go of it. Needs the source alone."""

import ast
import copy
import linecache
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agdbg.diagnose.carriers import is_call_of, loops
from agdbg.diagnose.enclosing import Scope, module_of, place
from agdbg.diagnose.source import QUOTE_LIMIT, called
from agdbg.diagnose.syntax import name_of, pairs, unparse
from agdbg.record.lookup import Site

_ADDING = {"append", "extend", "add", "insert", "put", "setdefault", "appendleft"}
_LETTING_GO = {"clear", "pop", "popleft", "popitem", "remove", "discard"}
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
_MANY = ast.List | ast.Tuple | ast.Set | ast.Dict | ast.Starred
_CONTAINERS = ast.List | ast.Set | ast.Dict | ast.ListComp | ast.SetComp | ast.DictComp
_MAKING = {"list", "dict", "set", "deque", "defaultdict", "OrderedDict"}
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
        if (
            turns
            and source.piles_up(bank, statement, turns[-1])
            and not source.lets_go(bank, statement, turns[0], caller)
        ):
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
        statement, functions = self._above.get(id(call)), _functions(self._tree, {called(call)})
        to = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr in _ADDING else None
        if to is not None and isinstance(statement, ast.Expr) and self._is_container(to):
            yield statement, part, to
        elif len(functions) == 1 and steps:
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

    # ----- whether it grows -----

    def _is_container(self, bank: ast.expr) -> bool:
        """Whether the file says that something is a list, a dict or the like: an object has methods of these names as well."""
        while isinstance(bank, ast.Subscript):
            bank = bank.value
        name, found = name_of(bank), []
        for each in ast.walk(self._tree):
            if isinstance(each, ast.Assign):
                found += [value for at in each.targets for one, value in pairs(at, each.value) if _same(one, name)]
            elif isinstance(each, ast.AnnAssign) and each.value is not None and name:
                field = isinstance(self._above.get(id(each)), ast.ClassDef) and name.rpartition(".")[2]
                found += [each.value] if _same(each.target, name) or name_of(each.target) == field else []
        return any(map(_makes_container, found))

    def piles_up(self, bank: ast.expr, statement: ast.stmt, loop: ast.stmt) -> bool:
        """Whether a statement adds to what is there: it puts nothing in the place of what it put there in another turn.

        ``loop``: the outermost one, in whose turns a key is another one where its variable or a counter makes it.
        """
        if not isinstance(statement, ast.Assign):
            return True
        inside = list(ast.walk(statement.value))
        targets = [each for each in statement.targets if isinstance(each, ast.Subscript) and each.value is bank]
        if any(isinstance(each, ast.Attribute) and each.attr in ("detach", "data") for each in inside):
            return False
        kept = {unparse(each) for each in targets}
        if any(isinstance(each, ast.expr) and unparse(each) in kept for each in inside):
            return True  # the new one is computed from the old one
        turning = {name_of(each.target) for each in ast.walk(loop) if isinstance(each, ast.AugAssign)}
        if isinstance(loop, ast.For | ast.AsyncFor):
            turning |= {each.id for each in ast.walk(loop.target) if isinstance(each, ast.Name)}
        keys = [each for target in targets for each in ast.walk(target.slice) if isinstance(each, ast.expr)]
        return any(name_of(each) in turning or (isinstance(each, ast.Call) and called(each) == "len") for each in keys)

    # ----- whether it lets go -----

    def is_in_turn(self, statement: ast.stmt, loop: ast.stmt) -> bool:
        """Whether a statement runs in the turns of a loop: it is in it, or in a function that is called there."""
        scope = self._scope(statement)
        return _is_in(statement, loop) or (isinstance(scope, _FUNCTION) and scope.name in self._reached(loop))

    def _reached(self, loop: ast.stmt) -> set[str]:
        """The names of what is called in the turns of a loop, also by the functions of the file that are called there."""
        found: set[str] = set()
        new = _called_in([loop])
        while new:
            found |= new
            new = _called_in(_functions(self._tree, new)) - found
        return found

    def lets_go(self, bank: ast.expr, statement: ast.stmt, loop: ast.stmt, caller: ast.Module) -> bool:
        """Whether something empties what keeps it, bounds it or makes it anew; True also where one cannot see that."""
        name, scope = name_of(bank), self._scope(statement)
        if not name:
            return True
        root = name.partition(".")[0].partition("[")[0]
        while isinstance(scope, _FUNCTION) and not _is_in(loop, scope):
            given = {each.arg for each in ast.walk(scope.args) if isinstance(each, ast.arg)}
            if (root in given and "." not in name) or _stores(scope, root):
                return True  # another list in every run of the function, or one may be
            scope = self._scope(self._above[id(scope)])
        trees, reached = tuple(dict.fromkeys((self._tree, caller))), self._reached(loop)
        if root == "self" and self._is_made_anew(statement, trees, reached):
            return True
        within = {id(each) for each in ast.walk(loop)}
        return any(
            _ends(each, name, root, inside=id(each) in within or self._is_aside(each, reached))
            or (isinstance(each, ast.Call) and self._is_ended_by(each, name))
            for tree in trees
            for each in ast.walk(tree)
        )

    def _is_made_anew(self, statement: ast.stmt, trees: tuple[ast.Module, ...], reached: set[str]) -> bool:
        """Whether the object of a method is made in the turns of a loop, or begins anew by ``__init__()``."""
        outer = self._above.get(id(self._scope(statement)))
        name = outer.name if isinstance(outer, ast.ClassDef) else ""
        parts = (each for tree in trees for each in ast.walk(tree))
        again = (each for each in parts if isinstance(each, ast.Attribute) and each.attr == "__init__")
        return name in reached or any(map(name_of, again))  # `super().__init__` has no name before the dot

    def _is_ended_by(self, call: ast.Call, name: str) -> bool:
        """Whether a call gives something of this name to a function of the file that lets it go."""
        for at in (*call.args, *call.keywords):
            given = at.value if isinstance(at, ast.keyword) else at
            if isinstance(given, ast.expr) and _same(given, name):
                for each in _functions(self._tree, {called(call)}):
                    inner = _parameter(each, call, at)
                    if inner and any(_ends(part, inner, inner, inside=False) for part in ast.walk(each)):
                        return True
        return False

    def _is_aside(self, part: ast.AST, reached: set[str]) -> bool:
        """Whether a statement may run in any turn: in a method, except for ``__init__``, or in a function that is called there."""
        above = self._above.get(id(part))
        while above is not None and not isinstance(above, Scope):
            above = self._above.get(id(above))
        if not isinstance(above, _FUNCTION):
            return False
        method = isinstance(self._above.get(id(above)), ast.ClassDef)
        return above.name != "__init__" if method else above.name in reached


def _functions(tree: ast.Module, names: set[str]) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions and methods of a file with one of these names."""
    return [each for each in ast.walk(tree) if isinstance(each, _FUNCTION) and each.name in names]


def _called_in(trees: Sequence[ast.AST]) -> set[str]:
    return {called(each) for tree in trees for each in ast.walk(tree) if isinstance(each, ast.Call)} - {""}


def _is_in(part: ast.AST, tree: ast.AST) -> bool:
    return any(each is part for each in ast.walk(tree))


def _makes_container(value: ast.expr) -> bool:
    """Whether an expression is a new list, dict or the like, also as the field of a dataclass."""
    if isinstance(value, ast.Call) and called(value) == "field":
        return any(each.arg == "default_factory" and name_of(each.value) in _MAKING for each in value.keywords)
    return isinstance(value, _CONTAINERS) or (isinstance(value, ast.Call) and called(value) in _MAKING)


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

"""The variables by which a call hands a state from one turn of a loop to the next: ``h`` of ``out, h = net(x, h)``.

Needs the source alone. A name is such a variable when the loop reads it before it gives it a value, hands it to a call, and
gives it what that call returned.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from agdbg.diagnose.enclosing import Scope, function_of, module_of, place, site_of
from agdbg.diagnose.source import called, quoted
from agdbg.diagnose.syntax import name_of, pairs, unparse
from agdbg.record.lookup import Site

LOOP = (ast.For, ast.AsyncFor, ast.While)
_DEFINED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
#: Functions that choose among what they are given.
_CHOOSING = {"min", "max", "sum", "zip", "enumerate", "reversed", "list", "tuple", "print"}
#: How many functions the call of backward may be away from the loop.
DEPTH = 2


@dataclass(frozen=True)
class Carriers:
    """What carries it, in which function the loop runs, and what of the loop it is to be detached behind.

    ``behind`` is empty when that is the call of backward itself.
    """

    names: tuple[str, ...]
    function: str
    behind: str = ""
    site: Site | None = None


def held_as(site: Site) -> list[str]:
    """The names that a statement gives what the call at its right side returned, of those that the call was given."""
    here = place(site)
    statement = here.statement
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or here.around[-1] not in (statement, statement.value):
        return []
    return _carried_by(statement)


def targets_of(site: Site) -> list[str]:
    """All the names that the statement around a site gives a value, several at once: ``out, h = ...``."""
    statement = place(site).statement
    several = isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple | ast.List)
    return list(stored_by(statement)) if several and statement is not None else []


def carriers(call: Site, made: Site) -> Carriers | None:
    """What carries a state that the function around ``made`` returned, in the loop around a call; None when that is not clear."""
    tree = module_of(call.file)
    if tree is None:
        return None
    for loop, function, by in loops(tree, call):
        names = _of_loop(tree, loop, made)
        if names:
            return _carriers(names, function, call, by)
    return None


def given_as(call: Site, made: Site, parameters: tuple[str, ...]) -> Carriers | None:
    """What the loop around a call gives the function around ``made`` as these parameters; None when that is not clear."""
    tree, defined = module_of(call.file), place(made).function
    if tree is None or not isinstance(defined, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    for loop, function, by in loops(tree, call):
        for each in (part for part in ast.walk(loop) if isinstance(part, ast.Call) and is_call_of(tree, part, made)):
            names = tuple(_argument(defined, each, parameter) for parameter in parameters)
            if all(names):
                return _carriers(names, function, call, by)
    return None


def _carriers(names: tuple[str, ...], function: str, call: Site, by: ast.expr | None) -> Carriers:
    return Carriers(names, function, quoted(unparse(by)) if by else "", site_of(call, by) if by else None)


def _argument(defined: ast.FunctionDef | ast.AsyncFunctionDef, made: ast.Call, parameter: str) -> str:
    """The name that a call gives a parameter; empty when it is none."""
    names = [each.arg for each in (*defined.args.posonlyargs, *defined.args.args)]
    bound = 1 if names[:1] == ["self"] else 0
    at = names.index(parameter) - bound if parameter in names else len(made.args)
    by_key = next((each.value for each in made.keywords if each.arg == parameter), None)
    given = by_key or (made.args[at] if 0 <= at < len(made.args) else None)
    return name_of(given) if given is not None else ""


# ----- loops -----


def loops(tree: ast.Module, call: Site) -> Iterator[tuple[ast.stmt, str, ast.expr | None]]:
    """The loops around a call, the inner first, then those around the calls of its function; with their functions and that call."""
    here = place(call)
    if not here.known:
        return
    yield from ((loop, _name(function), None) for loop, function in _around(here.around))
    function, paths = here.function, None
    for _ in range(DEPTH):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            return
        name = function.name
        paths = paths or list(calls_in(tree))
        function = None
        for path in paths:
            by = path[-1]
            if not isinstance(by, ast.Call) or called(by) != name:
                continue
            yield from ((loop, _name(each), by) for loop, each in _around(path))
            function = function or next((each for each in reversed(path) if isinstance(each, Scope)), None)


def _around(path: tuple[ast.AST, ...]) -> Iterator[tuple[ast.stmt, ast.AST | None]]:
    """The loops of the innermost function of a path, the inner first, and that function."""
    for each in reversed(path):
        if isinstance(each, Scope):
            return
        if isinstance(each, LOOP):
            yield each, next((one for one in reversed(path) if isinstance(one, Scope)), None)


def _name(function: ast.AST | None) -> str:
    return function.name if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) else ""


def calls_in(tree: ast.AST) -> Iterator[tuple[ast.AST, ...]]:
    """The way to every call of a tree."""
    todo: list[tuple[ast.AST, tuple[ast.AST, ...]]] = [(tree, ())]
    while todo:
        here, before = todo.pop()
        path = (*before, here)
        if isinstance(here, ast.Call):
            yield path
        todo += [(each, path) for each in reversed(list(ast.iter_child_nodes(here)))]


# ----- one loop -----


def _of_loop(tree: ast.Module, loop: ast.stmt, made: Site) -> tuple[str, ...]:
    read = exposed(loop)
    found: list[tuple[ast.stmt, list[str]]] = []
    inside = list(statements_in(loop))
    numbers = {
        name
        for each in ast.walk(tree)
        if isinstance(each, ast.Assign) and _is_number(each.value)
        for name in stored_by(each)
    }
    for each in inside:
        names = [name for name in _handed_on(each, inside) if name in read and name not in numbers]
        if names:
            found.append((each, names))
    calling = [(each, names) for each, names in found if _calls(tree, each, made)]
    all_names = {tuple(names) for _, names in calling or found}
    if len(all_names) > 1 and not calling:
        return ()
    return tuple(dict.fromkeys(name for _, names in calling or found for name in names))


def _handed_on(statement: ast.stmt, inside: list[ast.stmt]) -> list[str]:
    """What a statement hands to a call and gets back by itself, or by another one that copies it: ``h = new``."""
    given, stored = _given(statement), set(stored_by(statement))
    if not given or not stored:
        return []
    copied = [
        name
        for each in inside
        if isinstance(each, ast.Assign) and (parts := list(_bare(each.value))) and _of(parts) <= stored
        for name in stored_by(each)
    ]
    return [name for name in dict.fromkeys((*_carried_by(statement), *copied)) if name in given]


def _of(names: list[str]) -> set[str]:
    """What some names begin with: of ``out.state``, which a call returned as ``out``, that."""
    return {name if name.isidentifier() else name.partition(".")[0].partition("[")[0] for name in names}


def _carried_by(statement: ast.stmt) -> list[str]:
    given = _given(statement)
    return [name for name in stored_by(statement) if name in given]


def _given(statement: ast.stmt) -> set[str]:
    """What the calls of an assignment are given, bare or in tuples and lists."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
        return set()
    made = [each for each in ast.walk(statement.value) if isinstance(each, ast.Call) and called(each) not in _CHOOSING]
    return {
        name for each in made for part in (*each.args, *(key.value for key in each.keywords)) for name in _bare(part)
    }


def _bare(tree: ast.expr) -> Iterator[str]:
    """The names in a tuple or list, or the one that stands there; an empty one where there is anything else."""
    if isinstance(tree, ast.Tuple | ast.List):
        for each in tree.elts:
            yield from _bare(each)
    elif isinstance(tree, ast.Starred):
        yield from _bare(tree.value)
    else:
        yield name_of(tree)


def stored_by(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement itself gives a value; of a loop its variables."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign | ast.For | ast.AsyncFor):
        targets = [statement.target]
    return (name for each in targets for name in _bare(each) if name)


def statements_in(loop: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a loop or a module, without those of functions that it defines."""
    todo: list[ast.AST] = list(_blocks(loop))
    while todo:
        here = todo.pop(0)
        if isinstance(here, ast.stmt) and not isinstance(here, _DEFINED):
            yield here
            todo += _blocks(here)


def _blocks(statement: ast.AST) -> Iterator[ast.stmt]:
    for each in ast.iter_child_nodes(statement):
        if isinstance(each, ast.stmt):
            yield each
        elif isinstance(each, ast.ExceptHandler | ast.match_case):
            yield from each.body


def exposed(loop: ast.stmt) -> set[str]:
    """The names that a turn of a loop reads before it has given them a value."""
    found: set[str] = set()
    _visit(_blocks(loop), set(stored_by(loop)), found)
    return found


def _visit(statements: Iterable[ast.stmt], stored: set[str], found: set[str]) -> None:
    for each in statements:
        if isinstance(each, _DEFINED):
            continue
        heads = [part for part in ast.iter_child_nodes(each) if isinstance(part, ast.expr)]
        read = {
            unparse(part)
            for head in heads
            for part in ast.walk(head)
            if isinstance(part, ast.Name | ast.Attribute | ast.Subscript) and isinstance(part.ctx, ast.Load)
        }
        own = {name for head in heads for name in _variables(head)}
        found |= read - stored - own
        # A branch or a loop may not run: what it gives a value is known inside of it only.
        within = stored if isinstance(each, ast.With | ast.AsyncWith) else stored | set(stored_by(each))
        _visit(_blocks(each), within, found)
        if not isinstance(each, ast.For | ast.AsyncFor):
            stored |= set(stored_by(each))


def _variables(tree: ast.expr) -> Iterator[str]:
    """The variables of the comprehensions in an expression."""
    made = (each.target for each in ast.walk(tree) if isinstance(each, ast.comprehension))
    return (name for each in made for name in _bare(each) if name)


def _is_number(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Constant) and tree.value is not None


def _calls(tree: ast.Module, statement: ast.stmt, made: Site) -> bool:
    """Whether a statement calls the function around a site by its name, or an object of its class."""
    return any(is_call_of(tree, each, made) for each in ast.walk(statement) if isinstance(each, ast.Call))


def is_call_of(tree: ast.Module, call: ast.Call, made: Site) -> bool:
    """Whether a call is one of the function around a site by its name, or of an object of its class."""
    parts = function_of(made).split(".")
    objects = objects_of(tree, parts[-2]) if len(parts) > 1 and parts[-1] in ("forward", "__call__") else set()
    return called(call) == parts[-1] or name_of(call.func) in objects


def objects_of(tree: ast.Module, class_name: str) -> set[str]:
    """The names that a file gives objects of a class: ``net`` of ``net = Net()``."""
    return {
        name
        for each in ast.walk(tree)
        if isinstance(each, ast.Assign)
        for target in each.targets
        for part, value in pairs(target, each.value)
        if isinstance(value, ast.Call) and called(value) == class_name and (name := name_of(part))
    }

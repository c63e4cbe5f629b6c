"""Whether what a fix says means the same where the fix puts it: the names of one function are others, or nothing, in another one.

Needs the source alone. A name of the line that made something is the same variable at the place of the fix when both find it in the
same scope; an index, ``i`` of ``cache[i]``, besides only while nothing gives it another value in between.
"""

import ast
from collections.abc import Iterator

from agdbg.diagnose.carriers import LOOP, exposed, loops, statements_in, stored_by
from agdbg.diagnose.enclosing import COMPREHENSIONS, Place, Scope, function_of, module_of, place, site_of
from agdbg.diagnose.source import called
from agdbg.diagnose.syntax import name_of
from agdbg.record.lookup import Site

_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def reaches(name: str, made: Site, there: Site) -> str:
    """What a name of the line ``made`` is called at ``there``: itself, or what holds it if its index is no name there; else empty.

    Nothing as well where the source is not known: then a fix cannot say.
    """
    try:
        tree = ast.parse(name, mode="eval").body
    except SyntaxError:
        return ""
    here, goal = place(made), place(there)
    if made.file != there.file or not (here.known and goal.known):
        return name if (made.file, made.func) == (there.file, there.func) else ""
    found: ast.expr = tree
    below: ast.expr = tree
    while isinstance(below, ast.Attribute | ast.Subscript):
        if isinstance(below, ast.Subscript) and not _is_fixed(below.slice, made, there):
            found = below.value
        below = below.value
    root = name_of(below)
    if not root.isidentifier() or not _is_same(root, here, goal):
        return ""
    return name_of(found)


def whole(name: str) -> str:
    """What holds an item whose index is a variable: ``self.state`` of ``self.state[k]``, and ``hs[0]`` of ``hs[0][k]``."""
    try:
        tree = ast.parse(name, mode="eval").body
    except SyntaxError:
        return name
    found = below = tree
    while isinstance(below, ast.Attribute | ast.Subscript):
        if isinstance(below, ast.Subscript) and not isinstance(below.slice, ast.Constant):
            found = below.value
        below = below.value
    return name_of(found)


def is_cache(made: Site) -> bool:
    """Whether a line keeps what it makes for good, ``if k not in cache: cache[k] = net(x)``: detached it is trained no more."""
    here = place(made)
    target = here.statement.targets[0] if isinstance(here.statement, ast.Assign) else None
    if not isinstance(target, ast.Subscript):
        return False
    tests = [each.test for each in here.around if isinstance(each, ast.If)]
    return any(
        isinstance(each, ast.Compare)
        and isinstance(each.ops[0], ast.NotIn)
        and name_of(each.comparators[0]).removesuffix(".keys()") == name_of(target.value)
        for each in tests
    )


def is_declared(name: str, site: Site) -> str:
    """``global`` or ``nonlocal``, where the function around a site gives a variable of another scope a value; else empty."""
    function = place(site).function
    return _declared(function, name) if function is not None else ""


def is_of_call(name: str, site: Site) -> bool:
    """Whether what a name begins with is a variable of the function around a site that it has for this run alone: no ``self``."""
    function = place(site).function
    root = _root(name)
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    return root in _bound(function) and root not in {each.arg for each in _arguments(function)}


def is_of_self(name: str, made: Site) -> bool:
    """Whether a name begins with the object whose method is around a line."""
    here = place(made)
    return _class_of(here) is not None and "." in name and _root(name) == _first(here.function)


def has_self(name: str, made: Site, there: Site, *, alone: bool = False) -> bool:
    """Whether ``self.h`` of one method is the same in another one of its class: that calls the first as its own, or there is
    one object ``alone``.
    """
    mine, other = _class_of(place(made)), _class_of(place(there))
    root = _root(name)
    if mine is None or mine is not other or "." not in name or not _is_same(root, place(made), place(there)):
        return False
    method = function_of(made).rpartition(".")[2]
    own = {f"{root}.{method}", root} if method in ("forward", "__call__") else {f"{root}.{method}"}
    return (
        alone
        or method == function_of(there).rpartition(".")[2]
        or any(isinstance(each, ast.Call) and name_of(each.func) in own for each in ast.walk(mine))
    )


def known_as(name: str, there: Site) -> str:
    """What an object that a file calls ``name`` at the top is called at a place: so too, or the parameter that is given it."""
    goal, tree = place(there), module_of(there.file)
    if not goal.known or tree is None:
        return name
    root = _root(name)
    owner = _owner(root, goal)
    if owner is None:
        stored = {_root(each) for one in statements_in(tree) for each in stored_by(one)}
        return name if root in stored else ""
    if root == "self":
        kind = _class_of(goal)
        made = (
            any(isinstance(each, ast.Assign) and name in stored_by(each) for each in ast.walk(kind)) if kind else False
        )
        return name if made else ""
    function = goal.function
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return ""
    if root not in {each.arg for each in _arguments(function)}:
        return name if owner is function or any(owner is each for each in goal.around) else ""
    given = [each for each in ast.walk(tree) if isinstance(each, ast.Call) and called(each) == function.name]
    at = [each.arg for each in _arguments(function)].index(root)
    return name if any(name in [name_of(part) for part in each.args[at : at + 1]] for each in given) else ""


def carried_as(name: str, used: str, made: Site, consumer: Site | None, call: Site | None) -> str:
    """What hands on what a line of a loop calls ``name``, where each turn makes that anew before it reads it; else ``name``.

    ``ema`` of ``out = net(x)`` and ``ema = out if ema is None else 0.9 * ema + 0.1 * out``. Empty: it is not known.
    """
    if consumer is None or call is None or not name.isidentifier() or is_declared(name, made):
        return name
    loop = next((each for each in _loops_around(call, made)), None)
    if loop is None:
        return name
    late = exposed(loop)
    if name in late or _reads_in_functions(module_of(made.file), name):
        return name
    if (made.file, made.func) != (consumer.file, consumer.func):
        return ""  # a function keeps what it was given
    stored = {each for one in statements_in(loop) for each in _stored_in(one)}
    if used in late and used in stored:
        return used
    statement = place(consumer).statement
    read = (
        [name_of(each) for each in ast.walk(statement) if isinstance(each, ast.expr)] if statement is not None else []
    )
    found = list(dict.fromkeys(each for each in read if each and each in late and each in stored))
    return found[0] if len(found) == 1 else ""


def behind(call: Site, made: Site) -> Site | None:
    """The call in the function around ``made`` that leads to one of backward in another function; else None."""
    tree = module_of(call.file) if call.file == made.file else None
    if tree is None or function_of(call) == function_of(made):
        return None
    here = place(made)
    for loop, _, by in loops(tree, call):
        if by is not None and any(each is loop for each in here.around):
            return site_of(made, by)
    return None


def kept_by(used: str, made: Site, consumer: Site | None) -> str:
    """What the function around a line keeps it in, by the name that it was used by there: an attribute or item that it stores."""
    function = place(made).function
    if consumer is None or (made.file, made.func) != (consumer.file, consumer.func) or not used or used.isidentifier():
        return ""
    stores = (
        [each for each in ast.walk(function) if isinstance(each, ast.Attribute | ast.Subscript)] if function else []
    )
    return used if any(isinstance(each.ctx, ast.Store) and name_of(each) == used for each in stores) else ""


def stored_behind(names: list[str], call: Site) -> ast.stmt | None:
    """The last statement of a turn, behind the call, that gives one of these names what the turn made."""
    loop = next(iter(_loops_of(place(call))), None)
    made = {_root(name) for one in statements_in(loop) for name in stored_by(one)} if loop is not None else set()
    found = None
    for each in loop.body if isinstance(loop, (ast.For, ast.AsyncFor, ast.While)) else ():
        if each.lineno > call.line and isinstance(each, ast.Assign) and set(stored_by(each)) & set(names):
            read = {_root(name_of(part)) for part in ast.walk(each.value) if isinstance(part, ast.Name)}
            found = each if read & made else found
    return found


# ----- variables -----


def _root(name: str) -> str:
    return name.partition(".")[0].partition("[")[0]


def _is_fixed(index: ast.expr, made: Site, there: Site) -> bool:
    """Whether an index has the same value at both places: a constant, or variables that nothing gives a value in between."""
    here, goal = place(made), place(there)
    names = {each.id for each in ast.walk(index) if isinstance(each, ast.Name)}
    if not all(_is_same(each, here, goal) for each in names):
        return False
    if here.function is not goal.function:  # a variable of the module, or an object: the other function may change it
        return not any(isinstance(each, ast.Name | ast.Call) for each in ast.walk(index))
    inner = [each for each in here.around if isinstance(each, (*LOOP, *COMPREHENSIONS)) and each not in goal.around]
    lines = range(made.line + 1, there.line + 1) if made.line < there.line else range(1, 1 << 30)
    within = ast.walk(goal.function or (module_of(made.file) or ast.Module([], [])))
    changed = {
        each.id
        for each in within
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store) and each.lineno in lines
    }
    changed |= {
        part.id
        for each in inner
        for part in ast.walk(each)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    return not names & changed


def _is_same(name: str, here: Place, goal: Place) -> bool:
    """Whether a variable is the same at both places; ``self`` in two methods of a class is."""
    one, other = _owner(name, here), _owner(name, goal)
    if one is other:
        return True
    kind = _class_of(here)
    first = [_first(each.function) for each in (here, goal)]
    return kind is not None and kind is _class_of(goal) and first == [name, name]


def _owner(name: str, here: Place) -> ast.AST | None:
    """The function that has a variable, seen from a place; None: the module."""
    scopes = [each for each in here.around if isinstance(each, (Scope, *COMPREHENSIONS))]
    for each in reversed(scopes):
        if isinstance(each, COMPREHENSIONS):
            own = {part.id for one in each.generators for part in ast.walk(one.target) if isinstance(part, ast.Name)}
        else:
            declared = _declared(each, name)
            if declared == "global":
                return None
            own = set() if declared else _bound(each)
        if name in own:
            return each
    return None


def _bound(function: Scope) -> set[str]:
    """The variables of a function: its arguments, and what its own statements give a value."""
    found = {each.arg for each in _arguments(function)}
    for each in _own(function):
        if isinstance(each, _DEFINED):
            found.add(each.name)
        elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            found.add(each.id)
        elif isinstance(each, ast.alias):
            found.add((each.asname or each.name).partition(".")[0])
    return found


def _declared(function: Scope, name: str) -> str:
    """How a function declares a variable of another scope: ``global``, ``nonlocal``, or not at all."""
    for each in _own(function):
        if isinstance(each, ast.Global | ast.Nonlocal) and name in each.names:
            return "global" if isinstance(each, ast.Global) else "nonlocal"
    return ""


def _own(function: Scope) -> Iterator[ast.AST]:
    """What is in a function, without what is in the functions and comprehensions within."""
    body = function.body if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) else [function.body]
    todo: list[ast.AST] = list(body)
    while todo:
        each = todo.pop()
        yield each
        if not isinstance(each, (*_DEFINED, ast.Lambda, *COMPREHENSIONS)):
            todo += ast.iter_child_nodes(each)


def _arguments(function: Scope) -> list[ast.arg]:
    given = function.args
    others = [each for each in (given.vararg, given.kwarg) if each is not None]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *others]


def _first(function: Scope | None) -> str:
    given = _arguments(function) if function is not None else []
    return given[0].arg if given else ""


def _class_of(here: Place) -> ast.ClassDef | None:
    """The class whose method is around a place."""
    for outer, inner in zip(reversed(here.around[:-1]), reversed(here.around), strict=False):
        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
            return outer if isinstance(outer, ast.ClassDef) else None
    return None


def _loops_of(here: Place) -> list[ast.stmt]:
    """The loops of the innermost function around a place, the inner first."""
    found: list[ast.stmt] = []
    for each in reversed(here.around):
        if isinstance(each, Scope):
            break
        if isinstance(each, LOOP):
            found.append(each)
    return found


def _loops_around(call: Site, made: Site) -> list[ast.stmt]:
    """The loops around a line that lead to a call of backward too, the inner first."""
    tree = module_of(call.file) if call.file == made.file else None
    mine = _loops_of(place(made))
    return [loop for loop, _, _ in loops(tree, call) if any(loop is each for each in mine)] if tree is not None else []


def _stored_in(statement: ast.stmt) -> set[str]:
    walrus = {name_of(each.target) for each in ast.walk(statement) if isinstance(each, ast.NamedExpr)}
    augmented = {name_of(statement.target)} if isinstance(statement, ast.AugAssign) else set()
    return {*stored_by(statement), *walrus, *augmented}


def _reads_in_functions(tree: ast.Module | None, name: str) -> bool:
    """Whether a function of the file reads a variable that is none of its own: a call may read it where the line does not."""
    functions = [each for each in ast.walk(tree) if isinstance(each, Scope)] if tree is not None else []
    return any(
        isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load)
        for each in functions
        if name not in _bound(each)
        for part in ast.walk(each)
    )

"""Whether a program without an optimizer trains the leaf that an expression ends the path of: its source reads the ``.grad``."""

import ast

from agdbg.diagnose.enclosing import module_of, place
from agdbg.diagnose.rewrapped import taken_from
from agdbg.diagnose.source import called
from agdbg.diagnose.syntax import name_of
from agdbg.record.lookup import Site

#: How often names are followed: into a list, into a function or an object that is given it, out of it by a loop.
_ROUNDS = 6
_Function = ast.FunctionDef | ast.AsyncFunctionDef
#: What makes a list of a list.
_COPIES = ("list", "tuple", "reversed", "sorted")


def is_trained_by_hand(site: Site) -> bool:
    """Whether the file reads the gradient of the leaf from which the expression at a site takes its values.

    That is ``w.grad``, or ``p.grad`` in a loop over ``[w, b]``, wherever it stands in the file: in a function that is called
    with it, or in a class that is made with it.
    """
    name, tree = taken_from(site), module_of(site.file)
    if not name or tree is None:
        return False
    parts, functions = list(ast.walk(tree)), _functions(tree)
    names, before = {name, *_outside(site, name, tree)}, 0
    for _ in range(_ROUNDS):
        if len(names) == before:
            break
        before = len(names)
        names |= {each for part in parts for each in (*_also(part, names), *_inside(part, functions, names))}
    return any(
        isinstance(part, ast.Attribute)
        and part.attr == "grad"
        and isinstance(part.ctx, ast.Load)
        and name_of(part.value) in names
        for part in parts
    )


def _outside(site: Site, name: str, tree: ast.Module) -> set[str]:
    """What callers of the function at a site give it by this name, where it is an argument of the function; and so on outwards."""
    function, names = place(site).function, set[str]()
    for _ in range(_ROUNDS):
        arguments = [each.arg for each in function.args.args] if isinstance(function, _Function) else []
        if not isinstance(function, _Function) or name not in arguments:
            break
        skipped = arguments[:1] in (["self"], ["cls"])
        at = arguments.index(name) - skipped
        calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call) and called(each) == function.name]
        given = [each.args[at : at + 1] + [key.value for key in each.keywords if key.arg == name] for each in calls]
        found = {name_of(each[0]) for each in given if each} - {""}
        names |= found
        if len(found) != 1:
            break
        (name,) = found
        around = [each for each in ast.walk(tree) if isinstance(each, _Function) and calls[0] in ast.walk(each)]
        function = around[-1] if around else None
    return names


def _functions(tree: ast.Module) -> dict[str, list[str]]:
    """The names of the positional arguments of every function of a file, of a class those of its ``__init__``, without ``self``."""
    found: dict[str, list[str]] = {}
    for each in ast.walk(tree):
        if isinstance(each, _Function):
            found[each.name] = [one.arg for one in each.args.args if one.arg not in ("self", "cls")]
    for each in ast.walk(tree):
        made = each.body if isinstance(each, ast.ClassDef) else []
        for one in made:
            if isinstance(each, ast.ClassDef) and isinstance(one, _Function) and one.name == "__init__":
                found[each.name] = [arg.arg for arg in one.args.args[1:]]
    return found


def _inside(tree: ast.AST, functions: dict[str, list[str]], names: set[str]) -> set[str]:
    """What a function calls the names that it is called with."""
    if not isinstance(tree, ast.Call) or called(tree) not in functions:
        return set()
    given = [*zip(functions[called(tree)], tree.args, strict=False), *((key.arg, key.value) for key in tree.keywords)]
    return {to for to, value in given if to and (name_of(value) in names or _holds(value, names))}


def _also(tree: ast.AST, names: set[str]) -> set[str]:
    """The names that one of these or a list of them is given, and those that stand for its elements in a loop."""
    if isinstance(tree, ast.Assign):
        pairs = [pair for target in tree.targets for pair in _pairs(target, tree.value)]
        return {name_of(to) for to, given in pairs if name_of(given) in names or _holds(given, names)} - {""}
    if not isinstance(tree, ast.For | ast.comprehension):
        return set()
    target, source = tree.target, tree.iter
    if isinstance(source, ast.Call) and called(source) in ("zip", "enumerate") and isinstance(target, ast.Tuple):
        pairs = list(zip(target.elts[called(source) == "enumerate" :], source.args, strict=False))
        return {name_of(each) for each, given in pairs if name_of(given) in names or _holds(given, names)} - {""}
    return {name_of(target)} - {""} if name_of(source) in names or _holds(source, names) else set()


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    both = (ast.Tuple, ast.List)
    if isinstance(target, both) and isinstance(value, both):
        return list(zip(target.elts, value.elts, strict=False))
    return [(target, value)]


def _holds(tree: ast.expr, names: set[str]) -> bool:
    """Whether it is a list with one of these names in it, or a copy of such a list."""
    if isinstance(tree, ast.Call) and called(tree) in _COPIES:
        return any(name_of(each) in names or _holds(each, names) for each in tree.args)
    return isinstance(tree, ast.List | ast.Tuple) and any(name_of(each) in names for each in tree.elts)

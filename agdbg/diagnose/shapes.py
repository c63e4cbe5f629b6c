"""What a name holds, as the source says: a tensor, or tuples, lists and dicts of tensors; and how that loses its graphs.

Needs the source alone.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from agdbg.diagnose.carriers import objects_of
from agdbg.diagnose.enclosing import COMPREHENSIONS, module_of, place
from agdbg.diagnose.layer_results import result_of
from agdbg.diagnose.source import called
from agdbg.diagnose.syntax import name_of, pairs
from agdbg.record.lookup import Site

Level = Literal["tuple", "list", "dict"]
#: What holds what, from the outside to the inside; nothing: one tensor.
Levels = tuple[Level, ...]
#: Variables of the comprehensions, from the inside to the outside.
_VARIABLES = ("each", "one", "part", "group")
_MANY = ast.Tuple | ast.List
#: Functions that give one tensor, whatever they are called on.
ONE = {"zeros", "ones", "empty", "full", "rand", "randn", "tensor", "eye", "arange", "detach", "clone", "stack", "cat"}
ONE |= {f"{name}_like" for name in ("zeros", "ones", "empty", "full", "rand", "randn")} | {"new_zeros", "new_ones"}
#: Methods of a tensor that give one, and what makes one of another.
_STILL_ONE = {
    "to",
    "cuda",
    "cpu",
    "float",
    "double",
    "half",
    "requires_grad_",
    "expand",
    "repeat",
    "unsqueeze",
    "squeeze",
}
_STILL_ONE |= {"view", "reshape", "type_as", "contiguous", "mul", "fill_", "normal_", "uniform_", "zero_", "copy_"}
_OF_ONE = {"Parameter", "Buffer"}
BUILDERS: dict[str, Level] = {
    "list": "list",
    "tuple": "tuple",
    "dict": "dict",
    "OrderedDict": "dict",
    "defaultdict": "dict",
}
#: Functions and methods that give a number or a text.
_NUMBERS = {"int", "float", "len", "bool", "str", "item"}
_ADDING = {"append", "insert", "extend"}
#: Stands for a part of what some call returned.
_RETURNED = ast.Call(ast.Name("_", ast.Load()), [], [])
#: How many names are followed from one to the next.
STEPS = 2


@dataclass(frozen=True)
class Shape:
    """What holds what, as far as it is known; ``closed``: what is innermost is known to be one tensor.

    ``mixed``: some of the items are tensors and others hold some, so that ``levels`` are those of the deepest alone.
    """

    levels: Levels
    closed: bool
    mixed: bool = False

    def inside(self, level: Level) -> "Shape":
        """Of a list, tuple or dict of these."""
        return replace(self, levels=(level, *self.levels))


def shape_of(site: Site, name: str) -> Shape | None:
    """What a name of the function around a site holds, or an attribute anywhere in the file; None when nothing says so."""
    return _shape_of(site, name, STEPS)


def values(site: Site, name: str) -> Iterator[ast.expr]:
    """What the function around a site, or the file for an attribute, gives a name by a plain assignment."""
    return (value for path, value in _given(site, name) if not path)


def holds_none(site: Site, name: str) -> bool:
    """Whether a list or dict begins with None in it."""
    return any(
        isinstance(part, ast.Constant) and part.value is None
        for each in values(site, name)
        if not isinstance(each, ast.Constant | ast.Call)
        for part in ast.walk(each)
    )


def holds_numbers(site: Site, name: str) -> bool:
    """Whether a tuple, list or dict holds numbers or text beside its tensors: these have no ``detach``."""
    given = list(_given(site, name))
    return any(path and _is_plain_value(value) for path, value in given) or any(
        _is_plain_value(each) for _, value in given for each in _items(value)
    )


def _items(tree: ast.expr) -> Iterator[ast.expr]:
    """What a tuple, list or dict that is written out holds, and those in it."""
    parts = tree.elts if isinstance(tree, _MANY) else tree.values if isinstance(tree, ast.Dict) else []
    for each in parts:
        yield each
        yield from _items(each)


def _is_plain_value(tree: ast.expr) -> bool:
    """Whether an expression is a number or a text."""
    if isinstance(tree, ast.BinOp):
        return isinstance(tree.right, ast.Constant) and isinstance(tree.left, ast.Subscript | ast.Constant)
    if isinstance(tree, ast.Call):
        return called(tree) in _NUMBERS
    return isinstance(tree, ast.Compare) or _is_number(tree)


def without_graph(name: str, levels: Levels, *, pair: bool = False, maybe: bool = False, numbers: bool = False) -> str:
    """The expression for what a name holds without graphs.

    ``pair``: the innermost tuples are of two, as an LSTM's; ``maybe``: an item may be None; ``numbers``: one may be no tensor.
    """
    if not levels:
        return f"{name}.detach()"
    if numbers:
        pair = maybe = False
    level, inner = levels[0], levels[1:]
    each = _VARIABLES[min(len(inner), len(_VARIABLES) - 1)]
    last = not inner or inner == ("tuple",)
    item = without_graph(each, inner, pair=pair, maybe=maybe and not last, numbers=numbers)
    if numbers:
        test = f"isinstance({each}, {inner[0]})" if inner else f"hasattr({each}, 'detach')"
        item = f"{item} if {test} else {each}"
    if pair and inner == ("tuple",) and not maybe:
        each, item = "(h, c)" if level == "dict" else "h, c", "(h.detach(), c.detach())"
    elif maybe and last:
        item = f"None if {each} is None else {item}"
    if level == "dict":
        return f"{{key: {item} for key, {each} in {name}.items()}}"
    return f"[{item} for {each} in {name}]" if level == "list" else f"tuple({item} for {each} in {name})"


def returned(site: Site, tree: ast.expr) -> list[ast.expr]:
    """What the function that an expression calls gives back, of a module its ``forward``; [] when it is in another file."""
    module = module_of(site.file)
    if module is None or not isinstance(tree, ast.Call) or tree is _RETURNED:
        return []
    layer = result_of(module, tree)
    if layer is not None:
        return [layer]
    inside = list(ast.walk(module))
    functions = [each for each in inside if isinstance(each, ast.FunctionDef) and each.name == called(tree)]
    classes = [
        each
        for each in inside
        if isinstance(each, ast.ClassDef) and name_of(tree.func) in objects_of(module, each.name)
    ]
    functions += [
        part for each in classes for part in each.body if isinstance(part, ast.FunctionDef) and part.name == "forward"
    ]
    given = [part.value for each in functions for part in ast.walk(each) if isinstance(part, ast.Return)]
    return [each for each in given if each is not None]


def is_own(site: Site, name: str) -> bool:
    """Whether a name can be assigned to at a site: an attribute, an item, or a variable of the function around it."""
    function = place(site).function
    if not name.isidentifier() or not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return True
    inside = list(ast.walk(function))
    own = {each.arg for each in inside if isinstance(each, ast.arg)}
    own |= {each.id for each in inside if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    return name in own or any(name in each.names for each in inside if isinstance(each, ast.Global | ast.Nonlocal))


def is_plain(site: Site, name: str) -> bool:
    """Whether a list, a tuple or a dict that is built anew can stand for it: it is none of a kind of its own."""
    calls = [called(each) for each in values(site, name) if isinstance(each, ast.Call)]
    return not any(each in ("OrderedDict", "defaultdict") for each in calls)


# ----- what the source says -----


def _shape_of(site: Site, name: str, steps: int) -> Shape | None:
    found: list[Shape] = []
    for path, value in _given(site, name):
        shape = _shape(site, value, steps)
        if not path and shape == Shape((), closed=True):
            return shape  # a tensor; what is stored in it is a number, or a part of it
        if (path or shape is not None) and not _is_number(value):
            inner = shape or Shape((), closed=False)
            found.append(replace(inner, levels=(*path, *inner.levels)))
    if not found:
        return None
    depth = max(len(each.levels) for each in found)
    levels = tuple(next(each.levels[at] for each in found if len(each.levels) > at) for at in range(depth))
    mixed = any(each.mixed or (each.closed and len(each.levels) < depth) for each in found)
    return Shape(levels, any(each.closed for each in found if len(each.levels) == depth), mixed)


def _shape(site: Site, tree: ast.expr, steps: int) -> Shape | None:
    """The shape of an expression; None when it does not say: what a call returns may be a tensor or a tuple."""
    if isinstance(tree, ast.ListComp | ast.GeneratorExp):
        return _item(site, [tree.elt], steps).inside("list")
    if isinstance(tree, ast.DictComp):
        return _item(site, [tree.value], steps).inside("dict")
    if isinstance(tree, _MANY):
        return _item(site, tree.elts, steps).inside("list" if isinstance(tree, ast.List) else "tuple")
    if isinstance(tree, ast.Dict):
        return _item(site, tree.values, steps).inside("dict")
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Mult) and isinstance(tree.left, _MANY):
        return _shape(site, tree.left, steps)
    if isinstance(tree, ast.Call):
        return _of_call(site, tree, steps)
    return _shape_of(site, tree.id, steps - 1) if isinstance(tree, ast.Name) and steps else None


def _item(site: Site, parts: list[ast.expr], steps: int) -> Shape:
    """The shape of what holds one of some expressions. Several that are written out are tensors, where they are not more."""
    known = [shape for each in parts if (shape := _shape(site, each, steps)) is not None]
    if known:
        deepest = max(known, key=lambda each: len(each.levels))
        others = len(known) < sum(not _is_plain_value(each) and not _is_none(each) for each in parts)
        mixed = any(each.mixed or each.levels != deepest.levels for each in known) or (others and bool(deepest.levels))
        return replace(deepest, mixed=mixed)
    several = len(parts) > 1 and not any(isinstance(each, ast.Constant) for each in parts)
    return Shape((), closed=several)


def _of_call(site: Site, tree: ast.Call, steps: int) -> Shape | None:
    name = called(tree)
    if name in ONE or name in _OF_ONE or (name in _STILL_ONE and isinstance(tree.func, ast.Attribute)):
        return Shape((), closed=True)
    if name not in BUILDERS or isinstance(tree.func, ast.Attribute):
        found = [_shape(site, _of_another(each), 0) for each in returned(site, tree)] if steps else []
        return found[0] if found and all(each == found[0] for each in found) else None
    of = (
        _shape(site, tree.args[0], steps)
        if tree.args and isinstance(tree.args[0], (*COMPREHENSIONS, _MANY, ast.Dict))
        else None
    )
    return (
        replace(of, levels=(BUILDERS[name], *of.levels[1:]))
        if of is not None
        else Shape((BUILDERS[name],), closed=False)
    )


def _is_none(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Constant) and tree.value is None


def _is_number(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Constant) and tree.value is not None


# ----- what a name is given -----


def _given(site: Site, name: str) -> Iterator[tuple[Levels, ast.expr]]:
    """What a name is given, itself and then its items: ``hs = [...]``, ``hs[i] = h``, ``hs.append(h)``; with the way there."""
    around = place(site)
    tree: ast.AST | None = around.function if name.isidentifier() and around.function else module_of(site.file)
    inside = list(ast.walk(tree)) if tree is not None and around.known else []
    numbers = _numbers(inside)
    found = []
    for each in inside:
        if isinstance(each, ast.Assign):
            given = (pair for target in each.targets for pair in _parts(site, target, each.value))
            found += [(path, value) for target, value in given if (path := _path(target, name, numbers)) is not None]
        elif isinstance(each, ast.AnnAssign) and each.value is not None and _is_named(each.target, name):
            found.append(((), each.value))
        elif (
            isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr == "register_buffer"
        ):
            found += [((), value) for value in _registered(each, name)]
        elif (
            isinstance(each, ast.Call)
            and isinstance(each.func, ast.Attribute)
            and each.func.attr in _ADDING
            and each.args
        ):
            at = _path(each.func.value, name, numbers)
            found += [((*at, "list"), each.args[-1])] if at is not None and each.func.attr != "extend" else []
    yield from sorted(found, key=lambda each: len(each[0]))


def _registered(call: ast.Call, name: str) -> Iterator[ast.expr]:
    """What a call of ``register_buffer`` gives the buffer of a name."""
    given = [*call.args[:2], *(each.value for each in call.keywords if each.arg in ("name", "tensor"))]
    known = len(given) == 2 and isinstance(given[0], ast.Constant) and "." in name
    if known and isinstance(given[0], ast.Constant) and given[0].value == name.rpartition(".")[2]:
        yield given[1]


def _parts(site: Site, target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each target with its value; of what a call returned each is given a part."""
    for each, part in pairs(target, value):
        if not isinstance(each, _MANY):
            yield each, part
            continue
        given = [one for one in returned(site, part) if isinstance(one, _MANY) and len(one.elts) == len(each.elts)]
        for at, item in enumerate(each.elts):
            if given and not isinstance(item, ast.Starred):
                yield from ((item, _of_another(one.elts[at])) for one in given)
            elif isinstance(item, ast.Subscript):
                yield item, _RETURNED


def _of_another(tree: ast.expr) -> ast.expr:
    """What another function returned: its variables say nothing here."""
    return _RETURNED if isinstance(tree, ast.Name) else tree


def _path(target: ast.expr, name: str, numbers: set[str]) -> Levels | None:
    """The way from what a name holds to a target: for ``hs`` a list's to ``hs[i]``; None: it is another name's."""
    if _is_named(target, name):
        return ()
    if not isinstance(target, ast.Subscript) or isinstance(target.slice, ast.Slice | ast.Tuple):
        return None
    before = _path(target.value, name, numbers)
    return None if before is None else (*before, _level(target.slice, numbers))


def _level(index: ast.expr, numbers: set[str]) -> Level:
    if isinstance(index, ast.Constant):
        return "list" if isinstance(index.value, int) else "dict"
    is_number = isinstance(index, ast.BinOp | ast.UnaryOp) or name_of(index) in numbers
    return "list" if is_number else "dict"


def _numbers(inside: list[ast.AST]) -> set[str]:
    """The variables that count: of ``range`` and ``enumerate``, and ``i += 1``."""
    found = set()
    for each in inside:
        if isinstance(each, ast.For | ast.comprehension) and isinstance(each.iter, ast.Call):
            if called(each.iter) == "range":
                found.add(name_of(each.target))
            elif called(each.iter) == "enumerate" and isinstance(each.target, _MANY):
                found.add(name_of(each.target.elts[0]))
        elif isinstance(each, ast.AugAssign) and _is_number(each.value):
            found.add(name_of(each.target))
    return found - {""}


def _is_named(target: ast.expr, name: str) -> bool:
    """Whether a target is called so; an attribute may be one of an object with another name."""
    tail = name.rpartition(".")[2]
    return name_of(target) == name or (isinstance(target, ast.Attribute) and "." in name and target.attr == tail)

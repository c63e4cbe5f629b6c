"""What holds a state that another function returned, where the loop cannot know it: the function that it calls is a parameter.

Then the function that made the state says it, by what it returns, and the callers of the loop's function, by what they pass.
Needs the source alone.
"""

import ast
from dataclasses import dataclass
from typing import Literal

from agdbg.diagnose.carriers import calls_in, is_call_of, loops, statements_in
from agdbg.diagnose.enclosing import Scope, function_of, module_of, place
from agdbg.diagnose.layer_results import result_of
from agdbg.diagnose.shapes import BUILDERS, ONE, Level, Levels, Shape
from agdbg.diagnose.source import called
from agdbg.diagnose.syntax import name_of, pairs
from agdbg.record.lookup import Site

#: How many functions and names are followed from one to the next.
STEPS = 4
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
_MANY = ast.Tuple | ast.List
_PLAIN = {"int", "float", "len", "bool", "str", "item", "norm_", "range", "tolist"}


@dataclass(frozen=True)
class Form:
    """What an expression holds: one ``tensor``, or what a layer returned as a whole; something ``plain``; or items."""

    kind: Literal["tensor", "plain", "unknown"] | Level
    items: tuple["Form", ...] = ()

    @property
    def shape(self) -> Shape | None:
        """The same as a shape; None where not all items have one."""
        if self.kind == "tensor" or self.kind == "plain" or self.kind == "unknown":
            return Shape((), closed=False) if self.kind == "tensor" else None
        level: Level = self.kind
        inner = {each.shape for each in self.items if each.kind != "plain"}
        levels = {each.levels if each is not None else None for each in inner}
        if len(levels) != 1 or None in levels:
            return None
        return Shape((level, *next(each for each in levels if each is not None)), closed=self.leaves > 1)

    @property
    def leaves(self) -> int:
        """How many tensors are written out, of a list that is filled one of those that fill it."""
        if self.kind in ("tensor", "plain", "unknown"):
            return int(self.kind == "tensor")
        return sum(each.leaves for each in self.items)

    @property
    def has_plain(self) -> bool:
        """Whether something in it is no tensor."""
        return self.kind == "plain" or any(each.has_plain for each in self.items)


UNKNOWN = Form("unknown")
TENSOR = Form("tensor")


def form_of(name: str, there: Site, made: Site, names: list[str]) -> Form:
    """What a variable holds in the loop around ``there`` that the function around ``made`` made.

    ``names``: what that function calls it, each one tensor, or what a layer returned as one.
    """
    tree = module_of(there.file)
    mine = module_of(made.file)
    if tree is None or mine is None:
        return UNKNOWN
    returned = _Returned(mine, made, names)
    found = [
        form
        for loop, function, by in loops(tree, there)
        if by is None or function
        for each in statements_in(loop)
        if isinstance(each, ast.Assign)
        for form in _of_assignment(each, name, list(statements_in(loop)), returned)
    ]
    found = found or [form for form in (_passed(tree, there, name),) if form is not None]
    return found[0] if found and all(each == found[0] for each in found) else UNKNOWN


def _of_assignment(statement: ast.Assign, name: str, inside: list[ast.stmt], returned: "_Returned") -> list[Form]:
    """What an assignment of the loop gives a name, where it does."""
    found: list[Form] = []
    for target in statement.targets:
        for at, value in pairs(target, statement.value):
            path = _way(at, name)
            if path is None:
                continue
            found += [_at(form, path) for form in _of_value(value, inside, returned, STEPS)]
    return found


def _of_value(value: ast.expr, inside: list[ast.stmt], returned: "_Returned", steps: int) -> list[Form]:
    """What a call of the loop returned, a part of that, or a copy."""
    if isinstance(value, ast.Call):
        return returned.by(value)
    if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant):
        key = value.slice.value
        return [_at(each, (key,)) for each in _of_value(value.value, inside, returned, steps)]
    if isinstance(value, ast.Name) and steps:
        return [
            _at(form, path)
            for each in inside
            if isinstance(each, ast.Assign)
            for target in each.targets
            for at, part in pairs(target, each.value)
            if (path := _way(at, value.id)) is not None
            for form in _of_value(part, inside, returned, steps - 1)
        ]
    if isinstance(value, ast.Attribute) and returned.has_attribute(value.attr):
        return [TENSOR]
    return [UNKNOWN]


def _way(target: ast.expr, name: str) -> tuple[int, ...] | None:
    """Where in the targets of an assignment a name is; None: nowhere."""
    if name_of(target) == name:
        return ()
    for at, each in enumerate(target.elts if isinstance(target, _MANY) else ()):
        if (path := _way(each, name)) is not None:
            return (at, *path)
    return None


def _at(form: Form, path: tuple[object, ...]) -> Form:
    """What is in a form at some indices of a tuple or list."""
    for each in path:
        whole = form.kind in ("tuple", "list") and isinstance(each, int) and -len(form.items) <= each < len(form.items)
        form = form.items[each] if whole and isinstance(each, int) else UNKNOWN
    return form


class _Returned:
    """What the functions return through which a tensor came that a line made."""

    def __init__(self, tree: ast.Module, made: Site, names: list[str]) -> None:
        self._tree, self._names = tree, names
        function = place(made).function
        self._made = function if isinstance(function, _FUNCTION) else None
        self._way = self._callers(made)

    def by(self, call: ast.Call) -> list[Form]:
        """What a call of the loop returned: one of a function that came by, by its name, else of an object."""
        same = [each for each in self._way if each.name == called(call)]
        found = same or [each for each in self._way if each.name in ("forward", "__call__")][-1:] or self._way[-1:]
        return [form for each in found for form in self._of_function(each, STEPS)] or [UNKNOWN]

    def has_attribute(self, name: str) -> bool:
        """Whether the function keeps what it made as an attribute of this name, be it of an object that it returns."""
        return any(each.rpartition(".")[2] == name for each in self._names if "." in each)

    def _callers(self, made: Site) -> list[_FUNCTION]:
        """The function around the line, and those that call it, one after the other."""
        found: list[_FUNCTION] = [self._made] if self._made is not None else []
        paths = list(calls_in(self._tree))
        for each in found:
            owner = f"{function_of(made)}" if each is self._made else ""
            for path in paths:
                call = path[-1]
                around = next((part for part in reversed(path) if isinstance(part, Scope)), None)
                mine = isinstance(call, ast.Call) and (
                    called(call) == each.name or (owner and is_call_of(self._tree, call, made))
                )
                if mine and isinstance(around, _FUNCTION) and around not in found and len(found) <= STEPS:
                    found.append(around)
        return found

    def _of_function(self, function: _FUNCTION, steps: int) -> list[Form]:
        given = [each.value for each in _own(function) if isinstance(each, ast.Return) and each.value is not None]
        return [self._of(function, each, steps) for each in given]

    def _of(self, function: _FUNCTION, tree: ast.expr, steps: int) -> Form:
        """What an expression of a function holds."""
        if isinstance(tree, _MANY):
            if any(isinstance(each, ast.Starred) for each in tree.elts):
                return UNKNOWN
            items = tuple(self._of(function, each, steps) for each in tree.elts)
            return Form("list" if isinstance(tree, ast.List) else "tuple", items)
        if isinstance(tree, ast.Dict):
            if None in tree.keys:
                return UNKNOWN
            return Form("dict", tuple(self._of(function, each, steps) for each in tree.values))
        if isinstance(tree, ast.ListComp | ast.GeneratorExp):
            return Form("list", (self._of(function, tree.elt, steps),))
        if isinstance(tree, ast.DictComp):
            return Form("dict", (self._of(function, tree.value, steps),))
        if isinstance(tree, ast.Constant | ast.Compare | ast.JoinedStr):
            return Form("plain")
        if isinstance(tree, ast.BinOp):
            return self._of_two(function, tree, steps)
        if isinstance(tree, ast.Call):
            return self._of_call(function, tree, steps)
        if isinstance(tree, ast.Name) and steps:
            return self._of_name(function, tree.id, steps - 1)
        if function is self._made and name_of(tree) in self._names:
            return TENSOR
        return UNKNOWN

    def _of_two(self, function: _FUNCTION, tree: ast.BinOp, steps: int) -> Form:
        """Of ``a + b``: a tensor where one of them is known to be one; of ``state["n"] + 1`` that cannot be said."""
        both = [self._of(function, each, steps) for each in (tree.left, tree.right)]
        if TENSOR in both:
            return TENSOR
        plain = any(each.kind == "plain" for each in both)
        return Form("plain") if plain else UNKNOWN

    def _of_call(self, function: _FUNCTION, tree: ast.Call, steps: int) -> Form:
        name = called(tree)
        if name in _PLAIN:
            return Form("plain")
        if name in BUILDERS and not isinstance(tree.func, ast.Attribute):
            level = BUILDERS[name]
            if name == "dict" and not tree.args and all(each.arg for each in tree.keywords):
                return Form("dict", tuple(self._of(function, each.value, steps) for each in tree.keywords))
            of = self._of(function, tree.args[0], steps) if len(tree.args) == 1 else UNKNOWN
            return Form(level, of.items) if of.kind in ("tuple", "list", level) else UNKNOWN
        layer = result_of(self._tree, tree)
        if layer is not None:
            return self._of(function, layer, steps)
        inside = list(ast.walk(self._tree))
        defined = [each for each in inside if isinstance(each, _FUNCTION) and each.name == name]
        if defined and steps:
            found = [form for each in defined for form in self._of_function(each, steps - 1)]
            return found[0] if found and all(each == found[0] for each in found) else UNKNOWN
        is_class = name[:1].isupper() and name not in ("Parameter", "Buffer")
        return UNKNOWN if is_class or not name else TENSOR

    def _of_name(self, function: _FUNCTION, name: str, steps: int) -> Form:
        """What a variable holds, by all that the function gives it."""
        if function is self._made and name in self._names and not self._is_filled(function, name):
            return TENSOR
        found: list[Form] = []
        level: Level | None = None
        for each in _own(function):
            if isinstance(each, ast.Assign):
                for target in each.targets:
                    for at, value in pairs(target, each.value):
                        if isinstance(at, ast.Subscript) and name_of(at.value) == name:
                            if isinstance(at.slice, ast.Slice | ast.Tuple):
                                continue
                            text = isinstance(at.slice, ast.Constant) and isinstance(at.slice.value, str)
                            level = level or ("dict" if text else None)
                            found.append(Form(level or "list", (self._of(function, value, steps),)))
                        elif (path := _way(at, name)) is not None:
                            found.append(_unpacked(self._of(function, value, steps), path))
            elif (
                isinstance(each, ast.Call)
                and isinstance(each.func, ast.Attribute)
                and each.func.attr == "append"
                and name_of(each.func.value) == name
            ):
                found.append(Form("list", tuple(self._of(function, part, steps) for part in each.args)))
        return _joined(found)

    def _is_filled(self, function: _FUNCTION, name: str) -> bool:
        """Whether a variable is a list or dict that the function fills, though a line that fills it made it."""
        return any(
            (isinstance(each, ast.Attribute) and each.attr == "append" and name_of(each.value) == name)
            or (isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store) and name_of(each.value) == name)
            for each in _own(function)
        )


def _unpacked(form: Form, path: tuple[int, ...]) -> Form:
    """What unpacking gives: of what a layer returned as a whole each part is a tensor, as far as one can say."""
    return TENSOR if form == TENSOR and len(path) <= 1 else _at(form, path)


def _joined(found: list[Form]) -> Form:
    """One form for all that a variable is given: a list begins empty and is filled."""
    forms = [each for each in dict.fromkeys(found) if each.kind != "plain"]
    kinds = {each.kind for each in forms}
    if len(kinds) > 1 and kinds <= {"list", "dict"} and any(not each.items for each in forms):
        empty = next(each.kind for each in forms if not each.items)
        forms = [Form(empty, each.items) for each in forms]
    filled = [each for each in forms if each.items or each.kind in ("tensor", "unknown")]
    if len({each.kind for each in forms}) != 1 or not filled:
        return UNKNOWN
    first = filled[0]
    if all(each == first for each in filled):
        return first
    items = tuple(dict.fromkeys(part for each in filled for part in each.items))
    return Form(first.kind, items) if first.kind not in ("tensor", "unknown", "plain") else UNKNOWN


def _own(function: _FUNCTION) -> list[ast.AST]:
    """What is in a function, without what is in the functions within."""
    found: list[ast.AST] = []
    todo: list[ast.AST] = list(function.body)
    while todo:
        each = todo.pop(0)
        found.append(each)
        if not isinstance(each, (Scope, ast.ClassDef)):
            todo += ast.iter_child_nodes(each)
    return found


def _passed(tree: ast.Module, there: Site, name: str) -> Form | None:
    """What the callers of the function around a place pass as a parameter of it, where that is written out; None: nothing."""
    function = place(there).function
    if not isinstance(function, _FUNCTION):
        return None
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    if name not in names:
        return None
    found: list[Form] = []
    for path in calls_in(tree):
        call = path[-1]
        if isinstance(call, ast.Call) and called(call) == function.name:
            at = names.index(name) - (names[0] in ("self", "cls"))
            by_key = next((each.value for each in call.keywords if each.arg == name), None)
            given = by_key or (call.args[at] if 0 <= at < len(call.args) else None)
            if isinstance(given, ast.Call) and called(given) in ONE:
                found.append(TENSOR)
    return found[0] if found else None


def levels(form: Form, tensors: int) -> Levels | None:
    """What holds what, where ``tensors`` cross from one iteration to the next; None where it is not known."""
    shape = form.shape
    if shape is None:
        return None
    several: Levels = ("tuple",) if tensors > form.leaves and not shape.closed else ()
    return (*shape.levels, *several)

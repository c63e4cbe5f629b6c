"""A state in an object with named fields, a dataclass, a named tuple or a class of the program's own, and how it loses its graphs.

Needs the source alone.
"""

import ast
from dataclasses import dataclass
from typing import Literal

from agdbg.diagnose.enclosing import module_of
from agdbg.diagnose.shapes import values
from agdbg.diagnose.source import called
from agdbg.diagnose.syntax import pairs, unparse
from agdbg.record.lookup import Site

#: Annotations of fields that hold no tensor.
_PLAIN = {"int", "float", "bool", "str", "bytes", "complex", "None"}


@dataclass(frozen=True)
class Fields:
    """A class of such objects.

    Attributes:
        kind: how an object of it gets another tensor: a named tuple and a frozen dataclass are built anew.
        name: of the class.
        tensors: the fields that may hold one.
        is_all: whether these are all fields.
    """

    kind: Literal["named tuple", "frozen", "mutable"]
    name: str
    tensors: tuple[str, ...]
    is_all: bool

    def statements(self, given: str, name: str) -> list[str]:
        """What gives ``given`` what ``name`` holds without graphs."""
        if self.kind == "mutable" and given == name:
            return [f"{name}.{each} = {name}.{each}.detach()" for each in self.tensors]
        return [f"{given} = {self.without_graph(name)}"]

    def without_graph(self, name: str) -> str:
        """The expression for what a name holds, without graphs."""
        parts = ", ".join(f"{each}={name}.{each}.detach()" for each in self.tensors)
        if self.kind == "named tuple":
            return f"{name}._replace({parts})"
        return f"{self.name}({parts})" if self.is_all else f"dataclasses.replace({name}, {parts})"


def fields_of(site: Site, name: str, tensors: int) -> Fields | None:
    """The fields of what a name of the function around a site holds, or an attribute anywhere in the file; None: it has none.

    Of a class that says no types it is known by the number of ``tensors`` that they are all that it keeps.
    """
    tree = module_of(site.file)
    known = _classes(tree, tensors) if tree is not None else {}
    if tree is None or not known:
        return None
    made = [each for each in values(site, name) if isinstance(each, ast.Call)]
    returned = {
        function.name: found
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for found in _returned(function, known)
    }
    if "forward" in returned:  # what a module is called like is not known
        returned |= {called(each): returned["forward"] for each in made if called(each) not in known | returned}
    found = {known.get(called(each)) or returned.get(called(each)) for each in made} - {None}
    return found.pop() if len(found) == 1 else None


def _returned(function: ast.FunctionDef, known: dict[str, Fields]) -> list[Fields]:
    given = [each.value for each in ast.walk(function) if isinstance(each, ast.Return)]
    return [known[called(each)] for each in given if isinstance(each, ast.Call) and called(each) in known]


def _classes(tree: ast.Module, tensors: int) -> dict[str, Fields]:
    """Those of a file that have a field which may hold a tensor, by name."""
    found: dict[str, Fields] = {}
    for each in ast.walk(tree):
        if isinstance(each, ast.ClassDef) and (kind := _kind(each)) is not None:
            fields = [
                (part.target.id, _may_hold(part.annotation))
                for part in each.body
                if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
            ]
            found |= _with_tensors(kind, each.name, fields)
        elif isinstance(each, ast.ClassDef) and not each.bases and len(kept := _kept(each)) == tensors:
            found |= _with_tensors("mutable", each.name, [(name, True) for name in kept])
        elif isinstance(each, ast.Assign) and isinstance(each.value, ast.Call) and called(each.value) == "namedtuple":
            names = _names_in(each.value)
            found |= _with_tensors("named tuple", unparse(each.targets[0]), [(name, True) for name in names])
    return found


def _with_tensors(
    kind: Literal["named tuple", "frozen", "mutable"], name: str, fields: list[tuple[str, bool]]
) -> dict[str, Fields]:
    tensors = tuple(field for field, may_hold in fields if may_hold)
    return {name: Fields(kind, name, tensors, len(tensors) == len(fields))} if tensors else {}


def _kind(tree: ast.ClassDef) -> Literal["named tuple", "frozen", "mutable"] | None:
    if any(unparse(each).rpartition(".")[2] == "NamedTuple" for each in tree.bases):
        return "named tuple"
    for each in tree.decorator_list:
        name = called(each) if isinstance(each, ast.Call) else unparse(each).rpartition(".")[2]
        if name == "dataclass":
            options = each.keywords if isinstance(each, ast.Call) else []
            return (
                "frozen" if any(key.arg == "frozen" and unparse(key.value) == "True" for key in options) else "mutable"
            )
    return None


def _kept(tree: ast.ClassDef) -> list[str]:
    """The attributes to which ``__init__`` gives what it was given."""
    makes = next((each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None)
    given = [each for each in ast.walk(makes) if isinstance(each, ast.Assign)] if makes is not None else []
    both = (pair for each in given for target in each.targets for pair in pairs(target, each.value))
    return [at.attr for at, value in both if isinstance(at, ast.Attribute) and isinstance(value, ast.Name)]


def _names_in(made: ast.Call) -> list[str]:
    """The fields of ``namedtuple("State", "h c")``, also as a list of names."""
    given = made.args[1] if len(made.args) > 1 else None
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        return given.value.replace(",", " ").split()
    parts = given.elts if isinstance(given, ast.List | ast.Tuple) else []
    return [str(each.value) for each in parts if isinstance(each, ast.Constant)]


def _may_hold(annotation: ast.expr) -> bool:
    return unparse(annotation).rpartition(".")[2] not in _PLAIN

"""What hands a tensor on to the next iteration under another name than its own, with its graph: ``hist.append(h)``, ``prev = h``.

Detaching the tensor's own name does nothing to what was put there before.
"""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

from agdbg.diagnose.carriers import exposed
from agdbg.diagnose.detaching import State
from agdbg.diagnose.enclosing import COMPREHENSIONS, Scope, function_of, module_of, place
from agdbg.diagnose.meeting import Entry
from agdbg.diagnose.shapes import is_own, values
from agdbg.diagnose.source import call_text, called, operand_of, quoted
from agdbg.diagnose.syntax import name_of, pairs, unparse
from agdbg.diagnose.words import listed
from agdbg.record.lookup import Site

_ADDING = {"append", "appendleft", "insert", "extend", "add", "put", "setdefault"}
#: Methods by which a list, a dict or the like gets what they are given; another one is of an object, which has no ``detach``.
PUTTING = _ADDING | {"update", "push", "write", "store"}
#: How many names are followed from one to the next.
STEPS = 3


@dataclass(frozen=True)
class _Use:
    """Where the second pass came upon what had been kept: a statement, and the names that it took it from there.

    Without a statement it is not known which one of the body it was: a function that it calls used it.
    """

    statement: ast.stmt | None
    names: frozenset[str]


def detach_where_kept(call: Site, entry: Entry, names: list[str], state: State) -> str:
    """The advice, where a statement in the loop around a call keeps what is called so for the next iteration; else empty.

    Without a name: of what a function gave, where a line of the loop gives the function what it keeps.
    """
    loop = _loop(call)
    if loop is None or entry.consumer is None:
        return ""
    return _advice(loop, _use(entry, call), names, state, call) if names else _given(loop, state, call)


def detach_where_put(made: Site, entry: Entry, name: str, state: State) -> str:
    """The same for what the function around a site does, which runs once in an iteration."""
    function = place(made).function
    if not isinstance(function, ast.FunctionDef) or entry.consumer is None or not name:
        return ""
    kept = _keeping(function, _use(entry, made), name)
    if kept is None or not isinstance(kept[0], ast.Expr | ast.AugAssign) or _is_read_behind(function, *kept):
        return ""
    return _in_place_of(kept[0], [name], state)


def _use(entry: Entry, near: Site) -> _Use:
    """How the function around a site used an entry: of its line what gave the op the tensor, as far as that can be told."""
    user = entry.consumer
    if user is None or (user.site.file, function_of(user.site)) != (near.file, function_of(near)):
        return _Use(None, frozenset())
    around = place(user.site)
    statement = around.statement
    if statement is None:
        return _Use(None, frozenset())
    given = operand_of(user.site, user, entry.index) or around.around[-1]
    names = set(_names(given)) if isinstance(given, ast.expr) else set(_read(statement))
    inner = [each for each in around.around if isinstance(each, COMPREHENSIONS)]
    for one in reversed([part for each in inner for part in each.generators]):
        if {unparse(part) for part in ast.walk(one.target)} & names:
            names |= set(_names(one.iter))
    return _Use(statement, frozenset(names))


def _loop(call: Site) -> ast.For | ast.While | None:
    here = place(call)
    if not here.known or module_of(call.file) is None:
        return None
    loops = [each for each in here.around if isinstance(each, Scope | ast.For | ast.While)]
    return loops[-1] if loops and isinstance(loops[-1], ast.For | ast.While) else None


def _given(loop: ast.For | ast.While, state: State, call: Site) -> str:
    """The advice for ``h = step(hist[-1])`` and ``hist.append(h)``, where one line alone does that."""
    found = []
    for each in ast.walk(loop):
        if isinstance(each, ast.Assign) and any(isinstance(part, ast.Call) for part in ast.walk(each.value)):
            name = name_of(each.targets[0]) if len(each.targets) == 1 else ""
            use = _Use(each, frozenset(_read(each)))
            found.append(_advice(loop, use, [name], state, call) if name else "")
    told = [each for each in found if each]
    return told[0] if len(told) == 1 else ""


def _advice(loop: ast.For | ast.While, used: _Use, names: list[str], state: State, call: Site) -> str:
    kept = next((found for each in names if (found := _keeping(loop, used, each))), None)
    if kept is None:
        return ""
    statement, bank = kept
    if not _is_read_behind(loop, statement, bank):
        return _in_place_of(statement, names, state)
    how = without_graphs(statement, bank, call)
    text, after = quoted(unparse(statement)), call_text(call, "backward", "grad")
    before = f"detach what `{bank}` keeps, `{text}`, before the next iteration uses it"
    return f"{before}: `{how}`, after `{after}` at line {call.line}" if how else ""


def _in_place_of(statement: ast.stmt, names: list[str], state: State) -> str:
    """The advice to write a statement with the names that it keeps detached."""
    kept = [each for each in names if bank_of(statement, each)]
    text, graph = quoted(_text(statement)), "its graph" if len(kept) == 1 else "their graphs"
    words = f"keep {listed(f'`{each}`' for each in kept)} without {graph}"
    if any(state.is_vague(each, len(kept)) for each in kept):
        return f"{words}: with each tensor in it detached, where `{text}` at line {statement.lineno} puts it"
    new = copy.deepcopy(statement)
    _Detached({each: state.without_graph(each, len(kept)) for each in kept}).visit(new)
    return f"{words}: `{_text(new)}` in place of `{text}` at line {statement.lineno}"


def _text(statement: ast.stmt) -> str:
    """A statement as people write it: ``a, b = b, c`` without brackets."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if isinstance(target, ast.Tuple) and isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Tuple):
        return f"{', '.join(map(unparse, target.elts))} = {', '.join(map(unparse, statement.value.elts))}"
    return unparse(statement)


def without_graphs(statement: ast.stmt, bank: str, near: Site) -> str:
    """The statement that takes the graphs from what another one keeps; empty where it keeps more than tensors."""
    if any(isinstance(each, ast.Call) and called(each) == "deque" for each in values(near, bank)):
        return f"for i, each in enumerate({bank}): {bank}[i] = each.detach()"
    built = isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp | ast.List)
    if isinstance(statement, ast.Expr | ast.AugAssign) or (built and isinstance(statement, ast.Assign)):
        nested = [each for each in ast.walk(statement.value) if isinstance(each, ast.Tuple | ast.Dict)]
        given = bank if is_own(near, bank) else f"{bank}[:]"
        return "" if nested else f"{given} = [each.detach() for each in {bank}]"
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Constant):
        return f"{bank} = {{key: each.detach() for key, each in {bank}.items()}}"
    return f"{unparse(target)} = {unparse(target)}.detach()" if target is not None and name_of(target) else ""


class _Detached(ast.NodeTransformer):
    """Writes ``h.detach()`` for ``h``, where it is read."""

    def __init__(self, ways: dict[str, str]) -> None:
        self._ways = ways

    def visit(self, node: ast.AST) -> ast.AST:
        """The tree with what it stands for."""
        read = isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
        way = self._ways.get(unparse(node)) if read else None
        return self.generic_visit(node) if way is None else ast.parse(way, mode="eval").body


def _keeping(body: ast.stmt, used: _Use, name: str) -> tuple[ast.stmt, str] | None:
    """The statement that keeps the bare name in what another statement takes it from, and the name of that."""
    inside = [each for each in ast.walk(body) if isinstance(each, ast.stmt)]
    keepers = [(each, bank) for each in inside if (bank := bank_of(each, name)) and bank != name]
    aside = {id(each) for each, _ in keepers}
    if not keepers:
        return None
    late = exposed(body)  # what a turn may read of the turn before
    if used.statement is None:
        others = {one for each in inside if id(each) not in aside for one in _read(each)}
        found = [(each, bank) for each, bank in keepers if bank in late and bank in others]
        return found[0] if name not in late and len(found) == 1 else None
    read = _sources(body, used.statement, set(used.names), inside, aside)
    if name in read and name in late:
        return None  # the name itself is what goes on
    return next(((each, bank) for each, bank in keepers if bank in read), None)


def bank_of(statement: ast.stmt, name: str) -> str:
    """What a statement puts the bare name into, be it with others; empty when it does not."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        made = statement.value
        adds = isinstance(made.func, ast.Attribute) and made.func.attr in _ADDING
        mine = adds and any(_bare(each, name) for each in made.args)
        return name_of(made.func.value) if mine and isinstance(made.func, ast.Attribute) else ""
    if isinstance(statement, ast.AugAssign):
        listed = isinstance(statement.op, ast.Add) and isinstance(statement.value, ast.List | ast.Tuple)
        return name_of(statement.target) if listed and _bare(statement.value, name) else ""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or not _bare(statement.value, name):
        return ""
    target = next((each for each, value in pairs(statement.targets[0], statement.value) if _bare(value, name)), None)
    return name_of(target.value if isinstance(target, ast.Subscript) else target) if target is not None else ""


def _bare(tree: ast.expr, name: str) -> bool:
    """Whether the name itself is there, or in a list, tuple or dict, or a sum of lists."""
    if isinstance(tree, ast.List | ast.Tuple):
        return any(_bare(each, name) for each in tree.elts)
    if isinstance(tree, ast.Dict):
        return any(_bare(each, name) for each in tree.values)
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add):
        return any(isinstance(each, ast.List | ast.Tuple) and _bare(each, name) for each in (tree.left, tree.right))
    return isinstance(tree, ast.Name | ast.Attribute) and unparse(tree) == name


def sources(body: ast.AST, used: ast.stmt) -> set[str]:
    """The names a statement reads, with those which the body made them from."""
    inside = [each for each in ast.walk(body) if isinstance(each, ast.stmt)]
    return _sources(body, used, set(_read(used)), inside, set())


def _sources(body: ast.AST, used: ast.stmt, found: set[str], inside: list[ast.stmt], keepers: set[int]) -> set[str]:
    """Some names that a statement reads, with those which the body made them from, keeping aside."""
    loops = [each for each in ast.walk(body) if isinstance(each, ast.For)]
    made = [each for each in inside if isinstance(each, ast.Assign) and id(each) not in keepers and each is not used]
    for _ in range(STEPS):
        for each in made:
            stored = {unparse(part) for target in each.targets for part in ast.walk(target) if _is_stored(part)}
            if stored & found:
                found |= set(_read(each))
        for loop in loops:
            if {unparse(part) for part in ast.walk(loop.target)} & found:
                found |= set(_names(loop.iter))
    return found


def _read(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement reads; of a loop or branch those of its head."""
    inner = {id(part) for field in ("body", "orelse") for one in _list(statement, field) for part in ast.walk(one)}
    for each in ast.walk(statement):
        if id(each) not in inner and isinstance(each, ast.expr):
            yield from _names(each)


def _list(statement: ast.stmt, field: str) -> list[ast.stmt]:
    found = getattr(statement, field, [])
    return found if isinstance(found, list) else []


def _names(tree: ast.expr) -> Iterator[str]:
    for each in ast.walk(tree):
        if isinstance(each, ast.Name | ast.Attribute) and isinstance(each.ctx, ast.Load):
            yield unparse(each)


def _is_stored(tree: ast.AST) -> bool:
    return isinstance(tree, ast.Name | ast.Attribute) and isinstance(tree.ctx, ast.Store)


def _is_read_behind(body: ast.AST, statement: ast.stmt, bank: str) -> bool:
    """Whether this iteration reads what a statement keeps, behind it or in the next turn of an inner loop."""
    inner = [each for each in ast.walk(body) if isinstance(each, ast.For | ast.While) and each is not body]
    if any(each.lineno <= statement.lineno <= (each.end_lineno or 0) for each in inner):
        return True
    end = statement.end_lineno or statement.lineno
    reads = [each for each in ast.walk(body) if isinstance(each, ast.Name | ast.Attribute) and each.lineno > end]
    return any(isinstance(each.ctx, ast.Load) and unparse(each) == bank for each in reads)

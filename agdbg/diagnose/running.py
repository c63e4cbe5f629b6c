"""How to say that the loss of one iteration is what is to be differentiated, where a program differentiates those of all so far:
their running sum, or a list of them.

Needs the source alone.
"""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace

from agdbg.diagnose.carriers import exposed, statements_in, stored_by
from agdbg.diagnose.collected import without_graphs
from agdbg.diagnose.enclosing import function_of, module_of, place
from agdbg.diagnose.meeting import Entry
from agdbg.diagnose.source import assigned, call_text, called, calls, differentiated, quoted
from agdbg.diagnose.syntax import name_of, read, unparse
from agdbg.diagnose.words import Lines
from agdbg.record.facts import NodeFact, PassFact
from agdbg.record.lookup import Site

_TURN = ast.FunctionDef | ast.AsyncFunctionDef | ast.For | ast.AsyncFor | ast.While
_ADDING = {"append", "appendleft", "insert", "extend"}
_BACKWARD = ("backward", "grad")
#: Functions that make one of many, and methods of what they made, which leave it a sum or a mean of them.
_JOINING, _REDUCING = {"stack", "cat", "hstack", "vstack"}, {"sum", "mean", "fsum", "nansum", "nanmean"}
_WRAPPING = {"list", "tuple", "reversed", "sorted"}
_LINEAR = ast.Add | ast.Sub | ast.Mult | ast.Div
#: What the loss of one iteration may be called where it has no name yet.
_NAMES = ("loss", "current", "loss_now")
#: How many names are followed from one to the next.
STEPS = 3


def running_total(entries: list[Entry], first: PassFact | None, second: PassFact | None) -> str:
    """The advice where the losses of all iterations so far are differentiated in each; empty for anything else."""
    return _of_sum(entries, first, second) or _of_list(entries, second)


# ----- a sum -----


def _of_sum(entries: list[Entry], first: PassFact | None, second: PassFact | None) -> str:
    """The advice for ``total = total + loss; total.backward()``."""
    entry = entries[0].node
    roots = {number for number, _ in first.roots} if first is not None else set()
    name = assigned(entry.site)
    if second is None or entry.id not in roots or not name or differentiated(second.site) != name:
        return ""
    added = _added(entry, name)
    if added is None:
        return ""
    loss = added if added.isidentifier() else "loss"
    head = (
        "Call backward() on the loss of this iteration alone"
        if loss == added
        else "Name the loss of this iteration, `loss = ...`, and differentiate it alone"
    )
    return (
        f"{head}, `{loss}.backward()` in place of {_call(second)}, "
        f"and keep the running sum `{name}` without a graph: `{name} = {name} + {loss}.detach()`, or "
        f"`{name} += {loss}.item()` for a plain number"
    )


def _added(entry: NodeFact, name: str) -> str | None:
    """Of ``total = total + loss`` the ``loss``; empty if it has no name, None if the line is no such sum."""
    reading = read(entry.site)
    statement = reading.statement if reading is not None else None
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        return name_of(statement.value)
    value = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
        return None
    sides = [name_of(value.left), name_of(value.right)]
    return sides[1 - sides.index(name)] if name in sides else None


# ----- a list -----


@dataclass(frozen=True)
class _Summed:
    """A list whose items are summed up for the call of backward.

    Attributes:
        bank: its name.
        within: the statements that lead from it to the call.
        joined: whether its items have to be tensors.
        alone: whether nothing else is added to them.
    """

    bank: str
    within: tuple[ast.stmt, ...]
    joined: bool = False
    alone: bool = True


def _of_list(entries: list[Entry], second: PassFact | None) -> str:
    """The advice for ``losses.append(loss); total = sum(losses); total.backward()``."""
    user = entries[0].consumer
    if second is None or user is None or (user.site.file, function_of(user.site)) != _function(second.site):
        return ""
    around, root = place(second.site), _root(second.site)
    body = next((each for each in reversed(around.around) if isinstance(each, _TURN)), None)
    if body is None or root is None or around.statement is None:
        return ""
    found = _summed(body, root, (around.statement,), STEPS)
    if found is None or place(user.site).statement not in found.within or found.bank not in exposed(body):
        return ""
    puts = [each for each in statements_in(body) if _put(each, found.bank)]
    before = all(each.lineno <= second.site.line for each in puts)
    inner = any(id(each) in _in_loops(body) for each in puts)
    if (
        len(puts) == 1
        and found.alone
        and before
        and not inner
        and differentiated(second.site)
        and not _is_many(puts[0])
    ):
        return _each_alone(body, puts[0], found, second)
    return _of_iteration(body, puts, found, second)


def _each_alone(body: ast.stmt, put: ast.stmt, found: _Summed, second: PassFact) -> str:
    """The advice where an iteration adds one loss to the list."""
    (added,) = _put(put, found.bank)
    name = name_of(added)
    loss = name or next((each for each in _NAMES if each not in _mentioned(body)), "")
    if not loss:
        return _of_iteration(body, [put], found, second)
    new, text = quoted(_with(put, added, f"{loss}.detach()")), quoted(unparse(put))
    call = f"`{loss}.backward()` in place of {_call(second)}"
    numbers = "" if found.joined else f", or with `{loss}.item()` as a plain number"
    where = f"in place of `{text}` at line {put.lineno}"
    kept = f"keep it in `{found.bank}` without its graph"
    if name:
        return f"Call backward() on the loss of this iteration alone, {call}, and {kept}: `{new}` {where}{numbers}"
    named = f"`{loss} = {quoted(unparse(added))}; {new}` {where}{numbers}"
    return f"Name the loss of this iteration, {kept}: {named}; and differentiate it alone, {call}"


def _of_iteration(body: ast.stmt, puts: list[ast.stmt], found: _Summed, second: PassFact) -> str:
    """The advice where it adds several: a list that is empty at first or, where others read it, one of no graphs."""
    head, bank = "Differentiate the losses of this iteration alone", found.bank
    after = f"after {_call(second)}"
    if not _is_read_elsewhere(body, puts, found, second.site):
        return f"{head}: `{bank}.clear()`, {after}, or a new list in each iteration; keep those of all as numbers, with `.item()`"
    how = without_graphs(puts[0], bank, second.site)
    return f"{head}, and keep the others in `{bank}` without their graphs: `{how}`, {after}" if how else ""


def _root(site: Site) -> ast.expr | None:
    """What a call of ``backward`` or ``grad`` starts from."""
    found = next((each for each in calls(site) if called(each) in _BACKWARD), None)
    if found is None or found.args:
        return found.args[0] if found is not None else None
    return found.func.value if isinstance(found.func, ast.Attribute) else None


def _summed(body: ast.stmt, tree: ast.expr, within: tuple[ast.stmt, ...], steps: int) -> _Summed | None:
    """The list that an expression is a sum or a mean of, if a turn of a loop puts something into it."""
    if name := name_of(tree):
        return _named(body, name, within, steps) or _sliced(body, tree, within, steps)
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, _LINEAR):
        sides = [(tree.left, tree.right), (tree.right, tree.left)]
        tried = ((_summed(body, each, within, steps), other) for each, other in sides)
        known, beside = next(((each, other) for each, other in tried if each is not None), (None, tree))
        more = isinstance(tree.op, ast.Add | ast.Sub) and not isinstance(beside, ast.Constant)
        return replace(known, alone=known.alone and not more) if known is not None else None
    if isinstance(tree, ast.Call) and called(tree) in _JOINING | _REDUCING | _WRAPPING:
        parts = [*tree.args[:1], *([tree.func.value] if isinstance(tree.func, ast.Attribute) else [])]
        known = next((found for each in parts if (found := _summed(body, each, within, steps))), None)
        return replace(known, joined=known.joined or called(tree) in _JOINING) if known is not None else None
    if isinstance(tree, ast.ListComp | ast.GeneratorExp) and len(tree.generators) == 1:
        item, of = name_of(tree.generators[0].target), tree.generators[0].iter
        scaled = [tree.elt.left, tree.elt.right] if isinstance(tree.elt, ast.BinOp) else [tree.elt]
        return _summed(body, of, within, steps) if item and item in map(name_of, scaled) else None
    return None


def _sliced(body: ast.stmt, tree: ast.expr, within: tuple[ast.stmt, ...], steps: int) -> _Summed | None:
    part = isinstance(tree, ast.Subscript) and isinstance(tree.slice, ast.Slice)
    return _summed(body, tree.value, within, steps) if part and isinstance(tree, ast.Subscript) else None


def _named(body: ast.stmt, name: str, within: tuple[ast.stmt, ...], steps: int) -> _Summed | None:
    """The same of a name: the list itself, or what the turn made it from."""
    inside = list(statements_in(body))
    if any(_put(each, name) for each in inside):
        return _Summed(name, within)
    for each in inside if steps else ():
        of = each.iter if isinstance(each, ast.For) else each.value if isinstance(each, ast.Assign) else None
        if of is not None and name in stored_by(each):
            found = _summed(body, of, (*within, each), steps - 1)
            if found is not None:
                return found
    return None


def _put(statement: ast.stmt, bank: str) -> list[ast.expr]:
    """What a statement adds to a list."""
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.Expr) and isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        adds = value.func.attr in _ADDING and name_of(value.func.value) == bank
        return value.args[-1:] if adds else []
    if isinstance(statement, ast.AugAssign) and name_of(statement.target) == bank:
        return value.elts if isinstance(value, ast.List) else []
    is_own = isinstance(statement, ast.Assign) and [name_of(each) for each in statement.targets] == [bank]
    if is_own and isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) and name_of(value.left) == bank:
        return value.right.elts if isinstance(value.right, ast.List) else []
    return []


def _is_many(put: ast.stmt) -> bool:
    """Whether a statement may add more than one item."""
    value = put.value if isinstance(put, ast.Expr | ast.Assign | ast.AugAssign) else None
    if isinstance(value, ast.Call):
        return called(value) == "extend"
    added = value.right if isinstance(value, ast.BinOp) else value
    return not isinstance(added, ast.List) or len(added.elts) != 1


def _in_loops(body: ast.stmt) -> set[int]:
    inner = [each for each in statements_in(body) if isinstance(each, ast.For | ast.AsyncFor | ast.While)]
    return {id(each) for one in inner for each in statements_in(one)}


def _with(put: ast.stmt, added: ast.expr, text: str) -> str:
    """A statement with another expression for what it adds."""
    memo: dict[int, ast.AST] = {}
    new = copy.deepcopy(put, memo)
    mine = memo[id(added)]
    for each in ast.walk(new):
        for field, value in ast.iter_fields(each):
            if isinstance(value, list):
                setattr(each, field, [ast.parse(text, mode="eval").body if part is mine else part for part in value])
    return unparse(new)


def _mentioned(body: ast.stmt) -> set[str]:
    return {each.id for each in ast.walk(body) if isinstance(each, ast.Name)}


def _is_read_elsewhere(body: ast.stmt, puts: list[ast.stmt], found: _Summed, site: Site) -> bool:
    """Whether other statements read the list than those which fill it and which lead to the call."""
    known = {id(part) for each in (*puts, *found.within) for part in _heads(each)}
    function = place(site).function
    inside = list(ast.walk(function)) if function is not None else []
    declared = any(found.bank in each.names for each in inside if isinstance(each, ast.Global | ast.Nonlocal))
    made = any(
        unparse(each) == found.bank for each in inside if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    )
    tree = (function if made and not declared else module_of(site.file)) or body
    reads = (each for each in ast.walk(tree) if isinstance(each, ast.Name | ast.Attribute) and id(each) not in known)
    return any(isinstance(each.ctx, ast.Load) and unparse(each) == found.bank for each in reads)


def _heads(statement: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement, of a loop or branch those of its head."""
    for each in ast.iter_child_nodes(statement):
        if isinstance(each, ast.expr):
            yield from ast.walk(each)


def _function(site: Site) -> tuple[str, str]:
    return site.file, function_of(site)


def _call(second: PassFact) -> str:
    return f"`{call_text(second.site, second.call)}`{Lines(second.site).at(second.site)}"

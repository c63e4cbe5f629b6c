"""no-create-graph: a gradient goes into a loss, and was computed without ``create_graph=True``: there it is a constant.

A gradient penalty written so runs without an error, and trains nothing. What goes where is read from the source, and the trace
confirms that the sum has no gradient on the side of the penalty.

Needs: PASS_STARTED with its flags, BORN with its edges, the source file.
"""

import ast
from collections.abc import Iterator, Set

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.enclosing import Scope, module_of, place
from agdbg.diagnose.finding import Evidence, Finding, Found
from agdbg.diagnose.regrad import results_of
from agdbg.diagnose.singular import stem
from agdbg.diagnose.source import call_text, called, quoted
from agdbg.diagnose.syntax import name_of, unparse
from agdbg.diagnose.walk import Mask
from agdbg.diagnose.words import Lines
from agdbg.record.facts import NodeFact, PassFact

KIND = "no-create-graph"
#: Calls that are looked at, and nodes of one line.
CALLS, NODES = 200, 50
_SUMS = frozenset(("Add", "Sub", "Neg", "Sum", "Mean", "ToCopy", "View", "Squeeze"))
_SCALED = frozenset(("Mul", "Div"))
#: What makes a number or a constant of a gradient on purpose.
_ON_PURPOSE = {"detach", "item", "sign", "float", "data", "numpy", "tolist"}


def findings(case: Case) -> list[Found]:
    """One finding for each line that adds a penalty made of such a gradient to a loss."""
    found: dict[object, Found] = {}
    seen: set[object] = set()
    for call in case.facts.passes:
        if call.create_graph or call.outcome != "ok" or call.site in seen or len(seen) == CALLS:
            continue
        seen.add(call.site)
        for line, text in added(call):
            node = _confirmed(case, call, line)
            if node is not None:
                found.setdefault((node.site.file, node.site.line), _found(case, call, node, text))
    return list(found.values())


def _found(case: Case, call: PassFact, node: NodeFact, text: str) -> Found:
    lines = Lines(node.site)
    words = f"`{call_text(call.site, call.call)}`{lines.at(call.site)}"
    return Found(
        node.row,
        Finding(
            kind=KIND,
            cause=(
                f"`{text}`{lines.at(node.site)} is made of a gradient that {words} computed without create_graph=True: in the "
                "loss it is a constant, and trains nothing."
            ),
            evidence=(
                Evidence("first call", call.site, "without create_graph=True: what it gives has no graph"),
                Evidence("added", node.site, "goes into the sum without a gradient of its own", node.id),
            ),
            nodes=(node.id,),
            certainty="likely",
            fix=f"Pass create_graph=True to {words}. If the term is only to be looked at, leave it out of the loss.",
        ),
    )


def _confirmed(case: Case, call: PassFact, line: int) -> NodeFact | None:
    """The node of a sum on a line, born after the call, one of whose sides has no gradient, and that a later pass goes through."""
    walk, facts = case.walk, case.facts
    later = [each for each in facts.passes if each.row > call.row]
    sites = [
        word
        for word in np.unique(walk.made_at[walk.born > call.row]).tolist()
        if _is_sum(case, word, call.site.file, line)
    ]
    if not sites:
        return None
    places = np.flatnonzero(np.isin(walk.made_at, np.array(sites, np.uint64)) & (walk.born > call.row))[:NODES]
    nodes = [facts.node(int(walk.ids[place])) for place in places.tolist()]
    halves = [node for node in nodes if node is not None and sum(1 for edge in node.edges if edge.node) == 1]
    if not halves:
        return None
    roots, composing = walk.mask(root for each in later for root, _ in each.roots), _composing(case)
    loss = walk.below(roots & composing, composing)
    return next((node for node in halves if loss[walk.place(node.id)] and _is_number(case, node)), None)


def _is_number(case: Case, node: NodeFact) -> bool:
    """Whether a node gives one number, as far as its shape was recorded."""
    shape = case.facts.shape(node.id)
    return shape is None or all(size == 1 for size in shape.dims)


def _composing(case: Case) -> Mask:
    """The places that losses are composed by: what is added further down is a tensor on the way, and no penalty.

    A product of two things that have gradients is none of them: it may be a square of what is added.
    """
    walk = case.walk
    ops = (walk.made_at >> np.uint64(32)).astype(np.int64)
    stems = {word: stem(case.facts.trace.op(word).name) for word in np.unique(ops).tolist()}
    sums = np.isin(ops, [word for word, name in stems.items() if name in _SUMS])
    scaled = np.isin(ops, [word for word, name in stems.items() if name in _SCALED])
    single = np.bincount(walk.edges.source, minlength=len(ops)) == 1
    mask: Mask = sums | (scaled & single)
    return mask


def _is_sum(case: Case, word: int, file: str, line: int) -> bool:
    site, op = case.facts.site_and_op(word)
    return (site.file, site.line) == (file, line) and stem(op.name) in ("Add", "Sub")


# ----- the source -----


def added(call: PassFact) -> Iterator[tuple[int, str]]:
    """The lines that add something made of what a call returned to something else, with the text of what is added."""
    here, module = place(call.site), module_of(call.site.file)
    if not here.known or module is None:
        return
    function = here.function
    names = set(results_of(call))
    through_grad = call.call == "backward"
    scope: ast.AST = function if function is not None else module
    names = _spread(scope, names, call.site.line, through_grad=through_grad)
    yield from _sums(scope, names, set(), through_grad=through_grad, after=call.site.line)
    if isinstance(function, ast.FunctionDef) and _returns(function, names, through_grad=through_grad):
        for each in [module, *(tree for tree in ast.walk(module) if isinstance(tree, Scope) and tree is not function)]:
            spread = _spread(each, set(), 0, functions={function.name})
            yield from _sums(each, spread, {function.name}, through_grad=False, after=0)


def _spread(
    scope: ast.AST, names: Set[str], after: int, *, functions: Set[str] = frozenset(), through_grad: bool = False
) -> set[str]:
    """The names that hold something made of these, by the assignments of a scope in their order."""
    known = set(names)
    statements = [each for each in _own(scope) if isinstance(each, ast.Assign | ast.AugAssign) and each.lineno > after]
    for each in sorted(statements, key=lambda tree: tree.lineno):
        targets = each.targets if isinstance(each, ast.Assign) else [each.target]
        if isinstance(each, ast.AugAssign) and name_of(each.target) not in known:
            continue
        made = _made_of(each.value, known, functions, through_grad=through_grad)
        if made and not _is_mixed(each.value, known, functions, through_grad=through_grad):
            known |= {name for target in targets if (name := name_of(target))}
    return known


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """The parts of a scope without those of the functions in it."""
    todo = list(ast.iter_child_nodes(scope))
    while todo:
        each = todo.pop()
        yield each
        if not isinstance(each, Scope):
            todo.extend(ast.iter_child_nodes(each))


def _made_of(tree: ast.AST, names: Set[str], functions: Set[str], *, through_grad: bool) -> bool:
    """Whether an expression is made of one of these names, and nothing in it makes a constant of that on purpose."""
    parts = list(ast.walk(tree))
    if any(isinstance(each, ast.Attribute) and each.attr in _ON_PURPOSE for each in parts):
        return False
    if any(isinstance(each, ast.Call) and called(each) in {"float", "int", "print"} for each in parts):
        return False
    by_name = any(isinstance(each, ast.Name) and each.id in names for each in parts)
    by_call = any(isinstance(each, ast.Call) and called(each) in functions for each in parts)
    by_grad = through_grad and any(
        isinstance(each, ast.Attribute) and each.attr == "grad" and isinstance(each.ctx, ast.Load) for each in parts
    )
    return by_name or by_call or by_grad


def _is_mixed(tree: ast.expr, names: Set[str], functions: Set[str], *, through_grad: bool) -> bool:
    """Whether an expression adds something made of these to something else, that is no number."""
    if not isinstance(tree, ast.BinOp) or not isinstance(tree.op, ast.Add | ast.Sub):
        return False
    sides = [_made_of(side, names, functions, through_grad=through_grad) for side in (tree.left, tree.right)]
    other = tree.right if sides[0] else tree.left
    return sides[0] != sides[1] and not isinstance(other, ast.Constant)


def _sums(
    scope: ast.AST, names: Set[str], functions: Set[str], *, through_grad: bool, after: int
) -> Iterator[tuple[int, str]]:
    for each in _own(scope):
        if (
            isinstance(each, ast.BinOp)
            and each.lineno >= after
            and _is_mixed(each, names, functions, through_grad=through_grad)
        ):
            side = each.left if _made_of(each.left, names, functions, through_grad=through_grad) else each.right
            yield each.lineno, quoted(unparse(side))
        if isinstance(each, ast.AugAssign) and isinstance(each.op, ast.Add | ast.Sub) and each.lineno > after:
            target = name_of(each.target)
            if target not in names and _made_of(each.value, names, functions, through_grad=through_grad):
                yield each.lineno, quoted(unparse(each.value))


def _returns(function: ast.FunctionDef, names: Set[str], *, through_grad: bool) -> bool:
    made = [each.value for each in _own(function) if isinstance(each, ast.Return) and each.value is not None]
    return any(_made_of(each, names, set(), through_grad=through_grad) for each in made)

"""What the source has between two calls of backward, and behind the second one.

Needs the source alone; without it nothing is known.
"""

import ast
from collections.abc import Iterator

from agdbg.diagnose.carriers import LOOP
from agdbg.diagnose.enclosing import Scope, module_of, place
from agdbg.diagnose.source import called
from agdbg.diagnose.syntax import name_of, unparse
from agdbg.diagnose.words import same_line
from agdbg.record.lookup import Site

#: What reads or changes the gradients that a call of backward left.
_READING = {"clip_grad_norm_", "clip_grad_value_", "clip_grad_norm", "get_total_norm", "unscale_"}
_CUTTING = {"detach", "item", "tolist", "numpy"}
_DIFFERENTIATING = {"backward", "grad"}
_Position = tuple[int, int]


def between(first: Site, second: Site) -> list[ast.expr | ast.stmt]:
    """The parts of the source between two calls, in their order; of one line those of the loop around it."""
    here, other = place(first), place(second)
    if not here.known or not other.known or here.function is not other.function or first.file != second.file:
        return []
    start, end = _behind(first), (second.line, max(second.col, 0))
    if same_line(first, second) and (first.col, first.end_col) == (second.col, second.end_col):
        loops = [each for each in other.around if isinstance(each, (Scope, *LOOP))]
        if not loops or not isinstance(loops[-1], LOOP):
            return []
        loop = loops[-1]
        start, end = (loop.lineno, 0), (loop.end_lineno or loop.lineno, 1 << 20)
    found = [each for each in _parts(second) if start <= (each.lineno, each.col_offset) < end]
    return sorted(found, key=_position)


def uses_gradients(first: Site, second: Site) -> bool:
    """Whether something between two calls reads, changes or deletes the gradients of the first: each is meant to have its own."""
    return any(
        (
            isinstance(each, ast.Attribute)
            and each.attr == "grad"
            and name_of(each) not in ("torch.autograd.grad", "autograd.grad")
        )
        or (isinstance(each, ast.Call) and called(each) in {"zero_grad", *_READING})
        for each in between(first, second)
    )


def may_be_skipped(first: Site, second: Site) -> bool:
    """Whether a turn may run the first of two calls without the second one, as the source says."""
    here, other = place(first), place(second)
    deeper = [each for each in other.around if each not in here.around]
    return any(isinstance(each, ast.If | ast.Try | ast.Match | ast.While) for each in deeper) or any(
        isinstance(each, ast.Continue | ast.Break | ast.Return) for each in between(first, second)
    )


def zeroing(first: Site, second: Site) -> list[ast.Call]:
    """The calls of ``zero_grad`` between two calls."""
    return [each for each in between(first, second) if isinstance(each, ast.Call) and called(each) == "zero_grad"]


def step_behind(second: Site) -> ast.Call | None:
    """The first call of ``step`` behind a call, in its block or one around it; None when there is none."""
    steps = [each for each in _parts(second) if isinstance(each, ast.Call) and called(each) == "step"]
    return min((each for each in steps if _position(each) >= _behind(second)), key=_position, default=None)


def owner_of(step: Site) -> str:
    """The optimizer whose step a site is: ``opt`` of ``opt.step()``; empty when it is not written so."""
    around = [each for each in place(step).around if isinstance(each, ast.Call) and called(each) == "step"]
    return receiver(around[-1]) if around else ""


def receiver(made: ast.Call) -> str:
    """What a method is called on; of ``scaler.step(opt)`` the argument."""
    if len(made.args) == 1 and name_of(made.args[0]) and called(made) == "step":
        return name_of(made.args[0])
    return name_of(made.func.value) if isinstance(made.func, ast.Attribute) else ""


def apart(near: Site, one: str, other: str) -> bool | None:
    """Whether two optimizers were given the parameters of different modules, as the source says; None when it does not say."""
    if not one or not other:
        return None
    if one == other:
        return False
    mine, theirs = _given(near, one), _given(near, other)
    if not mine or not theirs:
        return None
    return not any(_within(a, b) or _within(b, a) for a in mine for b in theirs)


def _within(inner: str, outer: str) -> bool:
    return inner == outer or inner.startswith(f"{outer}.")


def _given(near: Site, optimizer: str) -> set[str]:
    """The modules and tensors whose parameters an optimizer was given."""
    tree = module_of(near.file)
    if tree is None:
        return set()
    made = [each for each in ast.walk(tree) if isinstance(each, ast.Assign)]
    values = [each.value for each in made if any(_is(target, optimizer) for target in each.targets)]
    for each in made:
        for target in each.targets:
            if (
                isinstance(target, ast.Tuple)
                and isinstance(each.value, ast.Tuple)
                and len(target.elts) == len(each.value.elts)
            ):
                values += [
                    value for name, value in zip(target.elts, each.value.elts, strict=True) if _is(name, optimizer)
                ]
    calls = [each for each in values if isinstance(each, ast.Call)]
    if len(calls) != 1 or len(values) != 1:
        return set()
    given = next((each.value for each in calls[0].keywords if each.arg == "params"), None)
    given = given or (calls[0].args[0] if calls[0].args else None)
    if isinstance(given, ast.Name):
        held = [each.value for each in made if any(_is(target, given.id) for target in each.targets)]
        given = held[0] if len(held) == 1 else None
    return _modules(given) if given is not None else set()


def _modules(given: ast.expr) -> set[str]:
    """Of ``[*enc.parameters(), w]`` the names ``enc`` and ``w``; empty where something else is in it."""
    if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and given.func.attr == "parameters":
        return {name_of(given.func.value)} - {""}
    if isinstance(given, ast.Call) and called(given) in ("list", "tuple", "chain") and given.args:
        parts: list[ast.expr] = list(given.args)
    elif isinstance(given, ast.List | ast.Tuple):
        parts = given.elts
    elif isinstance(given, ast.BinOp) and isinstance(given.op, ast.Add):
        parts = [given.left, given.right]
    elif isinstance(given, ast.Starred):
        parts = [given.value]
    elif isinstance(given, ast.Dict):
        parts = [value for key, value in zip(given.keys, given.values, strict=True) if _is_key(key)]
    else:
        return {name_of(given)} - {""}
    found = [_modules(each) for each in parts]
    return set().union(*found) if all(found) else set()


def _is_key(key: ast.expr | None) -> bool:
    return isinstance(key, ast.Constant) and key.value == "params"


def _is(target: ast.expr, name: str) -> bool:
    return bool(name) and name_of(target) == name


# ----- what comes later -----


def later_calls(second: Site, made: list[Site], names: set[str], *, turns: bool) -> list[ast.Call]:
    """The calls of backward and grad behind a call of what was computed from what some lines made, or is called so.

    With ``turns``, where the call runs in several turns of a loop, those behind the loop.
    """
    tainted, found, behind = set(names), [], _behind(second)
    inner = [each for each in place(second).around if isinstance(each, (Scope, *LOOP))]
    if turns and inner and isinstance(inner[-1], LOOP):
        behind = max(behind, (inner[-1].end_lineno or 0, 1 << 20))
    lines = {each.line for each in made if (each.file, each.func) == (second.file, second.func)}
    for each in sorted((each for each in _parts(second) if isinstance(each, ast.stmt | ast.Call)), key=_position):
        if isinstance(each, ast.Assign | ast.AugAssign | ast.AnnAssign) and each.value is not None:
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            stored = {name for target in targets for part in ast.walk(target) if (name := _stored(part))}
            from_it = _reads(each.value, tainted) and not _is_cut(each.value)
            if each.lineno in lines or from_it:
                tainted |= stored
            elif isinstance(each, ast.Assign) and not isinstance(targets[0], ast.Subscript):
                tainted -= stored - names
        elif isinstance(each, ast.For) and (each.lineno in lines or _reads(each.iter, tainted)):
            tainted |= {part.id for part in ast.walk(each.target) if isinstance(part, ast.Name)}
        elif isinstance(each, ast.Call):
            keeps = called(each) in ("append", "extend") and any(_reads(part, tainted) for part in each.args)
            if keeps and isinstance(each.func, ast.Attribute):
                tainted |= {name_of(each.func.value)} - {""}
            if called(each) in _DIFFERENTIATING and _position(each) >= behind and _reads(each, tainted):
                found.append(each)
    return found


def _stored(part: ast.AST) -> str:
    mine = isinstance(part, ast.Name | ast.Attribute | ast.Subscript) and isinstance(part.ctx, ast.Store)
    return name_of(part).partition("[")[0] if mine and isinstance(part, ast.expr) else ""


def _reads(tree: ast.AST, names: set[str]) -> bool:
    return any(isinstance(each, ast.Name | ast.Attribute) and unparse(each) in names for each in ast.walk(tree))


def _is_cut(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and (called(value) in _CUTTING or called(value) == "float")


# ----- positions -----


def _parts(near: Site) -> Iterator[ast.expr | ast.stmt]:
    """The parts of the function, or module, around a site, without those of functions in it."""
    here = place(near)
    scope: ast.AST | None = here.function or module_of(near.file)
    todo = list(ast.iter_child_nodes(scope)) if here.known and scope is not None else []
    while todo:
        each = todo.pop()
        if isinstance(each, ast.expr | ast.stmt):
            yield each
        if not isinstance(each, Scope):
            todo.extend(ast.iter_child_nodes(each))


def _behind(site: Site) -> _Position:
    return (site.end_line or site.line, site.end_col if site.end_col >= 0 else 1 << 20)


def _position(each: ast.expr | ast.stmt) -> _Position:
    return (each.lineno, each.col_offset)

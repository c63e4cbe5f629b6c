"""The masked-branch trap: a ``where()`` hides a bad value in forward, and backward multiplies its zero by infinity.

The way out is to mask what goes in, not what comes out; the rewrite is made out of the source where it can be read.
"""

import ast
from collections.abc import Callable

from agdbg.diagnose.case import Case
from agdbg.diagnose.mask_fits import fits
from agdbg.diagnose.singular import is_choosing, singular, stem
from agdbg.diagnose.source import assigned, called, receivers
from agdbg.diagnose.syntax import name_of, read, unparse
from agdbg.diagnose.walk import Mask
from agdbg.diagnose.words import capital
from agdbg.record.facts import NodeFact
from agdbg.record.lookup import Site

#: Nodes that are looked at on the way up from a producer.
LIMIT = 10_000
#: The longest expression that is written into a fix.
_LONG = 60


def choice_above(case: Case, place: int, within: Mask) -> NodeFact | None:
    """The node, above a place and in a set, that leaves out what the place made; None when there is none.

    Where that was bad already in forward it is the nearest with a good output; else the nearest that chooses between values.
    """
    walk, bad = case.walk, case.measured.bad_output
    if bad[place]:
        chosen = walk.nearest_above(place, within, lambda at: not bad[at], LIMIT)
    else:
        chosen = walk.nearest_above(place, within, lambda at: _chooses(case, at), LIMIT)
    return case.facts.node(int(walk.ids[chosen])) if chosen >= 0 else None


def _chooses(case: Case, place: int) -> bool:
    word = int(case.walk.made_at[place])
    name = case.facts.trace.op(word >> 32).name
    return is_choosing(name) and stem(name) != "NanToNum"  # that leaves out bad values alone, and there was none


def rewrite(case: Case, producer: NodeFact, choice: NodeFact) -> str:
    """The fix as a sentence or two."""
    known = singular(producer.op.name)
    written = exact(case, producer, choice)
    if written:
        return written
    if stem(choice.op.name) == "NanToNum":
        how = known.keep if known is not None and known.keep else "keep its input away from there"
        return f"nan_to_num() mends the value and not the gradient. Before the op, {how}."
    if not is_choosing(choice.op.name) and known is not None and known.keep:
        return f"{capital(known.keep)}. `{stem(choice.op.name).lower()}` hides the bad value in forward, and not from the gradient."
    return in_general(producer)


def in_general(producer: NodeFact) -> str:
    """The rewrite where the source does not say how it is to be written."""
    known = singular(producer.op.name)
    safe = known.safe if known is not None and known.safe else "a harmless number"
    return (
        "Mask what goes into the op and not what comes out of it: put "
        f"{safe} in the places that are left out, with where(), before the op, and keep the mask behind it."
    )


def exact(case: Case, producer: NodeFact, choice: NodeFact) -> str:
    """The rewrite in the words of the source; empty where it cannot be read, or where the mask does not fit."""
    return written_out(producer, choice.site, lambda condition, text: fits(case, producer, choice, condition, text))


def written_out(producer: NodeFact, choice: Site, suits: Callable[[str, str], bool]) -> str:
    """The same for what stands at a site and chooses; ``suits``: whether a condition can be used before the op, of its operand."""
    known = singular(producer.op.name)
    safe = known.safe if known is not None else ""
    made, mask = read(producer.site), _mask(producer, choice)
    if made is None or made.found is None or mask is None or not safe:
        return ""
    operand = _operand(made.found, producer)
    if operand is None or isinstance(operand, ast.Constant):
        return ""
    wanted, condition, where = mask
    name, text = _safe_name(operand), unparse(operand)
    if not suits(condition, text):
        return ""
    order = f"{text}, {safe}" if wanted else f"{safe}, {text}"
    instead = _with(made.found, operand, name)
    whole = f"{where}({condition}, {order})"
    if not instead or max(len(condition), len(text), len(instead)) > _LONG:
        return ""
    return (
        f"Mask what goes in before the op: `{name} = {whole}`, and use `{instead}` in place of `{unparse(made.found)}`; "
        "keep the mask behind it."
    )


def _mask(producer: NodeFact, choice: Site) -> tuple[bool, str, str] | None:
    """Whether the producer's value is taken where the condition is true, the condition, and what ``where`` is called."""
    reading = read(choice)
    found = reading.found if reading is not None else None
    if isinstance(found, ast.Subscript):  # y[n == 0] = 0, or y[n != 0]
        return None if not _is_mask(found.slice) else (isinstance(found.ctx, ast.Load), unparse(found.slice), "where")
    if not isinstance(found, ast.Call):
        return None
    function = unparse(found.func)
    if called(found) == "where" and len(found.args) == 3:
        condition, first, second = found.args
        in_first, in_second = (_holds(each, producer) for each in (first, second))
        return None if in_first == in_second else (in_first, unparse(condition), function)
    if called(found) == "where" and isinstance(found.func, ast.Attribute) and len(found.args) == 2:
        return True, unparse(found.args[0]), "where"
    if called(found) in ("masked_fill", "masked_fill_"):
        given = receivers(found)
        return (False, unparse(given[1]), "where") if len(given) == 3 else None
    return None


def _is_mask(index: ast.expr) -> bool:
    return isinstance(index, ast.Compare | ast.Name | ast.UnaryOp | ast.BoolOp)


def _holds(branch: ast.expr, producer: NodeFact) -> bool:
    """Whether a branch of a ``where`` is made by the producer: it stands there, or its name does."""
    name = assigned(producer.site)
    made = read(producer.site)
    text = unparse(made.found) if made is not None and made.found is not None else ""
    parts = [each for each in ast.walk(branch) if isinstance(each, ast.expr)]
    return any((name and name_of(each) == name) or (text and unparse(each) == text) for each in parts)


def _operand(found: ast.AST, producer: NodeFact) -> ast.expr | None:
    """The input of the op that has to be kept away from where it is bad."""
    known = singular(producer.op.name)
    which = known.argument if known is not None else 0
    if isinstance(found, ast.BinOp):
        return (found.left, found.right)[which]
    if isinstance(found, ast.Call):
        given = receivers(found)
        return given[which] if which < len(given) else given[0] if given else None
    return None


def _safe_name(operand: ast.expr) -> str:
    name = name_of(operand)
    return f"safe_{name}" if name.isidentifier() else "safe"


def _with(found: ast.AST, operand: ast.expr, name: str) -> str:
    """The expression with another operand."""
    copy = ast.parse(unparse(found), mode="eval").body if unparse(found) else None
    if copy is None:
        return ""
    text = unparse(operand)
    for each in ast.walk(copy):
        for field, value in ast.iter_fields(each):
            if isinstance(value, ast.expr) and unparse(value) == text:
                setattr(each, field, ast.Name(name, ast.Load()))
                return unparse(copy)
            if isinstance(value, list):
                for index, part in enumerate(value):
                    if isinstance(part, ast.expr) and unparse(part) == text:
                        value[index] = ast.Name(name, ast.Load())
                        return unparse(copy)
    return ""

"""Whether a mask that leaves out a value can be written in front of the op that made it: in its shape and in its scope.

Needs: SHAPE; the source, for what is assigned where.
"""

import ast

from agdbg.diagnose.case import Case
from agdbg.diagnose.enclosing import module_of, place
from agdbg.diagnose.syntax import read
from agdbg.record.facts import NodeFact
from agdbg.record.lookup import Site


def fits(case: Case, producer: NodeFact, choice: NodeFact, condition: str, operand: str) -> bool:
    """Whether ``where(condition, operand, 1.0)`` can stand before the producer, for the condition by which the choice chooses."""
    made, chosen = producer.site, choice.site
    if (made.file, made.func) != (chosen.file, chosen.func) or not is_known(made, condition):
        return False
    whole = case.facts.shape(producer.id)
    if whole is None:
        return True
    given = [
        shape for edge in choice.edges if edge.node and (shape := case.facts.shape(edge.node, edge.nr)) is not None
    ]
    if given and all(shape.dims != whole.dims for shape in given):
        return False
    reading = read(chosen)
    by_index = reading is not None and isinstance(reading.found, ast.Subscript)
    return not by_index or len(whole.dims) < 2 or _is_whole(case, choice, condition, operand)


def _is_whole(case: Case, choice: NodeFact, condition: str, operand: str) -> bool:
    """Whether an index masks elements and not rows: what it picks then has one dimension, or it compares the operand itself."""
    picked = case.facts.shape(choice.id)
    reading = read(choice.site)
    reads = reading is not None and isinstance(reading.found, ast.Subscript) and isinstance(reading.found.ctx, ast.Load)
    if reads and picked is not None:
        return len(picked.dims) == 1
    return bool(operand) and operand in condition


def is_known(site: Site, condition: str) -> bool:
    """Whether what the condition reads is there at a line of the same function: not where all is assigned behind it."""
    here = place(site)
    outer = here.function or (module_of(site.file) if here.known else None)
    if outer is None:
        return True
    wanted = {each.id for each in ast.walk(ast.parse(condition, mode="eval")) if isinstance(each, ast.Name)}
    lines: dict[str, list[int]] = {}
    for each in ast.walk(outer):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store) and each.id in wanted:
            lines.setdefault(each.id, []).append(each.lineno)
    return all(min(found) < site.line for found in lines.values())

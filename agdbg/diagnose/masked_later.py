"""The masked-branch trap before it has sprung: a line makes a bad value, and the source says that a ``where()`` leaves it out.

Needs nothing of a trace but the node that made it: what chooses need not be built yet.
"""

import ast
from collections.abc import Iterator

from agdbg.diagnose.enclosing import module_of, place, site_of
from agdbg.diagnose.mask_fits import is_known
from agdbg.diagnose.masked import in_general, written_out
from agdbg.diagnose.source import assigned, called, quoted, receivers
from agdbg.diagnose.syntax import name_of, unparse
from agdbg.record.facts import NodeFact


def masked_later(producer: NodeFact) -> str:
    """What leaves out the values of a node, and the way out, as sentences; empty where nothing is known to."""
    found = next(_choices(producer), None)
    if found is None:
        return ""
    made = producer.site
    site = site_of(made, found)
    how = written_out(producer, site, lambda condition, _: is_known(made, condition)) or in_general(producer)
    line = f" at line {found.lineno}" if found.lineno != made.line else ""
    return (
        f"`{quoted(unparse(found))}`{line} leaves it out in forward; in backward a gradient of zero goes there all the same, and "
        f"where the derivative is NaN or infinite, 0 times it is NaN. {how}"
    )


def _choices(producer: NodeFact) -> Iterator[ast.Call]:
    """The calls that choose between what a node made and something else: around its expression, and behind it by its name."""
    here = place(producer.site)
    if not here.known or producer.site.col < 0:
        return
    for each in reversed(here.around[:-1]):
        if isinstance(each, ast.Call) and any(_covers(part, here.around[-1]) for part in _branches(each)):
            yield each
    name = assigned(producer.site)
    scope = here.function or module_of(producer.site.file)
    if not name or scope is None:
        return
    behind = [each for each in ast.walk(scope) if isinstance(each, ast.Call) and each.lineno > producer.site.line]
    for each in sorted(behind, key=lambda call: call.lineno):
        if any(name_of(part) == name for part in _branches(each)):
            yield each


def _covers(tree: ast.AST, part: ast.AST) -> bool:
    return any(each is part for each in ast.walk(tree))


def _branches(made: ast.Call) -> list[ast.expr]:
    """What a call may leave out; nothing of one that does not choose, or whose condition alone it is."""
    given = receivers(made)
    if called(made) == "where" and len(made.args) == 3:
        return made.args[1:]
    if called(made) == "where" and len(given) == 3:  # x.where(condition, other)
        return [given[0], given[2]]
    return given[:1] if called(made) in ("masked_fill", "masked_fill_") and len(given) == 3 else []

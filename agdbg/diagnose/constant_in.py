"""A gradient that depends on other things than on what was differentiated: of a function that is linear in it.

``y = (A @ x).sum()``: the gradient at ``x`` is made of ``A`` alone. It has a graph, and no path in that leads to ``x``.

Needs: PASS_STARTED with its flags, births, edges, FUNCTION; the source, for the name.
"""

import ast
from collections.abc import Iterator

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.enclosing import module_of, place
from agdbg.diagnose.source import called, calls
from agdbg.diagnose.syntax import name_of
from agdbg.events import Kind
from agdbg.record.facts import ErrorFact, PassFact
from agdbg.record.lookup import Site

#: Nodes that are looked at for custom Functions, of which nothing is known.
_LIMIT = 2000


def constant_in(case: Case, error: ErrorFact, name: str) -> PassFact | None:
    """The call with create_graph=True whose gradient at ``name`` the refused call started from; None when it is another matter."""
    walk = case.walk
    refused = next(
        (each for each in reversed(case.facts.passes) if each.row < error.row and each.site == error.site), None
    )
    if refused is None:
        return None
    reach = walk.below(walk.mask(root for root, _ in refused.roots))
    for call in reversed(case.facts.passes):
        if call.end_row >= refused.row or not call.create_graph or call.call != "grad" or call.outcome != "ok":
            continue
        built = walk.in_pass & (walk.born > call.row) & (walk.born < call.end_row)
        if not (reach & built).any():
            continue
        same = name in inputs_of(call.site) and _is_still(call.site, error.site, name)
        return call if same and not _has_functions(case, call) else None
    return None


def inputs_of(site: Site) -> list[str]:
    """The names of the tensors that a call of ``grad`` asks about; empty for one without a name."""
    made = next((each for each in calls(site) if called(each) == "grad"), None)
    if made is None:
        return []
    given = made.args[1] if len(made.args) > 1 else next((k.value for k in made.keywords if k.arg == "inputs"), None)
    if isinstance(given, ast.Tuple | ast.List):
        return [name_of(each) for each in given.elts]
    return [name_of(given)] if given is not None else []


def _is_still(first: Site, second: Site, name: str) -> bool:
    """Whether a name is the same variable at two places of one function, and nothing between is assigned to it."""
    here = place(first)
    if (first.file, first.func) != (second.file, second.func) or not here.known:
        return False
    outer = here.function or module_of(first.file)
    names = (
        [each for each in ast.walk(outer) if isinstance(each, ast.Name | ast.Attribute)] if outer is not None else []
    )
    stores = [each.lineno for each in names if isinstance(each.ctx, ast.Store) and name_of(each) == name]
    return not any(first.line <= line <= second.line for line in stores)


def _has_functions(case: Case, call: PassFact) -> bool:
    walk = case.walk
    places = np.flatnonzero(walk.below(walk.mask(root for root, _ in call.roots))).tolist()
    found: Iterator[int] = (int(walk.ids[each]) for each in places[:_LIMIT])
    return len(places) > _LIMIT or any(case.facts.rows_about(Kind.FUNCTION, node) for node in found)

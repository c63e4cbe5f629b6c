"""Whether the value that a line takes off the graph enters a loss all the same, and in which passes.

The trace does not tell: what has no history is in no graph. So the source is followed, from the line of the cut, or from the
block that switched gradients off around it, to lines that made nodes of a differentiated graph and to calls of backward().

Needs: CUT, GRAD_MODE, edges, PASS_STARTED; the source.
"""

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.enclosing import module_of, place
from agdbg.diagnose.source import called
from agdbg.diagnose.switched_off import switched_off_at
from agdbg.diagnose.taint import Taint
from agdbg.diagnose.walk import Mask
from agdbg.record.facts import CutFact
from agdbg.record.lookup import Site

#: How far a value is followed out of functions that return it.
DEPTH = 4
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Entering:
    """Where the value of a cut goes.

    Attributes:
        answer: ``yes``: into a loss; ``no``: the source shows that it does not; ``maybe``: it cannot be followed.
        lines: (file, line) of all that is computed from it, the line of the cut included.
    """

    answer: Literal["yes", "maybe", "no"]
    lines: frozenset[tuple[str, int]]


class Losses:
    """The lines that made the graphs of the passes of one trace."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._known: dict[int, Entering] = {}

    @cached_property
    def _lines(self) -> set[tuple[str, int]]:
        facts, walk = self._case.facts, self._case.walk
        reached: Mask = walk.below(walk.mask(root for each in facts.passes for root, _ in each.roots))
        made = np.unique(walk.made_at[reached & ~walk.leaves])
        sites = [facts.site_and_op(int(each))[0] for each in made.tolist()]
        return {(each.file, each.line) for each in (*sites, *(call.site for call in facts.passes))}

    def entering(self, cut: CutFact) -> Entering:
        """Where the value of a cut goes."""
        if cut.row not in self._known:
            self._known[cut.row] = self._follow(cut)
        return self._known[cut.row]

    def _follow(self, cut: CutFact) -> Entering:
        here = place(cut.site)
        tree = module_of(cut.site.file) if here.known else None
        start = here.statement
        if tree is None or start is None:
            known = (cut.site.file, cut.site.line) in self._lines
            return Entering("yes" if known else "maybe", frozenset(((cut.site.file, cut.site.line),)))
        found = _Following(tree)
        off = switched_off_at(self._case, cut.row, cut.site) if cut.op.name == "no_grad" else None
        block = _block(off, cut.site) if off is not None else None
        if off is None or block is None:
            found.follow([start], here.function, DEPTH)
        else:  # a function that was called in the block: what any statement there computes may come from it
            found.tree = module_of(off.file) or tree
            found.follow([*block.body], place(off).function, DEPTH)
        file = off.file if off is not None and block is not None else cut.site.file
        lines = {(file, line) for each in found.touched for line in range(each.lineno, (each.end_lineno or 0) + 1)}
        if lines & self._lines:
            return Entering("yes", frozenset(lines))
        return Entering("maybe" if found.is_lost else "no", frozenset(lines))


def _block(off: Site, site: Site) -> ast.With | None:
    """The ``with`` that switched gradients off, where the site is in a function that was called inside of it."""
    around = place(off)
    inside = place(site).around
    found = next((each for each in reversed(around.around) if isinstance(each, ast.With)), None)
    return None if found is None or any(each is found for each in inside) else found


class _Following:
    """A value on its way through one file."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.touched: list[ast.stmt] = []
        self.is_lost = False

    def follow(self, seeds: list[ast.stmt], function: ast.AST | None, depth: int) -> None:
        """Follow what some statements of a function, or of the module, compute."""
        if isinstance(function, ast.Lambda):
            self.is_lost = True
            return
        body = function.body if isinstance(function, _Function) else self.tree.body
        taint = Taint(frozenset(id(part) for each in seeds for part in ast.walk(each) if isinstance(part, ast.stmt)))
        taint.run(body)
        self.touched += taint.touched
        if isinstance(function, _Function):
            self.is_lost |= any("." in each for each in taint.names) or _yields(function, taint)
        inner = [part for each in body for part in ast.walk(each) if isinstance(part, _Function | ast.Lambda)]
        self.is_lost |= any(_reads(each, taint.names) for each in inner)
        self.is_lost |= any(_hands_over(each, self._functions(), taint.names) for each in taint.touched)
        if taint.returned and isinstance(function, _Function):
            self._return(function, depth)

    def _functions(self) -> set[str]:
        return {each.name for each in ast.walk(self.tree) if isinstance(each, _Function)}

    def _return(self, function: _Function, depth: int) -> None:
        """Follow what a function returns into those that call it; into none that cannot be found by its name."""
        same = [each for each in ast.walk(self.tree) if isinstance(each, _Function) and each.name == function.name]
        callers = [(each, around) for each, around in _statements(self.tree) if _calls(each, function.name)]
        if len(same) > 1 or not callers or not depth or (function.decorator_list and function.name == "forward"):
            self.is_lost = True
            return
        for around in {id(around): around for _, around in callers}.values():
            if around is not function:
                self.follow([each for each, of in callers if of is around], around, depth - 1)


def _yields(function: _Function, taint: Taint) -> bool:
    return any(isinstance(part, ast.Yield | ast.YieldFrom) for each in taint.touched for part in ast.walk(each))


def _hands_over(statement: ast.stmt, functions: set[str], names: set[str]) -> bool:
    """Whether a statement gives the value to a function of the file, which may put it anywhere."""
    given = (each for each in ast.walk(statement) if isinstance(each, ast.Call) and called(each) in functions)
    arguments = (each for made in given for each in (*made.args, *(key.value for key in made.keywords)))
    return any(_reads(each, names) for each in arguments)


def _reads(tree: ast.AST, names: set[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(tree))


def _statements(tree: ast.Module) -> list[tuple[ast.stmt, _Function | None]]:
    """The simple statements of a file and the function that each is in."""
    found: list[tuple[ast.stmt, _Function | None]] = []
    todo: list[tuple[ast.AST, _Function | None]] = [(tree, None)]
    while todo:
        here, function = todo.pop()
        inner = here if isinstance(here, _Function) else function
        todo += [(each, inner) for each in ast.iter_child_nodes(here) if not isinstance(each, ast.expr)]
        if isinstance(here, ast.stmt) and not hasattr(here, "body"):
            found.append((here, function))
    return found


def _calls(statement: ast.stmt, name: str) -> bool:
    return any(isinstance(each, ast.Call) and called(each) == name for each in ast.walk(statement))

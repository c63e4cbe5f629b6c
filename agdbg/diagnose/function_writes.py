"""Writes in the ``forward`` of a custom Function that are not counted, read from its source: no trace tells of them.

In ``forward`` the arguments have no history, so that nothing is cut there when they are handed to NumPy.
"""

import ast
from collections.abc import Iterator

from agdbg.diagnose.aliases import Alias, guessed, writes_through, written_later
from agdbg.diagnose.case import Case
from agdbg.diagnose.enclosing import module_of, site_of
from agdbg.diagnose.source import quoted
from agdbg.diagnose.syntax import unparse
from agdbg.record.deep_facts import ProbeFact
from agdbg.record.facts import NodeFact
from agdbg.record.lookup import Site

#: Nodes that are looked at.
_USERS = 20


def forward_write(case: Case, saved: ProbeFact, before: int) -> tuple[Site, str, NodeFact] | None:
    """The line, the statement and the node of a custom Function that was given a memory and whose forward writes to it."""
    for user, index in _users(case, saved, before):
        name = user.op.name.removesuffix("Backward")
        forward = _forward(user.site.file, name)
        argument = _argument(forward, index) if forward is not None else ""
        if forward is None or not argument:
            continue
        wrote = _written(user.site, forward, argument)
        if wrote is not None:
            return *wrote, user
    return None


def _users(case: Case, saved: ProbeFact, before: int) -> Iterator[tuple[NodeFact, int]]:
    """The nodes that were built from what is in the memory, and as which input they had it."""
    walk, edges = case.walk, case.walk.edges
    node = case.facts.node(saved.node)
    ids = [saved.node, *(edge.node for edge in node.edges if edge.node)] if node is not None else [saved.node]
    mine = [each for each in ids if (shape := case.facts.shape(each)) is not None and shape.storage == saved.storage]
    at = [place for each in mine if (place := walk.place(each)) >= 0]
    for edge in [i for place in at for i in (edges.target == place).nonzero()[0].tolist()][:_USERS]:
        user = case.facts.node(int(walk.ids[edges.source[edge]]))
        if user is not None and saved.row < user.row < before:
            yield user, int(edges.index[edge])


def _forward(file: str, name: str) -> ast.FunctionDef | None:
    """The forward of a class in a file."""
    tree = module_of(file)
    for each in ast.walk(tree) if tree is not None and name.isidentifier() else ():
        if isinstance(each, ast.ClassDef) and each.name == name:
            return next(
                (part for part in each.body if isinstance(part, ast.FunctionDef) and part.name == "forward"), None
            )
    return None


def _argument(forward: ast.FunctionDef, index: int) -> str:
    """The name of an input; what comes first is the context, where there is one."""
    names = [each.arg for each in (*forward.args.posonlyargs, *forward.args.args)]
    names = names[1:] if names[:1] == ["ctx"] else names
    return names[index] if index < len(names) else ""


def _written(near: Site, forward: ast.FunctionDef, name: str) -> tuple[Site, str] | None:
    near = Site(near.file, forward.lineno, forward.name)
    statements = sorted(
        (each for each in ast.walk(forward) if isinstance(each, ast.stmt)), key=lambda each: each.lineno
    )
    for each in statements:
        if writes_through(each, name):
            return site_of(near, each), quoted(unparse(each))
    first = site_of(near, forward.body[0])
    found: list[Alias] = guessed(first, name, 0)
    return next(filter(None, map(written_later, found)), None)

"""What the program calls the leaves of a pass that are in no module: by the variables that hold them when the pass begins, or
else by the lines that use them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import chain, islice, starmap
from operator import itemgetter
from types import FrameType
from typing import Any

from agdbg_engine.node import AccumulateGrad, Node
from agdbg_engine.sites import INTERNAL
from agdbg_engine.tensor import Tensor

_MOST = 2_000
"""Values that are looked at in each step: what lies behind them has no name."""
_DEPTH = 2
"""How deep in what a variable holds a leaf is looked for: ``self.cell.w`` is two steps."""
_PLAIN = (str, bytes, int, float, complex, type(None), type, type(sys), Tensor)
_PLAIN_TYPES = frozenset(_PLAIN)

Names = dict[AccumulateGrad, list[str]]
_Variable = tuple[str, Any, Any]
"""How it is called, as a format and what goes in there, and its value: few of the many are called by anybody."""


def called(leaves: Iterable[AccumulateGrad], order: Iterable[Node]) -> Names:
    """What the leaves are called by the frames of the running thread, and those that these do not know by what the nodes of
    ``order`` called them on their own lines.
    """
    leaves = list(leaves)
    found = by_frames(leaves, sys._getframe(1))
    lost = {leaf for leaf in leaves if leaf not in found}
    return {**found, **by_lines(lost, order)} if lost else found


# ----- frames -----


def by_frames(leaves: Iterable[AccumulateGrad], frame: FrameType | None) -> Names:
    """The names of leaves in ``frame`` and those that called it, as ``w``, ``self.w``, ``params[0]`` and ``held['w']``: those
    with the fewest steps.
    """
    wanted = {id(leaf.variable): leaf for leaf in leaves}
    found: Names = {}
    level: list[_Variable] = [("%s", name, value) for scope in _scopes(frame) for name, value in list(scope.items())]
    for _ in range(_DEPTH + 1):
        here = map(wanted.get, map(id, map(itemgetter(2), level)))  # most values are none of them
        for (form, key, _), leaf in zip(level, here, strict=True):
            if leaf is not None and (name := form % (key,)) not in found.setdefault(leaf, []):
                found[leaf].append(name)
        wanted = {key: leaf for key, leaf in wanted.items() if leaf not in found}
        if not wanted:
            break
        holders = [(form % (key,), value) for form, key, value in level if type(value) not in _PLAIN_TYPES]
        level = list(islice(chain.from_iterable(starmap(_inside, holders)), _MOST))
    return found


def _scopes(frame: FrameType | None) -> Iterator[dict[str, Any]]:
    """The variables of the program's functions that run, the innermost first, each with its globals behind it."""
    known: set[int] = set()
    while frame is not None:
        if frame.f_code.co_filename not in INTERNAL:
            for scope in (frame.f_locals, frame.f_globals):
                if id(scope) not in known:
                    known.add(id(scope))
                    yield scope
        frame = frame.f_back


def _inside(name: str, value: Any) -> Iterable[_Variable]:
    """What lies in a list, a dictionary or an object: nothing of the program is called."""
    if isinstance(value, _PLAIN):
        return ()
    if type(value) in (list, tuple):
        form = _literal(name) + "[%s]"
        return [(form, at, each) for at, each in enumerate(value[:_MOST])]
    if type(value) is dict:
        form = _literal(name) + "[%r]"
        return [(form, key, value[key]) for key in list(value)[:_MOST] if type(key) in (str, int)]
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return ()
    if not held or type(held) is not dict:
        return ()
    form = _literal(name) + ".%s"
    return [(form, key, each) for key, each in list(held.items())[:_MOST] if type(key) is str]


def _literal(name: str) -> str:
    return name.replace("%", "%%")


# ----- lines -----


def by_lines(leaves: set[AccumulateGrad], order: Iterable[Node]) -> Names:
    """The names of leaves on the lines that built the nodes which took them: ``w`` of ``return (w * x).sum()``."""
    found: Names = {}
    for node in order:
        for index, below in enumerate(node.next_nodes()):
            if isinstance(below, AccumulateGrad) and below in leaves:
                name = _on_line(node, index)
                if name and name not in found.setdefault(below, []):
                    found[below].append(name)
    return found


def _on_line(node: Node, index: int) -> str:
    """What the line of ``node`` calls its input ``index``; empty where it cannot be told."""
    from agdbg.diagnose.source import operand  # which an agent needs for this alone
    from agdbg.events import Provenance
    from agdbg.record.facts import EdgeFact, NodeFact
    from agdbg.record.lookup import Op, Site
    from agdbg.sources import line_of

    line, end, col, end_col = next(islice(node.code.co_positions(), node.lasti // 2, None), (None,) * 4)
    if line is None or col is None or end_col is None:
        return ""
    text = line_of(node.code.co_filename, line).rstrip("\r\n")
    site = Site(node.code.co_filename, line, node.code.co_qualname, col, end_col, text, end or line)
    edges = tuple(EdgeFact(int(each is not None), 0, Provenance.OBSERVED) for each in node.next_nodes())
    fact = NodeFact(0, Op(node.name()), 0, site, edges, (), 0, 0)
    return operand(site, fact, index)

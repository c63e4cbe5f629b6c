"""Which nodes of the engine a breakpoint is meant for."""

import re
from collections.abc import Callable, Container, Iterable, Sequence
from itertools import compress
from operator import itemgetter
from os.path import abspath
from types import CodeType

from agdbg.agent.control import Settings
from agdbg.breakpoints import matches, names_of_op, node_number
from agdbg_engine.backward import BackwardPass
from agdbg_engine.node import Node
from agdbg_engine.sites import where

Placed = list[tuple[int, Node]]
"""Nodes of a pass with their positions."""
NamesOf = Callable[[Node], list[str]]
Numbers = list[int]
WHEN = ("forward", "backward")
_NONE: Numbers = []
_OF_OP = re.compile(r"[A-Z]\w*Backward\d+")


def placed(order: Sequence[Node], classes: Container[type[Node]]) -> Placed:
    """The nodes of some classes, without a step of Python for each of the others."""
    return list(compress(enumerate(order), map(classes.__contains__, map(type, order))))


def leaves_of(order: Sequence[Node]) -> Placed:
    """The leaves of a pass."""
    classes: set[type[Node]] = set(map(type, order))
    return placed(order, {cls for cls in classes if cls.leaf})


class Matcher:
    """The function and source breakpoints of some settings.

    Args:
        settings: the breakpoints.
        names_of: what a node answers to besides its op: the names of its leaf, or its module.
        number_of: the number of a node.
        paths: the paths of all modules that there are.
        met: told of the breakpoints that mean a node, or the call that starts a pass.

    Attributes:
        has_names, has_lines: whether there are breakpoints on names, and on lines.
    """

    def __init__(
        self,
        settings: Settings,
        names_of: NamesOf,
        number_of: Callable[[Node], int],
        paths: Callable[[], Iterable[str]],
        met: Callable[[Numbers], object],
    ) -> None:
        self._functions = {
            when: [(f.id, f.name) for f in settings.functions if f.when in (when, "both")] for when in WHEN
        }
        self._by_number: dict[tuple[str, int], Numbers] = {}
        for each in settings.functions:
            if node_number(each.name):
                for when in WHEN if each.when == "both" else (each.when,):
                    self._by_number.setdefault((when, node_number(each.name)), []).append(each.id)
        self._sources: dict[tuple[str, int], list[tuple[int, str]]] = {}
        for line in settings.sources:
            self._sources.setdefault((abspath(line.file), line.line), []).append((line.id, line.when))
        self._names_of, self._number_of, self._paths = names_of, number_of, paths
        self._met = met
        self.has_names = any(self._functions.values())
        self.has_lines = bool(self._sources)
        self._functions_of: dict[tuple[str, type[Node]], Numbers] = {}
        self._functions_named: dict[tuple[str, str], Numbers] = {}
        self._sources_of: dict[tuple[int, str], dict[int, Numbers]] = {}
        self._codes: list[object] = []
        """Those by whose ``id`` something is known: it is not given to others."""

    def __bool__(self) -> bool:
        return self.has_names or self.has_lines

    def functions(self, node: Node, when: str) -> Numbers:
        """The function breakpoints that mean the node, by its op, its number, a name of its leaf or its module, in ``forward`` or
        ``backward``, whichever ``when`` is.
        """
        found = self.of_class(node, when)
        if not self._functions[when]:
            return found
        more: Numbers = []
        if node.leaf or self.means_modules(when):
            more = [number for name in self._names_of(node) for number in self._named(when, name)]
            if more:
                self._met(more)
        if self._by_number:
            more += self._by_number.get((when, self._number_of(node)), ())
        return list(dict.fromkeys([*found, *more])) if more else found

    def of_class(self, node: Node, when: str) -> Numbers:
        """The function breakpoints that mean every node of the class of ``node``."""
        key = when, type(node)
        found = self._functions_of.get(key)
        if found is None:
            found = self._functions_of[key] = self._matching(when, names_of_op(node.name()))
            self._met(found)
        return found

    @property
    def means_leaves(self) -> bool:
        """Whether a function breakpoint may mean a leaf, which accumulates in backward: not by a number, or the name of an op."""
        return any(not node_number(name) and not _OF_OP.fullmatch(name) for _, name in self._functions["backward"])

    def means_modules(self, when: str) -> bool:
        """Whether a function breakpoint means one of the modules that there are."""
        return any(self._named(when, path) for path in self._paths())

    def is_of_class_only(self, when: str) -> bool:
        """Whether the class of a node that is no leaf says all of the function breakpoints that mean it."""
        return not self._by_number and not self.means_modules(when)

    def _named(self, when: str, name: str) -> Numbers:
        found = self._functions_named.get((when, name))
        if found is None:
            found = self._functions_named[when, name] = self._matching(when, [name])
        return found

    def _matching(self, when: str, names: list[str]) -> Numbers:
        return [i for i, pattern in self._functions[when] if matches(pattern, names)]

    def source(self, code: CodeType, lasti: int, when: str) -> Numbers:
        """The breakpoints on the line of a site that stop in ``forward`` or ``backward``, whichever ``when`` is."""
        if not self._sources:
            return []
        sites = self._sources_of.get((id(code), when))
        if sites is None:
            sites = self._sources_of[id(code), when] = {}
            self._codes.append(code)
        found = sites.get(lasti)
        if found is None:
            place = where(code, lasti)
            here = self._sources.get((abspath(place.file), place.line), ())
            found = sites[lasti] = [number for number, asked in here if asked in (when, "both")]
            self._met(found)
        return found

    def stops(self, bp: BackwardPass, leaves: Placed) -> dict[int, Numbers]:
        """Where the pass is to stop: breakpoints by position, in lists that are not to be changed. Nodes of one line in a row count
        once for it. ``leaves`` are the leaves of the pass.
        """
        found: dict[int, Numbers] = {}
        if not self:
            return found
        at_call = self.source(bp.code, bp.lasti, "backward")
        if at_call:
            found[0] = list(at_call)
        has_names, has_lines = bool(self._functions["backward"]), self.has_lines
        classes = self._classes(bp) if has_names and self.is_of_class_only("backward") else None
        before: Numbers = []
        nodes: Iterable[tuple[int, Node]] = enumerate(bp.order)
        if not has_lines and classes is not None:  # the class of a node that is no leaf says all of it
            wanted = {cls for cls, numbers in classes.items() if numbers and not cls.leaf}
            nodes = sorted([*placed(bp.order, wanted), *leaves], key=itemgetter(0)) if wanted else leaves
        for position, node in nodes:
            ids = _NONE
            if has_names:
                ids = self.functions(node, "backward") if classes is None or node.leaf else classes[type(node)]
            if has_lines:
                line = _NONE if node.leaf else self.source(node.code, node.lasti, "backward")
                if line and line != before:
                    ids = list(dict.fromkeys([*ids, *line])) if ids else line
                before = before if node.leaf else line
            if ids:
                there = found.get(position)
                found[position] = ids if there is None else list(dict.fromkeys([*there, *ids]))
        return found

    def _classes(self, bp: BackwardPass) -> dict[type[Node], Numbers]:
        known, when = self._functions_of, "backward"
        classes = set(map(type, bp.order))
        if any((when, cls) not in known for cls in classes):
            for node in dict(zip(map(type, bp.order), bp.order, strict=True)).values():
                self.of_class(node, when)
        return {cls: known[when, cls] for cls in classes}

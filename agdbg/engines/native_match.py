"""Which nodes of the engine a breakpoint is meant for."""

from collections.abc import Callable
from os.path import abspath

from agdbg.agent.control import Settings
from agdbg.breakpoints import matches, names_of_op, node_number
from agdbg_engine.backward import BackwardPass
from agdbg_engine.node import Node
from agdbg_engine.sites import where

NamesOf = Callable[[Node], list[str]]
Numbers = list[int]
WHEN = ("forward", "backward")


class Matcher:
    """The function and source breakpoints of some settings.

    Args:
        settings: the breakpoints.
        names_of: what a node answers to besides its op: the names of its leaf, or its module.
        number_of: the number of a node.
    """

    def __init__(self, settings: Settings, names_of: NamesOf, number_of: Callable[[Node], int]) -> None:
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
        self._names_of, self._number_of = names_of, number_of
        self._functions_of: dict[tuple[str, type[Node]], Numbers] = {}
        self._functions_named: dict[tuple[str, str], Numbers] = {}
        self._sources_of: dict[tuple[object, int, str], Numbers] = {}

    def __bool__(self) -> bool:
        return self.has_names or bool(self._sources)

    @property
    def has_names(self) -> bool:
        """Whether there are function breakpoints."""
        return any(self._functions.values())

    def functions(self, node: Node, when: str) -> Numbers:
        """The function breakpoints that mean the node, by its op, its number, a name of its leaf or its module, in ``forward`` or
        ``backward``, whichever ``when`` is.
        """
        key = when, type(node)
        found = self._functions_of.get(key)
        if found is None:
            found = self._functions_of[key] = self._matching(when, names_of_op(node.name()))
        if not self._functions[when]:
            return found
        more = [number for name in self._names_of(node) for number in self._named(when, name)]
        if self._by_number:
            more += self._by_number.get((when, self._number_of(node)), ())
        return list(dict.fromkeys([*found, *more])) if more else found

    def _named(self, when: str, name: str) -> Numbers:
        found = self._functions_named.get((when, name))
        if found is None:
            found = self._functions_named[when, name] = self._matching(when, [name])
        return found

    def _matching(self, when: str, names: list[str]) -> Numbers:
        return [i for i, pattern in self._functions[when] if matches(pattern, names)]

    def source(self, code: object, lasti: int, when: str) -> Numbers:
        """The breakpoints on the line of a site that stop in ``forward`` or ``backward``, whichever ``when`` is."""
        if not self._sources:
            return []
        key = (code, lasti, when)
        found = self._sources_of.get(key)
        if found is None:
            place = where(code, lasti)  # type: ignore[arg-type]  # a code object
            here = self._sources.get((abspath(place.file), place.line), ())
            found = self._sources_of[key] = [number for number, asked in here if asked in (when, "both")]
        return found

    def stops(self, bp: BackwardPass) -> dict[int, Numbers]:
        """Where the pass is to stop: breakpoints by position. Nodes of one line in a row count once for it."""
        found: dict[int, Numbers] = {}
        if not self:
            return found
        at_call = self.source(bp.code, bp.lasti, "backward")
        if at_call:
            found[0] = list(at_call)
        before: Numbers = []
        for position, node in enumerate(bp.order):
            ids = list(self.functions(node, "backward"))
            line = [] if node.leaf else self.source(node.code, node.lasti, "backward")
            if line and line != before:
                ids += line
            before = before if node.leaf else line
            if ids:
                found[position] = list(dict.fromkeys([*found.get(position, []), *ids]))
        return found

"""Which nodes of the engine a breakpoint is meant for."""

from collections.abc import Callable
from os.path import abspath

from agdbg.agent.control import Settings
from agdbg.breakpoints import matches, names_of_op
from agdbg_engine.backward import BackwardPass
from agdbg_engine.node import AccumulateGrad, Node
from agdbg_engine.sites import where

NameOf = Callable[[AccumulateGrad], list[str]]


class Matcher:
    """The function and source breakpoints of some settings.

    Args:
        settings: the breakpoints.
        names_of: the names of the leaf of an AccumulateGrad.
    """

    def __init__(self, settings: Settings, names_of: NameOf) -> None:
        self._functions = [(f.id, f.name) for f in settings.functions]
        self._sources = {(abspath(s.file), s.line): s.id for s in settings.sources}
        self._names_of = names_of
        self._functions_of: dict[type[Node], list[int]] = {}
        self._sources_of: dict[tuple[object, int], int] = {}

    def __bool__(self) -> bool:
        return bool(self._functions or self._sources)

    def functions(self, node: Node) -> list[int]:
        """The function breakpoints whose pattern matches the op, or a name of the leaf."""
        found = self._functions_of.get(type(node))
        if found is None:
            found = self._functions_of[type(node)] = self._matching(names_of_op(node.name()))
        if self._functions and isinstance(node, AccumulateGrad):
            return list(dict.fromkeys([*found, *self._matching(self._names_of(node))]))
        return found

    def _matching(self, names: list[str]) -> list[int]:
        return [i for i, pattern in self._functions if matches(pattern, names)]

    def source(self, code: object, lasti: int) -> int:
        """The breakpoint on the line of a site; 0 when there is none."""
        if not self._sources:
            return 0
        key = (code, lasti)
        found = self._sources_of.get(key)
        if found is None:
            place = where(code, lasti)  # type: ignore[arg-type]  # a code object
            found = self._sources_of[key] = self._sources.get((abspath(place.file), place.line), 0)
        return found

    def stops(self, bp: BackwardPass) -> dict[int, list[int]]:
        """Where the pass is to stop: breakpoints by position. Nodes of one line in a row count once for it."""
        found: dict[int, list[int]] = {}
        if not self:
            return found
        at_call = self.source(bp.code, bp.lasti)
        if at_call:
            found[0] = [at_call]
        before = 0
        for position, node in enumerate(bp.order):
            ids = list(self.functions(node))
            line = 0 if node.leaf else self.source(node.code, node.lasti)
            if line and line != before:
                ids.append(line)
            before = before if node.leaf else line
            if ids:
                found[position] = [*found.get(position, []), *(i for i in ids if i not in found.get(position, []))]
        return found

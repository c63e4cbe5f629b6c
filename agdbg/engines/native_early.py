"""What can be said of the breakpoints at a node without going there: that their conditions are false.

Most nodes are no place to stop. Whoever knows so before the node is built or runs need not find out at each what would be told
of it at a stop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agdbg.agent.control import Settings
from agdbg.agent.early import EVENTS, Early, early
from agdbg.engines.native_spot import NodeView, rank
from agdbg_engine.node import Node

if TYPE_CHECKING:
    from agdbg.engines.native_driver import Driver

Numbers = list[int]


class EarlyTests:
    """The conditions of some settings that can be answered early.

    Attributes:
        use_step: whether one reads ``step``: what was said holds until the next pass has ended.
        use_modules: whether a condition or message may ask for the module of a node.
    """

    def __init__(self, settings: Settings, driver: Driver) -> None:
        self._driver = driver
        self._tests: dict[int, Early] = {}
        self.use_modules = False
        for rule in settings.rules:
            self.use_modules = self.use_modules or "module" in rule.condition or "module" in rule.log
            found = early(rule.condition) if rule.condition else None
            if found is not None:
                self._tests[rule.id] = found
        self.use_step = any("step" in each.names for each in self._tests.values())

    def __bool__(self) -> bool:
        return bool(self._tests)

    def left(self, numbers: Numbers, node: Node, kind: str) -> Numbers:
        """Those of the breakpoints whose conditions may be true at ``node``, which is ``born`` or runs next (``before``)."""
        if self._tests.keys().isdisjoint(numbers):
            return numbers
        return [number for number in numbers if not self._is_false(number, node, kind)]

    def _is_false(self, number: int, node: Node, kind: str) -> bool:
        found = self._tests.get(number)
        if found is None:
            return False
        test, names = found
        driver = self._driver
        view = NodeView(node, driver) if "node" in names else None
        try:
            return not test(driver.passes_over, rank() if "rank" in names else 0, view, EVENTS[kind])
        except Exception:  # which is told at the stop
            return False

    def stops(self, found: dict[int, Numbers], nodes: list[Node]) -> dict[int, Numbers]:
        """Of the breakpoints by position among ``nodes`` those whose conditions may be true."""
        if not self:
            return found
        may: dict[int, Numbers] = {}
        known: dict[int, Numbers] = {}
        """What is left of lists of breakpoints, by their ``id``, where that is the same at every node."""
        for position, numbers in found.items():
            left = known.get(id(numbers))
            if left is None:
                left = self.left(numbers, nodes[position], "before")
                if numbers and not self._reads_node(numbers):
                    known[id(numbers)] = left
            if left:
                may[position] = left
        return may

    def _reads_node(self, numbers: Numbers) -> bool:
        return any(number in self._tests and "node" in self._tests[number].names for number in numbers)

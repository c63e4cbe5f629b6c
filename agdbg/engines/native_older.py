"""Nodes that an earlier recording of this process has told, and this one has not: they are told when a pass needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from agdbg_engine.node import Node


class Older:
    """Tells older nodes once.

    Args:
        first: the number that the next new node gets; those with smaller ones are older.
        tell: records the birth of a node, under the number that it has.
    """

    def __init__(self, first: int, tell: Callable[[Node], int]) -> None:
        self._first = first
        self._tell = tell
        self._told: set[int] = set()

    def tell(self, nodes: Iterable[Node]) -> None:
        """Tell those of some nodes that are older; in a process's first recording there are none."""
        if self._first == 1:
            return
        older = [node for node in nodes if getattr(node, "tag", self._first) < self._first]
        for node in older:
            if node.tag not in self._told:
                self._told.add(node.tag)
                self._tell(node)


def next_of(numbers: object) -> int:
    """The number that an ``itertools.count`` gives next, which it does not show in another way."""
    return int(repr(numbers).removeprefix("count(").removesuffix(")"))

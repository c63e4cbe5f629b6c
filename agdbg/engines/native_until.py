"""Where a thread is to run to: a node, or a line, in forward code and in passes alike."""

from os.path import abspath
from typing import TYPE_CHECKING

from agdbg_engine.node import Node
from agdbg_engine.sites import where

if TYPE_CHECKING:
    from agdbg.engines.native_walk import Walk


class Target:
    """A node by its number, or else a line. In a pass, nodes of a line that run one after another count as one.

    Args:
        node: the number, 0 for a line.
        file, line: the line.
        start: the node at which the thread stands in forward code: what is left of its line does not count.
    """

    def __init__(self, node: int = 0, file: str = "", line: int = 0, start: Node | None = None) -> None:
        self._node = node
        self._place = (abspath(file), line) if file else None
        self._visit = start

    def positions(self, walk: "Walk") -> list[int]:
        """Where in the order of a pass it lies."""
        if self._node:
            place = walk.place_of(self._node)
            return [] if place is None else [place]
        found, before = [], False
        for position, node in enumerate(walk.bp.order):
            if node.leaf:
                continue
            here = self._is_on_line(node)
            if here and not before:
                found.append(position)
            before = here
        return found

    def is_born(self, node: Node) -> bool:
        """Whether the forward code has come to it with ``node``, which was just built; call it for each."""
        if self._node:
            return node.tag == self._node
        last, self._visit = self._visit, node
        if not self._is_on_line(node):
            return False
        goes_on = last is not None and self._is_on_line(last) and last.code is node.code and last.lasti < node.lasti
        return not goes_on

    def _is_on_line(self, node: Node) -> bool:
        place = where(node.code, node.lasti)
        return (abspath(place.file), place.line) == self._place

"""Where a thread is to run to: a node, or a line, in forward code and in passes alike."""

from os.path import abspath
from types import CodeType
from typing import TYPE_CHECKING

from agdbg.engines.native_arrival import Arrivals
from agdbg_engine.node import Node
from agdbg_engine.sites import where

if TYPE_CHECKING:
    from agdbg.engines.native_walk import Walk


class Target:
    """A node by its number, or else a line. In a pass, nodes of a line that run one after another count as one; a line that starts
    the pass counts before its first node.

    Args:
        node: the number, 0 for a line.
        file, line: the line.
        start: the node at which the thread stands in forward code: what is left of its line does not count.
    """

    def __init__(self, node: int = 0, file: str = "", line: int = 0, start: Node | None = None) -> None:
        self._node = node
        self._place = (abspath(file), line) if file else None
        self._arrivals = Arrivals(start if start is not None and self._is_on_line(start.code, start.lasti) else None)

    def positions(self, walk: "Walk") -> list[int]:
        """Where in the order of a pass it lies."""
        if self._node:
            place = walk.place_of(self._node)
            return [] if place is None else [place]
        if self._place is None:
            return []
        bp = walk.bp
        found, before = [0] if self._is_on_line(bp.code, bp.lasti) else [], False
        for position, node in enumerate(bp.order):
            if node.leaf:
                continue
            here = self._is_on_line(node.code, node.lasti)
            if here and not before and position not in found[:1]:
                found.append(position)
            before = here
        return found

    def is_born(self, node: Node) -> bool:
        """Whether the forward code has come to it with ``node``, which was just built; call it for each."""
        if self._node:
            return node.tag == self._node
        if not self._is_on_line(node.code, node.lasti):
            self._arrivals.leave()
            return False
        return self._arrivals.is_new(node)

    def _is_on_line(self, code: CodeType, lasti: int) -> bool:
        if self._place is None:
            return False
        place = where(code, lasti)
        return (abspath(place.file), place.line) == self._place

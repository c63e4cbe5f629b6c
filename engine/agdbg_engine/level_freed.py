"""What the passes of a function transform have freed of a graph that is that outside of the transform, too, and lives on there.

PyTorch has a graph for each of the two, and frees the one that a pass runs over.
"""

from __future__ import annotations

from collections.abc import MutableMapping

from .node import Node
from .saved import Freed, FreedAccess


class LevelFreed:
    """For one pass: ``nodes`` are those that earlier passes of its transform have freed, ``freed`` says that this one frees."""

    __slots__ = ("_freed", "_nodes")

    def __init__(self, nodes: MutableMapping[Node, Freed], freed: Freed | None) -> None:
        self._nodes = nodes
        self._freed = freed

    def check(self, node: Node) -> None:
        """Raise :class:`FreedAccess` if an earlier pass has freed ``node``."""
        earlier = self._nodes.get(node)
        if earlier is not None and earlier is not self._freed:
            raise FreedAccess(earlier)

    def release(self, node: Node) -> None:
        """This pass has run ``node``: what it saved is freed, if that is what the pass does."""
        names = (*("s_" + slot for slot in node.slots), *node.spent)
        if self._freed is not None and any(getattr(node, name) is not None for name in names):
            self._nodes[node] = self._freed

"""Whether the program has come to a line anew, or is still busy with it: a line may build many nodes, and by one call of a module.

Two nodes of one instruction may come of one call, as those of the modules in a ``Sequential``, or of two, in a loop on one
line. What tells them apart is the engine's function that the line has called: its frame is marked. A frame takes no attributes
but one, ``f_trace``, which nobody reads unless the program is traced; where it is, the mark that a tracer has left stays.
"""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import Any

from agdbg_engine.node import Node


class _Mark:
    """What stands in a frame that was seen by somebody; to a tracer that comes later it is one that wants nothing."""

    __slots__ = ("by",)

    def __init__(self) -> None:
        self.by: list[object] = []

    def __call__(self, *args: Any) -> _Mark:
        return self


class Arrivals:
    """Tells, node after node, which are the first that a line builds each time the program comes to it.

    Args:
        last: the node at which the thread stands: what is left of its line, if that is meant, is no arrival.
    """

    def __init__(self, last: Node | None = None) -> None:
        self._last: tuple[CodeType, int] | None = None
        if last is not None:
            self.is_new(last)

    def leave(self) -> None:
        """A node of another line was built."""
        self._last = None

    def is_new(self, node: Node) -> bool:
        """Whether the program has come to the line with ``node``, which was just built there."""
        last, self._last = self._last, (node.code, node.lasti)
        if self._is_in_same_call(node.code):
            return False
        return last is None or last[0] is not node.code or last[1] >= node.lasti

    def _is_in_same_call(self, code: CodeType) -> bool:
        """Whether a node was seen before in the call that the innermost frame of ``code`` is busy with; it is seen now."""
        callee, frame = None, sys._getframe(1)
        caller: FrameType | None = frame
        while caller is not None and caller.f_code is not code:
            callee, caller = caller, caller.f_back
        if caller is None or callee is None:
            return False
        mark = callee.f_trace
        if mark is None:
            mark = callee.f_trace = _Mark()
        if not isinstance(mark, _Mark):
            return False
        is_known = any(each is self for each in mark.by)
        if not is_known:
            mark.by.append(self)
        return is_known

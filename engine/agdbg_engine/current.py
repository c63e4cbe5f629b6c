"""What runs in this thread: the backward pass and its node, innermost first."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .backward import BackwardPass
    from .node import Node


class _Current(threading.local):
    """The pass and node that run in this thread."""

    bp: BackwardPass | None = None
    node: Node | None = None


current = _Current()

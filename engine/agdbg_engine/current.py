"""What runs in this thread: the backward pass and its node, innermost first."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .backward import BackwardPass
    from .inside import Inside
    from .node import Node


class _Current(threading.local):
    """The pass and node that run in this thread."""

    bp: BackwardPass | None = None
    node: Node | None = None
    transform: Inside | None = None
    """The transform that the next pass is run for, when that is not the one that the thread is in."""


current = _Current()

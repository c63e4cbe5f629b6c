"""Hooks that no gradient passes through: of a module's state or of an optimizer's step. Instruments are not told of them."""

from __future__ import annotations

import weakref
from typing import Any

from . import Hook, RemovableHandle


class QuietHandle(RemovableHandle):
    """As :class:`RemovableHandle`, for hooks that have no part in a backward pass."""

    def __init__(self, hooks: Any, hook: Hook, prepend: bool = False) -> None:
        """Put ``hook`` into ``hooks``: at its end, or before all others."""
        self.id = RemovableHandle._next_id()
        self._dicts = [weakref.ref(hooks)]
        hooks[self.id] = hook
        if prepend:
            hooks.move_to_end(self.id, last=False)

    def remove(self) -> None:
        """Forget the hook; harmless when done twice."""
        for ref in self._dicts:
            if (hooks := ref()) is not None:
                hooks.pop(self.id, None)

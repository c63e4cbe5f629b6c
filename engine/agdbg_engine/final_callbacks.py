"""Functions to be called when a backward pass has run: PyTorch's private way, which libraries use."""

from __future__ import annotations

from collections.abc import Callable

from . import events
from .current import current
from .sites import caller


class ExecutionEngine:
    """``Variable._execution_engine``, as far as programs use it."""

    def queue_callback(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` when the pass that runs in this thread, the innermost, has run all its nodes.

        Callbacks are called in order and may queue more; none is called after an error. Raises :class:`RuntimeError` outside
        of a pass.
        """
        if current.bp is None:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        current.bp.callbacks.append(callback)
        if events.sink is not None:
            events.sink.hook(
                "registered", "final-callback", current.node, *caller(), events.HookFacts(function=callback)
            )

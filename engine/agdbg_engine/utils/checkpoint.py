"""``agdbg_engine.utils.checkpoint``: see :mod:`agdbg_engine.checkpoint`."""

from __future__ import annotations

from ..checkpoint import (
    CheckpointError,
    CheckpointFunction,
    check_backward_validity,
    checkpoint,
    checkpoint_sequential,
    detach_variable,
    noop_context_fn,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)
from ..missing import public_names

__all__ = [
    "CheckpointError", "CheckpointFunction", "check_backward_validity", "checkpoint", "checkpoint_sequential", "detach_variable",
    "noop_context_fn", "set_checkpoint_debug_enabled", "set_checkpoint_early_stop",
]  # fmt: skip

__getattr__ = public_names(__name__)

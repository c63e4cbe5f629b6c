"""The device on which factories make tensors where nothing else is said."""

from __future__ import annotations

import threading
from typing import Any

from .device import CPU, _defaults, device, resolved


class _State(threading.local):
    is_set = False


_state = _State()
"""Whether the lowest entry of this thread's stack of ``with device(...)`` blocks is no block but what was set."""


def get_default_device() -> device:
    """The device of tensors that are made without one being named: that of the ``with`` block, the one that was set, the CPU.

    With its number, that of the current one where none was said; :class:`RuntimeError` where it cannot be used then.
    """
    if not _defaults.stack:
        return CPU
    said = _defaults.stack[-1]
    return resolved(said) if said.index is None else said


def set_default_device(device: Any) -> None:
    """Let factories in this thread make tensors on ``device``; on the CPU again with ``None``."""
    from .device import device as Device

    blocks = _defaults.stack[1:] if _state.is_set else _defaults.stack
    _state.is_set = device is not None
    _defaults.stack = blocks if device is None else (Device(device), *blocks)

"""``cuda.nvtx``: ranges that scripts name for NVIDIA's profilers. They are accepted and told to nobody."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..missing import public_names

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]

__getattr__ = public_names(__name__)


def mark(msg: str) -> None:
    """Name a moment."""


def range_push(msg: str) -> None:
    """Begin a range inside of the one that this thread is in."""


def range_pop() -> None:
    """End the innermost range."""


def range_start(msg: str) -> int:
    """Begin a range that may end in another thread; its handle."""
    return 0


def range_end(range_id: int) -> None:
    """End the range of that handle."""


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A range as a context or decorator; the message is formatted with the arguments, as in PyTorch."""
    msg.format(*args, **kwargs)
    yield

"""``version``: ``__version__``, and ``cuda``, the version of CUDA in use, ``None`` without a GPU."""

from __future__ import annotations

from typing import Any

from . import __version__ as __version__
from .cuda.backend import BACKEND
from .missing import missing

hip = None
"""There is none."""


def __getattr__(name: str) -> Any:
    if name == "cuda":  # looked up when asked: it imports CuPy
        return BACKEND.version()
    raise missing(__name__, name, ("__version__", "cuda", "hip"))

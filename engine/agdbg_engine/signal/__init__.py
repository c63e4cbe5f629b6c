"""Signal processing, under PyTorch's names (``torch.signal``): :mod:`.windows`."""

from __future__ import annotations

from . import windows

__all__ = ["windows"]

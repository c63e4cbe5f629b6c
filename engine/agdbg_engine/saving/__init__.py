"""``save`` and ``load``: tensors, state dicts and containers of plain values in files that cannot run code.

A file is a ZIP archive without compression: ``tree.json`` with ``{"format": "agdbg", "version": 1, "tree": ..., "tensors":
[...]}`` and ``data/<i>.npy``, one-dimensional arrays of NumPy's own format, each a piece of memory. A tensor is a number of such a
piece with offset, sizes and strides, so that views and tensors that share memory do so again. In the tree, numbers, text, booleans
and null stand for themselves, everything else is a list that begins with its kind (see :mod:`.tree`). Nothing is unpickled.
"""

from __future__ import annotations

from .reading import load
from .writing import save

__all__ = ["load", "save"]

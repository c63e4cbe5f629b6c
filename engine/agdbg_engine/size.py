"""``Size``: sizes by dimension, a tuple that prints as PyTorch's."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, SupportsIndex


class Size(tuple[int, ...]):
    """A tuple of integers; slices and sums of it are of this class too."""

    __slots__ = ()

    def __new__(cls, sizes: Iterable[Any] = ()) -> Size:
        """The integers of ``sizes``; :class:`TypeError` for anything else among them."""
        items = tuple(sizes)
        for i, n in enumerate(items):
            if not hasattr(n, "__index__"):
                raise TypeError(f"torch.Size() takes an iterable of 'int' (item {i} is '{type(n).__name__}')")
        return tuple.__new__(cls, (n.__index__() for n in items))

    def numel(self) -> int:
        """The product of the sizes."""
        return math.prod(self)

    def __getitem__(self, key: Any) -> Any:
        found = tuple.__getitem__(self, key)
        return tuple.__new__(Size, found) if type(key) is slice else found

    def __add__(self, other: Any) -> Any:
        found = tuple.__add__(self, other)
        return found if found is NotImplemented else tuple.__new__(Size, found)

    def __radd__(self, other: Any) -> Any:
        return tuple.__new__(Size, (*other, *self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, other: SupportsIndex) -> Size:
        return tuple.__new__(Size, tuple.__mul__(self, other))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Size, (tuple(self),)

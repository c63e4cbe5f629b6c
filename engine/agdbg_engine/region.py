"""Where a view lies in its base, and how gradients get in and out of there.

A region is found by viewing the positions of the base's elements as the view views the elements, whatever the layout of
any buffer. Where the view is one of complex numbers as real ones or the other way round (``x.real``), what is counted are
real numbers, two to a complex one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .device import address, array_module, owner
from .resizing import Cut, nowhere, parted

if TYPE_CHECKING:
    from .view import ViewMeta

_SPLITTING = frozenset(("view_as_real", "view_as_complex"))


class Region:
    """The place of a view in its base.

    It keeps the steps of the view but not the base, whose history may hold this very object. ``F`` in its methods is
    the namespace to compute in: :mod:`.ops.kernels` for buffers, :mod:`.ops.graph` for tensors (recorded).
    """

    __slots__ = (
        "before", "itemsize", "of_complex", "order", "repeating", "shape", "size", "split", "steps", "strides", "to_complex",
    )  # fmt: skip

    def __init__(self, view: ViewMeta) -> None:
        base, chain = view.base._a, view.chain()
        self.split = any(v.op in _SPLITTING for v in chain)
        """Whether positions are those of real numbers."""
        self.of_complex = self.split and base.dtype.kind == "c"
        self.to_complex = self.split and _to_complex(self.of_complex, chain)
        self.shape = base.shape
        self.itemsize, self.strides = base.itemsize, base.strides
        self.before = 0 if base.base is None else address(base) - address(owner(base))
        """How many bytes of its memory lie before the base."""
        self.size: int = base.size * (2 if self.of_complex else 1)
        """Number of positions in the base."""
        self.steps = [*view.turned_back(), *(v.step for v in chain)]
        self.order = None if base.flags.c_contiguous else sorted(range(base.ndim), key=lambda d: -base.strides[d])
        """The dimensions of a base that is not row-major, from the widest step in memory to the narrowest."""
        self.repeating = self.order is not None and surely_repeats(base)
        """Whether the base shows one place of memory as several elements: what was written to one of them shows in others."""

    def start(self, itemsize: int) -> int:
        """Where the view begins in memory, in elements of ``itemsize``."""
        found = self.positions(np.empty(0))
        if not found.size:
            return self.before // itemsize
        at, half = divmod(int(found.flat[0]), 2) if self.of_complex else (int(found.flat[0]), 0)
        place = sum(int(i) * step for i, step in zip(np.unravel_index(at, self.shape), self.strides, strict=True))
        return (self.before + place + half * self.itemsize // 2) // itemsize

    def check_inside(self) -> None:
        """Refuse a view of which not everything is in the base any more."""
        unsure = any(isinstance(step, Cut) or step in (nowhere, parted) for step in self.steps)
        if unsure and (self.positions(np.empty(0)) < 0).any():
            nowhere(None)

    def check_base(self) -> None:
        """Refuse to tell the gradients of written elements from those of others where they share memory, as PyTorch does.

        It sees only expanded bases, and gives a wrong gradient for others that overlap themselves (``unfold()``).
        """
        from .tensor import overlap

        if self.repeating:
            raise overlap("more than one element of the written-to tensor refers")

    def new(self, dtype: Any, like: Any = None) -> Any:
        """A buffer for a gradient of the base, laid out like it, so that it can be viewed in the same way.

        It is of the library of buffer ``like``, without that NumPy's.
        """
        empty = np.empty if like is None else array_module(like).empty
        if self.order is None:
            return empty(self.shape, dtype)
        return empty([self.shape[d] for d in self.order], dtype).transpose([int(d) for d in np.argsort(self.order)])

    def inside(self, whole: Any) -> Any:
        """The view in a buffer made by :meth:`new`, sharing its memory; ``None`` where it cannot be seen without copying.

        This is the cheap way. The general one goes by :meth:`positions`.
        """
        if self.split:
            return None
        part = whole
        for step in self.steps:
            part = step(part)
            if not isinstance(part, np.ndarray):
                return None
        return part if np.may_share_memory(part, whole) and not _repeats(part) else None

    def positions(self, like: Any) -> Any:
        """Flat positions in the base, in the shape of the view (with a last dimension of 2 where it splits complex numbers)
        and in the library of buffer ``like``.
        """
        from .ops import kernels as k

        found = array_module(like).arange(self.size, dtype=float if self.split else int)
        found = k.view_as_complex(found.reshape((*self.shape, 2))) if self.of_complex else found.reshape(self.shape)
        if self.order is not None:  # some views are possible in the base's layout only
            row_major, found = found, self.new(found.dtype, like)
            found[...] = row_major
        for step in self.steps:
            found = step(found)
        if self.to_complex:
            found = k.view_as_real(found)
        return found.astype(int) if self.split else found

    def flat(self, F: Any, g: Any) -> Any:
        """A gradient of the base as one row, by position."""
        return F.reshape(F.view_as_real(F.contiguous(g)) if self.of_complex else g, (-1,))

    def whole(self, F: Any, flat: Any) -> Any:
        """The gradient of the base that :meth:`flat` made one row."""
        if self.of_complex:
            return F.view_as_complex(F.reshape(flat, (*self.shape, 2)))
        return F.reshape(flat, self.shape)

    def taken(self, F: Any, part: Any) -> Any:
        """The gradient of the view from what lies at its positions."""
        return F.view_as_complex(part) if self.to_complex else part

    def laid(self, F: Any, part: Any) -> Any:
        """What is to lie at the positions of the view for it to have this gradient."""
        return F.view_as_real(F.contiguous(part)) if self.to_complex else part


def _to_complex(complex_now: bool, chain: list[ViewMeta]) -> bool:
    """Whether the last view of a chain is complex."""
    for view in chain:
        complex_now = view.op == "view_as_complex" or (complex_now and view.op != "view_as_real")
    return complex_now


def _repeats(part: Any) -> bool:
    """Whether a buffer may show one place of memory as several elements."""
    reach = 0
    for step, n in sorted((abs(s), n) for s, n in zip(part.strides, part.shape, strict=True) if n > 1):
        if step <= reach:
            return bool(part.size)
        reach += step * (n - 1)
    return False


def surely_repeats(base: Any) -> bool:
    """Whether a buffer shows one place of memory as several elements."""
    if not _repeats(base):
        return False
    places = np.zeros((), np.int64)
    for n, step in zip(base.shape, base.strides, strict=True):
        places = places[..., None] + np.arange(n) * step
    return bool(np.unique(places).size < base.size)

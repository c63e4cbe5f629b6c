"""Where views lie once their base, or they themselves, got another size (``resize_``, ``out=``): their view functions do not say.

A base tells it by its list of changes of shape (``AutogradMeta.turned``). A view gets another view function; those made of it
before keep the old one, and their place.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .device import address, array_module, owner
from .layout import steps_of
from .meta import AutogradMeta

if TYPE_CHECKING:
    from .tensor import Tensor

Step = Callable[[Any], Any]


def parted(buffer: Any) -> Any:
    """In a base's list: it has got other memory, and its views have kept theirs."""
    raise RuntimeError(
        "The base of a view was given more memory by a resize_, the view has kept the old one, and now it is written or gets a "
        "tangent: no other view of that memory would know. Clone the view, or resize before you take views."
    )


def nowhere(buffer: Any) -> Any:
    """The view function of a view that shows more than its base has."""
    raise RuntimeError(
        "A view shows elements that are not in its base, since a resize_, and one of the two is written: there is no way to tell "
        "the gradients. Resize before you take views, or clone them."
    )


class Cut:
    """In a base's list: it has lost some of its elements. They are -1 in the positions that the step is given."""

    def __init__(self, old: Any, new: Any) -> None:
        self._count, self._unit = new.size, new.itemsize
        self._shape, self._steps = old.shape, steps_of(old.shape, old.strides, old.itemsize)

    def __call__(self, buffer: Any) -> Any:
        """``buffer`` as the base was before, a copy."""
        if any(s < 0 or s % self._unit for s in self._steps):
            return nowhere(buffer)
        xp = array_module(buffer)
        missing = complex(-1, -1) if buffer.dtype.kind == "c" else -1
        stride = [s // self._unit for s in self._steps]
        row = xp.full(
            1 + sum((n - 1) * s for n, s in zip(self._shape, stride, strict=True) if n), missing, buffer.dtype
        )
        kept = min(buffer.size, row.size)
        row[:kept] = _in_memory(buffer)[:kept]
        return xp.lib.stride_tricks.as_strided(row, self._shape, [s * row.itemsize for s in stride])


def follow(t: Tensor, old: Any) -> None:
    """``t`` has got another size; ``old`` is its buffer before."""
    t._meta = meta = t._meta or AutogradMeta()
    stays = owner(t._a) is owner(old)
    if meta.view is None:
        step = (place(old, t._a) or Cut(old, t._a)) if stays else parted
        meta.turned = (*meta.turned, step)
    elif stays:
        meta.view = view = copy.copy(meta.view)
        view.op, view.step, view.parent = "as_strided", place(t._a, view.base._a) or nowhere, None
        view.turns = 0 if view.base._meta is None else len(view.base._meta.turned)
    else:  # memory of its own
        meta.view, t._rg = None, False


def place(part: Any, whole: Any) -> Step | None:
    """How ``part`` is seen in buffers laid out like ``whole``; ``None`` where that has gaps, or not all of the part."""
    unit, steps = whole.itemsize, steps_of(part.shape, part.strides, part.itemsize)
    first = address(part) - address(whole) if part.size else 0
    last = first + sum((n - 1) * s for n, s in zip(part.shape, steps, strict=True))
    if part.itemsize != unit or first % unit or any(s < 0 or s % unit for s in steps) or not _without_gaps(whole):
        return None
    if part.size and not 0 <= first <= last < whole.size * unit:
        return None
    size, stride, storage_offset = part.shape, tuple([s // unit for s in steps]), first // unit

    def seen(buffer: Any) -> Any:
        as_strided = array_module(buffer).lib.stride_tricks.as_strided
        row = _in_memory(buffer)[storage_offset:]
        return as_strided(row, size, [s * buffer.itemsize for s in stride])

    return seen


def _in_memory(a: Any) -> Any:
    """The elements of ``a``, which is without gaps, in the order of its memory."""
    return array_module(a).lib.stride_tricks.as_strided(a, (a.size,), (a.itemsize,))


def _without_gaps(a: Any) -> bool:
    """Whether the elements of ``a`` fill its memory, in the order of some dimensions."""
    order = sorted(range(a.ndim), key=lambda d: -a.strides[d])
    return bool(a.transpose(order).flags.c_contiguous)

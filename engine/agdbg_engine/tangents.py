"""ForwardGrad: the tangents that tensors carry, by level, and how a view's is a view of its base's.

A tensor with tangents has a :class:`ForwardGrad` in its ``_meta``. The rules for memory are PyTorch's: a tangent is laid out
as its primal is, so that whatever views the primal can view the tangent; a tangent that comes into a base through one of
its views is part of a tangent of the base, zeros elsewhere, and the other views find theirs there when they are next asked.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterator
from typing import Any

from .device import address, array_module, owner, same_place
from .grad_mode import mode
from .layout import dense
from .meta import AutogradMeta
from .resizing import Cut, nowhere, parted
from .several import at_home
from .storage import Storage
from .tensor import Tensor, wrap
from .view import Step, ViewMeta, as_view

NO_LEVEL = "Trying to access a forward AD level with an invalid index. This index was either not created or is already deleted."

# ----- levels -----


class Level:
    """One open level: it knows who holds tangents of it, and takes them away at its end."""

    __slots__ = ("captured", "holders", "number")

    def __init__(self, number: int) -> None:
        self.number = number
        self.captured: dict[int, Storage] = {}
        """By its id the memory of tangents that the transform around this one has captured, which nobody may write to."""
        self.holders: weakref.WeakSet[ForwardGrad] = weakref.WeakSet()

    def close(self) -> None:
        """Forget all tangents of this level; those that somebody else holds too live on as plain tensors."""
        for holder in list(self.holders):
            holder.by_level.pop(self.number, None)
        self.holders.clear()


open_levels: dict[int, Level] = {}
"""The levels in use anywhere in the process, by number."""

switching = threading.RLock()
"""Held while levels are opened and closed."""


@contextlib.contextmanager
def below(level: int) -> Iterator[None]:
    """Inside, this thread's ops see the tangents of lower levels only: what they compute is a tangent of ``level``."""
    before, mode.fw_limit = mode.fw_limit, level
    try:
        yield
    finally:
        mode.fw_limit = before


def enabled() -> bool:
    """Whether tangents are seen in this thread."""
    return mode.forward and not mode.inference


# ----- what a tensor carries -----


class ForwardGrad:
    """The tangents of one tensor."""

    __slots__ = ("__weakref__", "by_level")

    def __init__(self) -> None:
        self.by_level: dict[int, Tensor] = {}

    def set(self, level: int, tangent: Tensor) -> None:
        """Let ``tangent`` be the one of ``level``; :class:`RuntimeError` when that is not open."""
        found = open_levels.get(level)
        if found is None:
            raise RuntimeError(NO_LEVEL)
        found.holders.add(self)
        self.by_level[level] = tangent


def forward_grad(t: Tensor) -> ForwardGrad:
    """The ForwardGrad of ``t``, made at first need."""
    if t._meta is None:
        t._meta = AutogradMeta()
    if t._meta.tangents is None:
        t._meta.tangents = ForwardGrad()
    return t._meta.tangents


def tangents_of(t: Tensor) -> dict[int, Tensor]:
    """The tangents of ``t`` by level as this thread sees them (all levels, whatever the limit)."""
    meta = t._meta
    if meta is None or not enabled():
        return {}
    if meta.view is not None:
        _catch_up(t, meta.view)
    return {} if meta.tangents is None else meta.tangents.by_level


def tangent_of(t: Tensor, level: int) -> Tensor | None:
    """The tangent of ``t`` at ``level``, ``None`` where there is none."""
    return tangents_of(t).get(level)


def levels_of(tensors: Any) -> list[int]:
    """The levels at which some of ``tensors`` has a tangent that ops see in this thread, the lowest first."""
    if not enabled():
        return []
    limit = mode.fw_limit
    found = {level for t in tensors if isinstance(t, Tensor) and t._meta is not None for level in tangents_of(t)}
    return sorted(level for level in found if level < limit)


def set_tangent(t: Tensor, level: int, tangent: Tensor, is_view: bool = False) -> None:
    """Let ``tangent`` be that of ``t``, a new tensor: copied where it is laid out otherwise.

    ``is_view``: ``t`` is a view, and ``tangent`` the same view of the tangent of what ``t`` is a view of, to be kept as it is.
    Raises PyTorch's :class:`RuntimeError` for another shape and for a tangent that has one of that level itself.
    """
    check_tangent(t, level, tangent)
    forward_grad(t).set(level, tangent if is_view else laid_out(tangent, t))


def check_tangent(t: Tensor, level: int, tangent: Tensor) -> None:
    """Raise what PyTorch raises for a tangent that cannot be that of ``t``."""
    if level in tangents_of(tangent):
        raise RuntimeError(
            f"Setting a forward grad that itself has a forward gradient at the same level{level} is not supported."
        )
    if tangent.shape != t.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. "
            f"Tensor is of size {list(t.shape)} while the given forward gradient is of size {list(tangent.shape)}."
        )


# ----- layout -----


def laid_out(tangent: Tensor, primal: Tensor) -> Tensor:
    """``tangent`` itself if its memory is arranged as that of ``primal``, else a copy (recorded) for which that is so."""
    from .ops import _generated as g

    if _same_memory(tangent._a, primal._a):
        return tangent
    copy = g.clone(tangent)
    copy._a = _arranged(copy._a, primal._a)  # the node of the copy does not know the buffer
    return copy


def _same_memory(a: Any, b: Any) -> bool:
    """Whether two buffers of one shape have the same strides, and lie at the same place of memory of the same size."""
    if not all(
        s * b.itemsize == z * a.itemsize for n, s, z in zip(a.shape, a.strides, b.strides, strict=True) if n > 1
    ):
        return False
    return a.base is None is b.base or _place(a) == _place(b)


def _place(a: Any) -> tuple[int, int]:
    """Offset of the first element in the memory that ``a`` is a part of, and the size of that, in elements."""
    whole = owner(a)
    return (address(a) - address(whole)) // a.itemsize, whole.nbytes // a.itemsize


def _arranged(values: Any, like: Any) -> Any:
    """``values`` in new memory beside them, with the strides of ``like``: where that repeats elements, they are repeated."""
    strides = tuple(s // like.itemsize * values.itemsize for s in like.strides)
    return _with_strides(values, strides, like if same_place(values, like) and dense(like) else None)


@at_home
def _with_strides(values: Any, strides: tuple[int, ...], like: Any) -> Any:
    """``values`` with ``strides``, which are those of the dense array ``like`` if there is one."""
    xp = array_module(values)
    if like is not None:
        out = xp.empty_like(like, dtype=values.dtype)
    elif min(strides, default=0) < 0:
        return values.copy()
    else:
        span = 1 + sum((n - 1) * s for n, s in zip(values.shape, strides, strict=True)) // values.itemsize
        out = xp.lib.stride_tricks.as_strided(xp.zeros(max(span, 1), values.dtype), values.shape, strides)
    out[...] = values
    return out


# ----- views -----


class DualView(ViewMeta):
    """What :func:`make_dual` and :func:`unpack_dual` make: the same memory, but at ``level`` a tangent of its own.

    For its views it is the base at that level. It keeps what it needs of the tensor but not the tensor, which has it.
    """

    __slots__ = ("array", "level", "tangents")

    def __init__(self, view: ViewMeta, t: Tensor, level: int) -> None:
        super().__init__(view.base, view.parent, view.op, view.step, view.creation)
        self.attr_version, self.turns = view.attr_version, view.turns
        self.array = t._a
        self.level = level
        self.tangents = forward_grad(t)


def separate(t: Tensor, level: int) -> None:
    """Make view ``t`` one that shares no tangent of ``level`` with what it is a view of."""
    if t._meta is not None and t._meta.view is not None:
        t._meta.view = DualView(t._meta.view, t, level)


def _catch_up(t: Tensor, view: ViewMeta) -> None:
    """Give view ``t`` the tangents that came into its base through other views, as views of those."""
    own = t._meta.tangents.by_level if t._meta is not None and t._meta.tangents is not None else {}
    barred: set[int] = set()
    steps: list[ViewMeta] = []
    at: ViewMeta | None = view
    while at is not None:
        if isinstance(at, DualView):
            if at is not view:
                _take(t, own, at.tangents, barred, steps)
            barred.add(at.level)
        steps.insert(0, at)
        at = at.parent
    base = view.base._meta
    if base is not None and base.tangents is not None and parted not in view.turned_back():
        _take(t, own, base.tangents, barred, steps, view.turned_back())


def _take(
    t: Tensor, own: dict[int, Tensor], source: ForwardGrad, barred: set[int], steps: list[ViewMeta],
    turned_back: tuple[Step, ...] = (),
) -> None:  # fmt: skip
    for level, tangent in list(source.by_level.items()):
        if level not in own and level not in barred and level in open_levels:
            forward_grad(t).set(level, _viewed(tangent, steps, turned_back))


def _viewed(tangent: Tensor, steps: list[ViewMeta], turned_back: tuple[Step, ...]) -> Tensor:
    """The same views of ``tangent``, seen in its old shape, with its history."""
    for op, step in (*(("as_strided", back) for back in turned_back), *((view.op, view.step) for view in steps)):
        out = wrap(nowhere(tangent) if isinstance(step, Cut) else step(tangent._a))
        tangent = as_view(out, tangent, op, step)
    if (
        mode.grad
        and tangent._meta is not None
        and tangent._meta.view is not None
        and tangent._meta.view.base.requires_grad
    ):
        tangent._meta.view.regenerate(tangent)
    return tangent


def set_through_view(t: Tensor, level: int, tangent: Tensor) -> None:
    """An in-place op gave ``t`` its first tangent of ``level``: its base gets one too, of which this is the view."""
    check_tangent(t, level, tangent)
    if t._meta is None or t._meta.view is None or (isinstance(t._meta.view, DualView) and t._meta.view.level == level):
        forward_grad(t).set(level, laid_out(tangent, t))
        return
    holder, array, steps, turned_back = _owner(t._meta.view, level)
    if tangent.shape == array.shape and all(_same_memory(a, array) for a in (tangent._a, t._a)):  # all of the base
        holder.set(level, tangent)
        forward_grad(t).set(level, tangent)
        return
    zeros = wrap(_arranged(array_module(array).zeros(array.shape, array.dtype), array))
    part = _viewed(zeros, steps, turned_back)
    part.copy_(tangent)
    holder.set(level, zeros)
    forward_grad(t).set(level, part)


def _owner(view: ViewMeta, level: int) -> tuple[ForwardGrad, Any, list[ViewMeta], tuple[Step, ...]]:
    """Who has the whole tangent of ``level`` of which that of ``view`` is a part, its primal, and the way down to the view:
    steps, and before them those to the shape that the owner had.
    """
    steps: list[ViewMeta] = []
    at: ViewMeta | None = view
    while at is not None:
        if isinstance(at, DualView) and at.level == level and at is not view:
            return at.tangents, at.array, steps, ()
        steps.insert(0, at)
        at = at.parent
    return forward_grad(view.base), view.base._a, steps, view.turned_back()

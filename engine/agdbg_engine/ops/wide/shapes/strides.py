"""``as_strided``: any sizes and steps over the memory of a tensor, its copies, and its transpose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....backends import on_host
from ....device import address, array_module, owner
from ....repeated_index import times_named
from ....tensor import Tensor
from ...explain import not_a_tensor, shape_error
from ..declare import formula, op, public

Shape = tuple[int, ...]

# ----- memory -----


def _memory(x: Any) -> Any:
    """All bytes of the memory that ``x`` is a part of, as one row."""
    x = owner(x)
    row = x.transpose(sorted(range(x.ndim), key=lambda d: -x.strides[d]))
    if row.flags.c_contiguous:
        return row.reshape(-1).view(np.uint8)
    first = x[(slice(0, 1),) * x.ndim].reshape(-1).view(np.uint8)  # memory of somebody else, not all of which is shown
    span = sum((n - 1) * s for n, s in zip(x.shape, x.strides, strict=True)) + x.itemsize
    return np.lib.stride_tricks.as_strided(first, (span if x.size else 0,), (1,))


def memory_of(x: Any) -> tuple[Any, int]:
    """All bytes of the memory that ``x`` is a part of, and at which byte of it its first element lies."""
    memory = _memory(x)
    return memory, address(x) - address(memory)


def shown(memory: Any, dtype: Any, first: int, size: Shape, steps: Shape) -> Any:
    """Elements of ``dtype`` in bytes, from byte ``first`` on, ``steps`` bytes apart."""
    if isinstance(memory, np.ndarray):
        return np.ndarray(size, dtype, memory, first if math.prod(size) else 0, steps)
    kind: Any = type(memory)
    return kind(size, dtype, memory.data + first, steps)


def seen(x: Any, size: Shape, stride: Shape, storage_offset: int, self_offset: int) -> Any:
    """``size`` elements ``stride`` apart; the offsets are those of the result and of ``x`` in their memory."""
    memory = _memory(x)
    first = address(x) - address(memory) + (storage_offset - self_offset) * x.itemsize
    return shown(memory, x.dtype, first, size, tuple(s * x.itemsize for s in stride))


def _scattered(x: Any, src: Any, size: Shape, stride: Shape, storage_offset: int, self_offset: int) -> Any:
    """A copy of ``x`` with ``src`` where ``as_strided`` looks."""
    memory = _memory(x)
    copied = memory.copy()
    first = address(x) - address(memory)
    at = first + (storage_offset - self_offset) * x.itemsize
    shown(copied, x.dtype, at, size, tuple(s * x.itemsize for s in stride))[...] = src
    return shown(copied, x.dtype, first, x.shape, x.strides)


# ----- gradients -----


def _positions(size: Shape, stride: Sequence[int], like: Any) -> Any:
    """Where elements lie, counted from the first, in the shape ``size``."""
    xp = array_module(like._a if isinstance(like, Tensor) else like)
    found = xp.zeros(size, np.int64)
    for d, (n, step) in enumerate(zip(size, stride, strict=True)):
        found = found + (xp.arange(n) * step).reshape((n,) + (1,) * (len(size) - d - 1))
    return found


def _ends(size: Shape, stride: Sequence[int], shift: int) -> list[int]:
    """The lowest and the highest of :func:`_positions`; nothing where there is none."""
    if 0 in size:
        return []
    spans = [(n - 1) * step for n, step in zip(size, stride, strict=True)]
    return [shift + sum(min(s, 0) for s in spans), shift + sum(max(s, 0) for s in spans)]


def _places(shape: Shape, steps: Shape, itemsize: int, size: Shape, stride: Shape, shift: int, like: Any) -> Any:
    """Positions of a tensor and of what is seen of it, and how many there are from the lowest to the highest."""
    whole = _positions(shape, [s // itemsize for s in steps], like)
    part = _positions(size, stride, like) + shift
    ends = [*_ends(shape, [s // itemsize for s in steps], 0), *_ends(size, stride, shift)]
    low, high = (min(ends), max(ends)) if ends else (0, -1)
    return whole - low, part - low, high - low + 1


@formula
def as_strided_grad(
    F: Any, g: Any, shape: Shape, steps: Shape, itemsize: int, size: Shape, stride: Shape, shift: int
) -> Any:
    """Gradient of :func:`as_strided`; what several elements of the input show is divided among them."""
    whole, part, n = _places(shape, steps, itemsize, size, stride, shift, g)
    flat = F.index_backward(g, (n,), (part,))
    out = F.index(flat, (whole,))
    times = times_named(whole, n)[whole]
    return out if on_host(times) and (not times.size or int(times.max()) == 1) else out / _number(times, g)


def _number(array: Any, g: Any) -> Any:
    """``array`` to be computed with beside ``g``."""
    from ....tensor import wrap

    array = array.astype(g.dtype)
    return wrap(array) if isinstance(g, Tensor) else array


@formula
def scattered_over_grad(
    F: Any, g: Any, shape: Shape, steps: Shape, itemsize: int, size: Shape, stride: Shape, shift: int
) -> Any:
    """Gradient of :func:`as_strided_scatter` in what was partly overwritten."""
    whole, part, n = _places(shape, steps, itemsize, size, stride, shift, g)
    written = array_module(whole).zeros(n, np.bool_)
    written[part] = True
    return F.drop(g, _mask(written[whole], g))


def _mask(array: Any, g: Any) -> Any:
    from ....tensor import wrap

    return wrap(array) if isinstance(g, Tensor) else array


@formula
def scattered_grad(
    F: Any, g: Any, shape: Shape, steps: Shape, itemsize: int, size: Shape, stride: Shape, shift: int
) -> Any:
    """Gradient of :func:`as_strided_scatter` in what was written."""
    whole, part, n = _places(shape, steps, itemsize, size, stride, shift, g)
    return F.index(F.index_backward(g, (n,), (whole,)), (part,))


@formula
def as_strided_tangent(
    F: Any, x_t: Any, steps: Shape, size: Shape, stride: Shape, storage_offset: int, self_offset: int
) -> Any:
    """Tangent of :func:`as_strided`: the same view of ``x_t`` where that lies as its tensor does and has all that is seen."""
    a, shift = x_t._a, storage_offset - self_offset
    ends = _ends(size, stride, shift)
    if a.strides == steps and (_is_within(ends, a) or _is_in_memory(ends, a, self_offset)):
        return F.as_strided(x_t, size, stride, storage_offset, self_offset)
    whole, part, n = _places(a.shape, steps, a.itemsize, size, stride, shift, x_t)
    return F.index(F.index_backward(x_t, (n,), (whole,)), (part,))


def _is_within(ends: list[int], a: Any) -> bool:
    """Whether elements at places from the lowest to the highest of ``ends`` lie between the first and the last of ``a``."""
    own = _ends(a.shape, [s // a.itemsize for s in a.strides], 0)
    return not ends or (bool(own) and own[0] <= ends[0] and ends[1] <= own[1])


def _is_in_memory(ends: list[int], a: Any, offset: int) -> bool:
    """Whether the memory of ``a`` has them, and is laid out as the one in which the tensor has this offset: as that of a base."""
    memory, first = memory_of(a)
    return (
        first == offset * a.itemsize
        and first + ends[0] * a.itemsize >= 0
        and first + (ends[1] + 1) * a.itemsize <= memory.size
    )


GEOMETRY = "self_shape, self_strides, self_itemsize, size, stride, storage_offset - self_offset"

TANGENT = "as_strided_tangent(self_t, self_strides, size, stride, storage_offset, self_offset)"

_as_strided = op(
    "as_strided(self, size, stride, storage_offset, self_offset)", "AsStridedBackward0", view=True, jvp=TANGENT,
    self=f"as_strided_grad(g, {GEOMETRY})", value=seen,
)  # fmt: skip
_as_strided_copy = op(
    "as_strided_copy(self, size, stride, storage_offset, self_offset)", "AsStridedBackward0_copy", value=seen,
    self=f"as_strided_grad(g, {GEOMETRY})", jvp=TANGENT,
)  # fmt: skip
_as_strided_scatter = op(
    "as_strided_scatter(self, src, size, stride, storage_offset, self_offset)", "AsStridedScatterBackward0",
    self=f"scattered_over_grad(g, {GEOMETRY})", src=f"scattered_grad(g, {GEOMETRY})", jvp="linear", value=_scattered,
)  # fmt: skip


# ----- as users write them -----


def checked(x: Tensor, size: Any, stride: Any, storage_offset: int | None) -> tuple[Shape, Shape, int, int]:
    """The arguments of the rows; an error for what does not lie in the memory."""
    size, stride = tuple(size), tuple(stride)
    own = offset_of(x)
    offset = own if storage_offset is None else storage_offset
    if len(size) != len(stride):
        raise shape_error("mismatch in length of strides and shape")
    if offset < 0:
        raise shape_error(f"Tensor: invalid storage offset {offset}")
    if any(s < 0 for s in stride):
        raise shape_error(
            "as_strided: Negative strides are not supported at the moment, got strides: ["
            + ", ".join(map(str, stride))
            + "]"
        )
    last = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    memory = _memory(x._a)
    bytes_left = memory.size - (address(x._a) - address(memory)) + own * x.itemsize
    if math.prod(size) and (last + 1) * x.itemsize > bytes_left:
        needed = (last + 1) * x.itemsize
        raise shape_error(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize {x.itemsize} "
            f"requiring a storage size of {needed} are out of bounds for storage of size {bytes_left}"
        )
    return size, stride, offset, own


def offset_of(x: Tensor) -> int:
    """Where the first element of ``x`` lies in its memory: 0 of the result of an op, shared with nobody.

    (It may lie somewhere in a larger array that nobody else sees.)
    """
    return 0 if x._storage is None and x._fn is not None else x.storage_offset()


@public("torch Tensor")
def as_strided(self: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """``size`` elements of the memory of a tensor, ``stride`` elements apart, as a view.

    Where several elements of the result are one of the tensor, their gradients are summed. :class:`RuntimeError` for
    what lies outside of the memory.
    """
    return _as_strided(self, *checked(self, size, stride, storage_offset))


@public("torch", out=True)
def as_strided_copy(self: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A copy of what :func:`as_strided` shows."""
    return _as_strided_copy(self, *checked(self, size, stride, storage_offset))


@public("torch Tensor", out=True)
def as_strided_scatter(self: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A copy of ``self`` with ``src``, of shape ``size``, where :func:`as_strided` looks."""
    if not isinstance(src, Tensor):
        raise not_a_tensor("as_strided_scatter", "src", src, 2)
    given = checked(self, size, stride, storage_offset)
    if src.shape != given[0]:
        raise shape_error(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src.shape)}, slice size = {list(given[0])}"
        )
    return _as_strided_scatter(self, src.to(self.device), *given)

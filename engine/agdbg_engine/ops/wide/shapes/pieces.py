"""Tensors taken apart, as views and as copies, and pieces put back in."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from .... import events
from ....backends import on_host
from ....several import at_home
from ....tensor import Tensor, wrap
from ... import _generated as g
from ...explain import not_a_tensor, shape_error
from ...forward import propagate_pieces
from ...lists import _Pieces, _record, split, stack, unbind
from ...refuse import refuse_recorded
from ...shape import one_dim, select
from ..declare import linear, public

# ----- views -----


@public("torch Tensor")
def split_with_sizes(self: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces of given sizes along ``dim``, as views."""
    return split(self, list(split_sizes), dim)


@public("torch Tensor")
def tensor_split(
    self: Tensor, indices_or_sections: Any = None, dim: int = 0, *, indices: Any = None, sections: Any = None
) -> tuple[Tensor, ...]:
    """So many pieces along ``dim`` of nearly equal size, or pieces that start at given indices, as views."""
    how = next((h for h in (indices_or_sections, indices, sections) if h is not None), None)
    if how is None:
        raise TypeError(
            "tensor_split() received an invalid combination of arguments - got (Tensor), but expected one of:"
        )
    if self.ndim == 0:
        raise shape_error("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    dim = one_dim(self, dim)
    n = self.shape[dim]
    if isinstance(how, Tensor):
        if not on_host(how._a):
            raise shape_error(
                f"tensor_split expected tensor_indices_or_sections to be on cpu, but it's on {how.device}"
            )
        if how.dtype != "int64":
            raise shape_error(
                "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
                + {"i": "Int", "f": "Float", "c": "ComplexFloat", "b": "Bool", "u": "Byte"}[how.dtype.kind]
            )
        if how.ndim > 1:
            raise shape_error(
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but got a "
                f"tensor with {how.ndim} dims"
            )
        how = how.tolist()
    if isinstance(how, int):
        if how <= 0:
            raise shape_error(f"number of sections must be larger than 0, got {how}")
        short, longer = divmod(n, how)
        starts = [i * short + min(i, longer) for i in range(how + 1)]
        return tuple(g.slice(self, dim, a, b) for a, b in itertools.pairwise(starts))
    ends = [*how, n]
    return tuple(g.slice(self, dim, a, b) for a, b in zip([0, *how], ends, strict=True))


def _split_along(op: str, x: Tensor, how: Any, dim: int) -> tuple[Tensor, ...]:
    if isinstance(how, int):
        if how <= 0 or x.shape[dim] % how:
            raise shape_error(
                f"torch.{op} attempted to split along dimension {dim}, but the size of the dimension {x.shape[dim]} is not "
                f"divisible by the split_size {how}!"
            )
        return tensor_split(x, how, dim)
    if not isinstance(how, tuple | list) or not all(isinstance(i, int) for i in how):
        raise TypeError(
            f"{op}() received an invalid combination of arguments - got (Tensor, {type(how).__name__}), but expected one of:"
        )
    return tensor_split(x, tuple(how), dim)


@public("torch Tensor")
def hsplit(self: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Pieces along the second dimension (the first of a vector), all of one size or from given indices on, as views."""
    if self.ndim < 1:
        raise shape_error(
            f"torch.hsplit requires a tensor with at least 1 dimension, but got a tensor with {self.ndim} dimensions!"
        )
    return _split_along("hsplit", self, indices_or_sections, 0 if self.ndim == 1 else 1)


@public("torch Tensor")
def vsplit(self: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Pieces along the first dimension, as views."""
    if self.ndim < 2:
        raise shape_error(
            f"torch.vsplit requires a tensor with at least 2 dimension, but got a tensor with {self.ndim} dimensions!"
        )
    return _split_along("vsplit", self, indices_or_sections, 0)


@public("torch Tensor")
def dsplit(self: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Pieces along the third dimension, as views."""
    if self.ndim < 3:
        raise shape_error(
            f"torch.dsplit requires a tensor with at least 3 dimension, but got a tensor with {self.ndim} dimensions!"
        )
    return _split_along("dsplit", self, indices_or_sections, 2)


# ----- copies -----


class SplitBackward0_copy(_Pieces):
    """Gradient of :func:`split_copy`."""

    __slots__ = ()
    op_name = "SplitBackward0_copy"


class SplitWithSizesBackward0_copy(_Pieces):
    """Gradient of :func:`split_with_sizes_copy`."""

    __slots__ = ()
    op_name = "SplitWithSizesBackward0_copy"


class UnbindBackward0_copy(_Pieces):
    """Gradient of :func:`unbind_copy`."""

    __slots__ = ()
    op_name = "UnbindBackward0_copy"

    def join(self, pieces: list[Tensor]) -> Tensor:
        """The entries put together."""
        return stack(pieces, self.c_dim)


@at_home
def _copies(kind: type[_Pieces], x: Tensor, take: Any, dim: int) -> tuple[Tensor, ...]:
    """Copies of the pieces that ``take`` takes of ``x``, outputs of one node of ``kind``."""
    outs = tuple(wrap(p._a.copy()) for p in take(wrap(x._a)))
    _record(kind, outs, x, one_dim(x, dim))
    if events.special & events.FORWARD:
        propagate_pieces(outs, x, lambda t: _copies(kind, t, take, dim))
    return outs


@public("torch", out=True)
def split_copy(self: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Copies of pieces of the given size along ``dim``."""
    return _copies(SplitBackward0_copy, self, lambda x: split(x, split_size, dim), dim)


@public("torch", out=True)
def split_with_sizes_copy(self: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Copies of pieces of given sizes along ``dim``."""
    return _copies(SplitWithSizesBackward0_copy, self, lambda x: split(x, list(split_sizes), dim), dim)


@public("torch", out=True)
def unbind_copy(self: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Copies of all entries along ``dim``."""
    return _copies(UnbindBackward0_copy, self, lambda x: unbind(x, dim), dim)


# ----- back in -----


def _with_entry(x: Any, src: Any, dim: int, index: int) -> Any:
    """A copy of ``x`` with ``src`` at ``index`` of ``dim``."""
    out = x.copy()
    out[(*(slice(None),) * dim, index)] = src
    return out


def _with_slice(x: Any, src: Any, dim: int, start: int | None, end: int | None, step: int) -> Any:
    """A copy of ``x`` with ``src`` in a slice of ``dim``."""
    out = x.copy()
    out[(*(slice(None),) * dim, slice(start, end, step))] = src
    return out


_select_scatter = linear(
    "select_scatter(self, src, dim, index)", "SelectScatterBackward0",
    "select_scatter(g, zeros_of(src_shape, g), dim, index)", src="select(g, dim, index)", value=_with_entry,
)  # fmt: skip
_slice_scatter = linear(
    "slice_scatter(self, src, dim, start, end, step)", "SliceScatterBackward0",
    "slice_scatter(g, zeros_of(src_shape, g), dim, start, end, step)", src="slice(g, dim, start, end, step)",
    value=_with_slice,
)  # fmt: skip


def _same_shape(src: Any, op: str, part: Any) -> Tensor:
    if not isinstance(src, Tensor):
        raise not_a_tensor(op, "src", src, 2)
    if src.shape != part.shape:
        raise shape_error(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src.shape)}, slice size = {list(part.shape)}"
        )
    return src


@public("torch Tensor")
def select_scatter(self: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy of ``self`` with ``src`` as entry ``index`` of dimension ``dim``."""
    src = _same_shape(src, "select_scatter", select(wrap(self._a), dim, index))
    return _select_scatter(self, src.to(self.device, self.dtype), one_dim(self, dim), index)


@public("torch Tensor", out=True)
def slice_scatter(
    self: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """A copy of ``self`` with ``src`` in a slice along ``dim``."""
    dim = one_dim(self, dim)
    if step <= 0:
        raise shape_error("slice step must be positive")
    if not self.ndim:
        raise shape_error("slice() cannot be applied to a 0-dim tensor.", IndexError)
    refuse_recorded("slice_scatter", self, src)
    src = _same_shape(src, "slice_scatter", self._a[(*(slice(None),) * dim, slice(start, end, step))])
    return _slice_scatter(self, src.to(self.device, self.dtype), dim, start, end, step)

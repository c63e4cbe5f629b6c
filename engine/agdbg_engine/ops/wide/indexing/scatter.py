"""Elements written or added where an index tensor says along a dimension: the opposite of ``gather``."""

from __future__ import annotations

import warnings
from typing import Any

from ....errors import raise_if
from ....scalars import check_fits
from ....scalars import written as as_written
from ....sites import user_stacklevel
from ....tensor import Tensor, wrap
from ...explain import shape_error, size_at
from ...shape import one_dim
from ..declare import formula, op, public
from . import places

Shape = tuple[int, ...]


def head(src: Any, index: Any) -> Any:
    """The part of ``src`` that an ``index`` of another shape uses; that of a number is a number."""
    return src if src.shape == index.shape or not src.ndim else src[tuple(slice(0, n) for n in index.shape)]


def _values(src: Any, index: Any, like: Any) -> Any:
    """What goes to the places: the part of a tensor, or a number for all of them."""
    if hasattr(src, "shape"):
        return head(src, index)
    return (index * 0).astype(like.dtype) + like.dtype.type(src)


def _written(x: Any, dim: int, index: Any, src: Any) -> Any:
    if not index.size:
        return x.copy()
    values = head(src, index) if hasattr(src, "shape") else src
    return places.written(x, places.elementwise(x.shape, dim, index), values)


def combined(x: Any, dim: int, index: Any, src: Any, how: str = "add") -> Any:
    """``x`` joined by a ufunc with what is scattered."""
    if not index.size:
        return x.copy()
    return places.combined(how, x, places.elementwise(x.shape, dim, index), _values(src, index, x))


@formula
def gathered_for(F: Any, g: Any, dim: int, index: Any, shape: Shape) -> Any:
    """Gradient of a source of ``shape`` of which the elements in the shape of ``index`` were scattered."""
    if 0 in index.shape:
        return F.zeros_of(shape, g)
    out = F.gather(g, dim, index)
    if not shape:
        return F.sum_to(out, shape)
    for d, n in enumerate(index.shape):
        if n != shape[d]:
            out = F.slice_backward(out, (*shape[: d + 1], *index.shape[d + 1 :])[: len(shape)], d, 0, n, 1)
    return out


SCATTER = op("scatter(self, dim, index, src)", "ScatterBackward0", self="scatter(g, dim, index, 0)", index=None,
             src="gathered_for(g, dim, index, src_shape)", scalars={"src": "ScatterBackward1"},
             jvp="scatter(self_t, dim, index, src_t)", value=_written)  # fmt: skip
ADD = op("scatter_add(self, dim, index, src)", "ScatterAddBackward0", self="g", index=None, alias="self", jvp="linear",
         src="gathered_for(g, dim, index, src_shape)", value=combined)  # fmt: skip
_REFUSED = "not_implemented('derivative for aten::scatter is not implemented')"
COMBINE = op("scatter_by(self, dim, index, src, how)", "NotImplemented", self=_REFUSED, index=None, src=_REFUSED,
             scalars={"src": "NotImplemented"}, value=combined)  # fmt: skip


def check(self: Tensor, dim: int, index: Tensor, src: Any) -> int:
    """The arguments of an op that scatters, checked; ``dim`` made non-negative."""
    dim = one_dim(self, dim)
    if index.numel() and not places.is_index(index):
        raise RuntimeError("scatter(): Expected dtype int32/int64 for index")
    if isinstance(src, Tensor) and src.dtype != self.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if not index.numel():
        return dim
    _check_shape(self, dim, index, src if isinstance(src, Tensor) else None)
    places.check_bounds(index, dim, self.shape[dim] if self.ndim else 1)
    return dim


def in_a_row(index: Tensor, src: Any) -> Tensor:
    """``index``; one without dimensions as a row of one, where ``src`` is a row of which it uses the first element."""
    row = not index.ndim and isinstance(src, Tensor) and src.ndim
    return wrap(index._a.reshape(1)) if row else index


def _check_shape(x: Tensor, dim: int, index: Tensor, src: Tensor | None) -> None:
    if max(index.ndim, 1) != max(x.ndim, 1):
        raise shape_error("Index tensor must have the same number of dimensions as self tensor")
    have, given = (t.shape or (1,) for t in (x, index))
    misfits = any(n > s and d != dim for d, (n, s) in enumerate(zip(given, have, strict=True)))
    room = (src.shape or (1,)) if src is not None else given
    if src is not None and len(room) != len(given):
        if src.ndim and not misfits and all(n <= s for n, s in zip(given, room, strict=False)):
            size_at(src, min(src.ndim, len(given) - 1))  # PyTorch compares size by size, and may miss one first
        raise shape_error("Index tensor must have the same number of dimensions as src tensor")
    if misfits or any(n > s for n, s in zip(given, room, strict=True)):
        end = "" if src is None else f" and to be no larger size than src {list(src.shape)}"
        raise shape_error(
            f"Expected index {list(index.shape)} to be no larger than self {list(x.shape)} apart from dimension {dim}{end}"
        )


@public("torch Tensor", out=True, inplace=True)
def scatter(
    self: Tensor, dim: int, index: Tensor, src: Any = None, *, reduce: str | None = None, value: Any = None
) -> Tensor:
    """``self`` with ``src`` (a tensor, or a number for all) at ``out[index[i][j]][j]`` along ``dim`` (here 0).

    ``reduce`` (``add`` or ``multiply``) joins instead of replacing; that has no gradient. Of repeats the last one counts.
    """
    given = src if src is not None else value
    if not isinstance(given, Tensor | int | float | complex):
        kinds = ", ".join(type(x).__name__ for x in (self, dim, index, given))
        raise TypeError(f"scatter() received an invalid combination of arguments - got ({kinds}), but expected one of:")
    dim = check(self, dim, index, given)
    if not isinstance(given, Tensor):
        raise_if(check_fits(given, self.dtype))
        given = as_written(given, self.dtype)
    index = in_a_row(index, given)
    if reduce is None:
        out: Tensor = SCATTER(self, dim, index, given)
        return out
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    if isinstance(given, Tensor):
        warnings.warn(
            "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future PyTorch release. "
            "Use torch.scatter_reduce instead for more reduction options.",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
    joined: Tensor = COMBINE(self, dim, index, given, reduce)
    return joined


@public("torch Tensor", out=True, inplace=True)
def scatter_add(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """``self`` with ``src`` added at ``out[index[i][j]][j]`` along ``dim`` (here 0), repeats included."""
    out: Tensor = ADD(self, check(self, dim, index, src), in_a_row(index, src), src)
    return out

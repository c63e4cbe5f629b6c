"""Reshaping and indexing as users write them, on the view ops of the table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..tensor import Tensor
from . import _generated as g


def _sizes(shape: tuple[Any, ...]) -> tuple[int, ...]:
    if len(shape) == 1 and not isinstance(shape[0], int | np.integer):
        shape = tuple(shape[0])
    return tuple(int(s) for s in shape)


def _resolve(x: Tensor, shape: tuple[int, ...]) -> tuple[int, ...]:
    """``shape`` with its -1 worked out; PyTorch's errors for sizes that do not fit."""
    n = x._a.size
    if -1 in shape:
        known = math.prod(s for s in shape if s != -1)
        if shape.count(-1) > 1:
            raise RuntimeError("only one dimension can be inferred")
        if known == 0 or n % known:
            raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {n}")
        return tuple(n // known if s == -1 else s for s in shape)
    if math.prod(shape) != n:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {n}")
    return shape


def view(self: Tensor, *shape: Any) -> Tensor:
    """The same elements in another shape without copying; an error where that is impossible."""
    return g.view(self, _resolve(self, _sizes(shape)))


def reshape(self: Tensor, *shape: Any) -> Tensor:
    """The same elements in another shape: a view where possible, else a copy."""
    sizes = _resolve(self, _sizes(shape))
    try:
        np.reshape(self._a, sizes, copy=False) if isinstance(self._a, np.ndarray) else None
    except ValueError:
        return g.view(contiguous(self), sizes)
    return g.view(self, sizes)


def contiguous(self: Tensor) -> Tensor:
    """This tensor if its elements lie in order, else a copy for which they do."""
    if self.is_contiguous():
        return self
    copy = g.clone(self)
    copy._a = np.ascontiguousarray(copy._a)
    return copy


def flatten(self: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Dimensions ``start_dim`` to ``end_dim`` made one."""
    if self.ndim == 0:
        return reshape(self, (1,))
    first, last = _dim(self, start_dim), _dim(self, end_dim)
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    return self if first == last else reshape(self, (*self.shape[:first], -1, *self.shape[last + 1 :]))


def _dim(x: Tensor, dim: int) -> int:
    n = max(x.ndim, 1)
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim % n


def expand(self: Tensor, *shape: Any) -> Tensor:
    """Broadcast to ``shape`` without copying; -1 keeps a size."""
    sizes = _sizes(shape)
    lead = len(sizes) - self.ndim
    if lead < 0:
        raise RuntimeError(
            f"expand({_tensor_name(self)}{{{list(self.shape)}}}, size={list(sizes)}): the number of sizes provided "
            f"({len(sizes)}) must be greater or equal to the number of dimensions in the tensor ({self.ndim})"
        )
    for i, (want, have) in enumerate(zip(sizes[lead:], self.shape, strict=True)):
        if want not in (-1, have) and have != 1:
            raise RuntimeError(
                f"The expanded size of the tensor ({want}) must match the existing size ({have}) at non-singleton dimension "
                f"{i + lead}.  Target sizes: {list(sizes)}.  Tensor sizes: {list(self.shape)}"
            )
    return g.expand(self, tuple(self.shape[i - lead] if s == -1 else s for i, s in enumerate(sizes)))


def _tensor_name(x: Tensor) -> str:
    from ..dtype import scalar_type

    return f"torch.{scalar_type(x.dtype)}Tensor"


def permute(self: Tensor, *dims: Any) -> Tensor:
    """Dimensions in another order."""
    order = tuple(_dim(self, d) for d in _sizes(dims))
    if sorted(order) != list(range(self.ndim)):
        raise RuntimeError("permute(sparse_coo): number of dimensions in the tensor input does not match the length of the "
                           f"desired ordering of dimensions i.e. input.dim() = {self.ndim} is not equal to len(dims) = "
                           f"{len(order)}") if len(order) != self.ndim else RuntimeError(
                               "permute(): duplicate dims are not allowed.")  # fmt: skip
    return g.permute_to(self, order)


def transpose(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions swapped."""
    return g.transpose(self, _dim(self, dim0), _dim(self, dim1))


def t(self: Tensor) -> Tensor:
    """The transpose of a matrix (vectors and 0-d tensors as they are)."""
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return g.t(self)


def unsqueeze(self: Tensor, dim: int) -> Tensor:
    """A size-1 dimension put in at ``dim``."""
    n = self.ndim + 1
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return g.unsqueeze(self, dim)


def squeeze(self: Tensor, dim: int | None = None) -> Tensor:
    """Size-1 dimensions dropped: all, or ``dim`` if it is one."""
    return g.squeeze_all(self) if dim is None else g.squeeze_dim(self, _dim(self, dim))


def select(self: Tensor, dim: int, index: int) -> Tensor:
    """Entry ``index`` of dimension ``dim``."""
    if self.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = _dim(self, dim)
    size = self.shape[dim]
    if not -size <= index < size:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(self.shape)} at dimension {dim}")
    return g.select(self, dim, index)


def narrow(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """``length`` entries from ``start`` along ``dim``."""
    return g.slice(self, _dim(self, dim), start, start + length)


# ----- x[...] -----


def getitem(self: Tensor, key: Any) -> Tensor:
    """``x[key]``: integers select, slices slice, ``None`` adds a dimension (all views); tensors and lists index (a copy)."""
    out, arrays = _basic(self, key if isinstance(key, tuple) else (key,))
    if any(a is not None for a in arrays):
        out = _indexed(out, arrays)
    elif out is self:
        return g.slice(self, 0, None, None, 1) if self.ndim else g.view(self, ())
    return out


def setitem(self: Tensor, key: Any, value: Any) -> None:
    """``x[key] = value``: written in place through the view, or by ``index_put_`` where tensors index."""
    from .inplace import inplace

    view_, arrays = _basic(self, key if isinstance(key, tuple) else (key,))
    if any(a is not None for a in arrays):
        values = value if not isinstance(value, Tensor) or value.dtype == self.dtype else value.to(self.dtype)
        inplace(view_, "index_put_", g.index_put, (_numpy_key(view_, arrays), values))
        return
    if isinstance(value, Tensor):
        inplace(view_, "copy_", g.copy, (value,))
    else:
        inplace(view_, "fill_", g.fill, (value,))


def _basic(x: Tensor, key: tuple[Any, ...]) -> tuple[Tensor, list[Any]]:
    """Apply integers, slices, ``None`` and ``...``; return the view and the index arrays by its dimensions."""
    items = _expand_ellipsis(x, key)
    out, dim, arrays = x, 0, []
    for item in items:
        if item is None:
            out = g.unsqueeze(out, dim)
        elif isinstance(item, bool):
            raise IndexError("indexing with a Python bool is not supported: use a tensor mask")
        elif isinstance(item, int | np.integer):
            out = _select_item(out, x, dim, int(item))
            continue
        elif isinstance(item, slice):
            out = _sliced(out, dim, item)
        else:
            array = _index_array(item)
            arrays += [None] * (dim - len(arrays)) + [array]
            dim += max(1, array.ndim) - 1 if array.dtype == np.bool_ else 0
        dim += 1
    return out, arrays


def _expand_ellipsis(x: Tensor, key: tuple[Any, ...]) -> list[Any]:
    used = sum(_consumes(k) for k in key)
    if used > x.ndim:
        raise IndexError(f"too many indices for tensor of dimension {x.ndim}")
    items: list[Any] = []
    for k in key:
        items += [slice(None)] * (x.ndim - used) if k is Ellipsis else [k]
    return items


def _consumes(k: Any) -> int:
    if k is None or k is Ellipsis:
        return 0
    if isinstance(k, Tensor) and k.dtype == np.bool_:
        return max(1, k.ndim)
    return 1


def _select_item(out: Tensor, whole: Tensor, dim: int, index: int) -> Tensor:
    size = out.shape[dim]
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of bounds for dimension {dim} with size {size}")
    return g.select(out, dim, index)


def _sliced(out: Tensor, dim: int, item: slice) -> Tensor:
    start, stop, step = item.indices(out.shape[dim])
    if step <= 0:
        raise ValueError("step must be greater than zero")
    if (start, stop, step) == (0, out.shape[dim], 1):
        return out
    return g.slice(out, dim, start, max(start, stop), step)


def _index_array(item: Any) -> Any:
    array = item._a if isinstance(item, Tensor) else np.asarray(item)
    if array.dtype.kind not in "iub":
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    return array


def _numpy_key(x: Tensor, arrays: list[Any]) -> tuple[Any, ...]:
    return tuple(slice(None) if a is None else a for a in arrays)


def _indexed(x: Tensor, arrays: list[Any]) -> Tensor:
    try:
        return g.index(x, _numpy_key(x, arrays))
    except IndexError as error:
        raise IndexError(str(error)) from None

"""Kernels of products, views and indexing. Parts of :mod:`.kernels`."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided as _with_steps

from ..device import array_module
from ..repeated_index import add_at

_ndarray = np.ndarray
_add_reduce: Any = np.add.reduce
_maximum_reduce: Any = np.maximum.reduce


def total(x: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """The sum along ``axis``: NumPy's ufunc is faster than its method, but its dispatch does not reach other libraries.

    Half precision is added up in single, as in PyTorch: a sum of ones along columns would stop at 2048.
    """
    if x.dtype.char == "e" and dtype is None and out is None:
        return total(x, axis, np.float32, None, keepdims).astype(x.dtype)
    return _add_reduce(x, axis, dtype, out, keepdims) if type(x) is np.ndarray else x.sum(axis, dtype, out, keepdims)


def highest(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The maximum along ``axis``, as :func:`total` is the sum."""
    if type(x) is not np.ndarray:
        return x.max(axis, keepdims=keepdims)
    if _has_short_rows(x, axis, 32):  # NumPy begins anew in each: turned, they are done side by side
        top = _maximum_reduce(x.reshape(-1, x.shape[-1]).T.copy(), 0)
        return top.reshape(x.shape[:-1] + (1,) * keepdims)
    return _maximum_reduce(x, axis, None, None, keepdims)


def row_sums(x: Any, axis: Any) -> Any:
    """The sums along ``axis``, which is kept; those of short rows by a product with ones, which is quicker by far."""
    if type(x) is np.ndarray and _has_short_rows(x, axis, 128):
        width = x.shape[-1]
        ones = _ones_rows.get((width, x.dtype)) or _ones_row(width, x.dtype)
        return x.reshape(-1, width).dot(ones[0]).reshape(*x.shape[:-1], 1)
    return total(x, axis, keepdims=True)


def _has_short_rows(x: Any, axis: Any, most: int) -> bool:
    """Whether ``axis`` is the last, in which there are at most ``most`` elements, of many rows that lie one after the other."""
    if x.ndim < 2 or axis not in (x.ndim - 1, -1) or not 0 < x.shape[-1] <= most:
        return False
    return x.size >= 32 * x.shape[-1] and x.dtype.char in "fd" and bool(x.flags.c_contiguous)


_slice = builtins.slice
_Shape = tuple[int, ...]

# ----- matrices -----


def mm(a: Any, b: Any) -> Any:
    """(n, k) @ (k, m)."""
    return a.dot(b)


def mm_left(a: Any, g: Any, swapped: bool) -> Any:
    """``a.T @ g``: gradient of ``mm(a, b)`` in b, laid out like b (column by column if ``swapped``)."""
    if a.shape[1] * g.shape[1] >= _LARGE:
        return np.matmul(g.T, a).T if swapped else np.matmul(a.T, g)
    return g.T.dot(a).T if swapped else a.T.dot(g)


_LARGE = 1 << 14
"""Elements of a product from which ``matmul`` pays: ``dot`` is quicker to call, but first fills its result with zeros."""


def mv(a: Any, v: Any) -> Any:
    """(n, k) @ (k,)."""
    return a.dot(v)


dot = mv


def ger(u: Any, v: Any) -> Any:
    """Outer product."""
    return u[:, None] * v


bmm = np.matmul


def addmm(bias: Any, a: Any, b: Any) -> Any:
    """Bias + a @ b, with one temporary."""
    out = _few_rows(a, b) if b.size > _WIDE else a.dot(b)
    out += bias
    return out


_WIDE = 1 << 17
"""Elements of a right factor from which a look at the layout of a product pays."""


def _few_rows(a: Any, b: Any) -> Any:
    """``a @ b`` with a large ``b``.

    BLAS packs a left factor that is to be transposed slowly, and to it the left factor is the transposed right one of C's row by
    row result. So few rows by a large transposed weight, a layer on a small batch, are multiplied the other way round and turned.
    Only single precision on the CPU gains.
    """
    gains = type(b) is _ndarray and b.dtype.char == "f" and 1 < 4 * len(a) <= b.shape[1]
    if gains and b.flags.f_contiguous and a.flags.c_contiguous:
        return b.T.dot(a.T).T.copy()
    return a.dot(b)


# ----- views -----


def alias(x: Any) -> Any:
    """All of ``x``."""
    return x[...]


def fw_primal(x: Any, level: int) -> Any:
    """All of ``x``: what ``unpack_dual`` calls the primal."""
    return x[...]


def view(x: Any, shape: _Shape) -> Any:
    """X seen in another shape; ValueError where that needs a copy."""
    if isinstance(x, _ndarray):
        return x.reshape(shape, copy=False)
    if not x.flags.c_contiguous:  # CuPy would copy: NumPy tells of the same steps, without looking at a byte
        _with_steps(np.empty(1, x.dtype), x.shape, x.strides).reshape(shape, copy=False)
    return x.reshape(shape)


def reshape(x: Any, shape: _Shape) -> Any:
    """X in another shape, copied where it must be."""
    return x.reshape(shape)


unsafe_view = reshape_alias = reshape


def expand(x: Any, shape: _Shape) -> Any:
    """X broadcast to ``shape`` without copying; -1 keeps a size."""
    if x.ndim == 0 and isinstance(x, (_ndarray, np.generic)):
        return _ndarray(shape, x.dtype, x, 0, (0,) * len(shape))
    if -1 in shape:
        lead = len(shape) - x.ndim
        shape = tuple(x.shape[i - lead] if s == -1 else s for i, s in enumerate(shape))
    out = np.broadcast_to(x, shape)
    if isinstance(out, _ndarray) and x.flags.writeable:
        out.flags.writeable = True  # parts of it that repeat no memory may be written
    return out


def t(x: Any) -> Any:
    """The transpose of a matrix."""
    return x.T


def transpose(x: Any, dim0: int, dim1: int) -> Any:
    """Two dimensions swapped."""
    return x.swapaxes(dim0, dim1) if x.ndim else x[...]


def permute_to(x: Any, dims: _Shape) -> Any:
    """Dimensions in the order ``dims``."""
    return x.transpose(dims)


def unsqueeze(x: Any, dim: int) -> Any:
    """A size-1 dimension put in at ``dim``."""
    at = dim if dim >= 0 else dim + x.ndim + 1
    return x[(_slice(None),) * at + (None,)]


def squeeze_all(x: Any) -> Any:
    """All size-1 dimensions dropped."""
    return x.reshape([s for s in x.shape if s != 1])


def squeeze_dim(x: Any, dim: int) -> Any:
    """Dimension ``dim`` dropped if its size is 1."""
    return x.squeeze(dim) if x.ndim and x.shape[dim] == 1 else x[...]


def select(x: Any, dim: int, index: int) -> Any:
    """Entry ``index`` of dimension ``dim``."""
    return x[_at(x.ndim, dim, index)]


def _at(ndim: int, dim: int, item: Any) -> Any:
    return (*(_slice(None),) * (dim % ndim), item, ...)


def slice(x: Any, dim: int, start: int | None, end: int | None, step: int) -> Any:
    """``x[start:end:step]`` along ``dim``."""
    return x[_at(x.ndim, dim, _slice(start, end, step))]


def view_as_real(x: Any) -> Any:
    """Complex numbers as pairs of real ones in a last dimension of size 2."""
    return x[..., None].view(f"f{x.itemsize // 2}")


def view_as_complex(x: Any) -> Any:
    """Pairs of real numbers, side by side in the last dimension, as complex ones."""
    return x.view(f"c{2 * x.itemsize}")[..., 0]


def contiguous(x: Any) -> Any:
    """``x``, copied if its elements do not lie in order."""
    return array_module(x).ascontiguousarray(x)


# ----- their transposes, indexing -----


def sum_to(g: Any, shape: _Shape) -> Any:
    """``g`` summed down to ``shape``, from which it was broadcast."""
    if g.shape == shape:
        return g
    lead = g.ndim - len(shape)
    if lead == 1 and type(g) is _ndarray and g.shape[1:] == shape and len(shape) == 1 and g.dtype.char in "fd":
        ones = _ones_rows.get((len(g), g.dtype)) or _ones_row(len(g), g.dtype)
        if ones is not None:  # the gradient of a bias: a product costs a third of a small reduction
            return ones[0].dot(g)
    if lead:
        g = total(g, tuple(range(lead)))
    if g.shape != shape:
        ones = tuple(i for i, (n, s) in enumerate(zip(g.shape, shape, strict=True)) if s == 1 != n)
        g = total(g, ones, keepdims=True)
    return g


def _ones_row(n: int, dtype: Any) -> Any:
    """``n`` ones, in a tuple, to be kept; ``None`` for many, where a reduction is as good."""
    if n > _MOST_ONES:
        return None
    made = _ones_rows[n, dtype] = (np.ones(n, dtype),)
    return made


_MOST_ONES = 1024
_ones_rows: dict[tuple[int, Any], Any] = {}


def select_backward(g: Any, shape: _Shape, dim: int, index: int) -> Any:
    """Zeros of ``shape`` with ``g`` at ``index`` of ``dim``."""
    out = array_module(g).zeros(shape, g.dtype)
    out[_at(len(shape), dim, index)] = g
    return out


def slice_backward(g: Any, shape: _Shape, dim: int, start: int | None, end: int | None, step: int) -> Any:
    """Zeros of ``shape`` with ``g`` in the slice."""
    out = array_module(g).zeros(shape, g.dtype)
    out[_at(len(shape), dim, _slice(start, end, step))] = g
    return out


def index(x: Any, indices: Any) -> Any:
    """``x[indices]`` by integer or bool arrays: a copy."""
    return x[tuple(indices)]  # refused where they have been freed


def index_backward(g: Any, shape: _Shape, indices: Any) -> Any:
    """Zeros of ``shape`` with ``g`` added at ``indices``, repeats included."""
    out = array_module(g).zeros(shape, g.dtype)
    _add_at(out, tuple(indices), g)
    return out


def _add_at(out: Any, at: Any, g: Any) -> None:
    """Add ``g`` at the indices ``at`` of ``out``, repeats included."""
    first: Any = at[0] if len(at) == 1 else None
    on_host = type(g) is type(out) is type(first) is np.ndarray
    if on_host and out.ndim > 1 and g.ndim and g.size >= _ROWS and _names_rows(first, out, g):
        _add_rows(out.reshape(len(out), -1), first.reshape(-1), g.reshape(first.size, -1))
    else:
        add_at(out, at, g)


def _names_rows(index: Any, out: Any, g: Any) -> bool:
    return index.dtype.kind in "iu" and g.shape == index.shape + out.shape[1:] and _inside(index, len(out))


def _inside(index: Any, n: int) -> bool:
    return bool(-n <= index.min() and index.max() < n)


_ROWS = 500
"""Elements from which it pays to sort rows before they are added: ``np.add.at`` adds them element by element."""


def _add_rows(out: Any, index: Any, g: Any) -> None:
    """Add rows ``g`` to those of ``out`` at ``index``: the sum of all that go to the same one at once."""
    if out.dtype.char == "e":
        wide = out.astype(np.float32)
        _add_rows(wide, index, g.astype(np.float32))
        out[...] = wide
        return
    index = index.astype(np.int64)
    index[index < 0] += len(out)
    width = out.shape[1]
    if width < _NARROW:
        add_at(out.reshape(-1), (index[:, None] * width + np.arange(width)).reshape(-1), g.reshape(-1))
        return
    order = index.argsort(kind="stable")
    index = index[order]
    starts = np.flatnonzero(np.diff(index, prepend=-1))
    if len(starts) == len(index):
        out[index] += g[order]
    elif len(starts) <= _FEW:
        for start, end in zip(starts, [*starts[1:], len(index)], strict=True):
            out[index[start]] += g[order[start:end]].sum(0)
    else:
        out[index[starts]] += np.add.reduceat(g[order], starts, 0)


_FEW = 16
"""Rows of the result up to which a sum for each is faster than all by ``reduceat``."""
_NARROW = 32
"""Width of rows below which they are added element by element in one dimension, for which NumPy has a fast loop."""


def index_put(x: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """A copy of ``x`` with ``values`` at ``indices``, or added there, as often as a place is named."""
    out = x.copy()
    if accumulate:
        _add_at(out, tuple(indices), values)
    elif type(out) is not np.ndarray and (mask := one_mask(x, indices, values)) is not None:
        array_module(out).copyto(
            out, values, where=mask
        )  # CuPy's assignment by a mask reads on the host how much it picks
    else:
        out[indices] = values
    return out


def one_mask(x: Any, indices: Any, values: Any) -> Any:
    """The mask that is all there is to ``indices`` but slices, as it broadcasts to ``x``, where one of ``values`` is for all."""
    masks = [(dim, k) for dim, k in enumerate(indices) if not isinstance(k, _slice)]
    if getattr(values, "ndim", 0) or len(masks) != 1 or masks[0][1].dtype.kind != "b":
        return None
    dim, mask = masks[0]
    return mask.reshape(*mask.shape, *(1,) * (x.ndim - dim - mask.ndim))


def gather(x: Any, dim: int, index: Any) -> Any:
    """``x[i][index[i][j]]`` along ``dim``; a 0-d ``x`` counts as a vector, and an empty ``index`` may have any shape."""
    if not index.size:
        return array_module(x).empty(index.shape, x.dtype)
    if x.ndim < 2:
        return x.reshape(-1)[index]
    return np.take_along_axis(_head(x, dim, index), index, dim)


def _head(x: Any, dim: int, index: Any) -> Any:
    return x[tuple(_slice(None) if d == dim % x.ndim else _slice(0, n) for d, n in enumerate(index.shape))]


def gather_backward(g: Any, shape: _Shape, dim: int, index: Any) -> Any:
    """Zeros of ``shape`` with ``g`` added where :func:`gather` read, repeats included."""
    out = array_module(g).zeros(shape, g.dtype)
    if not index.size:
        return out
    if g.dtype.char == "e":  # where small numbers added to large ones are lost
        return gather_backward(g.astype(np.float32), shape, dim, index).astype(g.dtype)
    if len(shape) < 2:
        add_at(out.reshape(-1), (index,), g)
        return out
    grid = list(array_module(g).ogrid[tuple(_slice(0, n) for n in index.shape)])
    grid[dim % len(shape)] = index
    add_at(out, tuple(grid), g)
    return out

"""``x[...]`` and ``x[...] = ...``: views for integers, slices and ``None``; copies where tensors or lists index."""

from __future__ import annotations

import operator
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors, events, foreign, overrides
from ..backends import on_host
from ..device import beside, same_place
from ..dtype import scalar_type
from ..errors import raise_if
from ..grad_mode import mode
from ..inside import check_write
from ..scalars import check_fits, written
from ..several import at_home
from ..sites import user_stacklevel
from ..tensor import Tensor, check_inplace, wrap
from . import _generated as g
from .elementwise import copy, fill
from .explain import expand_error, index_error, shape_error
from .inplace import check_written, inplace
from .kernels_shape import one_mask
from .mixed_devices import refuse_mixed
from .shape import one_dim


def getitem(self: Tensor, key: Any) -> Tensor:
    """``x[key]``: integers select, slices slice, ``None`` adds a dimension (all views); tensors and lists index (a copy)."""
    asked = overrides.asked_by(self, key if isinstance(key, tuple) else (key,)) if overrides.seen else ()
    if asked:
        return overrides.dispatch(getitem, asked, (self, key), {})
    if isinstance(key, int) and not isinstance(key, bool):
        return _select_item(self, 0, key)
    if isinstance(key, slice):
        return _sliced(self, 0, key)
    out, arrays = _basic(self, _items(key))
    if arrays:
        at = _key(out, arrays)
        try:
            return g.index(out, at)
        except IndexError as error:
            at = _nearer(error, out, at)
        return g.index(out, at)
    return g.alias(self) if out is self else out


def setitem(self: Tensor, key: Any, value: Any) -> None:
    """``x[key] = value``: written in place through the view, or by ``index_put_`` where tensors index."""
    asked = overrides.asked_by(self, (key, value)) if overrides.seen else ()
    if asked:
        return overrides.dispatch(setitem, asked, (self, key, value), {})
    if not isinstance(value, Tensor | int | float | complex | np.generic):
        raise TypeError(
            f"can't assign a {_type_name(value)} to a torch.{scalar_type(self.dtype)}Tensor{foreign.hint(value)}"
        )
    if isinstance(value, complex):  # the only numbers that may not fit: before anything is said of the key
        written(value, self._a.dtype)
    if key is False:  # what is not one element of the tensor: PyTorch does not even look at the sizes
        _as_tensor(value, self)
        return None
    items = _items(key)
    target, arrays = (g.unsqueeze(self, 0), {}) if key is True else _basic(self, items)
    whole = isinstance(value, Tensor) and (value.ndim or not target.ndim)
    if not arrays and events.special & events.TRANSFORM:
        check_write(target, "copy_" if whole or not target.ndim else "fill_", ())
    if arrays:
        if isinstance(value, Tensor) and value.ndim and value.shape[0] == 1:
            value = g.view(value, _without_ones(value.shape))
        _put(target, arrays, value, of_bytes=_is_of_bytes(items))
    elif isinstance(value, Tensor) and whole:
        inplace(target, "copy_", copy, (_expanded(value, target.shape),))
    else:
        check_inplace(target, (value,))  # fill_ with a number would let repeated memory pass
        inplace(target, "fill_", fill, (_as_tensor(value, target),))


def _as_tensor(value: Any, beside_: Tensor) -> Tensor:
    """A number, or a tensor of no dimensions, as a tensor in the dtype of another: PyTorch makes one of what it assigns."""
    if isinstance(value, Tensor):
        return value
    value = value.item() if isinstance(value, np.generic) else value
    return wrap(beside(np.asarray(written(value, beside_._a.dtype, half=False), beside_._a.dtype), beside_._a))


def _type_name(value: Any) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _expanded(value: Tensor, shape: tuple[int, ...]) -> Tensor:
    """``value`` in ``shape``; it may have more leading dimensions of size 1."""
    if value.shape == shape:
        return value
    sizes = _without_ones(value.shape)
    raise_if(expand_error(value.dtype, sizes, shape))
    return g.expand(g.view(value, sizes), shape)


def _without_ones(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """``sizes`` without leading ones: PyTorch drops them all from what is assigned, which also shows in its errors."""
    kept = next((d for d, n in enumerate(sizes) if n != 1), len(sizes))
    return sizes[kept:]


def _put(x: Tensor, arrays: dict[int, Any], value: Any, accumulate: bool = False, of_bytes: bool = False) -> None:
    """Write ``value`` to ``x`` where ``arrays``, by dimension, say. PyTorch looks last whether masks and the value fit."""
    try:
        key = _key(x, arrays, len(arrays) == 1 and not accumulate and _is_one(value, x))
        fitted = _fitting(x, key, value, accumulate)
        if of_bytes and not accumulate:
            _not_one_by_bytes(value)
    except (IndexError, RuntimeError) as error:
        check_written(x, "index_put_", (tuple(arrays.values()), value, accumulate))
        raise index_error(error) or error from None
    _where_it_is(lambda key: inplace(x, "index_put_", g.index_put, (key, fitted, accumulate)), x, key)


def _is_of_bytes(items: Any) -> bool:
    """Whether among the ``items`` of a key one mask of bytes is all that indexes by elements."""
    tensors = [i for i in items if not isinstance(i, int | slice | np.integer) and i is not None and i is not Ellipsis]
    return len(tensors) == 1 and getattr(tensors[0], "dtype", None) == np.uint8 and bool(tensors[0].ndim)


def _not_one_by_bytes(value: Any) -> None:
    """Refuse one element of the CPU where a mask of bytes picks: PyTorch's ``masked_fill_``, which takes bools alone."""
    if not isinstance(value, Tensor) or (value._a.size == 1 and on_host(value._a)):
        raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype unsigned char")


def _is_one(value: Any, x: Tensor) -> bool:
    """Whether ``value`` is one for all elements of ``x`` that it is put to."""
    return not isinstance(value, Tensor) or (value._a.size == 1 and (on_host(value._a) or value.dtype == x.dtype))


def _where_it_is(indexed: Callable[[Any], Tensor], x: Tensor, key: tuple[Any, ...]) -> Tensor:
    """``indexed(key)``, which reads or writes ``x[key]``; PyTorch's errors for what lies outside."""
    try:
        return indexed(key)
    except IndexError as error:
        nearer = _nearer(error, x, key)
    return indexed(nearer)


def _nearer(error: IndexError, x: Tensor, key: tuple[Any, ...]) -> tuple[Any, ...]:
    """A key within bounds in place of ``key``, which led to ``error``: where ``x[key]`` has no elements, nobody looks at indices.

    Raises PyTorch's error elsewhere.
    """
    try:
        nothing = 0 in _room(x._a, key)
    except IndexError:  # the indices do not fit each other
        raise _by_index_tensor(error, key) from None
    dim = 0
    for k in key:
        width = 1 if isinstance(k, slice) else _width(k)
        if not isinstance(k, slice) and 0 in x._a.shape[dim : dim + width]:
            raise shape_error("index is out of bounds for dimension with size 0", IndexError)
        dim += width
    if not nothing:
        raise _by_index_tensor(error, key) from None
    return tuple(k if isinstance(k, slice) or k.dtype.kind == "b" else k * 0 for k in key)


def _by_index_tensor(error: IndexError, key: tuple[Any, ...]) -> Exception:
    """``error`` of indexing with ``key``: where an index is out of bounds, PyTorch counts the index tensors, not the dimensions."""
    found = re.fullmatch(r"(index -?\d+ is out of bounds for) \w+ (\d+) (with size \d+)", str(error))
    if found is None:
        return index_error(error) or error
    number, left = 0, int(found[2])
    for k in key:
        width = 1 if isinstance(k, slice) else _width(k)
        if left < width:
            break
        left -= width
        number += 0 if isinstance(k, slice) else width
    return shape_error(f"{found[1]} dimension {number + left} {found[3]}", IndexError)


@at_home
def _fitting(x: Tensor, key: tuple[Any, ...], value: Any, accumulate: bool = False) -> Any:
    """``value`` as it can be put into ``x[key]``; PyTorch's errors where it cannot."""
    if isinstance(value, Tensor):
        same = value.dtype == x.dtype and on_host(x._a)
        if not same and not accumulate and on_host(value._a) and _fills(key, value):
            raise_if(check_fits(value._a.item(), x.dtype))
            return value.reshape(()).to(x.dtype).to(x.device)
        if not on_host(x._a) and value.dtype == x.dtype and one_mask(x._a, key, value._a) is not None:
            return value.to(x.device) if on_host(value._a) else value  # without asking how much the mask picks
        room = _room(x._a, key)
        if expand_error(value.dtype, value.shape, room) is not None:
            raise shape_error(
                f"shape mismatch: value tensor of shape {list(value.shape)} cannot be broadcast to indexing result of shape "
                f"{list(room)}"
            )
        if value.dtype != x.dtype:
            raise RuntimeError(
                "Index put requires the source and destination dtypes match, got "
                f"{scalar_type(x.dtype)} for the destination and {scalar_type(value.dtype)} for the source."
            )
        number = not value.ndim and on_host(value._a) and not on_host(x._a)
        return value.to(x.device) if number else value
    return x.dtype.type(written(value, x.dtype, half=False)).item()


def _room(x: Any, key: tuple[Any, ...]) -> tuple[int, ...]:
    """The shape of ``x[key]``, whether or not the indices are within bounds: PyTorch looks at that when it writes."""
    picked = [d for d, k in enumerate(key) if not isinstance(k, slice)]
    if not picked:
        return x[key].shape
    shapes = [(int(key[d].sum()),) if key[d].dtype.kind == "b" else key[d].shape for d in picked]
    try:
        joined = np.broadcast_shapes(*shapes)
    except ValueError:  # they have no common shape, which NumPy says better
        return x[key].shape
    sizes: list[int] = []
    dim = 0
    for k in key:
        sizes += x.shape[dim : dim + 1] if isinstance(k, slice) else ()
        dim += 1 if isinstance(k, slice) else _width(k)
    first, last = picked[0], picked[-1]
    front = first if last - first + 1 == len(picked) else 0  # where NumPy puts what several arrays apart pick
    return (*sizes[:front], *joined, *sizes[front:], *x.shape[dim:])


def _fills(key: tuple[Any, ...], value: Tensor) -> bool:
    """Whether this is ``masked_fill_``, which takes any dtype: one element for all that one mask picks."""
    masks = [k for k in key if not isinstance(k, slice)]
    return value._a.size == 1 and len(masks) == 1 and masks[0].dtype.kind == "b"


def index_put(self: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy of ``self`` with ``values`` at a sequence of index tensors, or added there with ``accumulate``."""
    _check_put("index_put", self, indices, values)
    key = _key(self, _by_dimension(self, indices))
    try:
        fitted = _fitting(self, key, values, accumulate)
        if not accumulate and _is_of_bytes(indices):
            _not_one_by_bytes(values)
    except IndexError as error:
        raise _by_index_tensor(error, key) from None
    return _where_it_is(lambda key: g.index_put(self, key, fitted, accumulate), self, key)


def index_put_(self: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """:func:`index_put` in place."""
    asked = overrides.asked_by(self, (indices, values)) if overrides.seen else ()
    if asked:
        return overrides.dispatch(index_put_, asked, (self, indices, values, accumulate), {})
    _check_put("index_put_", self, indices, values)
    _put(self, _by_dimension(self, indices), values, accumulate, _is_of_bytes(indices))
    return self


def _check_put(op: str, x: Tensor, indices: Any, values: Any) -> None:
    """Refuse what no op that puts by index tensors takes."""
    if not isinstance(indices, tuple | list):
        raise TypeError(
            f"{op}(): argument 'indices' (position 1) must be tuple of Tensors, not {type(indices).__name__}"
        )
    for i, index in enumerate(indices):
        if not isinstance(index, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {errors.class_name(index)}")
    if not isinstance(values, Tensor):
        raise TypeError(f"{op}(): argument 'values' (position 2) must be Tensor, not {foreign.described(values)}")
    if len(indices) > x.ndim:
        raise shape_error(f"too many indices for tensor of dimension {x.ndim} (got {len(indices)})", IndexError)


def _by_dimension(x: Tensor, indices: Any) -> dict[int, Any]:
    arrays: dict[int, Any] = {}
    dim = 0
    for index in indices:
        array = _index_array(x, index)
        arrays[dim] = array
        dim += _width(array)
    return arrays


def gather(self: Tensor, dim: int, index: Tensor) -> Tensor:
    """``out[i][j] = self[i][index[i][j]]`` along ``dim`` (here the last): elements picked by an integer tensor."""
    refuse_mixed("gather", self=self, index=index)
    dim = one_dim(self, dim)
    if index._a.size == 0:
        return g.gather(self, dim, index)
    if index._a.dtype.char not in "liq":
        raise RuntimeError("gather(): Expected dtype int32/int64 for index")
    if max(index.ndim, 1) != max(self.ndim, 1):
        raise shape_error("Index tensor must have the same number of dimensions as input tensor")
    for d, (n, size) in enumerate(zip(index.shape, self.shape, strict=False)):
        if d != dim and n > size:
            raise shape_error(
                f"Size does not match at dimension {d} expected index {list(index.shape)} to be no larger than self "
                f"{list(self.shape)} apart from dimension {dim}"
            )
    lowest = int(index._a.min()) if on_host(index._a) else 0  # else PyTorch does not look either
    if lowest < 0:
        size = self.shape[dim] if self.ndim else 1
        raise shape_error(f"index {lowest} is out of bounds for dimension {dim} with size {size}")
    try:
        return g.gather(self, dim, index)
    except IndexError as error:
        raise shape_error(str(error)) from None


# ----- taking a key apart -----


def _items(key: Any) -> tuple[Any, ...]:
    """The items of a key, which may be one: sequences with something else than numbers are tuples, unless they are long."""
    if isinstance(key, tuple):
        return key
    if isinstance(key, Tensor | np.ndarray) or not _is_sequence(key) or len(key) >= _LONG:
        return (key,)
    items = tuple(key[i] for i in range(len(key)))
    if not any(i is None or i is Ellipsis or isinstance(i, slice) or _is_sequence(i) for i in items):
        return (key,)
    warnings.warn(_NO_TUPLE, UserWarning, stacklevel=user_stacklevel())
    return items


_LONG = 32
_NO_TUPLE = (
    "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch 2.9; use "
    "x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, x[torch.tensor(seq)], which will "
    "result either in an error or a different result"
)


def _is_sequence(x: Any) -> bool:
    return hasattr(type(x), "__getitem__") and not isinstance(x, dict | np.generic) and not foreign.is_pytorchs(type(x))


def _basic(x: Tensor, key: tuple[Any, ...]) -> tuple[Tensor, dict[int, Any]]:
    """Apply integers, slices, ``None`` and ``...``; return the view and the index arrays by its dimensions."""
    out, dim = x, 0
    arrays: dict[int, Any] = {}
    items = _expand_ellipsis(x, key)
    for at, item in enumerate(items):
        if item is None:
            out = g.unsqueeze(out, dim)
        elif isinstance(item, slice):
            out = _sliced(out, dim, item, among_others=True)
        elif hasattr(item, "__index__") and not isinstance(item, bool | Tensor | np.ndarray | np.bool_):
            if foreign.is_pytorchs(type(item)):  # it has that whatever its elements
                raise _no_index(item)
            out = _select_item(out, dim, operator.index(item), _place(key, items, at))
            continue
        else:
            array = _index_array(out, item)
            if array.ndim == 0:
                if array.dtype.kind != "b":
                    array = (
                        item._a if isinstance(item, Tensor) else array
                    )  # on the CPU it need not be read from the device
                    out = _select_item(out, dim, int(array), _place(key, items, at))
                    continue
                out = g.unsqueeze(out, dim)  # True and False pick all or nothing of a new dimension
                array = _beside(array.reshape(1).nonzero()[0], out)
            arrays[dim] = array
            dim += _width(array) - 1
        dim += 1
    return out, arrays


def _key(x: Tensor, arrays: dict[int, Any], filled: bool = False) -> tuple[Any, ...]:
    """The index arrays as NumPy wants them, with slices for the dimensions between.

    A mask of the host for a tensor on a device goes there as the indices that it picks, so that nobody has to ask the device how
    many these are; or as it is, where it is ``filled`` with one value. Beside other index arrays those on the device do, too: CuPy
    does not put values by several masks.
    """
    key: list[Any] = []
    dim = 0
    while dim <= max(arrays):
        array = arrays.get(dim, slice(None))
        if dim in arrays and array.dtype.kind == "b":
            _check_mask(array, x, dim)
            picks = not on_host(x._a) and (len(arrays) > 1 or (on_host(array) and not filled))
            key += [_beside(part, x) for part in (_picked(array) if picks else (array,))]
        else:
            key.append(array)
        dim += _width(array) if dim in arrays else 1
    return tuple(key)


@at_home
def _picked(mask: Any) -> Any:
    return mask.nonzero()


def _width(array: Any) -> int:
    """How many dimensions an index array stands for."""
    return array.ndim if array.dtype.kind == "b" else 1


def _expand_ellipsis(x: Tensor, key: tuple[Any, ...]) -> list[Any]:
    used = sum(_consumes(k) for k in key)
    if used > x.ndim:
        raise _too_many(x, key)
    items: list[Any] = []
    for k in key:
        items += [slice(None)] * (x.ndim - used) if k is Ellipsis else [k]
        used += x.ndim - used if k is Ellipsis else 0
    return items


def _too_many(x: Tensor, key: tuple[Any, ...]) -> Exception:
    text = f"too many indices for tensor of dimension {x.ndim}"
    if x.ndim == 0 and len(key) == 1:
        if isinstance(key[0], slice):
            text = "slice() cannot be applied to a 0-dim tensor."
        elif isinstance(key[0], int | np.integer) and key[0]:
            text = f"index {key[0]} is out of bounds for dimension 0 with size 0"
        elif isinstance(key[0], int | np.integer):
            text = (
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
                "0-dim tensor to a number"
            )
    return shape_error(text, IndexError)


def _consumes(k: Any) -> int:
    if k is None or k is Ellipsis or isinstance(k, bool):
        return 0
    if isinstance(k, Tensor | np.ndarray) and k.dtype.kind == "b":
        return k.ndim
    return 1


def _place(key: tuple[Any, ...], items: list[Any], at: int) -> int:
    """Where ``items[at]`` stands in ``key``, in which ``...`` is one item: PyTorch's number of its dimension in errors."""
    ellipsis = next((i for i, k in enumerate(key) if k is Ellipsis), len(key))
    return at if at < ellipsis else at - len(items) + len(key)


def _select_item(x: Tensor, dim: int, index: int, place: int = 0) -> Tensor:
    if x.ndim == 0:
        _expand_ellipsis(x, (index,))
    size = x.shape[dim]
    if not -size <= index < size:
        raise shape_error(f"index {index} is out of bounds for dimension {place} with size {size}", IndexError)
    return g.select(x, dim, index)


def _sliced(x: Tensor, dim: int, item: slice, among_others: bool = False) -> Tensor:
    """A slice of ``x``; ``x`` itself where it visibly takes all, unless it is the whole key."""
    if x.ndim == 0:
        _expand_ellipsis(x, (item,))
    first = item.start.__index__() if isinstance(item.start, Tensor) else item.start
    start, stop, step = slice(first, item.stop, item.step).indices(x.shape[dim])
    if step <= 0:
        raise ValueError("step must be greater than zero")
    if among_others and first in (None, 0) and (start, stop, step) == (0, x.shape[dim], 1):
        return x
    return g.slice(x, dim, start, max(start, stop), step)


def _beside(array: Any, x: Tensor) -> Any:
    return beside(array, x._a) if on_host(array) else array


def _may_mask(array: Any) -> bool:
    return array.dtype in (np.bool_, np.uint8)


def _no_index(item: Any) -> IndexError:
    return IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
        f"{_type_name(item)}{foreign.hint(item)})"
    )


def _index_array(x: Tensor, item: Any) -> Any:
    """An index as an integer array of the library of ``x``, or a bool one there or on the host; bytes are masks."""
    if isinstance(item, Tensor):
        if item.is_inference() and x._rg and mode.grad:
            _ = item._storage.version  # type: ignore[union-attr]  # refuses: it would be kept for backward
        if not on_host(item._a) and not same_place(item._a, x._a):
            place = x.device
            raise RuntimeError(f"indices should be either on cpu or on the same device as the indexed tensor ({place})")
        array = item._a if _may_mask(item._a) else _beside(item._a, x)
    else:
        if isinstance(item, str | bytes):
            raise TypeError(f"new(): invalid data type '{type(item).__name__}'")
        if not isinstance(item, bool | np.ndarray) and not _is_sequence(item):
            raise _no_index(item)
        array = item if isinstance(item, np.ndarray) else _of_numbers(item)
        if array.dtype.kind == "f":
            array = array.astype(np.int64)
        array = array if _may_mask(array) else _beside(array, x)
    if array.dtype not in (np.int64, np.int32, np.uint8, np.bool_):
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    if array.dtype != np.uint8:
        return array
    warnings.warn(_BYTES, UserWarning, stacklevel=user_stacklevel())
    return array.astype(bool)


_BYTES = "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead."


def _of_numbers(item: Any) -> Any:
    """A sequence (of sequences) of numbers as an array of bools or else of integers; PyTorch's errors for what is none."""
    from ..creation import tensor

    item = _listed(item)
    found = tensor(item, device="cpu")  # the index of a tensor anywhere
    return (found if found.dtype.kind == "b" else tensor(item, dtype=np.dtype(np.int64), device="cpu"))._a


def _listed(item: Any) -> Any:
    """Sequences as lists, and tensors as they are, those of one element as that."""
    if isinstance(item, Tensor) and item._a.size == 1:
        return item._a.item()
    if isinstance(item, Tensor | np.ndarray | str | bytes) or not _is_sequence(item):
        return item
    return [_listed(item[i]) for i in range(len(item))]


def _check_mask(mask: Any, x: Tensor, dim: int) -> None:
    have = x.shape[dim : dim + mask.ndim]
    for i, (m, n) in enumerate(zip(mask.shape, have, strict=True)):
        if m != n:
            raise shape_error(
                f"The shape of the mask {list(mask.shape)} at index {i} does not match the shape of the indexed tensor "
                f"{list(x.shape)} at index {dim + i}",
                IndexError,
            )

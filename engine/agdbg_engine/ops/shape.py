"""Reshaping as users write it, on the view ops of the table."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..errors import raise_if
from ..memory_format import order
from ..several import at_home
from ..signatures import refusal
from ..tensor import Tensor
from ..view import lost_history
from . import _generated as g
from .explain import expand_error, shape_error

Dims = int | tuple[int, ...] | list[int] | None
Sizes = tuple[int, ...]


def one_dim(x: Tensor, dim: int) -> int:
    """``dim`` made non-negative; :class:`IndexError` when ``x`` has no such dimension (a 0-d tensor counts as 1-d)."""
    n = len(x._a.shape) or 1
    try:
        if 0 <= dim < n:
            return dim
        if -n <= dim < 0:
            return dim + n
    except TypeError:
        raise TypeError(f"argument 'dim' must be int, not {type(dim).__name__}") from None
    raise lost_history((x,)) or _out_of_range(n, dim)


def _out_of_range(n: int, dim: int) -> Exception:
    return shape_error(
        f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})", IndexError
    )


def some_dims(x: Tensor, dim: Dims | Tensor) -> Any:
    """``dim`` or dimensions checked and made non-negative; ``()`` for all, and for a 0-d tensor."""
    if isinstance(dim, int):
        dim = one_dim(x, dim)
        return dim if x._a.shape else ()
    if isinstance(dim, Tensor | np.integer):
        return some_dims(x, operator.index(dim))
    dims = tuple(one_dim(x, d) for d in dim or ())
    for i, d in enumerate(dims):
        if d in dims[:i]:
            raise shape_error(f"dim {d} appears multiple times in the list of dims")
    return dims if x._a.shape else ()


def sizes(op: str, shape: tuple[Any, ...]) -> Sizes:
    """Sizes given one by one or as one sequence."""
    if len(shape) == 1 and isinstance(shape[0], tuple | list):
        shape = tuple(shape[0])
    try:
        return tuple(s if type(s) is int else s.__index__() for s in shape)
    except AttributeError:
        raise (refusal(f"Tensor.{op}", shape, {}) or TypeError(f"{op}(): sizes must be ints, not {shape}")) from None


def _resolve(x: Tensor, shape: Sizes) -> Sizes:
    """``shape`` with its -1 worked out; PyTorch's errors for sizes that do not fit."""
    n = x._a.size
    if -1 in shape:
        known = math.prod(s for s in shape if s != -1)
        if shape.count(-1) > 1:
            raise shape_error("only one dimension can be inferred")
        if known == 0 and n == 0:
            raise shape_error(
                f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension size -1 can "
                "be any value and is ambiguous"
            )
        if known <= 0 or n % known:
            raise lost_history((x,)) or _no_such_shape(shape, n)
        return tuple(n // known if s == -1 else s for s in shape)
    if math.prod(shape) != n or (shape and min(shape) < 0):
        raise lost_history((x,)) or _no_such_shape(shape, n)
    return shape


def _no_such_shape(shape: Sizes, n: int) -> Exception:
    for i, s in enumerate(shape):
        if s < -1:
            return shape_error(f"invalid shape dimension {s} at index {i} of shape {list(shape)}")
    return shape_error(f"shape '{list(shape)}' is invalid for input of size {n}")


def view(self: Tensor, *shape: Any, size: Any = None, dtype: Any = None) -> Tensor:
    """The same elements in another shape without copying, or their bytes in another dtype; an error where that is impossible."""
    if dtype is not None:
        if shape or size is not None or not isinstance(dtype, np.dtype | type):
            raise TypeError(f"view(): dtype= takes a dtype and stands alone, got {(*shape, dtype)}")
        shape = (dtype,)
    try:
        wanted = sizes("view", shape if size is None else (size,))
    except TypeError:
        if len(shape) != 1 or not isinstance(shape[0], np.dtype | type):
            raise
        from .wide.shapes.bytes import view_as_dtype

        return view_as_dtype(self, np.dtype(shape[0]))
    return g.view(self, _resolve(self, wanted))


def view_as(self: Tensor, other: Tensor) -> Tensor:
    """:func:`view` in the shape of ``other``."""
    return view(self, other._a.shape)


def reshape(self: Tensor, *sizes_: Any, shape: Any = None) -> Tensor:
    """The same elements in another shape: a view where possible, else a copy."""
    wanted = _resolve(self, sizes("reshape", sizes_ if shape is None else (shape,)))
    if self._a.flags.c_contiguous:
        return g.view(self, wanted)
    if _viewable(self._a, wanted):
        return g.reshape_alias(self, wanted)
    return g.unsafe_view(g.clone(self, "C"), wanted)


@at_home
def _viewable(array: Any, shape: Sizes) -> bool:
    """Whether an array that is not row-major can be seen in ``shape`` without copying."""
    if isinstance(array, np.ndarray):
        try:
            np.reshape(array, shape, copy=False)
        except ValueError:
            return False
        return True
    return bool(array.reshape(shape).base is not None)


def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """This tensor if its elements lie in order, else a copy for which they do."""
    return self if self.is_contiguous() else g.clone(self, "C")


def clone(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy, laid out like the tensor or, in ``contiguous_format``, row by row."""
    return g.clone(self) if memory_format is None else g.clone(self, order(memory_format))


def flatten(self: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Dimensions ``start_dim`` to ``end_dim`` made one."""
    first, last = one_dim(self, start_dim), one_dim(self, end_dim)
    if self.ndim == 0:
        return reshape(self, (1,))
    if first > last:
        raise shape_error("flatten() has invalid args: start_dim cannot come after end_dim")
    if first == last:
        return self
    merged = math.prod(self.shape[first : last + 1])
    return reshape(self, (*self.shape[:first], merged, *self.shape[last + 1 :]))


def expand(self: Tensor, *shape: Any) -> Tensor:
    """Broadcast to ``shape`` without copying; -1 keeps a size."""
    wanted = sizes("expand", shape)
    raise_if(expand_error(self.dtype, self.shape, wanted))
    lead = len(wanted) - self.ndim
    return g.expand(self, tuple(self.shape[i - lead] if s == -1 else s for i, s in enumerate(wanted)))


def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """:func:`expand` to the shape of ``other``."""
    return expand(self, other._a.shape)


def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Summed down to ``size``, from which it could be broadcast."""
    from .graph import sum_to

    wanted = sizes("sum_to_size", size)
    lead = self.ndim - len(wanted)
    if lead < 0 or any(s not in (1, have) for s, have in zip(wanted, self.shape[lead:], strict=True)):
        raise shape_error(f"size {{{list(wanted)}}} is not expandable to size {{{list(self.shape)}}}.")
    if self.ndim == 0:
        return g.sum_all(self)
    return sum_to(self, wanted)


# ----- order of dimensions -----


def permute(self: Tensor, *dims: Any) -> Tensor:
    """Dimensions in another order."""
    if not dims:
        raise TypeError('permute() missing 1 required positional arguments: "dims"')
    given = sizes("permute", dims)
    if len(given) != self.ndim:
        raise shape_error(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering "
            f"of dimensions i.e. input.dim() = {self.ndim} is not equal to len(dims) = {len(given)}"
        )
    order = tuple(one_dim(self, d) for d in given)
    if len(set(order)) != len(order):
        raise shape_error("permute(): duplicate dims are not allowed.")
    return g.permute_to(self, order)


def transpose(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions swapped."""
    try:
        a, b = one_dim(self, dim0), one_dim(self, dim1)
    except TypeError as error:
        raise (refusal("Tensor.transpose", (dim0, dim1), {}) or error) from None
    return g.transpose(self, a, b)


def t(self: Tensor) -> Tensor:
    """The transpose of a matrix (vectors and 0-d tensors as they are)."""
    if self.ndim > 2:
        raise shape_error(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return g.t(self)


def matrix_transpose(self: Tensor) -> Tensor:
    """``x.mT``: the last two dimensions swapped; a 0-d tensor as it is."""
    if self.ndim == 0:
        return self
    if self.ndim < 2:
        raise shape_error(f"tensor.mT is only supported on matrices or batches of matrices. Got {self.ndim}-D tensor.")
    return g.transpose(self, self.ndim - 2, self.ndim - 1)


# ----- dimensions of size 1 -----


def unsqueeze(self: Tensor, dim: int) -> Tensor:
    """A size-1 dimension put in at ``dim``."""
    n = self.ndim + 1
    if not -n <= dim < n:
        raise _out_of_range(n, dim)
    return g.unsqueeze(self, dim)


def squeeze(self: Tensor, dim: Dims = None) -> Tensor:
    """Size-1 dimensions dropped: all, or those of ``dim`` that are."""
    if dim is None:
        return g.squeeze_all(self)
    if isinstance(dim, int):
        return g.squeeze_dim(self, one_dim(self, dim))
    from .wide.shapes.reshaping import squeeze_some

    return squeeze_some(self, some_dims(self, dim) if dim else ())


# ----- pieces -----


def select(self: Tensor, dim: int, index: int) -> Tensor:
    """Entry ``index`` of dimension ``dim``."""
    sizes = self._a.shape
    if not sizes:
        raise shape_error("select() cannot be applied to a 0-dim tensor.", IndexError)
    dim = one_dim(self, dim)
    size = sizes[dim]
    if not -size <= index < size:
        raise shape_error(
            f"select(): index {index} out of range for tensor of size {list(self.shape)} at dimension {dim}", IndexError
        )
    return g.select(self, dim, index)


def narrow(self: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """``length`` entries from ``start`` along ``dim``."""
    if isinstance(start, Tensor):
        if start.ndim or start.dtype.kind not in "iu":
            raise shape_error("start must be an 0-dim integral Tensor.")
        start = int(start.item())
    if self.ndim == 0:
        raise shape_error("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise shape_error("narrow(): length must be non-negative.")
    dim = one_dim(self, dim)
    n = self.shape[dim]
    if not -n <= start <= n:
        raise shape_error(f"start out of range (expected to be in range of [{-n}, {n}], but got {start})", IndexError)
    start += n if start < 0 else 0
    if start + length > n:
        raise shape_error(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return g.slice(self, dim, start, start + length)

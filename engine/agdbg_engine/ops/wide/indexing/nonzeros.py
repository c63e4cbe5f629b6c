"""Where the elements are that are not zero, and indices made of other ones: all without a gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....backends import on_host
from ....device import array_module
from ....several import at_home
from ....tensor import Tensor, wrap
from ...compare import no_gradient
from ...explain import shape_error
from ..declare import public
from .mask_places import places
from .reading import seen


@at_home
def found(x: Tensor) -> tuple[Any, ...]:
    """For every dimension the indices of the elements that are not zero; a number counts as a vector."""
    no_gradient((x,))
    return tuple((x._a if x.ndim else x._a.reshape(1)).nonzero())


@public("torch Tensor", out=True)
@at_home
def nonzero(self: Tensor, *, as_tuple: bool = False) -> Any:
    """The indices of the elements that are not zero: (number, dimensions), or a tuple of vectors, one for each dimension."""
    places = found(self)
    if as_tuple:
        return tuple(wrap(p) for p in places)
    return wrap(np.stack(places, 1) if self.ndim else places[0].reshape(-1, 1)[:, :0].copy())


@public("torch Tensor")
def argwhere(self: Tensor) -> Tensor:
    """The indices of the elements that are not zero: (number, dimensions)."""
    out: Tensor = nonzero(self)
    return out


@public("torch Tensor", out=True)
@at_home
def nonzero_static(self: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The first ``size`` rows of :func:`nonzero`; ``fill_value`` where there are fewer."""
    if size < 0:
        raise shape_error("nonzero_static: 'size' must be an non-negative integer")
    if not on_host(self._a):
        no_gradient((self,))
        return wrap(_static(self._a, size, fill_value))
    rows = nonzero(self)._a[:size]
    full = array_module(rows).full((size, rows.shape[1]), fill_value, np.int64)
    full[: len(rows)] = rows
    return wrap(full)


def _static(x: Any, size: int, fill_value: int) -> Any:
    """The same on a device, which is not asked how many there are."""
    xp = array_module(x)
    out = xp.full((size, x.ndim), fill_value, np.int64)
    if x.size and x.ndim:
        at, there = places(x != 0, size)
        for d in reversed(range(x.ndim)):
            out[:, d] = np.where(there, at % x.shape[d], np.int64(fill_value))
            at = at // x.shape[d]
    return out


@public("torch")
@at_home
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Indices into a flattened array of ``shape`` as one tensor for each dimension."""
    if indices.dtype.kind not in "iu":
        kind = str(indices.dtype)
        raise TypeError(f"expected 'indices' to be integer dtype, but got torch.{kind}")
    if not isinstance(shape, int | Sequence):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    for n in sizes:
        if not isinstance(n, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(n)}")
    if any(n < 0 for n in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    out, step = [], 1
    for n in reversed(sizes):
        out.append(wrap((indices._a.astype(np.int64) // step) % n))
        step *= n
    return tuple(reversed(out))


@public("nn.functional")
@at_home
def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """A 1 at the class of every element, zeros elsewhere, in a last dimension of ``num_classes`` (the largest + 1 for -1)."""
    if tensor.dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    x = tensor._a
    if not x.size:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return wrap(array_module(x).zeros((*x.shape, num_classes), np.int64))
    if seen(x < 0):
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(x.max()) + 1
    elif num_classes < 1 or seen(x >= num_classes):
        raise RuntimeError("Class values must be smaller than num_classes.")
    return wrap((x[..., None] == array_module(x).arange(num_classes)).astype(np.int64))

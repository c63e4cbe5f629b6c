"""Other shapes: dimensions moved, split, added, broadcast."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import errors
from ....tensor import Tensor
from ... import _generated as g
from ...explain import not_a_tensor, shape_error
from ...shape import contiguous, expand, one_dim, permute, reshape, transpose, view
from ...transposes import adjoint
from ..declare import public

Ints = int | tuple[int, ...] | list[int]

# ----- order of dimensions -----


@public("torch Tensor")
def movedim(self: Tensor, source: Ints, destination: Ints) -> Tensor:
    """Dimensions ``source`` moved to ``destination``, the others in their order, as a view."""
    src, dst = _tuple(source), _tuple(destination)
    if len(src) != len(dst):
        raise shape_error(
            f"movedim: Invalid source or destination dims: source ({list(src)} dims) should contain the same number of dims as "
            f"destination ({list(dst)} dims)"
        )
    froms, tos = [one_dim(self, d) for d in src], [one_dim(self, d) for d in dst]
    for name, given, dims in (("source", src, froms), ("destination", dst, tos)):
        if len(set(dims)) != len(dims):
            raise shape_error(f"movedim: repeated dim in `{name}` ({list(given)})")
    if self.ndim == 0:
        return g.alias(self)
    order = [d for d in range(self.ndim) if d not in froms]
    for to, start in sorted(zip(tos, froms, strict=True)):
        order.insert(to, start)
    return permute(self, order)


@public("torch Tensor")
def moveaxis(self: Tensor, source: Ints, destination: Ints) -> Tensor:
    """Another name of :func:`movedim`."""
    return movedim(self, source, destination)


@public("torch Tensor")
def swapdims(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Another name of ``transpose``."""
    return transpose(self, dim0, dim1)


@public("torch Tensor")
def swapaxes(self: Tensor, axis0: int, axis1: int) -> Tensor:
    """Another name of ``transpose``."""
    return transpose(self, axis0, axis1)


def _tuple(value: Any) -> tuple[int, ...]:
    return (value,) if isinstance(value, int) else tuple(value)


# ----- sizes -----


@public("torch Tensor")
def unflatten(self: Tensor, dim: int, sizes: Any) -> Tensor:
    """Dimension ``dim`` split into ``sizes``, one of which may be -1, as a view."""
    if not isinstance(sizes, Sequence):
        raise TypeError(f"unflatten(): argument 'sizes' (position 2) must be tuple of ints, not {type(sizes).__name__}")
    dim, given = one_dim(self, dim), tuple(sizes)
    if not given:
        raise shape_error("unflatten: sizes must be non-empty")
    if self.ndim == 0:
        raise _unexpected(f"Dimension specified as {dim} but tensor has no dimensions")
    n = self.shape[dim]
    known = math.prod(s for s in given if s != -1)
    negative = next((i for i, s in enumerate(given) if s < -1), None)
    if given.count(-1) > 1:
        raise _unexpected("only one dimension can be inferred")
    if negative is not None:
        raise _unexpected(f"invalid shape dimension {given[negative]} at index {negative} of shape {list(given)}")
    if -1 in given and known == n == 0:
        raise _unexpected(
            f"cannot reshape tensor of 0 elements into shape {list(given)} because the unspecified dimension size -1 can be any "
            "value and is ambiguous"
        )
    if known != n if -1 not in given else (known == 0 or n % known):
        raise shape_error(
            f"unflatten: Provided sizes {list(given)} don't multiply up to the size of dim {dim} ({n}) in the input tensor"
        )
    split = tuple(n // known if s == -1 else s for s in given)
    return view(self, (*self.shape[:dim], *split, *self.shape[dim + 1 :]))


def _unexpected(why: str) -> Exception:
    return shape_error(f"unflatten got an unexpected error:\n{why}")


@public("torch Tensor")
def ravel(self: Tensor) -> Tensor:
    """All elements in one dimension: a view if they lie in order, else a copy."""
    return view(contiguous(self), (-1,) if self._a.size else (0,))


@public("Tensor")
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """``reshape`` to the shape of ``other``."""
    return reshape(self, other._a.shape)


def _each(function: Any, tensors: tuple[Any, ...]) -> Any:
    """``function`` of one tensor, or of all of several or of a list."""
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return function(tensors[0])
    given = tensors[0] if len(tensors) == 1 else tensors
    for i, t in enumerate(given):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {errors.class_name(t)}")
    return tuple(function(t) for t in given)


def _at_least_1d(x: Tensor) -> Tensor:
    return x if x.ndim else view(x, (1,))


def _at_least_2d(x: Tensor) -> Tensor:
    return x if x.ndim > 1 else g.unsqueeze(x, 0) if x.ndim else view(x, (1, 1))


def _at_least_3d(x: Tensor) -> Tensor:
    if x.ndim > 2:
        return x
    if x.ndim == 2:
        return g.unsqueeze(x, -1)
    return g.unsqueeze(g.unsqueeze(x, 0), -1) if x.ndim else view(x, (1, 1, 1))


@public("torch")
def atleast_1d(*tensors: Any) -> Any:
    """A 0-d tensor as a vector, others as they are; a tuple for several or a list."""
    return _each(_at_least_1d, tensors)


@public("torch")
def atleast_2d(*tensors: Any) -> Any:
    """Size-1 dimensions put in front up to 2 dimensions."""
    return _each(_at_least_2d, tensors)


@public("torch")
def atleast_3d(*tensors: Any) -> Any:
    """Size-1 dimensions added up to 3 dimensions: a vector becomes (1, n, 1), a matrix (n, m, 1)."""
    return _each(_at_least_3d, tensors)


# ----- broadcasting -----


def _broadcast(shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The common shape; PyTorch's error where there is none."""
    out: tuple[int, ...] = ()
    for shape in shapes:
        for i in range(1, min(len(out), len(shape)) + 1):
            if out[-i] != shape[-i] and 1 not in (out[-i], shape[-i]):
                raise shape_error(
                    f"The size of tensor a ({out[-i]}) must match the size of tensor b ({shape[-i]}) at non-singleton dimension "
                    f"{max(len(out), len(shape)) - i}"
                )
        out = np.broadcast_shapes(out, shape)
    return out


@public("torch Tensor")
def broadcast_to(self: Tensor, size: Any) -> Tensor:
    """Another name of ``expand``."""
    return expand(self, *(size if isinstance(size, list | tuple) else (size,)))


@public("torch")
def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The shape to which tensors of ``shapes`` broadcast together."""
    found = []
    for s in shapes:
        found.append((s,) if isinstance(s, int) else tuple(s))
        if any(n < 0 for n in found[-1]):
            raise shape_error(f"Trying to create tensor with negative dimension ({min(found[-1])}): ({min(found[-1])})")
    out = [1] * max(map(len, found), default=0)
    for at, s in enumerate(found):
        for i in range(-1, -1 - len(s), -1):
            if out[i] == 1:
                out[i] = s[i]
            elif s[i] not in (1, out[i]):
                raise shape_error(
                    f"Attempting to broadcast a dimension of length {s[i]} at {i}! Mismatching argument at index {at} had {s}; but "
                    f"expected shape should be broadcastable to {out}"
                )
    return tuple(out)


@public("torch")
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """All tensors expanded to their common shape."""
    given = list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], tuple | list) else list(tensors)
    for i, t in enumerate(given):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {errors.class_name(t)}")
    shape = _broadcast([t.shape for t in given])
    return tuple(t if t.shape == shape else expand(t, *shape) for t in given)


# ----- what is left -----


public("torch")(adjoint)


@public("torch Tensor")
def is_nonzero(self: Tensor) -> bool:
    """Whether the only element is not zero."""
    if not isinstance(self, Tensor):
        raise not_a_tensor("is_nonzero", "input", self)
    return bool(self)

"""Tensors put together: next to each other, as blocks, in all combinations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import events
from ....device import array_module, beside, same_place
from ....errors import class_name
from ....several import at_home
from ....tensor import Tensor, wrap
from ... import _generated as g
from ...explain import shape_error
from ...forward import propagate_joined
from ...lists import _join, _Joined, _same_dtype, cat, stack
from ...mixed_devices import together
from ...shape import expand, reshape, view
from ..declare import public
from .moves import atleast_1d, atleast_2d, atleast_3d

# ----- next to each other -----


@public("torch", out=True)
def concat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Another name of ``cat``."""
    return cat(tensors, dim)


@public("torch", out=True)
def concatenate(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Another name of ``cat``."""
    return cat(tensors, dim)


def _some(op: str, tensors: Any) -> Any:
    if isinstance(tensors, Tensor):
        raise TypeError(f"{op}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor")
    if not tensors:
        raise shape_error(f"{op} expects a non-empty TensorList")
    return tensors


@public("torch", out=True)
def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors one beside the other: along the second dimension, vectors along the first."""
    parts = atleast_1d(_some("hstack", tensors))
    return cat(parts, 0 if parts[0].ndim == 1 else 1)


@public("torch", out=True)
def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors one below the other; vectors are rows."""
    return cat(atleast_2d(_some("vstack", tensors)), 0)


@public("torch", out=True)
def row_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Another name of :func:`vstack`."""
    return vstack(tensors)


@public("torch", out=True)
def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors one behind the other, along the third dimension."""
    return cat(atleast_3d(_some("dstack", tensors)), 2)


@public("torch", out=True)
def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors one beside the other; vectors are columns."""
    given = _some("column_stack", tensors)
    return hstack([reshape(t, (t._a.size, 1)) if t.ndim < 2 else t for t in given])


# ----- blocks -----


class BlockDiagBackward0(_Joined):
    """Gradient of :func:`block_diag`: the blocks."""

    __slots__ = ("c_starts",)
    op_name = "BlockDiagBackward0"
    consts = ("starts",)
    c_starts: tuple[tuple[int, int, tuple[int, ...]], ...]
    """First row and column of every block, and the shape of the input."""

    def part(self, ops: Any, grad: Any, i: int) -> Any:
        """Block ``i`` in the shape of its input."""
        row, column, shape = self.c_starts[i]
        rows, columns = (1, 1, *shape)[-2:]
        if len(shape) < 2:
            grad = ops.select(grad, 0, row)
            return ops.slice(grad, 0, column, column + columns, 1) if shape else ops.select(grad, 0, column)
        return ops.slice(ops.slice(grad, 0, row, row + rows, 1), 1, column, column + columns, 1)


_APART = "torch.block_diag: input tensors must all be on the same device. Input 0 is on device {0} and input {i} is on device {1}"


@public("torch")
@at_home
def block_diag(*tensors: Any) -> Tensor:
    """A matrix that is zero but for the tensors as blocks along the diagonal; vectors are rows."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], tuple | list) else tensors
    for i, t in enumerate(given):
        if isinstance(given[0], Tensor):
            together(given[0], t, _APART.replace("{i}", str(i)))
    ts = _same_dtype("block_diag", given)
    for i, t in enumerate(ts):
        if t.ndim > 2:
            raise shape_error(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {t.ndim} dimensions"
            )
    blocks = [np.atleast_2d(t._a) for t in ts] or [np.zeros((1, 0), np.float32)]
    out = array_module(blocks[0]).zeros([sum(b.shape[d] for b in blocks) for d in (0, 1)], blocks[0].dtype)
    row = column = 0
    starts = []
    for b, t in zip(blocks, ts, strict=False):
        out[row : row + b.shape[0], column : column + b.shape[1]] = b
        starts.append((row, column, t.shape))
        row, column = row + b.shape[0], column + b.shape[1]
    made = wrap(out)
    if events.special & events.FORWARD:
        propagate_joined(made, ts, lambda parts: block_diag(*parts))
    node = _join(BlockDiagBackward0, ts, made)
    if node is not None:
        node.c_starts = tuple(starts)
    return made


# ----- combinations -----


@public("torch")
def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Vectors as coordinates of a grid: each expanded along all others; ``"xy"`` swaps the first two dimensions."""
    given = list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], tuple | list) else list(tensors)
    if not given:
        raise shape_error("meshgrid expects a non-empty TensorList")
    for i, t in enumerate(given):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(t).__name__}")
    for t in given:
        if t.ndim > 1:
            raise shape_error(
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got one of shape {list(t.shape)}"
            )
    if any(t.dtype != given[0].dtype for t in given):
        raise shape_error("meshgrid expects all tensors to have the same dtype")
    if any(not same_place(t._a, given[0]._a) for t in given):
        raise RuntimeError("meshgrid expects all tensors to have the same device")
    if indexing not in ("ij", "xy"):
        raise shape_error(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    swap = indexing == "xy" and len(given) >= 2
    if swap:
        given[:2] = given[1::-1]
    shape = tuple(t._a.size for t in given)
    grids = []
    for i, t in enumerate(given):
        ones = [1] * len(given)
        ones[i] = shape[i]
        grids.append(expand(view(t, ones), *shape))
    if swap:
        grids[:2] = grids[1::-1]
    return tuple(grids)


@public("torch")
def cartesian_prod(*tensors: Any) -> Tensor:
    """All combinations of one element of each vector, as rows."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], tuple | list) else tensors
    for i, t in enumerate(given):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {class_name(t)}")
        if t.ndim != 1:
            raise shape_error(f"Expect a 1D vector, but got shape {list(t.shape)}")
    if len(given) == 1:
        return given[0]
    return stack([reshape(t, (-1,) if t._a.size else (0,)) for t in meshgrid(*given)], 1)


@public("torch")
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of ``r`` elements of a vector, in its order, as rows."""
    if input.ndim != 1:
        raise shape_error(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise shape_error(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return wrap(array_module(input._a).empty(0, input.dtype))
    n = input.shape[0]
    chosen = np.indices((n,) * r).reshape(r, n**r)
    steps = np.diff(chosen, axis=0)
    chosen = chosen[:, (steps >= 0 if with_replacement else steps > 0).all(0)]
    return stack([g.index(input, (i,)) for i in beside(chosen, input._a)], 1)

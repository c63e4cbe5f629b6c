"""Elements counted through a tensor row by row (``take``, ``put``), and those that an index per place names along a dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....backends import on_host
from ....dtype import scalar_type
from ....errors import raise_if
from ....several import at_home
from ....tensor import Tensor, wrap
from ... import kernels
from ...explain import broadcast_error, shape_error
from ...indexing import gather
from ...mixed_devices import together
from ...prepare import as_array
from ...shape import expand, one_dim, reshape
from ..declare import formula, op, public
from . import places


def _taken(x: Any, index: Any) -> Any:
    return np.take(x, index)


def _spread(g: Any, shape: tuple[int, ...], index: Any) -> Any:
    return _put(kernels.zeros_of(shape, g), index, g, True)


def _put(x: Any, index: Any, source: Any, accumulate: bool) -> Any:
    if accumulate:
        return places.combined("add", x, index % max(x.size, 1), source)
    return places.written(as_array(x), index, source)


@formula
def put_self_grad(F: Any, g: Any, index: Any, accumulate: bool) -> Any:
    """Gradient of what was there before."""
    return g if accumulate else F.put(g, index, F.zeros_of(index.shape, g), False)


TAKE = op("take(self, index)", "TakeBackward0", self="take_backward(g, self_shape, index)", index=None, jvp="linear",
          value=_taken)  # fmt: skip
op("take_backward(self, shape, index)", "PutBackward0", self="take(g, index)", index=None, jvp="linear", value=_spread)
PUT = op("put(self, index, source, accumulate)", "PutBackward0", self="put_self_grad(g, index, accumulate)", index=None,
         source="reshape(take(g, index), source_shape)", alias="self", jvp="linear", value=_put)  # fmt: skip


def _check(op: str, index: Tensor, n: int, nothing: str) -> None:
    if index.dtype != np.int64:
        raise RuntimeError(f"{op}: Expected a long tensor for index, but got {scalar_type(index.dtype)}")
    found = index._a
    if not found.size:
        return
    if not n:
        raise shape_error(f"{op}: {nothing}", IndexError)
    if on_host(found) and not (int(found.min()) >= -n and int(found.max()) < n):
        wrong = found[(found < -n) | (found >= n)].reshape(-1)[0]
        raise shape_error(f"out of range: tried to access index {wrong} on a tensor of {n} elements.", IndexError)


@public("torch Tensor", out=True)
def take(self: Tensor, index: Tensor) -> Tensor:
    """Elements of ``self``, counted row by row, at ``index`` (negative ones from the end), in its shape."""
    _check("take()", index, self.numel(), "tried to take from an empty tensor")
    out: Tensor = TAKE(self, index)
    return out


@public("torch Tensor", inplace=True)
def put(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """``self`` with ``source`` at ``index``, counted row by row, or added there with ``accumulate``."""
    if index.numel() != source.numel():
        raise shape_error(
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source.numel()}, index.numel() = {index.numel()}",
            IndexError,
        )
    if index.dtype == np.int64 and self.dtype != source.dtype:
        raise RuntimeError(
            f"put_(): self and source expected to have the same dtype, but got self.dtype = {scalar_type(self.dtype)} and "
            f"source.dtype = {scalar_type(source.dtype)}"
        )
    _check("put_()", index, self.numel(), "Tried to put elements into an empty tensor")
    out: Tensor = PUT(self, index, source, bool(accumulate))
    return out


@public("torch Tensor", out=True)
@at_home
def take_along_dim(self: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Elements at ``indices`` along ``dim``, after broadcasting the other dimensions; without ``dim`` of the flattened tensor.

    Along ``dim`` indices are taken modulo its size, as PyTorch does, so that negative ones count from the end.
    """
    found, wanted = (t.device.type for t in (indices, self))
    together(
        self,
        indices,
        f"Expected tensor to have {wanted} Device, but got tensor with {found} Device (while checking arguments for "
        "torch.take_along_dim():)",
    )
    if dim is None:
        return gather(reshape(self, (-1,)), 0, reshape(indices, (-1,)))
    if self.ndim != indices.ndim:
        raise shape_error(
            f"torch.take_along_dim(): input and indices should have the same number of dimensions, but got {self.ndim} dimensions "
            f"for input, and {indices.ndim} dimensions for indices"
        )
    if indices.dtype != np.int64:
        raise RuntimeError(
            f"torch.take_along_dim(): dtype of indices should be Long but got {scalar_type(indices.dtype)}"
        )
    dim = one_dim(self, dim)
    if not self.ndim:
        raise shape_error("Dimension specified as 0 but tensor has no dimensions", IndexError)
    others = [(*x.shape[:dim], 1, *x.shape[dim + 1 :]) for x in (self, indices)]
    raise_if(broadcast_error(others))
    shape = np.broadcast_shapes(*others)
    x, at = (_expanded(t, (*shape[:dim], t.shape[dim], *shape[dim + 1 :])) for t in (self, indices))
    return gather(x, dim, wrap(at._a % max(self.shape[dim], 1)))


def _expanded(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    return x if x.shape == shape else expand(x, shape)

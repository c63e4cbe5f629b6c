"""Rows of a table by index, summed, averaged or compared by bags of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....backends import on_host
from ....device import array_module
from ....repeated_index import add_at, join_at
from ....several import at_home
from ....tensor import Tensor, wrap
from ... import kernels
from ...explain import shape_error
from ...kernel_names import type_name
from ...lists import cat
from ...mixed_devices import refuse_apart
from ..declare import OPS, linear, op, public
from .embedding import embedding_renorm_, rows_of


def _summed(rows: Any, bags: Any, n: int) -> Any:
    return kernels.index_backward(kernels.single(rows), (n, rows.shape[1]), (bags,)).astype(rows.dtype, copy=False)


linear("bag_sum(self, bags, n)", "EmbeddingBagBackward0", "embedding_raw(g, bags, -1, False)", bags=None, value=_summed)
op("bag_pick(self, at)", "EmbeddingBagBackward0", self="gather_backward(g, self_shape, 0, at)", at=None, jvp="linear",
   forward="gather(self, 0, at)")  # fmt: skip


@public("nn.functional")
@at_home
def embedding_bag(
    input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None, norm_type: float = 2,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False, padding_idx: int | None = None,
) -> Tensor:  # fmt: skip
    """Rows of ``weight`` (n, d) by ``input``, reduced (``sum``, ``mean`` or ``max``) by bags.

    The bags are the rows of ``input`` (B, L), or begin in a 1-d ``input`` at ``offsets``. Rows ``padding_idx`` count for
    nothing; ``per_sample_weights`` in the shape of ``input`` multiply the rows of a sum. The gradient is dense.
    """
    refuse_apart("embedding_bag", input=input, weight=weight, offsets=offsets, per_sample_weights=per_sample_weights)
    _check(input, weight, offsets, mode, scale_grad_by_freq, sparse, per_sample_weights)
    if input.ndim == 2:
        xp = array_module(input._a)
        starts, include_last_offset = xp.arange(0, input.numel(), input.shape[1] or 1), False
        input = input.reshape(-1)
        per_sample_weights = None if per_sample_weights is None else per_sample_weights.reshape(-1)
        if not input.numel():
            starts = xp.zeros(input.shape[0], np.int64)
    else:
        assert offsets is not None
        starts = offsets._a
    if max_norm is not None and weight.dtype.kind in "biu":
        embedding_renorm_(weight, input, max_norm, norm_type)  # refused
    _check_numbers(input, weight, per_sample_weights, padding_idx)
    if max_norm is not None:
        embedding_renorm_(weight, input, max_norm, norm_type)
    padding = -1 if padding_idx is None else padding_idx % weight.shape[0]
    if include_last_offset and not len(starts):
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    n = len(starts) - bool(include_last_offset)
    if not n:  # nothing is in no bag
        input, per_sample_weights = input[:0], None
    bags = _bags(starts[:n], input.numel())
    counted = input._a != padding
    rows = rows_of(weight, input, padding, scale_grad_by_freq)
    if mode == "max":
        found: Tensor = OPS["bag_pick"](*_largest(rows, bags, n, counted))
        return found
    factor = _factor(bags, n, counted, mode, weight.dtype)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    if factor is not None:
        rows = rows * wrap(factor[:, None])
    summed: Tensor = OPS["bag_sum"](rows, wrap(bags), n)
    return summed


def _check(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None,
    mode: str,
    by_freq: bool,
    sparse: bool,
    factors: Tensor | None,
) -> None:
    if factors is not None and input.shape != factors.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights (torch.Size({list(factors.shape)})) is not None, then it must have the same "
            f"shape as the input (torch.Size({list(input.shape)}))"
        )
    if weight.ndim != 2:
        raise shape_error(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}", ValueError)
    if input.ndim not in (1, 2):
        raise shape_error(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}", ValueError)
    if input.ndim == 2 and offsets is not None:
        raise ValueError(
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences. However, "
            f"found offsets of type {type(offsets)}"
        )
    if input.ndim == 1 and (offsets is None or offsets.ndim != 1):
        raise ValueError("offsets has to be a 1D Tensor" + (" but got None" if offsets is None else ""))
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and (by_freq or sparse):
        what = "scaling the gradient by the frequency" if by_freq else "sparse weights"
        raise ValueError(f"max mode does not support {what}")
    if factors is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
            f"(got mode='{mode}'). Please open a feature request on GitHub."
        )


_WHERE = "(while checking arguments for embedding_bag)"


def _check_numbers(input: Tensor, weight: Tensor, factors: Tensor | None, padding_idx: int | None) -> None:
    rows = weight.shape[0]
    if input.dtype not in (np.int64, np.int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{_kind(input)} instead {_WHERE}"
        )
    if weight.dtype.kind != "f":
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, BFloat16, Float, Double; "
            f"but got {_kind(weight)} instead {_WHERE}"
        )
    if factors is not None and factors.dtype != weight.dtype:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 'per_sample_weights'; but "
            f"type {_kind(weight)} does not equal {_kind(factors)} {_WHERE}"
        )
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, {-rows} through {rows - 1}, but got {padding_idx}"
        )
    found = input._a
    if on_host(found) and found.size and (wrong := np.flatnonzero((found < 0) | (found >= rows))).size:
        raise RuntimeError(
            f"Index {wrong[0]} of input takes value {found[wrong[0]]} which is not in the valid range [0, {rows})"
        )


def _kind(x: Tensor) -> str:
    return type_name(x.dtype)


@at_home
def _bags(starts: Any, size: int) -> Any:
    """The bag of every element."""
    if on_host(starts) and len(starts) and starts[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got "
            f"{int(starts[0])}"
        )
    if on_host(starts) and len(starts) and int(starts[-1]) > size:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length({size}), but got offsets[-1] of {int(starts[-1])}"
        )
    if on_host(starts) and (np.diff(starts) < 0).any():
        raise RuntimeError("offsets have to be in order: each bag begins where the one before it ends")
    return np.searchsorted(starts, array_module(starts).arange(size), side="right") - 1


def _factor(bags: Any, n: int, counted: Any, mode: str, dtype: Any) -> Any:
    """By how much to multiply the rows; ``None`` for not at all."""
    if mode == "sum":
        return None if on_host(counted) and counted.all() else counted.astype(dtype)
    sizes = array_module(bags).zeros(n, np.int64)
    add_at(sizes, bags, counted.astype(np.int64))
    return counted.astype(dtype) / np.maximum(sizes, 1)[bags].astype(dtype)


def _largest(rows: Tensor, bags: Any, n: int, counted: Any) -> tuple[Tensor, Tensor]:
    """The rows with one of zeros behind them, and where the first largest element of each bag is; that row for none."""
    values, last = rows._a, rows.shape[0]
    xp = array_module(values)
    best = np.full_like(values, -np.inf, shape=(n, values.shape[1]))
    _joined("maximum", best, bags, np.where(counted[:, None], values, values.dtype.type(-np.inf)))
    at = xp.full(best.shape, last)
    places = np.where((values == best[bags]) & counted[:, None], xp.arange(last)[:, None], last)
    _joined("minimum", at, bags, places)
    zeros = wrap(kernels.zeros_of((1, values.shape[1]), values))
    return cat([rows, zeros], 0), wrap(at)


def _joined(how: str, out: Any, bags: Any, values: Any) -> None:
    """Join the rows of ``values`` to ``out`` by bag; bags that lie one after the other are reduced as they lie."""
    if not on_host(out) or not len(bags) or (bags[1:] < bags[:-1]).any() or bags[0] < 0:
        join_at(how, out, bags, values)
        return
    firsts = np.flatnonzero(np.diff(bags, prepend=-1))
    ufunc = getattr(np, how)
    size = len(bags) // len(firsts)
    if len(firsts) * size == len(bags) and (np.diff(firsts) == size).all():
        found = ufunc.reduce(values.reshape(len(firsts), size, values.shape[1]), 1)
    else:
        found = ufunc.reduceat(values, firsts, 0)
    out[bags[firsts]] = ufunc(out[bags[firsts]], found)

"""Rows of a table by index, with the gradient summed over all places where a row was looked up."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....backends import on_host
from ....dtype import scalar_type
from ....grad_mode import quiet_no_grad
from ....repeated_index import times_named
from ....tensor import Tensor, wrap
from ... import kernels
from ...explain import shape_error
from ..declare import OPS, formula, in_both, kernel, op, public


@kernel
def embedding_raw(weight: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    """Rows of ``weight``."""
    return weight.take(indices, 0)


def _times_looked_up(indices: Any, rows: int) -> Any:
    """How often the row of each index is looked up in all, with a last dimension of 1."""
    indices = indices.astype(np.int64, copy=False)
    return times_named(indices, rows)[indices][..., None]


in_both("times_looked_up", _times_looked_up, lambda indices, rows: wrap(_times_looked_up(indices._a, rows)))


@kernel
def embedding_dense_backward(g: Any, indices: Any, rows: int, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    """The transpose of :func:`embedding_raw`; nothing for the row ``padding_idx``."""
    indices = indices.astype(np.int64, copy=False)
    if scale_grad_by_freq:
        g = g / _times_looked_up(indices, rows).astype(g.dtype)
    out = kernels.index_backward(g, (rows, g.shape[-1]), (indices,))
    if padding_idx >= 0:
        out[padding_idx] = 0
    return out


@formula
def embedding_again(F: Any, g: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    """The gradient of :func:`embedding_dense_backward`, each row divided by how often it was looked up if that was."""
    out = F.embedding_raw(g, indices, padding_idx, False)
    if scale_grad_by_freq:
        out = out / F.cast(F.times_looked_up(indices, g.shape[0]), g.dtype)
    return out if padding_idx < 0 else F.drop(out, F.unsqueeze(indices == padding_idx, len(indices.shape)))


op(
    "embedding_raw(weight, indices, padding_idx, scale_grad_by_freq)", "EmbeddingBackward0", jvp="linear", indices=None,
    weight="embedding_dense_backward(g, indices, weight_shape[0], padding_idx, scale_grad_by_freq)",
)  # fmt: skip
op(
    "embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq)",
    "EmbeddingDenseBackwardBackward0", jvp="linear", indices=None,
    grad_output="embedding_again(g, indices, padding_idx, scale_grad_by_freq)",
)  # fmt: skip


@public("nn.functional")
def embedding(
    input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Tensor:  # fmt: skip
    """Rows of ``weight`` (n, d) by integer ``input``.

    The row ``padding_idx`` gets no gradient; rows of a norm over ``max_norm`` are scaled down to it in place; with
    ``scale_grad_by_freq`` the gradient of a row is divided by how often it was looked up. The gradient is dense, ``sparse``
    or not.
    """
    if padding_idx is not None:
        rows = weight.shape[0]
        if not -rows <= padding_idx < rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= rows
    if max_norm is not None:
        embedding_renorm_(weight, input, max_norm, norm_type)
    return rows_of(weight, input, -1 if padding_idx is None else padding_idx, scale_grad_by_freq, sparse)


@public("torch.embedding")
def rows_of(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Tensor:
    """Rows of ``weight`` (n, d) by ``indices``; the gradient is dense, ``sparse`` or not."""
    if weight.ndim != 2:
        raise shape_error("'weight' must be 2-D")
    if indices.dtype not in (np.int64, np.int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"torch.{scalar_type(indices.dtype)}Tensor instead (while checking arguments for embedding)"
        )
    found = indices._a
    if on_host(found) and found.size and not (int(found.min()) >= 0 and int(found.max()) < weight.shape[0]):
        raise IndexError("index out of range in self")
    return OPS["embedding_raw"](weight, indices, padding_idx, scale_grad_by_freq)


@public("torch")
def embedding_renorm_(self: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """Scale the rows at ``indices`` whose norm is over ``max_norm`` down to it, in place."""
    from ....forward_ad import _set_fwd_grad_enabled

    rows = np.unique(indices._a)
    if rows.size and self.dtype.kind not in "fc":
        raise RuntimeError(
            f"norm(): input dtype should be either floating point or complex. Got {scalar_type(self.dtype)} instead."
        )
    with quiet_no_grad(), _set_fwd_grad_enabled(False):  # a tangent stays what it was
        sizes = OPS["vector_norm_raw"](wrap(self._a[rows]), float(norm_type), 1, True)._a
        scale = np.where(sizes > max_norm, max_norm / (sizes + 1e-7), 1).astype(self.dtype)
        self[wrap(rows)] = wrap(self._a[rows] * scale)
    return self

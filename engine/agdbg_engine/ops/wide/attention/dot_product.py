"""Scaled dot product attention: as one op that keeps no weights, or of single ops where PyTorch has it so."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....device import array_module
from ....dtype import get_default_dtype, scalar_type
from ....several import at_home
from ....tensor import Tensor, wrap
from ...explain import shape_error
from ...kernel_names import no_kernel
from ...kernels_shape import highest, row_sums
from ...matrix import matmul
from ..declare import OPS, formula, in_both, kernel, op, public
from ..sampling.dropout import dropout

# ----- softmax that knows rows without any weight -----


@kernel
def safe_softmax(x: Any, dim: int) -> Any:
    """Softmax along ``dim``, 0 where everything is -inf."""
    if not x.size:
        return x.copy()
    top = highest(x, dim, True)
    e = np.exp(x - np.where(top == -np.inf, 0, top))
    total = row_sums(e, dim)
    return e / np.where(total == 0, 1, total)


op("safe_softmax(self, dim)", "SafeSoftmaxBackward0", self="result * (g - sum_dim(g * result, dim, True))",
   jvp="result * (self_t - sum_dim(self_t * result, dim, True))")  # fmt: skip

# ----- one op -----


@formula
def single(F: Any, x: Any) -> Any:
    """Half precision in float32, in which PyTorch too computes scores and weights; other tensors, and no mask, as they are."""
    return x if x is None or x.dtype.itemsize >= 4 else F.cast(x, np.dtype(np.float32))


@formula
def attention_scores(F: Any, query: Any, key: Any, mask: Any, scale: float) -> Any:
    """``query @ key.T * scale + mask``."""
    scores = F.matmul(query, F.mT(key)) * scale
    return scores if mask is None else scores + mask


def _scores(query: Any, key: Any, mask: Any, scale: float) -> Any:
    scores = np.matmul(query, np.swapaxes(key, -1, -2))
    scores *= scale
    if mask is not None:
        scores += mask
    return scores


def _weights(query: Any, key: Any, mask: Any, scale: float, logsumexp: Any) -> Any:
    scores = _scores(query, key, mask, scale)
    scores -= np.where(logsumexp == -np.inf, np.inf, logsumexp)[..., None]
    return np.exp(scores, scores)


def _recorded_weights(query: Tensor, key: Tensor, mask: Tensor | None, scale: float, logsumexp: Any) -> Tensor:
    from ... import graph

    scores = attention_scores(graph, query, key, mask, scale)
    weights: Tensor = OPS["safe_softmax"](scores, scores.ndim - 1)
    return weights


in_both("attention_weights", _weights, _recorded_weights)


@kernel
def flash_attention(query: Any, key: Any, value: Any, mask: Any, scale: float) -> tuple[Any, Any]:
    """``softmax(query @ key.T * scale + mask) @ value``, and the logarithm of what the softmax divides by."""
    wide = query.dtype.itemsize >= 4
    q, k = (query, key) if wide else (query.astype(np.float32), key.astype(np.float32))
    scores = _scores(q, k, mask, scale)
    top = highest(scores, -1, True)
    scores -= np.where(top == -np.inf, 0, top)
    np.exp(scores, scores)
    total = row_sums(scores, -1)
    out = np.matmul(scores, value) / np.where(total == 0, 1, total)
    lse = np.log(total) + top
    return out.astype(query.dtype, copy=False), lse[..., 0].astype(query.dtype if wide else np.float32, copy=False)


def _single(F: Any, *tensors: Any) -> list[Any]:
    """Half precision in float32, in which PyTorch too computes scores and weights; other tensors as they are."""
    return [x if x is None or x.dtype.itemsize >= 4 else F.cast(x, np.dtype(np.float32)) for x in tensors]


def _scores_grad(grad: Any, value: Any, weights: Any, scale: float, along: Any) -> Any:
    found = np.matmul(grad, np.swapaxes(value, -1, -2))
    found -= along
    found *= weights
    found *= scale
    return found


def _recorded_scores_grad(grad: Tensor, value: Tensor, weights: Tensor, scale: float, along: Tensor) -> Tensor:
    return (matmul(grad, value.mT) - along) * weights * scale


in_both("through_weights", _scores_grad, _recorded_scores_grad)


@formula
def scores_grad(F: Any, g: Any, value: Any, weights: Any, scale: float, output: Any) -> Any:
    """The gradient in the scaled products, times ``scale``."""
    g = single(F, g)
    along = F.sum_dim(g * single(F, output), len(output.shape) - 1, True)
    return F.through_weights(g, single(F, value), weights, scale, along)


@formula
def in_dtype_of(F: Any, x: Any, like: Any) -> Any:
    """``x`` in the dtype of ``like``."""
    return x if x.dtype == like.dtype else F.cast(x, like.dtype)


@formula
def attention_tangent(
    F: Any, query_t: Any, key_t: Any, value_t: Any, query: Any, key: Any, value: Any, mask: Any, scale: float, lse: Any
) -> Any:
    """The tangent of attention."""
    q_t, k_t, v_t, q, k, v, m = (single(F, x) for x in (query_t, key_t, value_t, query, key, value, mask))
    weights = F.attention_weights(q, k, m, scale, lse)
    scores_t = (F.matmul(q_t, F.mT(k)) + F.matmul(q, F.mT(k_t))) * scale
    weights_t = weights * (scores_t - F.sum_dim(weights * scores_t, len(weights.shape) - 1, True))
    return in_dtype_of(F, F.matmul(weights_t, v) + F.matmul(weights, v_t), query)


op(
    "flash_attention(query, key, value, attn_mask, scale)", "ScaledDotProductFlashAttentionForCpuBackward0",
    outputs="output *logsumexp", kinds="f", attn_mask=None,
    shared={
        "weights": "attention_weights(single(query), single(key), single(attn_mask), scale, logsumexp)",
        "scores_g": "scores_grad(g, value, weights, scale, output)",
    },
    query="in_dtype_of(matmul(scores_g, single(key)), query)",
    key="in_dtype_of(matmul(mT(scores_g), single(query)), key)",
    value="in_dtype_of(matmul(mT(weights), single(g)), g)",
    jvp="(attention_tangent(query_t, key_t, value_t, query, key, value, attn_mask, scale, logsumexp), None)",
)  # fmt: skip

# ----- as users call it -----


@public("nn.functional")
def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """``softmax(query @ key.T * scale + mask) @ value``: query (..., L, E), key (..., S, E), value (..., S, Ev).

    ``attn_mask`` broadcasts with (..., L, S): True where to look, or what is added. ``is_causal`` lets a query look at no
    later key. ``scale`` is 1 / sqrt(E) by default. With ``enable_gqa`` a head of key and value serves several of query.
    """
    _check(query, key, value, attn_mask)
    if query.dtype.kind != "f":
        raise _not_floating(query.dtype)
    if enable_gqa:
        key, value = _shared_heads(query, key), _shared_heads(query, value)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    flash = (
        dropout_p == 0 and query.ndim == key.ndim == value.ndim == 4 and query.shape[-1] == value.shape[-1] == key.shape[-1]
        and query.shape[:2] == key.shape[:2] == value.shape[:2] and query.numel() and key.numel()
        and (attn_mask is None or (attn_mask.ndim in (2, 4) and not attn_mask.requires_grad))
    )  # fmt: skip
    if is_causal and attn_mask is not None and not flash:  # which adds both
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    mask = _additive(query, key, attn_mask, is_causal)
    if flash:
        attended: Tensor = OPS["flash_attention"](query, key, value, mask, float(factor))[0]
        return attended
    if query.dtype.itemsize < 4:
        wide = [x.to(np.dtype(np.float32)) for x in (query, key, value)]
        wide_mask = None if mask is None else mask.to(np.dtype(np.float32))
        return _of_ops(wide, wide_mask, dropout_p, factor).to(query.dtype)
    return _of_ops([query, key, value], mask, dropout_p, factor)


def _not_floating(dtype: Any) -> Exception:
    """PyTorch's error: there is no softmax of complex numbers, and that of integers is multiplied with their own dtype."""
    if dtype.kind == "c":
        return no_kernel("softmax_lastdim_kernel_impl", dtype)
    return RuntimeError(f"expected scalar type {scalar_type(get_default_dtype())} but found {scalar_type(dtype)}")


def _of_ops(inputs: list[Tensor], mask: Tensor | None, dropout_p: float, factor: float) -> Tensor:
    query, key, value = inputs
    root = math.sqrt(abs(factor))
    scores = matmul(query * root, (key * math.copysign(root, factor)).transpose(-2, -1))
    if mask is not None:
        scores = scores + mask
    weights = OPS["safe_softmax"](scores, scores.ndim - 1)
    return matmul(dropout(weights, dropout_p), value)


def _check(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> None:
    if not query.dtype == key.dtype == value.dtype:
        names = [_name(x) for x in (query, key, value)]
        raise RuntimeError(
            f"Expected query, key, and value to have the same dtype, but got query.dtype: {names[0]} key.dtype: {names[1]} and "
            f"value.dtype: {names[2]} instead."
        )
    if not query.device == key.device == value.device:
        raise RuntimeError(
            f"Expected query, key, and value to have the same device type, but got query.device: {query.device} key.device: "
            f"{key.device} and value.device: {value.device} instead."
        )
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise shape_error(
            f"Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {query.ndim} key.dim: "
            f"{key.ndim} and value.dim: {value.ndim} instead."
        )
    if mask is not None and mask.dtype.kind != "b" and mask.dtype != query.dtype and mask.dtype.kind != "f":
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{_name(mask)} and  query.dtype: {_name(query)} instead."
        )


def _name(x: Tensor) -> str:
    return {"int64": "long int", "float32": "float", "float64": "double", "float16": "c10::Half"}.get(
        str(x.dtype).removeprefix("torch."), str(x.dtype)
    )


def _shared_heads(query: Tensor, x: Tensor) -> Tensor:
    """The heads of ``x`` (..., H, S, E) repeated, so that there are as many as of ``query``."""
    heads, have = query.shape[-3], x.shape[-3]
    if have == 0 or heads % have:
        raise shape_error("Number of heads in key and value must divide the number of heads in ")
    if heads == have:
        return x
    *batch, _, steps, size = x.shape
    return x.unsqueeze(-3).expand(*batch, have, heads // have, steps, size).reshape(*batch, heads, steps, size)


@at_home
def _additive(query: Tensor, key: Tensor, mask: Tensor | None, is_causal: bool) -> Tensor | None:
    """Masks as numbers to add: -inf where not to look."""
    dtype = query.dtype
    if mask is not None:
        mask = wrap(_minus_infinity(mask._a, dtype)) if mask.dtype.kind == "b" else mask.to(dtype)
    if not is_causal:
        return mask
    causal = wrap(
        _minus_infinity(np.tril(array_module(query._a).ones((query.shape[-2], key.shape[-2]), dtype=bool)), dtype)
    )
    return causal if mask is None else mask + causal


def _minus_infinity(look: Any, dtype: Any) -> Any:
    return np.where(look, dtype.type(0), dtype.type(-np.inf))

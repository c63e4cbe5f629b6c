"""Scaled dot product attention: as one op that keeps no weights, or of single ops where PyTorch has it so."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....device import array_module
from ....several import at_home
from ....tensor import Tensor, wrap
from ...explain import shape_error
from ...matrix import matmul
from ..declare import OPS, formula, in_both, kernel, op, public
from ..sampling.dropout import dropout

# ----- softmax that knows rows without any weight -----


@kernel
def safe_softmax(x: Any, dim: int) -> Any:
    """Softmax along ``dim``, 0 where everything is -inf."""
    if not x.size:
        return x.copy()
    top = x.max(dim, keepdims=True)
    e = np.exp(x - np.where(top == -np.inf, 0, top))
    total = e.sum(dim, keepdims=True)
    return e / np.where(total == 0, 1, total)


op("safe_softmax(self, dim)", "SafeSoftmaxBackward0", self="result * (g - sum_dim(g * result, dim, True))",
   jvp="result * (self_t - sum_dim(self_t * result, dim, True))")  # fmt: skip

# ----- one op -----


@formula
def attention_scores(F: Any, query: Any, key: Any, mask: Any, scale: float) -> Any:
    """``query @ key.T * scale + mask``."""
    scores = F.matmul(query, F.mT(key)) * scale
    return scores if mask is None else scores + mask


def _weights(query: Any, key: Any, mask: Any, scale: float, logsumexp: Any) -> Any:
    from ... import kernels

    scores = attention_scores(kernels, query, key, mask, scale)
    return np.exp(scores - np.where(logsumexp == -np.inf, np.inf, logsumexp)[..., None])


def _recorded_weights(query: Tensor, key: Tensor, mask: Tensor | None, scale: float, logsumexp: Any) -> Tensor:
    from ... import graph

    scores = attention_scores(graph, query, key, mask, scale)
    weights: Tensor = OPS["safe_softmax"](scores, scores.ndim - 1)
    return weights


in_both("attention_weights", _weights, _recorded_weights)


@kernel
def flash_attention(query: Any, key: Any, value: Any, mask: Any, scale: float) -> tuple[Any, Any]:
    """``softmax(query @ key.T * scale + mask) @ value``, and the logarithm of what the softmax divides by."""
    from ... import kernels

    wide = query.dtype.itemsize >= 4
    q, k = (query, key) if wide else (query.astype(np.float32), key.astype(np.float32))
    scores = attention_scores(kernels, q, k, mask, scale)
    top = scores.max(-1, keepdims=True)
    scores -= np.where(top == -np.inf, 0, top)
    np.exp(scores, scores)
    total = scores.sum(-1, keepdims=True)
    out = np.matmul(scores, value) / np.where(total == 0, 1, total)
    lse = np.log(total) + top
    return out.astype(query.dtype, copy=False), lse[..., 0].astype(query.dtype if wide else np.float32, copy=False)


@formula
def scores_grad(
    F: Any, grad: Any, query: Any, key: Any, value: Any, mask: Any, scale: float, output: Any, lse: Any
) -> Any:
    """The gradient in the scaled products, times ``scale``."""
    weights = F.attention_weights(query, key, mask, scale, lse)
    along = F.sum_dim(grad * output, len(output.shape) - 1, True)
    return weights * (F.matmul(grad, F.mT(value)) - along) * scale


@formula
def attention_tangent(
    F: Any, query_t: Any, key_t: Any, value_t: Any, query: Any, key: Any, value: Any, mask: Any, scale: float, lse: Any
) -> Any:
    """The tangent of attention."""
    weights = F.attention_weights(query, key, mask, scale, lse)
    scores_t = (F.matmul(query_t, F.mT(key)) + F.matmul(query, F.mT(key_t))) * scale
    weights_t = weights * (scores_t - F.sum_dim(weights * scores_t, len(weights.shape) - 1, True))
    return F.matmul(weights_t, value) + F.matmul(weights, value_t)


_SCORES = "scores_grad(g, query, key, value, attn_mask, scale, output, logsumexp)"
op(
    "flash_attention(query, key, value, attn_mask, scale)", "ScaledDotProductFlashAttentionForCpuBackward0",
    outputs="output *logsumexp", kinds="f", attn_mask=None,
    query=f"matmul({_SCORES}, key)", key=f"matmul(mT({_SCORES}), query)",
    value="matmul(mT(attention_weights(query, key, attn_mask, scale, logsumexp)), g)",
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

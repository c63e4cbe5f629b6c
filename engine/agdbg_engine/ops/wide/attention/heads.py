"""Multi-head attention with its projections, as a function of all the weights."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ....device import array_module
from ....several import at_home
from ....sites import user_stacklevel
from ....tensor import Tensor, wrap
from ...lists import cat
from ...reduce import softmax
from ..declare import public
from ..sampling.dropout import dropout
from .dot_product import scaled_dot_product_attention

Maybe = Tensor | None


@public("nn.functional")
def multi_head_attention_forward(
    query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int, in_proj_weight: Maybe,
    in_proj_bias: Maybe, bias_k: Maybe, bias_v: Maybe, add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor,
    out_proj_bias: Maybe, training: bool = True, key_padding_mask: Maybe = None, need_weights: bool = True,
    attn_mask: Maybe = None, use_separate_proj_weight: bool = False, q_proj_weight: Maybe = None,
    k_proj_weight: Maybe = None, v_proj_weight: Maybe = None, static_k: Maybe = None, static_v: Maybe = None,
    average_attn_weights: bool = True, is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Attention of several heads: query (L, N, E), key (S, N, Ek), value (S, N, Ev), or all without N.

    Gives (L, N, E) and, if wanted, the weights: (N, L, S) averaged over the heads, or (N, heads, L, S).
    """
    batched = _is_batched(query, key, value, key_padding_mask, attn_mask, num_heads)
    padding = _added(key_padding_mask, "key_padding_mask", query.dtype, attn_mask)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    if is_causal and key_padding_mask is None and not need_weights:
        mask = None
    else:
        mask = _added(attn_mask, "attn_mask", query.dtype)
        is_causal = is_causal and key_padding_mask is None and not need_weights
    if not batched:
        same_kv, same_q = key is value, query is key
        query_, key_ = query.unsqueeze(1), key.unsqueeze(1)
        value = key_ if same_kv else value.unsqueeze(1)
        query, key = (key_ if same_q else query_), key_
        padding = None if padding is None else padding.unsqueeze(0)
    length, n, size = query.shape
    _check_sizes(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)
    if use_separate_proj_weight:
        weights = [_given(w, name) for w, name in ((q_proj_weight, "q"), (k_proj_weight, "k"), (v_proj_weight, "v"))]
        q, k, v = _projected((query, key, value), weights, in_proj_bias)
    else:
        if in_proj_weight is None:
            raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
        q, k, v = _packed(query, key, value, in_proj_weight, in_proj_bias)
    if mask is not None:
        mask = _shaped(mask, n * num_heads, length, key.shape[0])
    if (bias_k is None) != (bias_v is None):
        raise AssertionError(
            "bias_k is set but bias_v is None" if bias_v is None else "bias_v is set but bias_k is None"
        )
    if bias_k is not None and bias_v is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError(f"bias cannot be added to static {'key' if static_k is not None else 'value'}.")
        k, v = (cat([x, b.expand(1, n, size)], 0) for x, b in ((k, bias_k), (v, bias_v)))
        mask, padding = _longer(mask), _longer(padding)
    q, k, v = (
        x.contiguous().view(x.shape[0], n * num_heads, size // num_heads).transpose(0, 1) if s is None else s
        for x, s in ((q, None), (k, static_k), (v, static_v))
    )
    if add_zero_attn:
        zeros = wrap(array_module(k._a).zeros((n * num_heads, 1, size // num_heads), k.dtype))
        k, v = cat([k, zeros], 1), cat([v, zeros], 1)
        mask, padding = _longer(mask), _longer(padding)
    if padding is not None:
        mask = _with_padding(mask, padding, n, num_heads, k.shape[1])
    out, attention = _attended(q, k, v, mask, dropout_p if training else 0.0, need_weights, is_causal, n, num_heads)
    out = _linear(out, out_proj_weight, out_proj_bias).view(length, n, out_proj_weight.shape[0])
    if attention is not None and average_attn_weights:
        attention = attention.mean(1)
    if batched:
        return out, attention
    return out.squeeze(1), None if attention is None else attention.squeeze(0)


def _linear(x: Tensor, weight: Tensor, bias: Maybe) -> Tensor:
    from ....nn.functional import linear

    out: Tensor = linear(x, weight, bias)
    return out


# ----- what is given -----


def _is_batched(query: Tensor, key: Tensor, value: Tensor, padding: Maybe, mask: Maybe, heads: int) -> bool:
    dims = query.ndim
    if dims not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {dims}-D query tensor")
    kind = "unbatched (2-D)" if dims == 2 else "batched (3-D)"
    if key.ndim != dims or value.ndim != dims:
        raise AssertionError(
            f"For {kind} `query`, expected `key` and `value` to be {dims}-D but found {key.ndim}-D and {value.ndim}-D tensors "
            "respectively"
        )
    if padding is not None and padding.ndim != dims - 1:
        raise AssertionError(
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {dims - 1}-D but found {padding.ndim}-D tensor "
            "instead"
        )
    if mask is not None and mask.ndim not in (2, 3):
        raise AssertionError(
            f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found {mask.ndim}-D tensor instead"
        )
    if dims == 2 and mask is not None and mask.ndim == 3 and tuple(mask.shape) != (heads, query.shape[0], key.shape[0]):
        raise AssertionError(
            f"Expected `attn_mask` shape to be {(heads, query.shape[0], key.shape[0])} but got torch.Size({list(mask.shape)})"
        )
    return dims == 3


@at_home
def _added(mask: Maybe, name: str, dtype: Any, other: Maybe = None) -> Maybe:
    """A mask as numbers to add; a bool one is True where not to look."""
    if mask is None:
        return None
    if mask.dtype.kind not in "bf":
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if other is not None and other.dtype != mask.dtype:
        warnings.warn(
            f"Support for mismatched {name} and attn_mask is deprecated. Use same type for both instead.",
            stacklevel=user_stacklevel(),
        )
    if mask.dtype.kind == "f":
        return mask
    return wrap(np.where(mask._a, dtype.type(-np.inf), dtype.type(0)))


def _check_sizes(query: Tensor, key: Tensor, value: Tensor, size: int, heads: int, separate: bool) -> None:
    found = query.shape[2]
    if found != size:
        raise AssertionError(f"was expecting embedding dimension of {size}, but got {found}")
    if found % heads:
        raise AssertionError(f"embed_dim {found} not divisible by num_heads {heads}")
    if separate and key.shape[:2] != value.shape[:2]:
        raise AssertionError(
            f"key's sequence and batch dims torch.Size({list(key.shape[:2])}) do not match value's "
            f"torch.Size({list(value.shape[:2])})"
        )
    if not separate and key.shape != value.shape:
        raise AssertionError(
            f"key shape torch.Size({list(key.shape)}) does not match value shape torch.Size({list(value.shape)})"
        )


def _given(weight: Maybe, name: str) -> Tensor:
    if weight is None:
        raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")
    return weight


def _shaped(mask: Tensor, rows: int, length: int, keys: int) -> Tensor:
    """A mask with three dimensions."""
    if mask.ndim == 2:
        if tuple(mask.shape) != (length, keys):
            raise RuntimeError(
                f"The shape of the 2D attn_mask is torch.Size({list(mask.shape)}), but should be {(length, keys)}."
            )
        return mask.unsqueeze(0)
    if tuple(mask.shape) != (rows, length, keys):
        raise RuntimeError(
            f"The shape of the 3D attn_mask is torch.Size({list(mask.shape)}), but should be {(rows, length, keys)}."
        )
    return mask


# ----- projections -----


def _packed(query: Tensor, key: Tensor, value: Tensor, weight: Tensor, bias: Maybe) -> tuple[Tensor, ...]:
    """Projections by the parts of one weight (3 E, E); equal inputs are projected together."""
    size = query.shape[2]
    if query is key is value:
        return tuple(_linear(query, weight, bias).chunk(3, -1))
    if key is value:
        parts = weight.split([size, 2 * size])
        biases = (None, None) if bias is None else bias.split([size, 2 * size])
        return _linear(query, parts[0], biases[0]), *_linear(key, parts[1], biases[1]).chunk(2, -1)
    return _projected((query, key, value), weight.chunk(3), bias)


def _projected(inputs: tuple[Tensor, ...], weights: Any, bias: Maybe) -> tuple[Tensor, ...]:
    sizes = [x.shape[-1] for x in inputs]
    for what, weight, size in zip(("query", "key", "value"), weights, sizes, strict=True):
        if tuple(weight.shape) != (sizes[0], size):
            raise AssertionError(
                f"expecting {what} weights shape of {(sizes[0], size)}, but got torch.Size({list(weight.shape)})"
            )
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    return tuple(_linear(x, w, b) for x, w, b in zip(inputs, weights, biases, strict=True))


# ----- masks -----


def _longer(mask: Maybe) -> Maybe:
    """A mask with one key more, to be looked at."""
    if mask is None:
        return None
    return cat([mask, wrap(array_module(mask._a).zeros((*mask.shape[:-1], 1), mask.dtype))], -1)


def _with_padding(mask: Maybe, padding: Tensor, n: int, heads: int, keys: int) -> Tensor:
    for i, wanted in ((0, n), (1, keys)):
        if padding.shape[i] != wanted:
            raise AssertionError(f"Expected key_padded_mask.shape[{i}] to be {wanted}, but got {padding.shape[i]}")
    by_head = padding.view(n, 1, 1, keys).expand(n, heads, 1, keys).reshape(n * heads, 1, keys)
    return by_head if mask is None else mask + by_head


# ----- attention -----


def _attended(
    q: Tensor, k: Tensor, v: Tensor, mask: Maybe, p: float, need_weights: bool, is_causal: bool, n: int, heads: int
) -> tuple[Tensor, Maybe]:
    """The attended values (L * N, E), and the weights (N, heads, L, S) if wanted."""
    length, keys, size = q.shape[1], k.shape[1], q.shape[2]
    if need_weights:
        scores = (q * math.sqrt(1.0 / size)).bmm(k.transpose(-2, -1))
        weights = softmax(scores if mask is None else scores + mask, -1)
        if p > 0:
            weights = dropout(weights, p)
        out = weights.bmm(v).transpose(0, 1).reshape(length * n, heads * size)
        return out, weights.view(n, heads, length, keys)
    if mask is not None:
        mask = mask.unsqueeze(0) if mask.shape[0] == 1 else mask.view(n, heads, -1, keys)
    wide = [x.reshape(n, heads, x.shape[1], size) for x in (q, k, v)]
    attended = scaled_dot_product_attention(wide[0], wide[1], wide[2], mask, p, is_causal)
    return attended.permute(2, 0, 1, 3).reshape(length * n, heads * size), None

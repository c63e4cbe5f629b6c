"""Transformers: layers of attention and two linear maps, each around a residual, stacked."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from ..creation import full
from ..ops.wide.indexing.reading import some
from ..ops.wide.shapes.triangles import triu
from ..several import at_home
from ..tensor import Tensor
from . import functional as F
from . import init
from .attention import MultiheadAttention
from .containers import ModuleList
from .dropout import Dropout
from .layers import Linear
from .module import Module
from .normalization import LayerNorm

__all__ = [
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer",
]  # fmt: skip

Mask = Tensor | None
Activation = str | Callable[[Tensor], Tensor]


def _activation(activation: Activation) -> Any:
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(F, activation)


class TransformerEncoderLayer(Module):
    """Self-attention and two linear maps."""

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1, activation: Activation = "relu",
        layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        made = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **made)
        self.linear1 = Linear(d_model, dim_feedforward, bias, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **made)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, **made)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, **made)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.activation = _activation(activation)

    def forward(
        self, src: Tensor, src_mask: Mask = None, src_key_padding_mask: Mask = None, is_causal: bool = False
    ) -> Tensor:
        """``src`` (S, N, E), or (N, S, E) with ``batch_first``, in the same shape."""
        x = src
        if self.norm_first:
            x = x + self._attended(self.norm1(x), src_mask, src_key_padding_mask, is_causal)
            return x + self._fed(self.norm2(x))
        x = self.norm1(x + self._attended(x, src_mask, src_key_padding_mask, is_causal))
        out: Tensor = self.norm2(x + self._fed(x))
        return out

    def _attended(self, x: Tensor, mask: Mask, padding: Mask, is_causal: bool) -> Any:
        return self.dropout1(self.self_attn(x, x, x, padding, False, mask, is_causal=is_causal)[0])

    def _fed(self, x: Tensor) -> Any:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerDecoderLayer(Module):
    """Self-attention, attention to a memory and two linear maps."""

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1, activation: Activation = "relu",
        layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        made = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **made)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **made)
        self.linear1 = Linear(d_model, dim_feedforward, bias, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **made)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, **made)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, **made)
        self.norm3 = LayerNorm(d_model, layer_norm_eps, bias=bias, **made)
        self.dropout1, self.dropout2, self.dropout3 = (Dropout(dropout) for _ in range(3))
        self.activation = _activation(activation)

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: Mask = None, memory_mask: Mask = None,
        tgt_key_padding_mask: Mask = None, memory_key_padding_mask: Mask = None, tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """``tgt`` (T, N, E), or (N, T, E) with ``batch_first``, in the same shape."""
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = (memory_mask, memory_key_padding_mask, memory_is_causal)
        x = tgt
        if self.norm_first:
            x = x + self._attended(self.norm1(x), *own)
            x = x + self._remembered(self.norm2(x), memory, *other)
            return x + self._fed(self.norm3(x))
        x = self.norm1(x + self._attended(x, *own))
        x = self.norm2(x + self._remembered(x, memory, *other))
        out: Tensor = self.norm3(x + self._fed(x))
        return out

    def _attended(self, x: Tensor, mask: Mask, padding: Mask, is_causal: bool) -> Any:
        return self.dropout1(self.self_attn(x, x, x, padding, False, mask, is_causal=is_causal)[0])

    def _remembered(self, x: Tensor, memory: Tensor, mask: Mask, padding: Mask, is_causal: bool) -> Any:
        attended = self.multihead_attn(x, memory, memory, padding, False, mask, is_causal=is_causal)[0]
        return self.dropout2(attended)

    def _fed(self, x: Tensor) -> Any:
        return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))


def _copies(layer: Module, n: int) -> ModuleList:
    return ModuleList([copy.deepcopy(layer) for _ in range(n)])


def _is_causal(mask: Mask, is_causal: bool | None) -> bool:
    """Whether the mask is the causal one: as told, or else as it looks."""
    if is_causal is not None or mask is None:
        return bool(is_causal)
    n = mask.shape[-1]
    return tuple(mask.shape) == (n, n) and _same(mask, subsequent_mask(n, mask.dtype, mask.device))


@at_home
def _same(mask: Tensor, other: Tensor) -> bool:
    """Whether the elements are equal: a device is waited for, as in PyTorch, unless somebody says ``is_causal``."""
    return not some(mask._a != other._a)


def subsequent_mask(size: int, dtype: Any = None, device: Any = None) -> Tensor:
    """A mask (size, size) to add that lets nobody look at what comes later."""
    return triu(full((size, size), -math.inf, dtype=dtype, device=device), 1)


class TransformerEncoder(Module):
    """``num_layers`` copies of a layer one after the other.

    ``enable_nested_tensor`` and ``mask_check`` are for a fast path of PyTorch that is not there.
    """

    def __init__(
        self, encoder_layer: Module, num_layers: int, norm: Module | None = None, enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check

    def forward(
        self, src: Tensor, mask: Mask = None, src_key_padding_mask: Mask = None, is_causal: bool | None = None
    ) -> Tensor:
        """``src`` through all layers."""
        causal = _is_causal(mask, is_causal)
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, causal)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """``num_layers`` copies of a layer one after the other, all with the same memory."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: Mask = None, memory_mask: Mask = None,
        tgt_key_padding_mask: Mask = None, memory_key_padding_mask: Mask = None, tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """``tgt`` through all layers."""
        causal = _is_causal(tgt_mask, tgt_is_causal)
        masks = (tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, causal, memory_is_causal)
        for layer in self.layers:
            tgt = layer(tgt, memory, *masks)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder and a decoder of its memory."""

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
        dim_feedforward: int = 2048, dropout: float = 0.1, activation: Activation = "relu", custom_encoder: Any = None,
        custom_decoder: Any = None, layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False,
        bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        made = {"device": device, "dtype": dtype}

        def norm() -> LayerNorm:
            return LayerNorm(d_model, layer_norm_eps, bias=bias, **made)

        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*options, **made), num_encoder_layers, norm()
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*options, **made), num_decoder_layers, norm()
        )
        for p in self.parameters():
            if p.ndim > 1:
                init.xavier_uniform_(p)
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self, src: Tensor, tgt: Tensor, src_mask: Mask = None, tgt_mask: Mask = None, memory_mask: Mask = None,
        src_key_padding_mask: Mask = None, tgt_key_padding_mask: Mask = None, memory_key_padding_mask: Mask = None,
        src_is_causal: bool | None = None, tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """The decoded ``tgt``."""
        batch = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[batch] != tgt.shape[batch]:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        out: Tensor = self.decoder(
            tgt,
            memory,
            tgt_mask,
            memory_mask,
            tgt_key_padding_mask,
            memory_key_padding_mask,
            tgt_is_causal,
            memory_is_causal,
        )
        return out

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """A mask (sz, sz) to add that lets nobody look at what comes later."""
        return subsequent_mask(sz, dtype, device)

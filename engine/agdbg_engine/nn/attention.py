"""Multi-head attention as a module."""

from __future__ import annotations

from typing import Any

from ..creation import zeros
from ..tensor import Parameter, Tensor
from . import functional as F
from . import init
from .layers import Linear
from .module import Module

__all__ = ["MultiheadAttention"]


class NonDynamicallyQuantizableLinear(Linear):
    """PyTorch's name for the projection behind attention, which its quantisation leaves alone."""


class MultiheadAttention(Module):
    """Attention of ``num_heads`` heads that share ``embed_dim``: query (L, N, E), key (S, N, kdim), value (S, N, vdim).

    (N, L, E) and so on with ``batch_first``; all without N is fine too.
    """

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self._qkv_same_embed_dim = self.kdim == embed_dim == self.vdim
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn
        made = {"device": device, "dtype": dtype}
        packed, single = (3 * embed_dim, embed_dim), {"q": embed_dim, "k": self.kdim, "v": self.vdim}
        same = self._qkv_same_embed_dim
        order = ("in_proj_weight", *(f"{n}_proj_weight" for n in single))
        for name in order if same else (*order[1:], order[0]):
            shape = packed if name == "in_proj_weight" else (embed_dim, single[name[0]])
            wanted = same == (name == "in_proj_weight")
            self.register_parameter(name, Parameter(zeros(shape, **made)) if wanted else None)
        self.register_parameter("in_proj_bias", Parameter(zeros(3 * embed_dim, **made)) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, **made)
        for name in ("bias_k", "bias_v"):
            self.register_parameter(name, Parameter(zeros(1, 1, embed_dim, **made)) if add_bias_kv else None)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for name, p in self._parameters.items():
            if p is not None and name.endswith("weight"):
                init.xavier_uniform_(p)
            elif p is not None and name in ("bias_k", "bias_v"):
                init.xavier_normal_(p)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None, need_weights: bool = True,
        attn_mask: Tensor | None = None, average_attn_weights: bool = True, is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:  # fmt: skip
        """The attended values, and with ``need_weights`` the weights (N, L, S), averaged over the heads or (N, heads, L, S)."""
        turned = self.batch_first and query.ndim == 3
        if turned:
            query, key, value = self._turned(query, key, value)
        separate: dict[str, Any] = {}
        if not self._qkv_same_embed_dim:
            separate = {f"{n}_proj_weight": getattr(self, f"{n}_proj_weight") for n in "qkv"}
        out, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k, self.bias_v,
            self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, training=self.training,
            key_padding_mask=key_padding_mask, need_weights=need_weights, attn_mask=attn_mask,
            use_separate_proj_weight=bool(separate), average_attn_weights=average_attn_weights, is_causal=is_causal,
            **separate,
        )  # fmt: skip
        return out.transpose(1, 0) if turned else out, weights

    @staticmethod
    def _turned(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The inputs with time first; those that are one tensor stay one."""
        q = query.transpose(1, 0)
        k = q if key is query else key.transpose(1, 0)
        return q, k, k if value is key else value.transpose(1, 0)

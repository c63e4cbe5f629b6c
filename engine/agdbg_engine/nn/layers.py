"""Layers."""

from __future__ import annotations

import math
from typing import Any, Self

from ..foreign import refuse
from ..random import rand, randn
from ..tensor import Parameter, Tensor
from . import functional as F
from . import init
from .module import Module
from .parameter import check_size, drawn

__all__ = [
    "Bilinear",
    "CosineSimilarity",
    "Embedding",
    "EmbeddingBag",
    "Flatten",
    "Identity",
    "Linear",
    "PairwiseDistance",
]


class Linear(Module):
    """``x @ weight.T + bias`` with weight (out, in), both uniform in +-1/sqrt(in) at first."""

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        check_size((out_features, in_features))
        bound = 1 / math.sqrt(in_features) if in_features > 0 else 0.0
        self.weight = drawn((rand(out_features, in_features, device=device, dtype=dtype) * 2 - 1) * bound)
        made = drawn((rand(out_features, device=device, dtype=dtype) * 2 - 1) * bound) if bias else None
        self.register_parameter("bias", made)

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        bound = 1 / math.sqrt(self.in_features) if self.in_features else 0.0
        for p in self._parameters.values():
            if p is not None:
                init.uniform_(p, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Bilinear(Module):
    """``x1 @ weight[o] @ x2 + bias[o]`` for every o; weight (out, in1, in2), uniform in +-1/sqrt(in1) at first."""

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got (in1_features={in1_features})")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        check_size((out_features, in1_features, in2_features))
        self.weight = Parameter(rand(out_features, in1_features, in2_features, device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(rand(out_features, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        bound = 1 / math.sqrt(self.in1_features)
        for p in self._parameters.values():
            if p is not None:
                init.uniform_(p, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        sizes = f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}"
        return f"{sizes}, bias={self.bias is not None}"


def _table_size(embeddings: Any) -> tuple[int, int]:
    """How many rows and columns a table has that a module is to be made around."""
    refuse(embeddings, "from_pretrained", "embeddings")
    if embeddings.ndim != 2:
        raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
    rows, columns = embeddings.shape
    return rows, columns


class Embedding(Module):
    """Rows of a table (num_embeddings, embedding_dim) by integer index; normal at first, the row ``padding_idx`` zero."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Tensor | None = None,
        _freeze: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if padding_idx is not None:
            if (padding_idx > 0 and padding_idx >= num_embeddings) or padding_idx < -num_embeddings:
                raise AssertionError("Padding_idx must be within num_embeddings")
            padding_idx %= num_embeddings
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse = (
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
        )
        if _weight is None:
            check_size((num_embeddings, embedding_dim))
            self.weight = drawn(randn(num_embeddings, embedding_dim, device=device, dtype=dtype), not _freeze)
            self._clear_padding()
        else:
            if tuple(_weight.shape) != (num_embeddings, embedding_dim):
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = Parameter(_weight, not _freeze)

    @classmethod
    def from_pretrained(
        cls, embeddings: Any, freeze: bool = True, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
    ) -> Self:  # fmt: skip
        """A module around a table."""
        rows, columns = _table_size(embeddings)
        return cls(rows, columns, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, embeddings, freeze)

    def reset_parameters(self) -> None:
        """Draw the table anew."""
        init.normal_(self.weight)
        self._clear_padding()

    def _clear_padding(self) -> None:
        if self.padding_idx is not None:
            init.zeros_(self.weight.detach()[self.padding_idx])

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )

    def extra_repr(self) -> str:
        usual = {"padding_idx": None, "max_norm": None, "norm_type": 2, "scale_grad_by_freq": False, "sparse": False}
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        for name, value in usual.items():
            given = getattr(self, name)
            if given is not value and given != value:
                parts.append(f"{name}={given}")
        return ", ".join(parts)


class Flatten(Module):
    """Makes dimensions ``start_dim`` to ``end_dim`` one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Any) -> Tensor:
        if not isinstance(input, Tensor):
            refuse(input, "flatten", "input")
        flat: Tensor = input.flatten(self.start_dim, self.end_dim)
        return flat

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Identity(Module):
    """Its input, whatever it was made with."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class CosineSimilarity(Module):
    """:func:`cosine_similarity` along ``dim``."""

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """:func:`pairwise_distance` along the last dimension."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class EmbeddingBag(Module):
    """Rows of a table (num_embeddings, embedding_dim), reduced by bags of them; normal at first, the row ``padding_idx`` zero."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, _weight: Tensor | None = None,
        include_last_offset: bool = False, padding_idx: int | None = None, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if padding_idx is not None:
            if (padding_idx > 0 and padding_idx >= num_embeddings) or padding_idx < -num_embeddings:
                raise AssertionError("padding_idx must be within num_embeddings")
            padding_idx %= num_embeddings
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse = (
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
        )
        self.mode, self.include_last_offset = mode, include_last_offset
        if _weight is None:
            check_size((num_embeddings, embedding_dim))
            self.weight = drawn(randn(num_embeddings, embedding_dim, device=device, dtype=dtype))
            if padding_idx is not None:
                init.zeros_(self.weight.detach()[padding_idx])
        else:
            self.weight = Parameter(_weight)

    @classmethod
    def from_pretrained(
        cls, embeddings: Any, freeze: bool = True, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Self:  # fmt: skip
        """A module around a table."""
        rows, columns = _table_size(embeddings)
        made = cls(
            rows,
            columns,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            mode,
            sparse,
            embeddings,
            include_last_offset,
            padding_idx,
        )
        made.weight.requires_grad = not freeze
        return made

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        return F.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse,
            per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        usual = {"max_norm": None, "norm_type": 2, "scale_grad_by_freq": False}
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        parts += [f"{name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value]
        parts.append(f"mode={self.mode!r}")
        return ", ".join(parts if self.padding_idx is None else [*parts, f"padding_idx={self.padding_idx}"])

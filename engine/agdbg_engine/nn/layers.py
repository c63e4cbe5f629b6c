"""Layers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..random import rand, randn
from ..tensor import Parameter, Tensor
from . import functional as F
from .module import Module


class Linear(Module):
    """``x @ weight.T + bias`` with weight (out, in), both uniform in +-1/sqrt(in) at first."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        bound = 1 / math.sqrt(in_features) if in_features else 0.0
        self.weight = Parameter((rand(out_features, in_features) * 2 - 1) * bound)
        self.bias = Parameter((rand(out_features) * 2 - 1) * bound) if bias else None
        if not bias:
            self.register_parameter("bias", None)

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Embedding(Module):
    """Rows of a table (num_embeddings, embedding_dim) by integer index; normal at first."""

    def __init__(self, num_embeddings: int, embedding_dim: int) -> None:
        super().__init__()
        self.weight = Parameter(randn(num_embeddings, embedding_dim))

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(input, self.weight)


class Dropout(Module):
    """Zeroes elements with probability ``p`` while training."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training)


class Flatten(Module):
    """Makes dimensions ``start_dim`` to ``end_dim`` one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)


class Identity(Module):
    """Its input."""

    def forward(self, input: Tensor) -> Tensor:
        return input


def _activation(name: str, function: Callable[[Any], Tensor]) -> type[Module]:
    """A module class without parameters around one function."""

    def forward(self: Module, input: Tensor) -> Tensor:
        return function(input)

    return type(
        name,
        (Module,),
        {"forward": forward, "__doc__": f"Applies :func:`{function.__name__}`.", "__module__": __name__},
    )


ReLU = _activation("ReLU", F.relu)
Tanh = _activation("Tanh", F.tanh)
Sigmoid = _activation("Sigmoid", F.sigmoid)
SiLU = _activation("SiLU", F.silu)
Softplus = _activation("Softplus", F.softplus)


class LeakyReLU(Module):
    """x where positive, else ``negative_slope * x``."""

    def __init__(self, negative_slope: float = 0.01) -> None:
        super().__init__()
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope)


class Softmax(Module):
    """Softmax along ``dim``."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim)


class LogSoftmax(Softmax):
    """Logarithm of softmax along ``dim``."""

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim)

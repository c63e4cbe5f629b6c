"""Modules that drop out elements or channels while training."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from . import functional as F
from .module import Module

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _Dropout(Module):
    function: str

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        return getattr(F, self.function)(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


def _dropout(name: str, function: str) -> Any:
    doc = f"Applies :func:`{function}` while training."
    return type(name, (_Dropout,), {"function": function, "__doc__": doc, "__module__": __name__})


Dropout = _dropout("Dropout", "dropout")
Dropout1d = _dropout("Dropout1d", "dropout1d")
Dropout2d = _dropout("Dropout2d", "dropout2d")
Dropout3d = _dropout("Dropout3d", "dropout3d")
AlphaDropout = _dropout("AlphaDropout", "alpha_dropout")
FeatureAlphaDropout = _dropout("FeatureAlphaDropout", "feature_alpha_dropout")

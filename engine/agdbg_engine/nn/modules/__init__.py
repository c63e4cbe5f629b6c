"""PyTorch's place of the modules: ``nn.modules.module``."""

from . import module

__all__ = ["module"]

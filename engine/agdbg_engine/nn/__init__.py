"""Modules, layers and losses: enough of ``torch.nn`` to write real training scripts."""

from ..tensor import Parameter
from . import functional, modules
from .layers import (
    Dropout,
    Embedding,
    Flatten,
    Identity,
    LeakyReLU,
    Linear,
    LogSoftmax,
    ReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Tanh,
)
from .losses import CrossEntropyLoss, MSELoss, NLLLoss
from .module import Module, ModuleList, Sequential

__all__ = [
    "CrossEntropyLoss", "Dropout", "Embedding", "Flatten", "Identity", "LeakyReLU", "Linear", "LogSoftmax", "MSELoss", "Module",
    "ModuleList", "NLLLoss", "Parameter", "ReLU", "Sequential", "SiLU", "Sigmoid", "Softmax", "Softplus", "Tanh", "functional", "modules",
]  # fmt: skip

"""PyTorch's names of the files in ``nn.modules``, and of the base classes in them that scripts ask for by ``isinstance``."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from .. import (
    activations,
    adaptive,
    attention,
    containers,
    convolution,
    dropout,
    layers,
    lazy,
    losses,
    normalization,
    padding,
    parameter_containers,
    pooling,
    recurrent,
    resizing,
    transformer,
)

_FILES: dict[str, tuple[Any, ...]] = {
    "activation": (activations, attention),
    "adaptive": (adaptive,),
    "batchnorm": (normalization, lazy, {"_BatchNorm": normalization._BatchNorm, "_NormBase": normalization._Tracking}),
    "container": (containers, parameter_containers),
    "conv": (convolution, lazy, {"_ConvNd": convolution._Convolution, "_ConvTransposeNd": convolution._ConvTranspose}),
    "distance": (layers,),
    "dropout": (dropout, {"_DropoutNd": dropout._Dropout}),
    "flatten": (layers, resizing),
    "fold": (resizing,),
    "instancenorm": (normalization, lazy, {"_InstanceNorm": normalization._InstanceNorm}),
    "lazy": ({"LazyModuleMixin": lazy.LazyModuleMixin},),
    "linear": (layers, lazy, {"NonDynamicallyQuantizableLinear": attention.NonDynamicallyQuantizableLinear}),
    "loss": (losses, {"_Loss": losses._Loss, "_WeightedLoss": losses._WeightedLoss}),
    "normalization": (normalization,),
    "padding": (padding,),
    "pixelshuffle": (resizing,),
    "pooling": (pooling, {"_MaxPoolNd": pooling._MaxPool, "_AvgPoolNd": pooling._AvgPool}),
    "rnn": (recurrent, {"RNNBase": recurrent.RNNBase, "RNNCellBase": recurrent.RNNCellBase}),
    "sparse": (layers,),
    "transformer": (transformer,),
    "upsampling": (resizing,),
}
"""By file: the modules here whose public names it has (and more than in PyTorch), and other names."""


def register(package: str) -> None:
    """Make every file importable below ``package``, and an attribute of it."""
    for name, parts in _FILES.items():
        made = ModuleType(f"{package}.{name}", f"PyTorch's place of modules: ``nn.modules.{name}``.")
        for part in parts:
            vars(made).update(part if isinstance(part, dict) else {n: getattr(part, n) for n in part.__all__})
        sys.modules[made.__name__] = made
        setattr(sys.modules[package], name, made)

"""Modules, layers and losses of ``torch.nn``."""

from typing import Any

from ..missing import missing
from ..own_init import own_init
from ..tensor import Parameter
from . import (
    activations,
    adaptive,
    attention,
    containers,
    convolution,
    dropout,
    functional,
    grad,
    init,
    layers,
    lazy,
    losses,
    modules,
    normalization,
    padding,
    parameter,
    parameter_containers,
    pooling,
    recurrent,
    resizing,
    transformer,
    utils,
)
from .activations import *  # noqa: F403 - what it names in __all__, as the next ones
from .adaptive import *  # noqa: F403 - each part lists what is public
from .attention import *  # noqa: F403 - each part lists what is public
from .containers import *  # noqa: F403 - each part lists what is public
from .convolution import *  # noqa: F403 - each part lists what is public
from .dropout import *  # noqa: F403 - each part lists what is public
from .layers import *  # noqa: F403 - each part lists what is public
from .lazy import *  # noqa: F403 - each part lists what is public
from .losses import *  # noqa: F403 - each part lists what is public
from .module import Module
from .normalization import *  # noqa: F403 - each part lists what is public
from .padding import *  # noqa: F403 - each part lists what is public
from .parameter import Buffer, UninitializedBuffer, UninitializedParameter
from .parameter_containers import *  # noqa: F403 - each part lists what is public
from .pooling import *  # noqa: F403 - each part lists what is public
from .recurrent import *  # noqa: F403 - each part lists what is public
from .recurrent import RNNBase, RNNCellBase  # noqa: F401 - for isinstance
from .resizing import *  # noqa: F403 - each part lists what is public
from .transformer import *  # noqa: F403 - each part lists what is public

__all__ = [
    "Buffer", "Module", "Parameter", "UninitializedBuffer", "UninitializedParameter", "functional", "grad", "init", "modules",
    "parameter", "utils",
]  # fmt: skip
__all__ += containers.__all__ + parameter_containers.__all__
__all__ += (
    activations.__all__
    + attention.__all__
    + convolution.__all__
    + dropout.__all__
    + layers.__all__
    + lazy.__all__
    + losses.__all__
)
__all__ += normalization.__all__ + padding.__all__ + pooling.__all__ + recurrent.__all__ + resizing.__all__
__all__ += transformer.__all__ + adaptive.__all__

_OWNERS = {
    "_AdaptiveAvgPoolNd": "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d",
    "_AdaptiveMaxPoolNd": "AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d",
    "_BatchNorm": "BatchNorm1d BatchNorm2d BatchNorm3d",
    "_DropoutNd": "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout",
    "_InstanceNorm": "InstanceNorm1d InstanceNorm2d InstanceNorm3d",
    "_LPPoolNd": "LPPool1d LPPool2d LPPool3d",
    "_LazyNormBase": "LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d",
    "_Loss": "L1Loss MSELoss MultiLabelMarginLoss SoftMarginLoss",
    "_MaxPoolNd": "MaxPool1d MaxPool2d MaxPool3d",
    "_WeightedLoss": "BCELoss MultiLabelSoftMarginLoss",
}
"""By a base class that has the ``__init__`` in PyTorch, and so a name in errors, the classes that do not have their own there."""
own_init(
    (cls for cls in [globals()[name] for name in __all__] if isinstance(cls, type) and issubclass(cls, Module)),
    {cls: owner for owner, classes in _OWNERS.items() for cls in classes.split()},
)


def __getattr__(name: str) -> Any:
    raise missing(__name__, name, __all__)

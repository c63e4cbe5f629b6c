"""Modules, layers and losses of ``torch.nn``."""

from typing import Any

from ..missing import missing
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
from .recurrent import _Cell as RNNCellBase  # noqa: F401 - PyTorch's names, for isinstance
from .recurrent import _Recurrent as RNNBase  # noqa: F401 - as the one before
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


def __getattr__(name: str) -> Any:
    raise missing(__name__, name, __all__)

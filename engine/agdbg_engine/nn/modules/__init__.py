"""PyTorch's place of the modules: ``nn.modules.Linear``, ``nn.modules.batchnorm._BatchNorm``."""

from ..activations import *  # noqa: F403 - what it names in __all__, as the next ones
from ..adaptive import *  # noqa: F403
from ..attention import *  # noqa: F403
from ..containers import *  # noqa: F403
from ..convolution import *  # noqa: F403
from ..dropout import *  # noqa: F403
from ..layers import *  # noqa: F403
from ..losses import *  # noqa: F403
from ..module import Module
from ..normalization import *  # noqa: F403
from ..padding import *  # noqa: F403
from ..parameter_containers import *  # noqa: F403
from ..pooling import *  # noqa: F403
from ..recurrent import *  # noqa: F403
from ..resizing import *  # noqa: F403
from ..transformer import *  # noqa: F403
from . import module, paths, utils

paths.register(__name__)

__all__ = ["Module", "module", "utils"]

"""PyTorch's place of the modules: ``nn.modules.Linear``, ``nn.modules.batchnorm._BatchNorm``."""

from ..activations import *  # noqa: F403 - what it names in __all__, as the next ones
from ..adaptive import *  # noqa: F403 - each part lists what is public
from ..attention import *  # noqa: F403 - each part lists what is public
from ..containers import *  # noqa: F403 - each part lists what is public
from ..convolution import *  # noqa: F403 - each part lists what is public
from ..dropout import *  # noqa: F403 - each part lists what is public
from ..layers import *  # noqa: F403 - each part lists what is public
from ..lazy import *  # noqa: F403 - each part lists what is public
from ..losses import *  # noqa: F403 - each part lists what is public
from ..module import Module
from ..normalization import *  # noqa: F403 - each part lists what is public
from ..padding import *  # noqa: F403 - each part lists what is public
from ..parameter_containers import *  # noqa: F403 - each part lists what is public
from ..pooling import *  # noqa: F403 - each part lists what is public
from ..recurrent import *  # noqa: F403 - each part lists what is public
from ..resizing import *  # noqa: F403 - each part lists what is public
from ..transformer import *  # noqa: F403 - each part lists what is public
from . import module, paths, utils

paths.register(__name__)

__all__ = ["Module", "module", "utils"]

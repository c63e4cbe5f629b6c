"""The autograd engine of agdbg: names and semantics of PyTorch on NumPy (and later CuPy) storage.

>>> import agdbg_engine as ag
>>> x = ag.tensor([1.0, 2.0], requires_grad=True)
>>> (x * x).sum().backward()
>>> x.grad
tensor([2., 4.])
"""

from __future__ import annotations

import builtins
import importlib
import warnings
from typing import Any

from .collector import no_collection, tune_gc

with no_collection():
    from . import autograd, ops
from .amp import GradScaler, autocast
from .anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled, set_anomaly_enabled
from .asarray import asarray
from .autograd import grad
from .constants import e, inf, nan, newaxis, pi
from .creation import (
    as_tensor,
    empty,
    empty_like,
    eye,
    from_numpy,
    full,
    full_like,
    ones,
    ones_like,
    tensor,
    zeros,
    zeros_like,
)
from .cuda.memory import OutOfMemoryError
from .default_device import get_default_device, set_default_device
from .deterministic import (
    are_deterministic_algorithms_enabled,
    is_deterministic_algorithms_warn_only_enabled,
    use_deterministic_algorithms,
)
from .device import device
from .dtype import (
    ALIASES,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
)
from .dtype import bool as bool
from .dtype import dtype as dtype
from .grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .limits import finfo, iinfo
from .matmul_precision import get_float32_matmul_precision, set_float32_matmul_precision
from .memory_format import contiguous_format, memory_format, preserve_format
from .missing import missing
from .print_options import get_printoptions, printoptions, set_printoptions
from .random import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    rand,
    rand_like,
    randint,
    randint_like,
    randn,
    randn_like,
    randperm,
    seed,
    set_rng_state,
)
from .ranges import arange, linspace, logspace
from .size import Size
from .strided import strided
from .tensor import Parameter, Tensor
from .tensor_types import TYPES, set_default_tensor_type
from .threads import get_num_threads, set_num_threads

__version__ = "0.1.0"

# Division by zero, overflow and invalid values give inf and nan silently, as in PyTorch, without touching NumPy's
# error state, which belongs to the user.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"agdbg_engine\.")


_MODULES = frozenset((
    "accelerator", "amp", "cuda", "fft", "func", "held", "linalg", "masked", "nn", "optim", "signal", "special", "testing",
    "utils", "version",
))  # fmt: skip
"""Loaded when first used."""


def get_device(input: Tensor) -> int:
    """Number of the GPU that holds a tensor; -1 for main memory."""
    return input.get_device()


def is_tensor(obj: Any) -> builtins.bool:
    """Whether ``obj`` is a tensor."""
    return isinstance(obj, Tensor)


from . import autograd_paths, backend_flags  # noqa: E402, F401 - they make modules known, and need the names above


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in ops.FUNCTIONS:
        return globals().setdefault(name, ops.FUNCTIONS[name])  # found at once from now on
    if name in ALIASES:
        return ALIASES[name]
    if name in ("load", "save"):  # they need modules
        from . import saving

        return getattr(saving, name)
    if name == "typename":
        from .nn.module import typename

        return typename
    if name in TYPES:
        return TYPES[name]
    raise missing(__name__, name, {*ops.FUNCTIONS, *__all__, *_MODULES, *ALIASES, *TYPES})


__all__ = [
    "Generator",
    "GradScaler",
    "OutOfMemoryError",
    "Parameter",
    "Size",
    "Tensor",
    "arange",
    "are_deterministic_algorithms_enabled",
    "as_tensor",
    "asarray",
    "autocast",
    "autograd",
    "bool",
    "complex64",
    "complex128",
    "contiguous_format",
    "default_generator",
    "device",
    "dtype",
    "e",
    "empty",
    "empty_like",
    "enable_grad",
    "eye",
    "finfo",
    "float16",
    "float32",
    "float64",
    "from_numpy",
    "full",
    "full_like",
    "get_default_device",
    "get_default_dtype",
    "get_device",
    "get_float32_matmul_precision",
    "get_num_threads",
    "get_printoptions",
    "get_rng_state",
    "grad",
    "iinfo",
    "inf",
    "inference_mode",
    "initial_seed",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_deterministic_algorithms_warn_only_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "is_tensor",
    "linspace",
    "logspace",
    "manual_seed",
    "memory_format",
    "nan",
    "newaxis",
    "no_grad",
    "ones",
    "ones_like",
    "ops",
    "pi",
    "preserve_format",
    "printoptions",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "seed",
    "set_anomaly_enabled",
    "set_default_device",
    "set_default_dtype",
    "set_default_tensor_type",
    "set_float32_matmul_precision",
    "set_grad_enabled",
    "set_num_threads",
    "set_printoptions",
    "set_rng_state",
    "strided",
    "tensor",
    "tune_gc",
    "uint8",
    "use_deterministic_algorithms",
    "zeros",
    "zeros_like",
]  # fmt: skip
